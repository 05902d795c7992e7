"""Tuning in the window: its dialog, its progress, cancelling it, and what Auto makes of it."""

import pytest
from PySide6.QtWidgets import QDialogButtonBox, QLabel, QProgressBar
from shiboken6 import isValid

from kernels.core.job_class import JobClass
from kernels.engine.auto import AUTO
from kernels.engine.measurements import Candidate
from kernels.measuring.tuner import Trial, Tuning
from kernels.pictures import generated
from tests.workbench.driving import child, click, settle, show_picture, trigger, until, view
from tests.workbench.engines import MadeUpGpu
from workbench.panels.controls.block_numbers import BlockNumbers
from workbench.window.tune_dialog import TuneDialog

KIND = JobClass("uint8", 1, 5, "separable", "clamp", 12)


@pytest.fixture
def window(make_window, qtbot):
    """A window on a made-up GPU with a small picture."""
    made = make_window(MadeUpGpu)
    until(qtbot, lambda: made.device is not None)
    show_picture(qtbot, made, generated.noise(24, 32))
    return made


@pytest.fixture
def dialog(qtbot):
    made = TuneDialog("Gaussian blur 5×5")
    made.show()
    yield made
    if isValid(made):  # closed, it goes
        made.close()


def trial(key, ms, block_xy=(32, 8)):
    outcome = Candidate(key, block_xy, ms, ms, ms) if isinstance(ms, float) else ms
    return Trial(KIND, key, block_xy, outcome)


def text(dialog, name):
    label = child(dialog, name, QLabel)
    return getattr(label, "whole_text", label.text())


def test_the_dialog_shows_what_is_under_way_and_the_quickest_so_far(dialog):
    dialog.show_step(Tuning(1, 1, 3, 12, "shared 32×8"))
    bar = child(dialog, "tune-progress", QProgressBar)
    assert (bar.value(), bar.maximum()) == (3, 12)
    assert text(dialog, "tune-doing") == "shared 32×8"
    for step in (trial("global", 2.0), trial("shared", 1.0, (64, 4)), trial("constant", "No.")):
        dialog.show_step(step)
    lines = text(dialog, "tune-best").splitlines()
    assert lines[1].endswith("Shared-memory tile 64×4")
    assert lines[2].endswith("Global memory 32×8")
    dialog.show_end(True)
    assert text(dialog, "tune-doing") == (
        "Done: 2 ways measured, 1 left out as wrong or far too slow."
    )


@pytest.mark.parametrize(("is_over", "told"), [(False, 1), (True, 0)])
def test_closing_the_dialog_stops_what_is_under_way(is_over, told, dialog):
    cancelled = []
    dialog.cancelled.connect(lambda: cancelled.append(True))
    if is_over:
        dialog.show_end(True)
    dialog.reject()
    assert len(cancelled) == told


def test_auto_is_the_first_choice_and_says_what_it_ran(window):
    assert window.store.state.implementation == AUTO.key
    result = window.live.result
    assert result.picked is not None
    window.docks.enter("Timing")
    ran = text(window, "ran")
    x, y = result.block_xy
    assert ran.startswith(f"auto: {result.implementation} {x}×{y} (not measured here yet")
    assert "Auto: " in view(window, "After").caption


def test_auto_leaves_the_block_shape_to_itself(window, qtbot):
    picker = window.controls.get().findChild(BlockNumbers)
    assert not picker.isEnabled()
    assert "Auto picks" in picker.toolTip()
    settle(qtbot, window, lambda: window.store.update(implementation="shared"))
    assert picker.isEnabled()


def heard(signal):
    """What `signal` says from now on.  Nobody disconnects: PySide 6.11 may crash where that is done
    while a thread goes on emitting, as qtbot.waitSignal would."""
    said = []
    signal.connect(lambda *words: said.append(words))
    return said


def begin_tuning(window, qtbot):
    steps = heard(window.worker.tuning_stepped)
    trigger(window, "Tune for this job…")
    until(qtbot, lambda: steps)


def test_tuning_measures_the_present_job_and_auto_runs_what_won(window, qtbot):
    ended = heard(window.worker.tuning_ended)
    trigger(window, "Tune for this job…")
    qtbot.waitUntil(lambda: bool(ended))
    assert ended == [(None, True)]
    assert text(window.tuner.dialog, "tune-doing").startswith("Done: ")
    until(qtbot, lambda: window.live.result.picked.why.startswith("the quickest of"))
    window.tuner.dialog.close()
    until(qtbot, lambda: window.tuner.dialog is None)


def test_tuning_can_be_cancelled(window, qtbot):
    begin_tuning(window, qtbot)
    buttons = window.tuner.dialog.findChild(QDialogButtonBox)
    ended = heard(window.worker.tuning_ended)
    click(buttons.button(QDialogButtonBox.StandardButton.Cancel))
    until(qtbot, lambda: ended)
    assert ended == [(None, False)]
    until(qtbot, lambda: window.tuner.dialog is None)


def test_a_tuning_begins_only_when_the_one_before_has_ended(window, qtbot):
    begin_tuning(window, qtbot)
    ended = heard(window.worker.tuning_ended)
    window.tuner.dialog.close()
    window.tuner.dialog = None  # as soon as Qt has deleted it
    trigger(window, "Tune for this job…")
    assert "still being stopped" in window.messages.sentence
    until(qtbot, lambda: ended)
    trigger(window, "Tune for this job…")
    assert window.tuner.dialog is not None


def test_the_window_may_be_closed_while_it_is_tuning(window, qtbot):
    begin_tuning(window, qtbot)
    window.close()
    assert not window.tuner.dialog or not window.tuner.dialog.isVisible()


def test_without_a_gpu_there_is_nothing_to_tune(make_window, qtbot):
    window = make_window()
    until(qtbot, lambda: window.device is not None)
    show_picture(qtbot, window, generated.noise(24, 32))
    trigger(window, "Tune for this job…")
    assert "nothing to tune" in window.messages.sentence
    assert window.tuner.dialog is None
