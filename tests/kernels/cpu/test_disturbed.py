"""A result from the CPU says what else kept the CPU busy while it was measured."""

import math

import numpy as np
import pytest

from kernels import Engine, Job
from kernels.core import health
from kernels.core.cpu_load import Load, LoadWatch
from kernels.core.health import disturbances_of
from kernels.cpu import cpu_run

BUSY = Load(seconds=1.0, cores=2, others_s=2.0, stolen_s=0.0)


def filtering():
    job = Job.of(np.zeros((40, 30, 1), np.uint8), np.full((3, 3), 1 / 9, np.float32))
    steps = Engine(use_gpu=False).filtering(job)
    return (step for step in steps if hasattr(step, "disturbances"))


def results(load, monkeypatch):
    monkeypatch.setattr(LoadWatch, "load", lambda self: load)
    monkeypatch.setattr(health, "UNSTEADY", math.inf)
    return list(filtering())


def test_each_result_of_the_cpu_says_what_disturbed_its_time(monkeypatch):
    found = results(BUSY, monkeypatch)
    assert found
    for each in found:
        assert each.disturbances == ("other programs kept 2.0 of 2 cores busy",)


@pytest.mark.parametrize(
    ("samples_ms", "words"),
    [
        ((1.0,) * 20, ()),
        ((1.0, 1.1, 1.2, 1.3, 1.4, 9.0), ()),  # one that was late
        ((1.0, 1.0, 2.0, 2.0, 3.0, 3.0), ("its quartiles lie 75 % of the median apart",)),
        ((1.0, 9.0), ()),  # too few to tell
    ],
)
def test_a_time_whose_samples_lie_far_apart_says_so(samples_ms, words):
    assert disturbances_of(None, None, samples_ms) == words


@pytest.mark.parametrize("is_long", [False, True])
def test_only_a_long_jobs_first_picture_waits_for_the_system_to_tell_its_load(is_long, monkeypatch):
    monkeypatch.setattr(cpu_run, "takes_long", lambda job: is_long)
    started = []
    monkeypatch.setattr(LoadWatch, "start", lambda self: started.append(self))
    found = filtering()
    next(found)
    assert bool(started) == is_long
    assert list(found)
    assert started  # the runs that count are watched
