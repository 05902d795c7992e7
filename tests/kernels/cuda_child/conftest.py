"""Children whose devices are made up, one set for a file of tests, and deadlines."""

from __future__ import annotations

import pytest

from kernels.cuda_child.worker_pool import Limits, WorkerPool
from tests.made_up import H200

FAKES = "tests.kernels.cuda_child.fake_devices"
LIMITS = Limits(
    {"starting": 120.0, "compiling": 60.0, "preparing": 60.0, "fetching": 60.0}, 600 << 20
)


def use_fake_gpu(monkeypatch, children):
    """Have engines find a GPU, whose user kernels run in `children`; no search finds a bug."""
    monkeypatch.setattr("kernels.cuda_child.gpu_trial.MIN_DEADLINE_S", 60.0)
    monkeypatch.setattr("kernels.engine.engine.probe", lambda _: H200)
    monkeypatch.setattr("kernels.engine.engine.compiling_ahead", lambda *_: ())
    monkeypatch.setattr("kernels.engine.engine.Engine.ceilings", lambda _: {})
    monkeypatch.setattr("kernels.engine.own_run.cuda_children", lambda _: children)
    monkeypatch.setattr("kernels.cuda_on_cpu.trial.finding_bug", lambda *_, **__: iter([None]))


def children_of(device: str, limits: Limits = LIMITS) -> WorkerPool:
    return WorkerPool(f"{FAKES}:{device}", limits=limits)


@pytest.fixture
def long_deadlines(monkeypatch):
    """However much else this computer does, what comes to an end is not ended before."""
    monkeypatch.setattr("kernels.cuda_child.gpu_trial.MIN_DEADLINE_S", 60.0)


@pytest.fixture
def short_deadlines(monkeypatch):
    monkeypatch.setattr("kernels.cuda_child.gpu_trial.MIN_DEADLINE_S", 0.3)
    monkeypatch.setattr("kernels.cuda_child.worker_pool.FAULT_S", 1.5)


@pytest.fixture
def children_on():
    """Make children with a device of their own, which end with the test."""
    made = []

    def make(device: str, limits: Limits = LIMITS) -> WorkerPool:
        made.append(children_of(device, limits))
        return made[-1]

    yield make
    for each in made:
        each.end(60)
