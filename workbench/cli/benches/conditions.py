"""Conditions that the figures of `bench kernels` belong to: device, versions, limits."""

from __future__ import annotations

import platform
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any

from kernels.core.device import Device, cuda_version
from kernels.core.version import program_version
from kernels.cuda.probing import cupy_version
from workbench.base import diagnostics, numbers
from workbench.base.columns import aligned
from workbench.cli import this_machine


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
