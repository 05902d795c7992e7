"""Differences of 8-bit pictures: with 511 possible values OpenCV and tables do it all."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from workbench.imaging.display import Bytes


def largest(one: Bytes, other: Bytes) -> int:
    """Return the largest |difference| of two arrays (rows, W, C) alike in shape."""
    import cv2  # here: the window paints before anything heavy is imported

    return int(cv2.norm(one, other, cv2.NORM_INF))


def sizes(one: Bytes, other: Bytes) -> Bytes:
    """Return the |differences| of two arrays (rows, W, C) alike in shape."""
    import cv2

    return np.asarray(cv2.absdiff(np.ascontiguousarray(one), np.ascontiguousarray(other)))


def paint_sizes(bgra: Bytes, one: Bytes, other: Bytes, scale: float) -> None:
    """Fill `bgra`, (rows, W, 4), with the size of each difference times `scale`, saturated.

    one, other  (rows, W, C), C-contiguous, C being 1 (grey) or 3 (red, green, blue)
    """
    import cv2

    sizes = cv2.absdiff(one, other)
    cv2.convertScaleAbs(sizes, dst=sizes, alpha=scale)  # in place: new memory takes longer
    code = cv2.COLOR_GRAY2BGRA if one.shape[2] == 1 else cv2.COLOR_RGB2BGRA
    cv2.cvtColor(sizes, code, dst=bgra)


def paint_signed(
    bgra: Bytes, one: Bytes, other: Bytes, scale: float, colours: NDArray[np.uint8]
) -> None:
    """Fill `bgra` with the colour of the difference of the channel that differs most.

    Times `scale`; of two channels that differ as much, the one that is above.

    one, other  as of `paint_sizes`
    colours     (2 n + 1, 4) as `bgra`: what stands for -n, 0 at index n, and n
    """
    import cv2

    above, below = cv2.subtract(one, other), cv2.subtract(other, one)  # none is under zero
    if one.shape[2] == 3:
        above, below = _most(above), _most(below)
        is_above = cv2.compare(above, below, cv2.CMP_GE)
        above = cv2.bitwise_and(above, is_above)
        below = cv2.bitwise_and(below, cv2.bitwise_not(is_above))
    middle = len(colours) // 2
    steps = _steps(scale, middle)
    places = cv2.subtract(cv2.LUT(above, steps + np.uint8(middle)), cv2.LUT(below, steps))
    table = np.zeros((256, 1, 3), np.uint8)
    table[: len(colours), 0] = colours[:, :3]
    cv2.cvtColor(cv2.applyColorMap(places, table), cv2.COLOR_BGR2BGRA, dst=bgra)


def _most(sizes: Any) -> Any:
    """Return the largest of three channels: (rows, W)."""
    import cv2

    red, green, blue = cv2.split(sizes)
    return cv2.max(cv2.max(red, green), blue)


def _steps(scale: float, most: int) -> Bytes:
    """Return each size times `scale`, rounded, no more than `most`: (256,)."""
    sizes = np.minimum(np.arange(256, dtype=np.float32) * np.float32(scale), most)
    steps: Bytes = np.rint(sizes).astype(np.uint8)
    return steps
