"""Words on small dark chips: captions in a picture's corners, and words at a place of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache

from PySide6.QtCore import QPointF, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFont, QFontMetrics, QPainter, QPen

CHIPS_HEIGHT = 112  # captions are within so much of the upper edge
MAX_SHARE = 0.12  # of a picture's view that a caption may cover, unless one line needs more
SEPARATOR = " · "
_SIZES = (0.9, 0.75)  # of the usual letters: the second where the first would cover too much
_MARGIN, _INSIDE, _ABOVE = 8, 7, 3  # around a chip; left and right of its text, above and below it
_LINES = (3, 2)  # that the first line of a caption may become, and any other
_FLAGS = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft
BACK = QColor(12, 14, 17, 205)  # reads on black and on white pictures, in both themes
TEXT = QColor("#ffffff")


def paint_chip(
    painter: QPainter, area: QRect, text: str, side: Qt.AlignmentFlag = Qt.AlignmentFlag.AlignLeft
) -> None:
    """Write `text` on a chip in an upper corner of `area`, as `chip_of` fits it in."""
    usual = painter.font()
    lines, size, factor = chip_of(text, usual.toString(), area.width(), area.height())
    if not lines:
        return
    chip = QRect(area.topLeft(), size)
    chip.moveTop(area.top() + _MARGIN)
    if side == Qt.AlignmentFlag.AlignLeft:
        chip.moveLeft(area.left() + _MARGIN)
    else:
        chip.moveRight(area.right() - _MARGIN)
    paint_chip_at(painter, QRectF(chip), 5)
    painter.setFont(_scaled(usual, factor))
    painter.drawText(chip.adjusted(_INSIDE, 0, -_INSIDE, 0), _FLAGS, "\n".join(lines))
    painter.setFont(usual)


@lru_cache(maxsize=64)  # the same few are painted many times a second
def chip_of(text: str, font: str, width: int, height: int) -> tuple[tuple[str, ...], QSize, float]:
    """The lines of a chip, its size in px, and the factor of its letters.

    font           the usual letters, as of QFont.toString
    width, height  of the view in px; with too little room for anything there are no lines

    Letters get smaller, then the last lines go, until the chip covers at most MAX_SHARE.
    """
    usual = QFont()
    usual.fromString(font)
    for factor in _SIZES:
        metrics = QFontMetrics(_scaled(usual, factor))
        room = width - 2 * (_MARGIN + _INSIDE)
        if not text or room < metrics.averageCharWidth() * 4:
            return (), QSize(), factor
        lines = lines_in(text, metrics, room)
        if _is_small(_size_of(lines, metrics), width, height):
            break
    while len(lines) > 1 and not _is_small(_size_of(lines, metrics), width, height):
        lines.pop()
    return tuple(lines), _size_of(lines, metrics), factor


def _size_of(lines: list[str], metrics: QFontMetrics) -> QSize:
    wide = max(metrics.horizontalAdvance(line) for line in lines)
    return QSize(wide + 2 * _INSIDE, metrics.height() * len(lines) + 2 * _ABOVE)


def _is_small(chip: QSize, width: int, height: int) -> bool:
    return chip.width() * chip.height() <= MAX_SHARE * width * height


def _scaled(font: QFont, factor: float) -> QFont:
    scaled = QFont(font)
    if font.pixelSize() > 0:
        scaled.setPixelSize(max(round(font.pixelSize() * factor), 1))
    else:
        scaled.setPointSizeF(font.pointSizeF() * factor)
    return scaled


def lines_in(text: str, metrics: QFontMetrics, room: int) -> list[str]:
    """Break `text` into lines of at most `room` pixels.

    A line that is too long is broken between its parts, as a number that is cut is another one, and
    only what is longer still loses its middle.
    """
    first, *others = text.splitlines()
    lines = _broken(first, metrics, room, _LINES[0])
    return lines + [part for line in others for part in _broken(line, metrics, room, _LINES[1])]


def _broken(line: str, metrics: QFontMetrics, room: int, most: int) -> list[str]:
    found = [""]
    for part in line.split(SEPARATOR):
        longer = f"{found[-1]}{SEPARATOR}{part}" if found[-1] else part
        is_last = len(found) == most
        if not found[-1] or is_last or metrics.horizontalAdvance(longer) <= room:
            found[-1] = longer
        else:
            found.append(part)
    return [_cut(each, metrics, room) for each in found]


def _cut(line: str, metrics: QFontMetrics, room: int) -> str:
    if metrics.horizontalAdvance(line) <= room:
        return line  # where Qt would want a pixel more
    return metrics.elidedText(line, Qt.TextElideMode.ElideMiddle, room)


INSIDE = 5.0  # left and right of the words, in pixels of the screen


@contextmanager
def on_screen(painter: QPainter, scale: float, place: QPointF) -> Iterator[float]:
    """Let `painter` count device-independent pixels from `place` on; gives their ratio.

    painter  in pixels of the picture, each of `scale` device pixels; see `picture_view.Overlay`
    """
    ratio = painter.device().devicePixelRatio()
    painter.save()
    painter.translate(place)
    painter.scale(ratio / scale, ratio / scale)
    yield ratio
    painter.restore()


def hairline(color: QColor, width: float = 1.0, style: Qt.PenStyle = Qt.PenStyle.SolidLine) -> QPen:
    """A pen of so many device pixels, whatever the zoom."""
    pen = QPen(color, width, style)
    pen.setCosmetic(True)
    pen.setJoinStyle(Qt.PenJoinStyle.MiterJoin)
    return pen


def outline(
    painter: QPainter,
    areas: Sequence[QRectF],
    color: QColor,
    width: float = 1.5,
    under: str = "#000000",
    style: Qt.PenStyle = Qt.PenStyle.SolidLine,
) -> None:
    """Draw rectangles over a wider line of another color, to be seen on any picture."""
    painter.setBrush(Qt.BrushStyle.NoBrush)
    for each, thickness in ((QColor(under), width + 2.0), (color, width)):
        painter.setPen(hairline(each, thickness, style))
        painter.drawRects(areas)


def paint_words(painter: QPainter, scale: float, place: QPointF, words: str) -> None:
    """Write `words` on a chip of which `place`, in pixels of the picture, is the upper left."""
    with on_screen(painter, scale, place):
        metrics = painter.fontMetrics()
        width = metrics.horizontalAdvance(words) + 2 * INSIDE
        paint_chip_at(painter, QRectF(0, 0, width, metrics.height() + 2))
        painter.drawText(QPointF(INSIDE, metrics.ascent() + 1.0), words)


def paint_chip_at(painter: QPainter, area: QRectF, round_px: int = 4) -> None:
    """Paint a dark chip, and leave the pen ready to write on it."""
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(BACK)
    painter.drawRoundedRect(area, round_px, round_px)
    painter.setPen(TEXT)
