"""Time launches on a CUDA stream by events, from a cold or a warm L2."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from kernels.core.device import Device
from kernels.core.job import Sampling
from kernels.core.sampling import take_samples
from kernels.core.timing import Cache, Timing

HOLD_CYCLES = 200_000  # some 0.1 ms: longer than Python needs to queue two events and a launch


class EventTimer:
    """A timer of launches on the current stream with CUDA events, from a cold or a warm L2.

    l2_bytes     of the device; twice as much is read to empty it
    hold_cycles  how long the stream is kept busy while the host queues what is timed
    """

    def __init__(self, cp: Any, l2_bytes: int, hold_cycles: int = HOLD_CYCLES) -> None:
        self._cp, self._hold_cycles = cp, hold_cycles
        module = cp.RawModule(code=Path(__file__).with_suffix(".cu").read_text(encoding="utf-8"))
        self._evict, self._hold = module.get_function("evict"), module.get_function("hold")
        self._nothing = module.get_function("nothing")
        self._words = cp.zeros(max(2 * l2_bytes, 1 << 20) // 4, dtype=np.uint32)
        self._sink = cp.zeros(1, dtype=np.uint32)
        self._start, self._stop = cp.cuda.Event(), cp.cuda.Event()

    def evict(self) -> None:
        """Queue work that empties the L2."""
        self._evict((512,), (256,), (self._words, np.int64(self._words.size), self._sink))

    def hold(self, times: int = 1) -> None:
        """Keep the stream busy while the host queues what is timed, `times` launches."""
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


SAMPLING = Sampling(
    min_samples=10, max_samples=50, max_seconds=0.3, noise=0.005, warmups=2, warmup_seconds=0.05
)
COPY_BYTES = 1 << 28  # 8192² float32: far more than any L2
COPY_SHARE = 1 / 16  # of the device's memory, on a small one
CHAINS, REPEATS, ROUNDS = 16, 16, 512  # see ceilings.cu: a launch of some 0.6 ms
THREADS, BLOCKS = 256, 4  # a block, and blocks a multiprocessor: at once on any card
L2_SHARE = 1 / 4  # of the L2 is read: other things live there too, and it may be in two halves
L2_PASSES = 64


class CeilingBench:
    """A bench that measures on the current stream, with `timer`."""

    def __init__(self, cp: Any, timer: EventTimer, device: Device) -> None:
        self._cp, self._timer, self._device = cp, timer, device
        self._module = cp.RawModule(
            code=Path(__file__).with_name("ceilings.cu").read_text(encoding="utf-8"),
            options=("-std=c++17", f"-DCHAINS={CHAINS}", f"-DREPEATS={REPEATS}"),
        )
        self._sink = cp.zeros(1, dtype=np.uint32)

    def ceilings(self) -> dict[str, float]:
        """Return all ceilings by name.

        copy_gb_s        bytes read and written by a large copy on the device, from a cold L2
        l2_read_gb_s     bytes read from the L2, none written: no copy, and not to be held against
                         copy_gb_s, which counts what is read and what is written
        fma_tflop_s      float32; a multiply-add counts as two operations
        empty_launch_ms  between two events, with a kernel between them that does nothing
        """
        count = min(COPY_BYTES, int(COPY_SHARE * self._device.memory_bytes))
        return {
            "copy_gb_s": 2 * count / 1e6 / self.copy(count).median_ms,
            "l2_read_gb_s": self._l2_read_gb_s(),
            "fma_tflop_s": self._fma_tflop_s(),
            "empty_launch_ms": self._time(self._timer.launch_nothing, "cold").median_ms,
        }

    def copy(self, count: int) -> Timing:
        """Time a copy of `count` bytes from one place on the device to another."""
        source, target = (self._cp.zeros(count, np.uint8) for _ in range(2))
        stream = self._cp.cuda.get_current_stream()
        return self._time(
            lambda: target.data.copy_from_device_async(source.data, count, stream), "cold"
        )

    def _fma_tflop_s(self) -> float:
        kernel = self._module.get_function("multiply_adds")
        blocks = BLOCKS * self._device.multiprocessors
        values = (np.float32(0.5), np.float32(1.0), np.int32(ROUNDS), self._sink)
        timing = self._time(lambda: kernel((blocks,), (THREADS,), values), "warm")
        operations = 2 * CHAINS * REPEATS * ROUNDS * THREADS * blocks
        return operations / 1e9 / timing.median_ms

    def _l2_read_gb_s(self) -> float:
        kernel = self._module.get_function("read_past_l1")
        count = max(int(L2_SHARE * self._device.l2_bytes) // 16, 1)
        words = self._cp.zeros(4 * count, dtype=np.uint32)
        blocks = BLOCKS * self._device.multiprocessors
        values = (words, np.int32(count), np.int32(L2_PASSES), self._sink)
        timing = self._time(lambda: kernel((blocks,), (THREADS,), values), "warm")
        return 16 * count * L2_PASSES / 1e6 / timing.median_ms

    def _time(self, launch: Any, cache: Cache) -> Timing:
        return take_samples(lambda: self._timer.sample_ms(launch, cache), SAMPLING, cache)
