"""The memory that this computer has, and has left."""

from __future__ import annotations

import os
import re
from pathlib import Path

_ASSUMED_BYTES = 8 * 2**30  # where the system does not say
LARGE_BYTES = 2**28  # less need not be asked about


def memory_available_bytes() -> int:
    """Return the bytes that can be had without swapping.

    On other systems than Linux, the memory there is.
    """
    return _from_proc("MemAvailable") or memory_there_bytes()


def memory_there_bytes() -> int:
    """Return the bytes of memory that this computer has, free or not."""
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return _ASSUMED_BYTES


def _from_proc(name: str) -> int | None:
    try:
        found = re.search(rf"{name}:\s+(\d+) kB", Path("/proc/meminfo").read_text())
    except OSError:
        return None
    return int(found[1]) * 1024 if found else None


def require_memory(needed_bytes: int) -> None:
    """Raise MemoryError where so many bytes cannot be had.

    Linux promises any memory that is asked for, and ends the program once it is used.
    """
    if needed_bytes > LARGE_BYTES and needed_bytes > memory_available_bytes():
        raise MemoryError(f"{needed_bytes:,} bytes are wanted")


def is_out_of_memory(error: BaseException) -> bool:
    """Return True for MemoryError, and for what C++ libraries such as OpenCV make of it."""
    said = str(error)
    return isinstance(error, MemoryError) or "bad_alloc" in said or "Insufficient memory" in said
