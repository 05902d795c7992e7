"""Compiling ahead: each kernel once, failures left to whoever launches, and it can be stopped."""

import sys
import threading
from contextlib import nullcontext
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from kernels.core.job import Job
from kernels.cuda.compile_ahead import compiling_ahead
from kernels.rungs.rung import ladder
from tests.made_up import H200

JOB = Job(np.zeros((8, 8, 1), np.uint8), np.ones((3, 3), np.float32))
RUNGS = {rung.key: rung for rung in ladder()}


@pytest.fixture
def compiled(monkeypatch):
    """What was compiled; `compiled.before` is called first with the rung."""
    found = SimpleNamespace(keys=[], before=lambda rung: None)

    class Programs:
        def __init__(self, cp):
            pass

        def get(self, rung, job):
            found.before(rung)
            found.keys.append((rung.key, job.ksize))

    fake = SimpleNamespace(cuda=SimpleNamespace(Device=lambda index: nullcontext()))
    monkeypatch.setitem(sys.modules, "cupy", fake)
    monkeypatch.setattr("kernels.cuda.launch.Programs", Programs)
    return found


def test_kernels_that_differ_are_compiled_once_each(compiled):
    larger = replace(JOB, weights=np.ones((5, 5), np.float32))
    elsewhere = replace(JOB, picture=np.zeros((16, 16, 1), np.uint8))
    wanted = [(RUNGS["global"], job) for job in (JOB, larger, elsewhere)]
    said = [each.doing for each in compiling_ahead(H200, wanted)]
    assert sorted(compiled.keys) == [("global", 3), ("global", 5)]
    assert said[0] == "compiling, 2 of 2 kernels left"


def test_stopped_it_forgets_those_that_wait(compiled, monkeypatch):
    monkeypatch.setattr("kernels.cuda.compile_ahead.usable_cores", lambda: 1)
    may_go_on = threading.Event()
    compiled.before = lambda rung: may_go_on.wait(10)
    steps = compiling_ahead(H200, [(RUNGS[key], JOB) for key in ("global", "constant", "shared")])
    next(steps)
    threading.Timer(0.05, may_go_on.set).start()
    steps.close()
    assert len(compiled.keys) <= 1
