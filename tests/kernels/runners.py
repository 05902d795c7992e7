"""Ways to run an implementation in a test: on the host, on the CPU shim, on the GPU.

Each is a function of a job that returns the filtered picture; before it runs, every byte of the
answer is POISON, so that what was not written shows.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from kernels.core.device import Device, NoDevice
from kernels.core.errors import CannotRunError
from kernels.core.job import Job, Sampling
from kernels.core.verdict import Check
from kernels.cpu import HostImplementation, host_implementations
from kernels.cuda.probing import probe
from kernels.cuda_on_cpu import compiler
from kernels.cuda_on_cpu.shim import Order
from kernels.engine.engine import Engine
from kernels.oracle.checking import checking
from kernels.rungs.headers import Facts
from kernels.rungs.rung import Rung, ladder
from tests.kernels.cases import (
    HALVES_CASES,
    LEVELS,
    NAN_CASES,
    OFFSET_CASES,
    dark_job,
    has_no_weights,
    usual_cases,
)
from tests.kernels.on_cpu import POISON, Shim
from tests.made_up import H200

Run = Callable[[Job], NDArray[Any]]

HOST = {each.key: each for each in host_implementations()}
RUNGS = {each.key: each for each in ladder()}
ON_HOST = list(HOST)
ON_SHIM = [f"{key}-shim" for key in RUNGS]
# Without a GPU one rung is skipped for all of them.
ON_GPU = [f"{key}-gpu" for key in (RUNGS if isinstance(probe(), Device) else ["global"])]
NAMES = ON_HOST + ON_SHIM + ON_GPU


def key_of(name: str) -> str:
    """The implementation that runner `name` runs."""
    return name.removesuffix("-shim").removesuffix("-gpu")


def make_runner(name: str, build_cache: Path) -> Run:
    """The function that runs a job on `name`; skips the test that asks where it cannot."""
    if name in HOST:
        return on_host(HOST[name])
    if name in ON_GPU:
        return on_gpu(key_of(name), the_engine())
    return on_shim(RUNGS[key_of(name)], build_cache)


def on_host(implementation: HostImplementation) -> Run:
    def run(job: Job) -> NDArray[Any]:
        if reason := implementation.why_not(job):
            raise CannotRunError(reason)
        out = poisoned_like(job.picture)
        for _ in implementation.prepare(job).filtering(out):
            pass
        return out

    return run


@cache
def shim_of(rung: Rung, build_cache: Path) -> Shim:
    """Compiled at once for the knobs of the cases that all tests share."""
    if reason := compiler.why_not():
        pytest.skip(f"device code does not run on this CPU: {reason}")
    jobs = [case.job(rung.key) for case in usual_cases(rung.key)]
    if not has_no_weights(rung.key):
        jobs += [in_a_block_it_takes(case.job(rung.key)) for case in (*NAN_CASES, *HALVES_CASES)]
    if rung.filter == "weights":
        jobs += [in_a_block_it_takes(dark_job(*each, rung.key)) for each in OFFSET_CASES]
    return Shim(rung, (job for job in jobs if not rung.why_not(job, H200)), build_cache)


def on_shim(rung: Rung, build_cache: Path) -> Run:
    """By `shim_of`; what that was not compiled for is compiled when it comes."""
    shim_of(rung, build_cache)  # or skip the test at once

    def run(job: Job) -> NDArray[Any]:
        if reason := rung.why_not(job, H200):
            raise CannotRunError(reason)
        return shim_for(rung, job, build_cache).run(job, order_of(job))

    return run


def shim_for(rung: Rung, job: Job, build_cache: Path) -> Shim:
    """`shim_of` the rung where that was compiled for the job, else one for it alone."""
    first = shim_of(rung, build_cache)
    return first if first.has(job) else Shim(rung, [job], build_cache)


def order_of(job: Job) -> Order:
    """Any, but the same for the same job."""
    return Order(zlib.crc32(job.picture.tobytes()) % len(Order))


def in_a_block_it_takes(job: Job) -> Job:
    """`job` with the first of the usual blocks that its rung does not refuse, if there is one."""
    if job.implementation not in RUNGS:
        return job
    jobs = (job.but(block_xy=block) for block in (job.block_xy, *LEVELS["block_xy"]))
    taken = (each for each in jobs if not RUNGS[job.implementation].why_not(each, H200))
    return next(taken, job)


def on_gpu(key: str, engine: Engine) -> Run:
    """Through the engine, with memory that was poisoned and given back just before."""
    if isinstance(engine.device, NoDevice):
        pytest.skip(engine.device.reason)

    def run(job: Job) -> NDArray[Any]:
        _poison_gpu(job.height * Facts(job)["PITCH"] * job.picture.itemsize)
        assert job.implementation == key
        return engine.run(job, Sampling(max_samples=1, check=False)).picture

    return run


@cache
def the_engine() -> Engine:
    """One for all tests: a CUDA context takes half a second."""
    return Engine()


def poisoned_like(picture: NDArray[Any]) -> NDArray[Any]:
    """An array like `picture` with every byte POISON."""
    flat = np.full(picture.nbytes, POISON, np.uint8).view(picture.dtype)
    return flat.reshape(picture.shape)


def verdict(job: Job, answer: NDArray[Any]) -> Check:
    """The full check of what job.implementation answered."""
    how = HOST.get(job.implementation) or RUNGS[job.implementation]
    *_, check = checking(job, answer, how.tolerance(job), max_taps=None)
    assert check.is_full
    return check


def _poison_gpu(size: int) -> None:
    """CuPy hands out again what was given back last, for the picture and for the answer, if that
    was on the same stream."""
    import cupy as cp

    with the_engine().gpu.stream as stream:
        blocks = [cp.full(size, POISON, cp.uint8) for _ in range(2)]
        stream.synchronize()
        del blocks
