"""Spectra for the FFT rungs: how long their transforms are, the weights' spectrum, the roots.

A picture is cut into tiles of L×L, which overlap by 2·RADIUS; of each, L - 2·RADIUS rows and
columns come out right (overlap-save).  Tiles are transformed two by two, as the real and the
imaginary part of one: weights are real, so the two do not mix.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

SIDES = (8, 16, 32)  # a transform of SIDE² numbers is SIDE threads with SIDE numbers each
SPECTRA_KEPT = 8  # 8 MB each, and tens of milliseconds to make


def fft_side(width: int, height: int, radius: int) -> int:
    """Return the square root of the transform length that costs the least for a picture.

    It makes the fewest numbers to transform.
    """

    def numbers(side: int) -> int:
        pairs, tiles = tiles_of(width, height, radius, side)
        return side**4 * pairs * tiles

    return min((side for side in SIDES if side**2 > 2 * radius), key=numbers)


def tiles_of(width: int, height: int, radius: int, side: int) -> tuple[int, int]:
    """Return how many pairs of tiles stand side by side, and how many tiles one above the other."""
    valid = side**2 - 2 * radius
    return -(-width // (2 * valid)), -(-height // valid)


def spectrum(weights: NDArray[np.float32], length: int) -> NDArray[np.complex64]:
    """Return what a tile's spectrum is multiplied by to correlate: (length, length).

    The conjugate of the weights' own, worked out in float64 and rounded once.
    """
    return _spectrum(weights.tobytes(), len(weights), length)


@lru_cache(maxsize=SPECTRA_KEPT)
def _spectrum(raw: bytes, ksize: int, length: int) -> NDArray[np.complex64]:
    weights = np.frombuffer(raw, np.float32).reshape(ksize, ksize).astype(np.float64)
    # Columns of zeros stay zero, so only those with weights are transformed down.
    down = np.fft.fft(weights, length, axis=0)
    answer = np.fft.fft(down, length, axis=1).conj().astype(np.complex64)
    answer.flags.writeable = False
    return answer


@lru_cache(maxsize=len(SIDES))
def roots(side: int) -> NDArray[np.complex64]:
    """Return exp(-2πi · k · l / side²) / side by k and l: (side, side).

    Divided so that a transform leaves numbers as large as they were, and its inverse needs no
    other factor; side is a power of two, which costs no accuracy.
    """
    k_times_l = np.outer(np.arange(side), np.arange(side))
    answer: NDArray[np.complex64]
    answer = (np.exp(-2j * np.pi * k_times_l / side**2) / side).astype(np.complex64)
    answer.flags.writeable = False
    return answer
