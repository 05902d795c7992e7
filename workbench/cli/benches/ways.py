"""Ways to do a job with other libraries, and how quick and exact a way was found to be."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter
from typing import Any, Literal

import numpy as np

from kernels.core.job import Job, Sampling
from kernels.core.sampling import THREADS_SETTLE_S, take_samples
from kernels.core.timing import Timing
from kernels.core.verdict import Tolerance
from kernels.core.weights import gain
from kernels.oracle.checking import Oracle, checking, error_bound, largest_finite
from kernels.oracle.reference import to_pixel_type

# Outputs that count: those with float32's error, or also those within 1e-4 · Σ|w| · max|p|.
Precision = Literal["float32", "reduced"]
REDUCED_ERROR = 1e-4
ROUNDINGS = 8.0  # more than any library needs that adds up in float32
HALF_ROUNDOFF = 2.0**-11
TAPS = 3_000_000  # of a check
ON_CPU = Sampling(max_samples=5, max_seconds=0.5, warmup_seconds=THREADS_SETTLE_S)


@dataclass(frozen=True, slots=True, eq=False)
class Way:
    """A function of a library that does a job.

    run      returns the output; on the GPU it queues the work on the current stream
    border   the job's, or the nearest that the library offers
    threads  of OpenCV meanwhile; 0: as many as it takes by itself
    """

    library: str
    name: str
    run: Callable[[], Any]
    border: str = "clamp"
    on_gpu: bool = False
    threads: int = 0


@dataclass(frozen=True, slots=True)
class Measured:
    """The time of a rung, or of a library's way, in one cell.

    key        the rung's, or the library's
    precision  how exact its output was found to be; None: not even reduced
    why_not    the reason for having no time, or for not counting
    share      of the copy bandwidth, in percent; this and what follows: of rungs only
    registers  of a thread, shared_bytes of a block: the most of all its passes
    """

    key: str
    name: str = ""
    border: str = ""
    ms: float | None = None
    quartiles: tuple[float, float] | None = None
    samples: int = 0
    max_error: float | None = None
    precision: Precision | None = None
    ok: bool = False
    why_not: str | None = None
    share: float | None = None
    block_xy: tuple[int, int] | None = None
    passes: int = 0
    registers: int | None = None
    shared_bytes: int | None = None

    def counts_as(self, precision: Precision) -> bool:
        """True if its output is right, and as exact as `precision` requires."""
        return self.ok and self.ms is not None and self.precision in ("float32", precision)

    def __str__(self) -> str:
        block = f" {self.block_xy[0]}×{self.block_xy[1]}" if self.block_xy else ""
        return f"{self.name or self.key}{block}"


def quickest(found: tuple[Measured, ...], precision: Precision) -> Measured | None:
    """Find the quickest that counts as `precision`; None without any."""
    able = [each for each in found if each.counts_as(precision)]
    return min(able, key=lambda each: each.ms or 0.0, default=None)


def precision_of(max_error: float, job: Job) -> Precision | None:
    """Classify an output by its largest error; None: wrong.

    Libraries round integers as they like, so one step is allowed; half floats are stored rounded.
    """
    largest = gain(job.weights) * largest_finite(job.picture)
    stored = {"uint8": 1.0, "uint16": 1.0, "float16": HALF_ROUNDOFF * largest}
    allowed = stored.get(job.pixel_type, 0.0)
    if max_error <= allowed + error_bound(job, job.ksize**2, ROUNDINGS):
        return "float32"
    return "reduced" if max_error <= allowed + REDUCED_ERROR * largest else None


def max_error(job: Job, output: Any, known: Oracle | None = None, taps: int = TAPS) -> float:
    """Compare a library's output, of any type and shape, with the reference; in sample values."""
    found = np.asarray(output).reshape(job.picture.shape)
    if found.dtype != job.picture.dtype:
        found = to_pixel_type(found.astype(np.float64), job.picture.dtype)
    tolerance = Tolerance(job.ksize**2, ROUNDINGS)
    *_, check = checking(job, np.ascontiguousarray(found), tolerance, taps, known)
    return check.max_error


def time_on_cpu(run: Callable[[], Any]) -> Timing:
    """Time a function that returns when its work is done."""

    def run_ms() -> float:
        start = perf_counter()
        run()
        return (perf_counter() - start) * 1e3

    return take_samples(run_ms, ON_CPU)


def importable(module: str, title: str) -> str | None:
    """Import `module`; return the reason if that fails."""
    try:
        importlib.import_module(module)
    except Exception as error:  # noqa: BLE001 - a library may fail to load in any way
        words = (str(error).strip().splitlines() or [type(error).__name__])[0][:120]
        return f"{title} is not installed, or does not load ({words})."
    return None
