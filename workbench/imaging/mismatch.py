"""Compare every pixel of an output with the reference, what is in view first."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from time import monotonic
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernels.core.job import Job
from kernels.core.verdict import Tolerance
from kernels.oracle.checking import TILE, Rectangle, carried_limits, judged, limits_of
from kernels.oracle.reference import filtered
from workbench.base.memory import require_memory
from workbench.imaging.display import Bytes, Display, as_display

TELL_S = 0.7  # between two pictures of what is known so far
UNSEEN, SAME, DIFFERS, WRONG = range(4)
# Blue, green, red of what is marked; everything else is the result, pale and grey.
COLORS = {DIFFERS: (233, 180, 86), WRONG: (0, 94, 255)}


@dataclass(frozen=True, slots=True, eq=False)
class Mismatch:
    """The pixels found to differ so far."""

    display: Display
    compared: int
    total: int
    differing: int  # have a sample that is not what the oracle, rounded, says
    wrong: int  # are off by more than they may be
    is_place: NDArray[np.bool_]  # to go to, row by row: the wrong ones, or if none is, all others
    furthest: float  # largest |output - reference|, in sample values
    is_judged: bool = True  # whether it is known what is wrong: float32 sums may overflow

    @property
    def is_over(self) -> bool:
        """True if every pixel has been compared."""
        return self.compared == self.total

    @property
    def count(self) -> int:
        """Pixels to go to."""
        return self.wrong or self.differing

    @property
    def places(self) -> list[int]:
        """The pixels to go to, each as y · width + x, in that order."""
        return np.flatnonzero(self.is_place).tolist()

    def next_after(self, place: int, step: int) -> int | None:
        """The next of `places` after (step 1) or before (-1) `place`.

        Around the picture's ends; None where there is none.
        """
        if self.count == 0:
            return None
        places = np.flatnonzero(self.is_place)
        at = np.searchsorted(places, place, "right") if step > 0 else places.searchsorted(place) - 1
        return int(places[at % places.size])

    @property
    def scope(self) -> str:
        """The share that has been compared, in words."""
        share = 100 * self.compared // self.total
        return "all compared" if self.is_over else f"{share} % compared"

    def __str__(self) -> str:
        if self.differing == 0:
            return "no pixel differs"
        others = f"{self.differing - self.wrong:,}"
        counts = f"orange: {self.wrong:,} wrong · blue: {others} rounded differently (allowed)"
        if not self.is_judged:
            counts = f"blue: {others} differ; sums this large may overflow"
        return f"{counts} · largest error {self.furthest:.3g}"


def searching(
    job: Job,
    answer: NDArray[Any],
    shown: Display,
    tolerance: Tolerance | Sequence[Tolerance],
    in_view: Rectangle | None = None,
) -> Iterator[Mismatch | None]:
    """Compare tile by tile; a Mismatch now and then, and a last one that knows all.

    answer         the output for job.picture; `shown` is its display
    tolerance      of the implementation; of a list those of what ran each of `job.runs`
    in_view        top, bottom, left, right: what to begin with
    """
    of = limits_of if isinstance(tolerance, Tolerance) else carried_limits
    limits = of(job, tolerance)  # type: ignore[arg-type]
    is_judged = math.isfinite(limits.bound)
    marks = np.zeros((job.height, job.width), np.uint8)
    compared, furthest, told = 0, 0.0, monotonic()
    for tile in _tiles(job.height, job.width, in_view):
        top, bottom, left, right = tile
        oracle = filtered(job, (top, bottom), (left, right))
        got = answer[top:bottom, left:right]
        error, differs, wrong = judged(job, got, oracle, limits)
        found = np.where(differs.any(axis=2), DIFFERS, SAME)
        found = np.where(wrong.any(axis=2) & is_judged, WRONG, found)
        marks[top:bottom, left:right] = found
        compared += found.size
        furthest = max(furthest, float(error.max()))
        if monotonic() - told > TELL_S and compared < marks.size:
            yield _mismatch(marks, shown, compared, furthest, is_judged)
            told = monotonic()
        else:
            yield None
    yield _mismatch(marks, shown, compared, furthest, is_judged)


def _mismatch(
    marks: Bytes, shown: Display, compared: int, furthest: float, is_judged: bool
) -> Mismatch:
    wrong = int(np.count_nonzero(marks == WRONG))
    differing = wrong + int(np.count_nonzero(marks == DIFFERS))
    is_place = (marks == (WRONG if wrong else DIFFERS)).ravel()
    display = as_display(tuple(_painted(shown, marks)))
    return Mismatch(display, compared, marks.size, differing, wrong, is_place, furthest, is_judged)


def _painted(shown: Display, marks: Bytes) -> Iterator[Bytes]:
    """Yield each size of the picture; in smaller ones a mark outlives its neighbours."""
    for pixels in shown.pixels:
        height, width = pixels.shape[:2]
        if marks.shape != (height, width):
            marks = _halved(marks)
        green = pixels if pixels.ndim == 2 else pixels[..., 1]  # about as bright as the whole
        grey = (green >> 2) + np.uint8(72)
        np.right_shift(grey, 1, out=grey, where=marks == UNSEEN)
        require_memory(4 * height * width)
        painted = np.empty((height, width, 4), np.uint8)
        for channel in range(3):  # np.repeat would stop the window: it holds Python's lock
            painted[..., channel] = grey
        painted[..., 3] = 255
        for mark, color in COLORS.items():
            for channel, value in enumerate(color):
                np.copyto(painted[..., channel], value, where=marks == mark)
        yield painted


def _halved(marks: Bytes) -> Bytes:  # apart, so that what it makes on the way goes at once
    even = np.pad(marks, [(0, side % 2) for side in marks.shape])
    rows = np.maximum(even[::2], even[1::2])
    return np.maximum(rows[:, ::2], rows[:, 1::2])


def _tiles(height: int, width: int, in_view: Rectangle | None) -> list[Rectangle]:
    top, bottom, left, right = in_view or (0, 0, 0, 0)
    corners = [(y, x) for y in range(0, height, TILE) for x in range(0, width, TILE)]
    corners.sort(key=lambda at: not (top - TILE < at[0] < bottom and left - TILE < at[1] < right))
    return [(y, min(y + TILE, height), x, min(x + TILE, width)) for y, x in corners]
