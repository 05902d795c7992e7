"""Words on dark chips, and lines, painted over a picture at a place of it, whatever its zoom."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPen

BACK = QColor(12, 14, 17, 205)  # reads on black and on white pictures, in both themes
TEXT = QColor("#ffffff")
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
    """Return a pen of so many device pixels, whatever the zoom."""
    pen = QPen(color, width, style)
    pen.setCosmetic(True)
    pen.setJoinStyle(Qt.PenJoinStyle.MiterJoin)
    return pen


def paint_words(painter: QPainter, scale: float, place: QPointF, words: str) -> None:
    """Write `words` on a chip of which `place`, in pixels of the picture, is the upper left."""
    with on_screen(painter, scale, place):
        metrics = painter.fontMetrics()
        width = metrics.horizontalAdvance(words) + 2 * INSIDE
        paint_chip_at(painter, QRectF(0, 0, width, metrics.height() + 2))
        painter.drawText(QPointF(INSIDE, metrics.ascent() + 1.0), words)


def paint_chip_at(painter: QPainter, area: QRectF) -> None:
    """Paint a dark chip, and leave the pen ready to write on it."""
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(BACK)
    painter.drawRoundedRect(area, 4, 4)
    painter.setPen(TEXT)
