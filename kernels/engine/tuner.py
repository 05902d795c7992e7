"""Measure every way to run a class of jobs on this device, so that `auto` knows the quickest."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from math import inf

from kernels.core.device import Device, NoDevice
from kernels.core.device_turns import Waiting
from kernels.core.driving import run_with_progress
from kernels.core.errors import CannotRunError
from kernels.core.job import Job, Result, Sampling
from kernels.engine.auto import DEFAULT_BLOCK_XY, Candidate, JobClass, job_class_of, usual_order
from kernels.engine.engine import Engine
from kernels.engine.job_comparison import measure_checked
from kernels.oracle.checking import Oracle
from kernels.rungs.rung import Rung

Block = tuple[int, int]

WARP = 32
# The block picker's shapes, and whole warps side by side and above each other.
PRESETS: tuple[Block, ...] = ((8, 8), (16, 16), (32, 8), (32, 16), (32, 32))
WIDTHS, HEIGHTS = (WARP, 2 * WARP, 4 * WARP, 8 * WARP), (1, 2, 4, 8, 16)
MIN_THREADS = 2 * WARP
# A way this many times slower than the best is measured no further, and in no other shape.
HOPELESS = 3.0
SAMPLING = Sampling(max_samples=30, max_seconds=0.25, check_taps=3_000_000)


@dataclass(frozen=True, slots=True)
class Tuning:
    """Progress of a tuning: of `ways` to run class number `number` of `count`, `done` are known."""

    number: int
    count: int
    done: int
    ways: int
    doing: str


@dataclass(frozen=True, slots=True)
class Trial:
    """The outcome of one way: its time, or the sentence why it does not count."""

    kind: JobClass
    implementation: str
    block_xy: Block | None
    outcome: Candidate | str


def tuning(
    engine: Engine, jobs: Sequence[Callable[[], Job]], *, shapes: bool = True
) -> Iterator[Tuning | Trial]:
    """Measure, check and remember every way to run each of `jobs`, made one by one.

    shapes  whether to try other block shapes than the usual one
    Raises CannotRunError without a GPU, DeviceLostError where it fails.
    """
    if isinstance(engine.device, NoDevice):
        raise CannotRunError(engine.device.reason)
    try:
        for number, make in enumerate(jobs, start=1):
            where = Tuning(number, len(jobs), 0, 0, "")
            for step in _tuning_one(engine, make(), (number, len(jobs)), shapes=shapes):
                where = step if isinstance(step, Tuning) else where
                yield replace(where, doing=step.doing) if isinstance(step, Waiting) else step
            engine.picker.measurements.save()
    finally:
        engine.picker.measurements.save()


def block_grid(device: Device) -> list[Block]:
    """The shapes to try: the usual one first, none refused by the device or tiny."""
    grid = [(x, y) for x in WIDTHS for y in HEIGHTS if x * y >= MIN_THREADS]
    shapes = dict.fromkeys((DEFAULT_BLOCK_XY, *PRESETS, *grid))
    return [each for each in shapes if device.why_no_block(each) is None]


def _tuning_one(
    engine: Engine, job: Job, place: tuple[int, int], *, shapes: bool
) -> Iterator[Tuning | Trial | Waiting]:
    """Try the ways likely to be quick first, for users who stop early."""
    assert isinstance(engine.device, Device)
    kind, known, best_ms = job_class_of(job), Oracle(), inf
    rungs, measurements = usual_order(job), engine.picker.measurements
    others = [each for each in block_grid(engine.device) if each != DEFAULT_BLOCK_XY]
    usual = [(rung, None if rung.own_block else DEFAULT_BLOCK_XY) for rung in rungs]
    shaped = [(rung, xy) for rung in rungs if shapes and not rung.own_block for xy in others]
    times_ms: dict[str, float] = {}
    for stage in (usual, shaped):
        ways = [
            (rung, xy)
            for rung, xy in stage
            if times_ms.get(rung.key, 0.0) < HOPELESS * best_ms
            and engine.picker.may_run(rung, _job(job, rung, xy))
        ]
        for progress in engine.compiling(_job(job, rung, xy) for rung, xy in ways):
            yield Tuning(*place, 0, len(ways), progress.doing)
        for done, (rung, xy) in enumerate(ways):
            name = f"{rung.key} {xy[0]}×{xy[1]}" if xy else rung.key
            where = Tuning(*place, done, len(ways), f"{name} · {kind}")
            yield where
            one = _job(job, rung, xy)
            steps = measure_checked(engine, one, SAMPLING, known, HOPELESS * best_ms)
            outcome = _outcome((yield from run_with_progress(steps, where)), one, xy)
            if isinstance(outcome, Candidate):
                measurements.add(kind, outcome)
                best_ms = min(best_ms, outcome.median_ms)
                times_ms[rung.key] = min(outcome.median_ms, times_ms.get(rung.key, inf))
            else:
                # Hopeless, wrong or failed: in its usual shape as in any.
                for each in measurements.of(kind):
                    is_shape = stage is usual or each.block_xy == xy
                    if each.implementation == rung.key and is_shape:
                        measurements.discard(kind, each.way)
                times_ms.setdefault(rung.key, inf)
            yield Trial(kind, rung.key, xy, outcome)


def _outcome(found: Result | str, job: Job, block_xy: Block | None) -> Candidate | str:
    if isinstance(found, str):
        return found
    if found.check is None or not found.check.ok:
        return f"Its answer is {found.check or 'not checked'}."
    low_ms, high_ms = found.timed.quartiles_ms
    return Candidate(job.implementation, block_xy, found.timed.median_ms, low_ms, high_ms)


def _job(job: Job, rung: Rung, block_xy: Block | None) -> Job:
    return replace(job, implementation=rung.key, block_xy=block_xy or DEFAULT_BLOCK_XY, devices=1)
