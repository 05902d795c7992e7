"""The libraries' times in a cell, each output held against the float64 reference."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace

import numpy as np

from kernels.core.job import Job
from kernels.core.verdict import Tolerance
from kernels.core.weights import gain, separate
from kernels.oracle.checking import Oracle, checking, error_bound, largest_finite
from workbench.cli.benches.bench_clock import Clock, time_on_cpu
from workbench.cli.benches.cells import REDUCED_ERROR, Precision
from workbench.cli.benches.libraries import LIBRARIES, Library, PeerWay, Task

TAPS = 3_000_000
ROUNDINGS = 8.0  # more than any library needs that adds up in float32
HALF_ROUNDOFF = 2.0**-11


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
    with clock.using():
        source = clock.cp.asarray(job.picture)
    task = Task(job, clock, source, separate(job.weights))
    oracles = {job.border: known}
    for name, library in LIBRARIES.items():
        if only is not None and name not in only:
            continue
        if reason := library.missing():
            yield PeerTime(name, library.title, why_not=reason)
            continue
        yield from _times(name, library, task, oracles)
    with clock.using():
        clock.cp.get_default_memory_pool().free_all_blocks()


def _times(
    name: str, library: Library, task: Task, oracles: dict[str, Oracle]
) -> Iterator[PeerTime]:
    """Yield a library's ways; one that fails must not keep others from being timed."""
    ways, title = library.ways(task), library.title
    while True:
        try:
            with task.clock.using():
                way = next(ways, None)
            if way is None:
                return
            title = way.name
            yield _measure(name, way, task, oracles)
        except Exception as error:  # noqa: BLE001
            words = (str(error).strip().splitlines() or [""])[0][:200]
            yield PeerTime(name, title, why_not=f"{type(error).__name__}: {words}")


def _measure(name: str, way: PeerWay, task: Task, oracles: dict[str, Oracle]) -> PeerTime:
    with task.clock.using():
        way.queue()  # many libraries compile, plan or try out the first time
        task.clock.stream.synchronize()
    timing = time_on_cpu(way.queue) if way.runs_on == "cpu" else task.clock.time(way.queue)
    with task.clock.using():
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
