"""Too little memory, on the GPU or here: one sentence; what was shown stays, and it goes on."""

import pytest
from PySide6.QtWidgets import QPushButton, QSlider

from kernels.core.job import Progress
from kernels.pictures.generated import noise
from tests.workbench.driving import child, ready, settle, show_picture, trigger, until, view
from tests.workbench.engines import FullGpu, Scripted
from workbench.base.background import TOO_LITTLE_MEMORY
from workbench.panels.blocks.blocks_panel import BlocksPhase

FULL = "The GPU ran out of memory; use a smaller picture."


@pytest.fixture
def gpu(monkeypatch):
    """The engine's class; what is set here is so for one test."""
    monkeypatch.setattr(FullGpu, "is_full", False)
    return FullGpu


@pytest.fixture
def window(qtbot, make_window, gpu):
    """A window that has filtered a small picture with a rung."""
    made = ready(qtbot, make_window(gpu), noise(24, 32))
    settle(qtbot, made, lambda: made.store.choose(implementation="shared"))
    return made


def test_dragging_without_memory_says_so_once_and_goes_on_when_there_is_some(qtbot, window):
    slider = child(window, "ksize-slider", QSlider)
    said = []
    window.live.refused.connect(lambda sentence, _: said.append(sentence))
    before, shown = window.live.result, view(window, "After").display
    FullGpu.is_full = True
    for _ in range(3):
        count = len(said)
        slider.setValue(slider.value() + 1)
        until(qtbot, lambda count=count: len(said) > count)
    assert set(said) == {FULL}
    assert (window.messages.kind, window.messages.sentence) == ("error", FULL)
    assert window.live.result is before
    assert view(window, "After").display is shown
    FullGpu.is_full = False
    result = settle(qtbot, window, lambda: slider.setValue(slider.value() + 1))
    assert result.job.ksize == window.store.state.ksize > before.job.ksize
    assert window.messages.kind is None


def test_auto_stays_with_its_rung_and_says_so(qtbot, window):
    """Another implementation might round otherwise, whenever others use the memory."""
    settle(qtbot, window, lambda: window.store.choose(implementation="auto"))
    before, FullGpu.is_full = window.live.result, True
    window.store.update(ksize=9)
    until(qtbot, lambda: window.messages.sentence == FULL)
    assert window.live.result is before
    FullGpu.is_full = False
    result = settle(qtbot, window, lambda: window.store.update(ksize=11))
    assert result.implementation != "opencv"


def test_whatever_is_measured_meanwhile_says_the_reason_and_goes_on(qtbot, window):
    FullGpu.is_full = True
    trigger(window, "Compare all implementations")
    measure = child(window, "ladder-measure", QPushButton)
    until(qtbot, lambda: measure.text() == "Cancel")
    until(qtbot, lambda: measure.text() == "Compare all")
    trigger(window, "Block shapes, live")
    until(qtbot, lambda: window.blocks.get().phase is BlocksPhase.DONE)
    assert all(FULL in row.text for row in window.blocks.get().rows)
    assert window.messages.kind is None
    FullGpu.is_full = False
    window.blocks.get().start()
    until(qtbot, lambda: window.blocks.get().phase is BlocksPhase.DONE)
    assert not any(FULL in row.text for row in window.blocks.get().rows)
    settle(qtbot, window, lambda: window.store.update(ksize=9))


def test_this_computer_s_memory_may_end_anywhere(qtbot, make_window):
    """Whatever asks for too much of it, it is no bug."""

    def script(job, steps):
        if job.ksize == 9:
            raise MemoryError
        yield from steps

    window = make_window(lambda: Scripted(script))
    show_picture(qtbot, window, noise(8, 8))
    window.store.update(ksize=9)
    until(qtbot, lambda: window.messages.sentence == TOO_LITTLE_MEMORY)

    def swallowing(_):
        yield Progress("measuring")
        raise MemoryError

    window.messages.clear()
    window.worker.sweep.start(swallowing)
    until(qtbot, lambda: window.messages.sentence == TOO_LITTLE_MEMORY)
    settle(qtbot, window, lambda: window.store.update(ksize=7))
