"""Kernels of the user's own in the Sweep panel, with a GPU that is made up and real processes."""

import pytest

from kernels import Engine
from kernels.pictures.generated import noise
from kernels.rungs.own_kernels import text_hash
from kernels.sweeps.session_files import SessionFile, read_session
from tests.kernels.cuda_child.bad_texts import text
from tests.kernels.cuda_child.conftest import use_fake_gpu
from tests.made_up import H200
from tests.workbench.driving import settle, show_picture, trigger, until
from tests.workbench.panels.sweep.test_sweeping import doing, ended, live, start
from workbench.session.kernel_folder import kernels_folder
from workbench.session.session_store import folder


@pytest.fixture
def gpu_window(qtbot, make_window, children, kernels, monkeypatch):
    """Makes windows with a GPU, and the kernels mine.cu and wrong.cu in the user's folder."""
    use_fake_gpu(monkeypatch, children)
    save(text())
    save(text(run="wrong"), "wrong.cu")

    def make():
        window = make_window(Engine)
        until(qtbot, lambda: window.device == H200 and window.kernel_folder.kernels)
        window.store.choose(implementation="opencv", ksize=3)
        show_picture(qtbot, window, noise(8, 8, 1))
        window.docks.enter("Sweep")
        return window

    return make


@pytest.fixture
def window(gpu_window):
    return gpu_window()


def save(source, name="mine.cu"):
    (kernels_folder() / name).write_text(source, encoding="utf-8")


def records(window):
    return {each.cell.implementation: each for each in live(window).records}


# -- measured


def test_they_are_measured_among_the_others_and_only_what_is_right_has_a_time(qtbot, window):
    start(window, "4, 8", "opencv", "mine.cu", "wrong.cu")
    ended(qtbot, window)
    assert doing(window).startswith("Done")
    session = live(window)
    assert len(session.records) == 6
    mine, wrong = records(window)["mine.cu"], records(window)["wrong.cu"]
    assert mine.verified.kernel.median_ms == pytest.approx(0.1)
    assert wrong.outcome.startswith("Its output is WRONG in ")
    assert {each.key: each.sha256 for each in session.plan.own_texts} == {
        "mine.cu": text_hash(text()),
        "wrong.cu": text_hash(text(run="wrong")),
    }
    (path,) = folder().glob("*.jsonl")
    kept = read_session(path)
    assert kept.plan == session.plan
    assert [each.cell for each in kept.records if each.verified][-1].text_sha256
    assert window.messages.kind != "error"


def test_the_ladder_is_measured_with_the_chosen_one(qtbot, window, monkeypatch):
    settle(qtbot, window, lambda: window.store.choose(implementation="mine.cu"))
    until(qtbot, lambda: window.live.result.kernel)
    rung, begin, asked = window.rung.get(), window.worker.sweep.start, []
    monkeypatch.setattr(window.worker.sweep, "start", lambda _: None)
    rung.ladder.measure_wanted.connect(asked.append)
    trigger(window, "Compare all implementations")
    assert {"opencv", "mine.cu"} <= {each.key for each in asked[0]}
    monkeypatch.setattr(window.worker.sweep, "start", begin)
    here = tuple(each for each in asked[0] if each.key in ("opencv", "mine.cu"))
    with qtbot.waitSignal(window.worker.sweep.ended) as end:  # without CuPy no rung runs
        rung.ladder.measure_wanted.emit(here)
    assert end.args == [None, True]
    places = window.rung.get().ladder.places
    mine = next(each for each in places if each and each.implementation.key == "mine.cu")
    assert mine.time.samples >= 10


def test_a_sweep_is_gone_on_with_only_while_the_text_is_the_same(qtbot, window):
    start(window, "4, 8", "mine.cu")
    ended(qtbot, window)
    whole = live(window)
    path = folder() / "left.jsonl"
    with SessionFile.create(path, whole.plan, whole.machine) as file:
        file.append(whole.records[0])
    window.sweep_controller.resume(path)
    until(qtbot, lambda: len(read_session(path).records) == 2)
    ended(qtbot, window)
    other = folder() / "other.jsonl"
    with SessionFile.create(other, whole.plan, whole.machine) as file:
        file.append(whole.records[0])
    save(f"{text()}// again\n")
    window.sweep_controller.resume(other)
    until(qtbot, lambda: "mine.cu has another text now" in window.messages.sentence)
    assert len(read_session(other).records) == 1
