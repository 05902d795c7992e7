"""The left side of the help: a table of contents, or the pages that a search found."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtWidgets import QTreeWidget, QTreeWidgetItem

from workbench.base.plain_text import tip_text
from workbench.window.help.book import Book, HelpPage, SearchHit

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
