"""How launches are timed on a made-up GPU."""

from contextlib import suppress
from dataclasses import replace
from types import SimpleNamespace
from unittest.mock import MagicMock

import numpy as np
import pytest

from kernels.core.device_turns import Turns
from kernels.core.job import Job, Result, Sampled, Sampling
from kernels.cuda.event_timer import EventTimer
from kernels.cuda.gpu import Gpu, timed_results
from kernels.rungs.rung import ladder
from tests.made_up import H200, result

L2_BYTES = 32 << 20


class FakeCuda:
    """Writes down what is queued, in its order."""

    def __init__(self):
        self.queued, self.words, events = [], [], iter(["start", "stop"])

        def event():
            name = next(events)
            return SimpleNamespace(
                record=lambda: self.queued.append(name),
                synchronize=lambda: self.queued.append("waited"),
            )

        self.cuda = SimpleNamespace(Event=event, get_elapsed_time=lambda start, stop: 0.25)

    def RawModule(self, code):  # noqa: N802
        assert "evict" in code
        return SimpleNamespace(
            get_function=lambda name: lambda grid, block, values: self.queued.append(name)
        )

    def zeros(self, count, dtype):
        self.words.append(count)
        return SimpleNamespace(size=count)


@pytest.mark.parametrize(("cache", "before"), [("cold", ["evict", "hold"]), ("warm", ["hold"])])
def test_nothing_but_the_launch_stands_between_the_events(cache, before):
    cp = FakeCuda()
    timer = EventTimer(cp, L2_BYTES)
    assert timer.sample_ms(lambda: cp.queued.append("launch"), cache) == 0.25
    assert cp.queued == [*before, "start", "launch", "stop", "waited"]


def test_twice_the_l2_is_read_to_empty_it():
    cp = FakeCuda()
    EventTimer(cp, L2_BYTES)
    assert 4 * max(cp.words) == 2 * L2_BYTES


class Run:
    """Counts what is done, in its order."""

    def __init__(self):
        self.done = []

    def run_ms(self):
        self.done.append("run")
        return float(self.done.count("run"))

    def fetch(self):
        self.done.append("fetch")
        return replace(result(), kernel=None)

    def steps(self, sampling):
        complete = lambda known, timing: replace(known, kernel=timing)  # noqa: E731
        look = lambda: self.done.append("look")  # noqa: E731
        return timed_results(self.run_ms, self.fetch, complete, sampling, look, Turns([]))


def test_the_picture_comes_first_then_every_run_counts_but_the_warm_up():
    run = Run()
    first = next(run.steps(Sampling(max_samples=3, max_seconds=9.0)))
    assert first.kernel.samples_ms == (1.0,)
    assert run.done == ["run", "fetch"]
    run = Run()
    *steps, last = run.steps(Sampling(max_samples=3, max_seconds=9.0, cache="warm"))
    assert (last.kernel.samples_ms, last.kernel.warmups) == ((2.0, 3.0, 4.0), 1)
    assert last.kernel.cache == "warm"
    assert sum(isinstance(each, Sampled) for each in steps) == 3
    assert run.done == ["run", "fetch", *["run", "look"] * 3, "fetch", "look"]
    run = Run()
    steps = list(run.steps(Sampling(max_samples=0)))
    assert all(isinstance(each, Result) for each in steps)
    assert run.done == ["run", "fetch"]


class Watched(Gpu):
    """A GPU where nothing runs: `alone` has what was done while the turn was somebody else's."""

    def __init__(self, folder):
        self.device, self.alone, self._sampled = H200, [], None
        self.turns = Turns([replace(H200, uuid=f"GPU-{folder.name}")])
        self.pictures = MagicMock(upload=self._do("upload", (None, None)))
        self.watch = lambda: SimpleNamespace(look=lambda: None, health=lambda: None)
        self.has_compiled = lambda *_: True
        self.compile = lambda *_: (None, None)
        self.launch_on = self._do("launch_on", None)
        self.sample_ms = self._do("sample", 1.0)
        self._rows_at_once = lambda _, job: job.height

    def _do(self, name, gives):
        def do(*_):
            if not self.turns._depth:
                self.alone.append(name)
            return gives

        return do


def test_nothing_is_put_on_the_device_outside_a_turn(tmp_path):
    gpu = Watched(tmp_path)
    job = Job.of(np.zeros((4, 4, 1), np.uint8), np.ones((1, 1), np.float32))
    steps = gpu.filtering(ladder()[0], job, Sampling())
    with suppress(AttributeError):  # at the download, of what is not there
        list(steps)
    assert gpu.alone == []
