"""The stages of filters that are no weighted sum by NumPy, whose vectors take whole rows."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernels.core.nonlinear import CUT, Bilateral, Guided, Morphology, NonLocalMeans, Rank
from kernels.cpu import plain_loops
from kernels.cpu.stages import Around, Fill, Samples, Stage, Stages, guided, morphology, reciprocal

Planes = NDArray[Any]  # (C, rows, columns)


def _planes(samples: Samples) -> Planes:
    return np.ascontiguousarray(np.moveaxis(samples, 2, 0))


def slid(op: np.ufunc, given: NDArray[Any], side: int, axis: int) -> NDArray[Any]:
    """`op` over each run of `side` along an axis: shorter by side - 1.

    Runs of 1, 2, 4 … make longer ones.  Nothing is taken away again, as running sums do, in which
    a large sample leaves its rounding errors behind.
    """
    given = np.moveaxis(given, axis, 0)
    runs, length, at, count = given, 1, 0, len(given) - side + 1
    found: NDArray[Any] | None = None
    while True:
        if side & length:
            part = runs[at : at + count]
            found = part if found is None else op(found, part)
            at += length
        if 2 * length > side:
            break
        runs = op(runs[:-length], runs[length:])
        length *= 2
    assert found is not None
    return np.moveaxis(found, 0, axis)


def _sums(given: NDArray[Any], side: int) -> NDArray[Any]:
    """Sums of side × side, along the first two axes."""
    return slid(np.add, slid(np.add, given, side, 0), side, 1)


def of_rank(chosen: Rank) -> Fill:
    """A minimum or maximum row by row; all else is sorted, in loops."""
    if chosen.percentile not in (0, 100):
        return plain_loops.of_rank(chosen)
    op, nothing = (np.maximum, -np.inf) if chosen.percentile else (np.minimum, np.inf)
    halves = chosen.window.sum(1) // 2

    def fill(around: Around) -> Samples:
        given, rows = around.samples, len(around.picture)
        if not around.counts.all():
            given = np.where(around.counts[..., np.newaxis], given, np.float32(nothing))
        if not chosen.is_disk:
            return slid(op, slid(op, given, chosen.ksize, 0), chosen.ksize, 1)
        found: Samples = np.full_like(around.picture, nothing)
        for row, half in enumerate(halves):
            inner = slice(chosen.radius - half, given.shape[1] - chosen.radius + half)
            op(found, slid(op, given[row : row + rows, inner], 2 * half + 1, 1), out=found)
        return found

    return fill


def _of_bilateral(chosen: Bilateral) -> Stages:
    places, space, sharpness = plain_loops.bilateral_terms(chosen)

    def fill(around: Around) -> Samples:
        given, counts = _planes(around.samples), around.counts
        middle, is_cropped = _planes(around.picture), not counts.all()
        total, weights = np.zeros_like(middle), np.zeros_like(middle[0])
        apart = np.empty_like(middle)
        rows, columns = weights.shape
        for (j, i), far in zip(places, space, strict=True):
            near = given[:, j : j + rows, i : i + columns]
            np.subtract(near, middle, out=apart)
            weight = _added(np.abs(apart, out=apart))
            weight *= sharpness
            weight *= weight
            np.exp(np.subtract(far, weight, out=weight), out=weight)
            if is_cropped:
                weight *= counts[j : j + rows, i : i + columns]
            total += near * weight
            weights += weight
        return np.moveaxis(total / weights, 0, 2)

    return (Stage(chosen.radius, fill),)


def _added(planes: Planes) -> Any:
    """The sum over channels; it may be written to, and is the first plane."""
    for other in planes[1:]:
        planes[0] += other
    return planes[0]


def _of_non_local_means(chosen: NonLocalMeans) -> Stages:
    """One offset at a time: differences, their sums over patches, weights.

    The weight of a pixel for another is that of the other for it, so half of all offsets will do.
    """
    r, p, side = chosen.radius, chosen.patch // 2, chosen.patch
    sharpness = reciprocal(chosen.strength)

    def fill(around: Around) -> Samples:
        given, counts = _planes(around.samples), around.counts
        rows, columns, colours = around.picture.shape
        is_cropped, weights = not counts.all(), np.zeros((rows, columns), np.float32)
        total = np.zeros((colours, rows, columns), np.float32)

        def add(dy: int, dx: int, weight: Any) -> None:
            ys, xs = (slice(r + p + d, r + p + d + n) for d, n in ((dy, rows), (dx, columns)))
            weight = weight * counts[ys, xs] if is_cropped else weight
            np.add(total, given[:, ys, xs] * weight, out=total)
            np.add(weights, weight, out=weights)

        for dy, dx in (divmod(at, chosen.ksize) for at in range(chosen.ksize**2 // 2)):
            dy, dx = r - dy, r - dx  # down, or to the right
            # Weights of the tile for what lies there, and of what lies opposite for the tile.
            to_left, to_right = max(dx, 0), max(-dx, 0)
            here = (
                slice(r - dy, r + rows + 2 * p),
                slice(r - to_left, r + columns + 2 * p + to_right),
            )
            there = tuple(
                slice(e.start + d, e.stop + d) for e, d in zip(here, (dy, dx), strict=True)
            )
            apart = given[:, there[0], there[1]] - given[:, here[0], here[1]]
            apart *= sharpness
            squares = _added(np.multiply(apart, apart, out=apart))
            pairs: Any = np.float32(side**2)
            if is_cropped:
                both = counts[here] & counts[there]
                squares = np.where(both, squares, np.float32(0))
                pairs = np.maximum(_sums(both.astype(np.float32), side), 1)
            weight = _sums(squares, side) / (pairs * np.float32(-colours))
            np.exp(weight, out=weight)
            weight *= weight >= CUT
            add(dy, dx, weight[dy:, to_left : to_left + columns])
            add(-dy, -dx, weight[:rows, to_right : to_right + columns])
        add(0, 0, np.ones((rows, columns), np.float32))
        return np.moveaxis(total / weights, 0, 2)

    return (Stage(chosen.reach, fill),)


def _means(given: NDArray[Any], counts: NDArray[np.bool_], side: int) -> NDArray[Any]:
    sums = _sums(given * counts[..., np.newaxis], side)
    return np.asarray(sums / _sums(counts * 1.0, side)[..., np.newaxis])


STAGES: dict[type, Callable[[Any], Stages]] = {
    Rank: lambda chosen: (Stage(chosen.radius, of_rank(chosen)),),
    Morphology: partial(morphology, of_rank=of_rank),
    Bilateral: _of_bilateral,
    NonLocalMeans: _of_non_local_means,
    Guided: partial(guided, means=_means),
}
