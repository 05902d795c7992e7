"""A picture cut into strips of whole rows, each with the rows around it that its answer needs.

Of the edges of a strip's picture those inside the whole picture come out wrong, as far in as the
filter reaches, and are cut off again.  Where a strip's picture ends at the whole picture's own
edge, it is continued there as the whole would be: whatever filters it applies the border itself, so
that it holds for a gradient, too, whose border is that of the weighted picture.  Rows on the other
side of the picture are needed there by one border alone, `wrap`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from kernels.core.borders import Span

# Blocks begin at multiples of so many rows, or of half, a quarter and so on where rows are long.
BLOCK_ROWS, BLOCK_SAMPLES = 256, 1 << 23


@dataclass(frozen=True, slots=True)
class RowStrip:
    """Rows first to end - 1 of a picture, and what to filter for them.

    spans  rows of the whole picture that are the strip's own picture, from top to bottom
    above  how many of these stand above row `first`
    whole  height of the whole picture
    """

    first: int
    end: int
    spans: tuple[Span, ...]
    above: int
    whole: int

    @property
    def own(self) -> slice:
        """Return where the strip's rows stand in the answer to its picture."""
        return slice(self.above, self.above + self.end - self.first)

    @property
    def height(self) -> int:
        """Return how many rows its picture has."""
        return sum(end - first for first, end in self.spans)


def block_rows(row_samples: int) -> int:
    """Rows of a block, for what rounds by where the rows begin: strips are multiples of it.

    row_samples  of each row of the picture; neither its height nor free memory counts
    """
    rows = BLOCK_ROWS
    while rows > 1 and rows * row_samples > BLOCK_SAMPLES:
        rows //= 2
    return rows


def strips_of(
    height: int, rows: int, reach: int, border: str, first: int = 0
) -> Iterator[RowStrip]:
    """Yield strips that cover rows `first` to height - 1 once, from top to bottom.

    height  of the whole picture
    rows    of each strip; the last may have fewer
    reach   how many rows away a sample still counts: `Job.reach`
    """
    for top in range(first, height, rows):
        yield strip_of_rows(top, min(top + rows, height), height, reach, border)


def even_parts(height: int, count: int, reach: int, border: str) -> tuple[RowStrip, ...]:
    """Return `count` strips that cover all rows once, as alike in height as can be.

    Of a picture with fewer rows than that as many strips as it has rows.  The other arguments are
    those of `strips_of`.
    """
    count = min(count, height)
    bounds = [height * at // count for at in range(count + 1)]
    return tuple(strip_of_rows(*each, height, reach, border) for each in pairwise(bounds))


def strip_of_rows(first: int, end: int, height: int, reach: int, border: str) -> RowStrip:
    """Return the strip of rows first to end - 1; the rest as `strips_of` has it."""
    if border == "wrap" and end - first < height:
        return RowStrip(
            first, end, tuple(_around(first - reach, end + reach, height)), reach, height
        )
    top = max(first - reach, 0)
    return RowStrip(first, end, ((top, min(end + reach, height)),), first - top, height)


def _around(start: int, stop: int, height: int) -> Iterator[Span]:
    """Yield the rows at positions start, ..., stop - 1 of a picture that goes on for ever."""
    while start < stop:
        top = start % height
        end = min(top + stop - start, height)
        yield top, end
        start += end - top
