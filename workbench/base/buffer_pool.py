"""Large arrays whose memory is used again: new pages cost the system more than filling them."""

from __future__ import annotations

import math
from collections import deque
from contextlib import suppress
from typing import Any

import numpy as np
from numpy.typing import NDArray

# Smaller ones the C library keeps itself, larger ones are not worth holding on to.
MIN_BYTES, MAX_BYTES = 32 << 20, 128 << 20
KEPT = 2  # arrays at most, which nobody uses


class BufferPool:
    """Unused memory of the size that was asked for last.  For any thread.

    Other sizes are of a picture that is no longer in view, or soon will not be.
    """

    def __init__(self) -> None:
        self._kept: deque[NDArray[np.uint8]] = deque(maxlen=KEPT)
        self._size = 0

    @property
    def kept(self) -> tuple[NDArray[np.uint8], ...]:
        """Return the buffers that nobody uses at the moment."""
        return tuple(self._kept)

    def take(self, size: int) -> NDArray[np.uint8]:
        """Return a buffer of so many bytes, with anything in it."""
        if size != self._size:
            self.clear()
            self._size = size
        with suppress(IndexError):
            while (memory := self._kept.pop()).size != size:
                pass  # another thread may have asked for others meanwhile
            return memory
        return np.empty(size, np.uint8)

    def give_back(self, memory: NDArray[np.uint8]) -> None:
        """Keep the buffer for the next who wants one of its size."""
        if memory.size == self._size:
            self._kept.append(memory)

    def clear(self) -> None:
        """Free all, and keep nothing that comes back, until some is taken again."""
        self._size = 0
        self._kept.clear()


POOL = BufferPool()


def empty(shape: tuple[int, ...]) -> NDArray[np.uint8]:
    """Return an array of this shape with anything in it.

    Its memory comes back when the last view of it is gone, in whatever thread.
    """
    size = math.prod(shape)
    if MIN_BYTES < size <= MAX_BYTES:
        return np.asarray(_Loan(POOL.take(size))).reshape(shape)
    POOL.clear()
    return np.empty(shape, np.uint8)


class _Loan:
    """The object that NumPy's views keep alive.

    They skip an array that only passes on another's memory.
    """

    def __init__(self, memory: NDArray[np.uint8]) -> None:
        self._memory = memory
        self._give_back = POOL.give_back  # at the program's end the module may be empty already

    @property
    def __array_interface__(self) -> dict[str, Any]:
        return self._memory.__array_interface__

    def __del__(self) -> None:
        self._give_back(self._memory)
