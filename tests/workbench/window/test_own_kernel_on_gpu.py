"""A kernel of the user's own in the window with a GPU, which is made up: verified, then timed."""

import pytest
from PySide6.QtWidgets import QLabel

from kernels import Engine
from kernels.pictures.generated import noise
from tests.kernels.cuda_child.bad_texts import text
from tests.kernels.cuda_child.conftest import use_fake_gpu
from tests.made_up import H200
from tests.workbench.driving import child, settle, until
from tests.workbench.panels.rung.test_rung_panel import places
from workbench.base.numbers import MISSING
from workbench.imaging.pictures import Picture
from workbench.panels.timing.timing_words import compiling, filter_time, upload
from workbench.session.kernel_folder import kernels_folder


@pytest.fixture
def window(qtbot, make_window, children, kernels, monkeypatch):
    """A window that filters with the user's own kernel, on a picture, with a GPU."""
    use_fake_gpu(monkeypatch, children)
    (kernels / "mine.cu").write_text(text(), encoding="utf-8")
    window = make_window(Engine)
    window.store.choose(implementation="mine.cu", ksize=3, border="wrap")
    until(qtbot, lambda: window.device == H200)
    with qtbot.waitSignal(window.live.settled):
        window.opener.opened.emit(Picture("made up.png", noise(100, 90, 3)))
    return window


def save(qtbot, window, source, signal):
    with qtbot.waitSignal(signal) as told:
        (kernels_folder() / "mine.cu").write_text(source, encoding="utf-8")
    return told.args[0]


def test_it_is_timed_once_its_answer_is_verified(window):
    result = window.live.result
    assert result.check.ok
    assert result.kernel.median_ms == pytest.approx(0.1)
    assert result.device_name == "NVIDIA H200"
    launch = "mine.cu on NVIDIA H200, grid 9×13, block 32×8, 40 registers, 0 B shared"
    assert [str(each) for each in result.ran] == [launch]
    assert (upload(result).text, compiling(result).text) == (MISSING, "1.00\u202fms")
    assert filter_time(result).text == "100\u202fµs"
    assert [(each.name, each.median_ms) for each in window.runs.runs] == [
        ("mine.cu 32×8", pytest.approx(0.1))
    ]


def test_its_time_stands_on_the_ladder_until_its_text_is_another(qtbot, window):
    window.docks.enter("Implementation")
    window.rung.get().show_tab("ladder")
    line = places(window)["mine.cu"]
    assert line.time.median_ms == pytest.approx(0.1)
    assert (line.time.block_xy, line.reason) == ((32, 8), None)
    assert "Registers: those of 32×8 threads." in line.in_words
    save(qtbot, window, text(compile="error"), window.live.refused)
    assert places(window)["mine.cu"].time is None


# -- its block shapes


def blocks_of(qtbot, window):
    """What the panel Blocks says of each shape, once it knows."""
    window.docks.enter("Blocks")
    panel = window.docks.panel("Blocks").get()
    panel.picks.restore({"presets": False, "own": "32×8, 16×16"})
    panel.picks.changed.emit()
    names = ["32×8", "16×16"]
    until(
        qtbot,
        lambda: (
            [row.name for row in panel.rows] == names
            and all(row.state != "waiting" for row in panel.rows)
        ),
    )
    return panel


def test_its_block_shapes_are_timed_in_its_own_process(qtbot, window):
    panel = blocks_of(qtbot, window)
    assert child(panel, "blocks-subject", QLabel).text() == "Block shapes compared: mine.cu"
    assert [row.state for row in panel.rows] == ["fine", "fine"]
    assert [row.ms[1] for row in panel.rows] == pytest.approx([0.1, 0.1])
    assert panel.rows[0].is_current
    assert "mine.cu on NVIDIA H200" in panel.rows[0].text
    assert [row.occupancy for row in panel.rows] == [0.25, 0.25]
    assert "occupancy 25\u202f%: Registers: those of 16×16 threads." in panel.rows[1].text
    result = settle(qtbot, window, lambda: panel.chart.picked.emit((16, 16)))
    assert (result.implementation, result.job.block_xy) == ("mine.cu", (16, 16))


def test_no_block_shape_has_a_time_without_a_right_answer(qtbot, window):
    panel = blocks_of(qtbot, window)
    for run, state, words in (
        ("wrong", "wrong", "is WRONG"),
        ("keep_the_answer", "refused", "with which it was timed"),
    ):
        save(qtbot, window, text(run=run), window.store.changed)
        until(qtbot, lambda state=state: [row.state for row in panel.rows] == [state, state])
        assert all(row.ms is None and words in row.text for row in panel.rows)
