"""Rungs that are compiled for the CPU and run in the process of the tests."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernels.core.device_turns import outcome_of
from kernels.core.job import Job
from kernels.cuda_on_cpu import counting, recording, shim
from kernels.cuda_on_cpu.compiler import Flavour, building
from kernels.cuda_on_cpu.device_code import knobs_of
from kernels.cuda_on_cpu.regions import DEVICE
from kernels.cuda_on_cpu.shim import Order
from kernels.rungs.headers import Facts
from kernels.rungs.rung import Rung

POISON = 0xA5  # every byte of an output before it is written


# What runs for a moment is not worth optimising: -Og takes half as long again to compile.
PLAIN = Flavour(("-O0", "-nodefaultlibs"))


def build(text: str, flavour: Flavour, cache: Path) -> Path:
    """The shared library of `text` and the runtime, at once."""
    return outcome_of(building(text, flavour, cache))


class Compiled:
    """A shim for jobs, whose library `cache` keeps."""

    def __init__(self, rung: Rung, jobs: Iterable[Job], cache: Path) -> None:
        self._sets = dict.fromkeys(knobs_of(rung, job) for job in jobs)
        library = build(self.text(rung, self._sets), self.flavour, cache)
        super().__init__(rung, str(library))

    def has(self, job: Job) -> bool:
        """Whether it was compiled for the job's knobs."""
        return knobs_of(self.rung, job) in self._sets

    def run(
        self, job: Job, order: Order = Order.FORWARD, rows: tuple[int, int] | None = None
    ) -> NDArray[Any]:
        """Filter job.picture; bytes that the rung did not write are POISON."""
        source = in_rows(job.picture, Facts(job, DEVICE)["PITCH"])
        target = np.full(source.nbytes, POISON, np.uint8).view(source.dtype).reshape(source.shape)
        self.run_into(job, source, target, order, rows)
        return target[:, : job.width * job.channels].reshape(job.picture.shape)


class Shim(Compiled, shim.Shim):
    flavour = PLAIN


class RecordingShim(Compiled, recording.RecordingShim):
    pass


class CountingShim(Compiled, counting.CountingShim):
    def count(self, job: Job, room: int = 0) -> tuple[counting.Counts, ...]:
        """Run `job`, and count what its launches did."""
        self.counts, self.room = (), room
        self.run(job)
        return self.counts


class AccessesShim(CountingShim):
    """The same but for operations, which it does not count."""

    flavour = counting.AccessesShim.flavour
    _written = counting.AccessesShim._written


def in_rows(picture: NDArray[Any], pitch: int) -> NDArray[Any]:
    """The picture as it lies on a device, (H, pitch), with bits of NaN between its rows."""
    height, width, channels = picture.shape
    rows = np.full(height * pitch * picture.itemsize, 0xFF, np.uint8).view(picture.dtype)
    rows = rows.reshape(height, pitch)
    rows[:, : width * channels] = picture.reshape(height, width * channels)
    return rows
