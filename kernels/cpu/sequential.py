"""One thread, plain nested loops: the baseline that published comparisons use."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

import numpy as np

from kernels.core.job import Job, Ran
from kernels.core.verdict import Tolerance
from kernels.cpu import HostImplementation, Prepared
from kernels.cpu.plain_loops import STAGES
from kernels.cpu.stages import Tile, filling, tiles_of

STEP_TAPS = 20_000_000  # products; about 20 ms of plain loops on one core

_compiled: set[tuple[str, bool, type]] = set()


def tolerance(job: Job) -> Tolerance:
    """The error it may make: one addition for each weight."""
    return Tolerance(chain=job.ksize**2)


def prepare(job: Job) -> Prepared:
    """Compile the loops for the job's kind of filter, or load them from a cache."""
    tiles = rectangles(job.height, job.width, job.filter.taps * job.channels)
    stages = tuple(each for step in job.steps for each in STAGES[type(step.filter)](step.filter))
    if HOST.compiles(job):
        small = smallest(job)
        list(filling(small, small.picture.copy(), stages, [(0, 1, 0, 1)]))
        _compiled.add(compiled_for(job))
    ran = Ran("sequential loops", threads=1)
    return Prepared(ran, lambda out: filling(job, out, stages, tiles))


def compiled_for(job: Job) -> tuple[str, bool, type]:
    """What loops are compiled for."""
    return job.pixel_type, job.has_length, type(job.filter)


def smallest(job: Job) -> Job:
    """A small job that needs what is compiled for `job`."""
    picture = np.zeros((1, 1, 1), job.picture.dtype)
    if job.has_weights:
        return Job.of(picture, np.zeros((1, 1), np.float32), gradient=job.has_length)
    return job.but(picture=picture, filter=replace(cast(Any, job.filter), ksize=1), is_flat=False)


def rectangles(height: int, width: int, taps_per_pixel: int) -> list[Tile]:
    """Cover height × width once, in order, with rectangles of about STEP_TAPS."""
    pixels = max(STEP_TAPS // taps_per_pixel, 1)
    rows = min(max(pixels // width, 1), height)
    return tiles_of(height, width, rows, min(pixels, width))


IDEA = (
    "One CPU thread, plain nested loops, compiled: the baseline that published reports use, "
    "and far from what a CPU can do."
)
HOST = HostImplementation(
    *("sequential", "Sequential", IDEA, 0, tolerance, prepare),
    compiles=lambda job: compiled_for(job) not in _compiled,
)
