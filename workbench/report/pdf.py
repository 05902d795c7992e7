"""The report's page as a PDF for A4, with charts of lines and letters; it takes no browser.

Of HTML, QTextDocument knows no definition lists side by side and no SVG: the first are turned into
tables, the second are painted where it leaves room for them.
"""

from __future__ import annotations

import base64
import re

from PySide6.QtCore import (
    QBuffer,
    QEventLoop,
    QIODevice,
    QMarginsF,
    QPointF,
    QRect,
    QRectF,
    QSizeF,
    Qt,
)
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
    QPyTextObject,
    QTextBlock,
    QTextBlockFormat,
    QTextCharFormat,
    QTextCursor,
    QTextDocument,
    QTextFormat,
    QTextOption,
    QTextTable,
)
from PySide6.QtSvg import QSvgRenderer

from workbench.report.document import Document

DPI = 96  # everything is laid out and painted in CSS's pixels
PX_PER_MM = DPI / 25.4
PAPER_MM, SIDE_MM, ABOVE_MM, BELOW_MM = (210.0, 297.0), 14.0, 18.0, 18.0
BODY_PX = QSizeF(
    (PAPER_MM[0] - 2 * SIDE_MM) * PX_PER_MM, (PAPER_MM[1] - ABOVE_MM - BELOW_MM) * PX_PER_MM
)
FONT_PX, MARK_PX = 13, 11  # letters of the text, and of the header and the footer
SMALLER_PX = (9.5, 8.5, 7.5, 6.5)  # letters of tables that are too wide in those of print.css
ROWS_TOGETHER = 3  # of a table with its caption, at the end of a page
WHOLE_ROWS = 10  # of a table that is not parted
EXAMPLE_PX = 330.0  # wide: two side by side
PICTURE = "\ufffc"  # in the text
# Its mark, and what is painted on it: a text, which page of that, and from where on.
Sheet = tuple[str, list[tuple[QTextDocument, int, float]]]
GAP_PX, LEAST_PX = 12.0, 80.0  # between what ends on a page and what begins there; its room
SVG = re.compile(r"<svg.*?</svg>", re.DOTALL)
NO_LINE = 'stroke="none"', 'stroke="none" stroke-width="0"'
# Each is laid out by itself: each page break lays out again all that comes after it in its part.
# A short table need not be one.  Letters tell short ones from long ones: the layout itself would
# cost what parts save, as all tables were laid out twice, and no row's place depends on it.
LONG = "<details>(?!.{,16000}?</details>)"
PARTS = re.compile(
    f'(?=<section id="session-|<h3>Tables</h3>\n{LONG}|(?<!</h3>\n){LONG})', re.DOTALL
)
KEY = re.compile('<section id="(.*?)"')
# What is for a screen only.
LEFT_OUT = re.compile(
    r"<style>.*?</style>|<nav.*?</nav>|(?<=<details>)\s*<summary>.*?</summary>", re.DOTALL
)
INSTEAD = {
    "<dl>": '<table class="pairs">',
    "</dl>": "</table>",
    "<div><dt>": '<tr><td width="150">',
    "</dt><dd>": "</td><td>",
    "</dd></div>": "</td></tr>",
    "<summary>": "<p>",  # which has room around it
    "</summary>": "</p>",
    "P/s)": "P/\u2060s)",  # else Qt breaks the line of a heading behind the slash
    # Room between it and the table's rule: Qt has no margin there.
    "</caption>": '<br><span style="font-size:4px">\u00a0</span></caption>',
    ">Speed-up": ">Speed\u2011up",
    "<table>": '<table width="100%" cellspacing="0" cellpadding="2" border="0">',
}


def pdf(page: str, document: Document) -> bytes:
    """Convert the page: text that can be marked, fonts embedded, each page numbered.

    Pages of recorded figures are marked.
    """
    from workbench.charts.drawing.chart_export import have_application

    have_application()
    _loop = QEventLoop()  # long texts begin timers, which are refused in threads that had none
    pictures = _Pictures(page)
    head, _, body = pictures.html.partition("<body>")
    recorded = {each.key: "Recorded" if each.is_recorded else "" for each in document.sections}
    sheets: list[Sheet] = []
    mark, end = document.recorded, 0.0  # and where the part before ends on its last page
    for part in PARTS.split(body):
        if (found := KEY.match(part)) and mark != recorded[found[1]]:
            mark, end = recorded[found[1]], 0.0
        text = _laid_out(f"{head}<body>{part}", pictures, end and end + GAP_PX)
        bottom = _bottom(text)
        pages = [(text, number, 0.0) for number in range(int(bottom // BODY_PX.height()) + 1)]
        if end:
            sheets[-1][1].append((*pages.pop(0)[:2], end))
        sheets += [(mark, [each]) for each in pages]
        end = bottom % BODY_PX.height()
        end = end if end < BODY_PX.height() - LEAST_PX else 0.0
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
        _paint(painter, writer, sheets, document)
    finally:
        painter.end()
    return bytes(buffer.data().data())


def _laid_out(html: str, pictures: _Pictures, begin: float) -> QTextDocument:
    """Lay out a part that begins at `begin` of its first page, in pixels."""
    text, option = QTextDocument(), QTextOption()
    option.setWrapMode(QTextOption.WrapMode.WordWrap)
    text.setDocumentMargin(0)
    text.setUseDesignMetrics(True)  # the printer's, not the screen's
    text.setDefaultFont(_font(FONT_PX))
    text.setDefaultTextOption(option)
    text.documentLayout().registerHandler(QTextFormat.ObjectTypes.ImageObject, pictures)
    text.setHtml(html)
    if begin:
        room = QTextBlockFormat()
        room.setLineHeight(begin, QTextBlockFormat.LineHeightTypes.FixedHeight.value)
        QTextCursor(text).insertBlock()
        QTextCursor(text).setBlockFormat(room)
    text.setPageSize(BODY_PX)
    # Letters of tables that are wider than the page shrink until these are not.
    for frame in text.rootFrame().childFrames():
        for size in SMALLER_PX if isinstance(frame, QTextTable) else ():
            if text.documentLayout().frameBoundingRect(frame).width() <= BODY_PX.width() + 1:
                break
            cursor, smaller = frame.firstCursorPosition(), QTextCharFormat()
            cursor.setPosition(frame.lastPosition(), QTextCursor.MoveMode.KeepAnchor)
            smaller.setProperty(QTextFormat.Property.FontPixelSize, size)
            cursor.mergeCharFormat(smaller)
            cursor.mergeBlockCharFormat(smaller)  # of empty cells
    _keep_together(text, text.begin().next() if begin else text.begin())
    return text


def _font(px: int) -> QFont:
    font = QFontDatabase.systemFont(QFontDatabase.SystemFont.GeneralFont)
    font.setPixelSize(px)
    font.setHintingPreference(QFont.HintingPreference.PreferNoHinting)
    return font


def _keep_together(text: QTextDocument, block: QTextBlock) -> None:
    """Begin a page where a heading or a caption would stand alone, or a row be torn."""
    first: QTextBlock | None = None
    above: QTextTable | None = None
    while block.isValid():
        if _leads(block):
            first = block if first is None else first
        elif first is not None and block.text():
            if _pages_of(text, first)[0] != _pages_of(text, _needed(block))[1]:
                look = first.blockFormat()
                look.setPageBreakPolicy(QTextFormat.PageBreakFlag.PageBreak_AlwaysBefore)
                QTextCursor(first).setBlockFormat(look)
                text.markContentsDirty(0, text.characterCount())  # or parts are lost
            first = None
        if (table := QTextCursor(block).currentTable()) is not None:
            cell = table.cellAt(block.position())
            if cell.row() > 0 and cell.column() == 0:
                _keep_row(text, table, cell.row())
            above = table if table.rows() > 1 else None
        elif block.text():
            if above is not None and not _leads(block):  # a note, of one or several
                _keep_row(text, above, above.rows() - 1, block)
            else:
                above = None
        block = block.next()


def _leads(block: QTextBlock) -> bool:
    """Return True if a block belongs to the next one: a heading, a caption, a picture."""
    if block.blockFormat().headingLevel():
        return True
    after = block.next()
    if QTextCursor(block).currentTable() or not after.isValid():
        return False
    return PICTURE in block.text() + after.text() or QTextCursor(after).currentTable() is not None


def _needed(block: QTextBlock) -> QTextBlock:
    """The block that belongs on the page of a heading: the next one, some rows on, or the notes."""
    if (table := QTextCursor(block).currentTable()) is None:
        return block
    if table.rows() > WHOLE_ROWS:
        return table.cellAt(ROWS_TOGETHER, 0).firstCursorPosition().block()
    last = table.cellAt(table.rows() - 1, 0).firstCursorPosition().block()
    after = table.lastCursorPosition().block().next()
    while after.isValid() and not (after.text() and _leads(after)):
        last = after if after.text() else last
        after = after.next()
    return last


def _keep_row(text: QTextDocument, table: QTextTable, row: int, *notes: QTextBlock) -> None:
    """Stretch the row before to the end of its page if this one, with its notes, would be torn."""
    across = range(table.columns())
    blocks = [table.cellAt(row, at).firstCursorPosition().block() for at in across]
    if len({page for each in (*blocks, *notes) for page in _pages_of(text, each)}) == 1:
        return
    boxes = [text.documentLayout().blockBoundingRect(each) for each in (*blocks, *notes)]
    top, high = min(box.top() for box in boxes), BODY_PX.height()
    if max(box.bottom() for box in boxes) - top > high / 2:
        return  # more than is worth a page
    for cell in (table.cellAt(row - 1, at) for at in across):
        look = cell.format().toTableCellFormat()
        look.setBottomPadding(high - top % high)
        cell.setFormat(look)
    text.markContentsDirty(0, text.characterCount())


def _pages_of(text: QTextDocument, block: QTextBlock) -> tuple[int, int]:
    """The pages of a block's first and last line."""
    box, layout = text.documentLayout().blockBoundingRect(block), block.layout()
    first, last = box.bottom(), box.bottom()
    if count := layout.lineCount():
        first, last = (box.top() + layout.lineAt(n).rect().bottom() for n in (0, count - 1))
    return int((first - 1) // BODY_PX.height()), int((last - 1) // BODY_PX.height())


def _bottom(text: QTextDocument) -> float:
    """The lower edge of the last line with anything on it."""
    block = text.lastBlock()
    while not block.text().strip() and block.previous().isValid():
        block = block.previous()
    return text.documentLayout().blockBoundingRect(block).bottom() - 1


def _paint(painter: QPainter, writer: QPdfWriter, sheets: list[Sheet], document: Document) -> None:
    for number, (mark, pages) in enumerate(sheets, start=1):
        if number > 1:
            writer.newPage()
        _paint_edges(painter, document, mark, f"{number} / {len(sheets)}")
        for text, page, begin in pages:
            painter.save()
            painter.translate(SIDE_MM * PX_PER_MM, ABOVE_MM * PX_PER_MM - page * BODY_PX.height())
            seen = QRectF(QPointF(0, page * BODY_PX.height()), BODY_PX).adjusted(0, begin, 0, 0)
            painter.setClipRect(seen)
            context = QAbstractTextDocumentLayout.PaintContext()
            context.clip = seen.adjusted(0, 0, 0, -1)  # without the first line of the next page
            context.palette.setColor(context.palette.ColorRole.Text, QColor("#000000"))
            text.documentLayout().draw(painter, context)
            painter.restore()


def _paint_edges(painter: QPainter, document: Document, mark: str, number: str) -> None:
    left, wide = SIDE_MM * PX_PER_MM, BODY_PX.width()
    plain, bold = _font(MARK_PX), _font(MARK_PX)
    bold.setWeight(QFont.Weight.Bold)
    title = QFontMetricsF(plain).elidedText(document.title, Qt.TextElideMode.ElideRight, wide - 150)
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
    """A painter of the page's charts and examples where the text has room for them.

    html  the page for Qt, whose charts are named by their numbers
    """

    def __init__(self, page: str) -> None:
        super().__init__()
        # Of no width, since Qt's PDF has a line around everything that has none.
        svgs = (svg.replace(*NO_LINE).encode("utf-8") for svg in SVG.findall(page))
        self._charts = {f"chart:{number}": QSvgRenderer(svg) for number, svg in enumerate(svgs)}
        names = iter(self._charts)
        html = SVG.sub(lambda _: f'<p><img src="{next(names)}"></p>', LEFT_OUT.sub("", page))
        for tag, other in INSTEAD.items():
            html = html.replace(tag, other)
        self.html = html

    def intrinsicSize(  # noqa: N802
        self, _text: QTextDocument, _position: int, look: QTextFormat
    ) -> QSizeF:
        name = look.toImageFormat().name()
        if name in self._charts:
            return self._charts[name].viewBoxF().size()
        size = QSizeF(_decoded(name).size())
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
            self._charts[name].render(painter, QRectF(box))
        else:
            painter.drawImage(box, _decoded(name))


def _decoded(uri: str) -> QImage:
    return QImage.fromData(base64.b64decode(uri.partition(",")[2]))
