"""The clock of `bench kernels`, as the engine times a rung, and the conditions of its figures."""

from __future__ import annotations

import platform
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from time import perf_counter
from typing import Any

from kernels.core.device import Device, cuda_version
from kernels.core.device_turns import Turns
from kernels.core.errors import cuda_errors_in_words
from kernels.core.job import Sampling
from kernels.core.sampling import THREADS_SETTLE_S, take_samples
from kernels.core.timing import Timing
from kernels.core.version import program_version
from kernels.cuda.ceilings import CeilingBench
from kernels.cuda.event_timer import EventTimer
from kernels.cuda.probing import cupy_version
from workbench.base import diagnostics, numbers
from workbench.base.columns import aligned
from workbench.cli import this_machine

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
        """Return samples of what `queue` queues; the first run only warms up."""
        with self.using():
            return take_samples(lambda: self._timer.sample_ms(queue, "cold"), SAMPLING, "cold")

    def copy_ms(self, count: int) -> float:
        """Return the median time of a device-to-device copy of `count` bytes."""
        if count not in self._copies_ms:
            with self.using():
                self._copies_ms[count] = self._ceilings.copy(count).median_ms
        return self._copies_ms[count]

    def empty_launch_ms(self) -> float:
        """Return the median time between two events around an empty kernel."""
        with self.using():
            return self._ceilings.empty_launch().median_ms


def time_on_cpu(run: Callable[[], Any]) -> Timing:
    """Time as `Clock.time`, for what returns when it is done."""

    def run_ms() -> float:
        start = perf_counter()
        run()
        return (perf_counter() - start) * 1e3

    return take_samples(run_ms, ON_CPU)


@dataclass(frozen=True, slots=True)
class Conditions:
    """The device and the versions that the figures belong to."""

    device: Device
    date: str
    copy_gb_s: float
    empty_launch_ms: float

    @classmethod
    def here(cls, device: Device, copy_ms: float, count: int, empty_launch_ms: float) -> Conditions:
        """Return the conditions on this computer.

        copy_ms: of a device-to-device copy of `count` bytes, which moves twice as many.
        """
        now = datetime.now(UTC).isoformat(timespec="seconds")
        return cls(device, now, 2 * count / 1e6 / copy_ms, empty_launch_ms)

    def memory_ms(self, job_bytes: int) -> float:
        """Return how long `job_bytes` take at the bandwidth of a large copy."""
        return job_bytes / 1e6 / self.copy_gb_s

    def lines(self) -> list[str]:
        """Return the conditions in words."""
        rows = [
            ("Bench", f"kernels, Filter Workbench {program_version()}, {self.date}"),
            ("GPU", diagnostics.gpu(self.device)),
            ("Driver", f"runs CUDA up to {cuda_version(self.device.driver_version)}"),
            ("CUDA", f"{cuda_version(self.device.runtime_version)}, {cupy_version()}"),
            ("CPU", this_machine.cpu()),
            ("Copy", f"{self.copy_gb_s:,.0f} GB/s, device to device, cold L2, read and written"),
            ("Launch", f"{numbers.duration(self.empty_launch_ms)} between two events, empty"),
        ]
        return aligned(rows).splitlines()

    def to_data(self) -> dict[str, Any]:
        """Return what JSON can hold of them."""
        return {
            "device": asdict(self.device),
            "driver": cuda_version(self.device.driver_version),
            "cuda": cuda_version(self.device.runtime_version),
            "cupy": cupy_version(),
            "python": platform.python_version(),
            "workbench": program_version(),
            "cpu": this_machine.cpu(),
            "date": self.date,
            "copy_gb_s": self.copy_gb_s,
            "empty_launch_ms": self.empty_launch_ms,
        }
