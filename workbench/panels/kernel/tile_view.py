"""A block's tile in shared memory: as a picture, with its numbers where there is room."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QEvent, QPoint, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QHelpEvent, QPainter, QPaintEvent, QPen, QResizeEvent
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from kernels.cuda_on_cpu.stepping import Tile
from workbench.base import theme
from workbench.base.plain_text import tip_text
from workbench.panels.kernel.step_words import number_words
from workbench.widgets.letters import factor_of
from workbench.widgets.tile import scaled_font

MAX_PX = 26  # the side of a cell, where no numbers are asked for
NUMBER_PX = 44  # wide, with a number in it
FRAMED_PX = 12  # the side from which on a cell has room for a frame
SHADE_ALPHA = 110
EMPTY = "not stored yet"
HINT = (
    "Shared memory before this step, from its smallest number, black, to its largest. Framed or "
    "shaded: what threads load and store at it"
)


class TileView(QWidget):
    """Cells as bright as their numbers; empty ones are crossed out.

    Signals:
        fitted(height): it is as high as that from now on.
    """

    fitted = Signal(int)

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("kernel-tile")
        self.setAccessibleName("Shared memory")
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self._tile: Tile | None = None
        self._has_numbers = False

    def show_tile(self, tile: Tile | None) -> None:
        """Show this array; None: there is none."""
        before = self._shape()
        self._tile = tile
        self.setVisible(tile is not None)
        if tile is not None:
            rows, columns = tile.values.shape
            stored = int(np.isfinite(tile.values).sum())
            self.setAccessibleDescription(
                f"{tile.name}: {rows} rows of {columns}, {stored} of {tile.values.size} stored."
            )
        if self._shape() != before:
            self._fit()
        self.update()

    def show_numbers(self, is_so: bool) -> None:
        """Make cells wide enough for numbers, or let them share the width."""
        self._has_numbers = is_so
        self._fit()
        self.update()

    def sizeHint(self) -> QSize:  # noqa: N802
        rows, columns = self._shape()
        across, down = self._cell_px()
        return QSize(round(columns * across), round(rows * down) + 2)

    def minimumSizeHint(self) -> QSize:  # noqa: N802
        return QSize(self.sizeHint().width() if self._has_numbers else 0, self.sizeHint().height())

    def place_at(self, at: QPoint) -> tuple[int, int] | None:
        """Return the row and the column of a point."""
        rows, columns = self._shape()
        across, down = self._cell_px()
        row, column = int(at.y() // down), int(at.x() // across)
        return (row, column) if 0 <= row < rows and 0 <= column < columns else None

    def words_at(self, row: int, column: int) -> str:
        """Return what a place holds."""
        assert self._tile is not None
        value = self._tile.values[row, column]
        number = number_words(float(value)) if np.isfinite(value) else EMPTY
        return f"{self._tile.name}, row {row}, column {column}: {number}"

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802
        super().resizeEvent(event)
        self._fit()

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802
        if self._tile is None:
            return
        painter = QPainter(self)
        colors = theme.colors(self.palette())
        across, down = self._cell_px()
        painter.setFont(scaled_font(0.66 * factor_of(self)))
        greys = _greys(self._tile.values)
        for row, column in np.ndindex(self._tile.values.shape):
            box = QRectF(column * across, row * down, across, down)
            if not box.intersects(QRectF(event.rect())):
                continue
            grey = int(greys[row, column])
            if grey < 0:
                painter.setPen(QPen(QColor(colors.grid), 1))
                painter.drawLine(box.bottomLeft(), box.topRight())
                continue
            painter.fillRect(box, QColor(grey, grey, grey))
            if self._has_numbers:
                painter.setPen(QColor("#000000" if grey > 127 else "#ffffff"))
                words = number_words(float(self._tile.values[row, column]))
                painter.drawText(box, Qt.AlignmentFlag.AlignCenter, words)
        self._paint_touched(painter, self._tile.loaded, colors.series[0], 1.5)
        self._paint_touched(painter, self._tile.stored, colors.series[1], 2.5)

    def _paint_touched(
        self, painter: QPainter, places: NDArray[np.int64], color: str, width: float
    ) -> None:
        """Draw frames around cells, or shade those that are too small for that."""
        across, down = self._cell_px()
        shade = QColor(color)
        shade.setAlpha(SHADE_ALPHA)
        painter.setPen(QPen(QColor(color), width))
        for row, column in places:
            box = QRectF(column * across, row * down, across, down)
            if across < FRAMED_PX:
                painter.fillRect(box, shade)
            else:
                painter.drawRect(box.adjusted(1, 1, -1, -1))

    def event(self, event: QEvent) -> bool:
        if isinstance(event, QHelpEvent) and self._tile is not None:
            place = self.place_at(event.pos())
            words = f"{self.words_at(*place)}\n{HINT}" if place else HINT
            QToolTip.showText(event.globalPos(), tip_text(words), self)
            return True
        return super().event(event)

    def _shape(self) -> tuple[int, int]:
        if self._tile is None:
            return 0, 1
        rows, columns = self._tile.values.shape
        return rows, columns

    def _cell_px(self) -> tuple[float, float]:
        if self._has_numbers:
            factor = factor_of(self)
            return NUMBER_PX * factor, self.fontMetrics().height() + 4.0
        side = min(max(self.width() / self._shape()[1], 2.0), MAX_PX)
        return side, side

    def _fit(self) -> None:
        self.setFixedHeight(self.sizeHint().height())
        self.updateGeometry()
        self.fitted.emit(self.height())


def _greys(values: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return 0 to 255 from the smallest to the largest; -1 where nothing was stored."""
    known = np.isfinite(values)
    greys = np.full(values.shape, -1)
    if known.any():
        low, high = values[known].min(), values[known].max()
        greys[known] = np.round((values[known] - low) / ((high - low) or 1) * 255)
    return greys
