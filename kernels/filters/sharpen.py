"""Sharpen: a pixel minus its four neighbours, on top of itself."""

from __future__ import annotations

from kernels.filters.parameters import THREE_ONLY, drawn

TITLE = "Sharpen"
ORDER = 20
GROUP = "Sharpen"
SIZES = THREE_ONLY

weights = drawn(
    (0, -1, 0),
    (-1, 5, -1),
    (0, -1, 0),
)
