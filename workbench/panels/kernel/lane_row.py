"""The 32 lanes of a warp at one step: which are at the line, and what each loads or stores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QEvent, QPoint, QRect, QSize, Qt, Signal
from PySide6.QtGui import QColor, QHelpEvent, QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from kernels.cuda_on_cpu.stepping import WARP
from workbench.base import theme
from workbench.base.plain_text import tip_text
from workbench.widgets.keyboard import ARROWS
from workbench.widgets.letters import factor_of
from workbench.widgets.tile import scaled_font

ROW = 8  # lanes
HINT = (
    "The lanes of the warp that are at this line: ↓ loads, ↑ stores, · touches no memory. "
    "Click, or arrow keys: another lane"
)


@dataclass(frozen=True, slots=True)
class LaneState:
    """One lane: whether it is at the line, what stands in its cell, and its tooltip.

    is_there  the block has such a thread
    """

    is_there: bool
    is_here: bool
    is_store: bool = False
    text: str = ""
    tip: str = ""


class LaneRow(QWidget):
    """Four rows of eight cells.

    Signals:
        picked(lane): the user chose one.
    """

    picked = Signal(int)

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("kernel-lanes")
        self.setAccessibleName("Lanes of the warp at this line")
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self._lanes: Sequence[LaneState] = ()
        self._lane = 0

    def show_lanes(self, lanes: Sequence[LaneState], lane: int) -> None:
        """Show 32 lanes, with a frame around `lane`."""
        self._lanes, self._lane = lanes, lane
        here = sum(each.is_here for each in lanes)
        self.setAccessibleDescription(f"{here} of {WARP} lanes are here. {lanes[lane].tip}")
        self.update()

    @property
    def texts(self) -> list[str]:
        """Return what stands in the cells; empty: the lane is not at the line."""
        return [each.text for each in self._lanes]

    def sizeHint(self) -> QSize:  # noqa: N802
        return QSize(ROW * 48, WARP // ROW * self._row_height() + 2)

    def minimumSizeHint(self) -> QSize:  # noqa: N802
        return QSize(ROW * 30, self.sizeHint().height())

    def cell(self, lane: int) -> QRect:
        """Return where a lane is painted."""
        width, height = self.width() / ROW, self._row_height()
        left, right = (round((lane % ROW + side) * width) for side in (0, 1))
        return QRect(left, 1 + lane // ROW * height, right - left - 2, height - 2)

    def paintEvent(self, _event: QPaintEvent) -> None:  # noqa: N802
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        colors = theme.colors(self.palette())
        for lane, state in enumerate(self._lanes):
            self._paint(painter, colors, lane, state)

    def _paint(self, painter: QPainter, colors: theme.Colors, lane: int, state: LaneState) -> None:
        cell = self.cell(lane)
        fill = QColor(colors.series[1 if state.is_store else 0])
        fill.setAlpha(70 if state.is_here else 0)
        painter.setPen(QPen(QColor(colors.border), 1))
        painter.setBrush(fill)
        painter.drawRoundedRect(cell, 3, 3)
        is_chosen = lane == self._lane
        if is_chosen:
            painter.setPen(QPen(QColor(colors.accent), 2))
            painter.drawRoundedRect(cell.adjusted(1, 1, -1, -1), 3, 3)
        if not state.is_there:
            return
        painter.setPen(QColor(colors.text if state.is_here else colors.muted))
        painter.setFont(scaled_font(0.7 * factor_of(self)))
        half = cell.height() // 2
        painter.drawText(cell.adjusted(0, 1, 0, -half), Qt.AlignmentFlag.AlignCenter, str(lane))
        painter.drawText(cell.adjusted(0, half, 0, -1), Qt.AlignmentFlag.AlignCenter, state.text)

    def _row_height(self) -> int:
        return int(self.fontMetrics().height() * 1.7) + 2

    def _lane_at(self, at: QPoint) -> int | None:
        return next(
            (lane for lane in range(len(self._lanes)) if self.cell(lane).contains(at)), None
        )

    def mousePressEvent(self, event: QMouseEvent) -> None:  # noqa: N802
        lane = self._lane_at(event.position().toPoint())
        if lane is not None and self._lanes[lane].is_there:
            self.picked.emit(lane)

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802
        if (step := ARROWS.get(event.key())) is None:
            super().keyPressEvent(event)
            return
        lane = self._lane + step[0] + ROW * step[1]
        if 0 <= lane < len(self._lanes) and self._lanes[lane].is_there:
            self.picked.emit(lane)

    def event(self, event: QEvent) -> bool:
        if isinstance(event, QHelpEvent):
            lane = self._lane_at(event.pos())
            tip = self._lanes[lane].tip if lane is not None else ""
            QToolTip.showText(event.globalPos(), tip_text(tip or HINT), self)
            return True
        return super().event(event)
