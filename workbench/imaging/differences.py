"""Compare pictures: subtract one from another, or compare every pixel with the reference."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from time import monotonic
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernels.core.cpu_load import usable_cores
from kernels.core.job import Job
from kernels.core.verdict import Tolerance
from kernels.oracle.checking import TILE, Rectangle, judged_in, limits_of
from kernels.oracle.reference import filtered
from workbench.base import memory, numbers
from workbench.base.memory import require_memory
from workbench.imaging.display import NAN_BGR, Bytes, Display, as_display, averaged
from workbench.imaging.display_mapping import MAX_GAIN, MIN_GAIN

# That a thread does at once: with less, threads wait for the interpreter more than they work; with
# more, what is computed on the way takes much memory.
PART_BYTES = 2 << 20
# Blue below, orange above, nearly white where nothing differs: Okabe and Ito's hues, which people
# with any colour vision tell apart, darker towards the ends so that grey print does, too.
STOPS = ((0, 40, 74), (0, 114, 178), (245, 245, 245), (213, 94, 0), (92, 34, 0))
MIDDLE = 127
GAINS = (*(m * 10.0**power for power in range(3) for m in (1, 2, 5)), MAX_GAIN)
# Samples that an automatic gain goes by, evenly apart: with more, the new memory for their sizes
# takes longer than all the subtracting.
MAX_COUNTED = 1 << 16
OFF_SCALE = 0.005  # the share of what differs that an automatic gain takes off the scale


@dataclass(frozen=True, slots=True, eq=False)
class Difference:
    """The picture of a difference, and how to read it."""

    display: Display
    gain: float  # by which the differences are multiplied; full intensity is white
    largest: float  # |difference| of all finite samples, in sample values
    is_signed: bool
    not_finite: int = 0  # samples whose difference is infinite or no number

    def __str__(self) -> str:
        """A legend: "×20", then the meaning of the colours and the largest difference."""
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
    """Subtract `other` from `one`, alpha left out; the last step is the Difference.

    None on the way.

    one, other  (H, W, C) alike in shape, of any pixel types in the same units
    full        the value of full intensity
    is_signed   blue where it is below zero, orange above, of the channel that differs most, or of
                two that do so of the one above; else each channel's size, black where there is none
    gain        None: as `auto_gain` has it

    Where a difference is infinite or NaN, magenta is shown.  Raises MemoryError.
    """
    import cv2  # here: the window paints before anything heavy is imported

    height, width, channels = one.shape
    colours = channels - (channels in (2, 4))
    are_bytes = one.dtype == other.dtype == np.uint8
    row_bytes = width * colours * one.itemsize
    found: list[tuple[float, int]] = []
    sizes: list[NDArray[Any]] = []
    apart = math.isqrt((height * width * colours - 1) // MAX_COUNTED) + 1

    def look(rows: slice) -> None:
        ours, theirs = _coloured(one[rows], colours), _coloured(other[rows], colours)
        if are_bytes:
            found.append((float(cv2.norm(ours, theirs, cv2.NORM_INF)), 0))
        else:
            found.append(_furthest(_minus(ours, theirs)))
        if gain is None:
            some = _some(ours, apart), _some(theirs, apart)
            sizes_of = cv2.absdiff if are_bytes else _sizes
            sizes.append(np.asarray(sizes_of(*some)).ravel())

    yield from on_all_threads(_parts(height, row_bytes), look)
    largest, not_finite = max(most for most, _ in found), sum(others for _, others in found)
    scale = auto_gain(np.concatenate(sizes), largest, full) if gain is None else gain
    require_memory(4 * height * width)
    bgra = memory.empty((height, width, 4))
    paint = _paint if not are_bytes else _paint_signed if is_signed else _paint_sizes

    def fill(rows: slice) -> None:
        ours, theirs = _coloured(one[rows], colours), _coloured(other[rows], colours)
        paint(bgra[rows], ours, theirs, scale / full, is_signed)

    yield from on_all_threads(_parts(height, row_bytes), fill)
    yield Difference(averaged(bgra), scale, largest, is_signed, not_finite)


def auto_gain(sizes: NDArray[Any], largest: float, full: float) -> float:
    """The largest of GAINS that keeps 99.5 % of all that differs on the scale.

    So a few pixels that differ much, a dead one or an edge of the picture, hide nothing else.

    sizes    |differences| of some samples, (n,) uint8 or float32
    largest  that of all samples
    """
    if not sizes.any():  # they may miss all that differs
        sizes = np.array([largest])
    allowed = OFF_SCALE * np.count_nonzero(sizes)
    fitting = MIN_GAIN
    for gain in GAINS:
        end = full / gain if sizes.dtype.kind == "f" else math.floor(full / gain)
        if end < largest and np.count_nonzero(sizes > end) > allowed:
            break
        fitting = gain
    return fitting


@cache
def diverging() -> NDArray[np.uint8]:
    """Colours from -1 to 1, nothing at index MIDDLE: (255, 4) blue, green, red, 255."""
    places = np.linspace(0, 2 * MIDDLE, len(STOPS))
    at = np.arange(2 * MIDDLE + 1)
    red, green, blue = (np.interp(at, places, channel) for channel in zip(*STOPS, strict=True))
    table = np.stack([blue, green, red, np.full(at.size, 255.0)], axis=1)
    colors: NDArray[np.uint8] = np.rint(table).astype(np.uint8)
    return colors


def _parts(height: int, row_bytes: int) -> list[slice]:
    """Bands of whole rows: all, where they are few; else so that threads end together."""
    parts = -(-height * row_bytes // PART_BYTES)
    if parts > 1:
        parts = -(-parts // usable_cores()) * usable_cores()
    rows = -(-height // parts)
    return [slice(top, top + rows) for top in range(0, height, rows)]


def _coloured(samples: NDArray[Any], colours: int) -> NDArray[Any]:
    if samples.shape[2] == 4 and samples.dtype.name in ("uint8", "uint16", "float32"):
        import cv2  # ten times as fast as NumPy

        return np.asarray(cv2.cvtColor(samples, cv2.COLOR_RGBA2RGB))
    return np.ascontiguousarray(samples[..., :colours])


def _some(samples: NDArray[Any], apart: int) -> NDArray[Any]:
    """Every `apart`-th pixel of every `apart`-th row, of C-contiguous samples."""
    # As one item, since NumPy takes four times as long for its channels one by one.
    as_items = samples.view(np.dtype((np.void, samples.itemsize * samples.shape[2])))
    return as_items[::apart, ::apart].copy().view(samples.dtype)


def _minus(one: NDArray[Any], other: NDArray[Any]) -> NDArray[np.float32]:
    """The difference as float32, exact of 16 bits; of two NaN or equal infinities 0."""
    with np.errstate(invalid="ignore", over="ignore"):  # what is not finite is shown as such
        apart: NDArray[np.float32] = np.subtract(one, other, dtype=np.float32)
        if np.isnan(apart.sum()):  # one quick pass, and as a rule the only one
            apart[np.isnan(apart) & (np.isnan(one) == np.isnan(other))] = 0
    return apart


def _furthest(apart: NDArray[np.float32]) -> tuple[float, int]:
    most = max(float(apart.max()), -float(apart.min()))
    if math.isfinite(most):
        return most, 0
    finite = np.abs(apart[np.isfinite(apart)])
    return float(finite.max(initial=0)), apart.size - finite.size


def _sizes(one: NDArray[Any], other: NDArray[Any]) -> NDArray[np.float32]:
    sizes = np.abs(_minus(one, other))
    is_finite = np.isfinite(sizes)
    return sizes if is_finite.all() else sizes[is_finite]


def _paint(
    bgra: Bytes, one: NDArray[Any], other: NDArray[Any], scale: float, is_signed: bool
) -> None:
    """Paint the difference, (rows, W, colours), times `scale`: 1 is the end of the scale."""
    apart = _minus(one, other)
    with np.errstate(invalid="ignore", over="ignore"):
        if is_signed:
            above, below = apart[..., 0], apart[..., 0]
            for channel in range(1, apart.shape[2]):
                above = np.maximum(above, apart[..., channel])
                below = np.minimum(below, apart[..., channel])
            most = np.where(above >= -below, above, below)
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


# -- of 8 bits: with 511 possible values OpenCV and tables do it all


def _paint_sizes(bgra: Bytes, one: Bytes, other: Bytes, scale: float, _is_signed: bool) -> None:
    """Paint as `_paint` without sign, of 8 bits, and the same to the last bit."""
    import cv2

    sizes = cv2.absdiff(one, other)
    cv2.convertScaleAbs(sizes, dst=sizes, alpha=scale * 255)  # in place: new memory takes longer
    code = cv2.COLOR_GRAY2BGRA if one.shape[2] == 1 else cv2.COLOR_RGB2BGRA
    cv2.cvtColor(sizes, code, dst=bgra)


def _paint_signed(bgra: Bytes, one: Bytes, other: Bytes, scale: float, _is_signed: bool) -> None:
    """Paint as `_paint` with sign, of 8 bits, and the same to the last bit."""
    import cv2

    above, below = cv2.subtract(one, other), cv2.subtract(other, one)  # none is under zero
    if one.shape[2] == 3:
        above, below = (
            cv2.max(cv2.max(red, green), blue)
            for red, green, blue in map(cv2.split, (above, below))
        )
        is_above = cv2.compare(above, below, cv2.CMP_GE)
        above = cv2.bitwise_and(above, is_above)
        below = cv2.bitwise_and(below, cv2.bitwise_not(is_above))
    sizes = np.minimum(np.arange(256, dtype=np.float32) * np.float32(scale * MIDDLE), MIDDLE)
    steps = np.rint(sizes).astype(np.uint8)
    places = cv2.subtract(cv2.LUT(above, steps + np.uint8(MIDDLE)), cv2.LUT(below, steps))
    table = np.zeros((256, 1, 3), np.uint8)
    table[: 2 * MIDDLE + 1, 0] = diverging()[:, :3]
    cv2.cvtColor(cv2.applyColorMap(places, table), cv2.COLOR_BGR2BGRA, dst=bgra)


def on_all_threads(parts: list[slice], work: Callable[[slice], None]) -> Iterator[None]:
    """Call `work` with each of `parts`, as many at once as there are cores; yields in between."""
    others = _pool().map(work, parts[1:])
    work(parts[0])  # here: one alone need not wake another thread
    yield
    for _ in others:
        yield


@cache  # they live as long as the program
def _pool() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(usable_cores(), thread_name_prefix="workbench-looking")


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
    unjudged: str = ""  # what is said where it is not known what is wrong

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
        if self.unjudged:
            counts = f"blue: {others} differ{self.unjudged}"
        return f"{counts} · largest error {self.furthest:.3g}"


def searching(
    job: Job,
    answer: NDArray[Any],
    shown: Display,
    tolerance: Tolerance | Sequence[Tolerance],
    in_view: Rectangle | None = None,
    other: NDArray[Any] | None = None,
) -> Iterator[Mismatch | None]:
    """Compare tile by tile; a Mismatch now and then, and a last one that knows all.

    answer         the output for job.picture; `shown` is its display
    tolerance      of the implementation; of a list those of what ran each of `job.runs`
    in_view        top, bottom, left, right: what to begin with
    other          what to compare with in place of what is right
    """
    limits = limits_of(job, tolerance)
    unjudged = "" if math.isfinite(limits.bound) else "; sums this large may overflow"
    unjudged = unjudged if other is None else " from the other file"
    marks = np.zeros((job.height, job.width), np.uint8)
    compared, furthest, told = 0, 0.0, monotonic()
    for tile in _tiles(job.height, job.width, in_view):
        top, bottom, left, right = tile
        part = slice(top, bottom), slice(left, right)
        oracle = filtered(job, tile[:2], tile[2:]) if other is None else other[part]
        error, differs, wrong = judged_in(tile, job, answer[part], oracle, limits)
        found = np.where(differs.any(axis=2), DIFFERS, SAME)
        found = np.where(wrong.any(axis=2) & (not unjudged), WRONG, found)
        marks[top:bottom, left:right] = found
        compared += found.size
        furthest = max(furthest, float(error.max()))
        if monotonic() - told > TELL_S and compared < marks.size:
            yield _mismatch(marks, shown, compared, furthest, unjudged)
            told = monotonic()
        else:
            yield None
    yield _mismatch(marks, shown, compared, furthest, unjudged)


def _mismatch(
    marks: Bytes, shown: Display, compared: int, furthest: float, unjudged: str
) -> Mismatch:
    wrong = int(np.count_nonzero(marks == WRONG))
    differing = wrong + int(np.count_nonzero(marks == DIFFERS))
    is_place = (marks == (WRONG if wrong else DIFFERS)).ravel()
    display = as_display(tuple(_painted(shown, marks)))
    return Mismatch(display, compared, marks.size, differing, wrong, is_place, furthest, unjudged)


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
