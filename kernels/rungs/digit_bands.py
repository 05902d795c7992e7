"""Weights as 8-bit digits and as bands of halves, as lanes of tensor cores hold them."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from kernels.core.job import Job
from kernels.core.weights import UNIT_ROUNDOFF, gain, once_per_weights, separable_terms

MAX_DIGITS = 3
MIN_LARGEST = 2.0**-90  # smaller weights are not scaled up so far
MAX_SCALES = 4096  # that are tried
SLICE = 1 << 14  # scaled weights at once: they stay in the cache


@dataclass(frozen=True, slots=True, eq=False)
class FixedPoint:
    """Weights as integers times `undo`, a float32."""

    digits: int  # so many bytes hold every integer
    signed: bool  # whether these are signed; else no weight is negative
    integers: NDArray[np.signedinteger]  # (K, K) int32; of a `Row` (K,) int64
    undo: float  # what an integer times this is: its weight


def may_lose(weights: NDArray[np.float32]) -> float:
    """The error that the rounding of weights may cause in sums of samples up to 1.

    The check lets float32 round 2 (K² + 40) times, of which 8 are left to the sums.
    """
    return (2 * (weights.size + 40) - 8) * UNIT_ROUNDOFF * gain(weights)


def lost(exact: NDArray[np.float64], rounded: NDArray[np.float64]) -> NDArray[np.float64]:
    """The largest error of sums of samples from 0 to 1, over the last two axes.

    It is where samples are 1 for errors of one sign, and 0 for the others.
    """
    errors = rounded - exact
    too_large, too_small = (np.maximum(each, 0).sum(axis=(-2, -1)) for each in (errors, -errors))
    return np.asarray(np.maximum(too_large, too_small))


def largest_of(digits: int, signed: bool) -> int:
    """Return the largest integer that so many bytes hold, and its negative if they are signed."""
    return sum((127 if signed else 255) << 8 * i for i in range(digits))


@once_per_weights
def fixed_point(weights: NDArray[np.float32]) -> FixedPoint:
    """Return `weights` in the fewest digits that hold them, scaled so that these lose least.

    Any sums of bytes may lose as much as `may_lose` says; the digits of three bytes always do less.
    """
    exact = weights.astype(np.float64)
    largest = max(float(np.abs(exact).max()), MIN_LARGEST)
    signed = bool(exact.min() < 0)
    for digits in range(1, MAX_DIGITS + 1):
        undos = scales(largest, largest_of(digits, signed), digits == MAX_DIGITS)
        undo, loss = best_of(exact, undos)
        if loss <= may_lose(weights) or digits == MAX_DIGITS:
            break
    integers = np.rint(exact / undo).astype(np.int32)
    integers.flags.writeable = False
    return FixedPoint(digits, signed, integers, undo)


def best_of(exact: NDArray[np.float64], undos: NDArray[np.float64]) -> tuple[float, float]:
    """Return that of `undos` with which weights lose least, the first of equals, and how much."""
    losses = []
    at_once = max(1, SLICE // exact.size)
    for first in range(0, len(undos), at_once):
        tried = undos[first : first + at_once, None, None]
        losses.append(lost(exact, np.rint(exact / tried) * tried))
    all_losses = np.concatenate(losses)
    best = int(all_losses.argmin())
    return float(undos[best]), float(all_losses[best])


def scales(largest: float, top: int, one: bool) -> NDArray[np.float64]:
    """Return numbers whose multiples weights may become, (n,): of float32.

    With a power of two weights like 1/16 stay exact; the others make an integer of the largest.
    """
    power = math.ldexp(1.0, math.frexp(largest)[1] - math.frexp(top)[1])
    powers = [power if round(largest / power) <= top else 2 * power]
    if one:
        return np.array(powers)
    least = max(1, top // 2) if top > MAX_SCALES else 1
    wanted = np.unique(np.linspace(top, least, min(MAX_SCALES, top - least + 1)).astype(int))[::-1]
    undos = (largest / wanted).astype(np.float32).astype(np.float64)
    return np.concatenate((powers, undos[np.rint(largest / undos) <= top]))


LANES = 32
BLOCK = 16  # samples: a column of a product's right matrix, and as many sums

Words = NDArray[np.uint32]
Places = NDArray[np.int64]


FEWER_ROWS = 8  # of sums along x, in a product down the columns
SUM_BITS = 27  # of a sum along x: 11 and 8 go into the products down the columns
LEFT_OUT_BITS = 8
MOST = (1 << SUM_BITS) - 512  # that sums of bytes may come to; they may begin a little above zero
HALF_UNIT = 2.0**-24  # the smallest number of half precision


@dataclass(frozen=True, slots=True, eq=False)
class Row(FixedPoint):
    """A filter's row of weights; sums of bytes times two to `shift` have at most SUM_BITS bits."""

    shift: int = 0

    @property
    def last_digit(self) -> int:
        """The divisor of sums before they are scaled: three digits do not fit."""
        return 256 if self.digits == MAX_DIGITS else 1

    @property
    def begin(self) -> int:
        """The initial value of a sum that keeps sums of bytes from being negative."""
        return -(255 * int(np.minimum(self.integers, 0).sum()) // self.last_digit)

    @property
    def most(self) -> float:
        """The largest sum of bytes, before it is scaled."""
        return max(1.0, 255 * float(np.abs(self.integers).sum()) / self.last_digit)

    @property
    def cut_off(self) -> float:
        """The average value of the bits that are left out of a scaled sum."""
        steps = 2.0 ** max(LEFT_OUT_BITS - self.shift, 0)  # a sum is one of so many of them
        return (steps - 1) / 2 * 2.0**self.shift

    def loses(self, exact: NDArray[np.float64]) -> float:
        """The error of sums by rounding, in roundings of float32 of all weights."""
        digits = float(lost(exact[None], self.integers[None].astype(np.float64) * self.undo))
        gain = max(float(np.abs(exact).sum()), MIN_LARGEST)
        return (digits / gain + 2.0 ** (LEFT_OUT_BITS - 1 - self.shift) / self.most) / UNIT_ROUNDOFF


@once_per_weights
def row_of(weights: NDArray[np.float32]) -> Row:
    """The row of separable `weights`, as the cheapest integers that hold it well enough."""
    exact = separable_terms(weights)[0][1].astype(np.float64)
    for row in _rows(exact):
        if row.loses(exact) <= row_may_lose(len(weights)):
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


def row_may_lose(ksize: int) -> float:
    """The allowed error of sums along x, in roundings of float32 of all their weights.

    The check lets float32 round 2 (2 K + 24) times.  Weights down the columns lose 8 of these,
    samples 4, and each product with high bits up to 4.
    """
    groups = 1 + (ksize + 6) // FEWER_ROWS
    return 2 * (2 * ksize + 24) - 12 - 4 * -(-groups // 2)


def digit_bands(job: Job) -> tuple[Words, Row]:
    """The lanes' words of a job's weights, and the row that they are of.

    For each product along x, which takes two blocks of samples or, where channels interleave, four
    of which it leaves half out: for each digit, the most significant first, LANES × 4 words.  Where
    channels interleave, for each product LANES words: which two of each four samples they are for.
    Then `bands_down`; and what a sum along x begins with, and as float32s what a sum down the
    columns is multiplied by, and what is added to that; and 0.
    """
    row = row_of(job.correlation.weights)
    column = separable_terms(job.correlation.weights)[0][0].astype(np.float64)
    band = _DigitBand(row, job)
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
    halves = [each.astype(np.float16) for each in (two - high, two / 2**8, high)]
    parts = [each.view(np.uint32)[..., 0] for each in halves]  # two a word, the first in low bits
    return np.concatenate([np.stack((p, np.roll(p, -1, 0)), -1).ravel() for p in parts])


def _scaled(column: NDArray[np.float64]) -> tuple[NDArray[np.float64], int]:
    """Return `column` over two to an exponent, with which its largest is a half with ease."""
    largest = max(float(np.abs(column).max()), MIN_LARGEST)
    exponent = min(max(math.frexp(largest)[1] - 15, -126), 127)
    most = float(np.finfo(np.float16).max)
    return np.clip(np.ldexp(column, -exponent), -most, most), exponent


class _DigitBand:
    """A band of a row's digits as lanes hold it, see digits.cuh, in products of `blocks` blocks.

    span   blocks that matter to the sums of one: its own, those beside it, and if their number is
           even one that is half on the right and half on the left
    steps  products
    """

    def __init__(self, row: Row, job: Job) -> None:
        self.digits, self.signed, self.row = row.digits, row.signed, row.integers
        self.channels, self.is_sparse = job.channels, job.channels > 1
        self.blocks = 4 if self.is_sparse else 2
        self.g, self.t = np.divmod(np.arange(LANES)[:, None], 4)
        self.halo = len(self.row) // 2 * job.channels
        self.span = 1 + (self.halo + 7) // 8
        self.side = (self.span - 1) // 2
        self.steps = -(-self.span // self.blocks)

    def away(self, block: int | Places, t: Places) -> Places:
        """Distance of block number `block` from the sums' own, for word t."""
        half = np.where(t < 2, BLOCK * (self.side + 1), -BLOCK * (self.side + 1))
        is_whole = np.asarray(block) <= 2 * self.side
        return np.asarray(np.where(is_whole, BLOCK * (block - self.side), half))

    def taps(self, away: Places) -> Places:
        """Weights of the samples so far away: 0 where they have none."""
        tap, rest = np.divmod(away + self.halo, self.channels)
        is_tap = (rest == 0) & (tap >= 0) & (tap < len(self.row))
        return np.where(is_tap, self.row[np.clip(tap, 0, len(self.row) - 1)], 0)

    def kept(self, corner: Places) -> Places:
        """The two of each four, which begins so far from its sum, that may be of its channel."""
        is_other = (corner[..., None] + np.arange(4)) % self.channels != 0
        return np.sort(np.argsort(is_other, axis=-1, kind="stable")[..., :2], axis=-1)

    def words(self, s: int, digit: int) -> Words:
        """Four words per lane: of two sums, of which each has two of its words in turn."""
        i, byte = np.arange(4)[:, None], np.arange(4)
        column = 16 * (i // 2) + 4 * self.t[..., None] + byte
        sums = 2 * self.g[..., None] + i % 2
        corner = self._corner(s, column // (2 if self.is_sparse else 4), sums)
        kept = self.kept(corner)
        away = corner + (np.where(byte % 2, kept[..., 1], kept[..., 0]) if self.is_sparse else byte)
        place = 8 * (self.digits - 1 - digit)
        carry = 0x808080 & (1 << place) - 1 if self.signed else 0
        wide = ((self.taps(away) + carry) >> place & 255).astype(np.uint32)
        words: Words = np.bitwise_or.reduce(wide << 8 * np.arange(4, dtype=np.uint32), -1)
        return words.ravel()

    def places(self, s: int) -> Words:
        """The kept two of each of eight fours, (LANES,): two bits each."""
        word, shifts = self.t // 2 * 8 + np.arange(8), np.arange(0, LANES, 2).reshape(8, 2)
        kept = self.kept(self._corner(s, word, 2 * self.g + self.t % 2))
        words: Words = (kept << shifts).sum((1, 2)).astype(np.uint32)
        return words

    def _corner(self, s: int, word: Places, sums: Places) -> Places:
        """Distance of a word's first sample from a sum; far away where no block is."""
        block, t = self.blocks * s + word // 4, word % 4
        found = self.away(block, t) + 4 * t - sums
        return np.where(block < self.span, found, found + self.channels * (1 << 20))
