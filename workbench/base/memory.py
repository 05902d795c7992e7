"""The memory that this computer has, and has left."""

from __future__ import annotations

import ctypes
import math
import os
import re
import sys
from collections import deque
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

_ASSUMED_BYTES = 8 * 2**30  # where the system does not say
LARGE_BYTES = 2**28  # less need not be asked about


def memory_available_bytes() -> int:
    """Bytes that can be had without swapping; on other systems than Linux all there are."""
    with suppress(OSError):
        if found := re.search(r"MemAvailable:\s+(\d+) kB", Path("/proc/meminfo").read_text()):
            return int(found[1]) * 1024
    return memory_there_bytes()


def memory_there_bytes() -> int:
    """Bytes of memory that this computer has, free or not."""
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return _ASSUMED_BYTES


def require_memory(needed_bytes: int) -> None:
    """Raise MemoryError where so many bytes cannot be had: Linux promises any memory."""
    if needed_bytes > LARGE_BYTES and needed_bytes > memory_available_bytes():
        raise MemoryError(f"{needed_bytes:,} bytes are wanted")


def is_out_of_memory(error: BaseException) -> bool:
    """True for MemoryError, and for what C++ libraries such as OpenCV make of it."""
    said = str(error)
    return isinstance(error, MemoryError) or "bad_alloc" in said or "Insufficient memory" in said


M_TRIM_THRESHOLD, M_MMAP_THRESHOLD, M_ARENA_MAX = -1, -3, -8  # of glibc's <malloc.h>
_MAX_KEPT = 1 << 30  # bytes
_MAX_DOCUMENTED = 1 << 25  # bytes: of M_MMAP_THRESHOLD, beyond which older glibc refuses it


def share_one_heap() -> None:
    """Share one heap; to be called before threads begin.

    glibc gives each thread a heap of its own and keeps the ends of all but the first: in a soak of
    nine minutes fifteen heaps held 620 MiB at rest, and one 485 MiB, for the same 100 MiB in use.
    """
    _tell_malloc((M_ARENA_MAX, 1))


def use_freed_memory_again() -> None:
    """Share one heap that gives nothing back to the system; for a process that filters many files.

    Each picture takes the memory that one before has left.  Memory that comes from the system anew
    is emptied by it first, and all threads that want some wait for each other.
    """
    _tell_malloc(
        (M_ARENA_MAX, 1),
        (M_MMAP_THRESHOLD, _MAX_KEPT, _MAX_DOCUMENTED),
        (M_TRIM_THRESHOLD, _MAX_KEPT),
    )


def _tell_malloc(*choices: tuple[int, ...]) -> None:
    """Make each choice: an option, and values to try until one is taken."""
    if sys.platform.startswith("linux"):
        with suppress(AttributeError, OSError):  # another C library, which has no such thing
            mallopt = ctypes.CDLL(None).mallopt
            for option, *values in choices:
                any(mallopt(option, value) for value in values)  # 0: it does not take that one


# Smaller ones the C library keeps itself, larger ones are not worth holding on to.
MIN_BYTES, MAX_BYTES = 32 << 20, 128 << 20
KEPT = 2  # unused arrays at most


class BufferPool:
    """Pool of unused buffers of the size requested last; thread-safe.

    kept  buffers that are unused at the moment; those of other sizes are let go
    """

    def __init__(self) -> None:
        self.kept: deque[NDArray[np.uint8]] = deque(maxlen=KEPT)
        self._size = 0

    def take(self, size: int) -> NDArray[np.uint8]:
        """Get a buffer of so many bytes, with any content."""
        with suppress(IndexError):
            while (memory := self.kept.pop()).size != size:
                pass
            return memory
        self._size = size
        return np.empty(size, np.uint8)

    def give_back(self, memory: NDArray[np.uint8]) -> None:
        """Keep the buffer for the next who wants one of its size."""
        if memory.size == self._size:
            self.kept.append(memory)

    def clear(self) -> None:
        """Free all, and keep nothing that comes back, until some is taken again."""
        self._size = 0
        self.kept.clear()


POOL = BufferPool()


def empty(shape: tuple[int, ...]) -> NDArray[np.uint8]:
    """Make an array with any content; its memory returns with the last view."""
    size = math.prod(shape)
    if MIN_BYTES < size <= MAX_BYTES:
        return np.asarray(_Loan(POOL.take(size))).reshape(shape)
    POOL.clear()
    return np.empty(shape, np.uint8)


class _Loan:
    """The object that NumPy's views keep alive, which skip mere arrays of another's memory."""

    def __init__(self, memory: NDArray[np.uint8]) -> None:
        self._memory = memory
        self._give_back = POOL.give_back  # at the program's end the module may be empty already

    @property
    def __array_interface__(self) -> dict[str, Any]:
        return self._memory.__array_interface__

    def __del__(self) -> None:
        self._give_back(self._memory)
