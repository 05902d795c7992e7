"""The Kernel panel with a real compiler: what is typed runs, on this computer's CPU."""

import errno

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QAction
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QCheckBox, QLabel, QPushButton, QTableWidget, QToolButton

from kernels import filters
from kernels.cuda_on_cpu import confinement
from kernels.cuda_on_cpu.compiler import why_not
from kernels.oracle.reference import filtered
from kernels.pictures.generated import noise
from tests.kernels.cuda_on_cpu.bad_kernels import START, STORE
from tests.workbench.driving import (
    answer_file_dialogs,
    child,
    click,
    settle,
    show_picture,
    trigger,
    until,
)
from tests.workbench.panels.kernel.made_up_trials import (
    editor,
    in_view,
    text_of,
    tried,
    with_kernel,
    words,
    write,
)
from workbench.panels.anatomy.launch_parts import LaneGrid
from workbench.panels.compare.picture_view import PictureView
from workbench.panels.kernel.step_view import StepView, TileView
from workbench.panels.kernel.trying import Trying

pytestmark = pytest.mark.skipif(why_not() is not None, reason=str(why_not()))
BARRIER = "    __syncthreads();"


@pytest.fixture
def window(qtbot, make_window):
    return with_kernel(qtbot, make_window(), noise(24, 40, 1), ksize=3)


def line_of(text, part):
    return text[: text.index(part)].count("\n") + 1


def test_a_kernel_that_cannot_be_confined_runs_only_where_the_user_says_so(
    qtbot, window, monkeypatch
):
    monkeypatch.setenv(confinement.ALLOWING_VARIABLE, "")  # so that it is as before afterwards
    monkeypatch.delenv(confinement.ALLOWING_VARIABLE)
    monkeypatch.setattr(confinement, "_prctl", lambda *_: errno.EINVAL)
    write(qtbot, window, text_of("shared"))
    assert "seccomp" in words(window, "kernel-foreign-sentence")
    assert words(window, "kernel-verdict").startswith("Of the last text that ran: ")
    click(child(window, "kernel-foreign-0"))
    tried(qtbot, window)
    assert words(window, "kernel-foreign-sentence") == ""
    assert "✓ Verified on the whole picture" in words(window, "kernel-verdict")


def test_why_a_new_kernel_is_wrong_is_told_and_its_picture_is_the_result_if_wanted(
    qtbot, window, home, monkeypatch
):
    assert "✓ Verified on the whole picture" in words(window, "kernel-verdict")
    assert "flipped weights would pass" in words(window, "kernel-verdict")
    assert "transposed" in child(window, "kernel-verdict").toolTip()
    show_picture(qtbot, window, noise(512, 768, 3))
    settle(qtbot, window, lambda: window.store.choose(filter="sobel_x"))
    plain = editor(window).toPlainText()
    write(qtbot, window, plain.replace("[j * KSIZE + i]", "[i * KSIZE + j]"))
    told = "Right if the weights are transposed"
    assert f" pixels at (258, 162). {told}. The worst, at " in words(window, "kernel-verdict")
    for size, lines in {(1024, 640): 13, (1280, 720): 20}.items():
        window.resize(*size)
        qtbot.wait(100)
        verdict = child(window, "kernel-verdict", QLabel)
        assert verdict.visibleRegion().boundingRect() == verdict.rect()  # no scrolling
        assert in_view(editor(window)) >= lines
    trigger(window, "Find the bug in the kernel")
    tried(qtbot, window)
    assert words(window, "kernel-problem").startswith(f"{told}. Line 39: ")
    assert "rows and columns count from there" in words(window, "kernel-status")
    go = child(window, "kernel-go-to-line")
    assert go.visibleRegion().boundingRect() == go.rect()  # nor for what follows

    answer_file_dialogs(monkeypatch, home / "mine.cu")  # elsewhere than in the user's folder
    trigger(window, "Filter with the kernel")
    until(qtbot, lambda: window.store.state.implementation == "mine.cu")
    until(qtbot, lambda: window.live.of_view and told in str(window.live.of_view[1].check))
    until(qtbot, lambda: "unverified" in window.compare.main.caption)
    _, result, _ = window.live.of_view
    right = filtered(result.job.but(weights=result.job.correlation.weights.T.copy()))
    assert np.array_equal(result.picture, right.astype(np.float32))
    saved = home / "saved.tif"
    asked = answer_file_dialogs(monkeypatch, saved)
    trigger(window, "Save result as…")
    until(qtbot, saved.is_file)
    assert "unverified" in str(asked)
    window.findChild(QAction, "Undo").trigger()
    assert window.store.state.implementation != "mine.cu"


@pytest.mark.parametrize(
    ("key", "choices", "after"),
    [
        pytest.param("sobel_x", {}, "", marks=pytest.mark.nightly),
        ("median", {}, ""),
        pytest.param("bilateral", {}, "bilateral_taps", marks=pytest.mark.nightly),
        ("opening", {"is_disk": True}, "morphology_disk"),
    ],
)
def test_a_new_kernel_is_right_for_the_chosen_filter(qtbot, window, key, choices, after):
    settle(qtbot, window, lambda: window.store.choose(filter=key, **choices))
    tried(qtbot, window)
    if key == "median":  # the plain kernel stands there still
        said = "choose a filter with weights, or New ▸ My median."
        assert words(window, "kernel-status").endswith(said)
        assert words(window, "kernel-problem") == ""
    child(window, "kernel-new", QToolButton).menu().actions()[0].trigger()
    tried(qtbot, window)
    assert words(window, "kernel-problem") == ""
    assert "✓ Verified on the whole picture" in words(window, "kernel-verdict")
    assert f'after   = "{after}"' in editor(window).toPlainText() or not after
    assert window.store.state.filter == key


def test_from_the_plain_kernel_over_an_error_to_a_race_that_is_found(qtbot, window):
    text = text_of("shared")
    write(qtbot, window, text)
    assert "✓ Verified on the whole picture" in words(window, "kernel-verdict")
    assert child(window, "kernel-answer", PictureView).display is not None
    counted = "9 multiply-adds per sample"  # rows are shown once the layout has them
    until(qtbot, lambda: words(window, "kernel-count-operations") == counted)
    assert words(window, "kernel-count-bank-conflicts") == "none"
    edit = editor(window)
    edit.make_counts_visible(True)
    assert edit.counted_lines()[line_of(text, "= to_sample(sum)") - 1] == "1 B"
    edit.make_counts_visible(False)

    wrong = text.replace("float sum = OFFSET;", "float sum = OFSET;")
    write(qtbot, window, wrong)
    line = line_of(wrong, "OFSET")
    assert words(window, "kernel-problem").startswith(f"Line {line}: ")
    assert "OFSET" in words(window, "kernel-problem")
    assert "?." not in words(window, "kernel-problem")  # g++ asks whether OFFSET was meant
    assert editor(window).marked_lines()[line - 1] == "error"
    assert "✓ Verified" in words(window, "kernel-verdict")  # of the text before
    show_picture(qtbot, window, noise(300, 400))  # so large that a part of it is searched
    trigger(window, "Find the bug in the kernel")
    tried(qtbot, window)
    assert "OFSET" in words(window, "kernel-problem")
    assert "pixels" not in words(window, "kernel-status")  # nothing ran

    racy = text.replace(BARRIER, "    //")
    write(qtbot, window, racy)
    trigger(window, "Find the bug in the kernel")
    tried(qtbot, window)
    assert "thread" in words(window, "kernel-problem")
    assert list(editor(window).marked_lines().values()) == ["bug"]

    write(qtbot, window, text)
    trigger(window, "Find the bug in the kernel")
    tried(qtbot, window)
    assert "blocks of 32×8, 16×4, 8×8;" in words(window, "kernel-status")  # and no others

    only_wide = text.replace(BARRIER, "    if (BLOCK_X > 16) __syncthreads();")
    write(qtbot, window, only_wide)
    assert "✓ Verified" in words(window, "kernel-verdict")
    trigger(window, "Find the bug in the kernel")
    tried(qtbot, window)
    assert "With blocks of 16×4: " in words(window, "kernel-problem")
    assert "✓" not in words(window, "kernel-verdict")


@pytest.mark.parametrize(
    ("title", "key", "right", "wrong"),
    [
        ("My median", "median", "? low :", "? low + 1 :"),
        pytest.param(
            *("My dilation", "maximum", "fmaxf(greatest", "fminf(greatest"),
            marks=pytest.mark.nightly,
        ),
    ],
)
def test_a_whole_kernel_brings_its_filter_and_is_held_against_that(
    qtbot, window, title, key, right, wrong
):
    before, said = window.store.state.filter, set()
    trying = window.findChild(Trying)
    trying.asked_for.connect(lambda asked: said.add(asked.job.title) if asked else None)
    menu = child(window, "kernel-new", QToolButton).menu()
    next(each for each in menu.actions() if each.text() == title).trigger()
    tried(qtbot, window)
    assert window.store.state.filter == key
    assert said == {filters.get(key).title}  # and of no job before that
    assert "✓ Verified on the whole picture" in words(window, "kernel-verdict")

    text = editor(window).toPlainText()
    assert text.count(right) == 1
    write(qtbot, window, text.replace(right, wrong))
    assert "✗ Wrong in" in words(window, "kernel-verdict")

    write(qtbot, window, text)
    window.findChild(QAction, "Undo").trigger()
    tried(qtbot, window)
    assert window.store.state.filter == before
    assert "asks for weighted sums; choose such a filter" in words(window, "kernel-status")
    assert words(window, "kernel-problem") == ""  # nothing was typed wrong

    bare = text.partition("---*/")[2]  # without a header the step decides
    write(qtbot, window, bare)
    assert "✗ Wrong in" in words(window, "kernel-verdict")
    window.store.choose(filter=key)
    tried(qtbot, window)
    assert "✓ Verified on the whole picture" in words(window, "kernel-verdict")


# -- stepping: a block is recorded, and walked by buttons and keys


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
