"""The memory that a run on the CPU shares with the process that requests it.

Reports, then for each sample who stored it (where that is requested), then the picture and the
output between red zones: memory that nobody may touch, in which writes leave a mark.
Beyond those is room that takes no memory; a touch of it can be made a fault where the run is.
"""

from __future__ import annotations

import ctypes
import mmap
import os
from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from kernels.core.device import Device
from kernels.core.job import Job
from kernels.core.poison import RED_BYTES, fill_with_poison, poison, red_zone, row_end, same_bits
from kernels.cuda_on_cpu.elf import LineTable, Row
from kernels.cuda_on_cpu.regions import DEVICE
from kernels.rungs.headers import Facts
from kernels.rungs.rung import Rung

ALIGNMENT = 256  # of arrays on a device
WORDS = {"source": "the picture", "target": "the output"}

Bytes = NDArray[np.uint8]
Place = tuple[int, int]  # first byte, and the one behind the last


def rounded_up(size: int, unit: int = ALIGNMENT) -> int:
    return -(-size // unit) * unit


@dataclass(frozen=True, slots=True)
class GuardedLayout:
    """Arrays in one block of memory: "source", "target" and a rung's buffers."""

    shape: tuple[int, int]  # (H, pitch) of source and target, in samples
    places: dict[str, Place]  # of the arrays, by name
    zones: tuple[tuple[int, int, str], ...]  # (begin, end, name of the array that it guards)
    size: int  # of the block, in bytes

    def array(self, block: Bytes, name: str, job: Job) -> NDArray[Any]:
        """The (H, pitch) samples of "source" or "target"."""
        begin, end = self.places[name]
        return block[begin:end].view(job.picture.dtype).reshape(self.shape)

    def samples(self, block: Bytes, name: str, job: Job) -> NDArray[Any]:
        """Those samples of "source" or "target" that the picture has: (H, W · C)."""
        return self.array(block, name, job)[:, : job.width * job.channels]

    def unwritten(self, job: Job, turn: int) -> NDArray[Any]:
        """An output that no thread wrote to, like the job's picture."""
        begin, end = self.places["target"]
        rows = poison(end - begin, turn).view(job.picture.dtype).reshape(self.shape)
        return rows[:, : job.width * job.channels].reshape(job.picture.shape)

    def fill(self, block: Bytes, job: Job, turn: int) -> None:
        """Copy the picture; fill output, buffers and red zones with this turn's poison.

        Between the rows of the picture is NaN.
        """
        for begin, end, name in self.zones:
            block[begin:end] = self._red_zone(begin, end, name)
        for name, (begin, end) in self.places.items():
            if name != "source":
                fill_with_poison(block[begin:end], turn)
        rows = self.array(block, "source", job)
        row = job.width * job.channels
        rows.view(np.uint8)[:, row * rows.itemsize :] = 0xFF
        rows[:, :row] = job.picture.reshape(job.height, -1)

    def broken_rule(self, block: Bytes, job: Job, turn: int) -> str:
        """The sentence for what was written beside the output; empty: nothing was."""
        for begin, end, name in self.zones:
            wrong = np.flatnonzero(block[begin:end] != self._red_zone(begin, end, name))
            if wrong.size:
                is_before = begin + int(wrong[0]) < self.places[name][0]
                where = "before the start" if is_before else "behind the end"
                return f"Something was written {where} of {name_in_words(name)}."
        if not same_bits(self.samples(block, "source", job), job.picture.reshape(job.height, -1)):
            return "Something was written to the picture, which is only to be read."
        end = row_end(job.picture)
        begin, behind = self.places["target"]
        padding = poison(behind - begin, turn).reshape(self.shape[0], -1)[:, end:]
        before: dict[str, Any] = {"source": 0xFF, "target": padding}
        for name, was in before.items():
            rows = (self.array(block, name, job).view(np.uint8)[:, end:] != was).any(axis=1)
            if rows.any():
                of = f"row {int(np.argmax(rows))} of {name_in_words(name)}"
                return f"Something was written behind the end of {of}, where no sample is."
        return ""

    def _red_zone(self, begin: int, end: int, name: str) -> Bytes:
        return red_zone(end - begin, list(self.places).index(name))


def name_in_words(name: str) -> str:
    return WORDS.get(name, f"the buffer {name}")


def layout_of(rung: Rung, job: Job, device: Device) -> GuardedLayout:
    """Lay out all arrays of a run on a device: every other byte is of the red zone of one."""
    facts = Facts(job, device)
    shape = (job.height, int(facts["PITCH"]))
    sizes = dict.fromkeys(("source", "target"), shape[0] * shape[1] * job.picture.itemsize)
    sizes |= {name: int(facts.value(size)) for name, size in rung.buffers}
    places, zones, at = dict[str, Place](), list[tuple[int, int, str]](), 0
    for name, size in sizes.items():
        begin = rounded_up(at + RED_BYTES)
        places[name] = begin, begin + size
        zones += [(at, begin, name), (begin + size, begin + size + RED_BYTES, name)]
        at = begin + size + RED_BYTES
    return GuardedLayout(shape, places, tuple(zones), at)


MAX_SIZES = 3
M = TypeVar("M")


class KeptMemory(Generic[M]):
    """Memory by its exact size, so that nothing lies behind what a run asks for.

    make    allocates N bytes; where there is not enough it raises, and nothing is kept
    let_go  called when some was dropped
    """

    def __init__(self, make: Callable[[int], M], let_go: Callable[[], None] = lambda: None) -> None:
        self._make, self._let_go = make, let_go
        self._kept: dict[int, M] = {}  # the one made last is last

    def get(self, size: int) -> M:
        """Memory of that size, whatever is in it.

        What is larger is dropped, and the oldest: what is kept never takes much more than one.
        """
        if size not in self._kept:
            smaller = [each for each in self._kept if each < size][1 - MAX_SIZES :]
            if len(smaller) < len(self._kept):
                self._kept = {each: self._kept[each] for each in smaller}
                self._let_go()
            self._kept[size] = self._make(size)
        return self._kept[size]


DEPTH = 12
DYNAMIC_ARRAY, STATIC_ARRAY, NOWHERE, GIFT = -1, -2, -3, -4


class Kind(IntEnum):
    """Kinds of reports: enum Kind in fibers.h."""

    NOTHING, CRASH, DEADLINE, BOUNDS, MISALIGNED, RACE = range(6)
    UNINITIALISED, PADDING, READ_ONLY, ELEMENT, BEYOND = range(6, 11)


class Signal(IntEnum):
    """The signals of Linux, which other systems do not all know the names of."""

    SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGKILL = range(4, 10)
    SIGSEGV, SIGALRM, SIGPROF, SIGSYS = 11, 14, 27, 31


class Where(ctypes.Structure):
    """A thread, and where it is: struct Where."""

    _fields_ = (
        *((name, ctypes.c_int32) for name in ("block_x", "block_y", "thread_x", "thread_y")),
        ("pcs", ctypes.c_uint64 * DEPTH),
    )

    @property
    def thread(self) -> tuple[int, int]:
        """Its place in its block, x then y."""
        return self.thread_x, self.thread_y

    @property
    def block(self) -> tuple[int, int]:
        """Its block's place in the grid, x then y."""
        return self.block_x, self.block_y

    def row(self, table: LineTable, file: str) -> Row | None:
        """The innermost line that is of `file`; else of any; None: nothing is known."""
        rows = [row for pc in self.pcs if pc and (row := table.at(pc))]
        return next((row for row in rows if row.file == file), rows[0] if rows else None)


class Report(ctypes.Structure):
    """One report: struct Report."""

    _fields_ = (
        *((name, ctypes.c_int32) for name in ("kind", "signal", "array")),
        *(("size", ctypes.c_uint32), ("offset", ctypes.c_int64)),
        *((name, ctypes.c_int32) for name in ("is_store", "other_stores")),
        *((name, ctypes.c_uint64) for name in ("address", "array_bytes")),
        *(("here", Where), ("there", Where)),
    )


class Reports(ctypes.Structure):
    """All reports of one run: struct Reports."""

    _fields_ = (
        ("fault", Report),
        ("suspicion", Report),
        ("refused_bytes", ctypes.c_uint64),  # of memory that was requested; 0: none
    )


MAX_MEMORY = 2 << 30  # bytes that a run may take besides
BEYOND = 16 << 20  # bytes beside an array: what is accessed there is meant for it
PAGE = mmap.PAGESIZE


def _layout(job: Job, *, at_page_begin: bool) -> GuardedLayout:
    """Lay out picture and output, each alone on pages; they begin with one, or end with one."""
    pitch = Facts(job, DEVICE)["PITCH"]
    samples = job.height * pitch
    size = samples * job.picture.itemsize
    # A row is a multiple of a line of a GPU's memory: so either way the arrays are aligned.
    slack = 0 if at_page_begin else -size % PAGE
    storers = rounded_up(ctypes.sizeof(Reports)) + samples * ctypes.sizeof(Where)
    source = rounded_up(storers, PAGE) + BEYOND + slack
    target = source + rounded_up(size, PAGE) + BEYOND
    places = {"source": (source, source + size), "target": (target, target + size)}
    zones = [
        each
        for name, (begin, end) in places.items()
        for each in ((begin - RED_BYTES, begin, name), (end, end + RED_BYTES, name))
    ]
    return GuardedLayout((job.height, pitch), places, tuple(zones), target + size)


class SharedRun:
    """One run's shared memory, mapped: in the process that requests it, and in the one that runs.

    layout          of `block`, all of the memory; `source` and `target` are its arrays
    address         of the reports, with which it begins
    writers_offset  where in it the storers of samples are
    at_page_begin   the arrays begin with a page of memory; else they end with one
    trace_bytes     of `trace`, for the steps of a block; what nobody writes to takes no room
    """

    def __init__(
        self,
        descriptor: int,
        job: Job,
        *,
        is_new: bool,
        at_page_begin: bool = False,
        trace_bytes: int = 0,
    ) -> None:
        self.layout = _layout(job, at_page_begin=at_page_begin)
        self.writers_offset = rounded_up(ctypes.sizeof(Reports))
        self._trace = rounded_up(self.layout.size, PAGE) + BEYOND
        size = self._trace + trace_bytes
        if is_new:
            os.ftruncate(descriptor, 0)  # so that all of it is zero
            os.ftruncate(descriptor, size)
        self._map = mmap.mmap(descriptor, size)
        self.block: Bytes = np.frombuffer(self._map, np.uint8)
        self.address, self.trace = int(self.block.ctypes.data), self.block[self._trace :]
        self.source: NDArray[Any] = self.layout.array(self.block, "source", job)
        self.target: NDArray[Any] = self.layout.array(self.block, "target", job)

    @property
    def reports(self) -> Reports:
        return Reports.from_buffer_copy(self._map, 0)

    def storers(self) -> Bytes:
        """The last thread that stored each sample, where that was requested: (H, pitch, bytes)."""
        height, pitch = self.layout.shape
        size = height * pitch * ctypes.sizeof(Where)
        found = self.block[self.writers_offset : self.writers_offset + size].copy()
        return found.reshape(height, pitch, ctypes.sizeof(Where))

    def guard(self) -> None:
        """Make it a fault of this process to touch a page beside the arrays."""
        (source, behind), (target, end) = self.layout.places.values()
        protect = ctypes.CDLL(None).mprotect
        for first, last in (
            (source // PAGE * PAGE - BEYOND, source // PAGE * PAGE),
            (rounded_up(behind, PAGE), target // PAGE * PAGE),
            (rounded_up(end, PAGE), self._trace),
        ):
            if protect(ctypes.c_void_p(self.address + first), ctypes.c_size_t(last - first), 0):
                raise OSError("memory beside the pictures cannot be guarded")

    def beside(self, at: int) -> tuple[str, int] | None:
        """The array that an access to this memory was meant for, and where from its begin."""
        for name, (begin, end) in self.layout.places.items():
            if begin - BEYOND // 2 <= at < end + BEYOND // 2:
                return name_in_words(name), at - begin
        return None
