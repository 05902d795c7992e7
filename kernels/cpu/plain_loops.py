"""A filter's stages in plain nested loops, as drawn, for numba to compile."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from typing import Any

import numpy as np

from kernels.core.nonlinear import CUT, Bilateral, Guided, Morphology, NonLocalMeans, Rank
from kernels.core.step import Correlation, Length
from kernels.cpu.stages import Around, Fill, Samples, Stage, Stages, guided, morphology, reciprocal


@cache
def _compiled(loops: Callable[..., None]) -> Any:
    from numba import njit

    try:
        return njit(nogil=True, cache=True)(loops)
    except RuntimeError:  # numba found no folder that it may keep machine code in
        return njit(nogil=True)(loops)


def _fill(loops: Callable[..., None], *how: Any) -> Fill:
    """What calls `loops` with what is around a tile, with `how`, and with an array to fill."""

    def fill(around: Around) -> Samples:
        out = np.empty_like(around.picture)
        _compiled(loops)((around.samples, around.counts, around.picture), how, out)
        return out

    return fill


def _of_correlation(chosen: Correlation) -> Stages:
    weights = np.array(chosen.weights, order="C")  # one layout and writable, so compiled once
    return (Stage(chosen.reach, _fill(_sum, weights, np.float32(chosen.offset))),)


def _sum(given: Any, how: Any, out: Any) -> None:
    (samples, _, _), (weights, offset) = given, how
    for y in range(out.shape[0]):
        for x in range(out.shape[1]):
            for c in range(out.shape[2]):
                total = offset
                for j in range(weights.shape[0]):
                    for i in range(weights.shape[1]):
                        total += weights[j, i] * samples[y + j, x + i, c]
                out[y, x, c] = total


def _length(given: Any, _how: Any, out: Any) -> None:
    around, _, _ = given
    for y in range(out.shape[0]):
        for x in range(out.shape[1]):
            for c in range(out.shape[2]):
                gx = gy = np.float32(0)
                for side, weight in ((0, 1), (1, 2), (2, 1)):
                    times = np.float32(weight)
                    gx += times * (around[y + side, x + 2, c] - around[y + side, x, c])
                    gy += times * (around[y + 2, x + side, c] - around[y, x + side, c])
                # In double precision, where no square overflows.
                out[y, x, c] = np.sqrt(np.float64(gx) ** 2 + np.float64(gy) ** 2)


def of_rank(chosen: Rank) -> Fill:
    """What sorts each window, or looks for its least or greatest sample."""
    places = np.ascontiguousarray(np.argwhere(chosen.window))
    return _fill(_rank, places, float(chosen.percentile))


def _rank(given: Any, how: Any, out: Any) -> None:
    (samples, counts, _), (places, percentile) = given, how
    values, half = np.empty(places.shape[0], np.float32), np.float32(0.5)
    for y in range(out.shape[0]):
        for x in range(out.shape[1]):
            for c in range(out.shape[2]):
                n = 0
                for at in range(places.shape[0]):
                    j, i = y + places[at, 0], x + places[at, 1]
                    if counts[j, i]:
                        values[n] = samples[j, i, c]
                        n += 1
                window = values[:n]
                if percentile == 0:
                    out[y, x, c] = window.min()
                elif percentile == 100:
                    out[y, x, c] = window.max()
                else:
                    window.sort()
                    low = high = min(int(n * percentile / 100), n - 1)
                    if percentile == 50:
                        low, high = (n - 1) // 2, n // 2
                    one, other = window[low], window[high]
                    out[y, x, c] = one if one == other else one * half + other * half


def _of_bilateral(chosen: Bilateral) -> Stages:
    return (Stage(chosen.reach, _fill(_bilateral, *bilateral_terms(chosen))),)


def bilateral_terms(chosen: Bilateral) -> tuple[Any, Any, np.float32]:
    """Places in the window, (n, 2); their exponents for being far; √½ / σc."""
    places = np.ascontiguousarray(np.argwhere(chosen.disk()))
    with np.errstate(over="ignore"):
        far = (((places - chosen.radius) / chosen.sigma_space) ** 2).sum(1) / -2
        return places, far.astype(np.float32), reciprocal(chosen.sigma_colour * 2**0.5)


def _bilateral(given: Any, how: Any, out: Any) -> None:
    (samples, counts, picture), (places, far, sharpness) = given, how
    total = np.empty(out.shape[2], np.float32)
    for y in range(out.shape[0]):
        for x in range(out.shape[1]):
            total[:] = 0
            weights = np.float32(0)
            for at in range(places.shape[0]):
                j, i = y + places[at, 0], x + places[at, 1]
                if counts[j, i]:
                    apart = np.float32(0)
                    for c in range(out.shape[2]):
                        apart += abs(samples[j, i, c] - picture[y, x, c])
                    apart *= sharpness
                    weight = np.exp(far[at] - apart * apart)
                    weights += weight
                    for c in range(out.shape[2]):
                        total[c] += weight * samples[j, i, c]
            for c in range(out.shape[2]):
                out[y, x, c] = total[c] / weights


def _of_non_local_means(chosen: NonLocalMeans) -> Stages:
    how = chosen.patch, reciprocal(chosen.strength), np.float32(CUT)
    return (Stage(chosen.reach, _fill(_non_local_means, *how)),)


def _non_local_means(given: Any, how: Any, out: Any) -> None:
    (samples, counts, _), (patch, sharpness, cut) = given, how
    ksize = samples.shape[0] - out.shape[0] - patch + 2
    radius, half = ksize // 2, patch // 2
    total = np.empty(out.shape[2], np.float32)
    for y in range(out.shape[0]):
        for x in range(out.shape[1]):
            total[:] = 0
            weights = np.float32(0)
            for dy in range(ksize):
                for dx in range(ksize):
                    squares, n = np.float32(0), 0
                    for j in range(y, y + patch):
                        for i in range(x, x + patch):
                            if counts[j + dy, i + dx] and counts[j + radius, i + radius]:
                                n += out.shape[2]
                                for c in range(out.shape[2]):
                                    apart = samples[j + dy, i + dx, c]
                                    apart -= samples[j + radius, i + radius, c]
                                    apart *= sharpness
                                    squares += apart * apart
                    if counts[y + dy + half, x + dx + half]:
                        weight = np.exp(-squares / np.float32(n))
                        if weight >= cut:
                            weights += weight
                            for c in range(out.shape[2]):
                                total[c] += weight * samples[y + dy + half, x + dx + half, c]
            for c in range(out.shape[2]):
                out[y, x, c] = total[c] / weights


def _means(samples: Any, counts: Any, ksize: int) -> Any:
    rows, columns = (size - ksize + 1 for size in counts.shape)
    out = np.empty((rows, columns, samples.shape[2]))
    _compiled(_box)((samples, counts), ksize, out)
    return out


def _box(given: Any, ksize: int, out: Any) -> None:
    samples, counts = given
    for y in range(out.shape[0]):
        for x in range(out.shape[1]):
            for c in range(out.shape[2]):
                total, n = 0.0, 0
                for j in range(y, y + ksize):
                    for i in range(x, x + ksize):
                        if counts[j, i]:
                            total += samples[j, i, c]
                            n += 1
                out[y, x, c] = total / n


STAGES: dict[type, Callable[[Any], Stages]] = {
    Correlation: _of_correlation,
    Length: lambda _: (Stage(1, _fill(_length)),),
    Rank: lambda chosen: (Stage(chosen.reach, of_rank(chosen)),),
    Morphology: partial(morphology, of_rank=of_rank),
    Bilateral: _of_bilateral,
    NonLocalMeans: _of_non_local_means,
    Guided: partial(guided, means=_means),
}
