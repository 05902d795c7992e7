"""File ▸ Filter to file…: made, and all that it needs imported, when it is first wanted."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Slot
from PySide6.QtWidgets import QWidget

from workbench.session.store import Store
from workbench.widgets.actions import Action, AddHelp
from workbench.widgets.message_bar import MessageBar

if TYPE_CHECKING:
    from workbench.window.to_file.file_filter import FileFilter

AskPath = Callable[[str, str], Path | None]  # with a name and file types to propose
WHOLE = "This picture is in memory: File ▸ Save result as saves what came of it."


class FileMenu(QObject):
    """A line of the menu, and what it opens; Save result does the same for a large picture.

    ask_path   asks for the file, as `SaveMenu.ask_path`
    add_help   as the help has it, for the dialog
    parent     of the dialog
    made       the service behind it; None until it is first wanted
    """

    def __init__(
        self,
        store: Store,
        ask_path: AskPath,
        messages: MessageBar,
        add_help: AddHelp,
        parent: QWidget,
    ) -> None:
        super().__init__(parent)
        self._store, self._ask_path, self._messages = store, ask_path, messages
        self._add_help, self._parent = add_help, parent
        self.made: FileFilter | None = None

    def actions(self) -> list[Action]:
        """Return the line of the menu."""
        return [
            Action(
                *("&File", "Filter &to file…", self.open, ("Ctrl+Alt+S",)),
                tip="Filter all of a picture larger than memory, from file to file.",
                why_not=self._why_not,
            )
        ]

    @Slot()
    def open(self) -> None:
        """Ask for a file and filter into it; what runs already is shown."""
        if self.made is None:
            from workbench.window.to_file.file_filter import FileFilter

            self.made = FileFilter(self._store, self._ask_path, self._messages, self._parent)
            self._add_help(self.made.dialog, "files")
        self.made.open()

    def close(self) -> None:
        """Stop what runs, which can be resumed, and wait for all threads."""
        if self.made is not None:
            self.made.close()

    def _why_not(self) -> str:
        picture = self._store.state.picture
        is_running = self.made is not None and self.made.is_running
        is_large = picture is not None and picture.large is not None
        return "" if is_large or is_running else WHOLE
