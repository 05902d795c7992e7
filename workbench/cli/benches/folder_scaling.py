"""A folder over several GPUs, timed in turns with one: the same files, the processes of `batch`.

All files are one, by other names, and not packed: decoding is not to be the limit.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic
from typing import Literal

from kernels.core.cores import usable_cores
from kernels.pictures.picture_kinds import of_kind
from workbench.batch.device_run import DeviceRun, processes_each
from workbench.batch.file_pairs import FilePairs, Group
from workbench.batch.filtering import UNTIMED, Recipe
from workbench.batch.finished_row import FinishedRow
from workbench.batch.stage_times import StageTimes
from workbench.batch.stages import Stage
from workbench.cli.benches.middle_rate import middle_per_s
from workbench.cli.command_error import CommandError
from workbench.files import image_files
from workbench.files.picture_errors import ImageFileError
from workbench.model.state import State

FILES = 512  # a few seconds, and four times as many as are under way at a time
SIDE = 2048
ROUNDS = 2  # in turns; the quickest counts, since whatever else runs only slows it down

Limit = Literal["files", "kernel"]


@dataclass(frozen=True, slots=True)
class FolderCell:
    """A filter for a folder.

    limit           what is meant to be it: files, with a filter that is done at once, by cores and
                    memory that all GPUs share; or the GPU's kernel
    implementation  None: the best there is
    """

    limit: Limit
    filter: str
    ksize: int
    implementation: str | None = None

    def __str__(self) -> str:
        return (
            f"folder {self.filter} {self.ksize}×{self.ksize} {SIDE}×{SIDE}, "
            f"{self.implementation or 'auto'}"
        )

    @property
    def recipe(self) -> Recipe:
        """Return what is done to each file."""
        chosen = State(filter=self.filter, ksize=self.ksize)
        return Recipe(chosen, self.implementation, sampling=UNTIMED, check_every=FILES)


CELLS = (FolderCell("files", "gaussian", 5), FolderCell("kernel", "gaussian", 63, "global"))


@dataclass(slots=True)
class FolderRate:
    """The rate at which some GPUs filtered the folder.

    per_s       pictures per second, of each round
    waited_for  the stage that the others waited for
    """

    devices: tuple[int, ...]
    per_s: tuple[float, ...] = ()
    waited_for: Stage | None = None

    @property
    def best(self) -> float:
        """Return the best round's."""
        return max(self.per_s)


def folder_rates(
    cell: FolderCell, sets: Sequence[tuple[int, ...]], say: Callable[[str], None]
) -> list[FolderRate]:
    """Measure a cell: all sets of GPUs take turns, and every second round turns them round.

    Raises CommandError where a picture fails, or the files cannot be made.
    """
    found = [FolderRate(devices) for devices in sets]
    with TemporaryDirectory(prefix="workbench-bench-") as name:
        source = _files(Path(name))
        for number in range(ROUNDS):
            for each in found if number % 2 == 0 else reversed(found):
                say(f"measuring {cell} on {len(each.devices)}")
                each.per_s += (_per_s(each, cell, source),)
    return found


def _files(folder: Path) -> Path:
    """Make the folder of all files."""
    source = folder / "in"
    try:
        source.mkdir()
        image_files.save(source / _name(0), of_kind("photo", SIDE, SIDE, 3, "uint8"))
        for number in range(1, FILES):
            os.link(source / _name(0), source / _name(number))
    except (ImageFileError, OSError) as error:  # a disk that is full, or has no links
        raise CommandError(str(error)) from error
    return source


def _name(number: int) -> str:
    return f"{number}.tif"


def _per_s(rate: FolderRate, cell: FolderCell, source: Path) -> float:
    """Return how many files are finished per second, and note what the others waited for."""
    out = source.parent / "out"
    out.mkdir()
    pairs = FilePairs([Group(source, out, tuple(map(_name, range(FILES))))], str)
    jobs, gpus = usable_cores(), len(rate.devices)
    processes = rate.devices * processes_each(jobs // gpus, FILES // gpus)
    run = DeviceRun(processes, cell.recipe, out, jobs, _refuse)
    times = StageTimes(FILES, jobs, engines=len(processes))
    finished_s: list[float] = []
    try:
        for row in _good(run.rows(pairs)):
            finished_s.append(monotonic())
            times.add(row)
    finally:
        shutil.rmtree(out, ignore_errors=True)
    rate.waited_for = times.limit
    return middle_per_s(finished_s)


def _good(rows: Iterator[FinishedRow]) -> Iterator[FinishedRow]:
    for row in rows:
        if row.error:
            raise CommandError(row.error)
        # Whose it is is of no account here.
        yield FinishedRow(row.source, row.output, row.status, seconds=row.seconds)


def _refuse(sentence: str) -> None:
    raise CommandError(sentence)
