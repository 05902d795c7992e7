"""Large arrays whose memory is used again: new pages cost the system more than filling them."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import numpy as np
from numpy.typing import NDArray

# Smaller ones the C library keeps itself, larger ones are not worth holding on to.
LEAST_BYTES, MOST_BYTES = 32 << 20, 128 << 20
KEPT = 2  # arrays at most, which nobody uses

_kept: deque[NDArray[np.uint8]] = deque(maxlen=KEPT)


def empty(shape: tuple[int, ...]) -> NDArray[np.uint8]:
    """An array of this shape with anything in it; its memory comes back when the last view of it
    is gone, in whatever thread."""
    size = math.prod(shape)
    if not LEAST_BYTES < size <= MOST_BYTES:
        return np.empty(shape, np.uint8)
    return np.asarray(_Loan(_of_size(size))).reshape(shape)


def _of_size(size: int) -> NDArray[np.uint8]:
    with suppress(IndexError):
        while True:
            memory = _kept.pop()
            if memory.size == size:  # others are of a picture that is no longer in view
                return memory
    return np.empty(size, np.uint8)


class _Loan:
    """What NumPy's views keep alive: they skip an array that only passes on another's memory."""

    def __init__(self, memory: NDArray[np.uint8]) -> None:
        self._memory = memory

    @property
    def __array_interface__(self) -> dict[str, Any]:
        return self._memory.__array_interface__

    def __del__(self, keep: Callable[[NDArray[np.uint8]], None] = _kept.append) -> None:
        keep(self._memory)  # bound above: at the program's end the module may be empty already
