"""Before and after as one picture for a report: every pixel of each, captions above."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QRect, Qt
from PySide6.QtGui import QColor, QFont, QFontMetrics, QGuiApplication, QImage, QPainter

from workbench.base.memory import require_memory
from workbench.imaging.display import Display

_MIN_TEXT_PX = 14
_PAPER, _INK = QColor("#ffffff"), QColor("#16191d")


def side_by_side(tiles: Sequence[tuple[Display, str]]) -> QImage:
    """Return pictures of one size, unscaled, under their captions; four or more in two rows.

    Raises MemoryError where the picture does not fit.
    """
    tiles = [(display, text.replace("\n", " · ")) for display, text in tiles]
    width, height = tiles[0][0].size
    font = QFont(QGuiApplication.font())
    font.setPixelSize(max(_MIN_TEXT_PX, width // 40))
    metrics = QFontMetrics(font)
    gap = metrics.height() // 2
    column = max(width, *(metrics.horizontalAdvance(text) + 2 * gap for _, text in tiles))
    band = metrics.height() + 2 * gap
    across = len(tiles) if len(tiles) < 4 else -(-len(tiles) // 2)
    down = -(-len(tiles) // across)
    require_memory(4 * across * column * down * (band + height))
    size = across * column + (across + 1) * gap, down * (band + height) + gap
    image = QImage(*size, QImage.Format.Format_RGB32)
    if image.isNull():
        count = len(tiles)
        raise MemoryError(f"no memory for a comparison of {count} pictures of {width} × {height}")
    image.fill(_PAPER)
    painter = QPainter(image)
    painter.setFont(font)
    painter.setPen(_INK)
    for index, (display, text) in enumerate(tiles):
        x = gap + index % across * (column + gap)
        y = index // across * (band + height)
        painter.drawText(QRect(x, y, column, band), Qt.AlignmentFlag.AlignCenter, text)
        painter.drawImage(x + (column - width) // 2, y + band, display.images[0])
    painter.end()
    return image
