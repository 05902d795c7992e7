"""A shim that follows one block, and the steps that it wrote down."""

from __future__ import annotations

import ctypes
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernels.core.job import Job
from kernels.cuda.launch import LaunchStep
from kernels.cuda_on_cpu.children import StepAt
from kernels.cuda_on_cpu.compiler import STEPPED
from kernels.cuda_on_cpu.device_code import Knobs, generated
from kernels.cuda_on_cpu.regions import DEVICE
from kernels.cuda_on_cpu.shared_run import SharedRun
from kernels.cuda_on_cpu.shim import Named, Order, Shim
from kernels.cuda_on_cpu.step_points import told
from kernels.rungs.job_facts import Facts
from kernels.rungs.rung import Rung

MAX_STEPS, MAX_ACCESSES, MAX_VALUES = 1_000_000, 1_500_000, 1_500_000
MAX_PATH, MAX_SHARED = 16, 16
VALUE_BYTES = 16  # of what is loaded or stored at once that are kept
DYNAMIC_ARRAY, STATIC_ARRAY = -1, -2
# As struct SharedName, Head, Step, Access and Value in stepping.cpp.
U32, I32, U64 = np.uint32, np.int32, np.uint64
SHARED_NAME = np.dtype(
    [
        *(("name", U32), ("array", I32), ("offset", U64), ("kind", U32)),
        *(("size", U32), ("rows", U32), ("columns", U32)),
    ]
)
HEAD = np.dtype(
    [
        *(("counts", U64, 3), ("is_found", U32), ("found", U32, 3), ("block", U32, 2)),
        *(("threads", U32, 2), ("dynamic_bytes", U64), ("static_bytes", U64)),
        *(("shared_names", U64), ("shared", SHARED_NAME, MAX_SHARED)),
    ]
)
STEP = np.dtype([("thread", U32), ("interval", U32), ("point", U32), ("path", U32, MAX_PATH)])
ACCESS = np.dtype(
    [
        *(("step", U32), ("array", I32), ("is_store", U32), ("size", U32), ("offset", U64)),
        ("value", np.uint8, VALUE_BYTES),
    ]
)
VALUE = np.dtype(
    [
        *(("step", U32), ("variable", U32), ("index", I32, 2), ("bits", U64)),
        *(("kind", U32), ("none", U32)),
    ]
)
MOST = ((STEP, MAX_STEPS), (ACCESS, MAX_ACCESSES), (VALUE, MAX_VALUES))
TRACE_BYTES = HEAD.itemsize + sum(kind.itemsize * most for kind, most in MOST)


@dataclass(frozen=True, slots=True, eq=False)
class StepTrace:
    """All that one block did, in the order in which its threads ran.

    head      of HEAD, one
    steps     of STEP; `accesses` and `values` are of ACCESS and VALUE, each of a step
    is_cut    there was no room for all of it
    """

    head: Any
    steps: NDArray[np.void]
    accesses: NDArray[np.void]
    values: NDArray[np.void]
    is_cut: bool

    @classmethod
    def of(cls, memory: NDArray[np.uint8]) -> StepTrace:
        """Copy it from the memory that a run wrote it into."""
        head = memory[: HEAD.itemsize].copy().view(HEAD)[0]
        begin, found, is_cut = HEAD.itemsize, [], False
        for (kind, most), count in zip(MOST, head["counts"].tolist(), strict=True):
            size = kind.itemsize * min(count, most)
            found.append(memory[begin : begin + size].copy().view(kind))
            begin += kind.itemsize * most
            is_cut |= count > most
        steps, accesses, values = found
        return cls(head, steps, accesses, values, is_cut)


class SteppedShim(Shim):
    """A shim that runs a job twice: to find the block that stores a sample, and to follow it."""

    flavour = STEPPED

    @classmethod
    def text(cls, rung: Rung, sets: Iterable[Knobs]) -> str:
        """Device code that reports its steps."""

        def written(text: str) -> str:
            before, mark, own = text.rpartition('#line 1 "')
            name = own.partition("\n")[0]
            return f"{before}{mark}{name}\n{told(rung).text}"

        return generated(rung, sets, written, "stepping.h")

    def step_through(self, job: Job, shared: SharedRun, at: StepAt) -> None:
        """Run `job`, and record a block of a pass: the one that stores a sample of a row."""
        self._job, self._at = job, at
        self._trace = shared.trace
        self._head = self._trace[: HEAD.itemsize].view(HEAD)
        poison = shared.target.copy()
        for self._is_seeking in (True, False) if at.is_sought else (False,):
            shared.target[...] = poison
            self.run_into(job, shared.source, shared.target, Order.FORWARD)

    @contextmanager
    def _watching(self, step: LaunchStep, loads: Named, stores: Named) -> Iterator[None]:
        if step.number != self._at.number:
            yield
            return
        ranges = [
            (each.ctypes.data, each.ctypes.data + each.nbytes) for _, each in (*loads, *stores)
        ]
        watched = np.array(ranges, np.uint64)
        sought = self._sought(stores[0][1]) if self._is_seeking else 0
        self._tell(self._trace.ctypes.data, watched, sought, self._block(step))
        try:
            yield
        finally:
            self._tell(None, watched, 0, (0, 0))

    def _sought(self, stored: NDArray[Any]) -> int:
        """Address of the sample in the output of the pass, which has rows like the picture."""
        row_bytes = stored.nbytes // self._job.height
        sample_bytes = row_bytes // Facts(self._job, DEVICE)["PITCH"]
        at = self._at.row * row_bytes + self._at.sample * sample_bytes
        return int(stored.ctypes.data + at)

    def _block(self, step: LaunchStep) -> tuple[int, int]:
        """The block that stores there; where none does, the one that should."""
        head = self._head[0]
        if head["is_found"]:
            return int(head["found"][0]), int(head["found"][1])
        assert step.grid is not None
        facts = Facts(self._job, DEVICE)
        across, down = (facts.value(each) for each in self.rung.passes[step.number].covers)
        x, y = self._at.sample // across, self._at.row // down
        return min(x, step.grid[0] - 1), min(y, step.grid[1] - 1)

    def _tell(
        self, into: int | None, watched: NDArray[np.uint64], sought: int, block: tuple[int, int]
    ) -> None:
        room = map(ctypes.c_uint64, (MAX_STEPS, MAX_ACCESSES, MAX_VALUES))
        arrays = ctypes.c_void_p(watched.ctypes.data)
        self.library.step_through(
            *(ctypes.c_void_p(into), *room, arrays, len(watched)),
            *(ctypes.c_uint64(sought), *block),
        )
