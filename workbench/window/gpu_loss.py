"""Handling of a GPU that fails: it is reported, the CPU goes on, and there is a way back.

After most failures CUDA is over for the whole process ("the process must be terminated and
relaunched": the CUDA runtime's documentation of cudaErrorIllegalAddress and its like). So a GPU
that was only out of reach is tried again; after a failure the user starts the program again.
"""

from __future__ import annotations

from PySide6.QtCore import QObject, QTimer, Slot

from kernels.core.device import Device, NoDevice
from kernels.engine.auto import AUTO
from workbench.base.plain_text import Label, tip_text
from workbench.base.settings import Settings
from workbench.session.live import Live
from workbench.session.store import Store
from workbench.session.worker import Worker
from workbench.widgets.actions import Action
from workbench.widgets.message_bar import MessageBar

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

    def __init__(
        self,
        store: Store,
        worker: Worker,
        live: Live,
        messages: MessageBar,
        parent: QObject,
    ) -> None:
        super().__init__(parent)
        self._store, self._worker, self._live = store, worker, live
        self._messages = messages
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
