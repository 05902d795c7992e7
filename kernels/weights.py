"""What can be told from weights alone: separability and the largest possible gain."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

UNIT_ROUNDOFF = 2.0**-24  # of float32


def separate(
    weights: NDArray[np.float32],
) -> tuple[NDArray[np.float32], NDArray[np.float32]] | None:
    """(column, row), both (K,) float32, whose outer product is `weights`; None if there is none.

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


def gain(weights: NDArray[np.float32]) -> float:
    """Σ|w|: how much larger than the largest sample a filtered one can be."""
    return float(np.abs(weights.astype(np.float64)).sum())
