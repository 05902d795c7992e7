"""Cells of `bench kernels`: those of the table of aims, small pictures, and sizes between.

A cell is one job; its aims are times for an H200.
"""

from __future__ import annotations

import platform
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from functools import cache
from typing import Any

from kernels.core.device import Device, cuda_version
from kernels.core.device_turns import Turns
from kernels.core.errors import cuda_errors_in_words
from kernels.core.job import Job, Sampling
from kernels.core.sampling import take_samples
from kernels.core.timing import Timing
from kernels.core.version import program_version
from kernels.cuda.event_timer import CeilingBench, EventTimer
from kernels.cuda.probing import cupy_version
from workbench.cli import made_jobs, this_machine
from workbench.cli.benches.ways import Precision

FFT = "cuFFT"  # for an aim: no slower than that
# For an aim: milliseconds beyond an empty launch and the memory's time.
LAUNCH_EXTRA_MS = {"launch + memory + 2 µs": 0.002, "launch + memory + 3 µs": 0.003}
LAUNCH, LAUNCH_AND_MORE = LAUNCH_EXTRA_MS
KODAK = (512, 768)
LARGE_COPY = 1 << 28  # bytes: 8192² float32


@dataclass(frozen=True, slots=True)
class Aim:
    """An aim of the table.

    target  percent of the copy bandwidth, FFT or one of LAUNCH_EXTRA_MS
    """

    precision: Precision
    target: float | str


@dataclass(frozen=True, slots=True)
class BenchCell:
    """One job to measure.  weights: a filter's name or "random"; size: (height, width)."""

    weights: str
    pixel_type: str
    channels: int
    size: tuple[int, int]
    ksize: int
    aims: tuple[Aim, ...] = ()

    @property
    def size_in_words(self) -> str:
        """The picture's size: "4096²" or "640×480"."""
        height, width = self.size
        return f"{width}²" if width == height else f"{width}×{height}"

    def __str__(self) -> str:
        kind = f"{self.weights} {self.pixel_type}×{self.channels}"
        return f"{kind} {self.size_in_words} K={self.ksize}"

    def job(self) -> Job:
        """Make the job, for no implementation yet."""
        return made_jobs.job(self.weights, self.ksize, self.size, self.channels, self.pixel_type)


LARGE, MIDDLE = (8192, 8192), (4096, 4096)
Group = tuple[str, str, int, tuple[int, int]]
GAUSSIAN: Group = ("gaussian", "float32", 1, LARGE)
RANDOM: Group = ("random", "float32", 1, LARGE)
Targets = dict[int, float | str | None]  # by K
Row = tuple[Group, Precision, Targets]
SMALL: Targets = {3: LAUNCH, 5: LAUNCH, 7: LAUNCH, 15: LAUNCH_AND_MORE}
BETWEEN: tuple[Row, ...] = tuple(  # for how time grows with pixels; 8192² stands in the table
    ((weights, "float32", 1, (side, side)), "float32", {7: None})
    for weights in ("gaussian", "random")
    for side in (1024, 2048, 4096)
)
# What `auto` goes by as well: where another rung is the quickest than at the sizes with an aim.
SMALLER: tuple[Row, ...] = (
    (("gaussian", "float32", 1, (1024, 1024)), "float32", {15: None}),
    (("random", "float32", 1, (1024, 1024)), "float32", {15: None}),
    (("gaussian", "uint8", 3, (2048, 2048)), "float32", dict.fromkeys((3, 7, 15))),
    (("gaussian", "uint8", 3, KODAK), "float32", {9: None}),
)
# What the table of aims leaves out: where rungs made for other weights have their place.
OTHERS: tuple[Row, ...] = (
    (("box", "float32", 1, LARGE), "float32", dict.fromkeys((7, 31, 127))),
    (("laplacian_of_gaussian", "float32", 1, LARGE), "float32", {15: None}),
    (("gradient", "float32", 1, LARGE), "float32", {3: None}),
    (("edges", "float32", 1, LARGE), "float32", {7: None}),
)
BYTES: Targets = {3: 85, 5: 80, 7: 75, 9: 72, 15: 70, 31: 60, 63: 40, 127: 25}
WIDE: Targets = {15: 50, 31: 35, 63: 28, 127: 28}
TABLE: tuple[Row, ...] = (
    (GAUSSIAN, "float32", {3: 95, 5: 92, 7: 91, 9: 90, 15: 87, 31: 80, 63: 60, 127: 45}),
    (RANDOM, "float32", {3: 95, 5: 91, 7: 82, 9: 75, **WIDE}),
    (RANDOM, "reduced", WIDE),
    *((("gaussian", "uint8", channels, MIDDLE), "float32", BYTES) for channels in (3, 1, 4)),
    (
        ("random", "uint8", 3, MIDDLE),
        "float32",
        {3: 80, 5: 65, 7: 50, 9: 40, 15: 25, 31: FFT, 63: FFT},
    ),
    (("gaussian", "float16", 1, LARGE), "float32", {3: 90, 5: 86, 7: 82, 9: 80, 15: 75, 31: 65}),
    (("gaussian", "uint8", 3, KODAK), "float32", SMALL),
    (("gaussian", "uint8", 1, (256, 256)), "float32", SMALL),
    *BETWEEN,
    *SMALLER,
    *OTHERS,
)


@cache
def all_cells() -> tuple[BenchCell, ...]:
    """List every cell once, in the order of the table, with all of its aims."""
    found: dict[BenchCell, tuple[Aim, ...]] = {}
    for (weights, pixel_type, channels, size), precision, targets in TABLE:
        for ksize, target in targets.items():
            cell = BenchCell(weights, pixel_type, channels, size, ksize)
            aims = () if target is None else (Aim(precision, target),)
            found[cell] = found.get(cell, ()) + aims
    return tuple(replace(cell, aims=aims) for cell, aims in found.items())


# Libraries take long to queue their launches: a millisecond, so that this is not timed.
HOLD_CYCLES = 2_000_000
SAMPLING = Sampling(max_samples=20, max_seconds=0.3)


class Clock:
    """A stream of its own on `device`; use it from one thread.

    cp      the cupy module
    stream  to queue on; the current stream within `using`
    """

    def __init__(self, device: Device) -> None:
        import cupy as cp

        self.cp, self.device, self._turns = cp, device, Turns([device])
        with self._turns.held(), cuda_errors_in_words("starting to use it"):
            cp.cuda.Device(device.index).use()
            self.stream = cp.cuda.Stream(non_blocking=True)
            with self.stream:
                self._timer = EventTimer(cp, device.l2_bytes, HOLD_CYCLES)
                self._ceilings = CeilingBench(cp, self._timer, device)
        self._copies_ms: dict[int, float] = {}

    @contextmanager
    def using(self) -> Iterator[None]:
        """Wait for our turn on the device, and make the stream the current one."""
        with self._turns.held(), self.stream:
            yield

    def time(self, queue: Callable[[], Any]) -> Timing:
        """Sample the work that `queue` queues; the first run only warms up."""
        with self.using():
            return take_samples(lambda: self._timer.sample_ms(queue, "cold"), SAMPLING, "cold")

    def copy_ms(self, count: int) -> float:
        """Median time of a device-to-device copy of `count` bytes."""
        if count not in self._copies_ms:
            with self.using():
                self._copies_ms[count] = self._ceilings.copy(count).median_ms
        return self._copies_ms[count]

    def empty_launch_ms(self) -> float:
        """Median time between two events around an empty kernel."""
        with self.using():
            return self._ceilings.empty_launch().median_ms


def conditions_of(clock: Clock) -> dict[str, Any]:
    """Measure the ceilings of the device; with them, what the figures belong to, as JSON."""
    device, copied_bytes = clock.device, 2 * LARGE_COPY  # a copy moves its bytes twice
    return {
        "device": asdict(device),
        "driver": cuda_version(device.driver_version),
        "cuda": cuda_version(device.runtime_version),
        "cupy": cupy_version(),
        "python": platform.python_version(),
        "workbench": program_version(),
        "cpu": this_machine.cpu(),
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "copy_gb_s": copied_bytes / 1e6 / clock.copy_ms(LARGE_COPY),
        "empty_launch_ms": clock.empty_launch_ms(),
    }
