"""The part of a picture that a run on the CPU takes: all of a large one would take minutes."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from kernels.core.job import Job

TRIED_SIZE = (253, 189)  # no multiple of a block: what goes wrong at an edge is to be seen
COUNTED_SIZE = (128, 64)
ODD_SIZE = (61, 37)  # several blocks, of which the last ones are cut, and rows that end in a gap


@dataclass(frozen=True, slots=True)
class Region:
    """A rectangle of a picture, in pixels.

    is_whole  whether it is all of it
    """

    left: int
    top: int
    width: int
    height: int
    is_whole: bool

    def __str__(self) -> str:
        if self.is_whole:
            return "the whole picture"
        return f"{self.width}×{self.height} pixels from x {self.left}, y {self.top}"


def region_of(job: Job, size: tuple[int, int], at: tuple[int, int] | None) -> Region:
    """Return `size` pixels around `at`, or around the middle, or as many as there are."""
    width, height = min(size[0], job.width), min(size[1], job.height)
    x, y = at or (job.width // 2, job.height // 2)
    left = min(max(x - width // 2, 0), job.width - width)
    top = min(max(y - height // 2, 0), job.height - height)
    return Region(left, top, width, height, (width, height) == (job.width, job.height))


def cropped(job: Job, region: Region) -> Job:
    """Return the job on that part of its picture alone, with the borders of that."""
    if region.is_whole:
        return job
    rows = slice(region.top, region.top + region.height)
    columns = slice(region.left, region.left + region.width)
    picture = np.ascontiguousarray(job.picture[rows, columns])
    picture.flags.writeable = False
    return replace(job, picture=picture)


def small_size(job: Job) -> tuple[int, int]:
    """Return the size of a picture on which a bug shows: two blocks each way, and a bit."""
    x, y = job.block_xy
    width = max(ODD_SIZE[0], 2 * x // job.channels + 13, 2 * job.reach + 13)
    height = max(ODD_SIZE[1], 2 * y + 5, 2 * job.reach + 5)
    return width, height
