"""Weights as bands of bytes, of one digit or two, as a warpgroup of tensor_windows holds them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kernels.core.job import Job
from kernels.core.weights import WholeNumbers, whole_numbers
from kernels.rungs.digit_bands import fixed_point

THREADS = np.arange(128)  # of a warpgroup
PIECE = 16  # bytes
MOST_OF_ONE = 11  # that size of one digit
MANY_SAMPLES = 1 << 21
STRIPS = (2048, 768), (1024, 512)  # of one digit, and of two
Integers = NDArray[np.int64]


def digits_of(job: Job) -> int:
    """Bytes of a weight as products have them: 1 of whole numbers that fit, else 2, or 3 if those
    lose more than the check allows."""
    return 1 if fits(job) else max(2, fixed_point(job.correlation.weights).digits)


def strip_of(job: Job) -> int:
    """Samples of a row that a block makes: few of a small picture, so that all GPU has to do."""
    long, short = STRIPS[digits_of(job) > 1]
    return long if job.picture.size > MANY_SAMPLES else short


def fits(job: Job) -> bool:
    """Whether the weights are whole numbers of eight bits whose sums are exact as float32, and so
    few that a strip twice as long has registers for them."""
    if job.ksize > MOST_OF_ONE or job.radius * job.channels > PIECE:
        return False
    whole = whole_numbers(job.correlation.weights, job.correlation.offset)
    return whole is not None and bool(
        whole.weights.min() >= -128
        and whole.weights.max() <= 127
        and 255 * int(np.abs(whole.weights).sum()) + abs(whole.offset) < 1 << 24
    )


def whole_bands(job: Job) -> tuple[NDArray[np.uint32], WholeNumbers]:
    """(2, 1 + products, 128, 4) words, and the numbers they are of.

    [0, 0] is which two of four samples a lane's weights are for, as `places` has it; behind it
    each product's left operand as a lane holds it: 16 bytes, of sums 2 · g and 2 · g + 1.  [1] is
    the same upside down.
    """
    whole = whole_numbers(job.correlation.weights, job.correlation.offset)
    assert whole is not None, "as `fits` says"
    layout = Layout(job.ksize, job.channels, 1, job.has_alpha)
    return np.stack([layout.words(each) for each in (whole.weights, whole.weights[::-1])]), whole


def bands_of_two_digits(job: Job) -> tuple[NDArray[np.uint32], bool]:
    """(2, 2 + left operands, 128, 4) words, and whether their bytes are signed.

    As `whole_bands`, but that a lane holds the high byte of a weight of one sum and the low one;
    behind them what its sums are multiplied by and what is added then, as float32, and the last of
    `places`.
    """
    fixed = fixed_point(job.correlation.weights)
    layout = Layout(job.ksize, job.channels, 2, job.has_alpha, fixed.signed)
    last = np.zeros((1, len(THREADS), 4), np.float32)
    is_copied = job.has_alpha & (layout.sums(0)[:, 0, 0] % job.channels == job.channels - 1)
    last[0, :, 0] = np.where(is_copied, 1, fixed.undo)
    last[0, :, 1] = np.where(is_copied, 0, job.correlation.offset)
    ends = last.view(np.uint32)
    ends[0, :, 2] = layout.places()[:, -1]
    ways = (fixed.integers, fixed.integers[::-1])
    words = [np.concatenate((layout.words(each), ends)) for each in ways]
    return np.stack(words), fixed.signed


class Layout:
    """Which weights a product's left operand has where: 64 rows for sums of windows, 32 numbers.

    With one digit of a weight these are 16 neighbouring sums of four rows of the answer, a warp's
    of one; with two 8 sums of a warp, each high and low.  Two passes make four rows then: two rows
    of 16 sums each, so that few rows of the picture are multiplied with zeros; or, where these 8
    need two pieces alone and that wastes less, the left of four rows and the right, `is_narrow`.
    Else rows begin 8 bytes before a piece where that makes one piece less, `is_off`.
    """

    def __init__(
        self, ksize: int, channels: int, digits: int, has_alpha: bool = False, signed: bool = True
    ) -> None:
        self.ksize, self.channels, self.digits = ksize, channels, digits
        self.has_alpha, self.signed = has_alpha, signed
        self.side = -(-(ksize // 2 * channels) // PIECE)  # pieces that count on either side
        self.is_narrow = digits == 2 and channels > 1 and ksize == 5
        self.is_off = not self.is_narrow and 0 < ksize // 2 * channels % PIECE <= PIECE // 2
        self.beside = PIECE * self.side - 8 * self.is_off  # bytes from piece 0 to the sums

    def products(self) -> list[list[tuple[int, int]]]:
        """Of each product the (row, piece)s that its columns are made of, in the rung's order."""
        rows = self.ksize + (3 if self.digits == 1 or self.is_narrow else 1)
        if self.channels == 1:
            return [[(row, 0), (row, 1)] for row in range(rows)]
        singles = 2 if rows % 4 == 2 and self.side == 1 + self.is_off else 0
        fours = rows // 4 if singles else -(-rows // 4)
        pieces_a_row = 2 if self.is_narrow else 2 * self.side + 1 - self.is_off
        found = [
            [(4 * four + row, piece) for row in range(4)]
            for four in range(fours)
            for piece in range(pieces_a_row)
        ]
        return found + [[(4 * fours + row, piece) for piece in range(4)] for row in range(singles)]

    def lefts(self) -> list[tuple[int, list[tuple[int, int]]]]:
        """The pass of each left operand, where passes have their own, and what it is for."""
        if not self.is_narrow:
            return [(0, each) for each in self.products()]
        return [(n, [(y, x + n) for y, x in each]) for n in range(2) for each in self.products()]

    def sums(self, of_pass: int) -> Integers:
        """(128, 4, 1): which of 16 sums a thread's register has weights of."""
        warp, lane = np.divmod(THREADS[:, None, None], 32)
        g, register = lane // 4, np.arange(4)[:, None]
        if self.digits == 1:
            return np.asarray(g * 2 + register % 2)
        half = of_pass if self.is_narrow else warp % 2
        return np.asarray(8 * half + g % 4 * 2 + g // 4 + 0 * register)

    def words(self, weights: Integers) -> NDArray[np.uint32]:
        """(1 + left operands, 128, 4): four of `places`, and then each."""
        bands = [self._band(n, np.array(part), weights) for n, part in self.lefts()]
        return np.stack([self.places()[:, :4], *bands])

    def places(self) -> NDArray[np.uint32]:
        """(128, 4 or 5) words: for pieces 0 to 2 or 3 of four rows, and for all of a row; if it is
        narrow for two pieces of the left sums, and for two of the right; or for five pieces.

        Two bits a place: a lane tells of half the depth, of row g + lane % 2 · 8; lanes 4 · g + 2
        and the next of the second half.
        """
        if self.channels == 1:
            return np.zeros((len(THREADS), 4), np.uint32)
        column = np.take_along_axis(self.sums(0), THREADS[:, None, None] % 2, axis=1)
        if self.is_narrow:
            both = (self._kept_bits(column + 8 * n, np.arange(n, n + 2)) for n in range(2))
            return np.hstack([each * 0x10001 for each in both]).astype(np.uint32)
        if self.side == 2 and not self.is_off:
            return (self._kept_bits(column, np.arange(5)) * 0x10001).astype(np.uint32)
        of_piece = self._kept_bits(column, np.arange(4))
        is_second = THREADS[:, None] // 2 % 2 == 1
        low, high = (np.where(is_second, of_piece[:, [n + 2]], of_piece[:, [n]]) for n in (0, 1))
        pieces = of_piece[:, : 3 + (self.side == 2)]
        return np.hstack((pieces * 0x10001, low | high << 16)).astype(np.uint32)

    def _kept(self, piece: Integers, word: Integers, column: Integers) -> tuple[Integers, Integers]:
        """The two places in a word of four samples that may be of the channel of sum `column`."""
        channels = self.channels
        first = (column - PIECE * piece + self.beside - 4 * word) % channels
        one = np.where((channels == 4) & (first == 3), 2, first)
        return one, one + 2 if channels == 2 else np.where((channels == 3) & (one == 1), 2, 3)

    def _kept_bits(self, column: Integers, pieces: Integers) -> Integers:
        """(128, pieces), sixteen bits each: `kept` of a piece's four words."""
        word = np.arange(4)
        one, other = self._kept(pieces[:, None], word, column)
        return np.asarray(((one | other << 2) << 4 * word).sum(axis=-1))

    def _band(self, of_pass: int, pieces: Integers, weights: Integers) -> NDArray[np.uint32]:
        """(128, 4) words: the left operand of a product of those (row, piece)s."""
        register, byte = np.arange(4)[:, None], np.arange(4)
        warp, lane = np.divmod(THREADS[:, None, None], 32)
        column, channels, ksize = self.sums(of_pass), self.channels, self.ksize
        depth = register // 2 * 16 + lane % 4 * 4 + byte
        if channels == 1:
            row, piece = pieces[depth // 16, 0], pieces[depth // 16, 1]
            at = depth % 16
        else:
            row, piece = pieces[depth // 8, 0], pieces[depth // 8, 1]
            word = depth % 8 // 2
            one, other = self._kept(piece, word, column)
            at = 4 * word + np.where(depth % 2, other, one)
        y = row - (warp if self.digits == 1 or self.is_narrow else warp // 2)
        x = PIECE * piece - self.beside + at - column + ksize // 2 * channels
        is_tap = (y >= 0) & (y < ksize) & (x >= 0) & (x < ksize * channels) & (x % channels == 0)
        tap = weights[y.clip(0, ksize - 1), (x // channels).clip(0, ksize - 1)]
        found = np.where(is_tap, tap, 0)
        if self.has_alpha:
            is_centre = (y == ksize // 2) & (x == ksize // 2 * channels)
            found = np.where(column % channels == channels - 1, is_centre, found)
        if self.digits == 2:  # high in row g, low in row g + 8
            found = np.where(register % 2, found, (found + 0x80 * self.signed) >> 8)
        return (found & 255).astype(np.uint8).view(np.uint32)[..., 0]
