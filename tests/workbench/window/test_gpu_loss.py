"""A GPU that fails while the window is open: one sentence, the CPU goes on, and the ways back."""

import pytest
from PySide6.QtWidgets import QLabel, QPushButton

from kernels.core.device import Device, NoDevice
from kernels.pictures.generated import noise
from kernels.rungs.rung import Rung
from tests.workbench.driving import child, click, ready, settle, trigger, until, view
from tests.workbench.engines import FailingGpu
from workbench.model import intents
from workbench.window import result_views

FAILED = "The GPU failed while filtering 32×24 pixels (cudaErrorIllegalAddress)."


@pytest.fixture
def gpu(monkeypatch):
    """The engine's class; what is set here is so for one test."""
    monkeypatch.setattr(FailingGpu, "fails", "")
    return FailingGpu


@pytest.fixture
def window(qtbot, make_window, gpu):
    """A window that has filtered a small picture on its GPU."""
    return ready(qtbot, make_window(gpu), noise(24, 32))


def lose(qtbot, window, act, words=FAILED):
    """Do `act` while the GPU fails, and wait until something goes on."""
    FailingGpu.fails = words
    act()
    until(qtbot, lambda: isinstance(window.device, NoDevice))


def choose(window, key):
    window.store.choose(implementation=key)


def is_on_cpu(window):
    result = window.live.result
    return intents.implementation(result.implementation).kind == "cpu"


def acts(window):
    buttons = (child(window, name, QPushButton) for name in ("act", "act-1"))
    return [each.text().replace("&", "") for each in buttons if each.isVisible()]


def test_the_cpu_goes_on_with_what_was_asked_for(qtbot, window):
    settle(qtbot, window, lambda: choose(window, "shared"))
    before = window.live.result
    assert isinstance(intents.implementation(before.implementation), Rung)
    answered = []
    window.live.settled.connect(answered.append)
    lose(qtbot, window, lambda: window.store.update(ksize=9))
    until(qtbot, lambda: answered)
    assert answered[-1].job.ksize == 9
    assert is_on_cpu(window)
    assert answered[-1].check.ok
    assert "9×9" in view(window, "After").caption
    assert (window.messages.kind, window.messages.sentence) == ("warning", FAILED)
    assert acts(window) == ["Try again"]
    assert child(window, "device", QLabel).text() == "GPU lost"
    assert FAILED in child(window, "device", QLabel).toolTip()
    assert intents.why_not_here(intents.implementation("shared"), window.device) == FAILED


# -- trying again


def test_a_gpu_that_is_back_is_used_as_before(qtbot, window):
    settle(qtbot, window, lambda: choose(window, "shared"))
    lose(qtbot, window, lambda: window.store.update(ksize=9))
    until(qtbot, lambda: window.live.result.job.ksize == 9)
    FailingGpu.fails = ""
    click(child(window, "act"))
    until(qtbot, lambda: window.messages.sentence == result_views.BACK)  # goes by itself
    until(qtbot, lambda: isinstance(window.device, Device))
    until(qtbot, lambda: window.live.result.implementation == "shared")
    assert child(window, "device", QLabel).text() == window.device.name
    window.undo_history.undo()
    until(qtbot, lambda: window.live.result.job.ksize == 5)  # that was the user's last step
    trigger(window, "Try the GPU again")
    assert window.messages.sentence == result_views.WORKS


def test_a_gpu_that_is_not_back_is_said_and_nothing_else_changes(qtbot, window):
    lose(qtbot, window, lambda: window.store.update(ksize=9))
    until(qtbot, lambda: window.live.result.job.ksize == 9)
    trigger(window, "Try the GPU again")
    until(qtbot, lambda: window.messages.sentence == result_views.STILL)
    assert acts(window) == []
    choose(window, "shared")  # as undo, or a step of the presenter, may: it is said again
    until(qtbot, lambda: window.messages.sentence == FAILED)
    until(qtbot, lambda: window.store.state.implementation != "shared")
    settle(qtbot, window, lambda: window.store.update(ksize=11))
    assert is_on_cpu(window)


def test_what_was_chosen_meanwhile_stays_when_it_is_back(qtbot, window):
    settle(qtbot, window, lambda: choose(window, "shared"))
    lose(qtbot, window, lambda: window.store.update(ksize=9))
    settle(qtbot, window, lambda: choose(window, "parallel"))
    FailingGpu.fails = ""
    trigger(window, "Try the GPU again")
    until(qtbot, lambda: isinstance(window.device, Device))
    settle(qtbot, window, lambda: window.store.update(ksize=11))
    assert window.store.state.implementation == "parallel"
