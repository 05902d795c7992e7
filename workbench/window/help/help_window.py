"""The help in a window of its own: contents, a search line, and a page."""

from __future__ import annotations

from PySide6.QtCore import Qt, Slot
from PySide6.QtGui import QKeyEvent, QKeySequence, QShortcut
from PySide6.QtWidgets import QDialog, QLineEdit, QSplitter, QWidget

from workbench.base import theme
from workbench.base.plain_text import Label
from workbench.widgets.boxes import HBox, VBox
from workbench.widgets.buttons import tab_button
from workbench.window.help.book import Book, HelpPage
from workbench.window.help.contents import HelpContents
from workbench.window.help.page_view import PageView

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
