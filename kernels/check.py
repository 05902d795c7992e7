"""Hold an answer against the float64 oracle: all of it, or edges and random tiles of a large one.

Float32 arithmetic along a chain of n additions is off by at most about n · 2⁻²⁴ · Σ|w| · max|p|
(Higham, Accuracy and Stability of Numerical Algorithms, 2002, section 3.1).  An implementation
states its n and a factor c for what its method adds to that.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from kernels.reference import correlate, to_pixel_type
from kernels.weights import UNIT_ROUNDOFF, gain

if TYPE_CHECKING:
    from kernels.job import Job

TILE = 64  # pixels; small enough for the oracle's float64 sums to stay in the CPU's cache
LIVE_TAPS = 300_000_000  # about a second of the oracle on one core of a laptop
SMALLEST_NORMAL = 2.0**-126  # what a device that flushes subnormals to zero may lose a tap

Rectangle = tuple[int, int, int, int]  # top, bottom, left, right


@dataclass(frozen=True, slots=True)
class Check:
    """What comparing an answer with the oracle found.

    max_error       largest |answer - oracle|, in sample values; the oracle rounded for integers
    worst           (y, x, channel) of max_error
    differing       samples that are not what the oracle, rounded to the pixel type, says
    wrong           samples off by more than they may be
    bound           what float32 arithmetic may be off by, before rounding to integers
    checked, total  pixels compared, and pixels there are
    """

    max_error: float
    worst: tuple[int, int, int]
    differing: int
    wrong: int
    bound: float
    checked: int
    total: int

    @property
    def ok(self) -> bool:
        """No sample compared is off by more than it may be."""
        return self.wrong == 0

    @property
    def is_full(self) -> bool:
        return self.checked == self.total

    def __str__(self) -> str:
        scope = "all pixels" if self.is_full else f"{self.checked:,} of {self.total:,} pixels"
        if self.ok:
            return f"verified, checked {scope}, largest error {self.max_error:.3g}"
        y, x, channel = self.worst
        return (
            f"WRONG in {self.wrong:,} samples, checked {scope}, largest error "
            f"{self.max_error:.3g} at x {x}, y {y}, channel {channel}"
        )


def error_bound(job: Job, chain: int, factor: float) -> float:
    """factor · chain · 2⁻²⁴ · Σ|w| · max|p|, in sample values, before rounding to integers.

    Infinities and NaN are left out of max|p|: they are compared as such.
    """
    largest = _largest_finite(job.picture)
    return factor * chain * UNIT_ROUNDOFF * gain(job.weights) * largest + chain * SMALLEST_NORMAL


def checking(
    job: Job, answer: NDArray[Any], chain: int, factor: float, max_taps: int | None = LIVE_TAPS
) -> Iterator[Check]:
    """Compare tile by tile, yielding what is known after each; the last one counts.

    answer    what the implementation made of job.picture, same shape and dtype
    max_taps  how many products the oracle may work out; None: check everything
    """
    bound = error_bound(job, chain, factor)
    found = Check(0.0, (0, 0, 0), 0, 0, bound, 0, job.height * job.width)
    for tile in plan_tiles(job, max_taps):
        found = _add(found, job, answer, tile)
        yield found


def plan_tiles(job: Job, max_taps: int | None) -> list[Rectangle]:
    """Every pixel once where that costs at most `max_taps`; else a frame along all four edges,
    as thick as half of `max_taps` allows, and random tiles of the inside for the other half."""
    taps_per_pixel = job.ksize**2 * job.channels
    everything: Rectangle = (0, job.height, 0, job.width)
    if max_taps is None or job.height * job.width * taps_per_pixel <= max_taps:
        return list(_tiles(everything))
    pixels = max_taps // taps_per_pixel
    around = 2 * (job.height + job.width)
    thick = min(max(pixels // 2 // around, 1), job.radius + 1, job.height // 2, job.width // 2)
    inside = (thick, job.height - thick, thick, job.width - thick)
    frame = [
        (0, thick, 0, job.width),
        (job.height - thick, job.height, 0, job.width),
        (thick, job.height - thick, 0, thick),
        (thick, job.height - thick, job.width - thick, job.width),
    ]
    # A wide filter over a huge picture: smaller tiles, so that there are still a few of them.
    side = TILE if pixels // 2 >= 8 * TILE**2 else 8
    tiles = list(_tiles(inside, side))
    chosen = np.random.default_rng().permutation(len(tiles))[: max(pixels // 2 // side**2, 8)]
    return [part for edge in frame for part in _tiles(edge)] + [tiles[k] for k in chosen]


def _tiles(area: Rectangle, side: int = TILE) -> Iterator[Rectangle]:
    top, bottom, left, right = area
    for y in range(top, bottom, side):
        for x in range(left, right, side):
            yield y, min(y + side, bottom), x, min(x + side, right)


def _add(found: Check, job: Job, answer: NDArray[Any], tile: Rectangle) -> Check:
    """`found` and what `tile` shows."""
    top, bottom, left, right = tile
    oracle = correlate(job.picture, job.weights, job.border, (top, bottom), (left, right))
    expected = to_pixel_type(oracle, answer.dtype)
    got = answer[top:bottom, left:right]
    error = _distance(got, oracle if answer.dtype.kind == "f" else expected)
    differs = got.view(_bits(got)) != expected.view(_bits(expected))
    differs &= ~(np.isnan(got) & np.isnan(expected)) if answer.dtype.kind == "f" else True
    wrong = _is_wrong(got, error, oracle, found.bound)
    if job.has_alpha:  # copied, so not a bit may differ
        wrong[..., -1] = differs[..., -1]

    at = np.unravel_index(int(error.argmax()), error.shape)
    is_worst = found.checked == 0 or error[at] > found.max_error
    return Check(
        max_error=float(error[at]) if is_worst else found.max_error,
        worst=(top + int(at[0]), left + int(at[1]), int(at[2])) if is_worst else found.worst,
        differing=found.differing + int(differs.sum()),
        wrong=found.wrong + int(wrong.sum()),
        bound=found.bound,
        checked=found.checked + (bottom - top) * (right - left),
        total=found.total,
    )


def _distance(got: NDArray[Any], expected: NDArray[Any]) -> NDArray[np.float64]:
    """|got - expected|; zero for the same infinity or two NaN, infinite where just one is."""
    with np.errstate(invalid="ignore", over="ignore"):
        distance = np.abs(got.astype(np.float64) - expected.astype(np.float64))
        overflowed = expected.astype(np.float32) if got.dtype.kind == "f" else expected
    same = (got == overflowed) | (np.isnan(got) & np.isnan(expected))
    distance[same] = np.where(np.isfinite(distance[same]), distance[same], 0)
    return np.where(np.isnan(distance), np.inf, distance)


def _is_wrong(
    got: NDArray[Any], error: NDArray[np.float64], oracle: NDArray[np.float64], bound: float
) -> NDArray[np.bool_]:
    if got.dtype.kind == "f":
        return np.greater(error, bound)
    # An integer has to be the rounding of some value within the bound of the oracle's.  Where the
    # bound is below a half, as it nearly always is, that allows one off, and only near a half.
    lowest, highest = (to_pixel_type(oracle + off, got.dtype) for off in (-bound, bound))
    return np.logical_or(got < lowest, got > highest)


def _bits(samples: NDArray[Any]) -> str:
    return f"u{samples.dtype.itemsize}"


def _largest_finite(picture: NDArray[Any]) -> float:
    low, high = float(picture.min()), float(picture.max())
    if not (np.isfinite(low) and np.isfinite(high)):
        finite = picture[np.isfinite(picture)]
        low, high = (float(finite.min()), float(finite.max())) if finite.size else (0.0, 0.0)
    return max(abs(low), abs(high))
