"""The one thread that computes: what goes before what, and what becomes of errors."""

import itertools
import threading
from dataclasses import replace
from functools import partial
from operator import attrgetter

import numpy as np
import pytest
from PySide6.QtCore import QThread

from kernels.core.device import NoDevice
from kernels.core.device_turns import Waiting
from kernels.core.errors import DeviceLostError
from kernels.core.job import Job, Progress
from tests.kernels.core.test_timing import FakeClock
from tests.made_up import PASSED, result
from tests.workbench.driving import until
from tests.workbench.engines import Scripted
from workbench.base.background import bugs
from workbench.session import worker as worker_module
from workbench.session.worker import Worker

SIGNALS = (
    *("device_found", "progressed", "filtered", "settled", "failed"),
    *("baseline.stepped", "again.stepped"),
    *("sweep.stepped", "sweep.paused", "sweep.ended"),
    *("comparison.stepped", "comparison.paused", "comparison.ended"),
)
PICTURE = np.zeros((4, 5, 1), np.uint8)
PICTURE.flags.writeable = False


def a_job(ksize=3, implementation="opencv"):
    return Job.of(PICTURE, np.ones((ksize, ksize), np.float32), implementation=implementation)


def answer(job):
    return replace(result("opencv", job=job), check=PASSED, picture=job.picture)


def at_once(job, _):
    yield answer(job)


def for_ever(_):
    while True:
        QThread.msleep(1)  # a step of a real sweep takes longer
        yield Progress("measuring")


def noting(done, name):
    """A computation of three steps, each of which it notes."""

    def steps(_):
        for _ in range(3):
            done.append(name)
            yield Progress("measuring")

    return steps


@pytest.fixture
def make_worker(qtbot):
    """Makes workers whose jobs are done by a script, each with the list of what it has told:
    ("filtered", job, ...) for a Result; starts them, unless a test does, and closes them.

    Nobody connects or disconnects later: PySide does not survive that while a thread emits.
    """
    made = []

    def make(script=at_once, make_engine=None, starts=True):
        worker, told = Worker(make_engine or (lambda: Scripted(script))), []
        for name in SIGNALS:
            attrgetter(name)(worker).connect(partial(_write, told, name))
        listening.append(partial(_write, told, "broke"))
        bugs.met.connect(listening[-1])
        made.append(worker)
        if starts:
            worker.start()
        return worker, told

    listening = []
    yield make
    for each in made:
        each.close()
    for each in listening:
        bugs.met.disconnect(each)


def _write(told, name, *values):
    told.append((name, *(getattr(each, "job", each) for each in values)))


def sizes(told, name):
    return [entry[1].ksize for entry in told if entry[0] == name]


def names(told):
    return [entry[0] for entry in told]


def wait_for(qtbot, told, name, count=1):
    """What came with the signal `name` the last time, once it came `count` times."""
    until(qtbot, lambda: names(told).count(name) >= count)
    return next(entry[1:] for entry in reversed(told) if entry[0] == name)


def test_a_job_is_filtered_off_the_gui_thread(qtbot, make_worker):
    ran_on = []

    def script(job, _):
        ran_on.append(QThread.currentThread())
        yield answer(job)

    worker, told = make_worker(script)
    worker.request(a_job())
    wait_for(qtbot, told, "filtered")
    wait_for(qtbot, told, "settled")
    assert ran_on == [worker]


def test_the_device_is_found_once_and_after_the_first_picture(qtbot, make_worker):
    worker, told = make_worker(starts=False)
    worker.request(a_job())
    worker.start()
    wait_for(qtbot, told, "device_found")
    assert names(told).index("settled") < names(told).index("device_found")
    assert isinstance(told[-1][1], NoDevice)
    worker.request(a_job())
    wait_for(qtbot, told, "settled", count=2)
    assert names(told).count("device_found") == 1


def test_a_lost_device_is_told_after_what_failed(qtbot, make_worker):
    def script(job, _):
        raise DeviceLostError("The GPU failed.")
        yield

    worker, told = make_worker(script, starts=False)
    worker.request(a_job())
    worker.start()
    (device,) = wait_for(qtbot, told, "device_found")
    assert (device.reason, device.is_lost) == ("The GPU failed.", True)
    assert names(told).index("failed") < names(told).index("device_found")
    worker.request(a_job())
    wait_for(qtbot, told, "failed", count=2)
    wait_for(qtbot, told, "device_found", count=2)  # and not the one it was before


def test_while_a_step_runs_only_the_newest_job_waits(qtbot, make_worker):
    entered, go_on = threading.Event(), threading.Event()

    def script(job, _):
        if job.ksize == 3:
            entered.set()
            go_on.wait()
        yield answer(job)

    worker, told = make_worker(script)
    worker.request(a_job(3))
    until(qtbot, entered.is_set)
    for ksize in (5, 7, 9):
        worker.request(a_job(ksize))
    go_on.set()
    until(qtbot, lambda: sizes(told, "settled") == [9])
    assert sizes(told, "filtered") == [3, 9]


def test_a_superseded_job_is_stopped_at_its_next_step(qtbot, make_worker):
    stopped = []

    def script(job, _):
        try:
            while job.ksize == 3:  # it would never end by itself
                yield Progress("filtering for ever")
        finally:
            stopped.append(job.ksize)
        yield answer(job)

    worker, told = make_worker(script)
    worker.request(a_job(3))
    wait_for(qtbot, told, "progressed")
    worker.request(a_job(5))
    until(qtbot, lambda: sizes(told, "settled") == [5])
    assert sizes(told, "filtered") == [5]
    assert stopped == [3, 5]


def test_what_was_shown_gives_way_at_once(qtbot, make_worker, monkeypatch):
    monkeypatch.setattr(worker_module, "REST_S", float("inf"))

    def script(job, _):
        yield answer(job)
        while job.ksize == 3:
            worker.request(a_job(5))
            yield Progress("timing for ever")

    worker, told = make_worker(script)
    worker.request(a_job(3))
    until(qtbot, lambda: sizes(told, "settled") == [5])
    assert sizes(told, "filtered") == [3, 5]


@pytest.mark.parametrize("every", [1, 7])  # steps: 100 and 15 changes a second
def test_while_a_slider_is_dragged_slow_filters_show_pictures(
    every, qtbot, make_worker, monkeypatch
):
    """120 changes come while filters run that take 100 ms each."""
    clock, changes, steps = FakeClock(), iter(range(120)), itertools.count()
    monkeypatch.setattr(worker_module, "monotonic", clock)

    def script(job, _):
        for _ in range(10):
            clock.now_s += 0.01
            if next(steps) % every == 0 and next(changes, None) is not None:
                worker.request(a_job(5))  # as from the GUI thread
            yield Progress("filtering")
        yield answer(job)

    worker, told = make_worker(script)
    worker.request(a_job(3))
    wait_for(qtbot, told, "settled")
    assert len(sizes(told, "filtered")) >= 120 * every // 10


def test_what_ran_once_is_timed_again_when_nothing_else_is_left(qtbot, make_worker):
    done = []

    def script(job, _):
        done.append((job.implementation, job.ksize))
        yield Progress("filtering")
        yield answer(job)

    worker, told = make_worker(script, starts=False)
    worker.request_again(a_job(3), "warm")
    worker.request_again(a_job(5, "sequential"), "cold")
    worker.request_baseline(a_job(3, "sequential"))
    worker.sweep.start(noting(done, "sweep"))
    worker.start()
    wait_for(qtbot, told, "again.stepped", count=2)
    baseline, one, other = ("sequential", 3), ("opencv", 3), ("sequential", 5)
    assert done == [baseline, *["sweep"] * 3, one, other]
    assert sizes(told, "again.stepped") == [3, 5]
    assert "settled" not in names(told)


def test_a_picture_goes_before_the_baseline_and_that_before_a_sweep(qtbot, make_worker):
    done, entered, go_on = [], threading.Event(), threading.Event()

    def script(job, _):
        if not done:
            entered.set()
            go_on.wait()
        for _ in range(3):
            done.append(job.implementation)
            yield Progress("filtering")
        yield answer(job)

    worker, told = make_worker(script)
    worker.request(a_job(3))
    until(qtbot, entered.is_set)
    worker.sweep.start(noting(done, "sweep"))
    worker.request_baseline(a_job(3, "sequential"))
    go_on.set()
    wait_for(qtbot, told, "sweep.ended")
    wait_for(qtbot, told, "baseline.stepped")
    assert done == ["opencv"] * 3 + ["sequential"] * 3 + ["sweep"] * 3


def test_a_job_pauses_a_sweep(qtbot, make_worker):
    done = []

    def script(job, _):
        for _ in range(3):
            done.append("live")
            yield Progress("filtering")
        yield answer(job)

    def sweeping(_):
        for number in range(3):
            done.append("sweep")
            if number == 1:
                worker.request(a_job())
            yield Progress("measuring")

    worker, told = make_worker(script)
    worker.sweep.start(sweeping)
    assert wait_for(qtbot, told, "sweep.ended") == (None, True)
    assert done == ["sweep", "sweep", "live", "live", "live", "sweep"]


def test_a_bug_in_a_sweep_ends_it(qtbot, make_worker):
    def sweeping(_):
        yield Progress("measuring")
        raise ZeroDivisionError("a bug")

    worker, told = make_worker()
    worker.sweep.start(sweeping)
    wait_for(qtbot, told, "broke")
    assert ("sweep.ended", None, False) in told


def test_a_sweep_takes_the_place_of_the_one_that_runs(qtbot, make_worker):
    worker, told = make_worker()
    worker.sweep.start(for_ever)
    wait_for(qtbot, told, "sweep.stepped")
    worker.sweep.start(lambda _: iter([Progress("the other")]))
    wait_for(qtbot, told, "sweep.ended", count=2)
    ends = [entry[1:] for entry in told if entry[0] == "sweep.ended"]
    assert ends == [(None, False), (None, True)]
    assert told[-2] == ("sweep.stepped", Progress("the other"))


def test_the_thread_ends_in_the_middle_of_everything(qtbot, make_worker):
    stopped = []

    def script(job, _):
        try:
            while True:
                yield Progress("filtering for ever")
        finally:
            stopped.append(QThread.currentThread())

    worker, told = make_worker(script)
    worker.sweep.start(for_ever)
    worker.request_baseline(a_job(3, "sequential"))
    worker.request(a_job())
    wait_for(qtbot, told, "progressed")
    worker.close()
    assert worker.isFinished()
    assert stopped == [worker]  # CUDA's objects die on the thread that made them
    worker.request(a_job())  # comes too late, and is no trouble
    worker.close()


def test_a_trial_under_way_is_closed_on_the_thread_before_that_ends(qtbot, make_worker):
    closed, steps = [], []

    def trying():
        try:
            yield from for_ever(None)
        finally:
            closed.append(QThread.currentThread())

    worker, _ = make_worker()
    worker.ask("trial", trying, steps.append)
    qtbot.waitUntil(lambda: bool(steps))
    worker.close()
    assert closed == [worker]


# -- a comparison


def test_a_comparison_goes_before_a_sweep_and_the_picture_before_it(qtbot, make_worker):
    worker, told = make_worker(at_once, starts=False)
    worker.sweep.start(lambda _: iter([Progress("sweeping")]))
    worker.comparison.start(lambda _: iter([Progress("comparing")]))
    worker.request(a_job())
    worker.start()
    assert wait_for(qtbot, told, "sweep.ended") == (None, True)
    order = names(told)
    assert order.index("filtered") < order.index("comparison.stepped")
    assert order.index("comparison.ended") < order.index("sweep.stepped")


@pytest.mark.parametrize("is_closed", [False, True])
def test_a_cancelled_comparison_may_save_what_it_has_on_the_thread(qtbot, make_worker, is_closed):
    saved = []

    def comparing(_):
        try:
            yield from for_ever(_)
        finally:
            saved.append(QThread.currentThread())

    worker, told = make_worker(at_once, starts=False)
    worker.comparison.start(comparing)
    worker.start()
    wait_for(qtbot, told, "comparison.stepped")
    if is_closed:
        worker.close()
    else:
        worker.comparison.cancel()
        assert wait_for(qtbot, told, "comparison.ended") == (None, False)
    assert saved == [worker]


def shown_then_timed(steps):
    """A job that notes in `steps` when it goes on after its picture."""

    def script(job, _):
        yield answer(job)
        steps.append(job.ksize)
        yield answer(job)

    return script


def test_the_timing_waits_while_it_is_held(qtbot, make_worker, monkeypatch):
    monkeypatch.setattr(worker_module, "HELD_S", 60.0)
    timed = []
    worker, told = make_worker(shown_then_timed(timed), starts=False)
    worker.hold(True)
    worker.start()
    worker.request(a_job())
    wait_for(qtbot, told, "filtered")
    qtbot.wait(30)
    assert not timed
    worker.hold(False)
    wait_for(qtbot, told, "settled")
    assert timed == [3]


class SlowToEnd:
    """Steps of a computation whose end takes until it is let on."""

    def __init__(self):
        self.begun, self.ends, self.on = (threading.Event() for _ in range(3))

    def __call__(self):
        try:
            while True:
                self.begun.set()
                QThread.msleep(1)
                yield Progress("at work")
        finally:
            self.ends.set()
            self.on.wait(60)


@pytest.mark.parametrize(
    ("begin", "drop"),
    [
        (lambda w: w.request(a_job()), lambda w: w.expect(True)),
        (lambda w: w.request(a_job()), lambda w: w.request(a_job(5))),
        (lambda w: w.request_again(a_job(), "cold"), lambda w: w.request(a_job(5))),
    ],
)
def test_who_asks_never_waits_for_the_end_of_what_is_dropped(qtbot, make_worker, begin, drop):
    slow = SlowToEnd()
    worker, _ = make_worker(lambda job, _: slow() if job.ksize == 3 else at_once(job, _))
    begin(worker)
    assert slow.begun.wait(60)
    drop(worker)
    assert slow.ends.wait(60)
    asks = threading.Thread(target=worker.hold, args=(False,))
    asks.start()
    asks.join(10)
    is_kept_waiting = asks.is_alive()
    slow.on.set()
    asks.join()
    assert not is_kept_waiting


def test_a_bug_before_anything_is_done_is_shown_and_the_thread_goes_on(qtbot, make_worker):
    engines = [lambda: 1 / 0, lambda: 1 / 0, lambda: Scripted(at_once)]
    worker, told = make_worker(make_engine=lambda: engines.pop(0)())
    assert "ZeroDivisionError" in wait_for(qtbot, told, "broke")[0]
    worker.sweep.start(for_ever)
    wait_for(qtbot, told, "broke", count=2)
    assert wait_for(qtbot, told, "sweep.ended") == (None, False)
    worker.request(a_job())
    wait_for(qtbot, told, "settled")


def test_a_trial_and_a_picture_that_waits_for_it_take_turns_before_a_sweep(qtbot, make_worker):
    has_device, waited, done = [], [], []

    def trial():
        has_device.append(True)
        while not waited:
            yield None
        has_device.clear()
        yield "done"

    def script(job, _):
        while has_device:
            waited.append(True)
            yield Waiting("waiting for a trial")
        yield answer(job)

    worker, told = make_worker(script)
    wait_for(qtbot, told, "device_found")
    worker.sweep.start(for_ever)
    wait_for(qtbot, told, "sweep.stepped")
    worker.ask("a", trial, done.append, urgency=worker_module.PICTURE)
    until(qtbot, lambda: has_device)
    worker.request(a_job())
    wait_for(qtbot, told, "settled")
    until(qtbot, lambda: done == ["done"])


def test_others_go_on_while_a_picture_waits_for_another_process(qtbot, make_worker):
    def script(job, _):
        while True:
            QThread.msleep(1)
            yield Waiting("waiting for a sweep of process 1234 on NVIDIA H200")

    worker, told = make_worker(script)
    worker.request(a_job())
    worker.sweep.start(for_ever)
    wait_for(qtbot, told, "sweep.stepped")
    assert ("progressed", "waiting for a sweep of process 1234 on NVIDIA H200") in told
