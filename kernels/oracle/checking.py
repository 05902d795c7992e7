"""Hold an output against the float64 oracle: all of it, or edges and random tiles of a large one.

Float32 arithmetic along a chain of n additions is off by at most about n · 2⁻²⁴ · Σ|w| · max|p|
(Higham, Accuracy and Stability of Numerical Algorithms, 2002, section 3.1).  An implementation
states its n and a factor c for what its method adds to that.

A gradient's derivatives add up eight weighted samples each, 1 + 2 + 1 on either side, and the
length of two of them is off by at most √2 times as much as either: errors grow by LENGTH_GAIN, and
its own roundings, five additions, squares, their sum and the root, make n longer by LENGTH_CHAIN.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from kernels.core.cache import once_a_picture
from kernels.core.job import Job
from kernels.core.nonlinear import CUT, Bilateral, Guided, Morphology, NonLocalMeans, Rank
from kernels.core.poison import Mask, is_as_before
from kernels.core.step import OUTPUT
from kernels.core.verdict import LIVE_TAPS, Check, Limits, Tolerance
from kernels.core.weights import UNIT_ROUNDOFF, gain
from kernels.oracle.hypotheses import why_wrong
from kernels.oracle.nonlinear import Floats, in_doubt, output
from kernels.oracle.reference import filtered, least_alpha, place_of, to_pixel_type

TILE = 64  # pixels; small enough for the oracle's float64 sums to stay in the CPU's cache
# Of a wide filter over a huge picture smaller ones, so that there are still a few of them.
SMALL, LARGE = 8, 16 * TILE**2  # LARGE: pixels in all
MAX_PLACES = 1 << 20  # wrong samples of which each place is kept, to tell what they have in common
FLOAT32_MAX = float(np.finfo(np.float32).max)
LENGTH_GAIN = 8 * math.sqrt(2)
LENGTH_CHAIN = 8
MIN_NORMAL = 2.0**-126  # what a device that flushes subnormals to zero may lose a tap

Rectangle = tuple[int, int, int, int]  # top, bottom, left, right
Oracle = dict[Rectangle, Floats]


def error_bound(job: Job, chain: int, factor: float) -> float:
    """The largest error of a float32 output, in sample values before rounding.

    factor · chain · 2⁻²⁴ · (Σ|w| · max|p| + |offset|); the offset is one addition more.

    Infinities and NaN are left out of max|p|: they are compared as such.  Infinite where float32
    sums may overflow, since then nothing can be said.
    """
    return _grown(job, Tolerance(chain, factor), largest_finite(job.picture))[0]


def _grown(job: Job, tolerance: Tolerance, before: float) -> tuple[float, float, float]:
    """The error that one run makes of samples up to `before`, how large they get, and its gain."""
    if not job.has_weights:
        return nonlinear_error(job, tolerance, before)
    grows = LENGTH_GAIN if job.has_length else 1.0
    chain = tolerance.chain + (LENGTH_CHAIN if job.has_length else bool(job.correlation.offset))
    most = grows * gain(job.correlation.weights)
    largest = most * before + abs(job.correlation.offset)
    if largest >= FLOAT32_MAX:
        return math.inf, largest, most
    own = tolerance.factor * chain * UNIT_ROUNDOFF * largest + grows * chain * MIN_NORMAL
    return own, largest, most


def nonlinear_error(job: Job, tolerance: Tolerance, before: float) -> tuple[float, float, float]:
    """`_grown` of a filter that is no weighted sum, each from how it is defined.

    With n = factor · chain, u = 2⁻²⁴ and m = max|p|; what is flushed to zero is added to u · m.

    Rank        Samples that it was given, or the mean of two of them.
    Morphology  The difference of two of them at most, rounded once.
    Bilateral   A mean Σwp / Σw: its sums are off by 2 n u m, and what a weight is off by, e of
                itself, by Σw e |p - mean| / Σw ≤ 2 m Σw e / Σw.  Of e, WEIGHT_ULPS are exp's own
                (2⁻²² for ex2.approx.ftz), and EXPONENT_ULPS times the exponent that one's rounding.
                Σw |exponent| / Σw ≤ ln K² (Gibbs' inequality), as the pixel itself has weight 1.
                Samples scaled before they are subtracted: as |p - p₀| ≤ c, about 12 ln K² u m.
                An error of samples comes back 1 + 8 C ln K² times at most, as |p - p₀| ≤ c.
    NonLocalMeans  The same, with the patch's sum in its exponent, where nothing may be taken away
                again; |p - p₀| is at most d times the root of a patch's samples.  For weights that
                are about CUT see `_of_tile`.
    Guided      a is off by at most what v is, over ε; v by n u (2 m)², also as a difference of
                means; those of a and b by n u each.  Σ(a p + (1 - a) mean) is no larger than m, and
                an error of samples comes back 1 + 1.3 m / √ε times.

    Infinite where a sum may overflow.
    """
    chosen, round_off = job.filter, UNIT_ROUNDOFF * before + MIN_NORMAL
    colours, chain = job.channels - job.has_alpha, tolerance.factor * tolerance.chain
    match chosen:
        case Rank():
            is_mean = job.border == "crop" and chosen.percentile == 50
            return is_mean * round_off, before, 1.0
        case Morphology():
            is_difference = not chosen.keeps_flat
            return 2 * is_difference * round_off, (1 + is_difference) * before, 1.0 + is_difference
        case Bilateral() | NonLocalMeans():
            alike = colours * chosen.patch**2 if isinstance(chosen, NonLocalMeans) else colours**2
            own = 2 * (chain + tolerance.factor * _weight_ulps(job, math.log(chosen.ksize**2)))
            is_too_large = 2 * chosen.ksize**2 * before >= FLOAT32_MAX
            steepness = 1 + 8 * math.sqrt(alike) * math.log(chosen.ksize**2)
            return math.inf if is_too_large else own * round_off, before, steepness
    assert isinstance(chosen, Guided)
    chain += tolerance.factor * WEIGHT_ULPS
    variance = chain * (UNIT_ROUNDOFF * 4 * before**2 + MIN_NORMAL)
    own = 2 * before * min(variance / chosen.epsilon, 1.0) + 4 * chain * round_off
    is_too_large = 4 * chosen.ksize**2 * before**2 >= FLOAT32_MAX
    return math.inf if is_too_large else own, before, 1 + 1.3 * before / math.sqrt(chosen.epsilon)


WEIGHT_ULPS, EXPONENT_ULPS = 8, 16


def _weight_ulps(job: Job, exponent: float) -> float:
    """Units of 2⁻²⁴ of itself that a weight e^-exponent may be off by."""
    patch = getattr(job.filter, "patch", 0)
    return WEIGHT_ULPS + (EXPONENT_ULPS + patch**2 * (job.channels - job.has_alpha)) * exponent


def carried_bound(job: Job, tolerances: Sequence[Tolerance]) -> float:
    """The error allowed at the end of a list, in sample values before it is rounded.

    e₁·L₂·…·Lₙ + … + eₙ, with what each run may be off by, and how much it makes of an error in the
    maximum norm: Σ|w|, and LENGTH_GAIN for a length.  Rounding between steps adds what it may.
    Of non-local means it is assumed, not known, that rounding decides on no more than one weight of
    a pixel whether it is below CUT.  Where colours are weighted by alpha the error is that of these
    products, as of an opaque pixel; for what dividing makes of it see `_of_dividing`, `_of_ranks`.

    tolerances  of what ran each of `job.runs`
    """
    error, largest, runs = 0.0, largest_finite(job.picture), job.runs
    if job.opaque is not None:  # a quotient, and a product
        error = 2 * (UNIT_ROUNDOFF * largest + MIN_NORMAL)
        error, largest = _stored(job, error, largest) if job.is_rounded else (error, largest)
    for run, tolerance in zip(runs, tolerances, strict=True):
        part = job.part(run, job.picture)
        own, made, most = _grown(part, tolerance, largest)
        if isinstance(part.filter, NonLocalMeans):
            own += 2 * CUT * largest
        found, made = most * error + own + tolerance.levels * job.is_rounded, made + own
        is_stored = job.is_rounded and (run is not runs[-1] or job.opaque is not None)
        if lift := abs(run.blend.offset):  # times alpha
            made *= 1 + lift
            found = (1 + lift) * found + 2 * UNIT_ROUNDOFF * made
        if run.blend != OUTPUT:
            found, made = _stored(job, found, made) if job.is_rounded else (found, made)
            mix, rounding = run.blend.mix, 3 * (UNIT_ROUNDOFF * (made + largest) + MIN_NORMAL)
            found += 2 * rounding * run.blend.is_grey  # three products and two sums
            found += 3 * rounding * (run.blend.opaque > 0)  # eight operations
            if run.blend.threshold:  # two differences and a sum, of which none jumps
                found, made = max(found, error) + rounding, max(made, largest)
            made = mix * made + (1 - mix) * largest
            # Two products and their sum; the smaller share is itself rounded.
            found = mix * found + (1 - mix) * error + (mix != 1) * rounding
        error, largest = _stored(job, found, made) if is_stored else (found, made)
    if job.region is not None:  # two products and their sum
        error, largest = _stored(job, error, largest) if job.is_rounded else (error, largest)
        error += 3 * (UNIT_ROUNDOFF * (largest + largest_finite(job.picture)) + MIN_NORMAL)
    return math.inf if math.isnan(error) else error


def _stored(job: Job, error: float, largest: float) -> tuple[float, float]:
    """The error of samples, and how large they are, when they are rounded to the picture's type.

    Infinite where they may be too large for it: then one may be infinite, and the other not.
    """
    if job.picture.dtype.kind == "u":
        return error + 1, min(largest + 1, float(np.iinfo(job.picture.dtype).max))
    type_ = np.finfo(job.picture.dtype)
    spacing = float(type_.eps) * largest + float(type_.smallest_subnormal)
    is_in_it = largest + spacing < float(type_.max)
    return error + spacing if is_in_it else math.inf, largest + spacing


def checking(
    job: Job,
    answer: NDArray[Any],
    tolerance: Tolerance | Sequence[Tolerance],
    max_taps: int | None = LIVE_TAPS,
    known: Oracle | None = None,
) -> Iterator[Check]:
    """Compare tile by tile, yielding the Check so far after each; the last one counts.

    answer    the output for job.picture, same dtype and shape, or (H, W)
    tolerance of what computed it; of a list those of what ran each of `job.runs`
    max_taps  products that the oracle may compute; None: check everything
    known     the oracle's tiles, for many outputs of one job: filled if empty, else only these are
              compared
    """
    answer = answer.reshape(job.picture.shape)
    all_of_them = (tolerance,) if isinstance(tolerance, Tolerance) else tolerance
    most = max(all_of_them, key=lambda each: each.levels)
    limits, size = limits_of(job, tolerance), (0, job.height * job.width)
    found = Check(0.0, (0, 0, 0), 0, 0, limits.bound, *size, most.levels, library=most.library)
    wrong: list[NDArray[np.intp]] = []
    for tile in list(known) if known else plan_tiles(job, max_taps):
        oracle = known.get(tile) if known else None
        if oracle is None:
            top, bottom, left, right = tile
            oracle = filtered(job, (top, bottom), (left, right))
            if known is not None:
                known[tile] = oracle
        here, is_wrong = _of_tile(found, job, answer, tile, oracle, limits)
        if here.wrong and found.wrong < MAX_PLACES:
            wrong.append(np.argwhere(is_wrong) + np.array((tile[0], tile[2], 0)))
        found = found.with_strip(here)
        yield found
    if wrong and math.isfinite(limits.bound):
        # Of known tiles others may be compared elsewhere.
        is_all = found.wrong < MAX_PLACES and (found.is_full or not known)
        places = np.concatenate(wrong)
        limits_for = partial(limits_of, tolerance=tolerance)
        for why in why_wrong(job, answer, places, limits_for, is_all=is_all):
            yield replace(found, why=why)


def limits_of(job: Job, tolerance: Tolerance | Sequence[Tolerance]) -> Limits:
    """Limits to the errors of an output for `job`; `tolerance` as `checking` has it."""
    if not isinstance(tolerance, Tolerance):
        bound = carried_bound(job, tolerance)
        return Limits(bound, max(1, math.ceil(bound)) if bound and math.isfinite(bound) else 0)
    bound = error_bound(job, tolerance.chain, tolerance.factor)
    if not math.isfinite(bound):
        return Limits(bound, 0)
    # Rounding errors partly cancel, so their sum grows like the square root of the chain.
    most_off = max(1, math.ceil(bound / math.sqrt(tolerance.chain))) if bound else 0
    return Limits(bound, most_off, tolerance.levels)


def plan_tiles(job: Job, max_taps: int | None) -> Iterator[Rectangle]:
    """Yield the rectangles to compare: all, where that costs at most `max_taps` products a filter.

    Else half of it goes into all four edges, the other half into tiles of the inside, drawn at
    random; where even one pixel along all edges costs more, into the corners and random
    stretches of the edges.  The part of each GPU that shares the picture has its own edges.

    A tile of a list costs more than its pixels, as the steps before the last are worked out for its
    surroundings, too: of those rectangles as many are drawn as cost no more than `max_taps` a
    filter; none of a long list of wide ones.
    """
    max_taps = max_taps and max_taps * len(job.runs)
    side = max(TILE, 2 * (job.reach - job.steps[-1].filter.reach))
    if max_taps is None or job.height * job.width * _taps_a_pixel(job, side) <= max_taps:
        yield from _tiles((0, job.height, 0, job.width), side)
        return
    pixels = max_taps // _taps_a_pixel(job, TILE)
    if pixels < LARGE * len(job.parts):
        pixels = max_taps // _taps_a_pixel(job, SMALL)
    tiles = (
        tile
        for part in job.parts
        for tile in _plan_part(job, (part.first, part.end), pixels // len(job.parts))
    )
    yield from tiles if job.is_one_launch else _affordable(job, tiles, max_taps)


def _affordable(job: Job, tiles: Iterable[Rectangle], max_taps: int) -> Iterator[Rectangle]:
    """Yield as many of `tiles`, drawn at random, as cost no more than `max_taps` products."""
    drawn = list(tiles)
    np.random.default_rng().shuffle(drawn)
    for top, bottom, left, right in drawn:
        max_taps -= taps_of_tile(job, bottom - top, right - left)
        if max_taps < 0:
            return
        yield top, bottom, left, right


def _taps_a_pixel(job: Job, side: int) -> int:
    """Products for a pixel of a tile of side² pixels."""
    high, wide = min(side, job.height), min(side, job.width)
    return -(-taps_of_tile(job, high, wide) // (high * wide))


def taps_of_tile(job: Job, high: int, wide: int) -> int:
    """Products for a tile, and for what earlier steps give around it."""
    taps = reach = 0
    for step in reversed(job.steps):
        # What a filter works out first it needs around the tile as well.
        far = 2 * (reach + step.filter.reach - step.filter.ksize // 2)
        taps += min(high + far, job.height) * min(wide + far, job.width) * step.filter.taps
        reach += step.filter.reach
    return taps * job.channels


def _plan_part(job: Job, rows: tuple[int, int], pixels: int) -> Iterator[Rectangle]:
    """Yield rectangles of about `pixels` pixels: edges of those rows, and some of the inside."""
    (first, end), width = rows, job.width
    around = 2 * (end - first + width)
    thick = min(max(pixels // 2 // around, 1), job.reach + 1, -(-min(end - first, width) // 2))
    # The outermost pixels: top, bottom, and between those left and right.
    top, bottom, right = first + thick, max(end - thick, first + thick), max(width - thick, thick)
    frame = [(first, top, 0, width), (bottom, end, 0, width)]
    frame += [(top, bottom, 0, thick), (top, bottom, right, width)]
    if pixels // 2 >= around:
        yield from (tile for edge in frame for tile in _tiles(edge, TILE))
    else:
        for edge in frame:
            yield from _tiles(edge, SMALL, max(pixels // 8 // SMALL**2, 4), with_ends=True)
    inside = (first + thick, end - thick, thick, width - thick)
    side = TILE if pixels >= LARGE else SMALL
    yield from _tiles(inside, side, max(pixels // 2 // side**2, 8))


def _tiles(
    area: Rectangle, side: int, most: int | None = None, *, with_ends: bool = False
) -> Iterator[Rectangle]:
    """Yield `area` in tiles of side² pixels: all, or `most` of them, drawn at random."""
    top, bottom, left, right = area
    high, wide = (max(min(end - first, side), 1) for first, end in ((top, bottom), (left, right)))
    rows, columns = side * side // wide, side * side // high
    across = -(-(right - left) // columns)
    count = max(-(-(bottom - top) // rows), 0) * max(across, 0)
    numbers: Iterable[int] = range(count)
    if most is not None and most < count:
        ends = (0, count - 1) if with_ends else ()
        drawn = np.random.default_rng().integers(0, count, most)
        numbers = dict.fromkeys((*ends, *map(int, drawn)))
    for number in numbers:
        y, x = top + number // across * rows, left + number % across * columns
        yield y, min(y + rows, bottom), x, min(x + columns, right)


def _of_tile(
    found: Check, job: Job, answer: NDArray[Any], tile: Rectangle, oracle: Floats, limits: Limits
) -> tuple[Check, Mask]:
    """Check a tile; return that, and which of its samples are wrong."""
    top, bottom, left, right = tile
    got = answer[top:bottom, left:right]
    error, differs, wrong = judged_in(tile, job, got, oracle, limits)
    at = np.unravel_index(int(error.argmax()), error.shape)
    worst = (top + int(at[0]), left + int(at[1]), int(at[2]))
    here = Check(
        *(float(error[at]), worst, int(differs.sum()), int(wrong.sum())),
        *(limits.bound, (bottom - top) * (right - left), found.total),
        samples=error.size,
    )
    return here, wrong


def judged_in(
    tile: Rectangle, job: Job, got: NDArray[Any], oracle: Floats, limits: Limits
) -> tuple[Floats, Mask, Mask]:
    """`judged` in a tile, where some samples may be off by more, which takes a while to know."""
    found = judged(job, got, oracle, limits)
    if found[2].any() and any(run.blend.opaque for run in job.runs):
        return judged(job, got, oracle, limits, _of_ranks(job, tile, oracle, limits.bound))
    if found[2].any() and job.is_one_launch and isinstance(job.filter, NonLocalMeans):
        # Weights that are so near to CUT that their rounding decides may count or not.
        place = place_of(job, tile[:2], tile[2:])
        off = 2 * UNIT_ROUNDOFF * _weight_ulps(job, -math.log(CUT))
        leeway = 2 * largest_finite(job.picture) * in_doubt(job.filter, place, off)
        return judged(job, got, oracle, limits, leeway)
    return found


def judged(
    job: Job, got: NDArray[Any], oracle: Floats, limits: Limits, leeway: Floats | float = 0.0
) -> tuple[Floats, Mask, Mask]:
    """Errors of all samples, masks of those that differ rounded, and of those off limits.

    leeway  how much more some samples may be off by, before rounding
    """
    expected = to_pixel_type(oracle, got.dtype)
    if job.opaque is not None:
        leeway = leeway + _of_dividing(job.opaque, oracle, limits.bound)
    if got.dtype.kind == "u" and np.array_equal(got, expected):  # as a rule, and sooner known
        nothing = np.zeros(got.shape, np.bool_)
        return np.zeros(got.shape), nothing, nothing.copy()
    error = _distance(got, oracle if got.dtype.kind == "f" else expected)
    differs = ~is_as_before(got, expected)
    differs &= ~(np.isnan(got) & np.isnan(expected)) if got.dtype.kind == "f" else True
    wrong = _is_wrong(got, error, oracle, limits, leeway)
    if job.opaque is not None:
        unseen = np.isinf(leeway)
        error, differs = np.where(unseen, 0.0, error), differs & ~unseen
    if job.keeps_alpha:  # copied, so not a bit may differ
        wrong[..., -1] = differs[..., -1]
    return error, differs, wrong


def _of_ranks(job: Job, tile: Rectangle, oracle: Floats, bound: float) -> Floats:
    """How much more colours of a tile may be off by, as pixels got their own alpha back.

    c' = a F / A: F, A and a may be off by `bound`, and so c' by r + (1 + r) a / A times that, with
    r = |F| / A; where it fades to c, 1 + 2 |c| / A more.  The most of what later steps reach.
    """
    assert job.opaque is not None
    more = bound + _of_dividing(job.opaque, oracle, bound)
    for run in (each for each in job.runs if each.blend.opaque):
        far = sum(each.filter.reach for each in job.steps[run.taken :])
        rows, columns = ((tile[at] - far, tile[at + 1] + far) for at in (0, 2))
        place, least = place_of(job, rows, columns, run.taken), least_alpha(run.blend.opaque)
        ranked = np.abs(output(run.steps[0].filter, place))  # type: ignore[arg-type]
        colours, seen = ranked[..., :-1].max(2), ranked[..., -1]
        before = np.abs(place.read(0)).max(2)
        with np.errstate(invalid="ignore", over="ignore"):  # of infinite colours
            r, a = (each / np.maximum(seen - bound, least) for each in (colours, before))
            times = r + (1 + r) * a + (1 + 2 * a) * (seen < least + bound)
        for axis in (0, 1):
            times = sliding_window_view(np.fmax(times, 1), 2 * far + 1, axis).max(-1)
        more *= times[..., np.newaxis]
    more[..., -1] = 0
    return more


def _of_dividing(opaque: float, oracle: Floats, bound: float) -> Floats:
    """How much more samples may be off by after colours were divided by alpha.

    c = w p / a: p and a may be off by `bound`, and so c by (w + |c|) / a times that, and by what
    five operations round.  Colours whose alpha is none at all are of no account.
    """
    alpha, colours = oracle[..., -1:], np.abs(oracle)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        least = 1.01 * least_alpha(opaque) + bound
        grows = 1.01 * (opaque + colours) / alpha
        more = np.maximum(grows - 1, 0) * bound + 8 * UNIT_ROUNDOFF * colours
    more = np.where(alpha > least, more, np.inf)
    more[..., -1] = 0
    return np.nan_to_num(more, nan=np.inf, posinf=np.inf)


def _distance(got: NDArray[Any], expected: NDArray[Any]) -> Floats:
    """|got - expected|; 0 for equal infinities or two NaN, infinite where one is NaN."""
    with np.errstate(invalid="ignore", over="ignore"):
        distance = np.abs(got.astype(np.float64) - expected.astype(np.float64))
        if got.dtype.kind == "u":  # and with less to do the picture on its way waits less
            return distance
        overflowed = expected.astype(got.dtype)
    same = (got == overflowed) | (np.isnan(got) & np.isnan(expected))
    distance[same] = np.where(np.isfinite(distance[same]), distance[same], 0)
    return np.where(np.isnan(distance), np.inf, distance)


def _is_wrong(
    got: NDArray[Any], error: Floats, oracle: Floats, limits: Limits, leeway: Floats | float
) -> Mask:
    bound = limits.bound + leeway
    if got.dtype == np.float32:
        return np.greater(error, bound)
    # What is stored rounded has to be the rounding of some value within the bound of the oracle's:
    # an integer one off near a half, a float16 one step where two are equally near.
    with np.errstate(invalid="ignore"):
        lowest, highest = (to_pixel_type(oracle + off, got.dtype) for off in (-bound, bound))
        outside = (got < lowest) | (got > highest)
    if got.dtype.kind == "f":
        return np.asarray(outside | (np.isnan(got) != np.isnan(oracle)))
    # And an integer never more than `most_off`, which is above one only where the sums are so large
    # that float32 itself is coarser than an integer; `levels` are allowed in any case.
    return np.logical_and(
        outside | (error > limits.most_off + np.ceil(leeway)), error > limits.levels
    )


@once_a_picture
def largest_finite(picture: NDArray[Any]) -> float:
    """max|p|, without NaN and infinities."""
    low, high = float(picture.min()), float(picture.max())
    if not (np.isfinite(low) and np.isfinite(high)):
        finite = picture[np.isfinite(picture)]
        low, high = (float(finite.min()), float(finite.max())) if finite.size else (0.0, 0.0)
    return max(abs(low), abs(high))
