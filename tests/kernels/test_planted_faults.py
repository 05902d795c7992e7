"""The tests, tested: a rung with a fault in it must not get through them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from kernels.rung import ladder
from tests.cuda_on_cpu import compiler
from tests.cuda_on_cpu.shim import LaunchError, Order, Shim
from tests.kernels import runners as r
from tests.kernels.cases import pairwise_cases
from tests.kernels.faults import FAULTS, Fault, plant
from tests.kernels.test_against_oracle import halves_differ

RUNGS = {rung.key: rung for rung in ladder()}
pytestmark = pytest.mark.skipif(compiler.why_not() is not None, reason=str(compiler.why_not()))


def is_caught(run: r.Run, key: str) -> bool:
    """Whether the pairwise cases, or the test of halves, find `run` wrong."""
    jobs = [case.job(key) for case in pairwise_cases()]
    return any(not r.verdict(job, run(job)).ok for job in jobs) or halves_differ(key, run) > 0


@pytest.mark.parametrize("name", FAULTS)
def test_a_planted_fault_is_caught(name, build_cache):
    fault = FAULTS[name]
    assert is_caught(r.on_shim(plant(fault, RUNGS[fault.rung]), build_cache), fault.rung)


@pytest.mark.parametrize("order", Order)
def test_a_missing_barrier_is_caught_in_whatever_order_threads_run(order, build_cache):
    rung = plant(FAULTS["no barrier"], RUNGS["shared"])
    job = next(case for case in pairwise_cases() if case.size_hw == (64, 64)).job("shared")
    assert not r.verdict(job, Shim(rung, [job], build_cache).run(job, order)).ok


@pytest.mark.parametrize("key", [key for key, rung in RUNGS.items() if rung.weights == "constant"])
def test_weights_of_the_job_before_are_caught(key, build_cache):
    case = next(case for case in pairwise_cases() if case.ksize == 5 and case.size_hw[0] > 30)
    job = case.job(key)
    stale = np.roll(job.weights, 1)
    shim = Shim(RUNGS[key], [job], build_cache)
    assert r.verdict(job, shim.run(job)).ok
    assert not r.verdict(job, shim.run(job, weights=stale)).ok


def test_a_barrier_that_some_threads_never_reach_is_named(build_cache):
    leave = "if (threadIdx.x == 0 && threadIdx.y == 0) return;"
    fault = Fault("shared", "__syncthreads();", f"{leave} __syncthreads();")
    rung = plant(fault, RUNGS["shared"])
    job = replace(pairwise_cases()[0].job("shared"), block_xy=(8, 8))
    line = RUNGS["shared"].source.split("__syncthreads")[0].count("\n") + 1
    with pytest.raises(LaunchError, match=rf"63 wait at __syncthreads \(line {line}\), 1 ended"):
        Shim(rung, [job], build_cache).run(job)


def test_a_row_beyond_the_last_of_a_launch_is_caught(build_cache):
    """A whole picture in one launch would not show it: below it there is nothing to write."""
    rung = plant(Fault("global", "y >= end_row", "y >= height"), RUNGS["global"])
    job = next(case for case in pairwise_cases() if case.size_hw == (31, 33)).job("global")
    good = Shim(RUNGS["global"], [job], build_cache).run(job, rows=(5, 11))
    bad = Shim(rung, [job], build_cache).run(job, rows=(5, 11))
    assert not np.array_equal(good[11:], bad[11:])
