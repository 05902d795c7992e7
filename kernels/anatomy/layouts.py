"""Where blocks stand whose grid does not lie over the picture: those of transforms."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from kernels.rungs.job_facts import Facts

Pair = tuple[int, int]  # x then y: a sample and a row, or a block of the grid


class Layout(NamedTuple):
    """Where the blocks of a pass stand, and which of them a sample belongs to.

    corner    (x, y) of a block -> where its tile begins
    block_at  (sample, row) of the picture -> of the blocks whose tile it is in, its channel's
    """

    corner: Callable[[int, int], Pair]
    block_at: Callable[[int, int], Pair]


class FftTiles:
    """A picture in pairs of tiles that overlap, in the names of the FFT rungs' text.

    line     numbers along either side of a tile
    valid    of them, those that come out right: tiles begin so far from one another
    pairs    side by side; of each, one tile is the real part and the next the imaginary
    tiles    one above the other
    colours  channels that are filtered
    rows     lines of a block, where they lie along rows
    columns  and where they lie along columns
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
        """Return the pair of sample x; alpha, which is not transformed, counts as the last
        colour."""
        colour = min(x % self.channels, self.colours - 1)
        return colour * self.pairs + x // self.channels // (2 * self.valid)

    def left(self, pair: int) -> int:
        """Return the first sample that a pair is there for; pairs of other colours have the
        same."""
        return pair % self.pairs * 2 * self.valid * self.channels

    def colour_of(self, pair: int) -> int:
        return pair // self.pairs

    def tile_of(self, number: int) -> tuple[int, int]:
        """Return (pair of a colour, tile down) of the tiles that lie one after another in
        memory."""
        colour, down = divmod(number // self.pairs, self.tiles)
        return colour * self.pairs + number % self.pairs, down

    def number_of(self, pair: int, down: int) -> int:
        colour, across = divmod(pair, self.pairs)
        return (colour * self.tiles + down) * self.pairs + across

    # -- frequencies, which are of all of a tile: as far across or down them as across the tile

    def frequency_across(self, x: int) -> int:
        """Return the frequency that sample x, of the picture or of a pair, points at."""
        return x // self.channels % (2 * self.valid) * self.line // (2 * self.valid)

    def frequency_down(self, y: int) -> int:
        return y % self.valid * self.line // self.valid


def _rows_of_tiles(on: FftTiles) -> Layout:
    """A block one row of a tile."""
    corner, block_at = _frequencies_of_tiles(on)
    return Layout(
        lambda x, y: (corner(x, y)[0], corner(x, y)[1] + x - on.radius),
        lambda x, y: (y % on.valid + on.radius, block_at(x, y)[1]),
    )


def _frequencies_of_tiles(on: FftTiles) -> Layout:
    """A block one row of a tile's frequencies."""

    def corner(_: int, y: int) -> Pair:
        pair, down = on.tile_of(y)
        return on.left(pair), down * on.valid

    def block_at(x: int, y: int) -> Pair:
        return on.frequency_down(y), on.number_of(on.pair_of_colour(x), y // on.valid)

    return Layout(corner, block_at)


def _rows_of_pairs(on: FftTiles) -> Layout:
    """A block some rows of a pair, whichever tiles those are in."""
    return Layout(
        lambda x, y: (on.left(y), x * on.rows),
        lambda x, y: (y // on.rows, on.pair_of_colour(x)),
    )


def _frequencies_of_columns(on: FftTiles) -> Layout:
    """A block some frequencies of the rows of a tile."""
    planes = on.colours * on.pairs

    def block_at(x: int, y: int) -> Pair:
        group = on.frequency_across(x) // on.columns
        return group * planes + on.pair_of_colour(x), y // on.valid

    return Layout(lambda x, y: (on.left(x % planes), y * on.valid), block_at)


# By what a header calls them.
LAYOUTS: dict[str, Callable[[FftTiles], Layout]] = {
    "rows_of_tiles": _rows_of_tiles,
    "frequencies_of_tiles": _frequencies_of_tiles,
    "rows_of_pairs": _rows_of_pairs,
    "frequencies_of_columns": _frequencies_of_columns,
}
