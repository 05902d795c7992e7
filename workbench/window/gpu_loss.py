"""A GPU that fails while the window is open: it is said, the CPU goes on, and there is a way back.

After most failures CUDA is over for the whole process ("the process must be terminated and
relaunched": the CUDA runtime's documentation of cudaErrorIllegalAddress and its like).  So a GPU
that was only out of reach is tried again, and for one that failed the program starts once more.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer, Slot

from kernels.core.device import Device, NoDevice
from kernels.engine.auto import AUTO
from workbench.widgets.actions import Action
from workbench.window.restarting import Restarting

if TYPE_CHECKING:
    from workbench.window.main_window import MainWindow

MENU = "&Run"
STILL = "The GPU still does not work in this program; restart it to use the GPU again."
BACK = "The GPU works again."
WORKS = "The GPU works; there is nothing to try again."
TRYING = "Trying the GPU…"


class GpuLoss(QObject):
    """Says what became of the GPU, and offers ways back to it."""

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self._window = window
        self._is_lost = self._is_trying = False
        self.restarting = Restarting(window)
        window.worker.device_found.connect(self._hear)

    def actions(self) -> list[Action]:
        """Its lines in the menu."""
        return [
            Action(
                *(MENU, "Try the &GPU again", self.try_again, ("Ctrl+Shift+F6",)),
                "Ask once more for a GPU that failed, or that was not there at the start.",
                separator=True,
            ),
            Action(
                *(MENU, "Restart the &program", self.restart, ("Ctrl+Shift+F7",)),
                "Start it once more as it is: a GPU that failed works again then, if it can.",
            ),
        ]

    @Slot()
    def try_again(self) -> None:
        """Ask for the GPU; where there is one already, say so."""
        window = self._window
        if isinstance(window.device, Device):
            window.messages.show_message("info", WORKS)
            return
        self._is_trying = True
        window.messages.show_message("info", TRYING)
        window.worker.try_device()

    @Slot()
    def restart(self) -> None:
        """Start the program once more, as it is."""
        self.restarting.start()

    # -- what becomes of the GPU

    @Slot(object)
    def _hear(self, device: Device | NoDevice) -> None:
        was_trying, self._is_trying = self._is_trying, False
        if isinstance(device, Device):
            if self._is_lost or was_trying:
                self._take_back()
        elif device.is_lost:
            self._say(device, was_trying)
            if not self._is_lost:
                self._is_lost = True
                # The window has first to take in that there is no GPU.
                QTimer.singleShot(0, self, self._go_on)
        elif was_trying:
            self._window.messages.show_message("info", device.reason, device.remedy)

    def _say(self, device: NoDevice, was_trying: bool) -> None:
        try_again, restart = ("&Try again", self.try_again), ("&Restart", self.restart)
        messages = self._window.messages
        if was_trying:
            messages.show_message("warning", STILL, device.reason, [restart])
        else:
            messages.show_message("warning", device.reason, actions=[try_again, restart])

    def _go_on(self) -> None:
        """On the CPU: another implementation was taken, or `auto` takes one there."""
        if self._window.store.state.implementation == AUTO.key:
            self._window.live.run_again()

    def _take_back(self) -> None:
        """Say so; the window uses it again by itself where that was chosen."""
        self._is_lost = False
        self._window.messages.show_message("info", BACK)
