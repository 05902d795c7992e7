"""The results of a job while it is being timed."""

from __future__ import annotations

from dataclasses import replace

from kernels.core.device_turns import Turns
from kernels.core.job import Result, Sampled, Sampling
from kernels.cuda.timed_results import timed_results
from tests.made_up import result


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


def test_the_picture_is_there_before_anything_else_is_done():
    run = Run()
    first = next(run.steps(Sampling(max_samples=3, max_seconds=9.0)))
    assert first.kernel.samples_ms == (1.0,)
    assert run.done == ["run", "fetch"]


def test_every_run_counts_but_the_warm_up_and_the_answer_is_that_of_the_last():
    run = Run()
    *steps, last = run.steps(Sampling(max_samples=3, max_seconds=9.0, cache="warm"))
    assert (last.kernel.samples_ms, last.kernel.warmups) == ((2.0, 3.0, 4.0), 1)
    assert last.kernel.cache == "warm"
    assert sum(isinstance(each, Sampled) for each in steps) == 3
    assert run.done == ["run", "fetch", *["run", "look"] * 3, "fetch", "look"]


def test_where_the_answer_is_all_that_is_wanted_it_runs_once():
    run = Run()
    steps = list(run.steps(Sampling(max_samples=0)))
    assert all(isinstance(each, Result) for each in steps)
    assert run.done == ["run", "fetch"]
