"""Poison: what fills memory before a kernel runs, so that its faults show."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernels.core.verdict import place_words

CHUNK_BYTES = 16  # the most that a thread stores at once: the last of a row may stand out over it
Mask = NDArray[np.bool_]
RED_BYTES = 64 << 10  # before and behind an array: memory that nobody may touch


def poison(size: int, turn: int) -> NDArray[np.uint8]:
    """Make a filling of `size` bytes; those of turns 0 and 1 have no byte in common anywhere."""
    filling = np.empty(size, np.uint8)
    fill_with_poison(filling, turn)
    return filling


def fill_with_poison(memory: NDArray[np.uint8], turn: int) -> None:
    some = ~_some_bytes() if turn else _some_bytes()
    whole = memory.size // some.size * some.size
    memory[:whole].reshape(-1, some.size)[:] = some
    memory[whole:] = some[: memory.size - whole]


def red_zone(size: int, number: int) -> NDArray[np.uint8]:
    """The filling beside the array of that number; no two are the same, to show copies of it."""
    shift = number // 2
    return poison(size + shift, number % 2)[shift:]


@cache
def _some_bytes() -> NDArray[np.uint8]:
    """Bytes that no kernel writes by chance."""
    return np.random.default_rng(16).integers(0, 256, RED_BYTES - 1, np.uint8)


def is_as_before(answer: NDArray[Any], before: NDArray[Any]) -> Mask:
    """Mask of samples that still have every bit of their filling."""
    bits = f"u{answer.itemsize}"
    same: Mask = answer.view(bits) == before.view(bits)
    return same


def same_bits(some: NDArray[Any], other: NDArray[Any]) -> bool:
    """True if two arrays of one shape and type are equal bit by bit."""
    if not (some.flags.c_contiguous and other.flags.c_contiguous):
        return bool(is_as_before(some, other).all())
    these, those = (each.reshape(-1).view(np.uint8) for each in (some, other))
    words = these.size // 8 * 8  # compared as 64 bits: what is noted of each takes memory, too
    return np.array_equal(
        these[:words].view(np.uint64), those[:words].view(np.uint64)
    ) and np.array_equal(these[words:], those[words:])


def row_end(picture: NDArray[Any]) -> int:
    """The byte of a row, (H, W, C), behind which nothing may be written up to the next."""
    row_bytes = int(picture.shape[1] * picture.shape[2] * picture.itemsize)
    return -(-row_bytes // CHUNK_BYTES) * CHUNK_BYTES


def unwritten_in_words(unwritten: Mask, corner: tuple[int, int] = (0, 0)) -> str:
    """The sentence on samples that were never written, from `corner` on; or ""."""
    if not unwritten.any():
        return ""
    many = "sample was" if unwritten.sum() == 1 else "samples were"
    return f"{unwritten.sum():,} {many} never written, {_first(unwritten, corner)}."


BY_ORDER = (
    "The answer depends on which thread comes first, or on what an earlier launch left behind"
)


def order_in_words(
    first: NDArray[Any], second: NDArray[Any], never: Mask, corner: tuple[int, int] = (0, 0)
) -> str:
    """The sentence on two outputs of one job that differ; or ""."""
    differs = ~is_as_before(first, second) & ~never
    if not differs.any():
        return ""
    many = "sample differs" if differs.sum() == 1 else "samples differ"
    return f"{BY_ORDER}: {differs.sum():,} {many}, {_first(differs, corner)}."


def _first(samples: Mask, corner: tuple[int, int]) -> str:
    y, x, channel = (int(each[0]) for each in np.nonzero(samples))
    return f"the first at {place_words(corner[1] + y, corner[0] + x, channel, samples.shape[2])}"
