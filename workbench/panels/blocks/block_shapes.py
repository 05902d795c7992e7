"""The block shapes to compare: the picker's presets, a grid to explore, and typed ones."""

from __future__ import annotations

import re

from kernels.measuring.tuner import PRESETS

BlockXY = tuple[int, int]

WIDTHS, HEIGHTS = (8, 16, 32, 64, 128, 256), (1, 2, 4, 8, 16, 32)
GRID: tuple[BlockXY, ...] = tuple((x, y) for y in HEIGHTS for x in WIDTHS)
MAX_SIDE = 1024  # threads along a side, as in the block picker
EXAMPLE = "Write shapes such as 48×4, 96×2."

_SHAPE = re.compile(r"(\d{1,6})\s*[x×X*]\s*(\d{1,6})")
_BETWEEN = re.compile(r"[\s,;]*")

__all__ = ["GRID", "PRESETS", "BlockXY", "UnclearShapesError", "parsed", "written"]


class UnclearShapesError(ValueError):
    """A typed text that is no list of block shapes; its message is one sentence."""


def parsed(text: str) -> tuple[BlockXY, ...]:
    """Return the shapes (x, y) in "48x4, 96 × 2", each once.

    Raises UnclearShapesError where a word is no shape, or a side is not 1 to MAX_SIDE threads.
    """
    shapes: dict[BlockXY, None] = {}
    at = 0
    while at < len(text):
        at = _end(_BETWEEN.match(text, at))
        if at == len(text):
            break
        found = _SHAPE.match(text, at)
        if found is None:
            word = text[at:].split(",")[0].strip()
            raise UnclearShapesError(f"{word!r} is not a shape. {EXAMPLE}")
        shape = int(found[1]), int(found[2])
        if not all(1 <= side <= MAX_SIDE for side in shape):
            raise UnclearShapesError(f"{written([shape])}: a side is 1 to {MAX_SIDE} threads.")
        shapes[shape] = None
        at = found.end()
    return tuple(shapes)


def written(shapes: list[BlockXY] | tuple[BlockXY, ...]) -> str:
    """Return shapes (x, y) as text that `parsed` can read: "48×4, 96×2"."""
    return ", ".join(f"{x}×{y}" for x, y in shapes)


def _end(found: re.Match[str] | None) -> int:
    assert found is not None  # both patterns match here, be it an empty text
    return found.end()
