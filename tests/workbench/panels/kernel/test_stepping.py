"""Stepping through a kernel in the window: a block is recorded, and walked by buttons and keys."""

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QCheckBox, QPushButton, QTableWidget, QToolButton

from kernels.cuda_on_cpu.compiler import why_not
from kernels.cuda_on_cpu.stepping import Tile
from kernels.pictures.generated import noise
from tests.kernels.cuda_on_cpu.bad_kernels import START, STORE
from tests.workbench.driving import child, click, settle, trigger, until
from tests.workbench.panels.kernel.made_up_trials import (
    editor,
    text_of,
    tried,
    with_kernel,
    words,
    write,
)
from workbench.panels.anatomy.launch_parts import LaneGrid
from workbench.panels.kernel.step_view import StepView, TileView

pytestmark = pytest.mark.skipif(why_not() is not None, reason=str(why_not()))


@pytest.fixture
def window(qtbot, make_window):
    return with_kernel(qtbot, make_window(), noise(24, 40, 1), ksize=3)


def begin(qtbot, window, key):
    text = text_of(key)
    write(qtbot, window, text)
    click(child(window, "kernel-step-through", QPushButton))
    until(qtbot, lambda: window.kernel.get().is_stepping)
    return text


def press(window, name):
    click(child(window, name, QToolButton))


def variables(window):
    table = child(window, "kernel-variables", QTableWidget)
    return {table.item(row, 0).text(): table.item(row, 1).text() for row in range(table.rowCount())}


def line(window):
    return editor(window).step_line


def test_a_block_is_walked_forwards_and_back_and_behind_the_barrier_the_tile_is_full(qtbot, window):
    text = begin(qtbot, window, "shared")
    edit = editor(window)
    assert "__global__" in text.split("\n")[line(window) - 1]
    press(window, "kernel-step-on")
    assert "const int x0" in text.split("\n")[line(window) - 1]
    trigger(window, "Next step")
    assert "const int y0" in text.split("\n")[line(window) - 1]
    assert "x0" in variables(window)
    assert "y0" not in variables(window)
    trigger(window, "Step back")
    assert "x0" not in variables(window)
    assert words(window, "kernel-step-words").startswith("Step 2 of ")
    QTest.keyClick(edit, Qt.Key.Key_F8)
    assert words(window, "kernel-step-words").startswith("Step 3 of ")
    tile = child(window, "kernel-tile", TileView)
    assert "0 of 340 stored" in tile.accessibleDescription()
    press(window, "kernel-barrier-on")
    assert "barriers passed: 1" in words(window, "kernel-step-words")
    assert "340 of 340 stored" in tile.accessibleDescription()
    press(window, "kernel-barrier-back")
    assert words(window, "kernel-step-words").startswith("Step 1 of ")
    child(window, "kernel-step-numbers", QCheckBox).click()
    cell = tile.model().index(0, 0)
    assert "row 0, column 0: not stored yet" in cell.data(Qt.ItemDataRole.ToolTipRole)
    press(window, "kernel-barrier-on")
    assert float(cell.data()) >= 0


def test_lanes_show_what_they_load_and_a_click_chooses_one(qtbot, window):
    text = begin(qtbot, window, "shared")
    staging = text[: text.index("tile[at] =")].count("\n") + 1
    while line(window) != staging:
        trigger(window, "Next step")
    row = child(window, "kernel-lanes", LaneGrid)
    assert all(each.text.startswith("↑") for each in row.cells)
    assert " to tile, row " in words(window, "kernel-thread-words")
    QTest.mouseClick(row.viewport(), Qt.MouseButton.LeftButton, pos=row.cell(5).center())
    assert ", lane 5 of warp " in words(window, "kernel-thread-words")
    assert int(variables(window)["thread"]) % 32 == 5

    # another pixel is another thread or another block
    steps = child(window, "kernel-steps", StepView)
    before = steps.steps
    steps.pictures.picked.emit((20, 8))
    assert steps.steps is before
    assert f"Thread {(20, 0)}" in words(window, "kernel-thread-words")
    window.compare.picked.emit((39, 23))
    until(qtbot, lambda: window.kernel.get().is_stepping and steps.steps is not before)
    assert f"of block {(1, 2)}" in words(window, "kernel-step-words")
    assert f"Thread {(7, 7)}" in words(window, "kernel-thread-words")


def test_another_pixel_leaves_the_chosen_pass_as_it_is(qtbot, window):
    begin(qtbot, window, "separable")
    steps = child(window, "kernel-steps", StepView)
    walk, pick = steps.walk_wanted.emit, steps.pictures.picked.emit
    for act, at in (
        (walk, (None, 0)),
        (pick, ((39, 23),)),
        (window.compare.picked.emit, ((1, 1),)),
    ):
        before = steps.steps
        act(*at)
        until(qtbot, lambda: steps.steps is not before)  # noqa: B023
        assert steps.steps.number == 0


def test_cells_are_as_large_with_a_scroll_bar_as_without(qtbot):
    qtbot.addWidget(view := TileView())
    view.show()
    nowhere, sizes = np.zeros((0, 2), np.int64), set()
    for rows in (5, 100):
        view.show_tile(Tile("tile", np.zeros((rows, 10)), nowhere, nowhere))
        view.resize(215, view.height())
        sizes.add(view.columnWidth(0))
    assert len(sizes) == 1


def test_what_cannot_be_stepped_through_is_said(qtbot, window):
    edit = editor(window)
    edit.begin_with(edit.toPlainText().replace("const int x", "const integer x"))
    trigger(window, "Begin stepping")
    tried(qtbot, window)
    assert not window.kernel.get().is_stepping
    assert "integer" in words(window, "kernel-problem")


# Each row of threads is a warp, which stores one row of the tile and reads the one below.
RACE = "__shared__ float tile[8][32];\n    tile[threadIdx.y][threadIdx.x] = x;\n    {barrier}\n"
RACE += "    float sum = tile[(threadIdx.y + 1) % 8][threadIdx.x];\n"
BANKS = (
    "__shared__ float all[32][32];\n    all[threadIdx.x][threadIdx.y] = x;\n    float sum = 1;\n"
)


def walk_to(qtbot, window, body, line_words):
    """Step through a kernel that begins with `body`, to the line with these words."""
    text = START.format(before="", body=f"    {body}{STORE}")
    write(qtbot, window, text)
    click(child(window, "kernel-step-through", QPushButton))
    until(qtbot, lambda: window.kernel.get().is_stepping)
    wanted = text[: text.index(line_words)].count("\n") + 1
    while line(window) != wanted:
        trigger(window, "Next step")
    return wanted - 1


def marked(grid):
    return sum(cell.is_marked for cell in grid.cells)


def test_a_race_is_marked_at_its_line_and_in_all_warps_and_one_with_a_barrier_is_not(qtbot, window):
    racing = walk_to(qtbot, window, RACE.format(barrier=""), "float sum")
    warps, lanes = (child(window, f"kernel-{name}", LaneGrid) for name in ("warps", "lanes"))
    edit = editor(window)
    assert (warps.rowCount(), marked(warps), marked(lanes)) == (8, 256, 32)
    assert edit.marked_lines() == {racing: "step"}
    window.resize(1280, 720)
    marks = child(window, "kernel-step-marks")
    needed_px = marks.heightForWidth(marks.width())
    until(qtbot, lambda: marks.visibleRegion().boundingRect().height() >= needed_px)
    assert "256 threads" in words(window, "kernel-step-marks") == edit.sentence_at(racing)
    pos = warps.cell(3 * 32 + 5).center()
    QTest.mouseClick(warps.viewport(), Qt.MouseButton.LeftButton, pos=pos)
    rival = f"thread {(5, 4)}, which stores in line {racing - 1}"
    assert rival in lanes.item(0, 5).toolTip()
    assert rival in words(window, "kernel-thread-words")
    QTest.keyClick(warps, Qt.Key.Key_Down)
    assert ", lane 5 of warp 4," in words(window, "kernel-thread-words")
    walk_to(qtbot, window, RACE.format(barrier="__syncthreads();"), "float sum")
    assert (marked(warps), edit.marked_lines()) == (0, {})
    assert child(window, "kernel-step-marks").isHidden()


def test_bank_conflicts_are_marked_and_their_turns_said(qtbot, window):
    settle(qtbot, window, lambda: window.store.choose(block_xy=(32, 2)))
    at = walk_to(qtbot, window, BANKS, "all[threadIdx.x]")
    warps = child(window, "kernel-warps", LaneGrid)
    assert marked(warps) == 64
    assert "32 turns" in editor(window).sentence_at(at)
    assert "32 turns" in warps.item(1, 7).toolTip()
    walk_to(qtbot, window, BANKS.replace("all[32][32]", "all[32][33]"), "all[threadIdx.x]")
    assert marked(warps) == 0


def test_tile_and_halo_are_on_the_picture_while_a_block_is_walked(qtbot, window):
    paint = window.compare.main.grab
    before = paint().toImage()
    begin(qtbot, window, "shared")
    assert (walking := paint().toImage()) != before
    window.compare.picked.emit((39, 23))  # of another block
    until(qtbot, lambda: f"block {(1, 2)}" in words(window, "kernel-step-words"))
    assert paint().toImage() not in (before, walking)
    press(window, "kernel-steps-close")
    assert paint().toImage() == before
