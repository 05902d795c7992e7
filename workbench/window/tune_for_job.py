"""Tuning for the present job: the worker does it, and a dialog shows its progress."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QObject, Slot
from PySide6.QtWidgets import QWidget

from kernels.core.device import NoDevice
from kernels.core.errors import KernelError
from kernels.engine.auto import AUTO
from workbench.model import intents
from workbench.session.live import Live
from workbench.session.store import Store
from workbench.session.worker import Worker
from workbench.widgets.actions import Action
from workbench.widgets.message_bar import MessageBar
from workbench.window.tune_dialog import TuneDialog

STOPPING = "The tuning before is still being stopped; try again in a moment."


class TuneForJob(QObject):
    """A link between the worker and a TuneDialog; one tuning at a time.

    parent  of the dialog
    """

    def __init__(
        self, store: Store, worker: Worker, live: Live, messages: MessageBar, parent: QWidget
    ) -> None:
        super().__init__(parent)
        self._store, self._worker, self._live = store, worker, live
        self._messages, self._parent = messages, parent
        self.dialog: TuneDialog | None = None
        self._is_running = False  # also while it is being stopped, until the worker reports its end
        worker.tuning_stepped.connect(self._show)
        worker.tuning_ended.connect(self._end)

    def actions(self) -> list[Action]:
        """Return the line of the menu."""
        return [
            Action(
                *("&Run", "&Tune for this job…", self.start, ("Ctrl+T",)),
                "Measure every rung and block shape for it, so that Auto knows the quickest.",
            )
        ]

    @Slot()
    def start(self) -> None:
        """Start a tuning, or say why there is nothing to tune."""
        messages, device = self._messages, self._worker.device
        if self.dialog is not None:  # still open, perhaps behind the window
            self.dialog.raise_()
            self.dialog.activateWindow()
            return
        try:
            tuning = intents.tuning_for(self._store.state)
        except KernelError as error:
            messages.show_message("error", str(error))
            return
        if self._is_running:  # its end would be mistaken for that of a new one
            messages.show_message("info", STOPPING)
        elif isinstance(device, NoDevice):
            messages.show_message("info", f"{device.reason} There is nothing to tune.")
        elif device is None:
            messages.show_message("info", intents.LOOKING)
        elif tuning is None:
            messages.show_message("info", "Open a picture first.")
        else:
            self._open()
            self._is_running = True
            self._worker.start_tuning(tuning)

    def close(self) -> None:
        """Close the dialog with the window."""
        if self.dialog is not None:
            self.dialog.close()

    def _open(self) -> None:
        job = intents.job_for(self._store.state)
        assert job is not None
        title = f"{job.filter_title} {job.ksize}×{job.ksize}, border {job.border}"
        picture = f"{job.width}×{job.height} pixels, {job.channels} × {job.pixel_type}"
        self.dialog = TuneDialog(f"{title}, {picture}", self._parent)
        self.dialog.cancelled.connect(self._worker.cancel_tuning)
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
            self._messages.show_message("error", str(error))
        if self._store.state.implementation == AUTO.key:
            self._live.run_again()  # with what is quickest now
