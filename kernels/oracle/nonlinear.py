"""The oracle of filters that are no weighted sum: in float64, from their definitions."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from kernels.core.borders import OUTSIDE, Span, counted, source_indices
from kernels.core.nonlinear import (
    CUT,
    Bilateral,
    Guided,
    Morphology,
    NonLinear,
    NonLocalMeans,
    Rank,
)

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Place:
    """A part of a picture that is wanted, and what a filter is given there.

    given    samples of the part and of `reach` pixels around it: (rows, columns, C)
    colours  channels but alpha
    """

    given: Floats
    reach: int
    rows: Span
    columns: Span
    size_hw: tuple[int, int]
    border: str
    colours: int

    def around(self, radius: int) -> tuple[Span, Span]:
        """The part, and so many pixels more to each side."""
        (top, bottom), (left, right) = self.rows, self.columns
        return (top - radius, bottom + radius), (left - radius, right + radius)

    def read(self, radius: int) -> Floats:
        """What is given in `around`: (rows, columns, C)."""
        inner = slice(self.reach - radius, radius - self.reach or None)
        return self.given[inner, inner]

    def counts(self, radius: int) -> NDArray[np.bool_]:
        """Which pixels of `around` count: (rows, columns)."""
        (rows, columns), (height, width) = self.around(radius), self.size_hw
        down = counted(*rows, height, self.border)[:, np.newaxis]
        return np.asarray(down & counted(*columns, width, self.border))

    def of_made(self, made: Callable[[Place], Floats], radius: int) -> Floats:
        """`around` of a picture of which `made` makes parts; beyond it the border continues that.

        One that wraps around stays so when it is filtered.
        """

        rows, columns = self.around(radius)
        if self.border != "wrap":
            ys, xs = (
                source_indices(*span, size, self.border)
                for span, size in zip((rows, columns), self.size_hw, strict=True)
            )
            rows, columns = ((int(at[at != OUTSIDE].min()), int(at.max()) + 1) for at in (ys, xs))
        (top, left), reach = (rows[0] - self.rows[0], columns[0] - self.columns[0]), self.reach
        # As far around it as what is given reaches at least.
        down, across = (
            slice(first + radius, first + end - start - radius + 2 * reach)
            for first, (start, end) in ((top, rows), (left, columns))
        )
        there = replace(self, given=self.given[down, across], reach=reach - radius)
        found = made(replace(there, rows=rows, columns=columns))
        if self.border == "wrap":
            return found
        found = found.take(ys - rows[0], 0, mode="clip").take(xs - columns[0], 1, mode="clip")
        found[ys == OUTSIDE] = 0
        found[:, xs == OUTSIDE] = 0
        return found


def output(chosen: NonLinear, place: Place) -> Floats:
    """What a filter gives there: (rows, columns, C), neither rounded nor clipped."""
    with np.errstate(invalid="ignore", over="ignore", under="ignore"):
        match chosen:
            case Rank():
                return _rank(chosen, place)
            case Morphology():
                first, second = chosen.ranks
                if chosen.kind == "gradient":
                    return _rank(first, place) - _rank(second, place)
                found = ranked(first_extremes(chosen, place), second, place.counts(chosen.radius))
                if chosen.kind == "top_hat":
                    return place.read(0) - found
                return found - place.read(0) if chosen.kind == "black_hat" else found
            case Bilateral():
                return _bilateral(chosen, place)
            case NonLocalMeans():
                return _non_local_means(chosen, place)
            case Guided():
                a, b = guided_means(chosen, place)
                return np.asarray(a * place.read(0) + b)


RANKED_AT_ONCE = 1 << 24  # samples that are sorted in one go


def ranked(around: Floats, chosen: Rank, counts: NDArray[np.bool_]) -> Floats:
    """Sort each window that lies in `around`: smaller by K // 2 on each side.

    counts  (H, W): which pixels do; in each window there is one
    """
    window, side = chosen.window, chosen.ksize
    if chosen.percentile in (0, 100) and not chosen.is_disk:  # down, and then along
        best, worst = (np.min, np.inf) if chosen.percentile == 0 else (np.max, -np.inf)
        found = np.where(counts[:, :, np.newaxis], around, worst)
        for axis in (0, 1):
            found = best(sliding_window_view(found, side, axis), axis=-1)
        return found
    height, width = (each - side + 1 for each in around.shape[:2])
    channels = around.shape[2]
    out = np.empty((height, width, channels))
    # What does not count is put behind all that does.
    behind = np.where(counts[:, :, np.newaxis], around, np.inf)
    windows = sliding_window_view(behind, (side, side), (0, 1))
    numbers = sliding_window_view(counts, (side, side))[:, :, window].sum(2)
    lower, upper = chosen.ranks(numbers)
    rows = max(1, RANKED_AT_ONCE // (width * channels * int(window.sum())))
    for top in range(0, height, rows):
        part = slice(top, top + rows)
        ordered = np.sort(windows[part][..., window], axis=-1)
        low, high = (
            np.take_along_axis(ordered, at[part][:, :, np.newaxis, np.newaxis], 3)[..., 0]
            for at in (lower, upper)
        )
        out[part] = np.where(low == high, low, low / 2 + high / 2)
    return out


def _rank(chosen: Rank, place: Place) -> Floats:
    return ranked(place.read(chosen.reach), chosen, place.counts(chosen.reach))


def first_extremes(chosen: Morphology, place: Place) -> Floats:
    """What the second extreme is of, around each pixel: as `Place.read` has it of the picture."""
    return place.of_made(partial(_rank, chosen.ranks[0]), chosen.radius)


def _bilateral(chosen: Bilateral, place: Place) -> Floats:
    r = chosen.reach
    around, counts = place.read(r), place.counts(r)
    height, width = (each - 2 * r for each in counts.shape)
    middle = around[r : r + height, r : r + width]
    total, weights = np.zeros_like(middle), np.zeros((height, width, 1))
    for dy, dx in np.argwhere(chosen.disk()) - r:
        part = slice(r + dy, r + dy + height), slice(r + dx, r + dx + width)
        near = around[part]
        apart = np.abs(near - middle)[..., : place.colours].sum(2, keepdims=True)
        # Divided before they are squared, nothing overflows or vanishes.
        space = ((np.array((dx, dy)) / chosen.sigma_space) ** 2).sum()
        weight = np.exp(-(space + (apart / chosen.sigma_colour) ** 2) / 2)
        weight *= counts[part][..., np.newaxis]
        total += weight * near
        weights += weight
    return total / weights


def _non_local_means(chosen: NonLocalMeans, place: Place) -> Floats:
    total = weights = np.zeros(())
    for near, weight in _of_patches(chosen, place):
        weight = weight * (weight >= CUT)
        total, weights = total + weight * near, weights + weight
    return np.asarray(total / weights)


def in_doubt(chosen: NonLocalMeans, place: Place, off: float) -> Floats:
    """How much of a mean's weights may count or not: (rows, columns, 1), as a share of the others.

    off  the relative error that a weight may have: those so near to CUT may be on its other side
    """
    doubtful = weights = np.zeros(())
    with np.errstate(over="ignore", under="ignore"):
        for _, weight in _of_patches(chosen, place):
            is_near = np.abs(weight - CUT) <= off * CUT
            doubtful = doubtful + weight * is_near
            weights = weights + weight * ((weight >= CUT) & ~is_near)
    return np.asarray(doubtful / weights)


def _of_patches(chosen: NonLocalMeans, place: Place) -> Iterator[tuple[Floats, Floats]]:
    """Yield the pixels at each offset, and their weights before any are cut: (rows, columns, 1)."""
    r, p = chosen.radius, chosen.patch // 2
    around, counts = place.read(r + p), place.counts(r + p)
    (height, width), side = (each - 2 * (r + p) for each in counts.shape), chosen.patch
    patched = slice(r, r + height + 2 * p), slice(r, r + width + 2 * p)
    middle, inner = around[patched], (slice(p, p + height), slice(p, p + width))
    for dy in range(-r, r + 1):
        for dx in range(-r, r + 1):
            other = tuple(
                slice(r + d, r + d + n) for d, n in ((dy, len(middle)), (dx, middle.shape[1]))
            )
            both = counts[patched] & counts[other]
            apart = ((around[other] - middle) / chosen.strength)[..., : place.colours]
            alike = np.where(both, (apart**2).mean(2), 0)
            windows = (sliding_window_view(each, (side, side)) for each in (alike, both))
            squares, pairs = (each.sum((2, 3)) for each in windows)
            weight = np.exp(-squares / np.maximum(pairs, 1)) * counts[other][inner]
            yield around[other][inner], weight[..., np.newaxis]


def guided_means(chosen: Guided, place: Place) -> list[Floats]:
    """The means of a and of b around each pixel: (rows, columns, C) each."""

    def factors(there: Place) -> Floats:
        return np.concatenate(guided_factors(chosen, there)[2:], 2)

    r = chosen.radius
    means = _mean(place.of_made(factors, r), place.counts(r), chosen.ksize)
    return np.split(means, 2, axis=2)


def guided_factors(chosen: Guided, place: Place) -> tuple[Floats, Floats, Floats, Floats]:
    """Mean, variance, a and b of the window around each pixel: (rows, columns, C) each."""
    samples, counts, side = place.read(chosen.radius), place.counts(chosen.radius), chosen.ksize
    mean = _mean(samples, counts, side)
    # Float64 loses far less of what is left than the bound allows float32.
    variance = np.maximum(_mean(samples**2, counts, side) - mean**2, 0)
    a = variance / (variance + chosen.epsilon)
    return mean, variance, a, (1 - a) * mean


def _mean(samples: Floats, counts: NDArray[np.bool_], side: int) -> Floats:
    """The mean of what counts of each K×K window: smaller by K // 2 on each side."""
    numbers = _sums(counts[..., np.newaxis].astype(np.float64), side)
    return _sums(np.where(counts[..., np.newaxis], samples, 0), side) / numbers


def _sums(samples: Floats, side: int) -> Floats:
    """The sum of each K×K window, down and then along."""
    for axis in (0, 1):
        samples = sliding_window_view(samples, side, axis).sum(-1)
    return samples
