"""A walk through a block of the kernel, step by step, with its tile in shared memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import (
    QAbstractTableModel,
    QEvent,
    QModelIndex,
    QPersistentModelIndex,
    QRectF,
    QSignalBlocker,
    Qt,
    Signal,
)
from PySide6.QtGui import QBrush, QColor, QFont, QPainter, QResizeEvent
from PySide6.QtWidgets import QTableView, QTableWidget, QTableWidgetItem, QWidget

from kernels.cuda_on_cpu.stepping import WARP, BlockSteps, Tile, Touch
from workbench.base import theme
from workbench.base.paths import asset_table
from workbench.base.plain_text import Label, tip_text
from workbench.panels.anatomy.anatomy_overlay import paint_tile
from workbench.panels.anatomy.launch_parts import LaneGrid
from workbench.panels.anatomy.subject import LaneCell
from workbench.panels.kernel.trial_view import AnswerPair, check_box
from workbench.panels.kernel.trial_words import part_words
from workbench.session.kernel_trial import Followed
from workbench.widgets.boxes import Flow, HBox, UprightArea, VBox
from workbench.widgets.buttons import described, make_button
from workbench.widgets.drop_down import DropDown
from workbench.widgets.letters import factor_of
from workbench.widgets.number_boxes import JumpSlider
from workbench.widgets.tile import scaled_font, words_label
from workbench.widgets.watch import Watch

MAX_PX, MIN_PX = 26, 3  # the side of a cell without a number
NUMBER_PX = 44  # wide, with a number in it
TIPS = asset_table("tips.toml")["kernel-trial"]
Index = QModelIndex | QPersistentModelIndex


def number_words(value: float) -> str:
    """Write a number of memory in a few letters."""
    return f"{value:.4g}".replace("-", "−")


class TileModel(QAbstractTableModel):
    """Cells as bright as their numbers; empty ones are crossed out."""

    def __init__(self) -> None:
        super().__init__()
        self.tile: Tile | None = None
        self.has_numbers = False
        self._touched: dict[tuple[int, int], bool] = {}  # True: stored, else loaded
        self._low, self._range = 0.0, 1.0

    def show_tile(self, tile: Tile | None) -> None:
        """Show this array; None: there is none."""
        self.beginResetModel()
        self.tile = tile
        if tile is not None:
            touched = ((False, tile.loaded), (True, tile.stored))
            self._touched = {tuple(at): how for how, each in touched for at in each.tolist()}
            known = tile.values[np.isfinite(tile.values)]
            self._low = float(known.min(initial=np.inf))
            self._range = float(known.max(initial=-np.inf)) - self._low or 1.0
        self.endResetModel()

    def rowCount(self, _parent: Index = QModelIndex()) -> int:  # noqa: N802, B008
        return 0 if self.tile is None else self.tile.values.shape[0]

    def columnCount(self, _parent: Index = QModelIndex()) -> int:  # noqa: N802, B008
        return 0 if self.tile is None else self.tile.values.shape[1]

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if self.tile is None:
            return None
        at = index.row(), index.column()
        value, stored = float(self.tile.values[at]), self._touched.get(at)
        is_known = bool(np.isfinite(value))
        grey = round((value - self._low) / self._range * 255) if is_known else 0
        match role:
            case Qt.ItemDataRole.DisplayRole:
                sign = {None: "", True: "↑", False: "↓"}[stored]
                return number_words(value) if self.has_numbers and is_known else sign
            case Qt.ItemDataRole.ToolTipRole:
                number = number_words(value) if is_known else "not stored yet"
                where = f"{self.tile.name}, row {at[0]}, column {at[1]}: {number}"
                return tip_text(f"{where}\n{TIPS['tile']}")
            case Qt.ItemDataRole.BackgroundRole if stored is not None:
                return QColor(theme.colors().series[int(stored)])
            case Qt.ItemDataRole.BackgroundRole:
                return QColor(grey, grey, grey) if is_known else QBrush(Qt.BrushStyle.BDiagPattern)
            case Qt.ItemDataRole.ForegroundRole if stored is None and is_known:
                return QColor("#000000" if grey > 127 else "#ffffff")
            case Qt.ItemDataRole.TextAlignmentRole:
                return Qt.AlignmentFlag.AlignCenter
        return None


class TileView(QTableView):
    """A tile of shared memory, as wide as there is room, or as its numbers need."""

    def __init__(self) -> None:
        super().__init__(showGrid=False)
        described(self, "kernel-tile", "Shared memory")
        self._model = TileModel()
        self.setModel(self._model)
        self.setSelectionMode(QTableView.SelectionMode.NoSelection)
        self.setTabKeyNavigation(False)
        for header in (self.horizontalHeader(), self.verticalHeader()):
            header.hide()
            header.setMinimumSectionSize(MIN_PX)

    def show_tile(self, tile: Tile | None) -> None:
        across, down = self.horizontalScrollBar().value(), self.verticalScrollBar().value()
        self._model.show_tile(tile)
        self.setVisible(tile is not None)
        if tile is None:
            return
        (rows, columns), stored = tile.values.shape, int(np.isfinite(tile.values).sum())
        self.setAccessibleDescription(
            f"{tile.name}: {rows} rows of {columns}, {stored} of {tile.values.size} stored."
        )
        self._fit()
        self.horizontalScrollBar().setValue(across)
        self.verticalScrollBar().setValue(down)

    def show_numbers(self, is_so: bool) -> None:
        """Make cells wide enough for numbers, or let them share the width."""
        self._model.has_numbers = is_so
        self._fit()
        self.viewport().update()

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        columns, factor = max(self._model.columnCount(), 1), factor_of(self)
        bar = self.verticalScrollBar().sizeHint().width()
        # Whether or not the bar is there: it would come and go with what follows from that.
        width = self.maximumViewportSize().width() - bar
        across = down = min(max(width // columns, MIN_PX), MAX_PX)
        self.setFont(scaled_font(0.66 * factor))
        if self._model.has_numbers:
            across, down = round(NUMBER_PX * factor), self.fontMetrics().height() + 4
        self.horizontalHeader().setDefaultSectionSize(across)
        self.verticalHeader().setDefaultSectionSize(down)
        self.setFixedHeight(min(self._model.rowCount() * down + 4 + bar, MAX_TILE_PX))


ROWS_SEEN = 6  # of variables
MAX_TILE_PX = 420  # high; beyond, it scrolls
MAX_TOUCHES = 4  # that a sentence lists
LANE_COLUMNS = 8
WHERE = "Recorded on {part}. Click on a picture: the block and the thread that store that pixel."
ON_PICTURE = " On the large one: the block's tile, framed, and its halo, dashed."
RACE = "Race: {} threads meet others with no barrier between, first at {}, {}: {}. "
WAYS = ("touches no memory", "loads", "stores")
CONFLICT = "Bank conflict: one access of a warp takes {turns} turns."


def step_words(steps: BlockSteps, step: int) -> str:
    """Name a step: its number, its line, its threads and the barriers behind them."""
    return (
        f"Step {step + 1:,} of {steps.count:,}, line {steps.point(step).line}: "
        f"{len(steps.threads_at(step)):,} of {steps.threads:,} threads of block {steps.block}, "
        f"barriers passed: {steps.barriers_before(step)}."
    )


def thread_words(steps: BlockSteps, step: int, thread: int) -> str:
    """List the loads and stores of a thread at a step."""
    y, x = divmod(thread, steps.block_xy[0])
    done = "is not here: it waits, went another way, or has ended"
    if thread in steps.threads_at(step):
        done = _touch_words(steps.touches(step, thread))
    return f"Thread {(x, y)}, {_lane_words(thread)}, {done}."


def mark_words(steps: BlockSteps, step: int, doing: NDArray[np.void]) -> str:
    """Say what races and what bank conflicts there are at a step; empty: none."""
    words, turns = "", int(doing["turns"].max())
    if count := int(doing["races"].sum()):
        touches = steps.touches(step, int(doing["races"].argmax()))
        first = next(each for each in touches if each.rival)
        words = RACE.format(count, first.array, first.where, first.rival)
    return words + CONFLICT.format(turns=turns) * (turns > 1)


def thread_cells(doing: NDArray[np.void]) -> list[LaneCell]:
    """All threads of a block at a step, in whole warps."""
    cells = []
    for thread, (is_here, way, turns, races) in enumerate(doing.tolist()):
        tip = f"{_lane_words(thread).capitalize()} {WAYS[way + 1] if is_here else 'is not here'}"
        tip += ", race" * races + f", bank conflict: {turns} turns" * (turns > 1)
        text, color = ("·↓↑"[way + 1], max(way, 0)) if is_here else ("", None)
        cells.append(LaneCell(text, tip, color, races or turns > 1))
    return [*cells, *[LaneCell("", "", exists=False)] * (-len(cells) % WARP)]


def lane_cell(cell: LaneCell, touches: Sequence[Touch]) -> LaneCell:
    """A thread's cell with its last load or store, and all of them as a tooltip."""
    if not touches:
        return cell
    text = f"{cell.text}{touches[-1].value:.3g}".replace("-", "−")
    return cell._replace(text=text, tip=f"{cell.tip}: {_touch_words(touches)}")


def _touch_words(touches: Sequence[Touch]) -> str:
    listed = [
        f"{'stores' if each.is_store else 'loads'} {number_words(each.value)} "
        f"{'to' if each.is_store else 'from'} {each.array}, {each.where}"
        + (f" (race: {each.rival}, with no barrier between)" if each.rival else "")
        for each in touches[:MAX_TOUCHES]
    ]
    more = len(touches) - MAX_TOUCHES
    return (
        "; ".join([*listed, *([f"and {more:,} more"] if more > 0 else [])]) or "touches no memory"
    )


def _lane_words(thread: int) -> str:
    return f"lane {thread % WARP} of warp {thread // WARP}"


class StepView(QWidget):
    """Buttons and a slider for the step; lanes, variables and the tile at it.

    steps  those of the block
    step   the one in view, from 0
    """

    # (line, sentence): the step in view is at this line, where this is bad, if any.
    line_shown = Signal(int, str)
    look_changed = Signal()  # what is over the picture is to be painted again
    left = Signal()  # the user closed it
    # (pixel, number): walk the block that stores this pixel (x, y) of the picture, or this pass of
    # the kernel; None: as before.
    walk_wanted = Signal(object, object)

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("kernel-steps")
        self.steps: BlockSteps | None = None
        self._corner = (0, 0)
        self.step = self._thread = 0
        self._known: dict[str, str] = {}  # variables at the step before
        self._slider = described(JumpSlider(), "kernel-step-slider", "Step")
        self._slider.valueChanged.connect(self.go_to)
        self._where = words_label("kernel-step-words", 1.05)
        self._problem = words_label("kernel-step-problem")
        self._problem.setProperty("objection", True)
        self._does = words_label("kernel-thread-words", 0.95)
        self._lanes = LaneGrid(
            "kernel-lanes", "Lanes of the warp at this line", TIPS["lanes"], LANE_COLUMNS, 0.7
        )
        self._warps = LaneGrid("kernel-warps", "Threads of the block", TIPS["warps"], WARP, 0.7)
        self._warps.picked.connect(self._choose_thread)
        self._lanes.picked.connect(lambda n: self._choose_thread(self._thread // WARP * WARP + n))
        for grid, n in ((self._warps, WARP), (self._lanes, LANE_COLUMNS)):
            grid.stepped.connect(lambda x, y, _, n=n: self._choose_thread(self._thread + x + n * y))
        self._marks = words_label("kernel-step-marks")
        self._marks.setProperty("objection", True)
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
        self._problem.show_or_hide(found.problem)
        where = WHERE.format(part=part_words(found.region))
        self._part.setText(where + ON_PICTURE * (found.steps.shape is not None))
        self._passes.clear()
        for index, each in enumerate(followed.rung.passes):
            if not each.library:
                self._passes.addItem(each.function, index)
        self._passes.show_data(found.steps.number)
        self._passes.setVisible(self._passes.count() > 1)
        self.pictures.show_pictures(followed.before, followed.after, followed.rung.file)
        self.pictures.show_pixel(found.pixel)
        names = [each.name for each in found.steps.tiles(0)]
        with QSignalBlocker(self._slider), QSignalBlocker(self._tiles):
            self._slider.setRange(0, found.steps.count - 1)
            self._tiles.clear()
            self._tiles.addItems(names)
        self._tiles.setVisible(len(names) > 1)
        self._tile_head.setVisible(bool(names))
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

    def paint(self, painter: QPainter, _visible: QRectF, _scale: float) -> None:
        """Paint the block's tile and halo over the picture, while the walk is seen."""
        if self.steps is None or self.steps.shape is None or not self.isVisible():
            return
        shape, channels = self.steps.shape, self.steps.job.channels
        areas, block = [], self.steps.block
        for each in (shape.tile(block), shape.with_halo(block)):
            rect = each.clipped(shape.picture)
            area = rect.left / channels, rect.top, rect.width / channels, rect.height
            areas.append(QRectF(*area).translated(*self._corner))
        paint_tile(painter, *areas)

    def _show(self, steps: BlockSteps) -> None:
        step, thread = self.step, self._thread
        self._where.setText(step_words(steps, step))
        self._does.setText(thread_words(steps, step, thread))
        doing, warp, lane = steps.doing(step), thread // WARP * WARP, thread % WARP
        words, every = mark_words(steps, step, doing), thread_cells(doing)
        self._warps.show_cells(every, thread, f"{step_words(steps, step)} {words}")
        cells = [lane_cell(every[n], steps.touches(step, n)) for n in range(warp, warp + WARP)]
        count = sum(cell.color is not None for cell in cells)
        self._lanes.show_cells(cells, lane, f"{count} of {WARP} lanes are here. {cells[lane].tip}")
        self._marks.show_or_hide(words)
        self._show_variables(steps.variables(step, thread))
        tiles, chosen = steps.tiles(step), max(self._tiles.currentIndex(), 0)
        self._tile.show_tile(tiles[chosen] if chosen < len(tiles) else None)
        for button, way in self._buttons:
            button.setEnabled(step > 0 if way < 0 else step < steps.count - 1)
        self.line_shown.emit(steps.point(step).line, words)

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
        if self.steps is not None and 0 <= thread < self.steps.threads:
            self._thread, self._known = thread, {}
            self.go_to(self.step)

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
        close = make_button("kernel-steps-close", "Close", "Back to the output")
        close.clicked.connect(self.left)
        self._of_one = check_box(
            "kernel-step-of-one", "This thread", "Only steps of the chosen thread"
        )
        self._passes = DropDown("kernel-step-pass", "Pass", "The function that is walked through")
        self._passes.activated.connect(
            lambda _: self.walk_wanted.emit(None, self._passes.currentData())
        )
        across = HBox(spacing=8).add((self._slider, 1), close)
        Watch(self, QEvent.Type.Show, QEvent.Type.Hide).seen.connect(self.look_changed)
        resized = Watch(self, QEvent.Type.Resize).seen
        resized.connect(lambda: self.pictures.take_room(self.size()))
        self._tile = TileView()
        self._tiles = DropDown("kernel-step-tile", "Array in shared memory")
        self._tiles.activated.connect(lambda _: self.go_to(self.step))
        numbers = check_box("kernel-step-numbers", "Numbers", "Write the numbers into the cells")
        numbers.toggled.connect(self._tile.show_numbers)
        self._tile_head, title = QWidget(), Label("Shared memory", is_muted=True)
        HBox(self._tile_head, 0, 8).add(title, self._tiles, numbers, 1)
        tile = VBox(spacing=6).add(self._tile_head, self._tile, 1)
        inside = QWidget()
        buttons = Flow(4, *(button for button, _ in self._buttons), self._of_one, self._passes)
        VBox(inside, (0, 4, 0, 0), 6).add(
            *(buttons, across, self._where, self._problem, self._marks, self._warps, self._lanes),
            *(self._does, self._variables, tile, self._part, self.pictures, 1),
        )
        VBox(self, 0).add(UprightArea(inside))


def _table() -> QTableWidget:
    title = "Variables of the thread before this step"
    tip = "Of the chosen thread, before this step; bold: changed"
    table = described(QTableWidget(0, 2), "kernel-variables", title, tip)
    table.setHorizontalHeaderLabels(("Variable", "Value"))
    table.verticalHeader().hide()
    table.horizontalHeader().setStretchLastSection(True)
    table.setEditTriggers(QTableWidget.EditTrigger.NoEditTriggers)
    table.setTabKeyNavigation(False)
    row = table.fontMetrics().height() + 6
    table.verticalHeader().setDefaultSectionSize(row)
    table.setFixedHeight((ROWS_SEEN + 1) * row + 6)
    return table
