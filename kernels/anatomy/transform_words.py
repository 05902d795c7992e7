"""Sentences on the work of a transform's blocks: lines of numbers, not samples."""

from __future__ import annotations

from kernels.anatomy.anatomy_words import span
from kernels.anatomy.layouts import FftTiles
from kernels.anatomy.tile_shapes import Block, Shape

PARTS = ("real part", "imaginary part")


def gather(on: FftTiles, shape: Shape, block: Block) -> str:
    """Say which row of which tiles a block gathers, and from where in the picture."""
    pair, down = on.tile_of(block[1])
    y = shape.tile(block).top
    where = "" if 0 <= y < shape.picture.bottom else ", which lies beyond it"
    return _signed(
        f"Block {block} gathers row {block[0]} of {on.line} of {_tiles(on, pair, down)}, out of "
        f"row {y:,} of the picture{where}: {_parts(on, pair)} {_overlap(on)}"
    )


def multiply(on: FftTiles, block: Block) -> str:
    """Say which row of frequencies a block multiplies by the spectrum of the weights."""
    pair, down = on.tile_of(block[1])
    return (
        f"Block {block} multiplies row {block[0]} of the {on.line} rows of frequencies of "
        f"{_tiles(on, pair, down)} by the same row of the weights' spectrum. A frequency is of all "
        "of both tiles and their halo: warps have no place on the picture, and the pointer's share "
        "of the way across and down the tiles tells which frequency is meant."
    )


def transform_rows(on: FftTiles, shape: Shape, block: Block) -> str:
    """Say which rows of which tiles a block transforms."""
    top = block[0] * on.rows
    end = min(top + on.rows, shape.picture.bottom)
    return _signed(
        f"Block {block} transforms {span('row', top, end)} of {_tiles(on, block[1])}, each of "
        f"them {_parts(on, block[1])} {_overlap(on)}"
    )


def filter_columns(on: FftTiles, shape: Shape, block: Block) -> str:
    """Say which frequencies of which tiles a block filters down their columns."""
    planes = on.colours * on.pairs
    begin, top = block[0] // planes * on.columns, block[1] * on.valid
    end = min(top + on.valid, shape.picture.bottom)
    rows = span("row", top - on.radius, top - on.radius + on.line)
    return _signed(
        f"Block {block} takes frequencies {begin} to {begin + on.columns - 1} of the lines "
        f"of {_tiles(on, block[0] % planes, block[1])}, in {rows}: it transforms them downwards, "
        "multiplies them by the weights' spectrum, transforms them back and keeps "
        f"{span('row', top, end)}, which come out right. A frequency is of a whole line: warps are "
        "drawn along lines, and the pointer's share of the way across tells which frequency is "
        "meant."
    )


def held(n: int) -> str:
    """Say which of a thread's numbers is meant, counted from one."""
    return f"number {n + 1} of each thread"


def part_held(n: int, part: int) -> str:
    """Say which part of which of a thread's numbers is meant."""
    return f"{PARTS[part]} of {held(n)}"


def every(step: int, noun: str, first: int, end: int) -> str:
    """Say which of `end` numbers a thread has that begins with number `first`.

    Such as "every 16th number from 5 to 245".
    """
    last = first + (end - 1 - first) // step * step
    if last == first:
        return f"{noun} {first}"
    return f"every {step}{'nd' if step % 10 == 2 else 'th'} {noun} from {first} to {last}"


def _tiles(on: FftTiles, pair: int, down: int | None = None) -> str:
    """Say which two neighbouring tiles are meant, and of which channel if there are several.

    down  None: all tiles one above the other
    """
    across = 2 * (pair % on.pairs)
    at_y = "" if down is None else f", y {down}"
    of_channel = f" of channel {on.colour_of(pair) + 1}" if on.colours > 1 else ""
    return f"tiles x {across} and x {across + 1}{at_y}{of_channel}"


def _parts(on: FftTiles, pair: int) -> str:
    begin = on.left(pair) // on.channels - on.radius
    real = span("pixel", begin, begin + on.line)
    imaginary = span("pixel", begin + on.valid, begin + on.valid + on.line)
    return (
        f"{on.line} complex numbers, whose real parts are {real} and imaginary parts {imaginary}."
    )


def _overlap(on: FftTiles) -> str:
    if not on.radius:
        return "Neighbours share none of them."
    return f"{on.radius} at either end are halo, which neighbours load as well."


def _signed(words: str) -> str:
    return words.replace(" -", " −")
