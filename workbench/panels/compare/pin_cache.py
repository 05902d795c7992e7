"""The cache of pins of pictures that are not in view, until they are again."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from workbench.imaging.display_mapping import known_unclipped
from workbench.model.state import Picture
from workbench.panels.compare.pins import Pin

MAX_BYTES = 256 << 20
AT_ONCE = 4 << 20  # bytes that are compared in one step


class Pins(NamedTuple):
    """The pins of `picture`, at least one, and what the result was compared with.

    against  as `Inspection.against`
    """

    picture: Picture
    pins: tuple[Pin, ...]
    against: int

    @property
    def nbytes(self) -> int:
        """Return the bytes of everything that is kept with them."""
        arrays = {id(each): each.nbytes for each in self._arrays()}
        return sum(arrays.values())

    def _arrays(self) -> Iterator[NDArray[Any]]:
        yield from (self.picture.samples, self.picture.as_in_file)
        if (wide := known_unclipped(self.picture.samples)) is not None:
            yield wide  # it lives as long as the samples
        for pin in self.pins:
            yield from (pin.samples, pin.result.job.picture, *pin.display.pixels)


class SetAside:
    """The pins of pictures that are not in view, of at most MAX_BYTES; the oldest give way."""

    def __init__(self) -> None:
        self._kept: list[Pins] = []  # the newest last

    def put(self, pins: Pins) -> bool:
        """Keep them; False: they are too large for that."""
        if pins.nbytes > MAX_BYTES:
            return False
        self._kept.append(pins)
        while sum(each.nbytes for each in self._kept) > MAX_BYTES:
            self._kept.pop(0)
        return True

    def like(self, picture: Picture) -> list[Pins]:
        """Return the pins of pictures that may be `picture`: alike in size and pixel type."""
        wanted = picture.samples
        return [
            each
            for each in reversed(self._kept)
            if (each.picture.samples.shape, each.picture.samples.dtype)
            == (wanted.shape, wanted.dtype)
        ]

    def take(self, pins: Pins) -> None:
        """Let go of these, which are in view again."""
        self._kept = [each for each in self._kept if each is not pins]

    def forget(self) -> None:
        """Drop all of them."""
        self._kept.clear()


def of_same(picture: Picture, likely: Sequence[Pins]) -> Iterator[Pins | None]:
    """Yield None on the way, and at last the first of `likely` that is of the same samples."""
    for pins in likely:
        is_same = True
        for here, there in _parts(picture.samples, pins.picture.samples):
            is_same = np.array_equal(here, there)
            yield None
            if not is_same:
                break
        if is_same:
            yield pins
            return


def _parts(one: NDArray[Any], other: NDArray[Any]) -> Iterator[tuple[NDArray[Any], NDArray[Any]]]:
    """Yield the bytes of both, as NaN is not equal to itself; nothing where both are one."""
    if one is other:
        return
    flat = [each.reshape(-1).view(np.uint8) for each in (one, other)]
    for start in range(0, flat[0].size, AT_ONCE):
        yield flat[0][start : start + AT_ONCE], flat[1][start : start + AT_ONCE]
