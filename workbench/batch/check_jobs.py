"""The jobs that every kernel of a check has to do: small, and with what kernels are wrong about."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from kernels.core.job import PIXEL_TYPES, Job
from kernels.rungs.rung import Rung

SEED = 16  # of the timed picture: the same numbers on every computer
MAX_SEED = 1 << 31  # of those that are drawn
GAIN = 2.0  # Σ|w|
SMALL_GAIN = 1 / 32  # with which weights that are rounded to a fixed step are far off
# Sizes that are drawn: the least width and height, and the first ones that are not.
SMALL = (2, 2), (120, 120)
LARGE = (290, 250), (311, 271)
WIDE = (1025, 5), (2700, 12)
TALL = (5, 1025), (12, 2700)
SIZES = (5, 9, 11)  # of weights, of which one is drawn
NAMES = {1: "grey", 3: "RGB", 4: "RGBA"}  # by channels
# small: separable; smooth, holed: one is zero
Kind = Literal["any", "separable", "small", "uniform", "smooth", "holed"]
Content = Literal["noise", "black", "white", "NaN and infinity"]


@dataclass(frozen=True, slots=True)
class CheckJob:
    """One of them, and its name in tables: "7×7, 45×18 uint8 RGB, mirror"."""

    name: str
    job: Job


@dataclass(frozen=True, slots=True)
class _Shape:
    """What a kernel is compiled for: jobs that differ in nothing else take one compilation."""

    ksize: int
    pixel_type: str
    channels: int
    border: str
    block_xy: tuple[int, int] = (32, 8)
    offset: float = 0.0


# Of several jobs.
RGB_MIRROR = _Shape(7, "uint8", 3, "mirror")
RGB_REFLECT = _Shape(7, "uint16", 3, "reflect")
GREY_ZERO = _Shape(3, "float32", 1, "zero", (16, 4))
GREY_WRAP = _Shape(7, "float32", 1, "wrap")
GREY_MIRROR = _Shape(3, "uint8", 1, "mirror")
# Every border in grey and in RGB, and every pixel type.  At size 3 reflect would be clamp.
# Each with its size, or its least one and the first that are not: then one is drawn.
_TABLE: tuple[tuple[_Shape, Any, Kind, Content], ...] = (
    (_Shape(3, "uint8", 3, "clamp"), (37, 21), "separable", "noise"),
    (RGB_MIRROR, (45, 18), "any", "noise"),
    (GREY_ZERO, (70, 19), "any", "noise"),
    (GREY_WRAP, (53, 27), "small", "noise"),
    (_Shape(7, "uint8", 4, "reflect", offset=25.0), (4, 5), "uniform", "noise"),
    (RGB_REFLECT, (41, 23), "any", "noise"),
    (_Shape(3, "float16", 1, "clamp"), (67, 13), "separable", "noise"),
    (GREY_ZERO, TALL, "separable", "noise"),
    (RGB_MIRROR, SMALL, "separable", "noise"),
    (RGB_REFLECT, (35, 31), "separable", "noise"),
    (_Shape(3, "float32", 3, "zero"), (29, 34), "separable", "noise"),
    (_Shape(3, "uint8", 3, "wrap"), LARGE, "separable", "noise"),
    (GREY_MIRROR, WIDE, "separable", "noise"),
    (GREY_MIRROR, (59, 33), "any", "black"),
    (GREY_MIRROR, (59, 33), "smooth", "white"),
    (_Shape(7, "", 4, "reflect", offset=25.0), (61, 43), "separable", "noise"),  # type drawn
    (_Shape(15, "uint8", 3, "clamp", (8, 8)), (47, 29), "separable", "noise"),
    (GREY_WRAP, (2, 3), "small", "noise"),
    (GREY_ZERO, (33, 21), "holed", "NaN and infinity"),
    (_Shape(0, "uint16", 1, "reflect"), SMALL, "separable", "noise"),  # its size is drawn
)
COUNTED_AT = 3  # the 7×7 that shows best what a tile spares


@cache
def check_jobs(seed: int) -> tuple[CheckJob, ...]:
    """All of them.

    No picture but one is a multiple of a block; two are smaller than the weights, one of them than
    their half; one has many blocks and more samples than 16 bits count, one is wider and one taller
    than 1024, and five have sizes that `seed` draws, of the picture or also of the weights; one is
    black, one white, and one has samples far from the others, NaN and infinities.
    All samples and weights are drawn by it, so that no text can know them.
    Sums leave the range of their type; no weights are the same turned or mirrored, but for those
    that are uniform.  Some kernels ask for these, or for separable ones, which come with every
    border, in grey and in RGB.  Two have alpha, which no filter changes, and an offset: in several
    blocks, as a kernel may have a way of its own away from the edges.
    """
    rng = np.random.default_rng(seed)
    return tuple(_made(rng, *row) for row in _TABLE)


def counted(jobs: tuple[CheckJob, ...]) -> CheckJob:
    """The job whose loads, stores and operations are counted."""
    return jobs[COUNTED_AT]


def fitted(each: CheckJob, rung: Rung, *, is_strict: bool = False) -> Job:
    """The job as `rung` does it: with the length of a gradient, where it does only that.

    To that no offset is added.

    is_strict  its header does not choose
    """
    if is_strict:
        return each.job.but(implementation=rung.key)
    offset = 0.0 if rung.gradient else each.job.correlation.offset
    return each.job.but(implementation=rung.key, gradient=rung.gradient, offset=offset)


def _made(
    rng: np.random.Generator, shape: _Shape, size: Any, kind: Kind, content: Content
) -> CheckJob:
    ksize = shape.ksize or int(rng.choice(SIZES))
    pixel_type = shape.pixel_type or str(rng.choice(PIXEL_TYPES))
    is_drawn = isinstance(size[0], tuple)
    width, height = map(int, rng.integers(*size) if is_drawn else size)
    weights = _weights(rng, ksize, kind)
    picture = _picture(rng, (height, width, shape.channels), np.dtype(pixel_type), content)
    job = Job.of(picture, weights, shape.border, block_xy=shape.block_xy, offset=shape.offset)
    facts = (
        f"{ksize}×{ksize}",
        f"{width}×{height} {pixel_type} {NAMES[shape.channels]}",
        shape.border,
        "offset" if shape.offset else "",
        "" if content == "noise" else content,
        "drawn" if is_drawn or not shape.pixel_type else "",
    )
    return CheckJob(", ".join(filter(None, facts)), job)


def _weights(rng: np.random.Generator, ksize: int, kind: Kind) -> NDArray[np.float32]:
    weights, gain = rng.uniform(-1, 1, (ksize, ksize)), SMALL_GAIN if kind == "small" else GAIN
    if kind in ("separable", "small"):
        weights = np.outer(weights[0], weights[1])
    if kind == "uniform":
        weights = np.ones((ksize, ksize))
    if kind == "smooth":  # of which white stays white
        weights, gain = np.abs(weights), 1.0
    if kind in ("smooth", "holed"):
        weights[0, 0] = 0.0
    weights *= gain / np.abs(weights).sum()
    return weights.astype(np.float32)


def _picture(
    rng: np.random.Generator, shape: tuple[int, int, int], dtype: np.dtype[Any], content: Content
) -> NDArray[Any]:
    picture: NDArray[Any]
    if content in ("black", "white"):
        picture = np.full(shape, np.iinfo(dtype).max if content == "white" else 0, dtype)
    elif dtype.kind == "u":
        picture = rng.integers(0, np.iinfo(dtype).max, shape, dtype, endpoint=True)
    else:
        picture = rng.uniform(-1, 2, shape).astype(dtype)
    if content == "NaN and infinity":
        places = rng.choice(picture.size, 6, replace=False)
        picture.ravel()[places] = np.nan, np.inf, -np.inf, 1e6, -1e6, 1e5
    picture.flags.writeable = False
    return picture


@cache
def timed_job() -> CheckJob:
    """The one of a megapixel, which kernels are timed on: smooth, as most can do that."""
    rng = np.random.default_rng(SEED)
    return _made(rng, _Shape(5, "uint8", 3, "mirror"), (1024, 1024), "uniform", "noise")
