"""A warp's 32 lanes side by side, each with the bank or the sector that it touches."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QPoint, QRect, QSize, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QFocusEvent,
    QFont,
    QHelpEvent,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
)
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from kernels.anatomy.transactions import LANES, NOWHERE
from workbench.base import theme
from workbench.base.plain_text import tip_text
from workbench.panels.anatomy.subject import Lanes
from workbench.widgets.keyboard import ARROWS
from workbench.widgets.letters import factor_of
from workbench.widgets.tile import scaled_font

ROW = 16  # lanes
HINT = "Arrow keys: another lane or warp; with Shift: the next block.  Click: that lane"


class LaneStrip(QWidget):
    """A strip that shows `Lanes`: two rows of sixteen.

    Signals:
        stepped(lanes, warps): the user wants a lane and a warp so many further on.
        block_stepped(across, down): likewise a block.
        picked(lane): the user clicked on one.
    """

    stepped = Signal(int, int)
    block_stepped = Signal(int, int)
    picked = Signal(int)

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("anatomy-lanes")
        self.setAccessibleName("Lanes of the warp")
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setToolTip(HINT)
        self._lanes: Lanes | None = None
        self._lane = 0

    def show_lanes(self, lanes: Lanes | None, lane: int) -> None:
        """Show what the lanes touch.

        lane  the one looked at
        """
        self._lanes, self._lane = lanes, lane
        self.setAccessibleDescription(f"{lanes.sentence} {lanes.legend}" if lanes else "")
        self.update()

    def sizeHint(self) -> QSize:  # noqa: N802
        return QSize(ROW * 22, 2 * self._row_height() + 6)

    def minimumSizeHint(self) -> QSize:  # noqa: N802
        return QSize(ROW * 16, self.sizeHint().height())

    def lane_at(self, at: QPoint) -> int | None:
        """Return the lane painted at a point of the widget."""
        return next((lane for lane in range(LANES) if self._cell(lane).contains(at)), None)

    # -- painting

    def paintEvent(self, _event: QPaintEvent) -> None:  # noqa: N802
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        colors = theme.colors(self.palette())
        fonts = scaled_font(0.62 * factor_of(self)), scaled_font(0.85 * factor_of(self))
        for lane in range(LANES):
            self._paint_cell(painter, colors, lane, fonts)
        if self.hasFocus():
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.setPen(QPen(QColor(colors.accent), 2))
            painter.drawRoundedRect(self.rect().adjusted(1, 1, -1, -1), 5, 5)

    def _paint_cell(
        self, painter: QPainter, colors: theme.Colors, lane: int, fonts: tuple[QFont, QFont]
    ) -> None:
        cell = self._cell(lane)
        lanes = self._lanes
        group = lanes.groups[lane] if lanes else NOWHERE
        waits = lanes is not None and lanes.conflict[lane]
        fill = QColor(colors.bad if waits else colors.series[4 if group % 2 else 0])
        if group == NOWHERE:
            fill = QColor(colors.surface)
        else:
            fill.setAlpha(90 if waits else 70)
        painter.setPen(QPen(QColor(colors.border), 1))
        painter.setBrush(fill)
        painter.drawRoundedRect(cell, 3, 3)
        top = cell.adjusted(0, 1, 0, -cell.height() // 2)
        painter.setFont(fonts[0])
        painter.setPen(QColor(colors.text))
        painter.setOpacity(0.75)
        painter.drawText(top, Qt.AlignmentFlag.AlignCenter, str(lane))
        painter.setFont(fonts[1])
        painter.setOpacity(1.0)
        bottom = cell.adjusted(0, cell.height() * 2 // 5, 0, -1)
        text = lanes.labels[lane] if lanes else ""
        painter.drawText(bottom, Qt.AlignmentFlag.AlignCenter, text or "–")
        if waits:  # a mark beside the colour: a corner
            corner = QPoint(cell.right(), cell.top() + 1)
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(colors.bad))
            painter.drawPolygon([corner, corner + QPoint(-7, 0), corner + QPoint(0, 7)])
        if lane == self._lane and lanes is not None:
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.setPen(QPen(QColor(colors.text), 2))
            painter.drawRoundedRect(cell.adjusted(1, 1, -1, -1), 3, 3)

    def _row_height(self) -> int:
        return int(self.fontMetrics().height() * 1.9) + 4

    def _cell(self, lane: int) -> QRect:
        width, height = (self.width() - 6) / ROW, self._row_height()
        left, right = (3 + round((lane % ROW + side) * width) for side in (0, 1))
        return QRect(left, 3 + lane // ROW * height, right - left - 2, height - 2)

    # -- what the user does

    def mousePressEvent(self, event: QMouseEvent) -> None:  # noqa: N802
        lane = self.lane_at(event.position().toPoint())
        if lane is not None:
            self.picked.emit(lane)

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802
        step = ARROWS.get(event.key())
        if step is None:
            super().keyPressEvent(event)
        elif event.modifiers() & Qt.KeyboardModifier.ShiftModifier:
            self.block_stepped.emit(*step)
        else:
            self.stepped.emit(*step)

    def event(self, event: QEvent) -> bool:
        if isinstance(event, QHelpEvent) and self._lanes is not None:
            lane = self.lane_at(event.pos())
            QToolTip.showText(event.globalPos(), tip_text(self._tip(lane)), self)
            return True
        return super().event(event)

    def focusInEvent(self, _event: QFocusEvent) -> None:  # noqa: N802
        self.update()

    def focusOutEvent(self, _event: QFocusEvent) -> None:  # noqa: N802
        self.update()

    def _tip(self, lane: int | None) -> str:
        lanes = self._lanes
        if lanes is None or lane is None:
            return HINT
        if not lanes.labels[lane]:
            return f"Lane {lane} takes no part."
        waits = "; it meets others there" if lanes.conflict[lane] else ""
        return f"Lane {lane}: {lanes.title.lower()} {lanes.labels[lane]}{waits}"
