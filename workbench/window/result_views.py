"""Views of every result, and of a GPU that fails: the CPU goes on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer, Slot

from kernels.core.device import Device, NoDevice
from kernels.core.job import Job, Result
from kernels.engine.auto import AUTO
from workbench.base.plain_text import Label, tip_text
from workbench.base.settings import Settings
from workbench.imaging.display import Display
from workbench.model import intents
from workbench.model.large_source import LargeSource
from workbench.model.rung_times import RungTimes
from workbench.model.state import State
from workbench.panels.timing.history_plot import RunHistory
from workbench.panels.timing.timing_views import PREVIEWED, REFUSED, TimingViews
from workbench.widgets.actions import Action
from workbench.widgets.lazy_panel import LazyPanel
from workbench.widgets.message_bar import MessageBar
from workbench.window.window_parts import Parts

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
        parts: Parts,
        timing: TimingViews,
        runs: RunHistory,
        rung: LazyPanel[RungPane],
        times: RungTimes,
    ) -> None:
        super().__init__(parts.window)
        store, live, messages = parts.store, parts.live, parts.messages
        worker, compare = parts.worker, parts.compare
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
        self._timing.show_empty(PREVIEWED)

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
            self._timing.show_empty(REFUSED)
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


TOLD = "told-no-gpu"  # the setting with the reason that was shown last


class DeviceChip(Label):
    """A label that names the GPU in a few words; its tooltip says more."""

    def __init__(self, messages: MessageBar, settings: Settings) -> None:
        super().__init__("Looking for a GPU…")
        self.setObjectName("device")
        self._messages, self._settings = messages, settings

    def show_device(self, device: Device | NoDevice) -> None:
        """Show the GPU's name, or say why there is none."""
        if isinstance(device, Device):
            self.setText(device.name)
            self.setToolTip(tip_text(f"CUDA device {device.index} of {device.count}"))
        else:
            self.setText("GPU lost" if device.is_lost else "No GPU")
            self.setToolTip(tip_text(f"{device.reason}\n{device.remedy}".strip()))
            self._say_once_why(device)

    def _say_once_why(self, device: NoDevice) -> None:
        """Say in full, over the pictures, why there is no GPU; later the status bar says it."""
        if device.is_lost:
            return  # GpuLoss says that
        if self._settings.get(TOLD, "") == device.reason or self._messages.kind is not None:
            return  # it was said before, or another message is still to be read
        self._settings.set(TOLD, device.reason)
        self._messages.show_message("info", device.reason, device.remedy)


MENU = "&Run"
STILL = "The GPU still does not work in this program; close it and start it again to use the GPU."
BACK = "The GPU works again."
WORKS = "The GPU works; there is nothing to try again."
TRYING = "Trying the GPU…"


class GpuLoss(QObject):
    """A messenger that says what became of the GPU, and offers ways back to it."""

    def __init__(self, parts: Parts) -> None:
        super().__init__(parts.window)
        self._store, self._worker, self._live = parts.store, parts.worker, parts.live
        self._messages = parts.messages
        self._is_lost = self._is_trying = False

    def actions(self) -> list[Action]:
        """Return the lines of the menu."""
        return [
            Action(
                *(MENU, "Try the &GPU again", self.try_again, ("Ctrl+Shift+F6",)),
                "Ask once more for a GPU that failed, or that was not there at the start.",
                separator=True,
            )
        ]

    @Slot()
    def try_again(self) -> None:
        """Try the GPU again; where it works already, say so."""
        if isinstance(self._worker.device, Device):
            self._messages.show_message("info", WORKS)
            return
        self._is_trying = True
        self._messages.show_message("info", TRYING)
        self._worker.try_device()

    # -- what becomes of the GPU

    def take(self, device: Device | NoDevice) -> None:
        """Say what became of the GPU, before the window takes it in."""
        was_trying, self._is_trying = self._is_trying, False
        if isinstance(device, Device):
            if self._is_lost or was_trying:
                self._take_back()
        elif device.is_lost:
            self._say(device, was_trying)
            if not self._is_lost:
                self._is_lost = True
                # The window must know first that there is no GPU.
                QTimer.singleShot(0, self, self._go_on)
        elif was_trying:
            self._messages.show_message("info", device.reason, device.remedy)

    def _say(self, device: NoDevice, was_trying: bool) -> None:
        if was_trying:
            self._messages.show_message("warning", STILL, device.reason)
        else:
            again = ("&Try again", self.try_again)
            self._messages.show_message("warning", device.reason, actions=[again])

    def _go_on(self) -> None:
        """Run again on the CPU, which `auto` now picks; another choice was replaced already."""
        if self._store.state.implementation == AUTO.key:
            self._live.run_again()

    def _take_back(self) -> None:
        """Say that the GPU works; the window uses it again by itself where that was chosen."""
        self._is_lost = False
        self._messages.show_message("info", BACK)
