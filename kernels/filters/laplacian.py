"""Laplacian: the second derivative along x and y together."""

from __future__ import annotations

from kernels.filters.parameters import THREE_ONLY, drawn

TITLE = "Laplacian"
ORDER = 40
GROUP = "Edges"
SIZES = THREE_ONLY

weights = drawn(
    (0, 1, 0),
    (1, -4, 1),
    (0, 1, 0),
)
