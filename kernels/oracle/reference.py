"""The oracle: correlation, and the gradient after it, written to be obviously right, not fast."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from kernels.core.borders import OUTSIDE, Span, read, source_indices
from kernels.core.step import OUTPUT, Correlation, Filter, Length, Step, StepRun, Weights, make_grey
from kernels.oracle.nonlinear import Floats, Place, output

if TYPE_CHECKING:
    from kernels.core.job import Job


Part = Span | None  # None: all rows, or columns


def filtered(job: Job, rows: Part = None, columns: Part = None, taken: int | None = None) -> Floats:
    """The output for `job`, or the part rows × columns of it, neither rounded nor clipped.

    Beyond its edges what a step gives is continued by the border from its own values, which is not
    the same as filtering a picture that was continued further.

    rows, columns  the (start, stop) to work out
    taken          after how many of the steps; None: all
    returns        (rows, columns, C) float64; alpha, the last of 2 or 4 channels, is copied, or,
                   where the job says what is opaque, filtered by means as well
    """
    count = len(job.steps) if taken is None else taken
    (top, bottom), (left, right) = rows, columns = (
        rows or (0, job.height),
        columns or (0, job.width),
    )
    step, place = job.steps[count - 1], place_of(job, rows, columns, count)
    if isinstance(step.filter, Length):
        found = length(place.given)
    elif isinstance(step.filter, Correlation):
        found = weighted(place.given, step.filter.weights)
    else:
        found = output(step.filter, place)
    before = place.read(0)
    alpha = before[..., -1]
    if job.opaque is not None:
        if not (run := _run(job, count)).filters_alpha:
            found[..., -1] = alpha
        with np.errstate(invalid="ignore"):  # of an infinite alpha
            found[..., :-1] += _lift(step.filter) * found[..., -1:] / job.opaque
        if run.blend.opaque:
            found = _with_own_alpha(job.opaque, _stored(job, found), before)
    else:
        found += _lift(step.filter)
    if step.blend != OUTPUT:
        if step.is_length:  # what the weights before it were given
            before = _given(job, (top, bottom), (left, right), count - 2)
        found = _blended(step, _stored(job, found), before)
    if job.region is not None and taken is None:
        shares = job.share((slice(top, bottom), slice(left, right))).astype(np.float64)
        original = _given(job, rows, columns, 0)
        found = _stored(job, found)
        with np.errstate(invalid="ignore", over="ignore"):
            mixed = shares * found + (1 - shares) * original
        found = np.where(shares == 0, original, np.where(shares == 1, found, mixed))
    if job.opaque is not None and taken is None:
        found = _divided(job.opaque, _stored(job, found))
        if job.region is not None:  # what cannot be seen is kept as well
            found = np.where(shares == 0, job.picture[top:bottom, left:right], found)
    elif job.has_alpha and job.opaque is None:
        found[..., -1] = alpha
    return found


def least_alpha(opaque: float) -> float:
    """Half a level of integers, or of 16 bits: what is less is no alpha."""
    return 0.5 if opaque > 1 else opaque / 2**17


def _with_own_alpha(opaque: float, ranked: Floats, before: Floats) -> Floats:
    """Colours that are seen at a rank, times each pixel's own alpha; they fade to those before.

    Negative ones, whose order is the other way round, count as of opaque pixels.
    """
    alpha, least = np.maximum(ranked[..., -1:], 0), least_alpha(opaque)
    seen = np.minimum(alpha / least, 1)
    with np.errstate(invalid="ignore", over="ignore"):
        by = np.where(ranked < 0, opaque, np.maximum(alpha, least))
        colours = before[..., -1:] * ranked / by
        faded = seen * colours + (1 - seen**2) * before
    found = np.where(seen == 1, colours, faded)
    found[..., -1] = before[..., -1]
    return found


def _divided(opaque: float, weighted_: Floats) -> Floats:
    """Colours as they are, of those times their alpha; they fade to 0 below `least_alpha`."""
    alpha, found = np.maximum(weighted_[..., -1:], 0), weighted_.copy()
    with np.errstate(invalid="ignore", over="ignore"):
        found[..., :-1] *= opaque * alpha / np.maximum(alpha, least_alpha(opaque)) ** 2
    return found


def place_of(job: Job, rows: Span, columns: Span, count: int = 1) -> Place:
    """What the step number `count` is given for rows × columns of its output."""
    reach = job.steps[count - 1].filter.reach
    around = (rows[0] - reach, rows[1] + reach), (columns[0] - reach, columns[1] + reach)
    where = rows, columns, (job.height, job.width), job.border
    colours = job.channels - (job.has_alpha and not _run(job, count).filters_alpha)
    return Place(_given(job, *around, count - 1), reach, *where, colours)


def _run(job: Job, count: int) -> StepRun:
    """The one of `job.runs` that takes step number `count`."""
    return next(each for each in job.runs if each.taken >= count)


def _lift(chosen: Filter) -> float:
    """What is added to a filter's sums."""
    return float(np.float32(chosen.offset)) if isinstance(chosen, Correlation) else 0.0


def _blended(step: Step, found: Floats, before: Floats) -> Floats:
    """What a step gives, of its filter's output and of its input."""
    share, threshold = (float(np.float32(each)) for each in step.blend[:2])
    with np.errstate(invalid="ignore", over="ignore"):
        if step.is_grey:
            make_grey(found)
        if threshold:
            change = found - before
            found = before + np.sign(change) * np.maximum(np.abs(change) - threshold, 0)
        return found if share == 1 else share * found + (1 - share) * before


def _given(job: Job, rows: Span, columns: Span, taken: int) -> Floats:
    """What the step after `taken` is given, also beyond the picture's edges."""
    if taken == 0:
        with np.errstate(invalid="ignore"):
            found = read(job.picture, job.border, rows, columns).astype(np.float64)
            if job.opaque is not None:
                share = found[..., -1:] / job.opaque  # 0: not even infinity or NaN is seen
                found[..., :-1] = np.where(share == 0, 0, found[..., :-1] * share)
                found = _stored(job, found)
        return found
    down, ys = _needed(rows, job.height, job.border)
    across, xs = _needed(columns, job.width, job.border)
    found = filtered(job, down, across, taken)
    if not job.steps[taken].is_length:  # a length and the weights before it are one filter
        found = _stored(job, found)
    found = found.take(ys, 0).take(xs, 1)
    found[ys == OUTSIDE] = 0
    found[:, xs == OUTSIDE] = 0
    return found


def _needed(span: Span, size: int, border: str) -> tuple[Span, NDArray[np.intp]]:
    """The positions along an axis to work out for `span`, and where in them each of it stands.

    A picture that wraps around stays so when it is filtered: it may be worked out beyond its edges.
    """
    start, stop = span
    if border == "wrap" and stop - start < size:
        return span, np.arange(stop - start)
    at = source_indices(start, stop, size, border)
    inside = at[at != OUTSIDE]
    first = int(inside.min())
    return (first, int(inside.max()) + 1), np.where(at == OUTSIDE, OUTSIDE, at - first)


def _stored(job: Job, found: Floats) -> Floats:
    """As the next step has it: rounded to the picture's type where the job rounds between steps."""
    return to_pixel_type(found, job.picture.dtype).astype(np.float64) if job.is_rounded else found


def weighted(around: Floats, weights: Weights) -> Floats:
    """Slide `weights` over `around` and sum the products: smaller by K // 2 on each side.

    weights  (K, K) float32, K odd; applied as drawn, not flipped
    """
    ksize = len(weights)
    height, width = around.shape[0] - ksize + 1, around.shape[1] - ksize + 1
    total = np.zeros((height, width, around.shape[2]))
    # Infinities and NaN in the picture are its own: a weight of 0 makes NaN of an infinity.
    with np.errstate(invalid="ignore", over="ignore"):
        for j, weights_row in enumerate(weights.astype(np.float64)):
            for i, weight in enumerate(weights_row):
                total += weight * around[j : j + height, i : i + width]
    return total


def length(around: Floats) -> Floats:
    """The length √(gx² + gy²) of Sobel's derivatives: smaller by 1 on each side."""
    with np.errstate(invalid="ignore", over="ignore"):
        along_y = around[:-2] + 2 * around[1:-1] + around[2:]
        along_x = around[:, :-2] + 2 * around[:, 1:-1] + around[:, 2:]
        gx = along_y[:, 2:] - along_y[:, :-2]
        gy = along_x[2:] - along_x[:-2]
        return np.asarray(np.sqrt(gx**2 + gy**2))


def correlate(
    picture: NDArray[Any], weights: Weights, border: str, rows: Part = None, columns: Part = None
) -> Floats:
    """`filtered` for one step of `weights` over `picture`, (H, W, C), with that border."""
    top, bottom = rows or (0, picture.shape[0])
    left, right = columns or (0, picture.shape[1])
    radius = len(weights) // 2
    around = (top - radius, bottom + radius), (left - radius, right + radius)
    with np.errstate(invalid="ignore"):
        given = read(picture, border, *around).astype(np.float64)
    found = weighted(given, weights)
    if picture.shape[2] in (2, 4):
        found[..., -1] = picture[top:bottom, left:right, -1]
    return found


def to_pixel_type(values: Floats, dtype: np.dtype[Any]) -> NDArray[Any]:
    """Convert: to integers rounded half to even and saturated, to floats without clipping."""
    with np.errstate(over="ignore", invalid="ignore"):  # what is too large is infinite
        if dtype.kind == "f":
            return values.astype(dtype)
        limits = np.iinfo(dtype)
        rounded = np.asarray(np.rint(values))  # clipped in place, which is five times as fast
        return rounded.clip(limits.min, limits.max, out=rounded).astype(dtype)
