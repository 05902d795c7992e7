"""The jobs that every kernel of a check has to do: small, and with what kernels are wrong about."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from secrets import randbelow
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from kernels.core.job import Job
from kernels.rungs.rung import Rung

SEED = 16  # of the timed picture: the same numbers on every computer
MAX_SEED = 1 << 31
GAIN = 2.0  # Σ|w|
SMALL_GAIN = 1 / 32  # with which weights that are rounded to a fixed step are far off
# Sizes that are drawn: the least width and height, and the first ones that are not.
SMALL = (2, 2), (120, 120)
LARGE = (290, 250), (311, 271)
SIZES = (5, 9, 11)  # of weights, of which one is drawn
NAMES = {1: "grey", 3: "RGB", 4: "RGBA"}  # by channels
Kind = Literal["any", "separable", "uniform", "smooth"]
Content = Literal["noise", "black", "white"]


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


# Every border in grey and in RGB, and every pixel type.  At size 3 reflect would be clamp.
RGB_CLAMP = _Shape(3, "uint8", 3, "clamp")
RGB_MIRROR = _Shape(7, "uint8", 3, "mirror")
RGB_REFLECT = _Shape(7, "uint16", 3, "reflect")
RGB_ZERO = _Shape(3, "float32", 3, "zero")
RGB_WRAP = _Shape(3, "uint8", 3, "wrap")
GREY_ZERO = _Shape(3, "float32", 1, "zero", (16, 4))
GREY_WRAP = _Shape(7, "float32", 1, "wrap")
GREY_CLAMP = _Shape(3, "float16", 1, "clamp")
GREY_MIRROR = _Shape(3, "uint8", 1, "mirror")
GREY_REFLECT = _Shape(0, "uint16", 1, "reflect")  # its size is drawn
RGBA = _Shape(7, "uint8", 4, "reflect", offset=25.0)
COUNTED_AT = 3  # the 7×7 that shows best what a tile spares


@cache
def check_jobs(seed: int) -> tuple[CheckJob, ...]:
    """Return all of them.

    No picture but one is a multiple of a block; one is smaller than the weights, one has many
    blocks and more samples than 16 bits count, one is wider and one taller than 1024, and three
    have sizes that `seed` draws, of the picture or also of the weights; one is black, one white.
    All samples and weights are drawn by it, so that no text can know them.
    Sums leave the range of their type; no weights are the same turned or mirrored, but for those
    that are uniform.  Some kernels ask for these, or for separable ones, which come with every
    border, in grey and in RGB.  One has alpha, which no filter changes, and an offset.
    """
    return tuple(_all_of(np.random.default_rng(seed)))


def counted(jobs: tuple[CheckJob, ...]) -> CheckJob:
    """The job whose loads, stores and operations are counted."""
    return jobs[COUNTED_AT]


def drawn_seed() -> int:
    """Draw a seed, for the jobs of this check."""
    return randbelow(MAX_SEED)


def _all_of(rng: np.random.Generator) -> Iterator[CheckJob]:
    yield _made(rng, RGB_CLAMP, (37, 21), "separable")
    yield _made(rng, RGB_MIRROR, (45, 18), "any")
    yield _made(rng, GREY_ZERO, (70, 19), "any")
    yield _made(rng, GREY_WRAP, (53, 27), "separable", gain=SMALL_GAIN)
    yield _made(rng, RGBA, (4, 5), "uniform")
    yield _made(rng, RGB_REFLECT, (41, 23), "any")
    yield _made(rng, GREY_CLAMP, (67, 13), "separable")
    yield _made(rng, GREY_ZERO, (9, 1100), "separable")
    yield _made(rng, RGB_MIRROR, _size(rng, SMALL), "separable", words=", drawn")
    yield _made(rng, RGB_REFLECT, (35, 31), "separable")
    yield _made(rng, RGB_ZERO, (29, 34), "separable")
    yield _made(rng, RGB_WRAP, _size(rng, LARGE), "separable", words=", drawn")
    yield _made(rng, GREY_MIRROR, (1100, 9), "separable")
    yield _made(rng, GREY_MIRROR, (59, 33), "any", "black")
    yield _made(rng, GREY_MIRROR, (59, 33), "smooth", "white")
    shape = replace(GREY_REFLECT, ksize=int(rng.choice(SIZES)))
    yield _made(rng, shape, _size(rng, SMALL), "separable", words=", drawn")


def _size(
    rng: np.random.Generator, limits: tuple[tuple[int, int], tuple[int, int]]
) -> tuple[int, int]:
    width, height = rng.integers(*limits)
    return int(width), int(height)


def fitted(each: CheckJob, rung: Rung) -> Job:
    """Return the job as `rung` does it: with the length of a gradient, where it does only that.

    To that no offset is added.
    """
    offset = 0.0 if rung.gradient else each.job.offset
    return replace(each.job, implementation=rung.key, gradient=rung.gradient, offset=offset)


def _made(
    rng: np.random.Generator,
    shape: _Shape,
    size: tuple[int, int],
    kind: Kind,
    content: Content = "noise",
    *,
    gain: float = GAIN,
    words: str = "",
) -> CheckJob:
    width, height = size
    weights = _weights(rng, shape.ksize, kind, gain)
    picture = _picture(rng, (height, width, shape.channels), np.dtype(shape.pixel_type), content)
    job = Job(picture, weights, shape.border, block_xy=shape.block_xy, offset=shape.offset)
    facts = f"{shape.pixel_type} {NAMES[shape.channels]}, {shape.border}"
    offset = ", offset" if shape.offset else ""
    special = "" if content == "noise" else f", {content}"
    name = f"{shape.ksize}×{shape.ksize}, {width}×{height} {facts}{offset}{special}{words}"
    return CheckJob(name, job)


def _weights(rng: np.random.Generator, ksize: int, kind: Kind, gain: float) -> NDArray[np.float32]:
    weights = rng.uniform(-1, 1, (ksize, ksize))
    if kind == "separable":
        weights = np.outer(weights[0], weights[1])
    if kind == "uniform":
        weights = np.ones((ksize, ksize))
    if kind == "smooth":  # of which white stays white; one is zero
        weights, gain = np.abs(weights), 1.0
        weights[0, 0] = 0.0
    weights *= gain / np.abs(weights).sum()
    return weights.astype(np.float32)


def _picture(
    rng: np.random.Generator, shape: tuple[int, int, int], dtype: np.dtype[Any], content: Content
) -> NDArray[Any]:
    picture: NDArray[Any]
    if content != "noise":
        picture = np.full(shape, np.iinfo(dtype).max if content == "white" else 0, dtype)
    elif dtype.kind == "u":
        picture = rng.integers(0, np.iinfo(dtype).max, shape, dtype, endpoint=True)
    else:
        picture = rng.uniform(-1, 2, shape).astype(dtype)
    picture.flags.writeable = False
    return picture


@cache
def timed_job() -> CheckJob:
    """Return the one of a megapixel, which kernels are timed on: smooth, as most can do that."""
    rng = np.random.default_rng(SEED)
    return _made(rng, _Shape(5, "uint8", 3, "mirror"), (1024, 1024), "uniform")
