"""A chart's legend: each implementation's line and marker, in as many rows as it takes."""

from __future__ import annotations

from PySide6.QtCore import QPointF
from PySide6.QtGui import QPainter, QPaintEvent, QPalette, QResizeEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from workbench.intents import implementation
from workbench.views.tile import scaled_font

SAMPLE_PX = 30
GAP_PX = 6
MARKER_PX = 9


class Legend(QWidget):
    """Names implementations, each beside a piece of its line."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._keys: tuple[str, ...] = ()
        self.setFont(scaled_font(0.95))
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)

    def show_keys(self, keys: tuple[str, ...]) -> None:
        self._keys = keys
        self.setAccessibleName(f"Legend: {', '.join(map(_title, keys))}")
        self._fit()
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802
        super().paintEvent(event)
        if not self._keys:
            return
        from pyqtgraph.graphicsItems.ScatterPlotItem import drawSymbol

        from workbench.charts.plotting import look_of

        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        ascent = self.fontMetrics().ascent()
        for key, place in zip(self._keys, self._places(), strict=True):
            look = look_of(key, self.palette())
            middle = place + QPointF(0, ascent / 2 + 2)
            painter.setPen(look.pen())
            painter.drawLine(middle, middle + QPointF(SAMPLE_PX, 0))
            painter.save()
            painter.translate(middle + QPointF(SAMPLE_PX / 2, 0))
            drawSymbol(painter, look.marker, MARKER_PX, look.pen(0), look.color)
            painter.restore()
            painter.setPen(self.palette().color(QPalette.ColorRole.WindowText))
            painter.drawText(place + QPointF(SAMPLE_PX + GAP_PX, ascent), _title(key))

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        places = self._places()
        self.setFixedHeight(int(places[-1].y()) + self._row_px() if places else 0)

    def _places(self) -> list[QPointF]:
        """Top left of each entry, from left to right and then on the next row."""
        places, x, y = [], 0.0, 0.0
        for key in self._keys:
            wide = SAMPLE_PX + 3 * GAP_PX + self.fontMetrics().horizontalAdvance(_title(key))
            if x > 0 and x + wide > self.width():
                x, y = 0.0, y + self._row_px()
            places.append(QPointF(x, y))
            x += wide
        return places

    def _row_px(self) -> int:
        return self.fontMetrics().height() + 4


def _title(key: str) -> str:
    return implementation(key).title
