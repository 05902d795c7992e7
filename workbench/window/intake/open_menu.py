"""The menu File ▸ Open: a picture by a dialog, from the recent ones, or beside the present one."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, QStandardPaths, Slot
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMenu, QWidget

from kernels.pictures.generated import PICTURES
from workbench.base.plain_text import tip_text
from workbench.base.settings import Settings
from workbench.files.image_files import OPEN_FILTER, PICTURES_FILTER
from workbench.session.opener import Opener
from workbench.session.store import Store
from workbench.widgets.actions import Action, MenuTree
from workbench.widgets.file_dialogs import ask_files, ask_folder
from workbench.widgets.message_bar import MessageBar

FOLDER = "folder"  # the setting with the folder of what was opened last
MENU, RECENT = "&File", "&File/Open &recent"
MADE = "A picture that comes with the program; its edges and frequencies are known."
IN_NO_FOLDER = "This picture is in no folder; open a picture file first."


class OpenMenu(QObject):
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
            Action(MENU, "&Open…", self._ask, ("Ctrl+O",), "Open one or more pictures."),
            Action(
                *(MENU, "Open fol&der…", self.ask_for_folder, ("Ctrl+Alt+O",)),
                "Open the first picture in a folder; the others are in the gallery.",
            ),
            Action(
                *(RECENT, "Clear list", self._forget_recent, ("Ctrl+Shift+Del",)),
                "Empty this list; the pictures stay where they are.",
            ),
            Action(
                *(MENU, "&Next in folder", partial(self.step, 1), ("PgDown",)),
                "The next picture in the folder, or of those opened together.",
            ),
            Action(
                *(MENU, "&Previous in folder", partial(self.step, -1), ("PgUp",)),
                "The previous picture in the folder, or of those opened together.",
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

    def menu_of_button(self, tree: MenuTree) -> QMenu:
        """Return a short menu for the toolbar: files, a folder, the recent ones."""
        menu = QMenu("Open", self._parent)
        menu.setToolTipsVisible(True)
        menu.addActions([tree.action("Open…"), tree.action("Open folder…")])
        menu.addMenu(tree.menu(RECENT))
        return menu

    @Slot()
    def _ask(self) -> None:
        paths = ask_files(self._parent, "Open pictures", self._folder, OPEN_FILTER)
        if len(paths) == 1:
            self._opener.open_file(paths[0])
        elif paths:
            self._opener.open_together(paths)

    @Slot()
    def ask_for_folder(self) -> None:
        """Ask for a folder, and open its first picture."""
        title = "Open a folder of pictures"
        if path := ask_folder(self._parent, title, self._folder, PICTURES_FILTER):
            self._opener.open_together([path])

    @property
    def _folder(self) -> str:
        """Return where a dialog begins: at what was opened last, else at the user's pictures."""
        places = QStandardPaths.StandardLocation
        return str(
            self._settings.get(FOLDER, "")
            or QStandardPaths.locate(
                places.PicturesLocation, "", QStandardPaths.LocateOption.LocateDirectory
            )
            or QStandardPaths.writableLocation(places.HomeLocation)
        )

    def step(self, step: int) -> None:
        """Open the next (1) or the previous (-1) picture."""
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
