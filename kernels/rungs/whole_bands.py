"""Whole weights as bands of signed bytes, as a warpgroup of tensor_windows holds them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kernels.core.job import Job
from kernels.core.weights import WholeNumbers, whole_numbers

THREADS = np.arange(128)  # of a warpgroup: a warp for each of four rows of the answer
SUMS, PIECE = 16, 16  # neighbours that a column's sums are of; bytes of a piece
MANY_SAMPLES, STRIP, SHORT_STRIP = 1 << 21, 2048, 768
Integers = NDArray[np.int64]


def strip_of(job: Job) -> int:
    """Samples of a row that a block makes: few of a small picture, so that all GPU has to do."""
    return STRIP if job.picture.size > MANY_SAMPLES else SHORT_STRIP


def fits(job: Job) -> bool:
    """Whether the weights are whole numbers of eight bits whose sums are exact as float32."""
    whole = whole_numbers(job.correlation.weights, job.correlation.offset)
    return whole is not None and bool(
        whole.weights.min() >= -128
        and whole.weights.max() <= 127
        and 255 * int(np.abs(whole.weights).sum()) + abs(whole.offset) < 1 << 24
    )


def whole_bands(job: Job) -> tuple[NDArray[np.uint32], WholeNumbers]:
    """(2, 1 + products, 128, 4) words, and the numbers they are of.

    [0, 0] is which two of four samples a lane's weights are for, as `_places` has it; behind it
    each product's left operand as a lane holds it: 16 bytes, of sums 2 · g and 2 · g + 1.  [1] is
    the same upside down.  Of other weights than whole ones, those of none.
    """
    correlation, ksize, channels = job.correlation, job.ksize, job.channels
    whole = whole_numbers(correlation.weights, correlation.offset)
    if whole is None:
        whole = WholeNumbers(np.zeros((ksize, ksize), np.int64), 0, 1)
    parts = [np.array(each) for each in products_of(ksize, channels)]
    ways = []
    for weights in (whole.weights, whole.weights[::-1]):
        bands = [_band(part, weights, channels, has_alpha=job.has_alpha) for part in parts]
        ways.append(np.stack([_places(channels), *bands]))
    return np.ascontiguousarray(np.stack(ways)), whole


def products_of(ksize: int, channels: int) -> list[list[tuple[int, int]]]:
    """Of each product the (row, piece)s that its columns are made of, in the rung's order."""
    rows = ksize + 3
    if channels == 1:
        return [
            pieces
            for row in range(0, rows, 2)
            for pieces in (
                [(row, 0), (row, 1)],
                [(row + 1, 0), (row + 1, 1)],
                [(row, 2), (row + 1, 2)],
            )
        ]
    singles = 2 if rows % 4 == 2 else 0
    fours = rows // 4 if singles else (ksize + 2) // 4 + 1
    found = [
        [(4 * four + row, piece) for row in range(4)] for four in range(fours) for piece in range(3)
    ]
    return found + [[(4 * fours + row, piece) for piece in range(4)] for row in range(singles)]


def kept(
    channels: int, piece: Integers, word: Integers, column: Integers
) -> tuple[Integers, Integers]:
    """The two places in a word of four samples that may be of the channel of sum `column`."""
    first = (64 * channels - (PIECE * piece + 4 * word - PIECE - column)) % channels
    one = np.where((channels == 4) & (first == 3), 2, first)
    return one, one + 2 if channels == 2 else np.where((channels == 3) & (one == 1), 2, 3)


def _places(channels: int) -> NDArray[np.uint32]:
    """(128, 4) words: for pieces 0 to 2 of four rows, and for all four pieces of a row.

    Two bits a place: a lane tells of half the depth, of row 2 · g + lane % 2; lanes 4 · g + 2 and
    the next of the second half.
    """
    if channels == 1:
        return np.zeros((len(THREADS), 4), np.uint32)
    lane = THREADS[:, None, None] % 32
    piece, word = np.arange(4)[:, None], np.arange(4)
    one, other = kept(channels, piece, word, lane // 4 * 2 + lane % 2)
    of_piece = ((one | other << 2) << 4 * word).sum(axis=-1)  # (128, 4), sixteen bits each
    is_second = lane[:, 0] // 2 % 2 == 1
    low, high = (np.where(is_second, of_piece[:, [n + 2]], of_piece[:, [n]]) for n in (0, 1))
    return np.hstack((of_piece[:, :3] * 0x10001, low | high << 16)).astype(np.uint32)


def _band(
    pieces: Integers, weights: Integers, channels: int, *, has_alpha: bool
) -> NDArray[np.uint32]:
    """(128, 4) words: the left operand of a product of those (row, piece)s."""
    thread, register, byte = THREADS[:, None, None], np.arange(4)[:, None], np.arange(4)
    warp, lane = np.divmod(thread, 32)
    column = lane // 4 * 2 + register % 2
    depth = register // 2 * 16 + lane % 4 * 4 + byte
    if channels == 1:
        row, piece = pieces[depth // 16, 0], pieces[depth // 16, 1]
        at = depth % 16
    else:
        row, piece = pieces[depth // 8, 0], pieces[depth // 8, 1]
        word = depth % 8 // 2
        one, other = kept(channels, piece, word, column)
        at = 4 * word + np.where(depth % 2, other, one)
    ksize = len(weights)
    y, x = row - warp, PIECE * piece + at - PIECE - column + ksize // 2 * channels
    is_tap = (y >= 0) & (y < ksize) & (x >= 0) & (x < ksize * channels) & (x % channels == 0)
    found = np.where(is_tap, weights[y.clip(0, ksize - 1), (x // channels).clip(0, ksize - 1)], 0)
    if has_alpha:
        is_centre = (y == ksize // 2) & (x == ksize // 2 * channels)
        found = np.where(column % channels == channels - 1, is_centre, found)
    return found.astype(np.int8).view(np.uint32)[..., 0]
