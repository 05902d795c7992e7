"""Tuning for the present job: asks the worker for it, and shows in a dialog how far it is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, Slot

from kernels.core.device import NoDevice
from kernels.core.errors import KernelError
from kernels.engine.auto import AUTO
from workbench.model import intents
from workbench.window.tune_dialog import TuneDialog

if TYPE_CHECKING:
    from workbench.window.main_window import MainWindow

STOPPING = "The tuning before is still being stopped; try again in a moment."


class TuneForJob(QObject):
    """Stands between the window, its worker and a TuneDialog; one tuning at a time."""

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self._window = window
        self.dialog: TuneDialog | None = None
        self._is_running = False  # or being stopped: the worker has not told its end yet
        window.worker.tuning_stepped.connect(self._show)
        window.worker.tuning_ended.connect(self._end)

    @Slot()
    def start(self) -> None:
        """Begin, or say why there is nothing to tune."""
        window = self._window
        if self.dialog is not None:  # which is still there, and perhaps behind the window
            self.dialog.raise_()
            self.dialog.activateWindow()
            return
        try:
            tuning = intents.tuning_for(window.store.state)
        except KernelError as error:
            window.messages.show_message("error", str(error))
            return
        if self._is_running:  # its end would be taken for that of a new one
            window.messages.show_message("info", STOPPING)
        elif isinstance(window.device, NoDevice):
            window.messages.show_message(
                "info", f"{window.device.reason} There is nothing to tune."
            )
        elif window.device is None:
            window.messages.show_message("info", intents.LOOKING)
        elif tuning is None:
            window.messages.show_message("info", "Open a picture first.")
        else:
            self._open()
            self._is_running = True
            window.worker.start_tuning(tuning)

    def close(self) -> None:
        """The window closes, and the dialog with it."""
        if self.dialog is not None:
            self.dialog.close()

    def _open(self) -> None:
        job = intents.job_for(self._window.store.state)
        assert job is not None
        title = f"{job.filter_title} {job.ksize}×{job.ksize}, border {job.border}"
        picture = f"{job.width}×{job.height} pixels, {job.channels} × {job.pixel_type}"
        self.dialog = TuneDialog(f"{title}, {picture}", self._window)
        self.dialog.cancelled.connect(self._window.worker.cancel_tuning)
        self.dialog.destroyed.connect(self._forget)
        self.dialog.show()

    def _forget(self) -> None:
        self.dialog = None

    def _show(self, step: Any) -> None:
        if self.dialog is not None:
            self.dialog.show_step(step)

    def _end(self, error: KernelError | None, is_complete: bool) -> None:
        self._is_running = False
        if self.dialog is not None:
            self.dialog.show_end(is_complete)
        if error is not None:
            self._window.messages.show_message("error", str(error))
        if self._window.store.state.implementation == AUTO.key:
            self._window.live.run_again()  # with what is quickest now
