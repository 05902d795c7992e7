"""The samples along a line."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

Pixel = tuple[int, int]  # x, y
Line = tuple[Pixel, Pixel]


def along(samples: NDArray[Any], line: Line) -> NDArray[Any]:
    """Return the samples along `line`, (n, C): one pixel per step of its longer side.

    Both its ends are among them.

    samples  (H, W, C); what of the line lies beyond its edges is left out
    """
    xs, ys, inside = _pixels(samples, line)
    found: NDArray[Any] = samples[ys[inside], xs[inside]]
    return found


def distances(samples: NDArray[Any], line: Line) -> NDArray[np.float64]:
    """Return how many pixels each of `along` is away from the beginning: (n,) float64."""
    _, _, inside = _pixels(samples, line)
    return np.linspace(0.0, math.dist(*line), inside.size)[inside]


def _pixels(
    samples: NDArray[Any], line: Line
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.bool_]]:
    """Return x and y of each step, and whether it is inside the picture."""
    (x0, y0), (x1, y1) = line
    steps = max(abs(x1 - x0), abs(y1 - y0))
    xs = np.rint(np.linspace(x0, x1, steps + 1)).astype(np.int64)
    ys = np.rint(np.linspace(y0, y1, steps + 1)).astype(np.int64)
    height, width = samples.shape[:2]
    return xs, ys, (xs >= 0) & (xs < width) & (ys >= 0) & (ys < height)


def row(samples: NDArray[Any], y: int) -> Line:
    """Return the line along row `y`, from side to side."""
    return (0, y), (samples.shape[1] - 1, y)


def column(samples: NDArray[Any], x: int) -> Line:
    """Return the line along column `x`, from top to bottom."""
    return (x, 0), (x, samples.shape[0] - 1)


def in_words(line: Line) -> str:
    """Return where the line goes: "row 12", "column 7", or from one pixel to another."""
    (x0, y0), (x1, y1) = line
    if y0 == y1:
        return f"row {y0}, x {min(x0, x1)} to {max(x0, x1)}"
    if x0 == x1:
        return f"column {x0}, y {min(y0, y1)} to {max(y0, y1)}"
    return f"({x0}, {y0}) to ({x1}, {y1}), {math.dist(*line):.0f} pixels long"
