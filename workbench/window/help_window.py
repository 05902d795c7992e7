"""The help in a window of its own: contents, a search line, and a page."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from PySide6.QtCore import QEvent, QRegularExpression, QSignalBlocker, Qt, QUrl
from PySide6.QtGui import (
    QColor,
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

from kernels.core.search import beginning, search_words, telling
from workbench.base import theme
from workbench.base.paths import asset
from workbench.base.plain_text import Label
from workbench.widgets.boxes import HBox, VBox
from workbench.widgets.buttons import described, tab_button
from workbench.widgets.code_view import one_step
from workbench.widgets.watch import Watch
from workbench.window.help_pages import Book, HelpPage

SCHEME = "help:"
IMAGE = "\ufffc"  # the character that stands for an image
LINE_PERCENT = 135.0
MARGIN_PX, CELL_PX, PICTURE_PX = 22, 6, 680
WIDEST_PX = 900  # longer lines are hard to read
MAX_MARKS = 500
Option = QRegularExpression.PatternOption
ANY_LETTERS = Option.CaseInsensitiveOption | Option.UseUnicodePropertiesOption
MARKDOWN = QTextDocument.ResourceType.MarkdownResource


class PageView(QTextBrowser):
    """A view of one page of a book, with Qt's history of those before.

    page   None before the first
    words  to be found in the next page
    """

    def __init__(self, book: Book) -> None:
        super().__init__()
        described(self, "help-page", "Page")
        self._book = book
        self.page: HelpPage | None = None
        self.words: tuple[str, ...] = ()
        self.document().setDocumentMargin(MARGIN_PX)
        self.setLineWrapMode(QTextEdit.LineWrapMode.FixedPixelWidth)
        self.sourceChanged.connect(self._arrive)
        recoloured = Watch(self, QEvent.Type.PaletteChange).seen
        recoloured.connect(lambda: self.page and self.preview(self.page))

    def show_place(self, place: str) -> None:
        """Show the page "key", or its section "key#section"; ignore an unknown one."""
        self.setSource(QUrl(f"{SCHEME}{place}"), MARKDOWN)

    def preview(self, page: HelpPage) -> None:
        """Show a page without a step in the history."""
        self.page = page
        self.setMarkdown(self._markdown(page))
        self._dress()
        self._find_words()

    def doSetSource(self, name: QUrl | str, _kind: Any = MARKDOWN) -> None:  # noqa: N802
        """Show a page that a link or `show_place` names; ignore an unknown one."""
        if self._book.page(QUrl(name).path()) is not None:
            super().doSetSource(name, MARKDOWN)

    def loadResource(self, _kind: int, name: QUrl | str) -> Any:  # noqa: N802
        """Load a page's text, or a screenshot scaled to its width."""
        if (url := QUrl(name)).toString().startswith(SCHEME):
            self.page = self._book.page(url.path())
            return self._markdown(self.page) if self.page is not None else ""
        image, ratio = QImage(url.toLocalFile()), self.devicePixelRatioF()
        smooth = Qt.TransformationMode.SmoothTransformation
        image = image.scaledToWidth(round(PICTURE_PX * ratio), smooth)
        image.setDevicePixelRatio(ratio)
        return image

    def _arrive(self, url: QUrl) -> None:
        self._dress()
        self.setAccessibleDescription(self.page.title if self.page is not None else "")
        section = url.fragment(QUrl.ComponentFormattingOption.FullyDecoded)
        for block in self._blocks():
            if section and block.blockFormat().headingLevel() > 0 and block.text() == section:
                cursor, bar = QTextCursor(block), self.verticalScrollBar()
                self.setTextCursor(cursor)
                bar.setValue(bar.value() + self.cursorRect(cursor).top() - MARGIN_PX)
                return
        if not section:
            self._find_words()

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802
        super().resizeEvent(event)
        widest = theme.in_letters(WIDEST_PX) + 2 * MARGIN_PX
        self.setLineWrapColumnOrWidth(min(self.viewport().width(), widest))

    def _markdown(self, page: HelpPage) -> str:
        picture = picture_of(page.picture, self.palette())
        if picture is None:
            return f"# {page.title}\n\n{page.text}"
        first, _, rest = page.text.partition("\n\n")
        shown = f"![{page.title}]({QUrl.fromLocalFile(str(picture)).toString()})"
        return f"# {page.title}\n\n{first}\n\n{shown}\n\n{rest}"

    def _blocks(self) -> Iterator[QTextBlock]:
        block = self.document().begin()
        while block.isValid():
            yield block
            block = block.next()

    def _dress(self) -> None:
        """Set what Markdown leaves open: distances of lines, code's ground, tables' borders."""
        code, lines = QTextBlockFormat(), QTextBlockFormat()
        code.setBackground(self.palette().brush(QPalette.ColorRole.AlternateBase))
        code.setNonBreakableLines(False)
        proportional = QTextBlockFormat.LineHeightTypes.ProportionalHeight
        lines.setLineHeight(LINE_PERCENT, proportional.value)
        with one_step(QTextCursor(self.document())):
            for block in self._blocks():
                if block.blockFormat().hasProperty(QTextFormat.Property.BlockCodeFence):
                    QTextCursor(block).mergeBlockFormat(code)
                elif IMAGE not in block.text():  # an image's line would grow with it
                    QTextCursor(block).mergeBlockFormat(lines)
            for frame in self.document().rootFrame().childFrames():
                if isinstance(frame, QTextTable):
                    form = frame.format()
                    form.setBorder(1)
                    form.setBorderBrush(QColor(theme.colors(self.palette()).grid))
                    form.setBorderStyle(QTextFrameFormat.BorderStyle.BorderStyle_Solid)
                    form.setBorderCollapse(True)
                    form.setCellPadding(CELL_PX)
                    form.setWidth(QTextLength(QTextLength.Type.PercentageLength, 100))
                    frame.setFormat(form)

    def _find_words(self) -> None:
        colour = self.palette().color(QPalette.ColorRole.Highlight)
        colour.setAlpha(90)
        marks: list[QTextEdit.ExtraSelection] = []
        patterns = [QRegularExpression(beginning(word), ANY_LETTERS) for word in self.words]
        for pattern in patterns:
            found = self.document().find(pattern)
            while not found.isNull() and len(marks) < MAX_MARKS:
                mark = QTextEdit.ExtraSelection()
                mark.cursor = found
                mark.format.setBackground(colour)
                marks.append(mark)
                found = self.document().find(pattern, found)
        self.setExtraSelections(marks)
        if marks:  # to the first in a line, or cell, with the most of the words
            lines = [each.cursor.block().text() for each in marks]
            counts = [sum(each.match(line).hasMatch() for each in patterns) for line in lines]
            self.setTextCursor(marks[counts.index(max(counts))].cursor)


def picture_of(name: str, palette: QPalette) -> Path | None:
    """Path of a screenshot in this theme, or in the light one; None without."""
    dark = [f"{name}-dark"] if theme.colors(palette) is theme.DARK else []
    for each in (*dark, name) if name else ():
        try:
            return asset(f"screenshots/{each}.png")
        except FileNotFoundError:
            continue
    return None


KEY = Qt.ItemDataRole.UserRole
SIZE_PX = (1080, 760)
SIDE_PX = 290
NOTHING = "No page has “{}”. Fewer letters find more."


class HelpWindow(QDialog):
    """A window that stays open beside the main one, without blocking it."""

    def __init__(self, book: Book, parent: QWidget | None = None) -> None:
        super().__init__(parent, Qt.WindowType.Window)
        self.setObjectName("help-window")
        self.setWindowTitle("Help")
        self.resize(theme.window_size(*SIZE_PX))
        self._book = book
        tip = "Pages that have all of these words"
        line = QLineEdit(placeholderText="Search (Ctrl+F)", clearButtonEnabled=True)
        self._search = described(line, "help-search", "Search the help", tip)
        self._search.textChanged.connect(self._find)
        self._count = Label(name="help-count", is_muted=True, wraps=True)
        tip = "Subjects; the arrow keys go over them"
        self._contents = described(QTreeWidget(), "help-contents", "Contents", tip)
        self._contents.setHeaderHidden(True)
        self._contents.setIndentation(14)
        self._items: dict[str, QTreeWidgetItem] = {}  # of pages, by their keys
        self._chapters: list[tuple[QTreeWidgetItem, tuple[HelpPage, ...]]] = []
        for title, pages in book.chapters.items():
            chapter = QTreeWidgetItem(self._contents, [title])
            font = chapter.font(0)
            font.setBold(True)
            chapter.setFont(0, font)
            chapter.setFlags(Qt.ItemFlag.ItemIsEnabled)
            self._chapters.append((chapter, pages))
            for page in pages:
                item = self._items[page.key] = QTreeWidgetItem(chapter, [page.title])
                item.setData(0, KEY, page.key)
        self._contents.expandAll()
        self._contents.currentItemChanged.connect(self._choose)
        self._view = PageView(book)
        self._view.sourceChanged.connect(self._follow)
        view = self._view
        back = tab_button("help-back", "‹ Back", "The page before (Alt+Left)")
        forward = tab_button("help-forward", "Forward ›", "The page after (Alt+Right)")
        for button, keys, act, is_available in (
            (back, "Alt+Left", view.backward, view.backwardAvailable),
            (forward, "Alt+Right", view.forward, view.forwardAvailable),
        ):
            button.setEnabled(False)
            button.clicked.connect(act)
            is_available.connect(button.setEnabled)
            QShortcut(QKeySequence(keys), self, button.click)
        for keys in ("Ctrl+F", "F1"):
            QShortcut(QKeySequence(keys), self, self._search.setFocus)
        side, steps = QWidget(), HBox(spacing=6).add(back, forward, 1)
        VBox(side, 0, 8).add(self._search, self._count, (self._contents, 1), steps)
        both = QSplitter(Qt.Orientation.Horizontal, childrenCollapsible=False)
        both.addWidget(side)
        both.addWidget(view)
        both.setStretchFactor(1, 1)
        both.setSizes([theme.in_letters(SIDE_PX), SIZE_PX[0] - SIDE_PX])
        VBox(self, 12).add(both)
        self._find("")

    @property
    def page(self) -> HelpPage | None:
        return self._view.page

    def show_place(self, place: str) -> None:
        self._view.show_place(place)

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802
        """Let Esc clear the search first, and Down or Enter lead to the pages found."""
        key, down = event.key(), (Qt.Key.Key_Down, Qt.Key.Key_Return, Qt.Key.Key_Enter)
        if key == Qt.Key.Key_Escape and self._search.text():
            self._search.clear()
        elif key in down and self._search.hasFocus():
            self._contents.setFocus()
        else:
            super().keyPressEvent(event)

    def _follow(self) -> None:
        if (page := self.page) is not None:
            self.setWindowTitle(f"{page.title} — Help")
            with QSignalBlocker(self._contents):
                self._contents.setCurrentItem(self._items[page.key])
            self._contents.scrollToItem(self._items[page.key])

    def _choose(self, item: QTreeWidgetItem | None) -> None:
        if item is not None and (key := item.data(0, KEY)):
            self.show_place(key)

    def _find(self, query: str) -> None:
        """Leave the pages with these words in the contents, and show the best of them."""
        self._view.words = tuple(telling(search_words(query)))
        found = self._book.find(query) if self._view.words else list(self._book.pages)
        keys = {page.key for page in found}
        for chapter, pages in self._chapters:
            chapter.setHidden(keys.isdisjoint(page.key for page in pages))
            for page in pages:
                self._items[page.key].setHidden(page.key not in keys)
        said = f"{len(found)} of {len(self._book.pages)} pages" if found else NOTHING
        self._count.show_or_hide(said.format(query.strip()) if self._view.words else "")
        if best := found[0] if self._view.words and found else self.page:
            self._view.preview(best)
        self._follow()
