"""Traces of one block: its threads' loads and stores by step of the text, and all that they did."""

from __future__ import annotations

import ctypes
from collections.abc import Iterable, Iterator, Sequence
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

MAX_STEPS = 1_000_000
MAX_PATH, MAX_SHARED = 16, 16
VALUE_BYTES = 16  # of what is loaded or stored at once that are kept
DYNAMIC_ARRAY, STATIC_ARRAY = -1, -2
# As struct SharedName, Head, Step, Access, Turn and Value in recorder.cpp.
U32, I32, U64 = np.uint32, np.int32, np.uint64
SHARED_NAME = np.dtype(
    [
        *(("name", U32), ("array", I32), ("offset", U64), ("kind", U32)),
        *(("size", U32), ("rows", U32), ("columns", U32)),
    ]
)
HEAD = np.dtype(
    [
        *(("counts", U64, 4), ("is_found", U32), ("found", U32, 2), ("none", U32)),
        *(("block", U32, 2), ("threads", U32, 2), ("dynamic_bytes", U64), ("static_bytes", U64)),
        *(("shared_names", U64), ("shared", SHARED_NAME, MAX_SHARED)),
    ]
)
STEP = np.dtype([("interval", U32), ("point", U32), ("path", U32, MAX_PATH)])
ACCESS = np.dtype(
    [
        *(("thread", U32), ("step", U32), ("array", I32), ("is_store", U32), ("size", U32)),
        *(("site", U32), ("offset", U64), ("value", np.uint8, VALUE_BYTES)),
    ]
)
TURN = np.dtype([("thread", U32), ("step", U32)])
VALUE = np.dtype(
    [
        *(("thread", U32), ("step", U32), ("variable", U32), ("kind", U32)),
        *(("index", I32, 2), ("bits", U64)),
    ]
)
MOST = ((STEP, MAX_STEPS), (ACCESS, 6_000_000), (TURN, MAX_STEPS), (VALUE, 1_500_000))
ROOM = np.array([most for _, most in MOST], U64)
TRACE_BYTES = HEAD.itemsize + sum(kind.itemsize * most for kind, most in MOST)


@dataclass(frozen=True, slots=True, eq=False)
class Trace:
    """All that one block did, in the order in which its threads ran.

    head      of HEAD, one
    steps     of STEP, each once; `accesses`, `turns` and `values` are of ACCESS, TURN and VALUE, by
              the number of a step in the order of the text
    is_cut    there was no room for all of it
    """

    head: Any
    steps: NDArray[np.void]
    accesses: NDArray[np.void]
    turns: NDArray[np.void]
    values: NDArray[np.void]
    is_cut: bool

    @classmethod
    def of(cls, memory: NDArray[np.uint8]) -> Trace:
        """Copy it from the memory that a run wrote it into."""
        head = memory[: HEAD.itemsize].copy().view(HEAD)[0]
        begin, found = HEAD.itemsize, []
        for (kind, most), count in zip(MOST, head["counts"].tolist(), strict=True):
            size = kind.itemsize * min(count, most)
            found.append(memory[begin : begin + size].copy().view(kind))
            begin += kind.itemsize * most
        steps, *others = found
        accesses, turns, values = others
        is_cut = bool((head["counts"] > ROOM).any())
        order = np.lexsort((steps["point"], *steps["path"].T[::-1], steps["interval"]))
        rank = np.argsort(order).astype(U32)
        for each in others if len(steps) else ():
            each["step"] = rank[np.minimum(each["step"], len(steps) - 1)]
        return cls(head, steps[order], accesses, turns, values, is_cut)


def record(
    library: ctypes.CDLL,
    memory: NDArray[np.uint8] | None,
    arrays: Sequence[NDArray[Any]] = (),
    block: tuple[int, int] = (0, 0),
    *,
    sought: int = 0,
    follows: bool = False,
) -> None:
    """Have the launches to come write down a block in memory of TRACE_BYTES; None: no longer.

    sought   the address of a byte: only the block that stores there is looked for
    follows  write down also turns, and all values
    """
    ranges = [(each.ctypes.data, each.ctypes.data + each.nbytes) for each in arrays]
    watched = np.array(ranges, U64).reshape(-1, 2)
    library.record(
        ctypes.c_void_p(None if memory is None else memory.ctypes.data),
        *(ctypes.c_void_p(ROOM.ctypes.data), ctypes.c_void_p(watched.ctypes.data), len(watched)),
        *(ctypes.c_uint64(sought), *block, ctypes.c_bool(follows)),
    )


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
        self._job, self._at, self._trace = job, at, shared.trace
        poison = shared.target.copy()
        for self._is_seeking in (True, False) if at.is_sought else (False,):
            shared.target[...] = poison
            self.run_into(job, shared.source, shared.target, Order.FORWARD)

    @contextmanager
    def _watching(self, step: LaunchStep, loads: Named, stores: Named) -> Iterator[None]:
        if step.number != self._at.number:
            yield
            return
        arrays = [each for _, each in (*loads, *stores)]
        sought = self._sought(stores[0][1]) if self._is_seeking else 0
        block = self._block(step)
        record(self.library, self._trace, arrays, block, sought=sought, follows=True)
        try:
            yield
        finally:
            record(self.library, None)

    def _sought(self, stored: NDArray[Any]) -> int:
        """Address of the sample in the output of the pass, which has rows like the picture."""
        row_bytes = stored.nbytes // self._job.height
        sample_bytes = row_bytes // Facts(self._job, DEVICE)["PITCH"]
        at = self._at.row * row_bytes + self._at.sample * sample_bytes
        return int(stored.ctypes.data + at)

    def _block(self, step: LaunchStep) -> tuple[int, int]:
        """The block that stores there; where none does, the one that should."""
        head = self._trace[: HEAD.itemsize].view(HEAD)[0]
        if head["is_found"]:
            return int(head["found"][0]), int(head["found"][1])
        assert step.grid is not None
        facts = Facts(self._job, DEVICE)
        across, down = (facts.value(each) for each in self.rung.passes[step.number].covers)
        x, y = self._at.sample // across, self._at.row // down
        return min(x, step.grid[0] - 1), min(y, step.grid[1] - 1)
