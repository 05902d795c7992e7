"""Laplacian with diagonals: all eight neighbours against the pixel."""

from __future__ import annotations

from kernels.filters.parameters import THREE_ONLY, drawn

TITLE = "Laplacian, diagonal"
ORDER = 41
GROUP = "Edges"
SIZES = THREE_ONLY

weights = drawn(
    (1, 1, 1),
    (1, -8, 1),
    (1, 1, 1),
)
