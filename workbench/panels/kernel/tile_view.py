"""A block's tile in shared memory: as a picture, with its numbers where there is room."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QEvent, QPoint, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QHelpEvent,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QResizeEvent,
)
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from kernels.cuda_on_cpu.stepping import WARP, BlockSteps, Tile, Touch
from workbench.base import theme
from workbench.base.plain_text import tip_text
from workbench.widgets.keyboard import ARROWS
from workbench.widgets.letters import factor_of
from workbench.widgets.tile import scaled_font

MAX_TOUCHES = 4  # that are told one by one
NOT_HERE = "is not here: it waits, went another way, or has ended."


def step_words(steps: BlockSteps, step: int) -> str:
    """Name a step: its number, its line, its threads and the barriers behind them."""
    here, barriers = len(steps.threads_at(step)), steps.barriers_before(step)
    passed = "no barrier passed" if not barriers else f"{_counted(barriers, 'barrier')} passed"
    return (
        f"Step {step + 1:,} of {steps.count:,}, line {steps.point(step).line}: {here:,} of "
        f"{_counted(steps.threads, 'thread')} of block {steps.block}, {passed}."
    )


def thread_words(steps: BlockSteps, step: int, thread: int) -> str:
    """Tell the loads and stores of a thread at a step."""
    across = steps.block_xy[0]
    name = f"Thread {(thread % across, thread // across)}, {lane_words(thread)},"
    if thread not in steps.threads_at(step):
        return f"{name} {NOT_HERE}"
    done = touch_words(steps.touches(step, thread))
    return f"{name} {done}." if done else f"{name} touches no memory here."


def touch_words(touches: Sequence[Touch]) -> str:
    """Tell loads and stores in their order; empty: there are none."""
    told = "; ".join(_touch(each) for each in touches[:MAX_TOUCHES])
    more = len(touches) - MAX_TOUCHES
    return f"{told}; and {more:,} more" if more > 0 else told


def lane_words(thread: int) -> str:
    """Name the lane and the warp of a thread."""
    return f"lane {thread % WARP} of warp {thread // WARP}"


def number_words(value: float) -> str:
    """Write a number of memory in a few letters."""
    return f"{value:.4g}".replace("-", "−")


def _touch(each: Touch) -> str:
    does, way = ("stores", "to") if each.is_store else ("loads", "from")
    return f"{does} {number_words(each.value)} {way} {each.array}, {each.where}"


def _counted(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"


MAX_PX = 26  # the side of a cell, where no numbers are asked for
NUMBER_PX = 44  # wide, with a number in it
FRAMED_PX = 12  # the side from which on a cell has room for a frame
SHADE_ALPHA = 110
EMPTY = "not stored yet"
TILE_HINT = (
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
        """Tell the number at a place."""
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
            words = f"{self.words_at(*place)}\n{TILE_HINT}" if place else TILE_HINT
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


ROW = 8  # lanes
LANE_HINT = (
    "The lanes of the warp that are at this line: ↓ loads, ↑ stores, · touches no memory. "
    "Click, or arrow keys: another lane"
)


@dataclass(frozen=True, slots=True)
class LaneState:
    """One lane: the text of its cell, and its tooltip.

    is_there  the block has such a thread
    is_here   it is at the line
    """

    is_there: bool
    is_here: bool
    is_store: bool = False
    text: str = ""
    tip: str = ""


def lane_state(steps: BlockSteps, step: int, thread: int, is_here: bool) -> LaneState:
    """Return the lane of a thread at a step: what it loads or stores last, and all of it."""
    name = lane_words(thread).capitalize()
    if not is_here:
        return LaneState(thread < steps.threads, False, tip=f"{name}: not here")
    touches = steps.touches(step, thread)
    tip = f"{name}: {touch_words(touches) or 'touches no memory'}"
    if not touches:
        return LaneState(True, True, False, "·", tip)
    last = touches[-1]
    text = f"{'↑' if last.is_store else '↓'}{last.value:.3g}".replace("-", "−")
    return LaneState(True, True, last.is_store, text, tip)


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
        """Return the text of each cell; empty: the lane is not at the line."""
        return [each.text for each in self._lanes]

    def sizeHint(self) -> QSize:  # noqa: N802
        return QSize(ROW * 48, WARP // ROW * self._row_height() + 2)

    def minimumSizeHint(self) -> QSize:  # noqa: N802
        return QSize(ROW * 30, self.sizeHint().height())

    def cell(self, lane: int) -> QRect:
        """Return the box in which a lane is painted."""
        width, height = self.width() / ROW, self._row_height()
        left, right = (round((lane % ROW + side) * width) for side in (0, 1))
        return QRect(left, 1 + lane // ROW * height, right - left - 2, height - 2)

    def paintEvent(self, _event: QPaintEvent) -> None:  # noqa: N802
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        colors = theme.colors(self.palette())
        for lane, state in enumerate(self._lanes):
            self._paint(painter, colors, self.cell(lane), lane, state)

    def _paint(
        self, painter: QPainter, colors: theme.Colors, cell: QRect, lane: int, state: LaneState
    ) -> None:
        fill = QColor(colors.series[1 if state.is_store else 0])
        fill.setAlpha(70 if state.is_here else 0)
        painter.setPen(QPen(QColor(colors.border), 1))
        painter.setBrush(fill)
        painter.drawRoundedRect(cell, 3, 3)
        if lane == self._lane:
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
        lanes = range(len(self._lanes))
        return next((lane for lane in lanes if self.cell(lane).contains(at)), None)

    def mousePressEvent(self, event: QMouseEvent) -> None:  # noqa: N802
        self._pick(self._lane_at(event.position().toPoint()))

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802
        if (step := ARROWS.get(event.key())) is None:
            super().keyPressEvent(event)
            return
        self._pick(self._lane + step[0] + ROW * step[1])

    def _pick(self, lane: int | None) -> None:
        if lane is not None and 0 <= lane < len(self._lanes) and self._lanes[lane].is_there:
            self.picked.emit(lane)

    def event(self, event: QEvent) -> bool:
        if isinstance(event, QHelpEvent):
            lane = self._lane_at(event.pos())
            tip = self._lanes[lane].tip if lane is not None else ""
            QToolTip.showText(event.globalPos(), tip_text(tip or LANE_HINT), self)
            return True
        return super().event(event)
