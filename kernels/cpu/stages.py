"""What filters a picture on the CPU tile by tile: stages, each given a tile's surroundings."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernels.core.borders import counted, read
from kernels.core.job import Job
from kernels.core.nonlinear import Guided, Morphology, Rank

FLOAT32_MAX = float(np.finfo(np.float32).max)
Samples = NDArray[np.float32]
Tile = tuple[int, int, int, int]  # top, bottom, left, right


@dataclass(frozen=True, slots=True)
class Around:
    """What a stage is given to fill a tile.

    samples  with the stage's radius around them, without alpha: (rows, columns, C) float32
    counts   which of these pixels do
    picture  the picture's own samples in the tile, likewise
    """

    samples: Samples
    counts: NDArray[np.bool_]
    picture: Samples


Fill = Callable[[Around], NDArray[Any]]  # to the tile's samples: (rows, columns, makes · C)


@dataclass(frozen=True, slots=True)
class Stage:
    """One pass over the picture, or over what the stage before made of it."""

    radius: int
    fill: Fill
    makes: int = 1  # samples for one


Stages = tuple[Stage, ...]


def morphology(chosen: Morphology, of_rank: Callable[[Rank], Fill]) -> Stages:
    """Its stages, by what fills a tile with a minimum or a maximum."""
    first, second = map(of_rank, chosen.ranks)
    lasts: dict[str, Fill] = {
        "top_hat": lambda around: around.picture - second(around),
        "black_hat": lambda around: second(around) - around.picture,
    }
    if chosen.kind == "gradient":
        return (Stage(chosen.radius, lambda around: first(around) - second(around)),)
    return Stage(chosen.radius, first), Stage(chosen.radius, lasts.get(chosen.kind, second))


def guided(chosen: Guided, means: Callable[[Any, Any, int], NDArray[np.float64]]) -> Stages:
    """Its stages, by what makes means of (rows, columns, C) where (rows, columns) count.

    In double precision, where taking one from another leaves enough.
    """

    def factors(around: Around) -> NDArray[Any]:
        given = around.samples.astype(np.float64)
        mean, squares = (means(e, around.counts, chosen.ksize) for e in (given, given**2))
        variance = np.maximum(squares - mean**2, 0)
        a = variance / (variance + chosen.epsilon)
        return np.concatenate((a, (1 - a) * mean), 2)

    def last(around: Around) -> NDArray[Any]:
        given = around.samples.astype(np.float64)
        a, b = np.split(means(given, around.counts, chosen.ksize), 2, axis=2)
        return np.asarray(a * around.picture + b)

    return Stage(chosen.radius, factors, 2), Stage(chosen.radius, last)


def tiles_of(height: int, width: int, rows: int, columns: int) -> list[Tile]:
    """Cover height × width once, in order, with tiles of so many rows and columns."""
    corners = product(range(0, height, rows), range(0, width, columns))
    return [(y, min(y + rows, height), x, min(x + columns, width)) for y, x in corners]


def filling(
    job: Job,
    out: NDArray[Any],
    stages: Stages,
    tiles: Sequence[Tile],
    at_once: int = 1,
    share: Callable[[Callable[[Tile], None], Iterable[Tile]], Iterable[None]] = map,
) -> Iterator[float]:
    """Fill an array like job.picture, `at_once` tiles at a time, and yield the share that is done.

    Between stages samples are float32, and continued by the job's border.
    """
    colours = job.channels - job.has_alpha
    given = job.picture[..., :colours]
    for number, stage in enumerate(stages):
        made = out[..., :colours]
        if stage is not stages[-1]:
            made = np.empty((job.height, job.width, stage.makes * colours), np.float32)

        def fill(tile: Tile, stage: Stage = stage, given: Any = given, made: Any = made) -> None:
            with np.errstate(all="ignore"):  # what is too large is infinite
                top, bottom, left, right = tile
                found = stage.fill(_around(job, given, stage.radius, tile))
                _store(found, made[top:bottom, left:right])

        for first in range(0, len(tiles), at_once):
            list(share(fill, tiles[first : first + at_once]))
            yield (number + min(first + at_once, len(tiles)) / len(tiles)) / len(stages)
        given = made
    out[..., colours:] = job.picture[..., colours:]


def _around(job: Job, given: NDArray[Any], radius: int, tile: Tile) -> Around:
    top, bottom, left, right = tile
    rows, columns = (top - radius, bottom + radius), (left - radius, right + radius)
    samples = read(given, job.border, rows, columns).astype(np.float32, copy=False)
    counts = counted(*rows, job.height, job.border)[:, np.newaxis] & counted(
        *columns, job.width, job.border
    )
    own = job.picture[top:bottom, left:right, : job.channels - job.has_alpha]
    return Around(samples, counts, own.astype(np.float32, order="C"))


def _store(found: NDArray[Any], into: NDArray[Any]) -> None:
    """Put samples into a tile, integers rounded half to even and saturated."""
    if into.dtype.kind == "u":
        found = np.rint(found).clip(0, np.iinfo(into.dtype).max)
    np.copyto(into, found, casting="unsafe")


def reciprocal(width: float) -> np.float32:
    """1 / width, or the largest number there is."""
    return np.float32(min(1 / width, FLOAT32_MAX))
