"""A walk through a block of the kernel, step by step, forwards and back."""

from __future__ import annotations

from collections.abc import Sequence

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
from workbench.panels.kernel.tile_view import (
    LaneRow,
    TileView,
    lane_state,
    step_words,
    thread_words,
)
from workbench.panels.kernel.trial_view import AnswerPair
from workbench.panels.kernel.trial_words import part_words
from workbench.session.kernel_trial import Followed
from workbench.widgets.boxes import Flow, HBox, UprightArea, VBox
from workbench.widgets.buttons import make_button
from workbench.widgets.drop_down import DropDown
from workbench.widgets.number_boxes import JumpSlider
from workbench.widgets.tile import words_label

SIDE_BY_SIDE_PX = 400  # from this width on variables and shared memory stand beside each other
ROWS_SEEN = 6  # of variables
MAX_TILE_PX = 420  # high; beyond, it scrolls
OF_ONE_TIP = "Go only to steps that the chosen thread takes part in"
NUMBERS_TIP = "Write the numbers into the cells"
WHERE = "Recorded on {part}. Click on a picture: the block and the thread that store that pixel."


class StepView(QWidget):
    """Buttons and a slider for the step; lanes, variables and the tile at it.

    steps  those of the block
    step   the one in view, from 0

    Signals:
        line_shown(line): the step in view is at this line of the source.
        left(): the user closed it.
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
        self.steps: BlockSteps | None = None
        self._corner = (0, 0)
        self.step = self._thread = 0
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

    @Slot(int)
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

    # -- what is shown

    def _show(self, steps: BlockSteps) -> None:
        step, thread = self.step, self._thread
        self._where.setText(step_words(steps, step))
        self._does.setText(thread_words(steps, step, thread))
        first = thread // WARP * WARP
        here = set(steps.threads_at(step).tolist())
        lanes = [lane_state(steps, step, n, n in here) for n in range(first, first + WARP)]
        self._lanes.show_lanes(lanes, thread % WARP)
        self._show_variables(steps.variables(step, thread))
        tiles = steps.tiles(step)
        chosen = max(self._tiles.currentIndex(), 0)
        self._tile.show_tile(tiles[chosen] if chosen < len(tiles) else None)
        for name, button in self._buttons.items():
            button.setEnabled(step > 0 if name.endswith("back") else step < steps.count - 1)
        self.line_shown.emit(steps.point(step).line)

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
        passes = [each for each in enumerate(followed.rung.passes) if not each[1].library]
        with QSignalBlocker(self._passes):
            self._passes.clear()
            for number, each in passes:
                self._passes.addItem(each.function, number)
            self._passes.setCurrentIndex(self._passes.findData(number))
        self._passes.setVisible(len(passes) > 1)

    @Slot(int)
    def _make_room_for_tile(self, height: int) -> None:
        bar = self._tile_area.horizontalScrollBar().sizeHint().height()
        self._tile_area.setFixedHeight(min(height + bar, MAX_TILE_PX))

    # -- what the user does

    @Slot(int)
    def _pick_lane(self, lane: int) -> None:
        self._choose_thread(self._thread // WARP * WARP + lane)

    @Slot(object)
    def _pick_pixel(self, pixel: tuple[int, int]) -> None:
        """Look at the thread that stores a pixel of the part; of another block, record that."""
        thread = self.steps.storing(pixel) if self.steps else None
        if thread is None:
            self.pixel_wanted.emit((self._corner[0] + pixel[0], self._corner[1] + pixel[1]))
            return
        self.pictures.show_pixel(pixel)
        self._choose_thread(thread)

    def _choose_thread(self, thread: int) -> None:
        self._thread, self._known = thread, {}
        self.go_to(self.step)

    # -- its parts

    def _make_buttons(self) -> None:
        self._buttons = {}
        barrier, step = self.go_to_barrier, self.go_on
        for name, text, keys, tip, go, way in (
            ("kernel-barrier-back", "|◀", "Shift+F6", "Behind the barrier before", barrier, -1),
            ("kernel-step-back", "◀", "Shift+F8", "A step back", step, -1),
            ("kernel-step-on", "▶", "F8", "A step on, all threads abreast", step, 1),
            ("kernel-barrier-on", "▶|", "F6", "Behind the next barrier", barrier, 1),
        ):
            button = make_button(name, text, f"{tip} ({keys})", tip)
            button.clicked.connect(lambda _=False, go=go, way=way: go(way))
            self._buttons[name] = button
        self._close = make_button("kernel-steps-close", "Close", "Back to the answer")
        self._close.clicked.connect(self.left)
        self._of_one = _box("kernel-step-of-one", "This thread", OF_ONE_TIP)
        self._passes = DropDown("kernel-step-pass", "Pass")
        self._passes.setToolTip("The function of the kernel that is walked through")
        self._passes.activated.connect(
            lambda index: self.pass_wanted.emit(self._passes.itemData(index))
        )
        self._tiles = DropDown("kernel-step-tile", "Array in shared memory")
        self._tiles.activated.connect(lambda _: self.go_to(self.step))
        self._numbers = _box("kernel-step-numbers", "Numbers", NUMBERS_TIP)

    def _lay_out(self) -> None:
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
        buttons = Flow(4, *self._buttons.values(), self._of_one, self._passes)
        VBox(inside, (0, 4, 0, 0), 6).add(
            *(buttons, across, self._where, self._problem, self._does, self._lanes),
            *(self._memory, self._part, self.pictures, 1),
        )
        VBox(self, 0).add(UprightArea(inside))


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
