"""Samples of a duration, what they say, and how to take them on a CUDA stream."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from statistics import median
from typing import Any, Literal

import numpy as np

from kernels.statistics import median_interval, relative_spread

HOLD_CYCLES = 200_000  # some 0.1 ms: longer than Python needs to queue two events and a launch


Cache = Literal["cold", "warm"]
# Why no more samples were taken, see `Timing`.
Ended = Literal["stable", "samples", "time", "single", ""]


@dataclass(frozen=True, slots=True)
class Timing:
    """Samples in milliseconds, in the order they were taken: all of them, but for warm-ups.

    cache    the GPU's L2 before each sample; None on the CPU
    ended    why there are no more: "stable", their spread had settled below what was asked for;
             "samples", there were as many as asked for; "time", the time for them was over;
             "single", there is only one, which took longer than there was time for, or was made of
             strips; "", they are still being taken, or it is not known
    warmups  how many runs went before, and do not count
    rounds   how many samples were taken in each of several rounds, in their order, where others
             were timed between them; empty: all in one go
    """

    samples_ms: tuple[float, ...]
    cache: Cache | None = None
    ended: Ended = ""
    warmups: int = 0
    rounds: tuple[int, ...] = ()

    @property
    def is_single(self) -> bool:
        """Whether there is but one sample, which nothing can be said about."""
        return len(self.samples_ms) == 1

    @property
    def median_ms(self) -> float:
        return median(self.samples_ms)

    @property
    def quartiles_ms(self) -> tuple[float, float]:
        low, high = np.percentile(self.samples_ms, (25, 75))
        return float(low), float(high)

    @property
    def min_ms(self) -> float:
        return min(self.samples_ms)

    @property
    def max_ms(self) -> float:
        return max(self.samples_ms)

    @property
    def spread(self) -> float:
        """Quartile range over median; 0.01 is one percent."""
        return relative_spread(self.samples_ms)

    @property
    def independent_ms(self) -> tuple[float, ...]:
        """Return what tells how sure the median is: of several rounds their medians, since samples
        of one round share whatever the computer did then; else the samples."""
        if len(self.rounds) < 2:
            return self.samples_ms
        ends = list(accumulate(self.rounds))
        return tuple(
            median(self.samples_ms[end - count : end])
            for end, count in zip(ends, self.rounds, strict=True)
        )

    @property
    def interval_ms(self) -> tuple[float, float]:
        """Where the median lies, at `statistics.CONFIDENCE`."""
        low, high = median_interval(self.independent_ms)
        return min(low, self.median_ms), max(high, self.median_ms)


class EventTimer:
    """Times launches on the current stream with CUDA events, from a cold or a warm L2.

    cp           the cupy module
    l2_bytes     of the device; twice as much is read to empty it
    hold_cycles  how long the stream is kept busy while the host queues what is timed
    """

    def __init__(self, cp: Any, l2_bytes: int, hold_cycles: int = HOLD_CYCLES) -> None:
        self._cp = cp
        self._hold_cycles = hold_cycles
        module = cp.RawModule(code=Path(__file__).with_suffix(".cu").read_text(encoding="utf-8"))
        self._evict, self._hold = module.get_function("evict"), module.get_function("hold")
        self._nothing = module.get_function("nothing")
        self._words = cp.zeros(max(2 * l2_bytes, 1 << 20) // 4, dtype=np.uint32)
        self._sink = cp.zeros(1, dtype=np.uint32)
        self._start, self._stop = cp.cuda.Event(), cp.cuda.Event()

    def evict(self) -> None:
        """Queue what empties the L2."""
        count = np.int64(self._words.size)
        self._evict((512,), (256,), (self._words, count, self._sink))

    def launch_nothing(self) -> None:
        """Queue a kernel that does nothing: what is left of a time when there is no work."""
        self._nothing((1,), (32,), ())

    def sample_ms(self, launch: Callable[[], None], cache: Cache) -> float:
        """Run `launch`, which must only launch, and wait for it; its time on the GPU alone."""
        if cache == "cold":
            self.evict()
        self._hold((1,), (1,), (np.int64(self._hold_cycles),))
        self._start.record()
        launch()
        self._stop.record()
        self._stop.synchronize()
        return float(self._cp.cuda.get_elapsed_time(self._start, self._stop))


@dataclass(frozen=True, slots=True, eq=False)
class Queue:
    """A job made ready, to be timed in any way.

    stream  of CUDA, by its address: what `launch` queues on
    launch  queues the job's kernels, and does nothing else
    timer   our own way, on that stream: with what empties the L2, and a kernel that does nothing
    """

    stream: int
    launch: Callable[[], None]
    timer: EventTimer
