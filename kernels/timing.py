"""Samples of a duration, what they say, and how to take them on a CUDA stream."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np

HOLD_CYCLES = 200_000  # some 0.1 ms: longer than Python needs to queue two events and a launch


@dataclass(frozen=True, slots=True)
class Timing:
    """Samples in milliseconds, in the order they were taken.

    cache  "cold" or "warm": the GPU's L2 before each sample; None on the CPU
    """

    samples_ms: tuple[float, ...]
    cache: Literal["cold", "warm"] | None = None

    @property
    def median_ms(self) -> float:
        return float(np.median(self.samples_ms))

    @property
    def quartiles_ms(self) -> tuple[float, float]:
        low, high = np.percentile(self.samples_ms, (25, 75))
        return float(low), float(high)


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
        self._words = cp.zeros(max(2 * l2_bytes, 1 << 20) // 4, dtype=np.uint32)
        self._sink = cp.zeros(1, dtype=np.uint32)
        self._start, self._stop = cp.cuda.Event(), cp.cuda.Event()

    def sample_ms(self, launch: Callable[[], None], cache: Literal["cold", "warm"]) -> float:
        """Run `launch`, which must only launch, and wait for it; its time on the GPU alone."""
        if cache == "cold":
            count = np.int64(self._words.size)
            self._evict((512,), (256,), (self._words, count, self._sink))
        self._hold((1,), (1,), (np.int64(self._hold_cycles),))
        self._start.record()
        launch()
        self._stop.record()
        self._stop.synchronize()
        return float(self._cp.cuda.get_elapsed_time(self._start, self._stop))
