"""The GPU in the status bar, and a message at the first start without one."""

from __future__ import annotations

from kernels.core.device import Device, NoDevice
from workbench.base.plain_text import Label, tip_text
from workbench.base.settings import Settings
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
            return  # it was said before, or a message that matters more is shown
        self._settings.set(TOLD, device.reason)
        self._messages.show_message("info", device.reason, device.remedy)
