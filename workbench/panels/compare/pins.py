"""The results kept beside the newest, and the view that shows one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import Signal
from PySide6.QtGui import QPainter, QResizeEvent

from kernels.core.job import Result
from workbench.imaging.display import Display
from workbench.imaging.display_mapping import DisplayMapping, known_unclipped
from workbench.model.state import Picture
from workbench.panels.compare.picture_view import PictureView
from workbench.widgets.buttons import make_button
from workbench.widgets.chips import paint_chip

MAX_PINS = 3  # beside the newest result: four in all
_MARGIN = 8


def pin_name(number: int) -> str:
    """The name of pin `number`, from 1."""
    return f"Pinned {number}"


@dataclass(frozen=True, slots=True, eq=False)
class Pin:
    """A kept result and its display, made with `look`.

    caption  "Gaussian blur 5×5 · OpenCV", and below that time and look: "1.23 ms"
    """

    result: Result
    display: Display
    look: DisplayMapping
    caption: str

    @property
    def samples(self) -> NDArray[Any]:
        """The filtered picture, (H, W, C)."""
        return self.result.picture


class PinView(PictureView):
    """The view of a pinned result; its button emits `removed`."""

    removed = Signal()

    def __init__(self, number: int) -> None:
        super().__init__(pin_name(number), "")
        self._close = make_button(f"unpin-{number}", "×", "Remove this result from the view")
        self._close.setProperty("onPicture", True)
        self._close.setAccessibleName(f"Remove pinned result {number}")
        self._close.setParent(self)
        self._close.clicked.connect(self.removed)
        self._close.adjustSize()

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802
        size = self._close.sizeHint()
        self._close.resize(size)
        self._close.move(self.width() - size.width() - _MARGIN, _MARGIN)
        super().resizeEvent(event)

    def _paint_captions(self, painter: QPainter) -> None:
        room = self._close.width() + _MARGIN
        paint_chip(painter, self.rect().adjusted(0, 0, -room, 0), self.caption)


MAX_BYTES = 256 << 20
AT_ONCE = 4 << 20  # bytes that are compared in one step


class Pins(NamedTuple):
    """The pins of `picture`, at least one, and the number of that compared with, or 0."""

    picture: Picture
    pins: tuple[Pin, ...]
    against: int

    @property
    def nbytes(self) -> int:
        """Bytes of all arrays that are kept with them, each counted once."""
        samples = self.picture.samples
        arrays = [samples, self.picture.as_in_file]
        if (wide := known_unclipped(samples)) is not None:
            arrays.append(wide)  # it lives as long as the samples
        for pin in self.pins:
            arrays += [pin.samples, pin.result.job.picture, *pin.display.pixels]
        return sum({id(each): each.nbytes for each in arrays}.values())


class SetAside:
    """The pins of pictures that are not in view, of at most MAX_BYTES; the oldest give way."""

    def __init__(self) -> None:
        self._kept: list[Pins] = []  # the newest last

    def put(self, pins: Pins) -> bool:
        """Keep them; return False where they are too large for that."""
        if pins.nbytes > MAX_BYTES:
            return False
        self._kept.append(pins)
        while sum(each.nbytes for each in self._kept) > MAX_BYTES:
            self._kept.pop(0)
        return True

    def like(self, picture: Picture) -> list[Pins]:
        """List the pins of pictures of this size and pixel type, the newest first."""

        def kind(of: Picture) -> tuple[object, ...]:
            return of.samples.shape, of.samples.dtype

        return [each for each in reversed(self._kept) if kind(each.picture) == kind(picture)]

    def take(self, pins: Pins) -> None:
        """Remove these, which are in view again."""
        self._kept = [each for each in self._kept if each is not pins]

    def forget(self) -> None:
        """Drop all of them."""
        self._kept.clear()


def of_same(picture: Picture, likely: Sequence[Pins]) -> Iterator[Pins | None]:
    """Yield None on the way, and at last the first of `likely` that is of the same samples."""
    wanted = _as_bytes(picture)
    for pins in likely:
        there = _as_bytes(pins.picture)
        for start in range(0, wanted.size, AT_ONCE):
            part = slice(start, start + AT_ONCE)
            if not np.array_equal(wanted[part], there[part]):
                break
            yield None
        else:
            yield pins
            return


def _as_bytes(picture: Picture) -> NDArray[np.uint8]:  # as NaN is not equal to itself
    return picture.samples.reshape(-1).view(np.uint8)
