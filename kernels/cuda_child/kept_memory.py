"""Memory of the sizes that runs ask for again and again: of a crop, a strip, and the whole."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

MAX_SIZES = 3

M = TypeVar("M")


class KeptMemory(Generic[M]):
    """Memory by its exact size, so that nothing lies behind what a run asks for.

    make  makes memory of so many bytes; where there is not enough it raises, and nothing is kept
    let_go  called when some was dropped
    """

    def __init__(self, make: Callable[[int], M], let_go: Callable[[], None] = lambda: None) -> None:
        self._make, self._let_go = make, let_go
        self._kept: dict[int, M] = {}  # the one made last is last

    def get(self, size: int) -> M:
        """Return memory of that size, whatever is in it."""
        if size not in self._kept:
            self._make_room(size)
            self._kept[size] = self._make(size)
        return self._kept[size]

    def _make_room(self, size: int) -> None:
        """Drop what is larger, and the oldest: what is kept never takes much more than one."""
        smaller = [each for each in self._kept if each < size][1 - MAX_SIZES :]
        if dropped := [each for each in self._kept if each not in smaller]:
            for each in dropped:
                del self._kept[each]
            self._let_go()
