"""The menu File ▸ Open: a picture by a dialog, from the recent ones, or beside the present one."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, Slot
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QFileDialog, QMenu, QWidget

from kernels.pictures.generated import PICTURES
from workbench.base.plain_text import tip_text
from workbench.base.settings import Settings
from workbench.files.image_files import OPEN_FILTER
from workbench.session.opener import Opener
from workbench.session.store import Store
from workbench.widgets.actions import Action, MenuTree
from workbench.widgets.message_bar import MessageBar

MENU, RECENT = "&File", "&File/Open &recent"
MADE = "A picture that comes with the program; its edges and frequencies are known."
IN_NO_FOLDER = "This picture is in no folder; open a picture file first."


class Opening(QObject):
    """A menu that asks the opener for the picture that the user chose.

    settings  remember the folder and the recent files
    parent    of the dialog
    """

    def __init__(
        self,
        store: Store,
        opener: Opener,
        settings: Settings,
        messages: MessageBar,
        parent: QWidget,
    ) -> None:
        super().__init__(parent)
        self._store, self._opener = store, opener
        self._settings, self._messages, self._parent = settings, messages, parent

    def actions(self) -> list[Action]:
        """Return the lines of the menu."""
        return [
            Action(MENU, "&Open…", self._ask, ("Ctrl+O",), "Open a picture."),
            Action(
                *(RECENT, "Forget these", self._forget_recent, ("Ctrl+Shift+Del",)),
                "Empty this list; the pictures stay where they are.",
            ),
            Action(
                *(MENU, "&Next in folder", partial(self._neighbour, 1), ("PgDown",)),
                "The picture after this one, by the names in its folder.",
            ),
            Action(
                *(MENU, "&Previous in folder", partial(self._neighbour, -1), ("PgUp",)),
                "The picture before this one, by the names in its folder.",
            ),
        ]

    def built_in_actions(self) -> list[Action]:
        """Return a line for each picture that comes with the program."""
        open_built_in, menu = self._opener.open_built_in, "&File/&Built-in picture"
        return [
            Action(menu, each.title, partial(open_built_in, key), tip=MADE)
            for key, each in PICTURES.items()
        ]

    def fill(self, tree: MenuTree) -> None:
        """List the recent files below the first line of their menu whenever it is about to show."""
        recent = tree.menu(RECENT)
        recent.aboutToShow.connect(partial(self._list_recent, recent))

    @Slot()
    def _ask(self) -> None:
        picture = self._store.state.picture
        beside = picture.path.parent if picture is not None and picture.path is not None else ""
        folder = str(beside) or self._settings.get("folder", "")
        name, _ = QFileDialog.getOpenFileName(self._parent, "Open a picture", folder, OPEN_FILTER)
        if name:
            self._settings.set("folder", str(Path(name).parent))
            self._opener.open_file(Path(name))

    def _neighbour(self, step: int) -> None:
        picture = self._store.state.picture
        if picture is None or picture.path is None:
            self._messages.show_message("info", IN_NO_FOLDER)
        else:
            self._opener.open_neighbour(picture.path, step)

    def _list_recent(self, menu: QMenu) -> None:
        for action in menu.actions()[1:]:
            menu.removeAction(action)
            action.deleteLater()  # otherwise there would be more each time the menu opens
        line = QAction(menu)  # PySide would never free one made by the menu
        line.setSeparator(True)
        menu.addAction(line)
        for path in self._settings.recent_files:
            action = QAction(path.name.replace("&", "&&"), menu)
            menu.addAction(action)
            action.setToolTip(tip_text(str(path)))
            action.triggered.connect(partial(self._open_recent, path))

    def _open_recent(self, path: Path, _checked: bool = False) -> None:
        self._opener.open_file(path)

    def _forget_recent(self) -> None:
        self._settings.set("recent", [])
