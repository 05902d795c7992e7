"""Prewitt Y: the slope along y, averaged over three columns."""

from __future__ import annotations

from kernels.filters.parameters import THREE_ONLY, drawn

TITLE = "Prewitt Y"
ORDER = 33
GROUP = "Edges"
SIZES = THREE_ONLY

weights = drawn(
    (-1, -1, -1),
    (0, 0, 0),
    (1, 1, 1),
)
