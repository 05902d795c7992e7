"""Layouts of blocks whose grid does not cover the picture side by side: those of transforms."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from kernels.rungs.job_facts import Facts

Pair = tuple[int, int]  # x then y: a sample and a row, or a block of the grid


class Layout(NamedTuple):
    """Mapping between the blocks of a pass and the samples of the picture.

    corner    (x, y) of a block -> the sample and row that its tile begins with
    block_at  (sample, row) of the picture -> the block with that channel whose tile it is in
    """

    corner: Callable[[int, int], Pair]
    block_at: Callable[[int, int], Pair]


class FftTiles:
    """A picture in pairs of overlapping tiles, in the names of the FFT rungs' text.

    line     numbers along either side of a tile
    valid    how many of them come out right, which is how far apart tiles begin
    pairs    pairs of tiles side by side; in each, one tile is the real part, the next the imaginary
    tiles    tiles one above the other
    colours  channels that are filtered
    rows     lines per block, where lines run along rows
    columns  lines per block, where they run down columns
    """

    columns = 8

    def __init__(self, facts: Facts) -> None:
        job = facts.job
        self.side, self.line = facts.value("FFT_SIDE"), facts.value("FFT_LINE")
        self.pairs, self.tiles = facts.value("FFT_PAIRS"), facts.value("FFT_TILES")
        self.colours, self.channels = facts.value("PLANES"), job.channels
        self.radius, self.valid = job.radius, self.line - 2 * job.radius
        self.rows = 128 // self.side

    def pair_of_colour(self, x: int) -> int:
        """Return the pair of sample x; alpha, never transformed, counts as the last colour."""
        colour = min(x % self.channels, self.colours - 1)
        return colour * self.pairs + x // self.channels // (2 * self.valid)

    def left(self, pair: int) -> int:
        """Return the first sample that a pair computes, the same for every colour."""
        return pair % self.pairs * 2 * self.valid * self.channels

    def colour_of(self, pair: int) -> int:
        """Return which of the filtered channels a pair belongs to."""
        return pair // self.pairs

    def tile_of(self, number: int) -> tuple[int, int]:
        """Return the (pair, tile down) of a tile, given its number in memory."""
        colour, down = divmod(number // self.pairs, self.tiles)
        return colour * self.pairs + number % self.pairs, down

    def number_of(self, pair: int, down: int) -> int:
        """Return the number in memory of a tile: the inverse of `tile_of`."""
        colour, across = divmod(pair, self.pairs)
        return (colour * self.tiles + down) * self.pairs + across

    # -- frequencies, which belong to a whole tile: a place in it stands for the same share of them

    def frequency_across(self, x: int) -> int:
        """Return the frequency that sample x, of the picture or of a pair, points at."""
        return x // self.channels % (2 * self.valid) * self.line // (2 * self.valid)

    def frequency_down(self, y: int) -> int:
        """Return the frequency that row y points at: as far down as the row in its tile."""
        return y % self.valid * self.line // self.valid


def _rows_of_tiles(on: FftTiles) -> Layout:
    """Return the layout whose blocks have one row of a tile each."""
    corner, block_at = _frequencies_of_tiles(on)
    return Layout(
        lambda x, y: (corner(x, y)[0], corner(x, y)[1] + x - on.radius),
        lambda x, y: (y % on.valid + on.radius, block_at(x, y)[1]),
    )


def _frequencies_of_tiles(on: FftTiles) -> Layout:
    """Return the layout whose blocks have one row of a tile's frequencies each."""

    def corner(_: int, y: int) -> Pair:
        pair, down = on.tile_of(y)
        return on.left(pair), down * on.valid

    def block_at(x: int, y: int) -> Pair:
        return on.frequency_down(y), on.number_of(on.pair_of_colour(x), y // on.valid)

    return Layout(corner, block_at)


def _rows_of_pairs(on: FftTiles) -> Layout:
    """Return the layout whose blocks have some rows of a pair each, across its tiles."""
    return Layout(
        lambda x, y: (on.left(y), x * on.rows),
        lambda x, y: (y // on.rows, on.pair_of_colour(x)),
    )


def _frequencies_of_columns(on: FftTiles) -> Layout:
    """Return the layout whose blocks have some frequencies of the rows of a tile."""
    planes = on.colours * on.pairs

    def block_at(x: int, y: int) -> Pair:
        group = on.frequency_across(x) // on.columns
        return group * planes + on.pair_of_colour(x), y // on.valid

    return Layout(lambda x, y: (on.left(x % planes), y * on.valid), block_at)


# By the names that headers use.
LAYOUTS: dict[str, Callable[[FftTiles], Layout]] = {
    "rows_of_tiles": _rows_of_tiles,
    "frequencies_of_tiles": _frequencies_of_tiles,
    "rows_of_pairs": _rows_of_pairs,
    "frequencies_of_columns": _frequencies_of_columns,
}
