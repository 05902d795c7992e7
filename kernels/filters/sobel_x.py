"""Sobel X: the slope along x, smoothed along y; vertical edges light up."""

from __future__ import annotations

from kernels.filters.parameters import THREE_ONLY, drawn

TITLE = "Sobel X"
ORDER = 30
GROUP = "Edges"
SIZES = THREE_ONLY

weights = drawn(
    (-1, 0, 1),
    (-2, 0, 2),
    (-1, 0, 1),
)
