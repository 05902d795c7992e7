"""Measure one job along one dimension with several implementations, one point after the other."""

from __future__ import annotations

import csv
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Literal, TextIO

import numpy as np
from numpy.typing import NDArray

from kernels.check import Check
from kernels.engine import Engine, Implementation
from kernels.errors import DeviceLostError, KernelError, OutOfMemoryError
from kernels.job import Job, Progress, Ran, Result, Sampling
from kernels.pictures import noise
from kernels.timing import Timing

Dimension = Literal["image size", "kernel size", "block shape"]
DIMENSIONS: tuple[Dimension, ...] = ("image size", "kernel size", "block shape")
Value = int | tuple[int, int]  # pixels a side, K, or threads (x, y)


@dataclass(frozen=True, slots=True)
class Cell:
    """One measurement of a plan.  value None: the same at every value, so measured once."""

    implementation: Implementation
    value: Value | None


@dataclass(frozen=True, slots=True, eq=False)
class SweepPlan:
    """What to measure: `dimension` takes `values` in turn, everything else stays as given.

    picture  (H, W, C); along "image size" only its channels and pixel type count
    weights  the (K, K) float32 weights for a K
    ksize    the K, border, block_xy and gradient as in Job; what varies is not read
    """

    dimension: Dimension
    values: tuple[Value, ...]
    implementations: tuple[Implementation, ...]
    picture: NDArray[Any] = field(repr=False)
    weights: Callable[[int], NDArray[np.float32]]
    ksize: int
    border: str
    block_xy: tuple[int, int]
    filter_title: str
    gradient: bool = False

    @property
    def cells(self) -> tuple[Cell, ...]:
        return cells(self.dimension, self.values, self.implementations)


@dataclass(frozen=True, slots=True)
class Measurement:
    """A Result without its pictures: a sweep's pictures together would not fit into memory."""

    shape: tuple[int, ...]
    pixel_type: str
    filter_title: str
    ksize: int
    border: str
    block_xy: tuple[int, int]
    kernel: Timing
    ran: tuple[Ran, ...]
    compile_ms: float | None
    upload_ms: float | None
    download_ms: float | None
    megapixels_per_s: float
    effective_gb_s: float
    check: Check | None
    device_name: str | None

    @classmethod
    def of(cls, result: Result) -> Measurement:
        job = result.job
        return cls(
            shape=job.picture.shape,
            pixel_type=job.pixel_type,
            filter_title=job.filter_title,
            ksize=job.ksize,
            border=job.border,
            block_xy=job.block_xy,
            kernel=result.kernel,
            ran=result.ran,
            compile_ms=result.compile_ms,
            upload_ms=result.upload_ms,
            download_ms=result.download_ms,
            megapixels_per_s=result.megapixels_per_s,
            effective_gb_s=result.effective_gb_s,
            check=result.check,
            device_name=result.device_name,
        )


@dataclass(frozen=True, slots=True)
class SweepPoint:
    """What came of one cell: a measurement, or the sentence that says why there is none.

    value  None: measured once, because it is the same at every value
    """

    dimension: Dimension
    implementation: Implementation
    value: Value | None
    outcome: Measurement | str

    @property
    def verified(self) -> Measurement | None:
        """The measurement, if its answer was found right: only then is it a speed."""
        if isinstance(self.outcome, str) or self.outcome.check is None:
            return None
        return self.outcome if self.outcome.check.ok else None

    @property
    def objection(self) -> str | None:
        """Why `verified` is None, in words."""
        if isinstance(self.outcome, str):
            return self.outcome
        check = self.outcome.check
        if check is None:
            return "Its answer was not checked."
        return None if check.ok else f"Its answer is {check}."

    @property
    def name(self) -> str:
        """For people: OpenCV 1024², OpenCV 7×7, Shared-memory tile 32×8."""
        return f"{self.implementation.title} {in_words(self.dimension, self.value)}".strip()


def in_words(dimension: Dimension, value: Value | None) -> str:
    """1024², 7×7 or 32×8; nothing for None."""
    if value is None:
        return ""
    if isinstance(value, tuple):
        return f"{value[0]}×{value[1]}"
    return f"{value}²" if dimension == "image size" else f"{value}×{value}"


def cells(
    dimension: Dimension, values: Iterable[Value], implementations: Iterable[Implementation]
) -> tuple[Cell, ...]:
    """All there is to measure, in order.  The CPU has no block shapes: there, once is enough."""
    implementations = tuple(implementations)
    once = [i for i in implementations if dimension == "block shape" and i.kind == "cpu"]
    rest = [i for i in implementations if i not in once]
    return (
        *(Cell(each, None) for each in once),
        *(Cell(each, value) for value in values for each in rest),
    )


def sweeping(
    plan: SweepPlan, engine: Engine, sampling: Sampling
) -> Iterator[Progress | SweepPoint]:
    """Measure every cell of `plan`; whoever drives may pause or stop at each Progress.

    A cell that cannot be measured becomes a point with its reason.  Only a DeviceLostError ends
    the sweep: nothing after it could be trusted.
    """
    picture = lru_cache(maxsize=1)(lambda side: _noise(plan.picture, side))
    for number, cell in enumerate(plan.cells, start=1):
        point = SweepPoint(plan.dimension, cell.implementation, cell.value, "")
        where = f"{number} of {len(plan.cells)} · {point.name}"
        yield Progress(where)
        outcome = yield from _measuring(plan, cell, picture, engine, sampling, where)
        yield SweepPoint(plan.dimension, cell.implementation, cell.value, outcome)


def _measuring(
    plan: SweepPlan,
    cell: Cell,
    picture: Callable[[int], NDArray[Any]],
    engine: Engine,
    sampling: Sampling,
    where: str,
) -> Generator[Progress, None, Measurement | str]:
    result: Result | None = None
    try:
        job = _job(plan, cell, picture)
        for step in engine.filtering(job, sampling):
            if isinstance(step, Result):
                result = step
            yield Progress(where)  # and not what is being done to it: that changes too fast
    except DeviceLostError:
        raise
    except KernelError as error:
        return str(error)
    return Measurement.of(result) if result else "It gave no result."


def _job(plan: SweepPlan, cell: Cell, picture: Callable[[int], NDArray[Any]]) -> Job:
    side, ksize, block_xy = None, plan.ksize, plan.block_xy
    match cell.value:
        case int(pixels) if plan.dimension == "image size":
            side = pixels
        case int(size):
            ksize = size
        case (x, y):
            block_xy = (x, y)
    return Job(
        picture=picture(side) if side is not None else plan.picture,
        weights=plan.weights(ksize),
        border=plan.border,
        implementation=cell.implementation.key,
        block_xy=block_xy,
        filter_title=plan.filter_title,
        gradient=plan.gradient,
    )


def _noise(like: NDArray[Any], side: int) -> NDArray[Any]:
    """A side × side picture of noise with the channels and pixel type of `like`."""
    try:
        picture = noise(side, side, like.shape[2], str(like.dtype))
    except MemoryError as error:
        raise OutOfMemoryError(
            f"A picture of {side}×{side} pixels does not fit into memory; use a smaller one."
        ) from error
    picture.flags.writeable = False
    return picture


_COLUMNS = (
    *("implementation", "kind", "varied", "value", "height", "width", "channels", "pixel_type"),
    *("filter", "kernel_size", "sigma", "amount", "border", "block_x", "block_y"),
    *("median_ms", "lower_quartile_ms", "upper_quartile_ms", "samples", "cache", "compile_ms"),
    *("upload_ms", "download_ms", "megapixels_per_s", "effective_gb_s", "threads", "cpu"),
    *("device", "check", "max_error", "note"),
)


def write_csv(
    points: Iterable[SweepPoint], file: TextIO, same: Mapping[str, object] | None = None
) -> None:
    """One row a point, times in milliseconds; a rate stands only beside a passed check.

    file  opened with newline=""
    same  what no point knows and all share: the columns sigma, amount and cpu
    """
    writer = csv.DictWriter(file, _COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(dict(same or {}) | _row(point) for point in points)


def _row(point: SweepPoint) -> dict[str, object]:
    value = point.value
    row: dict[str, object] = {
        "implementation": point.implementation.key,
        "kind": point.implementation.kind,
        "varied": point.dimension,
        "value": f"{value[0]}x{value[1]}" if isinstance(value, tuple) else value,
        "note": point.objection,
    }
    if isinstance(point.outcome, Measurement):
        row |= _job_columns(point.outcome) | _timing_columns(point.outcome)
        row |= _check_columns(point.outcome)
    return {name: _six_digits(each) for name, each in row.items()}


def _six_digits(value: object) -> object:
    """No clock is finer, and what is not a measurement keeps its digits."""
    return float(f"{value:.6g}") if isinstance(value, float) else value


def _job_columns(m: Measurement) -> dict[str, object]:
    height, width, channels = m.shape
    on_gpu = any(ran.block for ran in m.ran)
    block_x, block_y = m.block_xy if on_gpu else (None, None)  # the CPU has no blocks
    return {
        "height": height,
        "width": width,
        "channels": channels,
        "block_x": block_x,
        "block_y": block_y,
        "pixel_type": m.pixel_type,
        "filter": m.filter_title,
        "kernel_size": m.ksize,
        "border": m.border,
    }


def _timing_columns(m: Measurement) -> dict[str, object]:
    low, high = m.kernel.quartiles_ms
    return {
        "median_ms": m.kernel.median_ms,
        "lower_quartile_ms": low,
        "upper_quartile_ms": high,
        "samples": len(m.kernel.samples_ms),
        "cache": m.kernel.cache,
        "compile_ms": m.compile_ms,
        "upload_ms": m.upload_ms,
        "download_ms": m.download_ms,
        "threads": max((ran.threads or 0 for ran in m.ran), default=0) or None,
        "device": m.device_name,
    }


def _check_columns(m: Measurement) -> dict[str, object]:
    if m.check is None:
        return {"check": "none"}
    if not m.check.ok:
        return {"check": "wrong", "max_error": m.check.max_error}
    return {
        "check": "passed",
        "max_error": m.check.max_error,
        "megapixels_per_s": m.megapixels_per_s,
        "effective_gb_s": m.effective_gb_s,
    }
