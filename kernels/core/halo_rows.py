"""The rows that parts of a picture, each on a device of its own, need from one another."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from kernels.core.row_strips import RowStrip


@dataclass(frozen=True, slots=True)
class HaloRows:
    """Rows that a part takes from another one, or from itself where a picture wraps around.

    source  the number of the part that has them
    first   the first of them, counted from the source's first own row
    count   how many they are
    to      where that goes, counted from the top of the taking part's picture
    """

    source: int
    first: int
    count: int
    to: int


def halo_rows(parts: Sequence[RowStrip], taker: int) -> Iterator[HaloRows]:
    """Yield what fills the picture of `parts[taker]` but for its own rows, from top to bottom.

    parts  cover all rows of the picture once, from top to bottom
    """
    to, own = 0, parts[taker].own
    for start, stop in parts[taker].spans:
        first = start
        while first < stop:
            if to == own.start:  # its own rows stand here
                first, to = first + own.stop - own.start, own.stop
                continue
            source = next(at for at, part in enumerate(parts) if part.first <= first < part.end)
            end = min(stop, parts[source].end)
            if to < own.start:
                end = min(end, first + own.start - to)
            yield HaloRows(source, first - parts[source].first, end - first, to)
            first, to = end, to + end - first
