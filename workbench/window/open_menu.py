"""The menu File ▸ Open: a picture by a dialog, from the recent ones, or beside the present one."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, QStandardPaths, Qt, Signal, Slot
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMenu, QToolButton, QWidget

from kernels.pictures.generated import PICTURES
from workbench.base.plain_text import Label, tip_text
from workbench.files.image_files import OPEN_FILTER, PICTURES_FILTER
from workbench.files.neighbours import Shelf
from workbench.widgets.actions import Action, MenuTree
from workbench.widgets.boxes import HBox
from workbench.widgets.buttons import tab_button
from workbench.widgets.file_dialogs import ask_files, ask_folder
from workbench.window.window_parts import Parts


class PlaceBar(QWidget):
    """A row for the status bar; hidden where there is nowhere to go.

    Signals:
        stepped(step): the next (1) or the previous (-1) picture is wanted.
    """

    stepped = Signal(int)

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("place")
        self._words = Label(name="place-words")
        self._back = self._make_button(Qt.ArrowType.LeftArrow, -1, "Previous picture", "PgUp")
        self._forth = self._make_button(Qt.ArrowType.RightArrow, 1, "Next picture", "PgDn")
        row = HBox(self, (4, 0, 4, 0), 2)
        row.add(self._back, self._words, self._forth)
        self.hide()

    def show_place(self, shelf: Shelf | None) -> None:
        """Show where the picture in view stands on `shelf`; None: on none."""
        if shelf is None or shelf.index is None or len(shelf.names) < 2:
            self.hide()
            return
        at, count = shelf.index + 1, len(shelf.names)
        self._words.setText(f"{at:,} of {count:,}")
        where = "opened together" if shelf.folder is None else f"in {shelf.folder}"
        said = f"Picture {at:,} of {count:,} {where}"
        self._words.setToolTip(tip_text(said))
        self._words.setAccessibleName(said)
        self._back.setEnabled(at > 1)
        self._forth.setEnabled(at < count)
        self.show()

    def _make_button(self, arrow: Qt.ArrowType, step: int, name: str, key: str) -> QToolButton:
        place = "place-forth" if step > 0 else "place-back"
        button = tab_button(place, "", f"{name} ({key})", name)
        button.setArrowType(arrow)
        button.setAutoRaise(True)
        button.setProperty("flat", True)
        button.clicked.connect(partial(self._step, step))
        return button

    def _step(self, step: int, _checked: bool = False) -> None:
        self.stepped.emit(step)


FOLDER = "folder"  # the setting with the folder of what was opened last
MENU, RECENT = "&File", "&File/Open &recent"
MADE = "A picture that comes with the program; its edges and frequencies are known."
IN_NO_FOLDER = "This picture is in no folder; open a picture file first."


class OpenMenu(QObject):
    """A menu that asks the opener for the picture that the user chose.

    settings  remember the folder and the recent files
    parent    of the dialog
    """

    def __init__(self, parts: Parts) -> None:
        super().__init__(parts.window)
        self._store, self._opener = parts.store, parts.opener
        self._settings, self._messages, self._parent = parts.settings, parts.messages, parts.window

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
