"""A folder over several GPUs, timed in turns with one: the same files, a process for each GPU.

All files are one, by other names, and not packed: neither the disk nor decoding is to be the limit.
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
from workbench.batch.device_run import AT_ONCE, DeviceRun
from workbench.batch.file_pairs import FilePairs, Group
from workbench.batch.filtering import UNTIMED, Recipe
from workbench.batch.finished_row import FinishedRow
from workbench.batch.stage_times import StageTimes
from workbench.batch.stages import Stage
from workbench.cli.command_error import CommandError
from workbench.files import image_files
from workbench.model.state import State

FILES, SIDE = 64, 4096
ROUNDS = 2  # in turns; the quickest counts, since whatever else runs only slows it down

Limit = Literal["link", "kernel"]


@dataclass(frozen=True, slots=True)
class FolderCell:
    """A filter for a folder.

    limit           what is meant to be the GPU's limit with it
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


CELLS = (FolderCell("link", "gaussian", 5), FolderCell("kernel", "gaussian", 63, "global"))


@dataclass(slots=True)
class FolderRate:
    """The rate at which some GPUs filtered the folder.

    per_s  pictures per second, once all processes are at work, of each round
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
    cell: FolderCell, counts: Sequence[tuple[int, ...]], say: Callable[[str], None]
) -> list[FolderRate]:
    """Measure a cell: all sets of GPUs take turns, and every second round turns them round.

    Raises CommandError where a picture fails.
    """
    found = [FolderRate(devices) for devices in counts]
    with TemporaryDirectory(prefix="workbench-bench-") as name:
        pairs = _pairs(Path(name))
        for number in range(ROUNDS):
            for each in found if number % 2 == 0 else reversed(found):
                say(f"measuring {cell} on {len(each.devices)}")
                _add_round(each, cell, pairs, Path(name) / "out")
    return found


def _pairs(folder: Path) -> FilePairs:
    source = folder / "in"
    source.mkdir()
    names = tuple(f"{number}.tif" for number in range(FILES))
    image_files.save(source / names[0], of_kind("photo", SIDE, SIDE, 3, "uint8"))
    for name in names[1:]:
        os.link(source / names[0], source / name)
    return FilePairs([Group(source, folder / "out", names)], str)


def _add_round(rate: FolderRate, cell: FolderCell, pairs: FilePairs, out: Path) -> None:
    out.mkdir()
    jobs = usable_cores()
    run = DeviceRun(rate.devices, cell.recipe, out, jobs, _refuse)
    times, ends = StageTimes(FILES, jobs, engines=len(rate.devices)), []
    try:
        for row in _good(run.rows(pairs)):
            ends.append(monotonic())
            times.add(row)
    finally:
        shutil.rmtree(out, ignore_errors=True)
    # The first ones wait for what the processes load and compile.
    first = min(AT_ONCE * len(rate.devices), FILES - 2)
    rate.per_s += ((FILES - 1 - first) / max(ends[-1] - ends[first], 1e-9),)
    rate.waited_for = times.limit


def _good(rows: Iterator[FinishedRow]) -> Iterator[FinishedRow]:
    for row in rows:
        if row.error:
            raise CommandError(row.error)
        # Whose it is is of no account here.
        yield FinishedRow(row.source, row.output, row.status, seconds=row.seconds)


def _refuse(sentence: str) -> None:
    raise CommandError(sentence)
