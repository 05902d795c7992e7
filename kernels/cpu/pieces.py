"""Cut a picture into rectangles that take some 20 ms each, so that a job can stop in between."""

from __future__ import annotations

from collections.abc import Iterator

STEP_TAPS = 20_000_000  # products; about 20 ms of plain loops on one core

Rectangle = tuple[int, int, int, int]  # top, bottom, left, right


def rectangles(height: int, width: int, taps_per_pixel: int) -> Iterator[Rectangle]:
    """Cover height × width once, in order, with rectangles of about STEP_TAPS."""
    pixels = max(STEP_TAPS // taps_per_pixel, 1)
    rows = min(max(pixels // width, 1), height)
    columns = min(pixels, width)
    for top in range(0, height, rows):
        for left in range(0, width, columns):
            yield top, min(top + rows, height), left, min(left + columns, width)
