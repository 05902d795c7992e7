"""Time whatever is queued on a stream as the engine times a rung: cold L2, events, median."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter
from typing import Any

from kernels.core.device import Device
from kernels.core.errors import cuda_errors_in_words
from kernels.core.job import Sampling
from kernels.core.sampling import THREADS_SETTLE_S, take_samples
from kernels.core.timing import Timing
from kernels.cuda.ceilings import CeilingBench
from kernels.cuda.event_timer import EventTimer

# Libraries take long to queue their launches: a millisecond, so that this is not timed.
HOLD_CYCLES = 2_000_000
SAMPLING = Sampling(max_samples=20, max_seconds=0.3)
ON_CPU = Sampling(max_samples=5, max_seconds=0.5, warmup_seconds=THREADS_SETTLE_S)


class Clock:
    """A stream of its own on `device`; use it from one thread.

    cp      the cupy module
    stream  what is timed has to be queued here, which is the current stream meanwhile
    """

    def __init__(self, device: Device) -> None:
        import cupy as cp

        self.cp, self.device = cp, device
        with cuda_errors_in_words("starting to use it"):
            cp.cuda.Device(device.index).use()
            self.stream = cp.cuda.Stream(non_blocking=True)
            with self.stream:
                self._timer = EventTimer(cp, device.l2_bytes, HOLD_CYCLES)
                self._ceilings = CeilingBench(cp, self._timer, device)
        self._copies_ms: dict[int, float] = {}

    def time(self, queue: Callable[[], Any]) -> Timing:
        """Return samples of what `queue` queues; the first run only warms up."""
        with self.stream:
            return take_samples(lambda: self._timer.sample_ms(queue, "cold"), SAMPLING, "cold")

    def copy_ms(self, count: int) -> float:
        """Return the median time of a device-to-device copy of `count` bytes."""
        if count not in self._copies_ms:
            with self.stream:
                self._copies_ms[count] = self._ceilings.copy(count).median_ms
        return self._copies_ms[count]

    def empty_launch_ms(self) -> float:
        """Return the median time between two events around an empty kernel."""
        with self.stream:
            return self._ceilings.empty_launch().median_ms


def time_on_cpu(run: Callable[[], Any]) -> Timing:
    """Time as `Clock.time`, for what returns when it is done."""

    def run_ms() -> float:
        start = perf_counter()
        run()
        return (perf_counter() - start) * 1e3

    return take_samples(run_ms, ON_CPU)
