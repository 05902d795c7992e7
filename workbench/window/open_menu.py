"""The menu File ▸ Open, and the rows of the status bar that step to another picture or page."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import QObject, QSignalBlocker, QStandardPaths, Qt, Signal
from PySide6.QtWidgets import QMenu, QToolButton, QWidget

from kernels.pictures.generated import PICTURES
from workbench.base.plain_text import Label, tip_text
from workbench.files.formats import OPEN_FILTER, PICTURES_FILTER
from workbench.files.neighbours import Shelf
from workbench.imaging.pictures import ONE_PAGE, Picture
from workbench.session.opener import Walk
from workbench.widgets.actions import Action, Actions, MenuTree, list_in
from workbench.widgets.boxes import HBox
from workbench.widgets.buttons import tab_button
from workbench.widgets.file_dialogs import ask_files, ask_folder
from workbench.widgets.number_boxes import WholeBox
from workbench.window.window_layout import Parts


class PlaceBar(QWidget):
    """A row for the status bar, with `words` on the place; hidden where there is nowhere to go."""

    stepped = Signal(int)  # (step): the next (1) or the previous (-1) picture is wanted

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("place")
        self.words = Label(name="place-words")
        arrows = Qt.ArrowType
        self._back = self._button("back", "Previous picture", "PgUp", arrows.LeftArrow, -1)
        self._forth = self._button("forth", "Next picture", "PgDn", arrows.RightArrow, 1)
        HBox(self, (4, 0, 4, 0), 2).add(self._back, self.words, self._forth)
        self.hide()

    def _button(self, name: str, title: str, key: str, arrow: Qt.ArrowType, by: int) -> QToolButton:
        button = tab_button(f"place-{name}", "", f"{title} ({key})", title, look="flat")
        button.setArrowType(arrow)
        button.setAutoRaise(True)
        button.clicked.connect(lambda: self.stepped.emit(by))
        return button

    def show_place(self, shelf: Shelf | None) -> None:
        """Show where the picture in view stands on `shelf`; None: on none."""
        if shelf is None or shelf.index is None or len(shelf.names) < 2:
            self.hide()
            return
        at, count = shelf.index + 1, len(shelf.names)
        self.words.setText(f"{at:,} of {count:,}")
        widest = self.words.fontMetrics().horizontalAdvance(f"{count:,} of {count:,}")
        self.words.setMinimumWidth(widest)  # so that the arrows stay where they are
        where = "opened together" if shelf.folder is None else f"in {shelf.folder}"
        said = f"Opened last: picture {at:,} of {count:,} {where}"
        self.words.setToolTip(tip_text(said))
        self.words.setAccessibleName(said)
        self._back.setEnabled(at > 1)
        self._forth.setEnabled(at < count)
        self.show()

    def show_outside(self) -> None:
        """Show that the picture in view is none of them."""
        self.words.setText(f"– of{self.words.text().partition('of')[2]}")


class PageBox(QWidget):
    """A row with the number of the page in view; hidden where a file has but one."""

    turned = Signal(int)  # (by): a page so many further on is wanted

    def __init__(self) -> None:
        super().__init__()
        tip = "The page, frame or plane in view (Shift+PgUp, Shift+PgDn)"
        self._box, self._of = WholeBox("page", "Page", tip), Label(name="page-of")
        self._box.valueChanged.connect(self._turn)
        HBox(self, (4, 0, 4, 0), 4).add(Label("Page"), self._box, self._of)
        self.show_picture(None)

    def show_picture(self, picture: Picture | None) -> None:
        """Show which page of its file `picture` is."""
        self._page = page = picture.page if picture is not None else ONE_PAGE
        with QSignalBlocker(self._box):
            self._box.setRange(1, min(page.count, 2**31 - 1))
            self._box.setValue(page.number)
        self._of.setText(f"of {page.count:,}")
        self._of.setToolTip(tip_text(str(page).capitalize()))
        self.setVisible(page.count > 1)

    def _turn(self, number: int) -> None:
        self._box.show_value(self._page.number)  # until the other is in view
        self.turned.emit(number - self._page.number)


FOLDER = "folder"  # the setting with the folder of what was opened last
PAGES = "recent-pages"  # the setting with those of the recent files that were open
RECENT, BUILT_IN = "&File/Open &recent", "&File/&Built-in picture"
MADE = "A picture that comes with the program; its edges and frequencies are known."
IN_NO_FOLDER = "This picture is in no folder; open a picture file first."


class OpenMenu(QObject):
    """A menu that asks the opener for the picture that the user chose."""

    def __init__(self, parts: Parts, walk: Walk) -> None:
        super().__init__(parts.window)
        self._store, self._walk, self._opener = parts.store, walk, parts.opener
        self._settings, self._messages, self._parent = parts.settings, parts.messages, parts.window

    def actions(self) -> Actions:
        return {
            "Open…": self._ask,
            "Open folder…": self.ask_for_folder,
            "Clear list": partial(self._settings.set, "recent", []),
            "Next in folder": partial(self.step, 1),
            "Previous in folder": partial(self.step, -1),
            "Next page": Action(partial(self.turn, 1), partial(self._why_not_turn, 1)),
            "Previous page": Action(partial(self.turn, -1), partial(self._why_not_turn, -1)),
        }

    def fill(self, tree: MenuTree) -> None:
        """List the built-in pictures, and the recent files whenever their menu is about to show."""
        show = self._opener.open_built_in
        built_in = ((each.title, MADE, partial(show, key)) for key, each in PICTURES.items())
        list_in(tree.menu(BUILT_IN), built_in)
        recent = tree.menu(RECENT)
        recent.aboutToShow.connect(partial(self._list_recent, recent))

    def menu_of_button(self, tree: MenuTree) -> QMenu:
        """Short menu for the toolbar: files, a folder, the recent ones."""
        menu = QMenu("Open", self._parent, toolTipsVisible=True)
        menu.addActions([tree.action("Open…"), tree.action("Open folder…")])
        menu.addMenu(tree.menu(RECENT))
        return menu

    def _ask(self) -> None:
        paths = ask_files(self._parent, "Open pictures", self._folder, OPEN_FILTER)
        if len(paths) == 1:
            self._opener.open_file(paths[0])
        elif paths:
            self._opener.open_together(paths)

    def ask_for_folder(self) -> None:
        title = "Open a folder of pictures"
        if path := ask_folder(self._parent, title, self._folder, PICTURES_FILTER):
            self._opener.open_together([path])

    @property
    def _folder(self) -> str:
        """Start of a dialog: the last folder, else the user's pictures."""
        places = QStandardPaths.StandardLocation
        return str(
            self._settings.get(FOLDER, "")
            or QStandardPaths.locate(
                places.PicturesLocation, "", QStandardPaths.LocateOption.LocateDirectory
            )
            or QStandardPaths.writableLocation(places.HomeLocation)
        )

    def step(self, step: int) -> None:
        """Open the next (1) or the previous (-1) picture; from what is in no folder, that left."""
        picture = self._store.state.picture
        if self._walk.path is None:
            self._messages.show_message("info", IN_NO_FOLDER)
        elif picture is not None and picture.path is None:
            self._opener.open_file(self._walk.path)
        else:
            self._opener.open_neighbour(self._walk.path, step)

    def turn(self, by: int) -> None:
        """Open a page so many further on in the same file."""
        picture = self._store.state.picture
        if picture is not None and picture.path is not None:
            self._opener.open_page(picture.path, picture.page.number + by)

    def _why_not_turn(self, by: int) -> str:
        picture = self._store.state.picture
        page = picture.page if picture is not None else ONE_PAGE
        return "" if 0 < page.number + by <= page.count else "There is no further page."

    def _list_recent(self, menu: QMenu) -> None:
        files, pages = self._settings.recent_files(), self._settings.get(PAGES, {})
        show = self._opener.open_file
        list_in(menu, ((e.name, str(e), partial(show, e, pages.get(str(e), 1))) for e in files), 2)
