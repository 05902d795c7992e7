"""The views of every result: the pictures, the times, and the reason why there is none."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

from kernels.core.job import Job, Result
from workbench.imaging.display import Display
from workbench.model import intents
from workbench.model.large_source import LargeSource
from workbench.model.rung_times import RungTimes
from workbench.model.state import State
from workbench.panels.compare.compare_view import CompareView
from workbench.panels.timing.run_history import RunHistory
from workbench.panels.timing.timing_views import TimingViews
from workbench.session.live import Live
from workbench.session.store import Store
from workbench.session.worker import Worker
from workbench.widgets.lazy_panel import LazyPanel
from workbench.widgets.message_bar import MessageBar

if TYPE_CHECKING:
    from workbench.panels.rung.rung_panel import RungPane

FRESH_MS = 1000  # what was said just now may be why there is another picture
OUTDATED = "of earlier settings"
COPY = "of the copy, {:,}×{:,}"  # that is shown of a picture larger than memory
PREVIEW = "preview, from the reduced picture"


class ResultViews(QObject):
    """A link that takes results to the views.

    Made before everything that analyses what is on the screen: Qt calls the slots of a signal in
    the order in which they were connected, and the picture has to be there first.

    runs   the last ones, which every final result adds to, as it does to
    times  of this session
    """

    def __init__(
        self,
        store: Store,
        worker: Worker,
        live: Live,
        compare: CompareView,
        timing: TimingViews,
        runs: RunHistory,
        rung: LazyPanel[RungPane],
        times: RungTimes,
        messages: MessageBar,
        parent: QObject,
    ) -> None:
        super().__init__(parent)
        self._store, self._live, self._compare = store, live, compare
        self._timing, self._runs = timing, runs
        self._rung, self._times = rung, times
        self._messages = messages
        store.changed.connect(self._follow)
        worker.progressed.connect(timing.show_progress)
        live.before_ready.connect(compare.show_before)
        live.preview_ready.connect(self._show_preview)
        live.after_ready.connect(self._show)
        live.baseline_ready.connect(timing.show_baseline)
        for settled in (live.settled, live.timed_again):
            settled.connect(self._show_settled)
        live.refused.connect(self._show_refusal)
        live.recovered.connect(lambda: messages.clear("error"))
        rung.when_made(self._introduce)

    def _introduce(self, rung: RungPane) -> None:
        if self._live.result is not None:
            rung.show_ran(self._live.result)

    def _follow(self, old: State, new: State) -> None:
        """Take back what was said of another picture."""
        if old.picture is not None and old.picture is not new.picture:
            self._messages.outdate(FRESH_MS)

    def _show(self, result: Result, display: Display) -> None:
        self._show_picture(result, display)
        is_copy = self._large is not None
        self._timing.show_subject(COPY.format(result.job.width, result.job.height) * is_copy)
        self._timing.show_result(result, self._live.baseline_of(result))
        if self._rung.made is not None:
            self._rung.made.show_ran(result)

    def _show_preview(self, job: Job, display: Display) -> None:
        """Show about what will come, and no figures: they would be of earlier settings."""
        self._compare.show_preview(display, f"{intents.job_caption(job, None)}\n{PREVIEW}")
        self._timing.show_preview()

    def _show_settled(self, result: Result) -> None:
        self._runs.add(result)
        self._times.add_result(result)
        if self._rung.made is not None:
            self._rung.made.show_result(result)

    def _show_picture(self, result: Result, display: Display) -> None:
        self._compare.show_after(result.picture, display, self._caption_of(result))

    def _show_refusal(self, sentence: str, details: str) -> None:
        """Say why there is no new result.

        The last one of the same picture stays, with its figures, marked as of earlier settings.
        """
        if self._live.of_view is None:
            self._timing.show_refused()
        else:
            _, result, display = self._live.of_view
            self._show_picture(result, display)
        self._messages.show_message("error", sentence, details)

    @property
    def _large(self) -> LargeSource | None:
        """Return the whole picture where only a reduced copy is in view."""
        picture = self._store.state.picture
        return None if picture is None else picture.large

    def _caption_of(self, result: Result) -> str:
        """Return what was done and, on a second line, how it is shown: "clipped: below 0 is black".

        That line also says whether other settings were refused meanwhile.
        """
        picture = self._store.state.picture
        below = intents.look_in_words(result.job, self._live.look)
        if below and picture is not None and str(picture.samples.dtype) != result.job.pixel_type:
            below = f"{below} · as {result.job.pixel_type}"
        outdated = OUTDATED if self._live.is_refused else ""
        scale = "" if self._large is None else f"1/{self._large.step:.4g} of its size"
        below = " · ".join(filter(None, (below, scale, outdated)))
        return "\n".join(filter(None, (intents.job_caption(result.job, result.picked), below)))
