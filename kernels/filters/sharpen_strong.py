"""Strong sharpen: all eight neighbours count against the pixel."""

from __future__ import annotations

from kernels.filters.parameters import THREE_ONLY, drawn

TITLE = "Sharpen, strong"
ORDER = 21
GROUP = "Sharpen"
SIZES = THREE_ONLY

weights = drawn(
    (-1, -1, -1),
    (-1, 9, -1),
    (-1, -1, -1),
)
