"""A measured point brings back its picture and choices."""

from dataclasses import replace

import pytest
from PySide6.QtWidgets import QPushButton

from kernels.pictures.generated import noise
from kernels.sweeps.plan import Cell
from tests.workbench.driving import child, click, ready, settle, trigger, until
from tests.workbench.engines import MadeUpGpu

CELL = Cell(
    "opencv",
    filter="box",
    ksize=7,
    border="wrap",
    width=24,
    height=16,
    channels=3,
    pixel_type="uint8",
)


@pytest.fixture
def with_gpu(qtbot, make_window):
    return ready(qtbot, make_window(MadeUpGpu), noise(20, 30, 3))


def pick(qtbot, window, cell):
    return settle(qtbot, window, lambda: pick_until(qtbot, window, cell))


def pick_until(qtbot, window, cell):
    before = window.store.state
    window.sweep.get().chart.picked.emit(cell)
    until(qtbot, lambda: window.store.state is not before)


def open_until(qtbot, window):
    before = window.store.state.picture
    button = child(window.messages, "act", QPushButton)
    assert button.text().startswith("&Open noise ")
    click(button)
    until(qtbot, lambda: window.store.state.picture is not before)


def test_the_user_s_picture_stays_until_the_measured_one_is_asked_for(qtbot, with_gpu):
    mine = with_gpu.store.state.picture
    pick(qtbot, with_gpu, CELL)
    state = with_gpu.store.state
    assert state.picture is mine
    assert (state.filter, state.ksize, state.border) == ("box", 7, "wrap")
    assert "Measured on noise 24×16; your picture stays." in with_gpu.messages.sentence
    settle(qtbot, with_gpu, lambda: open_until(qtbot, with_gpu))
    assert with_gpu.store.state.picture.name == "noise 24×16"
    settle(qtbot, with_gpu, lambda: trigger(with_gpu, "Back to my picture"))
    assert with_gpu.store.state.picture is mine


def test_the_open_picture_stays_where_the_cell_measured_it(qtbot, with_gpu):
    picture = with_gpu.store.state.picture
    cell = replace(CELL, picture="made up.png", width=30, height=20)
    pick(qtbot, with_gpu, cell)
    assert with_gpu.store.state.picture is picture
    pick(qtbot, with_gpu, replace(cell, pixel_type="float32"))
    stored = with_gpu.store.state.picture
    assert str(stored.samples.dtype) == "float32"
    assert stored.as_in_file is picture.samples
    pick(qtbot, with_gpu, replace(cell, channels=1))
    assert with_gpu.store.state.picture.samples.shape == (20, 30, 1)


def test_what_cannot_run_here_is_told_and_the_rest_is_taken_over(qtbot, window):
    ready(qtbot, window, noise(20, 30))
    window.sweep.get().chart.picked.emit(replace(CELL, implementation="shared", block_xy=(16, 16)))
    until(qtbot, lambda: window.store.state.filter == "box")
    assert window.store.state.implementation == "opencv"
    assert "--no-gpu. Shown with OpenCV." in window.messages.sentence


def test_what_this_program_does_not_have_is_told(qtbot, with_gpu):
    pick(qtbot, with_gpu, replace(CELL, implementation="gone", block_xy=(8, 8)))
    assert with_gpu.messages.sentence.count("This program has no gone.") == 1
    before = with_gpu.store.state
    for cell in (
        replace(CELL, filter="gone"),
        replace(CELL, filter="gone", picture="theirs.png"),
        replace(CELL, filter="sobel_x", ksize=9, picture="theirs.png"),
    ):
        with_gpu.messages.clear()
        with_gpu.sweep.get().chart.picked.emit(cell)
        until(qtbot, lambda: with_gpu.messages.kind == "error")
    assert with_gpu.store.state == before
