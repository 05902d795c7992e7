"""All texts in a plot as one item: each at its place, of one size however the plot is zoomed.

One pg.TextItem per text would be one document per text: a table of a hundred would take 0.1 s.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import pyqtgraph as pg
from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter


class PlotLabel(NamedTuple):
    """A line of text at a place in the plot's coordinates.

    anchor     which point of the text is there: 0, 0 is its upper left, 1, 1 its lower right
    down       by how many of its own heights it is shifted down
    is_turned  written upwards, around its middle
    back       the colour behind it, where a grid would run through it; "": none
    """

    x: float
    y: float
    text: str
    font: QFont
    color: str
    anchor: tuple[float, float] = (0.5, 0.5)
    down: float = 0.0
    is_turned: bool = False
    back: str = ""


class OverPlot(pg.GraphicsObject):  # type: ignore[misc]  # pyqtgraph has no types
    """An item that covers whatever the plot shows, and is painted anew when that changes."""

    def boundingRect(self) -> QRectF:  # noqa: N802
        return QRectF(self.viewRect()) if self.getViewBox() is not None else QRectF()

    def viewRangeChanged(self) -> None:  # noqa: N802
        self.prepareGeometryChange()
        self.update()


class Labels(OverPlot):
    """An item that paints its `labels` over what was added before it."""

    def __init__(self, labels: list[PlotLabel]) -> None:
        super().__init__()
        self.labels = labels
        self.setZValue(5)

    def paint(self, p: QPainter, *_: Any) -> None:
        """Paint all labels at their places, in device pixels."""
        to_device = p.transform()
        p.save()
        p.resetTransform()
        for label in self.labels:
            metrics = QFontMetricsF(label.font)
            wide, high = metrics.horizontalAdvance(label.text), metrics.height()
            at = to_device.map(QPointF(label.x, label.y))
            left = at.x() - label.anchor[0] * wide
            top = at.y() - (label.anchor[1] - label.down) * high
            if label.back:
                indent = wide - metrics.horizontalAdvance(label.text.lstrip())
                p.fillRect(QRectF(left + indent, top, wide - indent, high), QColor(label.back))
            p.setFont(label.font)
            p.setPen(QColor(label.color))
            if label.is_turned:
                p.translate(at)
                p.rotate(-90)
                p.drawText(QPointF(-wide / 2, metrics.ascent() - high / 2), label.text)
                p.resetTransform()
            else:
                p.drawText(QPointF(left, top + metrics.ascent()), label.text)
        p.restore()
