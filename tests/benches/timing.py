"""Compare our clock with others on the same launches: `python -m tests.benches.timing`.

Above 100 µs they have to agree within 3 %.  Below, what events see beside the kernel counts as
well: the launch itself, and the gaps around it.  That is measured too, by timing an empty kernel in
each way, and a difference that the empty kernels show as well is no other speed.
"""

from __future__ import annotations

import json
import sys
from argparse import Namespace
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from kernels import Engine
from kernels.core.device import NoDevice
from kernels.core.errors import KernelError
from kernels.core.job import Job, Sampling
from kernels.core.sampling import take_samples
from kernels.core.timing import Timing
from kernels.core.version import program_version
from kernels.cuda.event_timer import EventTimer
from kernels.rungs.rung import Rung
from tests.benches import bench
from workbench.base import diagnostics, numbers
from workbench.base.columns import aligned
from workbench.cli import made_jobs, this_machine
from workbench.cli.benches import chosen
from workbench.cli.benches.ways import importable
from workbench.cli.output import CommandError, write_whole

KEYS = ("global", "shared", "register_tile", "tile_separable")
SIZES = ((256, 256), (512, 768), (2048, 2048), (4096, 4096), (8192, 8192))  # rows, columns
KSIZE, BLOCK_XY = 7, (32, 8)
SAMPLING = Sampling(
    min_samples=20, max_samples=100, max_seconds=0.3, warmups=2, warmup_seconds=0.02
)
LONG_MS = 0.1  # from here on clocks have to agree
WITHIN = 0.03
GAP_WITHIN_MS = 0.001  # medians of so short launches wander by as much from run to run
NOTHING = "an empty launch"
RUNS, WARMUPS = 100, 20
QUARTILES = (0.25, 0.5, 0.75)
Launch = Callable[[], None]


@dataclass(frozen=True, slots=True, eq=False)
class Queue:
    """A job made ready, to be timed in any way.

    stream  of CUDA, by its address, that `launch` queues the job's kernels on
    timer   our own, on that stream
    """

    stream: int
    launch: Callable[[], None]
    timer: EventTimer


@contextmanager
def queue_of(engine: Engine, job: Job) -> Iterator[Queue]:
    """Make `job` ready on the engine's stream; no other process of ours uses the device."""
    gpu, rung = engine.gpu, engine.implementation(job.implementation)
    assert isinstance(rung, Rung)
    with gpu.turns.held(), gpu.using(f"timing {rung.title}"):
        launch = gpu.prepare(rung, job)
        launch.ready()()  # a CUDA graph is made of what was launched before
        ready = launch.ready()
        gpu.stream.synchronize()
        yield Queue(int(gpu.stream.ptr), ready, gpu.timer)
        gpu.stream.synchronize()


@dataclass(frozen=True, slots=True)
class Clocked:
    """A median and its quartiles, in milliseconds."""

    low_ms: float
    median_ms: float
    high_ms: float


@dataclass(frozen=True, slots=True)
class OtherClock:
    """A way to time that is not ours.

    evicts   its way to empty the L2
    same     True if that is ours: only then it has to agree
    time     of one launch, on the queue's stream, which is PyTorch's current one meanwhile
    missing  returns the reason why it cannot be used here, or None
    """

    name: str
    evicts: str
    same: bool
    time: Callable[[Queue, Launch], Clocked]
    missing: Callable[[], str | None]


def other_clocks() -> tuple[OtherClock, ...]:
    """All of them, whether installed or not."""
    return (
        OtherClock("torch.cuda.Event", "our reads", True, _torch_events, _no_torch),
        OtherClock("do_bench, our reads", "our reads", True, _do_bench_evicting, _no_hook),
        OtherClock("do_bench", "its own zeroing memset", False, _do_bench, _no_triton),
    )


def _no_torch() -> str | None:
    if reason := importable("torch", "PyTorch"):
        return reason
    import torch

    return None if torch.cuda.is_available() else "This PyTorch finds no GPU."


def _no_triton() -> str | None:
    return _no_torch() or importable("triton.testing", "Triton")


def _no_hook() -> str | None:
    if reason := _no_triton():
        return reason
    if hasattr(_triton_driver(), "clear_cache"):
        return None
    return "This Triton's do_bench cannot be told how to empty the L2."


def _torch_events(queue: Queue, launch: Launch) -> Clocked:
    """Time by events right around the launch.

    While the L2 is emptied, the host queues what follows.
    """
    import torch

    with _in_torch(queue):
        start, stop = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        times_ms = []
        for _ in range(WARMUPS + RUNS):
            queue.timer.evict()
            start.record()
            launch()
            stop.record()
            stop.synchronize()
            times_ms.append(start.elapsed_time(stop))
    return Clocked(*map(float, np.quantile(times_ms[WARMUPS:], QUARTILES)))


def _do_bench(queue: Queue, launch: Launch) -> Clocked:
    from triton.testing import do_bench

    with _in_torch(queue):
        return Clocked(*do_bench(launch, quantiles=list(QUARTILES)))


def _do_bench_evicting(queue: Queue, launch: Launch) -> Clocked:
    driver = _triton_driver()
    before = driver.clear_cache
    driver.clear_cache = lambda _: queue.timer.evict()
    try:
        return _do_bench(queue, launch)
    finally:
        driver.clear_cache = before


def _triton_driver() -> Any:
    from triton.runtime import driver

    return driver.active


@contextmanager
def _in_torch(queue: Queue) -> Iterator[None]:
    """Make the queue's stream PyTorch's current one."""
    import torch

    with torch.cuda.stream(torch.cuda.ExternalStream(queue.stream)):
        yield


@dataclass(frozen=True, slots=True)
class LaunchTimes:
    """One launch timed by one clock.

    ratio, difference_ms   to our time of it; None where that is itself
    gap_ms                 the same difference of the empty launches
    """

    launch: str
    clock: str
    found: Clocked
    ratio: float | None = None
    difference_ms: float | None = None
    gap_ms: float | None = None
    verdict: str = ""

    def __str__(self) -> str:
        quartiles = numbers.duration_range(
            self.found.low_ms, self.found.high_ms, self.found.median_ms
        )
        is_ours = self.ratio is None or self.difference_ms is None
        words = f"{self.launch if is_ours else '':<24}{self.clock:<21}"
        words += f"{numbers.duration(self.found.median_ms):>9}{quartiles:>19}"
        if self.ratio is None or self.difference_ms is None:
            return words
        return f"{words}{self.ratio:>7.3f} ×{1e3 * self.difference_ms:>+8.2f} µs  {self.verdict}"


def run(arguments: Namespace) -> int:
    """Time everything by all clocks that are here; print each launch as it is known."""
    engine = this_machine.engine_maker(arguments)()
    if isinstance(engine.device, NoDevice):
        raise CommandError(f"{engine.device.reason} {engine.device.remedy}".rstrip())
    named = {f"{key} {size[1]}×{size[0]}": (key, size) for key in KEYS for size in SIZES}
    made = partial(made_jobs.job, "gaussian", KSIZE, block_xy=BLOCK_XY)
    found = ((name, *named[name]) for name in chosen(arguments.cells, named))
    jobs = {name: made(size, implementation=key) for name, key, size in found}
    clocks = _usable_clocks()
    print(aligned(_facts(engine)), end="\n\n", flush=True)
    rows: list[LaunchTimes] = []
    for row in measured(engine, jobs, clocks):
        rows.append(row)
        print(row, flush=True)
    print("", *closing_lines(rows), sep="\n")
    if arguments.json is not None:
        _write(arguments.json, engine, rows)
    return 0


def measured(
    engine: Engine, jobs: dict[str, Job], clocks: list[OtherClock]
) -> Iterator[LaunchTimes]:
    """Time each launch by our clock and then by the others; the empty one before all."""
    gaps_ms: dict[str, float] = {}
    for name, job in jobs.items():
        try:
            with queue_of(engine, job) as queue:
                if not gaps_ms:
                    for row in _by_all(NOTHING, queue, queue.timer.launch_nothing, clocks, {}):
                        gaps_ms[row.clock] = row.difference_ms or 0.0
                        yield row
                yield from _by_all(name, queue, queue.launch, clocks, gaps_ms)
        except KernelError as error:
            print(f"  {name}: {error}")


def _by_all(
    name: str,
    queue: Queue,
    launch: Callable[[], None],
    clocks: list[OtherClock],
    gaps_ms: dict[str, float],
) -> Iterator[LaunchTimes]:
    """Time by ours before the others and after them: a card that warms up favours nobody."""
    before = _our_samples(queue, launch)
    others = [(each, each.time(queue, launch)) for each in clocks]
    both = Timing(before + _our_samples(queue, launch), "cold")
    ours = Clocked(both.quartiles_ms[0], both.median_ms, both.quartiles_ms[1])
    yield LaunchTimes(name, "ours", ours)
    for clock, found in others:
        ratio, difference_ms = found.median_ms / ours.median_ms, found.median_ms - ours.median_ms
        gap_ms = gaps_ms.get(clock.name, 0.0)
        words = "" if name == NOTHING else verdict(ours.median_ms, found.median_ms, gap_ms, clock)
        yield LaunchTimes(name, clock.name, found, ratio, difference_ms, gap_ms, words)


def _our_samples(queue: Queue, launch: Callable[[], None]) -> tuple[float, ...]:
    return take_samples(lambda: queue.timer.sample_ms(launch, "cold"), SAMPLING, "cold").samples_ms


def verdict(ours_ms: float, theirs_ms: float, gap_ms: float, clock: OtherClock) -> str:
    """Explain a difference.

    gap_ms  how much longer the empty launch took by that clock
    """
    left_ms = theirs_ms - ours_ms - gap_ms
    if abs(theirs_ms - ours_ms) <= WITHIN * ours_ms:
        return "within 3 %"
    if ours_ms < LONG_MS and abs(left_ms) <= max(WITHIN * ours_ms, GAP_WITHIN_MS):
        return f"the empty launch differs, too: {1e3 * gap_ms:+.2f} µs"
    if not clock.same and theirs_ms > ours_ms:
        return f"it evicts by {clock.evicts}, whose dirty lines are then written back"
    return "NOT EXPLAINED"


def closing_lines(rows: list[LaunchTimes]) -> list[str]:
    """Count the clocks that agree, of those that have to."""
    same = {each.name for each in other_clocks() if each.same}
    held = [row for row in rows if row.clock in same and row.launch != NOTHING]
    if not held:
        return ["There is no other clock here to compare with."]
    ours_ms = {row.launch: row.found.median_ms for row in rows if row.clock == "ours"}
    long = [row for row in held if ours_ms[row.launch] >= LONG_MS]
    short = [row for row in held if ours_ms[row.launch] < LONG_MS]
    near = sum(row.verdict == "within 3 %" for row in long)
    close = sum(row.verdict == "within 3 %" for row in short)
    told = sum("NOT" not in row.verdict for row in short) - close
    return [
        f"From 100 µs on, under the same eviction: {near} of {len(long)} within 3 %.",
        f"Below: {close} of {len(short)} within 3 %; {told} more differ by what the empty launch "
        f"differs by, to {1e3 * GAP_WITHIN_MS:.0f} µs or 3 %.",
    ]


def _usable_clocks() -> list[OtherClock]:
    """Select the clocks that can be used here; print the reasons of the others."""
    found = []
    for clock in other_clocks():
        if why := clock.missing():
            print(f"Without {clock.name}: {why}")
        else:
            found.append(clock)
    return found


def _facts(engine: Engine) -> list[tuple[str, str]]:
    ceilings = engine.ceilings()
    copy = f"{ceilings['copy_gb_s']:,.0f} GB/s, read and written" if ceilings else numbers.MISSING
    return [
        ("Bench", f"timing, Filter Workbench {program_version()}"),
        ("GPU", diagnostics.gpu(engine.device)),
        ("Copy", copy),
        ("Jobs", f"gaussian {KSIZE}×{KSIZE}, float32 grey, {BLOCK_XY[0]}×{BLOCK_XY[1]}, cold L2"),
    ]


def _write(path: Path, engine: Engine, rows: list[LaunchTimes]) -> None:
    data: dict[str, Any] = {
        "version": 1,
        "device": diagnostics.gpu(engine.device),
        "ceilings": engine.ceilings(),
        "rows": [asdict(row) for row in rows],
    }
    write_whole(path, json.dumps(data, indent=1) + "\n")


main = partial(bench.main, "timing", run, ("cells", "json"))


if __name__ == "__main__":
    sys.exit(main())
