"""Previews: what takes long is seen at once, marked, until the whole is there."""

import threading

import pytest
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel

from kernels.core.job import Progress, Result
from kernels.pictures.generated import noise
from tests.workbench.driving import child, settle, show_picture, until, view
from tests.workbench.engines import Scripted
from workbench.session import live as live_module

LONG = 9  # from this size on a job is said to take long


@pytest.fixture
def window(make_window, monkeypatch):
    """A window where jobs of LONG and more take long, and wait for `go_on` before their result."""
    monkeypatch.setattr(live_module, "takes_long", lambda job: job.ksize >= LONG)
    go_on = threading.Event()

    def script(job, steps):
        for step in steps:
            if isinstance(step, Result) and job.ksize >= LONG:
                while not go_on.wait(0.001):
                    yield Progress("filtering all of it")
            yield step

    window = make_window(lambda: Scripted(script))
    window.go_on = go_on
    yield window
    go_on.set()


def caption(window):
    return view(window, "After").caption


def is_previewed(window, size):
    return f"{size}×{size}" in caption(window) and "preview" in caption(window)


def test_what_takes_long_is_previewed_and_says_so_until_the_whole_is_there(qtbot, window):
    show_picture(qtbot, window, noise(64, 64))
    window.store.update(ksize=LONG)
    until(qtbot, lambda: is_previewed(window, LONG))
    assert view(window, "After").display.size == (64, 64)
    until(qtbot, lambda: child(window, "doing", QLabel).text() == "filtering all of it …")
    assert is_previewed(window, LONG)
    result = settle(qtbot, window, window.go_on.set)
    assert result.check.ok
    assert "preview" not in caption(window)
    assert view(window, "After").display is window.live.shown


def test_a_preview_has_no_figures_no_values_and_cannot_be_pinned_or_saved(qtbot, window):
    show_picture(qtbot, window, noise(64, 64))
    assert window.compare.comparison() is not None
    window.store.update(ksize=LONG)
    until(qtbot, lambda: is_previewed(window, LONG))
    line = window.timing_views.line
    assert line.accessibleName().startswith("Timing, Preview. ")
    assert window.compare.comparison() is None
    settle(qtbot, window, window.go_on.set)
    assert "Preview" not in line.accessibleName()
    assert window.compare.comparison() is not None


def test_while_a_slider_is_dragged_there_are_previews_and_nothing_long_begins(
    qtbot, window, monkeypatch
):
    show_picture(qtbot, window, noise(64, 64))
    monkeypatch.setattr(live_module, "MOVING_S", float("inf"))
    begun, seen = [], []
    window.worker.progressed.connect(begun.append)
    window.live.preview_ready.connect(lambda job, _: seen.append(job.ksize))
    for size in range(LONG, 61, 2):
        window.store.update(ksize=size)
        QTest.qWait(20)  # far less than a hand that rests
    assert len(seen) >= 3
    assert seen == sorted(seen)
    assert "filtering all of it" not in begun
    until(qtbot, lambda: is_previewed(window, 59))
    until(qtbot, lambda: "filtering all of it" in begun)
    settle(qtbot, window, window.go_on.set)
    assert window.live.result.job.ksize == 59


def test_nothing_else_is_measured_while_a_preview_is_computed(qtbot, window, monkeypatch):
    show_picture(qtbot, window, noise(64, 64))
    may_preview = threading.Event()
    monkeypatch.setattr(live_module, "preview", lambda _: may_preview.wait() and None)
    stepped = []
    window.worker.sweep.stepped.connect(stepped.append)
    window.store.update(ksize=LONG)
    window.worker.sweep.start(lambda _: (Progress(str(n)) for n in range(9)))
    QTest.qWait(100)
    assert not stepped
    may_preview.set()
    window.go_on.set()
    until(qtbot, lambda: len(stepped) == 9)
    until(qtbot, lambda: window.live.result.job.ksize == LONG)  # without a preview as well


def test_a_bug_in_a_preview_is_said_and_the_next_is_made(qtbot, window, monkeypatch, bugs_met):
    show_picture(qtbot, window, noise(64, 64))
    with monkeypatch.context() as buggy:
        buggy.setattr(live_module, "preview", lambda _: 1 / 0)
        window.store.update(ksize=LONG)
        until(qtbot, lambda: bugs_met)
    window.store.update(ksize=LONG + 2)
    until(qtbot, lambda: is_previewed(window, LONG + 2))
    settle(qtbot, window, window.go_on.set)
