"""The views of every result: the pictures, the times, and the reason why there is none."""

from __future__ import annotations

from PySide6.QtCore import QObject

from kernels.core.job import Result
from workbench.imaging.display import Display
from workbench.model import intents
from workbench.panels.compare.compare_view import CompareView
from workbench.panels.rung.rung_panel import RungPane
from workbench.panels.timing.history_plot import HistoryPlot
from workbench.panels.timing.timing_strip import TimingStrip
from workbench.session.live import Live
from workbench.session.store import Store
from workbench.session.worker import Worker
from workbench.widgets.message_bar import MessageBar

OUTDATED = "of earlier settings"


class ResultViews(QObject):
    """A link that takes results to the views.

    Made before everything that analyses what is on the screen: Qt calls the slots of a signal in
    the order in which they were connected, and the picture has to be there first.
    """

    def __init__(
        self,
        store: Store,
        worker: Worker,
        live: Live,
        compare: CompareView,
        timing: TimingStrip,
        history: HistoryPlot,
        rung: RungPane,
        messages: MessageBar,
        parent: QObject,
    ) -> None:
        super().__init__(parent)
        self._store, self._live, self._compare = store, live, compare
        self._timing, self._history, self._rung = timing, history, rung
        self._messages = messages
        worker.progressed.connect(lambda doing: timing.show_progress(doing or None))
        live.before_ready.connect(compare.show_before)
        live.after_ready.connect(self._show)
        live.baseline_ready.connect(timing.show_baseline)
        for settled in (live.settled, live.timed_again):
            settled.connect(self._show_settled)
        live.refused.connect(self._show_refusal)
        live.recovered.connect(lambda: messages.clear("error"))

    def _show(self, result: Result, display: Display) -> None:
        self._show_picture(result, display)
        self._timing.show_result(result)
        self._rung.show_ran(result)

    def _show_settled(self, result: Result) -> None:
        self._history.add(result)
        self._rung.show_result(result)

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

    def _caption_of(self, result: Result) -> str:
        """Return what was done and, on a second line, how it is shown: "clipped: below 0 is black".

        That line also says whether other settings were refused meanwhile.
        """
        picture = self._store.state.picture
        below = intents.look_in_words(result.job, self._live.look)
        if below and picture is not None and str(picture.samples.dtype) != result.job.pixel_type:
            below = f"{below} · as {result.job.pixel_type}"
        outdated = OUTDATED if self._live.is_refused else ""
        below = " · ".join(filter(None, (below, outdated)))
        return "\n".join(filter(None, (intents.job_caption(result.job, result.picked), below)))
