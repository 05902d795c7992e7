"""The memory that a run shares with the process that requests it, and the request.

Reports, then for each sample who stored it (where that is requested), then the picture and the
output between red zones: memory that nobody may touch, in which writes leave a mark.
Beyond those is room that takes no memory; a touch of it can be made a fault where the run is.
"""

from __future__ import annotations

import ctypes
import mmap
import os
import struct
from contextlib import suppress
from dataclasses import dataclass, replace
from enum import IntEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernels.core.job import Job
from kernels.core.poison import RED_BYTES, red_zone, row_end
from kernels.cuda_on_cpu.elf import LineTable, Row
from kernels.cuda_on_cpu.regions import DEVICE
from kernels.cuda_on_cpu.shim import Order, Shim
from kernels.rungs.job_facts import Facts
from kernels.rungs.rung import Rung

DEPTH = 12
DYNAMIC_ARRAY, STATIC_ARRAY, NOWHERE, GIFT = -1, -2, -3, -4


class Kind(IntEnum):
    """The kinds of reports: enum Kind in report.h."""

    NOTHING = 0
    CRASH = 1
    DEADLINE = 2
    BOUNDS = 3
    MISALIGNED = 4
    RACE = 5
    UNINITIALISED = 6
    PADDING = 7
    READ_ONLY = 8
    ELEMENT = 9
    BEYOND = 10


class Signal(IntEnum):
    """The signals of Linux, which other systems do not all know the names of."""

    SIGILL = 4
    SIGTRAP = 5
    SIGABRT = 6
    SIGBUS = 7
    SIGFPE = 8
    SIGKILL = 9
    SIGSEGV = 11
    SIGALRM = 14
    SIGPROF = 27
    SIGSYS = 31


class Where(ctypes.Structure):
    """A thread, and where it is: struct Where."""

    _fields_ = (
        ("block_x", ctypes.c_int32),
        ("block_y", ctypes.c_int32),
        ("thread_x", ctypes.c_int32),
        ("thread_y", ctypes.c_int32),
        ("pcs", ctypes.c_uint64 * DEPTH),
    )

    @property
    def thread(self) -> tuple[int, int]:
        """Return its place in its block, x then y."""
        return self.thread_x, self.thread_y

    @property
    def block(self) -> tuple[int, int]:
        """Return its block's place in the grid, x then y."""
        return self.block_x, self.block_y

    def row(self, table: LineTable, file: str) -> Row | None:
        """Return the innermost line that is of `file`; else of any; None: nothing is known."""
        rows = [row for pc in self.pcs if pc and (row := table.at(pc))]
        return next((row for row in rows if row.file == file), rows[0] if rows else None)


class Report(ctypes.Structure):
    """One report: struct Report."""

    _fields_ = (
        ("kind", ctypes.c_int32),
        ("signal", ctypes.c_int32),
        ("array", ctypes.c_int32),
        ("size", ctypes.c_uint32),
        ("offset", ctypes.c_int64),
        ("is_store", ctypes.c_int32),
        ("other_stores", ctypes.c_int32),
        ("address", ctypes.c_uint64),
        ("array_bytes", ctypes.c_uint64),
        ("here", Where),
        ("there", Where),
    )


class Reports(ctypes.Structure):
    """All that there may be of one run: struct Reports."""

    _fields_ = (
        ("fault", Report),
        ("suspicion", Report),
        ("refused_bytes", ctypes.c_uint64),  # of memory that was asked for; 0: none
    )


MAX_MEMORY = 2 << 30  # bytes that a run may take besides
ALIGNMENT = 256  # as memory on a device
BEYOND = 16 << 20  # bytes beside an array: what is accessed there is meant for it
PAGE = mmap.PAGESIZE
LENGTH = struct.Struct("<I")  # of what is asked for, which is pickled
PICTURES = ("the picture", "the answer")
END = "end"  # instead of a request: of what runs


@dataclass(frozen=True, slots=True)
class StepAt:
    """The block to step through: that of a pass which stores a sample of a row.

    is_sought  by a run of its own; else it is the block that should store there
    """

    number: int
    row: int
    sample: int
    is_sought: bool = True


@dataclass(frozen=True, slots=True)
class Request:
    """One run, but for its picture's samples.

    shim       the class that runs it
    library    the path of what was built
    seconds    of the CPU's time that it may take
    blank      the job with a picture of one pixel, in place of one of `shape`
    seed       of a shuffled order
    is_repeated  two launches come before, of which no variable of the text is reset: on another
               picture, and on this one
    at         the block to step through; None: none
    rows       (first, end) to write; None: all
    cross      chooses a column and a row of blocks, which run alone; 0: all
    at_page_begin  the arrays begin with a page of memory; else they end with one
    is_guarded  to touch what lies beside them is a fault
    is_unconfined  it may run unconfined where the system has no filters
    """

    shim: type[Shim]
    library: str
    seconds: float
    rung: Rung
    blank: Job
    shape: tuple[int, int, int]
    order: int = Order.FORWARD
    seed: int = 0
    is_repeated: bool = False
    at: StepAt | None = None
    rows: tuple[int, int] | None = None
    cross: int = 0
    at_page_begin: bool = False
    is_guarded: bool = True
    is_unconfined: bool = False

    def job(self, picture: NDArray[Any]) -> Job:
        """Return the job on its picture."""
        return replace(self.blank, picture=picture)


class SharedRun:
    """One run's shared memory, mapped: in the process that asks, and in the one that runs."""

    def __init__(
        self,
        descriptor: int,
        job: Job,
        *,
        is_new: bool,
        at_page_begin: bool = False,
        trace_bytes: int = 0,
    ) -> None:
        pitch = Facts(job, DEVICE)["PITCH"]
        samples, item = job.height * pitch, job.picture.itemsize
        self.shape = (job.height, pitch)
        size = samples * item
        self._writers = _up(ctypes.sizeof(Reports))
        apart = _up(size, PAGE) + BEYOND
        # A row is a multiple of a line of a GPU's memory: so either way the arrays are aligned.
        slack = 0 if at_page_begin else -size % PAGE
        self._source = _up(self._writers + samples * ctypes.sizeof(Where), PAGE) + BEYOND + slack
        self._target = self._source + apart
        self._end = self._target + size
        self._trace = _up(self._end, PAGE) + BEYOND
        self._size = self._trace + trace_bytes
        if is_new:
            os.ftruncate(descriptor, 0)  # so that all of it is zero
            os.ftruncate(descriptor, self._size)
        self._map = mmap.mmap(descriptor, self._size)
        self._bytes = np.frombuffer(self._map, np.uint8)
        self.source = self._picture(self._source, job)
        self.target = self._picture(self._target, job)

    def fill(self, picture: NDArray[Any], poison: NDArray[np.uint8]) -> None:
        """Lay in the picture, poison the answer, mark the red zones."""
        for begin, end, name, _ in self._red_zones():
            self._bytes[begin:end] = _beside(end - begin, name)
        height, width, channels = picture.shape
        self.source.view(np.uint8)[:] = 0xFF  # NaN between the rows
        self.source[:, : width * channels] = picture.reshape(height, width * channels)
        self.target.view(np.uint8).reshape(-1)[:] = poison

    @property
    def reports(self) -> Reports:
        """Return what the run wrote down of how it ended."""
        return Reports.from_buffer_copy(self._map, 0)

    @property
    def address(self) -> int:
        """Return where the reports lie, for who writes them."""
        return int(self._bytes.ctypes.data)

    @property
    def writers_address(self) -> int:
        """Return where it is written down who stored each sample."""
        return self.address + self._writers

    @property
    def trace(self) -> NDArray[np.uint8]:
        """Return the memory for the steps of a block; what nobody writes to takes no room."""
        return self._bytes[self._trace :]

    def storers(self) -> NDArray[np.uint8]:
        """Return who stored each sample last, where that was asked for: (H, pitch, bytes)."""
        size = self.shape[0] * self.shape[1] * ctypes.sizeof(Where)
        found = self._bytes[self._writers : self._writers + size].copy()
        return found.reshape(*self.shape, ctypes.sizeof(Where))

    def is_changed(self, picture: NDArray[Any]) -> bool:
        """Return whether the picture is no longer what was laid in."""
        _, width, channels = picture.shape
        rows = self.source[:, : width * channels].reshape(picture.shape)
        return not np.array_equal(rows.view(np.uint8), picture.view(np.uint8))

    def touched_padding(
        self, picture: NDArray[Any], poison: NDArray[np.uint8]
    ) -> list[tuple[str, int]]:
        """Return the pictures between whose rows something was written, and behind which row."""
        end = row_end(picture)
        blank = poison.reshape(self.shape[0], -1)
        before = {PICTURES[0]: np.full_like(blank, 0xFF), PICTURES[1]: blank}
        found = []
        for (name, filled), now in zip(before.items(), (self.source, self.target), strict=True):
            wrong = now.view(np.uint8)[:, end:] != filled[:, end:]
            if wrong.any():
                found.append((name, int(np.flatnonzero(wrong.any(axis=1))[0])))
        return found

    def touched_outside(self) -> list[tuple[str, int]]:
        """Return the arrays beside which something was written, and where, from their begin."""
        return [
            (name, begin + int(wrong[0]) - first)
            for begin, end, name, first in self._red_zones()
            if (wrong := np.flatnonzero(self._bytes[begin:end] != _beside(end - begin, name))).size
        ]

    def close(self) -> None:
        """Let the memory go; where somebody still looks at an array in it, with that one."""
        del self._bytes, self.source, self.target  # or the map could not be closed
        with suppress(BufferError):
            self._map.close()

    def _red_zones(self) -> tuple[tuple[int, int, str, int], ...]:
        """Return (begin, end) of each, the array that it belongs to, and where that begins."""
        picture, answer = PICTURES
        after_source = self._source + self.source.nbytes
        return (
            (self._source - RED_BYTES, self._source, picture, self._source),
            (after_source, after_source + RED_BYTES, picture, self._source),
            (self._target - RED_BYTES, self._target, answer, self._target),
            (self._end, self._end + RED_BYTES, answer, self._target),
        )

    def guard(self) -> None:
        """Make it a fault of this process to touch a page beside the arrays."""
        after_source = _up(self._source + self.source.nbytes, PAGE)
        protect = ctypes.CDLL(None).mprotect
        for begin, end in (
            (self._source // PAGE * PAGE - BEYOND, self._source // PAGE * PAGE),
            (after_source, self._target // PAGE * PAGE),
            (_up(self._end, PAGE), self._trace),
        ):
            if protect(ctypes.c_void_p(self.address + begin), ctypes.c_size_t(end - begin), 0):
                raise OSError("memory beside the pictures cannot be guarded")

    def beside(self, at: int) -> tuple[str, int] | None:
        """The array that an access to this memory was meant for, and where from its begin."""
        picture, answer = PICTURES
        for name, first, size in (
            (picture, self._source, self.source.nbytes),
            (answer, self._target, self.target.nbytes),
        ):
            if first - BEYOND // 2 <= at < first + size + BEYOND // 2:
                return name, at - first
        return None

    def _picture(self, begin: int, job: Job) -> NDArray[Any]:
        size = self.shape[0] * self.shape[1] * job.picture.itemsize
        return self._bytes[begin : begin + size].view(job.picture.dtype).reshape(self.shape)


def _beside(size: int, array: str) -> NDArray[np.uint8]:
    return red_zone(size, PICTURES.index(array))


def _up(size: int, unit: int = ALIGNMENT) -> int:
    return -(-size // unit) * unit
