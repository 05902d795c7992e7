"""Every core: weighted sums by the loops of `_jit_rows`, all else by arrays, a tile a thread."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernels.core.borders import source_indices
from kernels.core.cpu_load import usable_cores
from kernels.core.job import Job, Ran
from kernels.cpu import HostImplementation, Prepared
from kernels.cpu.sequential import compiled_for, smallest, tolerance
from kernels.cpu.stages import filling, tiles_of
from kernels.cpu.tile_arrays import STAGES

STEP_PRODUCTS = 60_000_000  # a thread's share of a step; about 20 ms
LENGTH_PRODUCTS = 16  # what a gradient's length costs a sample
TILE_HW = 64, 512  # pixels; what is worked out for some of them stays in the second-level cache

Loops = Callable[[NDArray[Any], NDArray[Any]], Iterator[float]]  # from a picture, into an array

# numba's own pool of threads ends the program when two threads of ours call it at once.
_one_at_a_time = Lock()
_compiled: set[tuple[str, bool, type]] = set()


def prepare(job: Job) -> Prepared:
    """Compile the loops for the job's pixel type, or load them from a cache."""
    if HOST.compiles(job):
        small = smallest(job)
        list(runner(small)(np.empty_like(small.picture)))
        _compiled.add(compiled_for(job))
    return Prepared(Ran("parallel loops", threads=threads_for(job)), runner(job))


def runner(job: Job) -> Callable[[NDArray[Any]], Iterator[float]]:
    """A function that fills an array like job.picture, some rows on all threads at a time.

    Nothing runs on while it is paused at a yield, so a pause does not spoil a timing.
    """
    if not job.has_weights:
        return lambda out: _tiles(job, out)
    run = _gradient(job) if job.has_length else _sums(job)
    if job.picture.dtype != np.float16:
        return lambda out: run(job.picture, out)

    def on_halves(out: NDArray[Any]) -> Iterator[float]:
        # float16 is not known to numba: its loops read and write float32 then.
        target = np.empty(out.shape, np.float32)
        yield from run(job.picture.astype(np.float32), target)
        with np.errstate(over="ignore"):  # too large samples are infinite
            out[:] = target
        if job.has_alpha:
            out[..., -1] = job.picture[..., -1]

    return on_halves


def _sums(job: Job) -> Loops:
    """Loops that write the weighted picture, rounded if the array holds integers."""
    # One layout and writable, so compiled once.
    weights = np.array(job.correlation.weights, order="C")
    places, alpha = _places(job, job.radius), (job.channels, job.has_alpha)
    steps = tuple(_steps(job, job.ksize**2))

    def fill(picture: NDArray[Any], out: NDArray[Any]) -> Iterator[float]:
        from kernels.cpu._jit_rows import sum_rows

        how = (*places, weights, np.float32(job.correlation.offset), *alpha, *sample_range(out))
        for step in steps:
            with _one_at_a_time:
                sum_rows(_source(picture), _flat(out), how, *step)
            yield step[1] / job.height

    return fill


def _gradient(job: Job) -> Loops:
    """Loops that write the gradient's length of the weighted picture, and the picture's alpha."""
    sums, places = _sums(job), _places(job, 1)
    steps = tuple(_steps(job, LENGTH_PRODUCTS))

    def fill(picture: NDArray[Any], out: NDArray[Any]) -> Iterator[float]:
        from kernels.cpu._jit_rows import length_rows

        weighted = np.empty(out.shape, np.float32)
        yield from sums(picture, weighted)
        how = (*places, job.channels, job.has_alpha, *sample_range(out))
        for step in steps:
            with _one_at_a_time:
                length_rows(_source(weighted), _source(picture), _flat(out), how, *step)
            yield 1.0  # beside the sums this takes no time

    return fill


def _tiles(job: Job, out: NDArray[Any]) -> Iterator[float]:
    """Fill `out` with a filter that is no weighted sum, a tile a thread."""
    # At least as large as what surrounds a tile, which is worked out for it once more.
    rows, columns = (max(side, 2 * job.filter.reach) for side in TILE_HW)
    tiles = tiles_of(job.height, job.width, rows, columns)
    stages = STAGES[type(job.filter)](job.filter)
    yield from filling(job, out, stages, tiles, usable_cores(), _threads().map)


@cache
def _threads() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(usable_cores(), "parallel-tiles")


def _places(job: Job, radius: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Sources of rows, and of samples left and right of one; -1: zero."""
    rows = source_indices(-radius, job.height + radius, job.height, job.border)
    left = source_indices(-radius, 0, job.width, job.border)
    right = source_indices(job.width, job.width + radius, job.width, job.border)
    pixels = np.concatenate([left, right])[:, None]
    samples = pixels * job.channels + np.arange(job.channels)
    return rows, np.where(pixels < 0, -1, samples).ravel()


def sample_range(out: NDArray[Any]) -> tuple[bool, np.float32]:
    """True for samples that are integers, and the largest of them."""
    integers = out.dtype.kind == "u"
    return integers, np.float32(np.iinfo(out.dtype).max if integers else 0)


def threads_for(job: Job) -> int:
    """The threads that share the job's rows, or tiles: numba may have been told to use fewer."""
    if not job.has_weights:
        return usable_cores()
    from numba import get_num_threads

    return min(usable_cores(), int(get_num_threads()), job.height)


def _steps(job: Job, products: int) -> Iterator[tuple[int, int, int]]:
    """Yield each step's first row, its end, and its number of bands."""
    threads = threads_for(job)
    rows = max(STEP_PRODUCTS * threads // (job.width * job.channels * products), threads)
    for first in range(0, job.height, rows):
        last = min(first + rows, job.height)
        yield first, last, min(threads, last - first)


def _flat(picture: NDArray[Any]) -> NDArray[Any]:
    return picture.reshape(len(picture), -1)


def _source(picture: NDArray[Any]) -> NDArray[Any]:
    """A flat, read-only array: numba compiles, for seconds, for each type that it meets."""
    rows = _flat(picture)
    rows.flags.writeable = False
    return rows


IDEA = (
    "The same loops on every CPU core, with a row innermost, so that the compiler's vector "
    "instructions sum many samples at once."
)
HOST = HostImplementation(
    *("parallel", "Parallel", IDEA, 1, tolerance, prepare),
    compiles=lambda job: compiled_for(job) not in _compiled,
)
