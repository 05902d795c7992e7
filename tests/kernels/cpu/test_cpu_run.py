"""How a job's run on the CPU is warmed up before it is timed."""

from itertools import count
from time import perf_counter, sleep

import numpy as np
import pytest

from kernels.core.job import Job, Ran, Result, Sampling
from kernels.core.sampling import THREADS_SETTLE_S
from kernels.core.verdict import Tolerance
from kernels.cpu import HostImplementation, Prepared
from kernels.cpu.cpu_run import filtering

NUMBERS = count()
RUN_S = 0.002


def runs_of(threads, sampling, key=None):
    """Run an implementation that only waits; return when each run began, and the result.

    key  of one that has run before; None: a new one
    """
    began: list[float] = []

    def filled(out):
        began.append(perf_counter())
        sleep(RUN_S)
        out.fill(0)
        yield 1.0

    waiting = HostImplementation(
        key=key or f"waiting {next(NUMBERS)}",
        title="Waiting",
        idea="Waits.",
        order=0,
        tolerance=lambda _: Tolerance(1, 1.0),
        refuses=lambda _: None,
        prepare=lambda _: Prepared(Ran("waiting", threads=threads), filled),
    )
    job = Job.of(np.zeros((4, 4, 1), np.uint8), np.ones((1, 1), np.float32))
    steps = list(filtering(waiting, job, sampling))
    return began, [step for step in steps if isinstance(step, Result)][-1]


@pytest.mark.parametrize("sampling", [Sampling(), Sampling(max_samples=1, warmups=3)])
def test_several_threads_have_found_a_core_each_before_the_first_sample(sampling):
    began, result = runs_of(2, sampling)
    first_sample = began[result.kernel.warmups]
    assert first_sample - began[0] >= THREADS_SETTLE_S
    assert len(began) == result.kernel.warmups + len(result.kernel.samples_ms)
