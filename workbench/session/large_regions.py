"""Parts of a picture larger than memory at full resolution: how they are read and filtered."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernels.core.job import Job, Pick, Progress, Result, Sampling
from kernels.core.picture_parts import Surroundings, surroundings_of
from kernels.engine.engine import Engine
from workbench.files.large_pictures import RegionReader
from workbench.imaging.display import Display, show
from workbench.imaging.display_mapping import DisplayMapping
from workbench.imaging.pictures import Picture, Region

HALO = 16  # the surroundings are read in multiples of it, so that another size reads none anew
ONCE = Sampling(max_samples=0, cache="warm", check=False)  # for the answer alone


@dataclass(frozen=True, slots=True, eq=False)
class RegionRequest:
    """A wish for a region: which, and how it is filtered and shown.

    picture  the copy that is shown of the whole
    job      what filters the copy
    dtype    what samples are filtered as: float32 where results below zero are kept
    before, after  how pictures are shown
    """

    picture: Picture
    region: Region
    job: Job
    dtype: np.dtype[Any]
    before: DisplayMapping
    after: DisplayMapping

    @property
    def surroundings(self) -> Surroundings:
        """Part of the whole to be read for it."""
        large = self.picture.large
        assert large is not None
        reach = -(-self.job.reach // HALO) * HALO
        size_hw = large.height, large.width
        return surroundings_of(
            self.region.rows, self.region.columns, size_hw, reach, self.job.border
        )


@dataclass(frozen=True, slots=True, eq=False)
class RegionPicture:
    """The samples of a region, (H, W, C), before or after, ready to be shown.

    picked  what ran where the job asked for `auto`
    """

    request: RegionRequest
    samples: NDArray[Any]
    display: Display
    picked: Pick | None = None


def read_region(reader: RegionReader, request: RegionRequest) -> tuple[NDArray[Any], RegionPicture]:
    """Read the samples to be filtered, and the region itself, ready to be shown."""
    picture, wanted = request.picture, request.surroundings
    assert picture.path is not None
    samples = reader.read(picture.path, str(picture.samples.dtype), wanted)
    own = np.ascontiguousarray(samples[wanted.own])
    before = RegionPicture(request, own, show(own, request.before))
    return samples.astype(request.dtype, copy=False), before


def filtering_region(
    request: RegionRequest, samples: NDArray[Any], engine: Engine
) -> Iterator[Progress | RegionPicture]:
    """Filter the samples; the last step is the region's part of the output."""
    for step in engine.filtering(replace(request.job, picture=samples), ONCE):
        if isinstance(step, Result):
            own = np.ascontiguousarray(step.picture[request.surroundings.own])
            yield RegionPicture(request, own, show(own, request.after), step.picked)
        else:
            yield step
