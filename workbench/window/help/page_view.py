"""A view of one help page, in the window's fonts and colours, with the words of a search marked."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from PySide6.QtCore import QEvent, Qt, QTimer, QUrl, Signal, Slot
from PySide6.QtGui import (
    QColor,
    QFont,
    QImage,
    QPalette,
    QResizeEvent,
    QTextBlock,
    QTextBlockFormat,
    QTextCursor,
    QTextDocument,
    QTextFormat,
    QTextFrameFormat,
    QTextLength,
    QTextTable,
)
from PySide6.QtWidgets import QTextBrowser, QTextEdit

from workbench.base import theme
from workbench.base.assets_path import asset
from workbench.widgets.code_view import one_step
from workbench.window.help.book import HelpPage

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
