"""Weights as bands of 8-bit digits along x and of halves down, as lanes hold them.

They are for tensor cores that sum bytes along x as integers, exactly, and those sums down the
columns in half precision.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from kernels.core.job import Job
from kernels.core.weights import UNIT_ROUNDOFF, separable_terms
from kernels.rungs.byte_bands import BLOCK, LANES, Places, Words, halves_in_pairs
from kernels.rungs.fixed_point import MAX_DIGITS, MIN_LARGEST, best_of, largest_of, lost, scales

WORDS_A_BLOCK = 4
FEWER_ROWS = 8  # of sums along x, in a product down the columns
SUM_BITS = 27  # of a sum along x: 11 and 8 go into the products down the columns
LEFT_OUT_BITS = 8
MOST = (1 << SUM_BITS) - 512  # that sums of bytes may come to; they may begin a little above zero
HALF_UNIT = 2.0**-24  # the smallest number of half precision


@dataclass(frozen=True, slots=True, eq=False)
class Row:
    """A filter's row of weights as integers times `undo`, and how their sums of bytes are scaled.

    digits    so many bytes hold every integer
    signed    whether these are signed; else no weight is negative
    integers  (K,)
    undo      what an integer times this is: its weight
    shift     sums of bytes times two to this have at most SUM_BITS bits
    """

    digits: int
    signed: bool
    integers: NDArray[np.int64]
    undo: float
    shift: int = 0

    @property
    def last_digit(self) -> int:
        """Return what sums are divided by before they are scaled: three digits do not fit."""
        return 256 if self.digits == MAX_DIGITS else 1

    @property
    def begin(self) -> int:
        """Return what a sum begins with, so that none of bytes is negative."""
        return -(255 * int(np.minimum(self.integers, 0).sum()) // self.last_digit)

    @property
    def most(self) -> float:
        """Return what a sum of bytes comes to at most, before it is scaled."""
        return max(1.0, 255 * float(np.abs(self.integers).sum()) / self.last_digit)

    @property
    def cut_off(self) -> float:
        """Return what the bits that are left out of a scaled sum come to, on average."""
        steps = 2.0 ** max(LEFT_OUT_BITS - self.shift, 0)  # a sum is one of so many of them
        return (steps - 1) / 2 * 2.0**self.shift

    def loses(self, exact: NDArray[np.float64]) -> float:
        """Return what sums may be off by for rounding, in roundings of float32 of all weights."""
        digits = float(lost(exact[None], self.integers[None].astype(np.float64) * self.undo))
        gain = max(float(np.abs(exact).sum()), MIN_LARGEST)
        return (digits / gain + 2.0 ** (LEFT_OUT_BITS - 1 - self.shift) / self.most) / UNIT_ROUNDOFF


def row_of(weights: NDArray[np.float32]) -> Row:
    """Return the row of separable `weights`, as what costs least of what holds it well enough."""
    return _row_of_bytes(np.ascontiguousarray(weights).tobytes(), len(weights))


@lru_cache(maxsize=64)
def _row_of_bytes(raw: bytes, ksize: int) -> Row:
    weights = np.frombuffer(raw, np.float32).reshape(ksize, ksize)
    exact = separable_terms(weights)[0][1].astype(np.float64)
    for row in _rows(exact):
        if row.loses(exact) <= may_lose(ksize):
            break
    row.integers.flags.writeable = False
    return row


def _rows(exact: NDArray[np.float64]) -> Iterator[Row]:
    """Make `exact` weights integers, the cheapest first: few digits, and sums as they are."""
    largest = max(float(np.abs(exact).max()), MIN_LARGEST)
    signed = bool(exact.min() < 0)
    times = max(float(np.abs(exact).sum()) / largest, 1.0)  # sums are so many of the largest's
    for digits in range(1, MAX_DIGITS + 1):
        top = largest_of(digits, signed)
        whole = int(MOST / (255 * times)) if digits == 2 else top  # sums need not be shortened
        for most in sorted({min(whole, top), top}):
            undo, _ = best_of(exact[None], scales(largest, most, digits == MAX_DIGITS))
            row = Row(digits, signed, np.rint(exact / undo).astype(np.int64), undo)
            highest = math.floor(math.log2(MOST / row.most))
            for shift in sorted({min(0, highest) if digits == 2 else highest, highest}):
                yield replace(row, shift=shift)


def may_lose(ksize: int) -> float:
    """Return what sums along x may be off by, in roundings of float32 of all of their weights.

    The check lets float32 round 2 (2 K + 24) times.  Weights down the columns lose 8 of these,
    samples 4, and each product with high bits up to 4.
    """
    groups = 1 + (ksize + 6) // FEWER_ROWS
    return 2 * (2 * ksize + 24) - 12 - 4 * -(-groups // 2)


def digit_bands(job: Job) -> tuple[Words, Row]:
    """Return what lanes hold of a job's weights, and the row that these are of.

    For each product along x, which takes two blocks of samples or, where channels interleave, four
    of which it leaves half out: for each digit, the most significant first, LANES × 4 words.  Where
    channels interleave, for each product LANES words: which two of each four samples they are for.
    Then `bands_down`; and what a sum along x begins with, and as float32s what a sum down the
    columns is multiplied by, and what is added to that; and 0.
    """
    row = row_of(job.weights)
    column = separable_terms(job.weights)[0][0].astype(np.float64)
    band = _Band(row, job)
    steps = range(band.steps)
    along = [band.words(s, digit) for s in steps for digit in range(row.digits)]
    places = [band.places(s) for s in steps] if band.is_sparse else []
    # Weights of sums along x as these are scaled.
    of_sum = column * row.undo * row.last_digit * 2.0**-row.shift
    down, exponent = _scaled(of_sum * 2.0 ** (SUM_BITS - 11) / HALF_UNIT)
    more = of_sum.sum() * (row.cut_off - row.begin * 2.0**row.shift)
    floats = np.array([2.0**exponent, more], np.float32)
    ends = np.array([row.begin, *floats.view(np.uint32), 0], np.uint32)
    return np.concatenate((*along, *places, bands_down(down), ends)), row


def bands_down(column: NDArray[np.float64]) -> Words:
    """Return the words that lanes hold of a band of `column`, for products down.

    Three times, for what rounding to halves lost, for halves of weights of sums 2⁸ times as small,
    and the halves, for each eight rows LANES × 2 words: those for eight rows and for the next
    eight, or the first.
    """
    ksize = len(column)
    groups = 1 + (ksize + 6) // FEWER_ROWS
    around = np.zeros(FEWER_ROWS * groups + 9)
    around[7 : 7 + ksize] = column
    lane = np.arange(LANES)
    at = 7 + 2 * (lane % 4) - lane // 4 + FEWER_ROWS * np.arange(groups)[:, None]
    two = around[np.stack((at, at + 1), -1)]  # (group, lane, 2)
    high = two.astype(np.float16)
    parts = [halves_in_pairs(each) for each in (two - high, two / 2**8, high)]
    return np.concatenate([np.stack((p, np.roll(p, -1, 0)), -1).ravel() for p in parts])


def _scaled(column: NDArray[np.float64]) -> tuple[NDArray[np.float64], int]:
    """Return `column` over two to an exponent, with which its largest is a half with ease."""
    largest = max(float(np.abs(column).max()), MIN_LARGEST)
    exponent = min(max(math.frexp(largest)[1] - 15, -126), 127)
    most = float(np.finfo(np.float16).max)
    return np.clip(np.ldexp(column, -exponent), -most, most), exponent


class _Band:
    """The row's band as lanes hold it, see digits.cuh and bytes.cuh.

    span   blocks that matter to the sums of one: its own, those beside it, and if their number is
           even one that is half on the right and half on the left
    steps  products
    """

    def __init__(self, row: Row, job: Job) -> None:
        self.integers, self.channels = row.integers, job.channels
        self.row, self.lane = row, np.arange(LANES)
        self.g, self.t = self.lane // 4, self.lane % 4
        self.halo = len(row.integers) // 2 * job.channels
        self.span = 1 + (self.halo + 7) // 8
        self.side = (self.span - 1) // 2
        self.is_sparse = job.channels > 1
        self.blocks = 4 if self.is_sparse else 2
        self.steps = -(-self.span // self.blocks)

    def words(self, s: int, digit: int) -> Words:
        """Return four words a lane: of two sums, of which each has two of its words in turn."""
        g, t = self.g[:, None, None], self.t[:, None, None]
        i, byte = np.arange(4)[:, None], np.arange(4)
        sums = 2 * g + i % 2
        column = 16 * (i // 2) + 4 * t + byte
        word = column // (2 if self.is_sparse else 4)
        corner = self._corner(s, word, sums)
        if self.is_sparse:
            kept = self._kept(corner)
            away = corner + np.where(byte % 2 == 0, kept[0], kept[1])
        else:
            away = corner + byte
        return _as_words(self._digit(away, digit)).ravel()

    def places(self, s: int) -> Words:
        """Return which two of four samples count, a lane's of half of a row: eight fours."""
        told = np.zeros(LANES, np.uint32)
        for i in range(8):
            word = self.t // 2 * 8 + i
            first, second = self._kept(self._corner(s, word, 2 * self.g + self.t % 2))
            told |= ((first | second << 2) << 4 * i).astype(np.uint32)
        return told

    def _digit(self, away: Places, digit: int) -> Places:
        tap, rest = np.divmod(away + self.halo, self.channels)
        is_tap = (rest == 0) & (tap >= 0) & (tap < len(self.integers))
        whole = self.integers[np.clip(tap, 0, len(self.integers) - 1)]
        place = 8 * (self.row.digits - 1 - digit)
        carry = 0x808080 & (1 << place) - 1 if self.row.signed else 0
        digits: Places = np.where(is_tap, (whole + carry) >> place & 255, 0)
        return digits

    def _corner(self, s: int, word: Places, sums: Places) -> Places:
        """Return how far the first sample of a word is from a sum, far away where no block is."""
        block, t = self.blocks * s + word // WORDS_A_BLOCK, word % WORDS_A_BLOCK
        half = np.where(t < 2, BLOCK * (self.side + 1), -BLOCK * (self.side + 1))
        blocks_away = np.where(block <= 2 * self.side, BLOCK * (block - self.side), half)
        found: Places = blocks_away + 4 * t - sums
        return np.where(block < self.span, found, found + self.channels * (1 << 20))

    def _kept(self, corner: Places) -> tuple[Places, Places]:
        """Return the two places in a four whose samples may be of the sum's channel."""
        channel = -corner % self.channels
        first: Places = np.minimum(channel, 2) if self.channels == 4 else channel
        if self.channels == 2:
            return first, first + 2
        second: Places = np.where((self.channels == 3) & (first == 1), 2, 3)
        return first, second


def _as_words(digits: Places) -> Words:
    """Return four neighbours along the last axis as a word, the first in the low bits."""
    wide = digits.astype(np.uint32)
    words: Words = np.bitwise_or.reduce(wide << 8 * np.arange(4, dtype=np.uint32), -1)
    return words
