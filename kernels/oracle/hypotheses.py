"""Why an output is wrong: it is held against other references, one of which may be what it is."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from kernels.core.borders import BORDERS, Span
from kernels.core.job import Job
from kernels.core.nonlinear import KINDS, MAX_KSIZE, Bilateral, Morphology, Rank
from kernels.core.poison import Mask
from kernels.core.verdict import CHANNELS, Limits
from kernels.oracle.nonlinear import Floats
from kernels.oracle.reference import filtered, to_pixel_type

FEWEST = 8  # wrong samples that have to fit: fewer may do so by chance
SIDE, SMALL, MAX_TAPS = 64, 8, 4_000_000  # of a tile in pixels, and products for its samples
MANY = 24  # tiles on which what fits is held once more
Tile = tuple[Span, Span]  # rows and columns
Places = NDArray[np.intp]  # (n, 3): row, column and channel of samples
LimitsOf = Callable[[Job], Limits]  # of outputs to a job


@dataclass(frozen=True, slots=True)
class Other:
    """What an output may be instead of the right one.

    kind    of what differs: those of one kind that fit are alike here, and the first is told
    job     that it is right for
    made    (job, rows, columns) -> its samples there, which `stored` makes what is in memory
    inset   pixels along each edge that are not compared
    """

    kind: str
    words: str
    job: Job
    made: Callable[[Job, Span, Span], Floats] = filtered
    stored: Callable[[Floats, np.dtype[Any]], NDArray[Any]] = to_pixel_type
    inset: int = 0


def why_wrong(
    job: Job, output: NDArray[Any], wrong: Places, limits: LimitsOf, *, is_all: bool
) -> Iterator[str]:
    """Yield at last a sentence on what a wrong output is, or where alone; empty: not known (yet).

    Of a large picture, parts around some wrong samples and in the corners are compared.

    output  like the job's picture
    is_all  whether no other samples that were checked are wrong
    """
    side = SIDE if job.taps * job.channels * SIDE**2 <= MAX_TAPS else SMALL
    bottom, right = job.height - 1, job.width - 1
    middles = [*wrong[[len(wrong) // 2, 0, -1], :2].tolist(), (0, 0), (0, right), (bottom, 0)]
    tiles = (_around(job, y, x, side) for y, x in (*middles, (bottom, right)))
    y, x = middles[0]
    places = {_around(job, y, x, SMALL): wrong[:0]}  # a glance: most others differ there
    places |= {each: wrong[_inside(wrong, each)] for each in tiles}
    parts = (output[slice(*rows), slice(*columns)] for rows, columns in places)
    is_varied = any((each != each[0, 0, 0]).any() for each in parts)
    found: dict[str, Other] = {}
    for each in _others(job) if is_varied else ():
        if _fits(each, output, places, limits(each.job)):
            found.setdefault(each.kind, each)
        yield ""
    if len(found) == 1:
        (other,) = found.values()
        for y, x in _spread(job, wrong, side):
            if _fits_in(other, output, _around(job, y, x, side), limits(other.job)) is False:
                return
            yield ""
        yield f"{other.words}."
    elif not found and is_all and job.strip is None:
        yield _where(job, output, wrong)


def _around(job: Job, y: int, x: int, side: int) -> Tile:
    pairs = (y, job.height), (x, job.width)
    top, left = (min(max(at - side // 2, 0), max(size - side, 0)) for at, size in pairs)
    return (top, min(top + side, job.height)), (left, min(left + side, job.width))


def _spread(job: Job, wrong: Places, side: int) -> list[list[int]]:
    """Middles of tiles that cover the picture, or of MANY, where samples are wrong."""
    grid = [[y, x] for y in range(0, job.height, side) for x in range(0, job.width, side)]
    if len(grid) <= MANY:
        return [[y + side // 2, x + side // 2] for y, x in grid]
    found: list[list[int]] = wrong[np.linspace(0, len(wrong) - 1, MANY).astype(int), :2].tolist()
    return found


def _inside(places: Places, tile: Tile) -> Mask:
    first, behind = np.transpose(tile)
    return np.asarray(((places[:, :2] >= first) & (places[:, :2] < behind)).all(1))


def _fits(other: Other, output: NDArray[Any], places: dict[Tile, Places], limits: Limits) -> bool:
    explained = 0
    for tile, wrong in places.items():
        if (part := _fits_in(other, output, tile, limits)) is False:
            return False
        explained += int(_inside(wrong, part).sum()) if part else 0
    return explained >= FEWEST and math.isfinite(limits.bound)


def _fits_in(
    other: Other, output: NDArray[Any], tile: Tile, limits: Limits
) -> Tile | Literal[False] | None:
    """The part of a tile that was compared, or False where it differs; None: nothing of it was."""
    rows, columns = (
        (max(first, other.inset), min(last, most - other.inset))
        for (first, last), most in zip(tile, output.shape, strict=False)
    )
    if rows[0] >= rows[1] or columns[0] >= columns[1]:
        return None
    is_it = _fitting(other, output, rows, columns, limits.bound + limits.levels).all()
    return (rows, columns) if is_it else False


def _fitting(other: Other, output: NDArray[Any], rows: Span, columns: Span, allowed: float) -> Mask:
    """Which samples of the output are the other's, as far as float32 knows it."""
    got, made = output[slice(*rows), slice(*columns)], other.made(other.job, rows, columns)
    if other.inset and other.job.has_alpha:
        made[..., -1] = _unchanged(other.job, rows, columns)[..., -1]
    with np.errstate(invalid="ignore", over="ignore"):
        low, high = (other.stored(made + off, got.dtype) for off in (-allowed, allowed))
        if got.dtype.kind == "u":  # they wrap around, as what is not saturated does
            return np.asarray(got - low <= high - low)
        return np.asarray(((low <= got) & (got <= high)) | (np.isnan(got) & np.isnan(made)))


def _others(job: Job) -> Iterator[Other]:
    """Yield what an output may be, the simplest of a kind first."""
    yield Other("unchanged", "It is the picture, unchanged", job, _unchanged)
    if job.is_one_launch:
        yield from _of_weights(job) if job.has_weights else _of_window(job)
    for border in (each for each in BORDERS if each != job.border):
        yield Other("border", f"Right if the border is {border}", job.but(border=border))
    for words, stored in STORED if job.picture.dtype.kind == "u" else CLAMPED:
        yield Other("stored", f"Right, but samples are {words}", job, stored=stored)
    for words, by in SHIFTS.items():
        yield Other("place", f"Right, but shifted {words}", job, partial(_shifted, by), inset=1)
    if job.channels > 2:
        orders = {"red and blue are exchanged": (2, 1, 0)}
        orders |= {f"every colour is {name}": (at,) * 3 for at, name in enumerate(COLOURS)}
        for words, order in orders.items():
            made = partial(_ordered, [*order, 3][: job.channels])
            yield Other("channels", f"Right, but {words}", job, made)
    if job.channels > 1 and job.is_one_launch:
        words = "It takes the next samples for its neighbours, not those of the next pixels"
        yield Other("channels", words, job, _of_next_samples, inset=job.reach)
    if job.opaque is not None:
        apart = replace(job, opaque=None)
        yield Other("alpha", "Right, but colours are not weighted by alpha", apart)
    elif job.has_alpha:
        yield Other("alpha", "Right, but alpha is filtered as well", job, _with_alpha)


def _of_weights(job: Job) -> Iterator[Other]:
    weights = job.correlation.weights.astype(np.float64)
    total, size = weights.sum() or 1.0, np.abs(weights)
    least = size[size > 0].min(initial=1.0)
    changed = {
        "weights are transposed": weights.T,
        "weights are flipped both ways, as in a convolution": weights[::-1, ::-1],
        "weights are flipped from left to right": weights[:, ::-1],
        "weights are flipped upside down": weights[::-1],
        "weights are rotated by 90°": np.rot90(weights),
        "outermost weights are left out": np.pad(weights[1:-1, 1:-1], 1),
        "last row and column of the weights are left out": np.pad(weights[:-1, :-1], (0, 1)),
        f"weights are divided by their sum, {total:g}": weights / total,
        "weights are divided by the sum of their magnitudes": weights / (size.sum() or 1.0),
        "sum is divided by the number of weights": weights / weights.size,
        f"weights are whole numbers, not divided by {1 / least:g}": weights / least,
    }
    for words, other in changed.items():
        with np.errstate(over="ignore"):  # what is not finite is left out
            kept = np.ascontiguousarray(other, np.float32)
        if kept.shape == weights.shape and np.isfinite(kept).all():
            yield Other("weights", f"Right if the {words}", job.but(weights=kept))
    for name, at in ORDERS.items():
        ranked = job.but(filter=Rank(job.ksize, at), gradient=False)
        yield Other("filter", f"It is the {name} of the window", ranked)
    if job.correlation.offset:
        yield Other("offset", "Right, but the offset is left out", job.but(offset=0.0))
    if job.steps[1:]:
        yield Other("length", "Right, but no length is taken", job.but(gradient=False))


def _of_window(job: Job) -> Iterator[Other]:
    chosen: Any = job.filter
    sizes = (each for each in (chosen.ksize - 2, chosen.ksize + 2) if 1 < each <= MAX_KSIZE)
    found = [("size", f"size is {each}", {"ksize": each}) for each in sizes]
    if isinstance(chosen, Rank | Morphology):
        shape = "square" if chosen.is_disk else "disk"
        found.append(("shape", f"window is a {shape}", {"is_disk": not chosen.is_disk}))
    if isinstance(chosen, Rank):
        orders, count = dict(ORDERS), chosen.window.sum()
        at = int(chosen.ranks(count)[0])
        for word, place in (("greater", at + 1), ("smaller", at - 1)):
            if 0 < place < count - 1:  # else it is the maximum or the minimum
                orders[f"next {word} sample of the window"] = 100 * (place + 0.5) / count
        found += [("order", f"{name} is taken", {"percentile": at}) for name, at in orders.items()]
    if isinstance(chosen, Morphology):
        found += [("order", f"{each.replace('_', '-')} is taken", {"kind": each}) for each in KINDS]
    if isinstance(chosen, Bilateral):
        no_colour, no_place = {"sigma_colour": FAR}, {"sigma_space": FAR}
        found.append(("weight", "weights are of distance alone, not of colour", no_colour))
        found.append(("weight", "weights are of colour alone, not of distance", no_place))
    for kind, words, changes in found:
        yield Other(kind, f"Right if the {words}", job.but(filter=replace(chosen, **changes)))


def _unchanged(job: Job, rows: Span, columns: Span) -> Floats:
    return job.picture[slice(*rows), slice(*columns)].astype(np.float64)


def _shifted(by: tuple[int, int], job: Job, rows: Span, columns: Span) -> Floats:
    (top, end), (left, right), (dy, dx) = rows, columns, by
    return filtered(job, (top + dy, end + dy), (left + dx, right + dx))


def _ordered(order: list[int], job: Job, rows: Span, columns: Span) -> Floats:
    return filtered(job, rows, columns)[..., order]


def _of_next_samples(job: Job, rows: Span, columns: Span) -> Floats:
    flat = job.but(picture=job.picture.reshape(job.height, -1, 1))
    left, right = (each * job.channels for each in columns)
    return filtered(flat, rows, (left, right)).reshape(rows[1] - rows[0], -1, job.channels)


def _with_alpha(job: Job, rows: Span, columns: Span) -> Floats:
    found = filtered(job, rows, columns)
    alone = job.but(picture=np.ascontiguousarray(job.picture[..., -1:]))
    found[..., -1:] = filtered(alone, rows, columns)
    return found


def _wrapped(values: Floats, dtype: np.dtype[Any]) -> NDArray[Any]:
    return values.astype(np.int64).astype(dtype)


ORDERS = {"minimum": 0.0, "median": 50.0, "maximum": 100.0}
SHIFTS = {"down": (-1, 0), "up": (1, 0), "right": (0, -1), "left": (0, 1)}  # and where it reads
SHIFTS |= {"down and right": (-1, -1), "down and left": (-1, 1)}
SHIFTS |= {"up and right": (1, -1), "up and left": (1, 1)}
COLOURS = CHANNELS[3]
FAR = 1e30  # a σ for which everything is near
STORED: tuple[tuple[str, Callable[[Floats, np.dtype[Any]], NDArray[Any]]], ...] = (
    ("cut off instead of rounded", lambda found, to: to_pixel_type(np.trunc(found), to)),
    ("not saturated: they wrap around", lambda found, to: _wrapped(np.rint(found), to)),
    ("neither rounded nor saturated: to_sample does both", _wrapped),
    # As a GPU does it, by way of unsigned int.
    ("neither rounded nor saturated: to_sample does both", lambda v, to: _wrapped(v.clip(0), to)),
)

# Of floats, which nothing bounds.
CLAMPED: tuple[tuple[str, Callable[[Floats, np.dtype[Any]], NDArray[Any]]], ...] = (
    ("clamped: negative ones became 0", lambda found, to: found.clip(0).astype(to)),
    ("clamped to 0..1", lambda found, to: found.clip(0, 1).astype(to)),
    ("clamped to 0..255, as of 8 bits", lambda found, to: found.clip(0, 255).astype(to)),
    ("rounded to whole numbers in 0..255", lambda v, to: np.rint(v).clip(0, 255).astype(to)),
)


def _where(job: Job, output: NDArray[Any], wrong: Places) -> str:
    """The sentence on where alone samples are wrong, and on what they are instead."""
    (y, x, channel), parts = wrong.T, []
    if job.channels > 1 and np.ptp(channel) == 0:
        parts.append(f"in {CHANNELS[job.channels][channel[0]]}")
    for line, at, size, block, samples in (
        ("row", y, job.height, job.block_xy[1], 1),
        ("column", x, job.width, job.block_xy[0], job.channels),
    ):
        last = size * samples % block or block  # samples of the last block
        for which, count, whole in (
            ("last", size - int(at.min()), last),
            ("first", int(at.max()) + 1, block),
        ):
            if count <= max(-(-block // samples), job.reach) and 2 * count < size:
                lines = f"{count} {line}s" if count > 1 else line
                is_block = f", the {which} {line} of blocks" * (count == -(-whole // samples))
                parts.append(f"in the {which} {lines}{is_block}")
    far = np.minimum.reduce((y, x, job.height - 1 - y, job.width - 1 - x))  # from the edge
    if far.max() < job.reach and 2 * job.reach < min(job.height, job.width):
        parts = parts or [f"within {far.max() + 1} pixels of the edges"]
    values = output[y, x, channel]
    if (output == values[0]).all():
        return f"It is {values[0]:g} everywhere."
    if (values == values[0]).all() and len(wrong) >= FEWEST:
        parts.append(f"where it is {values[0]:g}")
    return f"Wrong only {', '.join(parts)}." if parts else ""
