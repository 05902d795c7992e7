"""One picture minus another, to look at: what differs, by how much, and to which side."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from workbench import numbers
from workbench.display import NAN_BGR, Bytes, Display, averaged
from workbench.files.memory import demand

LEAST_GAIN, MOST_GAIN = 1.0, 1000.0
ROWS = 256  # at once, so that the float64 differences stay small
# Blue below, orange above, nearly white where nothing differs: Okabe and Ito's hues, which people
# with any colour vision tell apart, darker towards the ends so that grey print does, too.
STOPS = ((0, 40, 74), (0, 114, 178), (245, 245, 245), (213, 94, 0), (92, 34, 0))
MIDDLE = 127


@dataclass(frozen=True, slots=True, eq=False)
class Difference:
    """What came of it.

    gain        by which the differences are multiplied; full intensity is white
    largest     |difference| of all finite samples, in sample values
    not_finite  samples whose difference is infinite or no number
    """

    display: Display
    gain: float
    largest: float
    is_signed: bool
    not_finite: int = 0

    def __str__(self) -> str:
        """How to read it: "×20", and on a second line what the colours mean and how far it goes."""
        kind = "signed: orange above, blue below" if self.is_signed else "absolute"
        parts = [kind, f"largest {numbers.in_digits(self.largest)}"]
        if self.largest == 0:
            parts = ["nothing differs" if self.not_finite == 0 else "nothing else differs"]
        if self.not_finite:
            parts.append(f"{self.not_finite:,} not finite: magenta")
        return f"×{numbers.in_digits(self.gain)}\n{' · '.join(parts)}"


def subtracting(
    one: NDArray[Any],
    other: NDArray[Any],
    full: float,
    *,
    is_signed: bool = False,
    gain: float | None = None,
) -> Iterator[Difference | None]:
    """`one` minus `other`, alpha left out; None on the way, the last step is the Difference.

    one, other  (H, W, C) alike in shape, of any pixel types in the same units
    full        the value of full intensity
    is_signed   blue where it is below zero, orange above, of the channel that differs most; else
                each channel's size, black where there is none
    gain        None: the largest of 1, 2, 5, 10 … 1000 that keeps every difference on the scale

    Where a difference is infinite or NaN, magenta is shown.  Raises MemoryError.
    """
    height, width, channels = one.shape
    colours = channels - (channels in (2, 4))
    largest, not_finite = 0.0, 0
    for rows in _strips(height):
        apart = np.abs(_minus(one[rows], other[rows], colours))
        most = float(apart.max(initial=0))
        if not np.isfinite(most):
            finite = apart[np.isfinite(apart)]
            most = float(finite.max(initial=0))
            not_finite += apart.size - finite.size
        largest = max(largest, most)
        yield None
    gain = auto_gain(largest, full) if gain is None else gain
    demand(4 * height * width)
    bgra = np.empty((height, width, 4), np.uint8)
    for rows in _strips(height):
        _paint(bgra[rows], _minus(one[rows], other[rows], colours), gain / full, is_signed)
        yield None
    yield Difference(averaged(bgra), gain, largest, is_signed, not_finite)


def auto_gain(largest: float, full: float) -> float:
    """The largest of 1, 2, 5, 10 … 1000 that takes `largest` no further than `full`."""
    steps = [m * 10.0**power for power in range(3) for m in (1, 2, 5)] + [MOST_GAIN]
    fitting = [step for step in steps if step * largest <= full]
    return fitting[-1] if fitting else LEAST_GAIN


@cache
def diverging() -> NDArray[np.uint8]:
    """(255, 4) blue, green, red, 255: the colours from -1 to 1, nothing at index MIDDLE."""
    places = np.linspace(0, 2 * MIDDLE, len(STOPS))
    at = np.arange(2 * MIDDLE + 1)
    red, green, blue = (np.interp(at, places, channel) for channel in zip(*STOPS, strict=True))
    table = np.stack([blue, green, red, np.full(at.size, 255.0)], axis=1)
    colors: NDArray[np.uint8] = np.rint(table).astype(np.uint8)
    return colors


def _strips(height: int) -> list[slice]:
    return [slice(top, min(top + ROWS, height)) for top in range(0, height, ROWS)]


def _minus(one: NDArray[Any], other: NDArray[Any], colours: int) -> NDArray[np.float32]:
    """(rows, W, colours) float32, which holds differences of 16 bits exactly."""
    with np.errstate(invalid="ignore", over="ignore"):  # what is not finite is shown as such
        apart: NDArray[np.float32] = np.subtract(
            one[..., :colours], other[..., :colours], dtype=np.float32
        )
    return apart


def _paint(bgra: Bytes, apart: NDArray[np.float32], scale: float, is_signed: bool) -> None:
    """`apart`, (rows, W, colours), times `scale`: 1 is the end of the scale."""
    with np.errstate(invalid="ignore", over="ignore"):
        if is_signed:
            most = apart[..., 0]
            for channel in range(1, apart.shape[2]):
                further = np.abs(apart[..., channel]) > np.abs(most)
                most = np.where(further, apart[..., channel], most)
            places = np.clip(most * np.float32(scale * MIDDLE), -MIDDLE, MIDDLE)
            np.nan_to_num(places, copy=False)
            np.take(diverging(), np.rint(places).astype(np.intp) + MIDDLE, axis=0, out=bgra)
        else:
            sizes = np.minimum(np.abs(apart) * np.float32(scale * 255), 255)
            np.nan_to_num(sizes, copy=False)
            bgra[..., :3] = np.rint(sizes).astype(np.uint8)[..., ::-1]  # red, green, blue
            bgra[..., 3] = 255
        is_finite = np.isfinite(np.sum(apart))  # one quick pass, and often enough
    if not is_finite:
        bgra[~np.isfinite(apart).all(axis=2), :3] = NAN_BGR
