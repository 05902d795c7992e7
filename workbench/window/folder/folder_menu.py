"""File ▸ Filter a folder…: made, and all that it needs imported, when it is first wanted."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Slot
from PySide6.QtWidgets import QWidget

from kernels.core.device import Device, NoDevice
from workbench.base.settings import Settings
from workbench.session.opener import Opener
from workbench.session.store import Store
from workbench.widgets.actions import Action, AddHelp
from workbench.widgets.message_bar import MessageBar

if TYPE_CHECKING:
    from workbench.window.folder.folder_filter import FolderFilter


class FolderMenu(QObject):
    """A line of the menu, and what it opens.

    add_help  as the help has it, for the dialog
    parent    of the dialog
    made      the service behind it; None until it is first wanted
    """

    def __init__(
        self,
        store: Store,
        opener: Opener,
        settings: Settings,
        messages: MessageBar,
        add_help: AddHelp,
        parent: QWidget,
    ) -> None:
        super().__init__(parent)
        self._store, self._opener, self._settings = store, opener, settings
        self._messages, self._add_help, self._parent = messages, add_help, parent
        self.made: FolderFilter | None = None
        self._devices = 0

    def actions(self) -> list[Action]:
        """Return the line of the menu."""
        return [
            Action(
                *("&File", "Filter a fo&lder…", self.open, ("Ctrl+Alt+F",)),
                "Filter all pictures of a folder as this one, in the background.",
            )
        ]

    @Slot()
    def open(self) -> None:
        """Show the dialog."""
        if self.made is None:
            from workbench.window.folder.folder_filter import FolderFilter

            self.made = FolderFilter(
                self._store, self._opener, self._settings, self._messages, self._parent
            )
            self.made.show_devices(self._devices)
            self._add_help(self.made.dialog, "folder")
        self.made.open()

    def show_device(self, device: Device | NoDevice) -> None:
        """Offer a choice among the GPUs that this computer has, which one of them knows."""
        self._devices = device.count if isinstance(device, Device) else 0
        if self.made is not None:
            self.made.show_devices(self._devices)

    def close(self) -> None:
        """Stop what runs, which can be resumed, and wait for all threads."""
        if self.made is not None:
            self.made.close()
