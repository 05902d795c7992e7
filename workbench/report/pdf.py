"""The report as a PDF for A4, with charts of lines and letters; it takes no browser.

Qt lays the text out and breaks it into pages; the charts are the page's own SVG.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from PySide6.QtCore import QBuffer, QIODevice, QMarginsF, QPointF, QRect, QRectF, QSize, QSizeF, Qt
from PySide6.QtGui import (
    QAbstractTextDocumentLayout,
    QColor,
    QFont,
    QFontDatabase,
    QFontMetricsF,
    QImage,
    QPageSize,
    QPainter,
    QPdfWriter,
    QPicture,
    QPyTextObject,
    QTextBlock,
    QTextCharFormat,
    QTextCursor,
    QTextDocument,
    QTextFormat,
    QTextOption,
    QTextTable,
)

from workbench.charts.drawing.chart_export import have_application
from workbench.report.document import Document
from workbench.report.report_page import CONTROLS
from workbench.report.templates import environment

DPI = 96  # everything is laid out and painted in CSS's pixels
PX_PER_MM = DPI / 25.4
PAPER_MM, SIDE_MM, ABOVE_MM, BELOW_MM = (210.0, 297.0), 14.0, 18.0, 18.0
BODY_PX = QSizeF(
    (PAPER_MM[0] - 2 * SIDE_MM) * PX_PER_MM, (PAPER_MM[1] - ABOVE_MM - BELOW_MM) * PX_PER_MM
)
MARK_PX = 11  # letters of the header and the footer
SMALLER_PX = (9.5, 8.5, 7.5, 6.5)  # letters of tables that are too wide in those of the template
ROWS_TOGETHER = 3  # of a table with its caption, at the end of a page
EXAMPLE_PX = 330.0  # wide: two side by side

Strokes = dict[str, tuple[QPicture, QSize]]  # by the key of a chart: its painting and its size


def pdf(document: Document, strokes: Strokes) -> bytes:
    """Return the whole report: text that can be marked, fonts embedded, each page numbered.

    strokes  those of all the document's charts

    Pages are marked where what they show is recorded.
    """
    have_application()
    pictures = _Pictures(document, strokes)
    texts = [_laid_out(document, pictures, "report")]
    if document.long:  # apart, since each page break lays out again all that comes after it
        texts.append(_laid_out(document, pictures, "long"))
    buffer = QBuffer()
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    writer = QPdfWriter(buffer)
    writer.setPageSize(QPageSize(QPageSize.PageSizeId.A4))
    writer.setPageMargins(QMarginsF())
    writer.setResolution(DPI)  # of what the charts were painted for; lengths may be fractions
    writer.setTitle(document.title)
    writer.setCreator(f"Filter Workbench {document.version}")
    painter = QPainter(writer)
    try:
        _paint(painter, writer.newPage, texts, document)
    finally:
        painter.end()
    return bytes(buffer.data().data())


# ---------------------------------------------------------------------------- layout


def _laid_out(document: Document, pictures: _Pictures, part: str) -> QTextDocument:
    """Lay out the template's `part`: tables fit, and headings stay with what they are of."""
    text = QTextDocument()
    text.setDocumentMargin(0)
    text.setUseDesignMetrics(True)  # the printer's, not the screen's
    text.setDefaultFont(_font())
    text.setDefaultTextOption(_between_words())
    handler = text.documentLayout()
    handler.registerHandler(QTextFormat.ObjectTypes.ImageObject, pictures)
    html = environment().get_template("pdf.html.j2").render(document=document, part=part)
    text.setHtml(CONTROLS.sub("", html))
    text.setPageSize(BODY_PX)
    _fit_tables(text)
    _keep_together(text, document)
    return text


def _font() -> QFont:
    font = QFontDatabase.systemFont(QFontDatabase.SystemFont.GeneralFont)
    font.setPixelSize(13)
    font.setHintingPreference(QFont.HintingPreference.PreferNoHinting)
    return font


def _between_words() -> QTextOption:
    option = QTextOption()
    option.setWrapMode(QTextOption.WrapMode.WordWrap)
    return option


def _blocks(text: QTextDocument) -> Iterator[QTextBlock]:
    block = text.begin()
    while block.isValid():
        yield block
        block = block.next()


def _keep_together(text: QTextDocument, document: Document) -> None:
    """Begin a page where a heading or a caption would stand alone at the end of one.

    Also where what is recorded begins or ends.
    """
    marks = {each.key: each.is_recorded for each in document.sections}
    before = bool(document.sections) and document.recorded == "Recorded"
    first: QTextBlock | None = None
    for block in _blocks(text):
        key = _anchor(block)
        if key in marks and marks[key] != before:
            _begin_page(block)
        before = marks.get(key, before)
        if block.blockFormat().headingLevel():
            first = block if first is None else first
        elif first is not None:
            if _page_of(text, first) != _page_of(text, _needed(block)):
                _begin_page(first)
            first = None


def _anchor(block: QTextBlock) -> str:
    """Return the name that the template gives a section's heading; "" of all else."""
    if block.blockFormat().headingLevel() != 2:
        return ""
    parts: Any = block  # an iterable, of which Qt's types know nothing
    names = (name for each in parts for name in each.fragment().charFormat().anchorNames())
    return next(names, "")


def _needed(block: QTextBlock) -> QTextBlock:
    """Return what belongs on the page of what stands above `block`: itself, or some rows."""
    table = QTextCursor(block).currentTable()
    if table is None:
        return block
    row = min(ROWS_TOGETHER, table.rows() - 1)
    return table.cellAt(row, 0).firstCursorPosition().block()


def _begin_page(block: QTextBlock) -> None:
    cursor, look = QTextCursor(block), block.blockFormat()
    look.setPageBreakPolicy(QTextFormat.PageBreakFlag.PageBreak_AlwaysBefore)
    cursor.setBlockFormat(look)
    block.document().markContentsDirty(0, block.document().characterCount())  # or parts are lost


def _page_of(text: QTextDocument, block: QTextBlock) -> int:
    """Return the page of its first line, counted from 0."""
    box = text.documentLayout().blockBoundingRect(block)
    line = block.layout().lineAt(0).height() if block.layout().lineCount() else box.height()
    return int((box.top() + line - 1) // BODY_PX.height())


def _fit_tables(text: QTextDocument) -> None:
    """Shrink the letters of tables that are wider than the page until they are not."""
    for frame in text.rootFrame().childFrames():
        if isinstance(frame, QTextTable):
            for size in SMALLER_PX:
                if text.documentLayout().frameBoundingRect(frame).width() <= BODY_PX.width() + 1:
                    break
                _set_letters(frame, size)


def _set_letters(table: QTextTable, size_px: float) -> None:
    cursor = table.firstCursorPosition()
    cursor.setPosition(table.lastPosition(), QTextCursor.MoveMode.KeepAnchor)
    smaller = QTextCharFormat()
    smaller.setProperty(QTextFormat.Property.FontPixelSize, size_px)
    cursor.mergeCharFormat(smaller)


# ---------------------------------------------------------------------------- painting


def _paint(
    painter: QPainter,
    new_page: Callable[[], bool],
    texts: Sequence[QTextDocument],
    document: Document,
) -> None:
    pages = [
        (text, page, mark) for text in texts for page, mark in enumerate(_marks(text, document))
    ]
    for number, (text, page, mark) in enumerate(pages, start=1):
        if number > 1:
            new_page()
        _paint_edges(painter, document, mark, f"{number} / {len(pages)}")
        painter.save()
        painter.translate(SIDE_MM * PX_PER_MM, ABOVE_MM * PX_PER_MM - page * BODY_PX.height())
        seen = QRectF(QPointF(0, page * BODY_PX.height()), BODY_PX)
        painter.setClipRect(seen)
        context = QAbstractTextDocumentLayout.PaintContext()
        context.clip = seen
        context.palette.setColor(context.palette.ColorRole.Text, QColor("#000000"))
        text.documentLayout().draw(painter, context)
        painter.restore()


def _marks(text: QTextDocument, document: Document) -> list[str]:
    """Return what each page's header says of where its figures come from.

    Of a section's pages what is true of the section, of all others what is true of the report.
    """
    recorded = {each.key: "Recorded" if each.is_recorded else "" for each in document.sections}
    marks = [document.recorded] * text.pageCount()
    now, begins = document.recorded, 0
    for block in _blocks(text):
        if key := _anchor(block):
            page = _page_of(text, block)
            marks[begins:page] = [now] * (page - begins)
            now, begins = recorded.get(key, document.recorded), page
    marks[begins:] = [now] * (len(marks) - begins)
    return marks


def _paint_edges(painter: QPainter, document: Document, mark: str, number: str) -> None:
    """Paint the header and the footer."""
    left, wide = SIDE_MM * PX_PER_MM, BODY_PX.width()
    plain, bold = _font(), _font()
    plain.setPixelSize(MARK_PX)
    bold.setPixelSize(MARK_PX)
    bold.setWeight(QFont.Weight.Bold)
    title_wide = wide - 150
    title = QFontMetricsF(plain).elidedText(document.title, Qt.TextElideMode.ElideRight, title_wide)
    program = f"Filter Workbench {document.version}, {document.written}"
    above, below = (ABOVE_MM - 10) * PX_PER_MM, (PAPER_MM[1] - BELOW_MM + 4) * PX_PER_MM
    sides = (
        (mark, bold, above, Qt.AlignmentFlag.AlignLeft, "#000000"),
        (title, plain, above, Qt.AlignmentFlag.AlignRight, "#40454c"),
        (program, plain, below, Qt.AlignmentFlag.AlignLeft, "#40454c"),
        (number, plain, below, Qt.AlignmentFlag.AlignRight, "#40454c"),
    )
    for words, font, top, side, color in sides:
        painter.setFont(font)
        painter.setPen(QColor(color))
        painter.drawText(QRectF(left, top, wide, 2 * MARK_PX), side, words)


class _Pictures(QPyTextObject):
    """A painter of charts and examples where the text has room for them, by their names."""

    def __init__(self, document: Document, strokes: Strokes) -> None:
        super().__init__()
        self._charts = strokes
        self._images = {
            f"{name}-{each.number}": _decoded(uri)
            for section in document.sections
            for each in section.examples
            for name, uri in (("before", each.before), ("after", each.after))
        }

    def intrinsicSize(  # noqa: N802
        self, _text: QTextDocument, _position: int, look: QTextFormat
    ) -> QSizeF:
        name = look.toImageFormat().name()
        if name in self._charts:
            return QSizeF(self._charts[name][1])
        size = QSizeF(self._images[name].size())
        return size.scaled(EXAMPLE_PX, EXAMPLE_PX, Qt.AspectRatioMode.KeepAspectRatio)

    def drawObject(  # noqa: N802
        self,
        painter: QPainter,
        box: QRectF | QRect,
        _text: QTextDocument,
        _position: int,
        look: QTextFormat,
    ) -> None:
        name = look.toImageFormat().name()
        if name in self._charts:
            painter.save()
            painter.translate(box.topLeft())
            self._charts[name][0].play(painter)
            painter.restore()
        else:
            painter.drawImage(box, self._images[name])


def _decoded(uri: str) -> QImage:
    return QImage.fromData(base64.b64decode(uri.partition(",")[2]))
