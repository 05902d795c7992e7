"""The jobs that every kernel of a check has to do: small, and with what kernels are wrong about."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from kernels.core.job import Job
from kernels.rungs.rung import Rung

SEED = 16  # the same numbers on every computer
GAIN = 2.0  # Σ|w|
NAMES = {1: "grey", 3: "RGB", 4: "RGBA"}  # by channels
Kind = Literal["any", "separable", "uniform"]
Shape = tuple[int, tuple[int, int, int], str, str, Kind, tuple[int, int], float]


@dataclass(frozen=True, slots=True)
class CheckJob:
    """One of them, and its name in tables: "7×7, 45×18 uint8 RGB, mirror"."""

    name: str
    job: Job


@cache
def check_jobs() -> tuple[CheckJob, ...]:
    """Return all of them.

    No picture is a multiple of a block, one is smaller than the weights; all borders and pixel
    types occur; sums leave the range of their type; no weights are the same turned or mirrored, but
    for those that are uniform.  Some kernels ask for these, or for separable ones.  One has alpha,
    which no filter changes, and an offset.
    """
    rng = np.random.default_rng(SEED)
    shapes: tuple[Shape, ...] = (
        (3, (21, 37, 3), "uint8", "clamp", "separable", (32, 8), 0.0),
        (7, (18, 45, 3), "uint8", "mirror", "any", (32, 8), 0.0),
        (3, (19, 70, 1), "float32", "zero", "any", (16, 4), 0.0),
        (7, (27, 53, 1), "float32", "wrap", "separable", (32, 8), 0.0),
        (7, (5, 4, 4), "uint8", "reflect", "uniform", (32, 8), 25.0),
        (3, (23, 41, 3), "uint16", "mirror", "any", (32, 8), 0.0),
        (3, (13, 67, 1), "float16", "clamp", "separable", (32, 8), 0.0),
    )
    return tuple(_made(rng, *each) for each in shapes)


def fitted(each: CheckJob, rung: Rung) -> Job:
    """Return the job as `rung` does it: with the length of a gradient, where it does only that.

    To that no offset is added.
    """
    offset = 0.0 if rung.gradient else each.job.offset
    return replace(each.job, implementation=rung.key, gradient=rung.gradient, offset=offset)


def _made(
    rng: np.random.Generator,
    ksize: int,
    shape: tuple[int, int, int],
    pixel_type: str,
    border: str,
    kind: Kind,
    block_xy: tuple[int, int],
    offset: float,
) -> CheckJob:
    height, width, channels = shape
    weights = rng.uniform(-1, 1, (ksize, ksize))
    if kind == "separable":
        weights = np.outer(weights[0], weights[1])
    if kind == "uniform":
        weights = np.ones((ksize, ksize))
    weights *= GAIN / np.abs(weights).sum()
    picture: NDArray[Any]
    dtype = np.dtype(pixel_type)
    if dtype.kind == "u":
        picture = rng.integers(0, np.iinfo(dtype).max, shape, dtype, endpoint=True)
    else:
        picture = rng.uniform(-1, 2, shape).astype(dtype)
    picture.flags.writeable = False
    job = Job(picture, weights.astype(np.float32), border, block_xy=block_xy, offset=offset)
    samples = f"{pixel_type} {NAMES[channels]}"
    name = f"{ksize}×{ksize}, {width}×{height} {samples}, {border}{', offset' if offset else ''}"
    return CheckJob(name, job)


@cache
def timed_job() -> CheckJob:
    """Return the one of a megapixel, which kernels are timed on: smooth, as most can do that."""
    rng = np.random.default_rng(SEED)
    return _made(rng, 5, (1024, 1024, 3), "uint8", "mirror", "uniform", (32, 8), 0.0)


COUNTED = check_jobs()[3]  # 7×7, which shows best what a tile spares
