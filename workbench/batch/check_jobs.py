"""The jobs that each kernel is verified on, and the filters that it is held against."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from kernels.core.job import PIXEL_TYPES, Job
from kernels.core.plain_data import table_beside
from kernels.filters import Filter, all_filters
from kernels.pictures.generated import white
from kernels.rungs.headers import SMALLEST
from kernels.rungs.rung import OF_WEIGHTS, Rung, filter_of

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
_TABLE = table_beside(__file__)


@dataclass(frozen=True, slots=True)
class CheckJob:
    """One job; facts: what its name says of it besides that."""

    job: Job
    facts: str = ""

    @property
    def name(self) -> str:
        """Its name in tables: "7×7, 45×18 uint8 RGB, mirror"."""
        job = self.job
        size = f"{job.ksize}×{job.ksize}, {job.width}×{job.height}"
        name = f"{size} {job.pixel_type} {NAMES[job.channels]}, {job.border}"
        return name + ", offset" * bool(getattr(job.filter, "offset", 0)) + self.facts


@dataclass(frozen=True, slots=True)
class Asked:
    """The filter that outputs are held against.

    ksize       of all jobs; None: each job's own, or the nearest that the filter has
    parameters  by name; one left out takes its default
    """

    filter: Filter
    ksize: int | None = None
    parameters: Mapping[str, Any] = field(default_factory=dict)

    def of(self, job: Job) -> Job:
        """The job with this filter instead, and 0 for NaN and infinities it has no place for."""
        ksize = self.ksize or self.filter.nearest_size(job.ksize)
        offset = 0.0 if self.filter.gradient else job.correlation.offset
        made = self.filter.of_size(ksize, offset, white=white(job.picture.dtype), **self.parameters)
        picture = job.picture
        if not self.filter.has_weights and not np.isfinite(picture).all():
            most = np.inf if self.filter.group == "Order" else 0.0
            picture = np.nan_to_num(picture, nan=0.0, posinf=most, neginf=-most)
            picture.flags.writeable = False
        gradient, title = self.filter.gradient, self.filter.title
        return job.but(picture=picture, filter=made, gradient=gradient, title=title)


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
    return tuple(_made(rng, **row) for row in _TABLE["job"])


def counted(jobs: tuple[CheckJob, ...]) -> CheckJob:
    """The job whose loads, stores and operations are counted."""
    return jobs[COUNTED_AT]


def fitted(each: CheckJob, rung: Rung, *, is_strict: bool = False) -> Job:
    """The job as `rung` does it: with the length of a gradient, or a filter without weights.

    To a length no offset is added.  With wrap, and a filter that has a disk, only that counts.

    is_strict  its header does not choose
    """
    job = each.job.but(implementation=rung.key)
    if is_strict or rung.filter == "any":
        return job
    if rung.filter in OF_WEIGHTS:
        offset = 0.0 if rung.gradient else job.correlation.offset
        return job.but(gradient=rung.gradient, offset=offset)
    turns = _turns(rung.filter)
    asked = turns[job.height % len(turns)]
    return replace(asked, parameters={**asked.parameters, "is_disk": job.border == "wrap"}).of(job)


@cache
def _turns(does: str) -> tuple[Asked, ...]:
    """What a rung that does this of `rung.WORDS` is held against, in turns."""
    found = (Asked(each) for each in all_filters() if not each.has_weights)
    mine = (each for each in found if does in (each.filter.key, filter_of(each.of(SMALLEST))))
    given = ((each, _TABLE["turns"].get(each.filter.key, [{}])) for each in mine)
    return tuple(replace(each, parameters=one) for each, some in given for one in some)


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
    facts = "" if content == "noise" else f", {content}"
    return CheckJob(job, facts + ", drawn" * is_drawn)


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
