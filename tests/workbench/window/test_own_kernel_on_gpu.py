"""A kernel of the user's own in the window with a GPU, which is made up: verified, then timed."""

import pytest

from kernels import Engine
from kernels.pictures.generated import noise
from tests.kernels.cuda_child.bad_texts import text
from tests.kernels.cuda_child.conftest import children_of
from tests.made_up import H200
from tests.workbench.driving import child, until
from workbench.files.kernel_files import kernels_folder
from workbench.model.state import Picture
from workbench.panels.rung.ladder_list import PLACE, LadderList
from workbench.panels.timing.timing_words import filter_time


@pytest.fixture(scope="module")
def children():
    made = children_of("fake")
    yield made
    made.end(60)


@pytest.fixture
def window(qtbot, make_window, children, home, monkeypatch):
    """A window that filters with the user's own kernel, on a picture, with a GPU."""
    monkeypatch.setattr("kernels.cuda_child.gpu_trial.MIN_DEADLINE_S", 60.0)
    monkeypatch.setattr("kernels.engine.engine.probe", lambda _: H200)
    monkeypatch.setattr("kernels.engine.own_run.cuda_children", lambda _: children)
    folder = home / "kernels"
    folder.mkdir()
    monkeypatch.setenv("FILTER_WORKBENCH_KERNELS", str(folder))
    (folder / "mine.cu").write_text(text(), encoding="utf-8")
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
    assert str(result.ran[0]) == "mine.cu on NVIDIA H200"
    assert filter_time(result).text == "100\u202fµs"
    assert [(each.name, each.median_ms) for each in window.runs.runs] == [
        ("mine.cu 32×8", pytest.approx(0.1))
    ]


def test_before_the_time_is_known_the_verdict_is(qtbot, window):
    seen = []
    window.live.after_ready.connect(lambda result, _: seen.append(result))
    save(qtbot, window, f"{text()}// again\n", window.live.settled)
    assert all(each.check is not None for each in seen)
    assert next(each.kernel is None for each in seen if each.check.ok)
    assert seen[-1].kernel is not None


def test_a_wrong_answer_is_shown_and_has_no_time(qtbot, window):
    result = save(qtbot, window, text(run="wrong"), window.live.settled)
    assert result.check.wrong > 0
    assert result.kernel is None
    assert filter_time(result).detail == "no time without a right answer"
    assert window.live.shown is not None


@pytest.mark.parametrize(
    ("source", "words"),
    [
        (text(run="nothing"), "mine.cu: 27,000 samples were never written"),
        (text(run="right_at_first"), "mine.cu: "),
        (text(run="crash"), "mine.cu: The process that runs kernels on the GPU crashed"),
        (text(compile="error"), 'mine.cu: Line 8: identifier "heigth" is undefined.'),
    ],
    ids=["nothing", "cheat", "crash", "compile"],
)
def test_what_goes_wrong_ends_the_child_alone(qtbot, window, source, words):
    good = window.live.result
    sentence = save(qtbot, window, source, window.live.refused)
    assert words in sentence
    assert window.live.result.kernel is None or window.live.result is good
    result = save(qtbot, window, text(), window.live.settled)
    assert result.kernel is not None


def test_its_time_stands_on_the_ladder_until_its_text_is_another(qtbot, window):
    window.docks.enter("Implementation")
    window.rung.get().show_tab("ladder")
    line = places(window)["mine.cu"]
    assert line.time.median_ms == pytest.approx(0.1)
    assert (line.time.block_xy, line.reason) == ((32, 8), None)
    save(qtbot, window, text(compile="error"), window.live.refused)
    assert places(window)["mine.cu"].time is None


def test_a_text_that_had_a_time_before_has_it_again(qtbot, window):
    window.docks.enter("Implementation")
    window.rung.get().show_tab("ladder")
    save(qtbot, window, text(run="crash"), window.live.refused)
    assert places(window)["mine.cu"].time is None
    window.live.settled.emit(window.live.result)  # what ran before comes to its end late
    assert places(window)["mine.cu"].time is None
    save(qtbot, window, text(), window.live.settled)
    assert places(window)["mine.cu"].time.median_ms == pytest.approx(0.1)


def places(window):
    """The lines of the ladder by key."""
    rows = child(window, "ladder-list", LadderList)
    found = [rows.item(row).data(PLACE) for row in range(rows.count())]
    return {each.implementation.key: each for each in found if each}
