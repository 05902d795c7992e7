"""The lanes of a warp as cells in rows: a number, a short text and a colour each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from PySide6.QtCore import QEvent, QPoint, QRect, QSize, Qt, Signal
from PySide6.QtGui import QColor, QHelpEvent, QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from kernels.anatomy.transactions import LANES
from workbench.base import theme
from workbench.base.plain_text import tip_text
from workbench.widgets.keyboard import ARROWS
from workbench.widgets.letters import factor_of
from workbench.widgets.tile import scaled_font

WIDTH_PX, LEAST_WIDTH_PX = 352, 256
EDGE_PX = 3  # for the focus ring
NUMBER_SCALE = 0.62  # of the letters of the lanes' numbers


class LaneCell(NamedTuple):
    """The cell of one lane.

    text       below the lane's number
    color      an index into the theme's series; None: the lane takes no part
    is_marked  drawn as bad, with a mark in the corner
    exists     the block has such a thread
    """

    text: str
    tip: str
    color: int | None = None
    is_marked: bool = False
    exists: bool = True


class LaneGrid(QWidget):
    """Rows of lanes, one of them framed.

    cells  those shown

    Signals:
        picked(lane): the user clicked a lane.
        stepped(across, down, is_shifted): an arrow key was pressed, perhaps with Shift.
    """

    picked = Signal(int)
    stepped = Signal(int, int, bool)

    def __init__(self, name: str, title: str, hint: str, columns: int, text_scale: float) -> None:
        """Make an empty grid; text_scale: size of the cells' texts, of the usual letters."""
        super().__init__()
        self.setObjectName(name)
        self.setAccessibleName(title)
        self.setToolTip(hint)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self._hint, self._columns, self._text_scale = hint, columns, text_scale
        self.cells: Sequence[LaneCell] = ()
        self._lane = 0

    def show_cells(self, cells: Sequence[LaneCell], lane: int, description: str) -> None:
        """Show these cells, with a frame around `lane`."""
        self.cells, self._lane = cells, lane
        self.setAccessibleDescription(description)
        self.update()

    def sizeHint(self) -> QSize:  # noqa: N802
        return QSize(WIDTH_PX, LANES // self._columns * self._row_height() + 2 * EDGE_PX)

    def minimumSizeHint(self) -> QSize:  # noqa: N802
        return QSize(LEAST_WIDTH_PX, self.sizeHint().height())

    def cell(self, lane: int) -> QRect:
        """The box in which a lane is painted."""
        width, height = (self.width() - 2 * EDGE_PX) / self._columns, self._row_height()
        row, column = divmod(lane, self._columns)
        left, right = (EDGE_PX + round((column + side) * width) for side in (0, 1))
        return QRect(left, EDGE_PX + row * height, right - left - 2, height - 2)

    def _row_height(self) -> int:
        return int(self.fontMetrics().height() * 1.9) + 4

    def _lane_at(self, at: QPoint) -> int | None:
        return next((n for n in range(len(self.cells)) if self.cell(n).contains(at)), None)

    # -- painting

    def paintEvent(self, _event: QPaintEvent) -> None:  # noqa: N802
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        colors = theme.colors(self.palette())
        for lane in range(len(self.cells)):
            self._paint_cell(painter, colors, lane)
        if self.hasFocus():
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.setPen(QPen(QColor(colors.accent), 2))
            painter.drawRoundedRect(self.rect().adjusted(1, 1, -1, -1), 5, 5)

    def _paint_cell(self, painter: QPainter, colors: theme.Colors, lane: int) -> None:
        box, cell, factor = self.cell(lane), self.cells[lane], factor_of(self)
        fill = QColor(colors.surface)
        if cell.color is not None:
            fill = QColor(colors.bad if cell.is_marked else colors.series[cell.color])
            fill.setAlpha(90 if cell.is_marked else 70)
        painter.setPen(QPen(QColor(colors.border), 1))
        painter.setBrush(fill)
        painter.drawRoundedRect(box, 3, 3)
        if cell.exists:
            painter.setPen(QColor(colors.text))
            painter.setOpacity(0.75)
            painter.setFont(scaled_font(NUMBER_SCALE * factor))
            upper = box.adjusted(0, 1, 0, -box.height() // 2)
            painter.drawText(upper, Qt.AlignmentFlag.AlignCenter, str(lane))
            painter.setOpacity(1.0)
            painter.setFont(scaled_font(self._text_scale * factor))
            lower = box.adjusted(0, box.height() * 2 // 5, 0, -1)
            painter.drawText(lower, Qt.AlignmentFlag.AlignCenter, cell.text)
        if cell.is_marked:  # seen without its colour, too
            corner = QPoint(box.right(), box.top() + 1)
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(colors.bad))
            painter.drawPolygon([corner, corner + QPoint(-7, 0), corner + QPoint(0, 7)])
        if lane == self._lane:
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.setPen(QPen(QColor(colors.text), 2))
            painter.drawRoundedRect(box.adjusted(1, 1, -1, -1), 3, 3)

    # -- input

    def mousePressEvent(self, event: QMouseEvent) -> None:  # noqa: N802
        lane = self._lane_at(event.position().toPoint())
        if lane is not None:
            self.picked.emit(lane)

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802
        if (step := ARROWS.get(event.key())) is None:
            super().keyPressEvent(event)
            return
        is_shifted = bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
        self.stepped.emit(*step, is_shifted)

    def event(self, event: QEvent) -> bool:
        if isinstance(event, QHelpEvent):
            lane = self._lane_at(event.pos())
            tip = self._hint if lane is None else self.cells[lane].tip
            QToolTip.showText(event.globalPos(), tip_text(tip), self)
            return True
        return super().event(event)
