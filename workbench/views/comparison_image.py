"""Before and after as one picture for a report: every pixel of both, captions above."""

from __future__ import annotations

from PySide6.QtCore import QRect, Qt
from PySide6.QtGui import QColor, QFont, QFontMetrics, QGuiApplication, QImage, QPainter

from workbench.display import Display

_SMALLEST_TEXT_PX = 14
_PAPER, _INK = QColor("#ffffff"), QColor("#16191d")


def side_by_side(before: Display, left: str, after: Display, right: str) -> QImage:
    """Both pictures, of the same size, unscaled, under their captions `left` and `right`.

    Raises MemoryError where the picture does not fit.
    """
    width, height = before.size
    font = QFont(QGuiApplication.font())
    font.setPixelSize(max(_SMALLEST_TEXT_PX, width // 40))
    metrics = QFontMetrics(font)
    gap = metrics.height() // 2
    column = max(width, *(metrics.horizontalAdvance(text) + 2 * gap for text in (left, right)))
    band = metrics.height() + 2 * gap
    image = QImage(2 * column + 3 * gap, band + height + gap, QImage.Format.Format_RGB32)
    if image.isNull():
        raise MemoryError(f"no memory for a comparison of two pictures of {width} × {height}")
    image.fill(_PAPER)
    painter = QPainter(image)
    painter.setFont(font)
    painter.setPen(_INK)
    for index, (display, text) in enumerate(((before, left), (after, right))):
        x = gap + index * (column + gap)
        painter.drawText(QRect(x, 0, column, band), Qt.AlignmentFlag.AlignCenter, text)
        painter.drawImage(x + (column - width) // 2, band, display.images[0])
    painter.end()
    return image
