"""A block of the kernel, walked through step by step, forwards and back."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import QSignalBlocker, Signal, Slot
from PySide6.QtGui import QFont, QResizeEvent
from PySide6.QtWidgets import (
    QBoxLayout,
    QCheckBox,
    QScrollArea,
    QTableWidget,
    QTableWidgetItem,
    QWidget,
)

from kernels.cuda_on_cpu.stepping import WARP, BlockSteps
from workbench.base.plain_text import Label, tip_text
from workbench.panels.kernel.answer_pair import AnswerPair
from workbench.panels.kernel.lane_row import LaneRow, LaneState
from workbench.panels.kernel.step_words import (
    lane_words,
    step_words,
    thread_words,
    touch_words,
)
from workbench.panels.kernel.tile_view import TileView
from workbench.panels.kernel.trial_words import part_words
from workbench.session.kernel_steps import Followed
from workbench.widgets.boxes import Flow, HBox, UprightArea, VBox
from workbench.widgets.buttons import make_button
from workbench.widgets.drop_down import DropDown
from workbench.widgets.number_boxes import JumpSlider
from workbench.widgets.tile import words_label

SPACING_PX = 4
SIDE_BY_SIDE_PX = 400  # from this width on variables and shared memory stand beside each other
ROWS_SEEN = 6  # of variables
MAX_TILE_PX = 420  # high; beyond, it scrolls
OF_ONE_TIP = "Go only to steps that the chosen thread takes part in"
NUMBERS_TIP = "Write the numbers into the cells"
WHERE = "Recorded on {part}. Click on a picture: the block and the thread that store that pixel."


class StepView(QWidget):
    """Buttons and a slider for the step; lanes, variables and the tile at it.

    Signals:
        line_shown(line): the step in view is at this line of the source.
        left(): the user is done with it.
        pixel_wanted(pixel): the block that stores this pixel (x, y) of the picture, instead.
        pass_wanted(number): this pass of the kernel, instead.
    """

    line_shown = Signal(int)
    left = Signal()
    pixel_wanted = Signal(object)
    pass_wanted = Signal(int)

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("kernel-steps")
        self._steps: BlockSteps | None = None
        self._corner = (0, 0)
        self._step = self._thread = 0
        self._known: dict[str, str] = {}  # variables at the step before
        self._make_buttons()
        self._slider = JumpSlider()
        self._slider.setObjectName("kernel-step-slider")
        self._slider.setAccessibleName("Step")
        self._slider.valueChanged.connect(self.go_to)
        self._where = words_label("kernel-step-words", 1.05)
        self._problem = words_label("kernel-step-problem")
        self._problem.setProperty("objection", True)
        self._does = words_label("kernel-thread-words", 0.95)
        self._lanes = LaneRow()
        self._lanes.picked.connect(self._pick_lane)
        self._variables = _table()
        self._tile, self._tile_area = TileView(), QScrollArea()
        self._part = words_label("kernel-step-part", 0.9, is_muted=True)
        self.pictures = AnswerPair("kernel-step")
        self.pictures.picked.connect(self._pick_pixel)
        self._lay_out()

    @property
    def step(self) -> int:
        """Return the step in view, from 0."""
        return self._step

    @property
    def steps(self) -> BlockSteps | None:
        """Return what is walked through."""
        return self._steps

    def show_steps(self, followed: Followed) -> None:
        """Walk through these, from the first step on."""
        found = followed.stepped
        assert found.steps is not None
        self._steps, self._corner = found.steps, (found.region.left, found.region.top)
        self._thread = found.steps.storing(found.pixel) or 0
        self._problem.setText(found.problem)
        self._problem.setVisible(bool(found.problem))
        self._part.setText(WHERE.format(part=part_words(found.region)))
        self._show_passes(followed)
        self.pictures.show_pictures(followed.before, followed.after, followed.rung.file)
        self.pictures.show_pixel(found.pixel)
        with QSignalBlocker(self._slider):
            self._slider.setRange(0, found.steps.count - 1)
        names = [each.name for each in found.steps.tiles(0)]
        with QSignalBlocker(self._tiles):
            self._tiles.clear()
            self._tiles.addItems(names)
        self._tiles.setVisible(len(names) > 1)
        self._tile_head.setVisible(bool(names))
        self._tile_area.setVisible(bool(names))
        self._known = {}
        self.go_to(0)

    @Slot(int)
    def go_to(self, step: int) -> None:
        """Show a step, from 0; beyond the last, that."""
        if self._steps is None:
            return
        self._step = min(max(step, 0), self._steps.count - 1)
        with QSignalBlocker(self._slider):
            self._slider.setValue(self._step)
        self._show()

    def go_on(self, way: int) -> None:
        """Go a step forwards (1) or back (-1)."""
        if self._steps is None:
            return
        if self._of_one.isChecked():
            self.go_to(self._steps.next_of(self._thread, self._step, way))
        else:
            self.go_to(self._step + way)

    def go_to_barrier(self, way: int) -> None:
        """Go behind the next barrier (1), or behind the one before (-1)."""
        if self._steps is not None:
            find = self._steps.next_barrier if way > 0 else self._steps.barrier_before
            self.go_to(find(self._step))

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802
        super().resizeEvent(event)
        self.pictures.take_room(event.size())
        is_wide = event.size().width() >= SIDE_BY_SIDE_PX
        across, down = QBoxLayout.Direction.LeftToRight, QBoxLayout.Direction.TopToBottom
        self._memory.setDirection(across if is_wide else down)

    # -- what is shown

    def _show(self) -> None:
        assert self._steps is not None
        steps, step, thread = self._steps, self._step, self._thread
        self._where.setText(step_words(steps, step))
        self._does.setText(thread_words(steps, step, thread))
        self._lanes.show_lanes(self._lane_states(), thread % WARP)
        self._show_variables()
        tiles = steps.tiles(step)
        chosen = max(self._tiles.currentIndex(), 0)
        self._tile.show_tile(tiles[chosen] if chosen < len(tiles) else None)
        for button, is_on in (
            (self._buttons["kernel-step-back"], step > 0),
            (self._buttons["kernel-barrier-back"], step > 0),
            (self._buttons["kernel-step-on"], step < steps.count - 1),
            (self._buttons["kernel-barrier-on"], step < steps.count - 1),
        ):
            button.setEnabled(is_on)
        self.line_shown.emit(steps.point(step).line)

    def _lane_states(self) -> list[LaneState]:
        assert self._steps is not None
        first = self._thread // WARP * WARP
        here = set(self._steps.threads_at(self._step).tolist())
        found = []
        for thread in range(first, first + WARP):
            if thread not in here:
                tip = f"{lane_words(thread).capitalize()}: not here"
                found.append(LaneState(thread < self._steps.threads, False, tip=tip))
                continue
            touches = self._steps.touches(self._step, thread)
            words = touch_words(touches) or "touches no memory"
            last = touches[-1] if touches else None
            text = "·" if last is None else f"{'↑' if last.is_store else '↓'}{last.value:.3g}"
            tip = f"{lane_words(thread).capitalize()}: {words}"
            is_store = last is not None and last.is_store
            found.append(LaneState(True, True, is_store, text.replace("-", "−"), tip))
        return found

    def _show_variables(self) -> None:
        assert self._steps is not None
        rows = self._steps.variables(self._step, self._thread)
        self._variables.setRowCount(len(rows))
        for row, (name, value) in enumerate(rows):
            is_new = self._known.get(name) != value
            for column, words in enumerate((name, value)):
                item = QTableWidgetItem(words)
                font = QFont(self._variables.font())
                font.setBold(is_new)
                item.setFont(font)
                self._variables.setItem(row, column, item)
        self._known = dict(rows)

    def _show_passes(self, followed: Followed) -> None:
        assert self._steps is not None
        passes = [each for each in enumerate(followed.rung.passes) if not each[1].library]
        with QSignalBlocker(self._passes):
            self._passes.clear()
            for number, each in passes:
                self._passes.addItem(each.function, number)
            self._passes.setCurrentIndex(self._passes.findData(self._steps.number))
        self._passes.setVisible(len(passes) > 1)

    @Slot(int)
    def _make_room_for_tile(self, height: int) -> None:
        bar = self._tile_area.horizontalScrollBar().sizeHint().height()
        self._tile_area.setFixedHeight(min(height + bar, MAX_TILE_PX))

    # -- what the user does

    @Slot(int)
    def _pick_lane(self, lane: int) -> None:
        self._thread = self._thread // WARP * WARP + lane
        self._known = {}
        self._show()

    @Slot(object)
    def _pick_pixel(self, pixel: tuple[int, int]) -> None:
        """Look at the thread that stores a pixel of the part; of another block, record that."""
        assert self._steps is not None
        thread = self._steps.storing(pixel)
        if thread is None:
            self.pixel_wanted.emit((self._corner[0] + pixel[0], self._corner[1] + pixel[1]))
            return
        self._thread, self._known = thread, {}
        self.pictures.show_pixel(pixel)
        self._show()

    # -- its parts

    def _make_buttons(self) -> None:
        self._buttons = {}
        for name, text, keys, tip, do in (
            ("kernel-barrier-back", "|◀", "Shift+F6", "Behind the barrier before", (0, -1)),
            ("kernel-step-back", "◀", "Shift+F8", "A step back", (1, -1)),
            ("kernel-step-on", "▶", "F8", "A step on, all threads abreast", (1, 1)),
            ("kernel-barrier-on", "▶|", "F6", "Behind the next barrier", (0, 1)),
        ):
            button = make_button(name, text, f"{tip} ({keys})", tip)
            do_way = partial(self.go_on if do[0] else self.go_to_barrier, do[1])
            button.clicked.connect(lambda _=False, do_way=do_way: do_way())
            self._buttons[name] = button
        self._close = make_button("kernel-steps-close", "Close", "Back to the answer")
        self._close.clicked.connect(self.left)
        self._of_one = QCheckBox("This thread")
        self._of_one.setObjectName("kernel-step-of-one")
        self._of_one.setToolTip(tip_text(OF_ONE_TIP))
        self._passes = DropDown("kernel-step-pass", "Pass")
        self._passes.setToolTip("The function of the kernel that is walked through")
        self._passes.activated.connect(
            lambda index: self.pass_wanted.emit(self._passes.itemData(index))
        )
        self._tiles = DropDown("kernel-step-tile", "Array in shared memory")
        self._tiles.activated.connect(lambda _: self._show())
        self._numbers = QCheckBox("Numbers")
        self._numbers.setObjectName("kernel-step-numbers")
        self._numbers.setToolTip(tip_text(NUMBERS_TIP))

    def _lay_out(self) -> None:
        flow = Flow(SPACING_PX)
        for part in (*self._buttons.values(), self._of_one, self._passes):
            flow.addWidget(part)
        flow.setContentsMargins(0, 0, 0, 0)
        self._tile_head = QWidget()
        HBox(self._tile_head, 0, 8).add(
            Label("Shared memory", is_muted=True), self._tiles, self._numbers, 1
        )
        self._numbers.toggled.connect(self._tile.show_numbers)
        self._tile_area.setWidget(self._tile)
        self._tile_area.setWidgetResizable(True)
        self._tile_area.setFrameShape(QScrollArea.Shape.NoFrame)
        self._tile.fitted.connect(self._make_room_for_tile)
        tile = QWidget()
        VBox(tile, 0, 6).add(self._tile_head, self._tile_area, 1)
        self._memory = HBox(spacing=8)
        self._memory.add((self._variables, 1), (tile, 1))
        inside = QWidget()
        across = HBox(spacing=8)
        across.add((self._slider, 1), self._close)
        column = VBox(inside, (0, 4, 0, 0), 6)
        column.addLayout(flow)
        column.add(
            *(across, self._where, self._problem, self._does, self._lanes),
            *(self._memory, self._part, self.pictures, 1),
        )
        VBox(self, 0).add(UprightArea(inside))


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
