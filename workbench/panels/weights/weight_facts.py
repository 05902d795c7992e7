"""The properties of weights in words: sum, rank, and frequency response."""

from __future__ import annotations

from html import escape

import numpy as np
from numpy.typing import NDArray

from kernels.core.weights import frequency_response, gain, separable_terms
from workbench.base.table_text import compact

RESPONSE_SIZE = 128  # frequencies along an axis
HALF = 0.5
NOTHING = 1e-6  # relative to the largest: what float32 leaves where weights cancel


def rank(weights: NDArray[np.float32]) -> int:
    """Return how many separable filters add up to `weights`, (K, K); 0 where all are zero."""
    return len(separable_terms(weights)) if weights.any() else 0


def facts(weights: NDArray[np.float32], offset: float = 0.0) -> list[tuple[str, str, str]]:
    """Return the rows (name, value, meaning) that describe `weights`, (K, K).

    offset  what is added, as a part of white
    """
    total, largest = float(weights.astype(np.float64).sum()), gain(weights)
    total = total if abs(total) > NOTHING * largest else 0.0
    found, size = rank(weights), len(weights)
    return [
        ("Sum", compact(total, 3), _added(offset) if offset else _brightness(total)),
        ("Σ|w|", compact(largest, 3), "largest possible gain"),
        ("Rank", str(found), _separability(found, size)),
    ]


def as_html(rows: list[tuple[str, str, str]]) -> str:
    """Return the rows as an HTML table of three columns, for a label."""
    cells = "".join(
        f"<tr><td>{escape(name)}&nbsp;&nbsp;</td><td align='right'><b>{escape(value)}</b></td>"
        f"<td style='padding-left: 8px'>{escape(meaning)}</td></tr>"
        for name, value, meaning in rows
    )
    return f"<table cellspacing='2'>{cells}</table>"


def response(weights: NDArray[np.float32]) -> NDArray[np.float64]:
    """Return the response, (N, N) of RESPONSE_SIZE, the frequency 0 in the middle."""
    return frequency_response(weights, RESPONSE_SIZE)


def response_in_words(weights: NDArray[np.float32], values: NDArray[np.float64]) -> str:
    """Describe a response: "Flat areas ×1, finest stripes ×0, checkerboard ×0. Half …".

    values  response(weights), which has no signs; below zero dark and bright change places
    """
    middle = len(values) // 2
    even = values[middle, middle]
    least = NOTHING * values.max()
    told = [compact(value if abs(value) > least else 0.0, 3) for value in _extremes(weights)]
    flat, across, down, checkerboard = told
    stripes = f"×{across}" if across == down else f"×{across} (vertical), ×{down} (horizontal)"
    words = f"Flat areas ×{flat}, finest stripes {stripes}, checkerboard ×{checkerboard}."
    row = values[middle, middle:] / even if even > 0 else values[middle, middle:]
    below = np.flatnonzero(row < HALF)
    if even > 0 and below.size and row.max() <= 1 + 1e-6:
        words += f" Half amplitude at {below[0] / len(values):.2f} cycles/pixel (horizontally)."
    return words


def _extremes(weights: NDArray[np.float32]) -> tuple[float, float, float, float]:
    """Return the gain of a flat area, the finest stripes across and down, and a checkerboard.

    These are the frequencies whose response is real, so that it has a sign.
    """
    exact = weights.astype(np.float64)
    stripes = (-1.0) ** np.abs(np.arange(len(exact)) - len(exact) // 2)
    across, down = exact * stripes, exact * stripes[:, np.newaxis]
    both = across * stripes[:, np.newaxis]
    return float(exact.sum()), float(across.sum()), float(down.sum()), float(both.sum())


def _added(offset: float) -> str:
    return f"offset {compact(offset, 3)} × white"


def _brightness(total: float) -> str:
    if abs(total - 1) < NOTHING:
        return "keeps the brightness"
    if total > 1:
        return f"brightens {compact(total, 4)}×"
    if total > 0:
        return f"darkens to {compact(total, 3)}"
    return "flat areas turn black" if total == 0 else "flat areas fall below black"


def _separability(found: int, size: int) -> str:
    if found == 0:
        return "all weights are zero"
    if size == 1:
        return "one product per sample"
    if found == 1:
        return f"separable: {2 * size} products per sample, not {size * size}"
    products = 2 * found * size
    if products < size * size:
        return f"{found} separable ones: {products} of {size * size} products"
    return "not separable"
