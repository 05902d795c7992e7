"""Other libraries at the same work: add a module and it is compared with.

A module has

    TITLE              the library
    missing() -> str | None       why it cannot be used here; imports it
    ways(task) -> Iterator[PeerWay]   each way to do the task with it, ready to be timed

A way queues its work on the current stream, as a program that is well written would: plans made,
arrays allocated, weights on the device.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from kernels.core.job import Job
from kernels.core.verdict import Tolerance
from kernels.core.weights import Separable, gain, separate
from kernels.oracle.checking import Oracle, checking, error_bound, largest_finite
from workbench.cli.bench_cells import REDUCED_ERROR, Precision
from workbench.cli.bench_clock import Clock, time_on_cpu

TAPS = 3_000_000
ROUNDINGS = 8.0  # more than any library needs that adds up in float32
HALF_ROUNDOFF = 2.0**-11


@dataclass(frozen=True, slots=True, eq=False)
class Task:
    """A job for all libraries.

    source     (H, W, C) array on the device, contiguous
    separable  the weights' column and row, or None
    """

    job: Job
    clock: Clock
    source: Any
    separable: Separable | None

    @property
    def cp(self) -> Any:
        """Return the cupy module."""
        return self.clock.cp


@dataclass(frozen=True, slots=True, eq=False)
class PeerWay:
    """A library's way to do the task.

    border  the job's, or the nearest that the library offers
    queue   puts the work on the stream; on the CPU: does it
    answer  (H, W, C) of the job's pixel type, in host memory
    """

    name: str
    queue: Callable[[], Any]
    answer: Callable[[], NDArray[Any]]
    border: str = "clamp"
    runs_on: Literal["gpu", "cpu"] = "gpu"


@dataclass(frozen=True, slots=True)
class PeerTime:
    """A way's time in a cell.

    precision  how exact its answer was found to be; None where it was wrong
    why_not    the sentence why there is no time, or None
    """

    module: str
    name: str
    border: str = ""
    ms: float | None = None
    quartiles: tuple[float, float] | None = None
    max_error: float | None = None
    precision: Precision | None = None
    ok: bool = False
    why_not: str | None = None

    def counts_as(self, precision: Precision) -> bool:
        """Return whether its answer was as exact as `precision` asks for."""
        return self.ms is not None and self.precision in ("float32", precision)


def measure_peers(
    job: Job, known: Oracle, clock: Clock, only: Collection[str] | None = None
) -> Iterator[PeerTime]:
    """Time every way of every library here, or of those in `only`, held against the oracle.

    known  the oracle for `job`, as `checking.checking` takes it
    """
    with clock.stream:
        source = clock.cp.asarray(job.picture)
    task = Task(job, clock, source, separate(job.weights))
    oracles = {job.border: known}
    for name in all_peers():
        if only is not None and name not in only:
            continue
        peer = importlib.import_module(f"{__name__}.{name}")
        if reason := peer.missing():
            yield PeerTime(name, peer.TITLE, why_not=reason)
            continue
        yield from _ways(name, peer, task, oracles)
    with clock.stream:
        clock.cp.get_default_memory_pool().free_all_blocks()


def all_peers() -> list[str]:
    """Return the modules of this folder."""
    return [each.name for each in pkgutil.iter_modules(__path__)]


def _ways(name: str, peer: Any, task: Task, oracles: dict[str, Oracle]) -> Iterator[PeerTime]:
    """Yield a library's ways; one that fails must not keep others from being timed."""
    ways = peer.ways(task)
    title = peer.TITLE
    while True:
        try:
            with task.clock.stream:
                way = next(ways, None)
            if way is None:
                return
            title = way.name
            yield _measure(name, way, task, oracles)
        except Exception as error:  # noqa: BLE001
            words = (str(error).strip().splitlines() or [""])[0][:200]
            yield PeerTime(name, title, why_not=f"{type(error).__name__}: {words}")


def _measure(name: str, way: PeerWay, task: Task, oracles: dict[str, Oracle]) -> PeerTime:
    with task.clock.stream:
        way.queue()  # many libraries compile, plan or try out the first time
        task.clock.stream.synchronize()
    timing = time_on_cpu(way.queue) if way.runs_on == "cpu" else task.clock.time(way.queue)
    with task.clock.stream:
        answer = np.ascontiguousarray(way.answer()).reshape(task.job.picture.shape)
        task.clock.stream.synchronize()
    job = replace(task.job, border=way.border)
    tolerance = Tolerance(job.ksize**2, ROUNDINGS)
    found = checking(job, answer, tolerance, TAPS, oracles.setdefault(way.border, {}))
    *_, check = found
    precision = precision_of(check.max_error, job)
    return PeerTime(
        module=name,
        name=way.name,
        border=way.border,
        ms=timing.median_ms,
        quartiles=timing.quartiles_ms,
        max_error=check.max_error,
        precision=precision,
        ok=precision is not None,
        why_not=None if precision else f"Its answer is off by {check.max_error:.3g}.",
    )


def precision_of(max_error: float, job: Job) -> Precision | None:
    """Return how exact an answer is that is off by `max_error` at most; None: wrong.

    Libraries round integers as they like, so one step is allowed; half floats are stored rounded.
    """
    largest = gain(job.weights) * largest_finite(job.picture)
    stored = {"uint8": 1.0, "uint16": 1.0, "float16": HALF_ROUNDOFF * largest}
    allowed = stored.get(job.pixel_type, 0.0)
    if max_error <= allowed + error_bound(job, job.ksize**2, ROUNDINGS):
        return "float32"
    return "reduced" if max_error <= allowed + REDUCED_ERROR * largest else None


def to_host(cp: Any, array: Any) -> NDArray[Any]:
    """Return `array`, of any library, in host memory."""
    return np.asarray(cp.asnumpy(cp.asarray(array)))


def importable(module: str, title: str) -> str | None:
    """Return why `module` cannot be imported, in a sentence; None if it can."""
    try:
        importlib.import_module(module)
    except Exception as error:  # noqa: BLE001 - a library may fail to load in any way
        words = (str(error).strip().splitlines() or [type(error).__name__])[0][:120]
        return f"{title} is not installed, or does not load ({words})."
    return None
