"""Compile a rung for a job, give it its weights, size its grid, launch it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernels.device import Device
from kernels.job import Job, Ran
from kernels.rung import Rung

Knobs = tuple[tuple[str, str], ...]  # -D macros, name and value

MAX_GRID_Y = 65_535
STATIC_SHARED_LIMIT = 48 * 1024  # above this a kernel has to ask for it
# Where a display hangs on the GPU, a launch may take this long before it is cut in two ...
WATCHDOG_LAUNCH_S = 0.25
# ... if it manages this share of the card's multiply-adds, which the slowest rung exceeds.
WATCHDOG_EFFICIENCY = 0.01
FP32_LANES = 64  # multiply-adds a clock and multiprocessor, on the smallest card supported


@dataclass(frozen=True, slots=True, eq=False)
class Program:
    """A rung compiled for one set of knobs, on one device."""

    rung: Rung
    module: Any
    functions: tuple[Any, ...]

    def bind(self, cp: Any, weights: NDArray[np.float32]) -> tuple[Any, ...]:
        """Put `weights` where the kernel looks for them; the arguments it takes for that.

        CuPy shares one module, and so one constant memory, between equal sources: what another
        job put there is not ours to rely on, so this is done before every launch.
        """
        flat = np.ascontiguousarray(weights)
        if self.rung.weights == "global":
            return (cp.asarray(flat),)
        self.module.get_global("WEIGHTS").copy_from_host_async(flat.ctypes.data, flat.nbytes)
        cp.cuda.get_current_stream().synchronize()  # `flat` has been read
        return ()


class Programs:
    """The programs compiled so far on the current device."""

    def __init__(self, cp: Any) -> None:
        self._cp = cp
        self._known: dict[tuple[Rung, Knobs], Program] = {}

    def has(self, rung: Rung, job: Job) -> bool:
        """Whether `get` would answer at once."""
        return self._key(rung, job) in self._known

    def get(self, rung: Rung, job: Job) -> Program:
        """Compile, unless that was done before; CuPy also keeps the binary on disk."""
        key = self._key(rung, job)
        if key not in self._known:
            options = ("-std=c++17", *(f"-D{name}={value}" for name, value in key[1]))
            module = self._cp.RawModule(code=rung.text, options=options)
            functions = tuple(module.get_function(name) for name in rung.passes)
            self._known[key] = Program(rung, module, functions)
        return self._known[key]

    @staticmethod
    def _key(rung: Rung, job: Job) -> tuple[Rung, Knobs]:
        return rung, tuple(rung.defines(job).items())


@dataclass(frozen=True, slots=True, eq=False)
class Launch:
    """One job's launches: `ready()()` puts them on the current stream.

    source, target  (H, W, C) device arrays of the job's pixel type
    rows            rows of the picture a launch writes; more than one launch where it is long
    """

    cp: Any
    program: Program
    job: Job
    source: Any
    target: Any
    rows: int

    def ready(self) -> Callable[[], None]:
        """Do what must not be timed; returns what then only queues the kernel over the picture."""
        weights = self.program.bind(self.cp, self.job.weights)
        size = (np.int32(self.job.height), np.int32(self.job.width))
        shared = self.program.rung.shared_bytes_for(self.job)

        def launch() -> None:
            for function in self.program.functions:
                for first in range(0, self.job.height, self.rows):
                    end = min(first + self.rows, self.job.height)
                    rows = (np.int32(first), np.int32(end))
                    function(
                        self._grid(end - first),
                        self.job.block_xy,
                        (self.source, self.target, *weights, *size, *rows),
                        shared_mem=shared,
                    )

        return launch

    def ran(self) -> tuple[Ran, ...]:
        """What `launch` runs, for the record."""
        shared = self.program.rung.shared_bytes_for(self.job)
        return tuple(
            Ran(
                function=f"{self.program.rung.key}.{name}",
                grid=self._grid(min(self.rows, self.job.height)),
                block=self.job.block_xy,
                registers=int(function.num_regs),
                shared_bytes=shared + int(function.shared_size_bytes),
            )
            for name, function in zip(self.program.rung.passes, self.program.functions, strict=True)
        )

    def _grid(self, rows: int) -> tuple[int, int]:
        x, y = self.job.block_xy
        return -(-self.job.width * self.job.channels // x), -(-rows // y)


def prepare_launch(
    cp: Any, program: Program, job: Job, device: Device, source: Any, target: Any
) -> Launch:
    """Allow the shared memory the job needs, and cut the launch where it has to be."""
    shared = program.rung.shared_bytes_for(job)
    if shared > STATIC_SHARED_LIMIT:
        for function in program.functions:
            function.max_dynamic_shared_size_bytes = shared
    return Launch(cp, program, job, source, target, rows_per_launch(job, device))


def rows_per_launch(job: Job, device: Device) -> int:
    """As many rows as one grid can hold and a display's watchdog lets pass; a multiple of the
    block's height."""
    block_y = job.block_xy[1]
    rows = MAX_GRID_Y * block_y
    if device.watchdog:
        taps_per_s = device.multiprocessors * FP32_LANES * device.clock_khz * 1e3
        taps = WATCHDOG_LAUNCH_S * WATCHDOG_EFFICIENCY * taps_per_s
        rows = min(rows, int(taps / (job.ksize**2 * job.width * job.channels)))
    return max(rows // block_y, 1) * block_y
