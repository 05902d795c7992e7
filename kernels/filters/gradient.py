"""Gradient: the length of Sobel X and Sobel Y together; edges light up whatever their direction."""

from __future__ import annotations

from kernels.filters.parameters import THREE_ONLY, drawn

TITLE = "Gradient"
ORDER = 34
GROUP = "Edges"
SIZES = THREE_ONLY
GRADIENT = True

# The picture as it is: Sobel's own weights are part of the gradient.
weights = drawn(
    (0, 0, 0),
    (0, 1, 0),
    (0, 0, 0),
)
