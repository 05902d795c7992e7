"""The help in a window of its own: contents, a search line, and a page."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from PySide6.QtCore import QEvent, QSignalBlocker, Qt, QTimer, QUrl, Signal, Slot
from PySide6.QtGui import (
    QColor,
    QFont,
    QImage,
    QKeyEvent,
    QKeySequence,
    QPalette,
    QResizeEvent,
    QShortcut,
    QTextBlock,
    QTextBlockFormat,
    QTextCursor,
    QTextDocument,
    QTextFormat,
    QTextFrameFormat,
    QTextLength,
    QTextTable,
)
from PySide6.QtWidgets import (
    QDialog,
    QLineEdit,
    QSplitter,
    QTextBrowser,
    QTextEdit,
    QTreeWidget,
    QTreeWidgetItem,
    QWidget,
)

from workbench.base import theme
from workbench.base.paths import asset
from workbench.base.plain_text import Label, tip_text
from workbench.widgets.boxes import HBox, VBox
from workbench.widgets.buttons import tab_button
from workbench.widgets.code_view import one_step
from workbench.window.help_pages import Book, HelpPage, SearchHit

SCHEME = "help:"
IMAGE = "\ufffc"  # the character that stands for an image
LINE_PERCENT = 135.0
MARGIN_PX, PARAGRAPH_PX, CELL_PX = 22, 8, 6
MAX_MARKS = 500
WIDEST_PX = 900  # of text and pictures: longer lines are hard to read
CODE = QTextFormat.Property.BlockCodeFence
_END = QTextCursor.MoveOperation.EndOfBlock
SIZES = {1: 1.6, 2: 1.25, 3: 1.1}  # of headings, in the program's font size


class PageView(QTextBrowser):
    """A view of one page of the help.

    Signals:
        followed(place): a link to another page was clicked: "numbers#Kernel".
    """

    followed = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("help-page")
        self.setAccessibleName("HelpPage")
        self.setOpenLinks(False)
        self.anchorClicked.connect(self._follow)
        self.document().setDocumentMargin(MARGIN_PX)
        self._page: HelpPage | None = None
        self._words: tuple[str, ...] = ()
        self._width = 0
        self._later = QTimer(self, singleShot=True, interval=0)
        self._later.timeout.connect(self._fit)
        # Otherwise it would come and go with pages, and pictures would change their width.
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOn)

    @property
    def page(self) -> HelpPage | None:
        """Return the page that is shown; None before the first."""
        return self._page

    def show_page(self, page: HelpPage, section: str = "", words: tuple[str, ...] = ()) -> None:
        """Show a page from its beginning, or from the heading `section`; with `words` marked."""
        self._page, self._words = page, words
        self._render()
        self.setAccessibleDescription(page.title)
        if section:
            self._go_to(section)
        elif words:
            self._go_to_first_mark()

    def changeEvent(self, event: QEvent) -> None:  # noqa: N802
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange and self._page is not None:
            self._render()

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802
        super().resizeEvent(event)
        self._keep_lines_short()
        if self._picture_width() != self._width and self._page and self._page.picture:
            self._later.start()  # Qt fails if the document is replaced in the middle of a change

    def loadResource(self, kind: int, name: QUrl | str) -> Any:  # noqa: N802
        """Return a screenshot, scaled to the width there is."""
        if kind != QTextDocument.ResourceType.ImageResource.value:
            return super().loadResource(kind, name)
        image = QImage(QUrl(name).toLocalFile())
        ratio = self.devicePixelRatioF()
        image = image.scaledToWidth(
            round(self._width * ratio), Qt.TransformationMode.SmoothTransformation
        )
        image.setDevicePixelRatio(ratio)
        return image

    # -- inside

    def _render(self) -> None:
        page = self._page
        assert page is not None
        self._width = self._picture_width()
        self.setExtraSelections([])
        self.setMarkdown(f"# {page.title}\n\n{self._with_picture(page)}")
        self._dress()
        self._mark()
        self.moveCursor(QTextCursor.MoveOperation.Start)

    def _with_picture(self, page: HelpPage) -> str:
        """Return a page's text, with its screenshot, if any, below the first paragraph."""
        picture = picture_of(page.picture, self.palette())
        if picture is None:
            return page.text
        first, _, rest = page.text.partition("\n\n")
        shown = f"![{page.title}]({QUrl.fromLocalFile(str(picture)).toString()})"
        return f"{first}\n\n{shown}\n\n{rest}"

    @Slot()
    def _fit(self) -> None:
        """Show the picture in another width."""
        at = self.verticalScrollBar().value()
        self._render()
        self.verticalScrollBar().setValue(at)

    def _keep_lines_short(self) -> None:
        """Leave the room at the right empty that lines would be too long with."""
        before = self.viewportMargins().right()
        room = self.maximumViewportSize().width() + before
        spare = max(room - theme.in_letters(WIDEST_PX) - 2 * MARGIN_PX, 0)
        if spare != before:
            self.setViewportMargins(0, 0, spare, 0)

    def _picture_width(self) -> int:
        return min(self.viewport().width() - 2 * MARGIN_PX - 4, WIDEST_PX)

    def _dress(self) -> None:
        """Set what Markdown leaves open: distances, sizes of headings, borders of tables."""
        document = self.document()
        with one_step(QTextCursor(document)):
            block = document.begin()
            while block.isValid():
                self._dress_block(block)
                block = block.next()
            for frame in document.rootFrame().childFrames():
                if isinstance(frame, QTextTable):
                    _dress_table(frame, QColor(theme.colors(self.palette()).grid))

    def _dress_block(self, block: QTextBlock) -> None:
        cursor = QTextCursor(block)
        form = block.blockFormat()
        level = form.headingLevel()
        kind = QTextBlockFormat.LineHeightTypes.ProportionalHeight
        is_code = _is_code(block)
        if IMAGE not in block.text() and not is_code:  # an image's line would grow with it
            form.setLineHeight(LINE_PERCENT, kind.value)
        if level:
            form.setTopMargin(PARAGRAPH_PX * (2 if block.blockNumber() else 0))
            letters = block.charFormat()
            letters.setFontPointSize(self.font().pointSizeF() * SIZES.get(level, 1.0))
            letters.setFontWeight(QFont.Weight.DemiBold)
            cursor.movePosition(_END, QTextCursor.MoveMode.KeepAnchor)
            cursor.mergeCharFormat(letters)
        form.setBottomMargin(0 if is_code and _is_code(block.next()) else PARAGRAPH_PX)
        if is_code:
            form.setBackground(self.palette().brush(QPalette.ColorRole.AlternateBase))
            form.setNonBreakableLines(False)
        cursor.setBlockFormat(form)

    def _mark(self) -> None:
        color = self.palette().color(QPalette.ColorRole.Highlight)
        color.setAlpha(90)
        marks: list[QTextEdit.ExtraSelection] = []
        for word in self._words:
            cursor = self.document().find(word)
            while not cursor.isNull() and len(marks) < MAX_MARKS:
                mark = QTextEdit.ExtraSelection()
                mark.cursor = cursor
                mark.format.setBackground(color)
                marks.append(mark)
                cursor = self.document().find(word, cursor)
        self.setExtraSelections(marks)

    def _go_to_first_mark(self) -> None:
        marks = self.extraSelections()
        if marks:
            first = min((mark.cursor for mark in marks), key=QTextCursor.position)
            self._scroll_to(first.block())

    def _go_to(self, section: str) -> None:
        block = self.document().begin()
        while block.isValid():
            if block.blockFormat().headingLevel() and block.text() == section:
                self._scroll_to(block)
                return
            block = block.next()

    def _scroll_to(self, block: Any) -> None:
        cursor = QTextCursor(block)
        self.setTextCursor(cursor)
        bar = self.verticalScrollBar()
        bar.setValue(bar.value() + self.cursorRect(cursor).top() - MARGIN_PX)

    def _follow(self, url: QUrl) -> None:
        if url.toString().startswith(SCHEME):
            self.followed.emit(QUrl.fromPercentEncoding(url.toEncoded()).removeprefix(SCHEME))


def picture_of(name: str, palette: QPalette) -> Path | None:
    """Return a screenshot's path in this theme, or in the light one; None where there is none."""
    if not name:
        return None
    dark = [f"{name}-dark"] if theme.colors(palette) is theme.DARK else []
    for each in (*dark, name):
        try:
            return asset(f"screenshots/{each}.png")
        except FileNotFoundError:
            continue
    return None


def _is_code(block: QTextBlock) -> bool:
    return block.isValid() and block.blockFormat().hasProperty(CODE)


def _dress_table(table: QTextTable, color: QColor) -> None:
    form = table.format()
    form.setBorder(1)
    form.setBorderBrush(color)
    form.setBorderStyle(QTextFrameFormat.BorderStyle.BorderStyle_Solid)
    form.setBorderCollapse(True)
    form.setCellPadding(CELL_PX)
    form.setBottomMargin(PARAGRAPH_PX)
    form.setWidth(QTextLength(QTextLength.Type.PercentageLength, 100))
    table.setFormat(form)


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
