"""Filters of one size whose weights are drawn: a row of a table each."""

from __future__ import annotations

import numpy as np

from kernels.filters import Filter

Weights = tuple[tuple[float, ...], ...]


def _drawn(
    key: str, title: str, order: int, group: str, idea: str, rows: Weights, gradient: bool = False
) -> Filter:
    size = len(rows)
    weights = np.array(rows, np.float32)
    sizes = range(size, size + 1, 2)
    return Filter(key, title, order, sizes, (), lambda _: weights, gradient, None, group, idea)


FILTERS = (
    _drawn(
        *("sharpen", "Sharpen", 20, "Sharpen"),
        "A pixel minus its four neighbours, on top of itself.",
        ((0, -1, 0), (-1, 5, -1), (0, -1, 0)),
    ),
    _drawn(
        *("sharpen_strong", "Sharpen, strong", 21, "Sharpen"),
        "All eight neighbours count against the pixel.",
        ((-1, -1, -1), (-1, 9, -1), (-1, -1, -1)),
    ),
    _drawn(
        *("sobel_x", "Sobel X", 30, "Edges"),
        "The slope along x, smoothed along y; vertical edges light up.",
        ((-1, 0, 1), (-2, 0, 2), (-1, 0, 1)),
    ),
    _drawn(
        *("sobel_y", "Sobel Y", 31, "Edges"),
        "The slope along y, smoothed along x; horizontal edges light up.",
        ((-1, -2, -1), (0, 0, 0), (1, 2, 1)),
    ),
    _drawn(
        *("prewitt_x", "Prewitt X", 32, "Edges"),
        "The slope along x, averaged over three rows.",
        ((-1, 0, 1), (-1, 0, 1), (-1, 0, 1)),
    ),
    _drawn(
        *("prewitt_y", "Prewitt Y", 33, "Edges"),
        "The slope along y, averaged over three columns.",
        ((-1, -1, -1), (0, 0, 0), (1, 1, 1)),
    ),
    _drawn(
        *("gradient", "Gradient", 34, "Edges"),
        "The length of Sobel X and Sobel Y together; edges light up whatever their direction.",
        ((0, 0, 0), (0, 1, 0), (0, 0, 0)),  # Sobel's own weights are part of the gradient
        gradient=True,
    ),
    _drawn(
        *("laplacian", "Laplacian", 40, "Edges"),
        "The second derivative along x and y together.",
        ((0, 1, 0), (1, -4, 1), (0, 1, 0)),
    ),
    _drawn(
        *("laplacian_diagonal", "Laplacian, diagonal", 41, "Edges"),
        "All eight neighbours against the pixel.",
        ((1, 1, 1), (1, -8, 1), (1, 1, 1)),
    ),
    _drawn(
        *("emboss", "Emboss", 50, "Edges"),
        "Light from the upper left, as on stamped metal.",
        ((-2, -1, 0), (-1, 1, 1), (0, 1, 2)),
    ),
)
