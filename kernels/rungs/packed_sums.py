"""Sums of whole numbers as words_of_two has them: two of sixteen bits in a word."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from kernels.core.job import Job
from kernels.core.weights import whole_numbers

LARGEST = 255  # a sample
CHUNK = 16  # samples that a lane loads at once
STRIP = 512  # samples of a row that a warp makes
SMALL = 4 << 20  # samples of a small picture at most, its rows as whole strips
# Of 3 × 3, over divisors: those whose sums floats of 16 bits add, divide and round exactly.
OF_HALVES: dict[tuple[int, ...], int] = {(1, 1, 1, 1, 1, 1): 9, (1, 2, 1, 1, 2, 1): 16}
Integers = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class PackedSums:
    """What two sums in a word are made of, and what is done with them.

    A sum begins with `start`, is at least 0 then, and rounds to a sample by cutting off what is
    left of dividing by `divisor`, but for ties; `bias`, a multiple of 2 · divisor so that these go
    to the same integer, is in it.
    """

    numbers: tuple[int, ...]  # a column and then a row, or the weights row by row
    is_separable: bool
    # The answer is this many times the sample, less the rounded sum; 0: the rounded sum itself.
    centre: int
    divisor: int
    start: int
    bias: int
    saturates: bool  # whether a quotient may lie outside 0 to 255: the sums are signed then
    bits: int  # that a sum takes; more than 16: no word holds two

    @property
    def in_halves(self) -> bool:
        """Whether it is a box or a Gaussian of 3 × 3, to which nothing else is added."""
        is_one = self.is_separable and OF_HALVES.get(self.numbers) == self.divisor
        return is_one and self.start == (self.divisor - 1) // 2


def packed_sums(job: Job) -> PackedSums:
    """The sums for a job whose weights are whole numbers; for others those of no weights."""
    weights, offset = job.correlation.weights, job.correlation.offset
    whole = whole_numbers(weights, offset)
    integers = np.zeros(weights.shape, np.int64) if whole is None else whole.weights
    divisor, lift = (1, 0) if whole is None else (whole.divisor, whole.offset)
    if (pair := _column_and_row(integers)) is not None:
        return _sums(integers, (*pair[0], *pair[1]), divisor, lift, is_separable=True)
    dense = _sums(integers, tuple(map(int, integers.ravel())), divisor, lift)
    if lift or (dense.bits <= 16 and job.ksize == 3):
        return dense
    return _blur_from_centre(integers, divisor) or dense


def rows_of(job: Job) -> int:
    """Rows that a warp makes of a small picture, all of whose rows it asks for at once; else 0."""
    samples = -(-job.width * job.channels // STRIP) * STRIP * job.height
    return 0 if samples > SMALL else 2 if job.ksize <= 5 else 4


def knobs_of(job: Job) -> dict[str, int | str]:
    """Return the macros that the rung is written in.

    ROWS is of rows of the answer; START and BIAS are parts of a sample, of which DIVISOR make one.
    """
    sums, row = packed_sums(job), job.width * job.channels  # in samples, as is how far it reaches
    mirrored = job.channels if job.border == "mirror" else 0
    reaches_far = job.ksize // 2 * job.channels + mirrored > CHUNK
    return {
        "ROWS": rows_of(job),
        "IS_BY_SAMPLE": int(job.border == "wrap" or row % CHUNK != 0 or reaches_far),
        "WHOLE_WEIGHTS": ",".join(map(str, sums.numbers)),
        "IS_SEPARABLE": int(sums.is_separable),
        "CENTRE": sums.centre,
        "DIVISOR": sums.divisor,
        "START": sums.start,
        "BIAS": sums.bias,
        "SATURATES": int(sums.saturates),
        "IN_HALVES": int(sums.in_halves),
    }


def _sums(
    integers: Integers,
    numbers: tuple[int, ...],
    divisor: int,
    lift: int,
    *,
    is_separable: bool = False,
) -> PackedSums:
    low, high = (
        LARGEST * int(each.sum()) + lift for each in (integers.clip(max=0), integers.clip(0))
    )
    unit = 2 * divisor
    bias = -(min(low, 0) // unit) * unit
    half = (divisor - 1) // 2
    saturates = low < 0 or high > LARGEST * divisor + half
    largest = high + bias + half + 1
    if saturates:  # sums and what they are compared with have a sign
        largest = 2 * max(largest, (LARGEST + 1) * divisor - 1)
    return PackedSums(
        numbers, is_separable, 0, divisor, bias + lift + half, bias, saturates, largest.bit_length()
    )


def _column_and_row(integers: Integers) -> tuple[tuple[int, ...], tuple[int, ...]] | None:
    """The whole column and row whose product is `integers`; None where there are none."""
    y, x = np.unravel_index(np.abs(integers).argmax(), integers.shape)
    common = int(np.gcd.reduce(integers[y])) or 1
    row = integers[y] // common
    column = integers[:, x] // (int(row[x]) or 1)
    is_product = np.array_equal(np.outer(column, row), integers)
    return (tuple(map(int, column)), tuple(map(int, row))) if is_product else None


def _blur_from_centre(integers: Integers, divisor: int) -> PackedSums | None:
    """Sums of separable weights, to be taken away from a multiple of the sample: an unsharp mask.

    The multiple is even: a tie then rounds to the same integer as before it was taken away.
    """
    radius = len(integers) // 2
    first = -integers[0]
    if not first.any():
        return None
    row = first // int(np.gcd.reduce(first))
    x = int(np.flatnonzero(row)[0])
    column = -integers[:, x] // int(row[x])
    if x == radius:
        return None
    rest = np.outer(column, row) + integers
    centre, left = divmod(int(rest[radius, radius]), divisor)
    rest[radius, radius] = 0
    if rest.any() or left or (centre % 2 and divisor > 1):
        return None
    sums = _sums(
        np.outer(column, row), (*map(int, column), *map(int, row)), divisor, 0, is_separable=True
    )
    fits = not sums.saturates and 0 < centre < 64
    return replace(sums, centre=centre) if fits else None
