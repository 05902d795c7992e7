"""File ▸ Filter to file… and Filter a folder…: one dialog, imported when it is first opened."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
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
    from workbench.window.filter_files.file_filter import FileFilter

MENU = "&File"
AskPath = Callable[[str, str], Path | None]  # proposed name and file types
TYPES = "TIFF (*.tif *.tiff)"
WHOLE = "This picture is in memory: File ▸ Save result as saves its result."


class FilterMenu(QObject):
    """Two lines of the menu; Save result opens the same dialog for a large picture.

    ask_path  asks for the target of a large picture, as `SaveMenu.ask_path`
    add_help  as the help has it, for the dialog
    parent    of the dialog
    made      the service behind it; None until it is first opened
    """

    def __init__(
        self,
        store: Store,
        opener: Opener,
        ask_path: AskPath,
        settings: Settings,
        messages: MessageBar,
        add_help: AddHelp,
        parent: QWidget,
    ) -> None:
        super().__init__(parent)
        self._store, self._opener, self._ask_path = store, opener, ask_path
        self._settings, self._messages = settings, messages
        self._add_help, self._parent = add_help, parent
        self.made: FileFilter | None = None
        self._devices = 0

    def actions(self) -> list[Action]:
        """Return the lines of the menu."""
        return [
            Action(
                *(MENU, "Filter &to file…", self.open_file, ("Ctrl+Alt+S",)),
                tip="Filter all of a picture larger than memory, from file to file.",
                why_not=self._why_not,
            ),
            Action(
                *(MENU, "Filter a fo&lder…", self.open_folder, ("Ctrl+Alt+F",)),
                "Filter all pictures of a folder as this one, in the background.",
            ),
        ]

    @Slot()
    def open_folder(self) -> None:
        """Show the dialog for a folder."""
        self._get().open_folder()

    @Slot()
    def open_file(self) -> None:
        """Ask for a file and filter the picture into it; a run under way is shown instead."""
        picture, service = self._store.state.picture, self._get()
        if not service.is_settled or picture is None or picture.path is None:
            service.dialog.bring_forward()
        elif target := self._ask_path(f"{picture.path.stem}-filtered.tif", TYPES):
            service.filter_file(picture.path, target)

    def show_device(self, device: Device | NoDevice) -> None:
        """Offer a choice among the GPUs of this computer."""
        self._devices = device.count if isinstance(device, Device) else 0
        if self.made is not None:
            self.made.show_devices(self._devices)

    def close(self) -> None:
        """Stop what runs, which can be resumed, and wait for all threads."""
        if self.made is not None:
            self.made.close()

    def _get(self) -> FileFilter:
        if self.made is None:
            from workbench.window.filter_files.file_filter import FileFilter

            self.made = FileFilter(
                self._store, self._opener, self._settings, self._messages, self._parent
            )
            self.made.show_devices(self._devices)
            self._add_help(self.made.dialog, "folder")
        return self.made

    def _why_not(self) -> str:
        picture = self._store.state.picture
        is_running = self.made is not None and not self.made.is_settled
        is_large = picture is not None and picture.large is not None
        return "" if is_large or is_running else WHOLE
