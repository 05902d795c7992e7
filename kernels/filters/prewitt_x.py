"""Prewitt X: the slope along x, averaged over three rows."""

from __future__ import annotations

from kernels.filters.parameters import THREE_ONLY, drawn

TITLE = "Prewitt X"
ORDER = 32
GROUP = "Edges"
SIZES = THREE_ONLY

weights = drawn(
    (-1, 0, 1),
    (-1, 0, 1),
    (-1, 0, 1),
)
