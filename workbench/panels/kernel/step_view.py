"""A walk through a block of the kernel, step by step, with its tile in shared memory."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QEvent, QPoint, QRectF, QSignalBlocker, QSize, Qt, Signal
from PySide6.QtGui import QColor, QFont, QHelpEvent, QPainter, QPaintEvent, QPen, QResizeEvent
from PySide6.QtWidgets import (
    QBoxLayout,
    QCheckBox,
    QScrollArea,
    QSizePolicy,
    QTableWidget,
    QTableWidgetItem,
    QToolTip,
    QWidget,
)

from kernels.cuda_on_cpu.stepping import WARP, BlockSteps, Tile, Touch
from workbench.base import theme
from workbench.base.plain_text import Label, tip_text
from workbench.panels.anatomy.lane_grid import LaneCell, LaneGrid
from workbench.panels.kernel.trial_view import AnswerPair
from workbench.panels.kernel.trial_words import part_words
from workbench.session.kernel_trial import Followed
from workbench.widgets.boxes import Flow, HBox, UprightArea, VBox
from workbench.widgets.buttons import make_button
from workbench.widgets.drop_down import DropDown
from workbench.widgets.letters import factor_of
from workbench.widgets.number_boxes import JumpSlider
from workbench.widgets.tile import scaled_font, words_label

MAX_PX = 26  # the side of a cell, where no numbers are asked for
NUMBER_PX = 44  # wide, with a number in it
FRAMED_PX = 12  # the side from which on a cell has room for a frame
SHADE_ALPHA = 110
EMPTY = "not stored yet"
TILE_HINT = (
    "Shared memory before this step, from its smallest number, black, to its largest. Framed or "
    "shaded: what threads load and store at it"
)


def number_words(value: float) -> str:
    """Write a number of memory in a few letters."""
    return f"{value:.4g}".replace("-", "−")


class TileView(QWidget):
    """Cells as bright as their numbers; empty ones are crossed out.

    Signals:
        fitted(height): it has this height from now on.
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
        before = self._shape
        self._tile = tile
        self.setVisible(tile is not None)
        if tile is not None:
            (rows, columns), stored = self._shape, int(np.isfinite(tile.values).sum())
            self.setAccessibleDescription(
                f"{tile.name}: {rows} rows of {columns}, {stored} of {tile.values.size} stored."
            )
        if self._shape != before:
            self._fit()
        self.update()

    def show_numbers(self, is_so: bool) -> None:
        """Make cells wide enough for numbers, or let them share the width."""
        self._has_numbers = is_so
        self._fit()
        self.update()

    def sizeHint(self) -> QSize:  # noqa: N802
        (rows, columns), (across, down) = self._shape, self._cell_px
        return QSize(round(columns * across), round(rows * down) + 2)

    def minimumSizeHint(self) -> QSize:  # noqa: N802
        return QSize(self.sizeHint().width() if self._has_numbers else 0, self.sizeHint().height())

    def words_at(self, row: int, column: int) -> str:
        """Name a cell and its number."""
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
        painter.setFont(scaled_font(0.66 * factor_of(self)))
        greys = _greys(self._tile.values)
        for row, column in np.ndindex(self._tile.values.shape):
            box, grey = self._box(row, column), int(greys[row, column])
            if not box.intersects(QRectF(event.rect())):
                continue
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
        shade = QColor(color)
        shade.setAlpha(SHADE_ALPHA)
        painter.setPen(QPen(QColor(color), width))
        for row, column in places:
            box = self._box(row, column)
            if box.width() < FRAMED_PX:
                painter.fillRect(box, shade)
            else:
                painter.drawRect(box.adjusted(1, 1, -1, -1))

    def event(self, event: QEvent) -> bool:
        if isinstance(event, QHelpEvent) and self._tile is not None:
            place = self._place_at(event.pos())
            words = f"{self.words_at(*place)}\n{TILE_HINT}" if place else TILE_HINT
            QToolTip.showText(event.globalPos(), tip_text(words), self)
            return True
        return super().event(event)

    def _place_at(self, at: QPoint) -> tuple[int, int] | None:
        (rows, columns), (across, down) = self._shape, self._cell_px
        row, column = int(at.y() // down), int(at.x() // across)
        return (row, column) if 0 <= row < rows and 0 <= column < columns else None

    def _box(self, row: int, column: int) -> QRectF:
        across, down = self._cell_px
        return QRectF(column * across, row * down, across, down)

    @property
    def _shape(self) -> tuple[int, int]:
        if self._tile is None:
            return 0, 1
        rows, columns = self._tile.values.shape
        return rows, columns

    @property
    def _cell_px(self) -> tuple[float, float]:
        if self._has_numbers:
            return NUMBER_PX * factor_of(self), self.fontMetrics().height() + 4.0
        side = min(max(self.width() / self._shape[1], 2.0), MAX_PX)
        return side, side

    def _fit(self) -> None:
        self.setFixedHeight(self.sizeHint().height())
        self.updateGeometry()
        self.fitted.emit(self.height())


def _greys(values: NDArray[np.float64]) -> NDArray[np.int64]:
    """0 to 255 from the smallest to the largest; -1 where nothing was stored."""
    known = np.isfinite(values)
    greys = np.full(values.shape, -1)
    if known.any():
        low, high = values[known].min(), values[known].max()
        greys[known] = np.round((values[known] - low) / ((high - low) or 1) * 255)
    return greys


SIDE_BY_SIDE_PX = 400  # from this width on variables and shared memory stand beside each other
ROWS_SEEN = 6  # of variables
MAX_TILE_PX = 420  # high; beyond, it scrolls
MAX_TOUCHES = 4  # that a sentence lists
LANE_COLUMNS = 8
NOT_HERE = "is not here: it waits, went another way, or has ended."
OF_ONE_TIP = "Go only to steps that the chosen thread takes part in"
NUMBERS_TIP = "Write the numbers into the cells"
WHERE = "Recorded on {part}. Click on a picture: the block and the thread that store that pixel."
LANE_HINT = (
    "The lanes of the warp that are at this line: ↓ loads, ↑ stores, · touches no memory. "
    "Click, or arrow keys: another lane"
)


def step_words(steps: BlockSteps, step: int) -> str:
    """Name a step: its number, its line, its threads and the barriers behind them."""
    here, barriers = len(steps.threads_at(step)), steps.barriers_before(step)
    passed = f"{_counted(barriers, 'barrier')} passed" if barriers else "no barrier passed"
    return (
        f"Step {step + 1:,} of {steps.count:,}, line {steps.point(step).line}: {here:,} of "
        f"{_counted(steps.threads, 'thread')} of block {steps.block}, {passed}."
    )


def thread_words(steps: BlockSteps, step: int, thread: int) -> str:
    """List the loads and stores of a thread at a step."""
    across = steps.block_xy[0]
    name = f"Thread {(thread % across, thread // across)}, {_lane_words(thread)},"
    if thread not in steps.threads_at(step):
        return f"{name} {NOT_HERE}"
    done = _touch_words(steps.touches(step, thread))
    return f"{name} {done}." if done else f"{name} touches no memory here."


def lane_cell(steps: BlockSteps, step: int, thread: int, is_here: bool) -> LaneCell:
    """The lane of a thread at a step: its last load or store, and all of them as a tooltip."""
    name = _lane_words(thread).capitalize()
    if not is_here:
        return LaneCell("", f"{name}: not here", exists=thread < steps.threads)
    touches = steps.touches(step, thread)
    if not touches:
        return LaneCell("·", f"{name}: touches no memory", 0)
    last = touches[-1]
    text = f"{'↑' if last.is_store else '↓'}{last.value:.3g}".replace("-", "−")
    return LaneCell(text, f"{name}: {_touch_words(touches)}", int(last.is_store))


def _touch_words(touches: Sequence[Touch]) -> str:
    """List loads and stores in their order; empty: there are none."""
    listed = "; ".join(map(_one_touch, touches[:MAX_TOUCHES]))
    more = len(touches) - MAX_TOUCHES
    return f"{listed}; and {more:,} more" if more > 0 else listed


def _one_touch(each: Touch) -> str:
    does, way = ("stores", "to") if each.is_store else ("loads", "from")
    return f"{does} {number_words(each.value)} {way} {each.array}, {each.where}"


def _lane_words(thread: int) -> str:
    return f"lane {thread % WARP} of warp {thread // WARP}"


def _counted(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"


class StepView(QWidget):
    """Buttons and a slider for the step; lanes, variables and the tile at it.

    steps  those of the block
    step   the one in view, from 0

    Signals:
        line_shown(line): the step in view is at this line of the source.
        left(): the user closed it.
        walk_wanted(pixel, number): walk the block that stores this pixel (x, y) of the picture,
            or this pass of the kernel; None: as before.
    """

    line_shown = Signal(int)
    left = Signal()
    walk_wanted = Signal(object, object)

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("kernel-steps")
        self.steps: BlockSteps | None = None
        self._corner = (0, 0)
        self.step = self._thread = 0
        self._known: dict[str, str] = {}  # variables at the step before
        self._slider = JumpSlider()
        self._slider.setObjectName("kernel-step-slider")
        self._slider.setAccessibleName("Step")
        self._slider.valueChanged.connect(self.go_to)
        self._where = words_label("kernel-step-words", 1.05)
        self._problem = words_label("kernel-step-problem")
        self._problem.setProperty("objection", True)
        self._does = words_label("kernel-thread-words", 0.95)
        self._lanes = LaneGrid(
            "kernel-lanes", "Lanes of the warp at this line", LANE_HINT, LANE_COLUMNS, 0.7
        )
        self._lanes.picked.connect(self._pick_lane)
        self._lanes.stepped.connect(
            lambda across, down, _: self._pick_lane(
                self._thread % WARP + across + LANE_COLUMNS * down
            )
        )
        self._variables = _table()
        self._part = words_label("kernel-step-part", 0.9, is_muted=True)
        self.pictures = AnswerPair("kernel-step")
        self.pictures.picked.connect(self._pick_pixel)
        self._lay_out()

    def show_steps(self, followed: Followed) -> None:
        """Walk through a block, from its first step on."""
        found = followed.stepped
        assert found.steps is not None
        self.steps, self._corner = found.steps, (found.region.left, found.region.top)
        self._thread = found.steps.storing(found.pixel) or 0
        self._problem.setText(found.problem)
        self._problem.setVisible(bool(found.problem))
        self._part.setText(WHERE.format(part=part_words(found.region)))
        self._show_passes(followed, found.steps.number)
        self.pictures.show_pictures(followed.before, followed.after, followed.rung.file)
        self.pictures.show_pixel(found.pixel)
        names = [each.name for each in found.steps.tiles(0)]
        with QSignalBlocker(self._slider), QSignalBlocker(self._tiles):
            self._slider.setRange(0, found.steps.count - 1)
            self._tiles.clear()
            self._tiles.addItems(names)
        self._tiles.setVisible(len(names) > 1)
        self._tile_head.setVisible(bool(names))
        self._tile_area.setVisible(bool(names))
        self._known = {}
        self.go_to(0)

    def go_to(self, step: int) -> None:
        """Show a step, from 0; beyond the last, that."""
        if self.steps is None:
            return
        self.step = min(max(step, 0), self.steps.count - 1)
        with QSignalBlocker(self._slider):
            self._slider.setValue(self.step)
        self._show(self.steps)

    def go_on(self, way: int) -> None:
        """Go a step forwards (1) or back (-1)."""
        if self.steps is None or not self._of_one.isChecked():
            self.go_to(self.step + way)
        else:
            self.go_to(self.steps.next_of(self._thread, self.step, way))

    def go_to_barrier(self, way: int) -> None:
        """Go behind the next barrier (1), or behind the one before (-1)."""
        if self.steps is not None:
            find = self.steps.next_barrier if way > 0 else self.steps.barrier_before
            self.go_to(find(self.step))

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802
        super().resizeEvent(event)
        self.pictures.take_room(event.size())
        is_wide = event.size().width() >= SIDE_BY_SIDE_PX
        across, down = QBoxLayout.Direction.LeftToRight, QBoxLayout.Direction.TopToBottom
        self._memory.setDirection(across if is_wide else down)

    # -- the step in view

    def _show(self, steps: BlockSteps) -> None:
        step, thread = self.step, self._thread
        self._where.setText(step_words(steps, step))
        self._does.setText(thread_words(steps, step, thread))
        self._show_lanes(steps)
        self._show_variables(steps.variables(step, thread))
        tiles, chosen = steps.tiles(step), max(self._tiles.currentIndex(), 0)
        self._tile.show_tile(tiles[chosen] if chosen < len(tiles) else None)
        for button, way in self._buttons:
            button.setEnabled(step > 0 if way < 0 else step < steps.count - 1)
        self.line_shown.emit(steps.point(step).line)

    def _show_lanes(self, steps: BlockSteps) -> None:
        first, lane = self._thread // WARP * WARP, self._thread % WARP
        here = set(steps.threads_at(self.step).tolist())
        cells = [lane_cell(steps, self.step, n, n in here) for n in range(first, first + WARP)]
        count = sum(cell.color is not None for cell in cells)
        self._lanes.show_cells(cells, lane, f"{count} of {WARP} lanes are here. {cells[lane].tip}")

    def _show_variables(self, rows: Sequence[tuple[str, str]]) -> None:
        self._variables.setRowCount(len(rows))
        for row, (name, value) in enumerate(rows):
            font = QFont(self._variables.font())
            font.setBold(self._known.get(name) != value)
            for column, words in enumerate((name, value)):
                item = QTableWidgetItem(words)
                item.setFont(font)
                self._variables.setItem(row, column, item)
        self._known = dict(rows)

    def _show_passes(self, followed: Followed, number: int) -> None:
        self._passes.clear()
        for index, each in enumerate(followed.rung.passes):
            if not each.library:
                self._passes.addItem(each.function, index)
        self._passes.setCurrentIndex(self._passes.findData(number))
        self._passes.setVisible(self._passes.count() > 1)

    # -- input

    def _pick_lane(self, lane: int) -> None:
        if 0 <= lane < len(self._lanes.cells) and self._lanes.cells[lane].exists:
            self._choose_thread(self._thread // WARP * WARP + lane)

    def _pick_pixel(self, pixel: tuple[int, int]) -> None:
        """Show the thread that stores a pixel of the part; of another block, record that."""
        thread = self.steps.storing(pixel) if self.steps else None
        if thread is None:
            at = self._corner[0] + pixel[0], self._corner[1] + pixel[1]
            self.walk_wanted.emit(at, None)
            return
        self.pictures.show_pixel(pixel)
        self._choose_thread(thread)

    def _choose_thread(self, thread: int) -> None:
        self._thread, self._known = thread, {}
        self.go_to(self.step)

    # -- its parts

    def _lay_out(self) -> None:
        self._buttons = []
        barrier, step = self.go_to_barrier, self.go_on
        for name, text, keys, tip, go, way in (
            ("kernel-barrier-back", "|◀", "Shift+F6", "After the previous barrier", barrier, -1),
            ("kernel-step-back", "◀", "Shift+F8", "A step back", step, -1),
            ("kernel-step-on", "▶", "F8", "One step on, all threads together", step, 1),
            ("kernel-barrier-on", "▶|", "F6", "After the next barrier", barrier, 1),
        ):
            button = make_button(name, text, f"{tip} ({keys})", tip)
            button.clicked.connect(lambda _=False, go=go, way=way: go(way))
            self._buttons.append((button, way))
        close = make_button("kernel-steps-close", "Close", "Back to the answer")
        close.clicked.connect(self.left)
        self._of_one = _box("kernel-step-of-one", "This thread", OF_ONE_TIP)
        self._passes = DropDown("kernel-step-pass", "Pass")
        self._passes.setToolTip("The function of the kernel that is walked through")
        self._passes.activated.connect(
            lambda _: self.walk_wanted.emit(None, self._passes.currentData())
        )
        across = HBox(spacing=8)
        across.add((self._slider, 1), close)
        self._memory = HBox(spacing=8)
        self._memory.add((self._variables, 1), (self._lay_tile_out(), 1))
        inside = QWidget()
        buttons = Flow(4, *(button for button, _ in self._buttons), self._of_one, self._passes)
        VBox(inside, (0, 4, 0, 0), 6).add(
            *(buttons, across, self._where, self._problem, self._does, self._lanes),
            *(self._memory, self._part, self.pictures, 1),
        )
        VBox(self, 0).add(UprightArea(inside))

    def _lay_tile_out(self) -> QWidget:
        self._tile, self._tile_area = TileView(), QScrollArea()
        self._tiles = DropDown("kernel-step-tile", "Array in shared memory")
        self._tiles.activated.connect(lambda _: self.go_to(self.step))
        numbers = _box("kernel-step-numbers", "Numbers", NUMBERS_TIP)
        numbers.toggled.connect(self._tile.show_numbers)
        self._tile_head = QWidget()
        title = Label("Shared memory", is_muted=True)
        HBox(self._tile_head, 0, 8).add(title, self._tiles, numbers, 1)
        self._tile_area.setWidget(self._tile)
        self._tile_area.setWidgetResizable(True)
        self._tile_area.setFrameShape(QScrollArea.Shape.NoFrame)
        bar = self._tile_area.horizontalScrollBar()
        self._tile.fitted.connect(
            lambda height: self._tile_area.setFixedHeight(
                min(height + bar.sizeHint().height(), MAX_TILE_PX)
            )
        )
        tile = QWidget()
        VBox(tile, 0, 6).add(self._tile_head, self._tile_area, 1)
        return tile


def _box(name: str, text: str, tip: str) -> QCheckBox:
    box = QCheckBox(text)
    box.setObjectName(name)
    box.setToolTip(tip_text(tip))
    return box


def _table() -> QTableWidget:
    table = QTableWidget(0, 2)
    table.setObjectName("kernel-variables")
    table.setAccessibleName("Variables of the thread before this step")
    table.setToolTip(tip_text("Of the chosen thread, before this step; bold: changed"))
    table.setHorizontalHeaderLabels(("Variable", "Value"))
    table.verticalHeader().hide()
    table.horizontalHeader().setStretchLastSection(True)
    table.setEditTriggers(QTableWidget.EditTrigger.NoEditTriggers)
    table.setTabKeyNavigation(False)
    row = table.fontMetrics().height() + 6
    table.verticalHeader().setDefaultSectionSize(row)
    table.setFixedHeight((ROWS_SEEN + 1) * row + 6)
    return table
