"""Devices and results that nobody measured, for tests of what is made of them."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np

from kernels.core.device import Device
from kernels.core.job import Job, Pick, Ran, Result
from kernels.core.timing import Timing
from kernels.core.verdict import Check
from kernels.engine.engine import Implementation, all_implementations

PICTURE = np.zeros((100, 200, 3), np.uint8)
PICTURE.flags.writeable = False
WEIGHTS = np.full((5, 5), 0.04, np.float32)

H200 = Device(
    index=0,
    name="NVIDIA H200",
    compute_capability=(9, 0),
    multiprocessors=132,
    clock_khz=1_980_000,
    max_threads_per_block=1024,
    max_block_xy=(1024, 1024),
    shared_bytes_per_block=232_448,
    l2_bytes=60 << 20,
    memory_bytes=140 << 30,
    watchdog=False,
    driver_version=13_000,
    runtime_version=13_000,
    nvrtc_version=13_000,
    count=1,
    max_threads_per_multiprocessor=2048,
    shared_bytes_per_multiprocessor=233_472,
    registers_per_multiprocessor=65_536,
    max_blocks_per_multiprocessor=32,
    reserved_shared_bytes_per_block=1024,
)

PASSED = Check(0.5, (0, 0, 0), 0, 0, 1e-3, 20_000, 20_000)
PARTLY = Check(0.5, (0, 0, 0), 0, 0, 1e-3, 1_500, 20_000)
FAILED = Check(35.0, (7, 3, 1), 40, 12, 1e-3, 20_000, 20_000)


@cache
def implementations() -> dict[str, Implementation]:
    """Every one by its key; asked for where it is needed, as processes import this module."""
    return {each.key: each for each in all_implementations()}


def result(
    implementation="shared", samples_ms=(0.2, 0.1, 0.3), check=PASSED, job=None, **facts
) -> Result:
    """A Result of PICTURE and WEIGHTS, unless `job` is given."""
    job = job or a_job(implementation)
    on_gpu = implementations()[job.implementation].kind == "cuda"
    x, y = job.block_xy
    ran = (
        Ran("convolve", grid=(19, 13), block=(x, y), registers=40, shared_bytes=1664)
        if on_gpu
        else Ran("cv2.sepFilter2D", threads=2)
    )
    facts.setdefault("download_ms", 0.31 if on_gpu else None)
    timing = Timing(tuple(samples_ms), "cold" if on_gpu else None)
    return Result(job, job.picture, timing, (ran,), check=check, **facts)


def picked_result(implementation="shared", why="measured here", **facts) -> Result:
    """What `auto` makes of a job for which it picks `implementation`."""
    made = result(implementation, **facts)
    pick = Pick(implementation, made.ran[0].block, why)
    return replace(made, job=made.job.but(implementation="auto"), picked=pick)


def a_job(implementation="shared", block_xy=(32, 8), weights=WEIGHTS, picture=PICTURE) -> Job:
    return Job.of(picture, weights, "clamp", implementation, block_xy, "Gaussian blur")
