"""Emboss: light from the upper left, as on stamped metal."""

from __future__ import annotations

from kernels.filters.parameters import THREE_ONLY, drawn

TITLE = "Emboss"
ORDER = 50
GROUP = "Edges"
SIZES = THREE_ONLY

weights = drawn(
    (-2, -1, 0),
    (-1, 1, 1),
    (0, 1, 2),
)
