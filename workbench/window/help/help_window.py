"""The help in a window of its own: contents, a search line, and a page."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QSignalBlocker, Qt, Signal, Slot
from PySide6.QtGui import QKeyEvent, QKeySequence, QShortcut
from PySide6.QtWidgets import QDialog, QLineEdit, QSplitter, QTreeWidget, QTreeWidgetItem, QWidget

from workbench.base import theme
from workbench.base.plain_text import Label, tip_text
from workbench.widgets.boxes import HBox, VBox
from workbench.widgets.buttons import tab_button
from workbench.window.help.book import Book, HelpPage, SearchHit
from workbench.window.help.page_view import PageView

KEY = Qt.ItemDataRole.UserRole


class HelpContents(QTreeWidget):
    """A table of contents, or the pages that a search found.

    Signals:
        chosen(key): the user went to this page.
    """

    chosen = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("help-contents")
        self.setAccessibleName("HelpContents")
        self.setToolTip("Subjects; the arrow keys go over them")
        self.setHeaderHidden(True)
        self.setIndentation(14)
        self.currentItemChanged.connect(self._choose)

    def show_book(self, book: Book) -> None:
        """Show all pages below their chapters."""
        with QSignalBlocker(self):
            self.clear()
            for title, pages in book.chapters.items():
                chapter = QTreeWidgetItem(self, [title])
                font = chapter.font(0)
                font.setBold(True)
                chapter.setFont(0, font)
                chapter.setFlags(Qt.ItemFlag.ItemIsEnabled)
                for page in pages:
                    _add(chapter, page, page.title)
            self.expandAll()
        self.setRootIsDecorated(True)

    def show_found(self, found: Sequence[SearchHit]) -> None:
        """Show the pages of a search, the best first."""
        with QSignalBlocker(self):
            self.clear()
            for each in found:
                item = _add(self.invisibleRootItem(), each.page, each.page.title)
                item.setToolTip(0, tip_text(each.where))
        self.setRootIsDecorated(False)

    def show_page(self, key: str) -> None:
        """Mark the page that is read."""
        for item in self._items():
            if item.data(0, KEY) == key:
                with QSignalBlocker(self):
                    self.setCurrentItem(item)
                self.scrollToItem(item)

    def _items(self) -> list[QTreeWidgetItem]:
        return self.findItems("*", Qt.MatchFlag.MatchWildcard | Qt.MatchFlag.MatchRecursive)

    def _choose(self, item: QTreeWidgetItem | None) -> None:
        if item is not None and (key := item.data(0, KEY)):
            self.chosen.emit(key)


def _add(parent: QTreeWidgetItem, page: HelpPage, title: str) -> QTreeWidgetItem:
    item = QTreeWidgetItem(parent, [title])
    item.setData(0, KEY, page.key)
    return item


SIZE_PX = (1080, 760)
SIDE_PX = 290
NOTHING = "No page has “{}”. Fewer letters find more."
FOUND = "{} of {} pages"


class HelpWindow(QDialog):
    """A window that stays open beside the main one, without blocking it."""

    def __init__(self, book: Book, parent: QWidget | None = None) -> None:
        super().__init__(parent, Qt.WindowType.Window)
        self.setObjectName("help-window")
        self.setWindowTitle("Help")
        self.resize(theme.window_size(*SIZE_PX))
        self._book = book
        self._past: list[str] = []
        self._to_come: list[str] = []
        self._here = ""
        self._search = QLineEdit()
        self._search.setObjectName("help-search")
        self._search.setAccessibleName("Search the help")
        self._search.setPlaceholderText("Search (Ctrl+F)")
        self._search.setToolTip("Pages that have all of these words, the best first")
        self._search.setClearButtonEnabled(True)
        self._search.textChanged.connect(self._find)
        self._count = Label(name="help-count", is_muted=True, wraps=True)
        self._contents = HelpContents()
        self._contents.chosen.connect(self.show_place)
        self._page = PageView()
        self._page.followed.connect(self.show_place)
        self._back = tab_button("help-back", "‹ Back", "The page before (Alt+Left)")
        self._forward = tab_button("help-forward", "Forward ›", "The page after (Alt+Right)")
        self._back.clicked.connect(self.go_back)
        self._forward.clicked.connect(self.go_forward)
        for keys, do in (
            ("Alt+Left", self.go_back),
            ("Alt+Right", self.go_forward),
            ("Ctrl+F", self._search.setFocus),
            ("F1", self._search.setFocus),
        ):
            QShortcut(QKeySequence(keys), self, do)
        self._lay_out()
        self._contents.show_book(book)
        self._enable()

    @property
    def page(self) -> HelpPage | None:
        """Return the page that is shown."""
        return self._page.page

    @Slot(str)
    def show_place(self, place: str) -> None:
        """Show the page "key", or its section "key#section"; an unknown page changes nothing."""
        if place != self._here and self._show(place):
            if self._here:
                self._past.append(self._here)
            self._to_come.clear()
            self._here = place
            self._enable()

    @Slot()
    def go_back(self) -> None:
        """Go back to the page before; the start of the list changes nothing."""
        if self._past:
            self._to_come.append(self._here)
            self._here = self._past.pop()
            self._show(self._here)
            self._enable()

    @Slot()
    def go_forward(self) -> None:
        """Go forward to the page that `go_back` left."""
        if self._to_come:
            self._past.append(self._here)
            self._here = self._to_come.pop()
            self._show(self._here)
            self._enable()

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802
        """Have Esc clear the search first, and Down or Enter go from there to the pages found."""
        key = event.key()
        if key == Qt.Key.Key_Escape and self._search.text():
            self._search.clear()
        elif key in (Qt.Key.Key_Down, Qt.Key.Key_Return) and self._search.hasFocus():
            self._contents.setFocus()
        else:
            super().keyPressEvent(event)

    # -- inside

    def _show(self, place: str) -> bool:
        key, _, section = place.partition("#")
        page = self._book.page(key)
        if page is None:
            return False
        self._page.show_page(page, section, tuple(self._search.text().split()))
        self._contents.show_page(key)
        self.setWindowTitle(f"{page.title} — Help")
        return True

    @Slot(str)
    def _find(self, query: str) -> None:
        if not query.strip():
            self._count.hide()
            self._contents.show_book(self._book)
            self._show(self._here)
            return
        found = self._book.find(query)
        self._contents.show_found(found)
        said = FOUND.format(len(found), len(self._book.pages)) if found else NOTHING
        self._count.setText(said.format(query.strip()))
        self._count.show()
        if found:
            key = found[0].page.key
            self._here = ""  # so that each letter typed is not a step to go back
            self._show(key)
            self._here = key

    def _enable(self) -> None:
        self._back.setEnabled(bool(self._past))
        self._forward.setEnabled(bool(self._to_come))

    def _lay_out(self) -> None:
        steps = HBox(spacing=6)
        steps.add(self._back, self._forward, 1)
        side = QWidget()
        left = VBox(side, 0, 8)
        left.addWidget(self._search)
        self._count.hide()
        left.add(self._count, (self._contents, 1), steps)
        both = QSplitter(Qt.Orientation.Horizontal)
        both.setChildrenCollapsible(False)
        both.addWidget(side)
        both.addWidget(self._page)
        both.setStretchFactor(1, 1)
        both.setSizes([SIDE_PX, SIZE_PX[0] - SIDE_PX])
        column = VBox(self, 12)
        column.addWidget(both)
