"""Facts about weights alone: the separable ones they are made of, and their gain."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache, wraps
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

Weights = NDArray[np.float32]
Separable = tuple[Weights, Weights]  # column, row: (K,) each
T = TypeVar("T")

UNIT_ROUNDOFF = 2.0**-24  # of float32
KEPT = 64  # weights, of which something is known that took milliseconds
MAX_DIVISOR = 1 << 16  # of `whole_numbers`: that of binomials of nine


def once_per_weights(make: Callable[[Weights], T]) -> Callable[[Weights], T]:
    """Return `make`, remembering its results by the content of the weights, (K, K)."""

    @lru_cache(maxsize=KEPT)
    def of_bytes(raw: bytes, ksize: int) -> T:
        return make(np.frombuffer(raw, np.float32).reshape(ksize, ksize))

    @wraps(make)
    def of_weights(weights: Weights) -> T:
        return of_bytes(np.ascontiguousarray(weights).tobytes(), len(weights))

    return of_weights


@once_per_weights
def separable_terms(weights: Weights) -> tuple[Separable, ...]:
    """The fewest pairs (column, row) whose outer products sum to `weights`.

    One pair if the weights are separable; else singular vectors, scaled evenly between column and
    row, up to the first that no longer matters: the rest sums to at most 2⁻²⁴ · Σ|w|.
    """
    if (pair := separate(weights)) is not None:
        return (pair,)
    columns, sizes, rows = np.linalg.svd(weights.astype(np.float64))
    allowed = UNIT_ROUNDOFF * gain(weights)
    left_out = np.zeros_like(columns)
    rank = len(weights)
    while rank > 1:
        left_out += np.outer(columns[:, rank - 1] * sizes[rank - 1], rows[rank - 1])
        if np.abs(left_out).sum() > allowed:
            break
        rank -= 1
    scale = np.sqrt(sizes)
    return tuple(
        ((columns[:, n] * scale[n]).astype(np.float32), (rows[n] * scale[n]).astype(np.float32))
        for n in range(rank)
    )


def separate(weights: Weights) -> Separable | None:
    """Return (column, row), both (K,) float32, whose outer product is `weights`, or None.

    Rank-1 weights are the row through their largest element times the column through it.  That
    keeps the factors exact where the weights are, as for binomials and Sobel.  "Is" means: each
    product is within a few roundings of its weight, all of them together within 5 · 2⁻²⁴ · Σ|w|.
    """
    exact = weights.astype(np.float64)
    size = np.abs(exact)
    y, x = np.unravel_index(size.argmax(), size.shape)
    peak = exact[y, x]
    if peak == 0:
        return np.zeros(len(weights), np.float32), np.zeros(len(weights), np.float32)
    row, column = weights[y], (exact[:, x] / peak).astype(np.float32)
    off = np.abs(np.outer(column.astype(np.float64), row) - exact)
    allowed = UNIT_ROUNDOFF * (4 * size + abs(peak) / size.size)
    return (column, row) if (off <= allowed).all() else None


@dataclass(frozen=True, slots=True, eq=False)
class WholeNumbers:
    """Weights, and what is added to their sums, as integers over a common divisor."""

    weights: NDArray[np.int64]  # (K, K)
    offset: int
    divisor: int  # the least there is, at least 1


def whole_numbers(weights: Weights, offset: float = 0.0) -> WholeNumbers | None:
    """Return `weights` and `offset` as integers over a common divisor, or None.

    They are n / D, rounded once to float32, each of them, with D up to MAX_DIVISOR.  Where D is a
    power of two that is exact.  Else a weight is off by up to 2⁻²⁴ of itself, and so a sum by
    less than 2⁻²⁴ · (Σ|w| · max|p| + |offset|): one rounding of the check's bound, which so
    accepts the whole numbers' sum over D, rounded half to even.  It is not always the oracle's own
    answer: with weights like float32(1/6) a sum may lie halfway between two integers in whole
    numbers and a little beside it in float32 weights.  The check takes either then; where D is odd
    and nothing else is halved there are no such sums.
    """
    return _whole_numbers(np.ascontiguousarray(weights).tobytes(), len(weights), float(offset))


@lru_cache(maxsize=KEPT)
def _whole_numbers(raw: bytes, ksize: int, offset: float) -> WholeNumbers | None:
    numbers = np.append(np.frombuffer(raw, np.float32), np.float32(offset)).astype(np.float64)
    divisors = np.arange(1.0, MAX_DIVISOR + 1)
    for number in np.unique(np.abs(numbers))[::-1]:  # few are left by the second, as a rule
        as_divided = (np.rint(number * divisors) / divisors).astype(np.float32)
        divisors = divisors[as_divided == number]
    if not divisors.size or np.abs(numbers).max() * divisors[0] >= 2**31:
        return None
    whole = np.rint(numbers * divisors[0]).astype(np.int64)
    integers = whole[:-1].reshape(ksize, ksize)
    integers.flags.writeable = False
    return WholeNumbers(integers, int(whole[-1]), int(divisors[0]))


def gain(weights: Weights) -> float:
    """Σ|w|: how much larger than the largest sample a filtered one can be."""
    return float(np.abs(weights.astype(np.float64)).sum())


def terms_gain(weights: Weights) -> float:
    """Σ|w| of all `separable_terms` over that of `weights`: above 1 as far as terms cancel."""
    terms = sum(gain(column) * gain(row) for column, row in separable_terms(weights))
    return max(terms / (gain(weights) or 1.0), 1.0)


def frequency_response(weights: Weights, size: int) -> NDArray[np.float64]:
    """Amplitude of a wave after filtering, by frequency: (size, size) float64.

    Element (v, u) is for (v - size // 2) / size and (u - size // 2) / size cycles a pixel, which
    are from -0.5 up to 0.5: the size of the discrete Fourier transform of `weights`, with zeros
    around them.  size is at least that of the weights.
    """
    return np.abs(np.fft.fftshift(np.fft.fft2(weights.astype(np.float64), (size, size))))
