"""The jobs that every kernel of a check has to do: small, and with what kernels are wrong about."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from kernels.core.job import PIXEL_TYPES, Job
from kernels.core.plain_data import table_beside
from kernels.rungs.rung import Rung

SEED = 16  # of the timed picture: the same numbers on every computer
MAX_SEED = 1 << 31  # of those that are drawn
GAIN = 2.0  # Σ|w|
SMALL_GAIN = 1 / 32  # with which weights that are rounded to a fixed step are far off
SIZES = (5, 9, 11)  # of weights, of which one is drawn
NAMES = {1: "grey", 3: "RGB", 4: "RGBA"}  # by channels
# As check_jobs.toml has them.
Kind = Literal["any", "separable", "small", "uniform", "smooth", "holed"]
Content = Literal["noise", "black", "white", "NaN and infinity"]
COUNTED_AT = 3  # the 7×7 that shows best what a tile spares


@dataclass(frozen=True, slots=True)
class CheckJob:
    """One of them, and its name in tables: "7×7, 45×18 uint8 RGB, mirror"."""

    name: str
    job: Job


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
    table = table_beside(__file__)
    return tuple(_made(rng, **row) for row in table["job"])


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
    offset = 0.0 if rung.gradient else each.job.offset
    return each.job.but(implementation=rung.key, gradient=rung.gradient, offset=offset)


def _made(
    rng: np.random.Generator,
    *,
    channels: int,
    border: str,
    size: Any,
    weights: Kind,
    ksize: int = 0,
    pixel_type: str = "",
    content: Content = "noise",
    block_xy: tuple[int, int] = (32, 8),
    offset: float = 0.0,
) -> CheckJob:
    is_drawn = not np.isscalar(size[0]) or not pixel_type
    ksize = ksize or int(rng.choice(SIZES))
    pixel_type = pixel_type or str(rng.choice(PIXEL_TYPES))
    width, height = map(int, size if np.isscalar(size[0]) else rng.integers(*size))
    drawn = _weights(rng, ksize, weights)
    picture = _picture(rng, (height, width, channels), np.dtype(pixel_type), content)
    job = Job.of(picture, drawn, border, block_xy=(block_xy[0], block_xy[1]), offset=offset)
    facts = (
        f"{ksize}×{ksize}",
        f"{width}×{height} {pixel_type} {NAMES[channels]}",
        border,
        "offset" if offset else "",
        "" if content == "noise" else content,
        "drawn" if is_drawn else "",
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
    how: dict[str, Any] = {"ksize": 5, "pixel_type": "uint8", "channels": 3, "border": "mirror"}
    return _made(rng, **how, size=(1024, 1024), weights="uniform")
