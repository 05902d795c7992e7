"""Caches of a few values that took a while to make."""

from __future__ import annotations

import weakref
from collections import OrderedDict
from collections.abc import Callable
from functools import lru_cache
from threading import Lock
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

K = TypeVar("K")
V = TypeVar("V")


class LruCache(Generic[K, V]):
    """The values used last, by key, of `most` in size together.  Threads may share it."""

    def __init__(self, most: int, size: Callable[[V], int] = lambda _: 1) -> None:
        self._most, self._size = most, size
        self._values: OrderedDict[K, V] = OrderedDict()
        self._lock = Lock()

    def __contains__(self, key: K) -> bool:
        return key in self._values

    def get_or_make(self, key: K, make: Callable[[], V], size: int = 0) -> V:
        """Return the value for `key`; two threads that want it at once may both make it.

        size  its own, where that is known: as much room is made before it is
        """
        with self._lock:
            if key in self._values:
                self._values.move_to_end(key)
                return self._values[key]
            self._forget(self._most - size, 0)
        made = make()
        with self._lock:
            value = self._values.setdefault(key, made)
            self._forget(self._most, 1)
        return value

    def _forget(self, most: int, least: int) -> None:
        """Keep the newest values alone, of `most` in size, but `least` of them."""
        left = sum(map(self._size, self._values.values()))
        while left > most and len(self._values) > least:
            left -= self._size(self._values.popitem(last=False)[1])

    def clear(self) -> None:
        with self._lock:
            self._values.clear()


def once_a_picture(look: Callable[[NDArray[Any]], V]) -> Callable[[NDArray[Any]], V]:
    """Return `look`, remembering its result for as long as an array lives that cannot change."""
    known: dict[int, tuple[weakref.ref[Any], V]] = {}

    def looked(picture: NDArray[Any]) -> V:
        if may_change(picture):
            return look(picture)
        key = id(picture)
        if key not in known or known[key][0]() is not picture:
            known[key] = weakref.ref(picture, lambda _: known.pop(key, None)), look(picture)
        return known[key][1]

    return looked


def may_change(picture: NDArray[Any]) -> bool:
    """Return True if somebody may still write to `picture`, or to what it is a view of."""
    array: Any = picture
    while isinstance(array, np.ndarray):
        if array.flags.writeable:
            return True
        array = array.base
    return False


def read_only(picture: NDArray[Any]) -> NDArray[Any]:
    """Let nobody write to `picture` any more; return it."""
    picture.flags.writeable = False
    return picture


@lru_cache(maxsize=2)
def blank(shape: tuple[int, ...], pixel_type: str) -> NDArray[Any]:
    """A black picture, where samples do not matter; it takes no memory until it is written to."""
    return read_only(np.zeros(shape, pixel_type))


@once_a_picture
def all_finite(picture: NDArray[Any]) -> bool:
    """Return True if every sample is a finite number, as integers always are."""
    # Infinities and NaN survive a sum, and a sum needs no array of answers.
    with np.errstate(over="ignore", invalid="ignore"):
        return picture.dtype.kind != "f" or bool(np.isfinite(picture.sum(dtype=np.float64)))


@once_a_picture
def has_nan(picture: NDArray[Any]) -> bool:
    return not all_finite(picture) and bool(np.isnan(picture).any())
