"""The weights in the form that a rung wants them in: a function of FORMS each."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernels.core.cache import LruCache
from kernels.core.job import Job
from kernels.core.nonlinear import Bilateral, Guided, NonLocalMeans
from kernels.core.step import Filter
from kernels.core.weights import separable_terms
from kernels.rungs.digit_bands import digit_bands, fixed_point
from kernels.rungs.list_steps import list_operands
from kernels.rungs.packed_sums import knobs_of
from kernels.rungs.window_bands import bands_of_two_digits, digits_of, strip_of, whole_bands


@dataclass(frozen=True, slots=True, eq=False)
class Operands:
    """The arrays that a launch needs beside pictures.

    constants  by the name of the __constant__ array: to be copied there before every launch
    arguments  arrays in global memory that the kernel takes after its pictures, in this order
    knobs      further -D macros, for what depends on the weights alone
    """

    constants: dict[str, NDArray[Any]] = field(default_factory=dict)
    arguments: tuple[NDArray[Any], ...] = ()
    knobs: Mapping[str, int | str] = field(default_factory=dict)


def _separable(job: Job) -> Operands:
    column, row = separable_terms(job.correlation.weights)[0]
    return Operands({"COLUMN": column, "ROW": row})


def _low_rank(job: Job) -> Operands:
    columns, rows = map(np.stack, zip(*separable_terms(job.correlation.weights), strict=True))
    return Operands({"COLUMNS": columns, "ROWS": rows}, knobs={"RANK": len(columns)})


def _median(job: Job) -> Operands:
    return Operands(knobs={"IS_LARGE": int(is_large(job))})


def _fast_fir(job: Job) -> Operands:
    """WEIGHTS[KSIZE, ROW], and PAIRED[RADIUS + 1, ROW]: each even row and the odd one below, added.

    Behind the KSIZE numbers of a row are RADIUS more: each even one and the odd one after, added.
    """
    weights = job.correlation.weights
    paired = weights[::2].copy()
    paired[:-1] += weights[1::2]
    both = {"WEIGHTS": weights, "PAIRED": paired}
    more = {name: np.hstack((rows, rows[:, :-1:2] + rows[:, 1::2])) for name, rows in both.items()}
    return Operands(more)


def _list(job: Job) -> Operands:
    constants, knobs = list_operands(job)
    return Operands(constants, knobs=knobs)


def _digit_bands(job: Job) -> Operands:
    """The row as integers of DIGITS bytes, SIGNED or not, and the column, as lanes hold them.

    See `digit_bands`; sums along x times 2^SUM_SHIFT are what the column is for.
    """
    words, row = digit_bands(job)
    knobs = {"DIGITS": row.digits, "SIGNED": int(row.signed), "SUM_SHIFT": row.shift}
    return Operands(arguments=(words,), knobs=knobs)


def _bands(job: Job) -> Operands:
    """`band_words` of each row, (2, KSIZE, words, 2), and UNDO[1], which divides by their scale.

    The largest weight is at least 2¹⁴, which a half holds with ease.
    """
    weights = job.correlation.weights.astype(np.float64)
    scale = 15 - _exponent(float(np.abs(weights).max()))
    undo = np.array([2.0**-scale], np.float32)
    return Operands({"UNDO": undo}, (band_words(np.ldexp(weights, scale)),))


def _thin_bands(job: Job) -> Operands:
    """`band_words` of a separable filter's row and column, (2, 2, words, 2), and UNDO[1].

    Σ|w| of the row is less than 2⁸, so that its sums of samples fit a half, too.
    """
    column, row = (each.astype(np.float64) for each in separable_terms(job.correlation.weights)[0])
    across = 8 - _exponent(float(np.abs(row).sum()))
    down = 15 - _exponent(float(np.abs(column).sum()))
    undo = np.array([2.0 ** -(down + across)], np.float32)
    both = np.stack((np.ldexp(row, across), np.ldexp(column, down)))
    return Operands({"UNDO": undo}, (band_words(both),))


def _warpgroup_bands(job: Job) -> Operands:
    """The row as lanes of a warpgroup hold it, the column as it lies in shared memory, and UNDO[1].

    Words: for each product of 16 samples (128, 4), two halves each, high ones and then what these
    lost, as `tensor_warpgroups` has them; then the column's halves and what these lost, each
    (2, 2 · SUMS, 8) halves: of sixteen rows of the picture eight at a time, for the rows of the
    answer under way, twice.  Σ|w| of the row is less than 2⁴.
    """
    column, row = (each.astype(np.float64) for each in separable_terms(job.correlation.weights)[0])
    across = 4 - _exponent(float(np.abs(row).sum()))
    down = 15 - _exponent(float(np.abs(column).sum()))
    undo = np.array([2.0 ** -(down + across)], np.float32)
    side, under_way = -(-job.radius // 8) * 8, max(32, (job.ksize + 14) // 16 * 16 + 16)
    thread, register, half = np.ogrid[:128, :4, :2]
    place = 8 * (register // 2) + thread % 4 * 2 + half - side + job.radius
    step = np.arange(2 + side // 8)[:, None, None, None]
    taps = 16 * step + place - thread // 32 * 8 - thread % 32 // 4
    along = _high_and_low(np.ldexp(row, across), taps)
    left = np.where(register % 2, along[1], along[0])
    row_in, row_out = np.ogrid[:16, : 2 * under_way]
    bands = _high_and_low(np.ldexp(column, down), (row_in - row_out) % under_way)
    down_words = bands.reshape(2, 2, 8, -1).swapaxes(2, 3)
    halves = np.concatenate((left.ravel(), down_words.ravel()))
    return Operands({"UNDO": undo}, (halves.view(np.uint32),))


def _high_and_low(weights: NDArray[np.float64], taps: NDArray[np.intp]) -> NDArray[np.float16]:
    """Those weights as halves and what these lost, (2, ...); zeros where there is no such tap."""
    high = weights.astype(np.float16)
    both = np.stack((high, (weights - high).astype(np.float16)))
    is_tap = (taps >= 0) & (taps < len(weights))
    return np.where(is_tap, both[:, taps.clip(0, len(weights) - 1)], np.float16(0))


def _fixed_point(job: Job) -> Operands:
    """(KSIZE, KSIZE) int32 of DIGITS bytes, SIGNED or not, and UNDO[1], times which they are w."""
    fixed = fixed_point(job.correlation.weights)
    knobs = {"DIGITS": fixed.digits, "SIGNED": int(fixed.signed)}
    return Operands({"UNDO": np.array([fixed.undo], np.float32)}, (fixed.integers,), knobs)


def _windows(job: Job) -> Operands:
    """Bands of one digit or two, and what turns their sums into samples."""
    if digits_of(job) > 1:
        words, signed = bands_of_two_digits(job)
        digits, divisor, offset = 2, 1, 0
    else:
        words, whole = whole_bands(job)
        digits, signed, divisor, offset = 1, True, whole.divisor, whole.offset
    rest = 1 / divisor - float(np.float32(1 / divisor))
    knobs: dict[str, int | str] = {"STRIP": strip_of(job), "DIGITS": digits, "SIGNED": int(signed)}
    knobs |= {"DIVISOR": divisor, "WHOLE_OFFSET": offset, "RECIPROCAL_REST": f"float({rest!r}f)"}
    return Operands(arguments=(words,), knobs=knobs)


def _spectrum(job: Job, *, with_roots: bool = False) -> Operands:
    """`spectrum`, (FFT_LINE, FFT_LINE) complex64, and perhaps `roots`, (FFT_SIDE, FFT_SIDE)."""
    side = fft_side(job.width, job.height, job.radius)
    given = (spectrum(job.correlation.weights, side**2), *((roots(side),) if with_roots else ()))
    return Operands(arguments=given, knobs={"FFT_SIDE": side, "FFT_LINE": side**2})


MIN_EXPONENT = -90  # of weights that are scaled up so far


def _exponent(largest: float) -> int:
    return max(math.frexp(largest)[1] if largest else 0, MIN_EXPONENT)


def band_words(weights: NDArray[np.float64]) -> NDArray[np.uint32]:
    """Pack (n, K) weights as (2, n, words, 2) for the tensor cores; see tensor.cuh.

    With zeros around them, words [0, n, i] hold weights i - before and the next as halves, the
    first in the low bits, and those 8 further; words [1, n, i] hold what rounding these lost.
    """
    count, ksize = weights.shape
    pad = -(ksize // 2) % 8
    before, words = 15 + pad, (pad + ksize + 30) // 16 * 16 + 16
    padded = np.zeros((count, words + 9))
    padded[:, before : before + ksize] = weights
    high = padded.astype(np.float16)
    low = (padded - high).astype(np.float16)
    bits = np.stack((high, low), axis=-1).view(np.uint16).astype(np.uint32)
    pairs = bits[:, :-1] | bits[:, 1:] << 16
    both = np.stack((pairs[:, :words], pairs[:, 8 : words + 8]))  # (8 on, n, words, part)
    return np.ascontiguousarray(both.transpose(3, 1, 2, 0))


def numbers_of(chosen: Filter) -> tuple[float, ...]:
    """What a filter's weights are made of, as a rung uses it: NUMBERS.

    Bilateral      weights are exp2(NUMBERS[0] · (dx² + dy²) - (NUMBERS[1] · c)²)
    NonLocalMeans  exp2(NUMBERS[0] · d²)
    Guided         ε
    """
    match chosen:
        case Bilateral(sigma_space=space, sigma_colour=colour):
            # The square of the second might be too small a number for float32, or too large.
            steepness = min(max(math.sqrt(LOG2_E / 2) / colour, 1e-36), 1e36)
            return max(-LOG2_E / (2 * space**2), -1e36), steepness
        case NonLocalMeans(strength=strength):
            return (-LOG2_E / strength**2,)
        case Guided(epsilon=epsilon):
            return (epsilon,)
    return (0.0,)


LOG2_E = math.log2(math.e)

FORMS: dict[str, Callable[[Job], Operands]] = {
    "none": lambda _: Operands(),
    # An argument, (KSIZE, KSIZE).
    "global": lambda job: Operands(arguments=(job.correlation.weights.copy(),)),
    "constant": lambda job: Operands({"WEIGHTS": job.correlation.weights.copy()}),
    # All of them are this one.
    "uniform": lambda job: Operands({"WEIGHT": job.correlation.weights[:1, 0].copy()}),
    "fast_fir": _fast_fir,
    "numbers": lambda job: Operands({"NUMBERS": np.array(numbers_of(job.filter), np.float32)}),
    "list": _list,
    "median": _median,
    "separable": _separable,
    "low_rank": _low_rank,
    "digit_bands": _digit_bands,
    "bands": _bands,
    "thin_bands": _thin_bands,
    "warpgroup_bands": _warpgroup_bands,
    "fixed_point": _fixed_point,
    "words_of_two": lambda job: Operands(knobs=knobs_of(job)),
    "windows": _windows,
    "spectrum": _spectrum,
    "spectrum_and_roots": lambda job: _spectrum(job, with_roots=True),
}

OPERANDS_KEPT = 16  # up to 8 MB each
_kept: LruCache[Any, Operands] = LruCache(OPERANDS_KEPT)


def operands_of(form: str, job: Job) -> Operands:
    """The weights in that form, made once for each job but for its samples: it takes a while."""
    if form == "none":
        return Operands()

    def make() -> Operands:
        made = FORMS[form](job)
        for array in (*made.constants.values(), *made.arguments):
            array.flags.writeable = False
        return made

    if form in ("list", "median"):
        return make()
    of = job.correlation.weights.tobytes() if job.has_weights else job.filter
    offset = job.correlation.offset if job.has_weights else 0.0
    like = job.picture.shape, job.pixel_type, job.border, job.has_alpha
    return _kept.get_or_make((form, of, offset, like), make)


@cache
def example_of(form: str) -> Operands:
    """The weights of a small job in that form, for their names."""
    return FORMS[form](Job.of(np.zeros((1, 1, 1), np.uint8), np.ones((3, 3), np.float32)))


LARGE = {(3, True): 12 << 20, (3, False): 16 << 20, (5, True): 2 << 20, (5, False): 1 << 20}


def is_large(job: Job) -> bool:
    """Whether a median's usual blocks make waves on an H200, by its size and samples of two bytes.

    What a block does at a time takes longer then than what it does one after the other.
    """
    return job.picture.size > LARGE.get((job.ksize, job.picture.itemsize <= 2), 0)


SIDES = (8, 16, 32)  # a transform of SIDE² numbers is SIDE threads with SIDE numbers each


def fft_side(width: int, height: int, radius: int) -> int:
    """The square root of the length that makes the fewest numbers of a picture to transform."""

    def numbers(side: int) -> int:
        pairs, tiles = tiles_of(width, height, radius, side)
        return side**4 * pairs * tiles

    return min((side for side in SIDES if side**2 > 2 * radius), key=numbers)


def tiles_of(width: int, height: int, radius: int, side: int) -> tuple[int, int]:
    """The number of pairs of tiles side by side, and of tiles one above the other."""
    valid = side**2 - 2 * radius
    return -(-width // (2 * valid)), -(-height // valid)


def spectrum(weights: NDArray[np.float32], length: int) -> NDArray[np.complex64]:
    """The factor of a tile's spectrum that correlates it: (length, length).

    The conjugate of the weights' own, worked out in float64 and rounded once.
    """
    # Columns of zeros stay zero, so only those with weights are transformed down.
    down = np.fft.fft(weights.astype(np.float64), length, axis=0)
    return np.fft.fft(down, length, axis=1).conj().astype(np.complex64)


def roots(side: int) -> NDArray[np.complex64]:
    """Return exp(-2πi · k · l / side²) / side by k and l: (side, side).

    Divided so that a transform leaves numbers as large as they were, and its inverse needs no
    other factor; side is a power of two, which costs no accuracy.
    """
    k_times_l = np.outer(np.arange(side), np.arange(side))
    return np.asarray(np.exp(-2j * np.pi * k_times_l / side**2) / side, np.complex64)
