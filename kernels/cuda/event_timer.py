"""Time launches on a CUDA stream by events, from a cold or a warm L2."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from kernels.core.timing import Cache

HOLD_CYCLES = 200_000  # some 0.1 ms: longer than Python needs to queue two events and a launch


class EventTimer:
    """A timer of launches on the current stream with CUDA events, from a cold or a warm L2.

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
        """Queue work that empties the L2."""
        count = np.int64(self._words.size)
        self._evict((512,), (256,), (self._words, count, self._sink))

    def hold(self, times: int = 1) -> None:
        """Queue work that keeps the stream busy while the host queues what is timed.

        times  for so many launches
        """
        self._hold((1,), (1,), (np.int64(times * self._hold_cycles),))

    def launch_nothing(self) -> None:
        """Queue a kernel that does nothing: its time is that of a launch alone."""
        self._nothing((1,), (32,), ())

    def sample_ms(self, launch: Callable[[], None], cache: Cache) -> float:
        """Run `launch`, which must only launch, and wait; return its time on the GPU alone."""
        if cache == "cold":
            self.evict()
        self.hold()
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
