"""Memory that this process shares with a child, for pictures: no pipe has to carry them."""

from __future__ import annotations

import mmap
import os
import sys
from contextlib import suppress
from itertools import count

import numpy as np
from numpy.typing import NDArray

_tags = count(1)


class SharedBytes:
    """Memory that grows as it is asked for; a child finds it again by its `handle`.

    On Linux that is the number of a file in memory, which the child inherits; on Windows a name.
    """

    def __init__(self) -> None:
        self._descriptor = -1 if sys.platform == "win32" else os.memfd_create("cuda-child")
        self.handle = str(self._descriptor)
        self.size = 0
        self._map: mmap.mmap | None = None

    @property
    def descriptors(self) -> tuple[int, ...]:
        """Return what a child has to inherit."""
        return (self._descriptor,) if self._descriptor >= 0 else ()

    def array(self, size: int) -> NDArray[np.uint8]:
        """Return its first `size` bytes; what was in them may be gone."""
        if size > self.size:
            self._let_go()
            if sys.platform == "win32":
                self.handle = f"filter-workbench-{os.getpid()}-{next(_tags)}"
            else:
                os.ftruncate(self._descriptor, size)
            self._map, self.size = mapped(self.handle, size), size
        assert self._map is not None
        return np.frombuffer(self._map, np.uint8, size)

    def close(self) -> None:
        """Give the memory back; where somebody still looks at an array in it, with that one."""
        self._let_go()
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    def _let_go(self) -> None:
        if self._map is not None:
            with suppress(BufferError):
                self._map.close()
        self._map, self.size = None, 0


class SharedMap:
    """A child's view of the memory: mapped once, not for each run."""

    def __init__(self) -> None:
        self._place = ("", 0)
        self._bytes = np.empty(0, np.uint8)

    def array(self, handle: str, size: int) -> NDArray[np.uint8]:
        """Return all of the memory that has this handle and size now."""
        if (handle, size) != self._place:
            self._bytes = np.frombuffer(mapped(handle, size), np.uint8)
            self._place = (handle, size)
        return self._bytes


def mapped(handle: str, size: int) -> mmap.mmap:
    """Map the memory that has this handle, here or in the child."""
    if sys.platform == "win32":
        return mmap.mmap(-1, size, tagname=handle)
    return mmap.mmap(int(handle), size)
