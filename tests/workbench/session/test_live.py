"""Live filtering in the real window: what is shown belongs to what was last asked for."""

import threading
from dataclasses import replace

import numpy as np
import pytest
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel, QPushButton

from kernels.core.errors import BadJobError, OutOfMemoryError
from kernels.core.job import Progress, Result
from kernels.core.timing import Timing
from kernels.pictures.generated import noise
from tests.workbench.driving import child, grey, settle, show_picture, until, view
from tests.workbench.engines import Scripted
from workbench.base.numbers import GAP
from workbench.imaging.pictures import Picture
from workbench.model import intents
from workbench.model.state import State
from workbench.session import live
from workbench.session import live as live_module
from workbench.session.store import Store
from workbench.widgets.tile import ValueTile


@pytest.fixture
def held(make_window):
    """A window whose jobs of size 9 wait for `go_on` before their first result, and those of
    size 11 after it; its attribute `go_on` is that event."""
    yield from waiting_window(make_window, lambda size: size == 9, lambda size: size == 11)


def waiting_window(make_window, waits_before, waits_after):
    """Yields a window whose jobs of some sizes wait before, or after, their first result."""
    go_on = threading.Event()

    def script(job, steps):
        for step in steps:
            if isinstance(step, Result) and waits_before(job.ksize):
                yield from waiting()
            yield step
            if isinstance(step, Result) and waits_after(job.ksize):
                yield from waiting()

    def waiting():
        while not go_on.wait(0.001):
            yield Progress("filtering all of it")

    window = make_window(lambda: Scripted(script))
    window.go_on = go_on
    yield window
    go_on.set()


def after(window):
    return view(window, "After").display


def dim():
    """All 20 of 255: white with levels up to 20, nearly black without."""
    return np.full((8, 8, 1), 20, np.uint8)


def test_a_refined_result_keeps_the_levels_chosen_meanwhile(qtbot, held):
    show_picture(qtbot, held, dim())
    held.store.update(ksize=11)
    until(qtbot, lambda: "11×11" in view(held, "After").caption)
    held.store.update(levels=(0.0, 20.0))
    until(qtbot, lambda: grey(after(held).images[0], 4, 4) == 255)
    settle(qtbot, held, held.go_on.set)
    assert grey(after(held).images[0], 4, 4) == 255
    assert grey(view(held, "Before").display.images[0], 4, 4) == 255


def test_a_result_of_the_picture_before_is_not_shown(qtbot, held):
    show_picture(qtbot, held, dim())
    held.store.update(ksize=9)
    until(qtbot, lambda: child(held, "doing", QLabel).text())
    other = Picture("other", noise(5, 6))
    shown = []
    held.live.after_ready.connect(lambda result, _: shown.append(result.job.picture))
    held.go_on.set()
    settle(qtbot, held, lambda: held.store.update(picture=other))
    assert all(samples is other.samples for samples in shown)


def test_before_and_after_are_always_of_the_same_picture(qtbot, held):
    pairs = []

    def note():
        before, shown = view(held, "Before").display, after(held)
        if before is not None and shown is not None:
            pairs.append((before.size, shown.size))

    held.live.before_ready.connect(note)
    held.live.after_ready.connect(note)
    for side in (5, 60, 7, 80):
        show_picture(qtbot, held, noise(side, side))
    assert pairs
    assert all(before == shown for before, shown in pairs)


def failing(error):
    def script(job, steps):
        yield Progress("filtering")
        if job.border == "wrap":
            raise error
        yield from steps

    return script


def test_a_failure_is_a_sentence_and_the_last_picture_stays(qtbot, make_window):
    window = make_window(lambda: Scripted(failing(OutOfMemoryError("There is no memory left."))))
    show_picture(qtbot, window, noise(8, 8))
    shown = after(window)
    window.store.update(border="wrap")
    until(qtbot, lambda: window.messages.kind == "error")
    assert window.messages.sentence == "There is no memory left."
    assert after(window) is shown
    assert child(window, "doing", QLabel).text() == ""
    assert not child(window, "details", QPushButton).isVisible()
    settle(qtbot, window, lambda: window.store.update(border="zero"))
    assert window.messages.kind is None


def test_choices_that_clash_are_a_sentence_that_stays_until_they_do_not(qtbot, held, monkeypatch):
    show_picture(qtbot, held, noise(8, 8))
    held.store.update(ksize=11)
    until(qtbot, lambda: "11×11" in view(held, "After").caption)
    job_for = intents.job_for

    def objecting(state):
        if state.border == "wrap":
            raise BadJobError("These do not go together.")
        return job_for(state)

    monkeypatch.setattr(intents, "job_for", objecting)
    held.store.update(border="wrap")
    assert held.messages.sentence == "These do not go together."
    with qtbot.waitSignals([held.live.after_ready, held.live.settled]):  # of the one before
        held.go_on.set()
    assert held.messages.sentence == "These do not go together."
    settle(qtbot, held, lambda: held.store.update(border="zero"))
    assert held.messages.kind is None


def test_a_lack_of_memory_for_the_screen_is_a_sentence(qtbot, window, monkeypatch):
    def no_memory(*_):
        raise MemoryError

    monkeypatch.setattr(live, "show", no_memory)
    window.opener.opened.emit(Picture("large", noise(8, 8)))
    until(qtbot, lambda: window.messages.kind == "error")
    assert "too little memory" in window.messages.sentence


def test_settled_is_not_said_before_the_picture_is_shown(qtbot, window, monkeypatch):
    may_convert = threading.Event()
    to_display = live.show

    def slow_to_display(*what):
        may_convert.wait()
        return to_display(*what)

    monkeypatch.setattr(live, "show", slow_to_display)
    picture, settled = Picture("slow", noise(8, 8)), []
    window.live.settled.connect(settled.append)
    with qtbot.waitSignal(window.worker.settled):
        window.opener.opened.emit(picture)
    assert settled == []
    may_convert.set()
    until(qtbot, lambda: settled)
    assert view(window, "Before").display.size == (8, 8)
    assert after(window).size == (8, 8)


# -- a figure that stands is a figure that was repeated


def slow_at_first(disturbed):
    """A job is said to have taken `disturbed` ms in a single run; when it is asked for once more,
    there are five, of 20 ms."""
    seen = []

    def script(job, steps):
        is_again = any(job is each for each in seen)
        seen.append(job)
        times = (20.0, 21.0, 20.0, 19.0, 20.0) if is_again else (disturbed,)
        for step in steps:
            if isinstance(step, Result):
                yield replace(step, kernel=Timing(times, ended="single"), compile_ms=7.0)
            else:
                yield step

    return lambda: Scripted(script)


def test_what_was_run_only_once_is_timed_again_when_nothing_is_waited_for(qtbot, make_window):
    window = make_window(slow_at_first(261.0))
    assert show_picture(qtbot, window, noise(8, 8)).kernel.samples_ms == (261.0,)
    shown = after(window)
    window.docks.bring_forward("Timing")
    tile = child(window, "filter-time", ValueTile)
    until(qtbot, lambda: "n = 5" in tile.detail.replace(GAP, " "))
    assert tile.text == f"20.0{GAP}ms"
    assert after(window) is shown  # the picture stayed
    assert window.live.result.check.ok
    assert "1 run" in window.timing.get().history.accessibleDescription()
    assert f"20.0{GAP}ms" in window.timing.get().history.accessibleDescription()


def test_strips_are_not_timed_again(qtbot, make_window):
    asked = []

    def script(job, steps):
        asked.append(job.implementation)
        for step in steps:
            in_strips = {"kernel": Timing((9.0,), ended="single"), "strips": 4}
            yield replace(step, **in_strips) if isinstance(step, Result) else step

    window = make_window(lambda: Scripted(script))
    show_picture(qtbot, window, noise(8, 8))
    settle(qtbot, window, lambda: window.store.update(border="wrap"))
    ended = []
    window.worker.sweep.ended.connect(lambda *_: ended.append(True))
    window.worker.sweep.start(lambda _: iter(()))
    until(qtbot, lambda: ended)
    assert len(asked) == 2


def followed(store):
    changes = []
    store.changed.connect(lambda old, new: changes.append((old, new)))
    return changes


def test_what_is_chosen_is_announced_once_with_what_it_brings_along():
    store = Store(State(filter="gaussian", ksize=5))
    changes = followed(store)
    store.choose(filter="sobel_x", implementation="parallel")
    ((_, new),) = changes
    assert (new.filter, new.ksize) == ("sobel_x", 3)
    assert new.implementation == new.chosen_implementation == "parallel"


# -- previews: what takes long is seen at once, marked


LONG = 9  # from this size on a job is said to take long


@pytest.fixture
def window(make_window, monkeypatch):
    """A window where jobs of LONG and more take long, and wait for `go_on` before their result."""
    monkeypatch.setattr(live_module, "takes_long", lambda job: job.ksize >= LONG)
    yield from waiting_window(make_window, lambda size: size >= LONG, lambda _: False)


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
    assert settle(qtbot, window, window.go_on.set).check.ok
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
