"""The notes that a run which went wrong left in shared memory, as report.h lays them out."""

from __future__ import annotations

import ctypes
from enum import IntEnum

from kernels.cuda_on_cpu.line_table import LineTable, Row

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
