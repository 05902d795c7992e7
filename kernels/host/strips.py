"""Cut a picture into rectangles that take some 20 ms each, so that a job can stop in between."""

from __future__ import annotations

from collections.abc import Iterator

STEP_TAPS = 20_000_000  # products; about 20 ms of plain loops on one core

Rectangle = tuple[int, int, int, int]  # top, bottom, left, right


def rectangles(height: int, width: int, taps_per_pixel: int, parts: int = 1) -> Iterator[Rectangle]:
    """Cover height × width once, in order, each of at most STEP_TAPS where a pixel allows.

    parts  their number is a multiple of it where rows allow, so that many threads end together
    """
    pixels = max(STEP_TAPS // taps_per_pixel, 1)
    if pixels >= width:
        bands = -(-height // (pixels // width))
        rows = -(-height // (-(-bands // parts) * parts))
        for top in range(0, height, rows):
            yield top, min(top + rows, height), 0, width
        return
    for top in range(height):
        for left in range(0, width, pixels):
            yield top, top + 1, left, min(left + pixels, width)
