"""A result from the CPU says what else kept the CPU busy while it was measured."""

import numpy as np

from kernels import Engine, Job
from kernels.core.cpu_load import Load, LoadWatch

BUSY = Load(seconds=1.0, cores=2, others_s=2.0, stolen_s=0.0)


def results(load, monkeypatch):
    monkeypatch.setattr(LoadWatch, "load", lambda self: load)
    job = Job(np.zeros((40, 30, 1), np.uint8), np.full((3, 3), 1 / 9, np.float32))
    steps = Engine(use_gpu=False).filtering(job)
    return [step for step in steps if hasattr(step, "disturbances")]


def test_each_result_of_the_cpu_says_what_disturbed_its_time(monkeypatch):
    found = results(BUSY, monkeypatch)
    assert found
    for each in found:
        assert each.disturbances == ("other programs kept 2.0 of 2 cores busy",)


def test_where_nothing_is_known_nothing_is_said(monkeypatch):
    assert all(each.disturbances == () for each in results(None, monkeypatch))
