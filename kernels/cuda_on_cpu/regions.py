"""The device of a run on the CPU, and parts of a picture: regions, and some rows alone."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernels.core.device import Device
from kernels.core.job import Job, Progress
from kernels.core.plain_data import from_plain, table_beside
from kernels.core.poison import is_as_before
from kernels.core.verdict import Check
from kernels.oracle.checking import checking
from kernels.rungs.rung import Rung

DEVICE = from_plain(Device, table_beside(__file__))

TRIED_SIZE = (253, 189)  # no multiple of a block: what goes wrong at an edge is to be seen
COUNTED_SIZE = (128, 64)
# Several blocks, of which the last ones are cut.  What is written into the gap behind a row, where
# vectors may end, is no fault: the first is so wide that blocks end behind it, the other has none.
ODD_SIZE = (65, 37)
FAR_SIZE = (272, 263)  # what is wrong in a far block alone is to be seen


@dataclass(frozen=True, slots=True)
class Region:
    """A rectangle of a picture, in pixels."""

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
    """The `size` pixels around `at`, or around the middle, or as many as there are."""
    width, height = min(size[0], job.width), min(size[1], job.height)
    x, y = at or (job.width // 2, job.height // 2)
    left = min(max(x - width // 2, 0), job.width - width)
    top = min(max(y - height // 2, 0), job.height - height)
    return Region(left, top, width, height, (width, height) == (job.width, job.height))


def cropped(job: Job, region: Region) -> Job:
    """The job on that part of its picture alone, with the borders of that."""
    if region.is_whole:
        return job
    rows = slice(region.top, region.top + region.height)
    columns = slice(region.left, region.left + region.width)
    picture = np.ascontiguousarray(job.picture[rows, columns])
    picture.flags.writeable = False
    return job.but(picture=picture)


def part_of(job: Job, size: tuple[int, int]) -> Job:
    """The job on the middle of its picture alone."""
    return cropped(job, region_of(job, size, None))


def small_size(job: Job) -> tuple[int, int]:
    """The size of a picture on which a bug shows: two blocks each way, and a bit."""
    x, y = job.block_xy
    width = max(ODD_SIZE[0], 2 * x // job.channels + 13, 2 * job.reach + 13)
    height = max(ODD_SIZE[1], 2 * y + 5, 2 * job.reach + 5)
    return width, height


def checked(rung: Rung, job: Job, answer: NDArray[Any]) -> Generator[Progress, None, Check]:
    for check in checking(job, answer, rung.tolerance(job), max_taps=None):  # noqa: B007
        yield Progress("checking the output")
    return check


Rows = tuple[int, int]  # the first, and the one behind the last


def launched_for(rows: Rows) -> str:
    return f"Only rows {rows[0]} to {rows[1] - 1} were asked for (from first_row, before end_row)."


def rows_to_try(height: int) -> Rows:
    """Choose rows of a picture, as a rule neither its first nor its last.

    They begin at an odd one, where no block begins when all rows are requested.
    """
    first = min(height // 3 | 1, height - 1)
    return first, max(height - height // 4, first + 1)


def rows_fault(
    rung: Rung,
    job: Job,
    rows: Rows,
    whole: NDArray[Any],
    some: NDArray[Any],
    as_before: NDArray[np.bool_],
) -> Generator[Progress, None, tuple[str, tuple[int, int] | None]]:
    """Compare an output of some rows with one of all, which is right.

    as_before  the samples of `some` that have every bit that they were filled with
    Return the sentence for a fault, "" for none, with "{who}" where a thread wrote a row that was
    not requested; then the row and the sample in it that this thread wrote first.
    """
    first, end = rows
    written = ~as_before
    written[first:end] = False
    if written.any():
        y, x, channel = (int(each[0]) for each in np.nonzero(written))
        place = y, x * job.channels + channel
        return f"{{who}} writes row {y}. {launched_for(rows)}", place
    differs = ~is_as_before(whole, some)
    differs[:first] = differs[end:] = False
    if not differs.any():
        return "", None
    spliced = whole.copy()
    spliced[first:end] = some[first:end]
    check = yield from checked(rung, job, spliced)  # it may add up in another order
    y = int(np.nonzero(differs)[0][0])
    words = f"Row {y} comes out wrong, and right where all rows are asked for."
    return ("" if check.ok else f"{words} {launched_for(rows)}"), None
