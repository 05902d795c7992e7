"""Sobel Y: the slope along y, smoothed along x; horizontal edges light up."""

from __future__ import annotations

from kernels.filters.parameters import THREE_ONLY, drawn

TITLE = "Sobel Y"
ORDER = 31
GROUP = "Edges"
SIZES = THREE_ONLY

weights = drawn(
    (-1, -2, -1),
    (0, 0, 0),
    (1, 2, 1),
)
