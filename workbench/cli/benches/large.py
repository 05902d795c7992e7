"""Measure a picture that is filtered in strips beside each stage alone: `workbench bench large`.

The slowest stage alone is the wall: disk, processor or GPU with its link.  Files lie in the folder
for temporary ones (TMPDIR), whose disk is measured.
"""

from __future__ import annotations

import json
import os
from argparse import Namespace
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

import numpy as np

from kernels import Engine, Job
from kernels.core.driving import outcome_of
from kernels.core.row_strips import RowStrip, strips_of
from kernels.core.version import program_version
from kernels.engine.strip_filter import StripFilter
from kernels.pictures.picture_kinds import of_kind
from kernels.sweeps.estimate import about
from workbench.base import diagnostics, numbers
from workbench.base.columns import aligned, columns
from workbench.batch.filtering import STRIPS_BYTES
from workbench.batch.large_filtering import filtering_file, rows_a_strip
from workbench.cli import this_machine
from workbench.cli.benches import peak_memory
from workbench.cli.command_error import CommandError
from workbench.cli.output_files import write_whole
from workbench.files.large_pictures import LargePicture
from workbench.files.picture_errors import ImageFileError
from workbench.files.tiled_tiff import TILE, TiledTiff, lay_out
from workbench.model.intents import job_for
from workbench.model.metadata import NO_METADATA
from workbench.model.state import State

SIDE = 12_288  # pixels; RGB of 8 bits
ROUNDS = 2  # in turns; the quickest counts
PLANNED_SIDE = 100_000  # of the picture that is planned from the rates
HEADER = ("", "time", "of the picture", "")


@dataclass(frozen=True, slots=True)
class Seconds:
    """The time of each stage while nothing else is done, and of all at a time."""

    read: float
    filter: float
    write: float
    all: float

    @property
    def wall(self) -> str:
        """Return the stage that takes longest by itself."""
        return max(("read", "filter", "write"), key=lambda name: float(getattr(self, name)))

    @property
    def of_wall(self) -> float:
        """Return the rate of all at a time over the slowest stage's; 1 is what can be had."""
        return float(getattr(self, self.wall)) / self.all


def run(arguments: Namespace) -> int:
    """Print the stages' rates, and write them where --json says."""
    engine = this_machine.engine_maker(arguments)()
    print(aligned(_facts(engine)), end="\n\n", flush=True)
    with TemporaryDirectory(prefix="workbench-bench-") as folder:
        try:
            found = _measured(engine, Path(folder), arguments.runs or ROUNDS)
        except (ImageFileError, OSError) as error:
            raise CommandError(str(error)) from error
    bytes_count = SIDE * SIDE * 3
    rows = [_row(name, seconds, bytes_count) for name, seconds in asdict(found).items()]
    print(columns([HEADER, *rows]))
    planned_s = found.all * (PLANNED_SIDE / SIDE) ** 2
    print(
        f"\nThe wall is to {found.wall}; all at a time reach {found.of_wall:.0%} of its rate, and "
        f"{PLANNED_SIDE:,}×{PLANNED_SIDE:,} pixels would take {about(planned_s)}."
    )
    print(f"{peak_memory().what}: {peak_memory().figure}")
    if arguments.json:
        data = {"program": program_version(), "cpu": this_machine.cpu(), "side": SIDE}
        everything = {**data, "bytes": bytes_count, "seconds": asdict(found), "wall": found.wall}
        write_whole(arguments.json, json.dumps(everything, indent=1))
    return 0


def _facts(engine: Engine) -> list[tuple[str, str]]:
    return [
        ("Bench", f"large, Filter Workbench {program_version()}"),
        ("CPU", this_machine.cpu()),
        ("GPU", diagnostics.gpu(engine.device)),
        ("Picture", f"{SIDE:,}×{SIDE:,} RGB, a TIFF of tiles, not packed; 5×5 Gaussian"),
    ]


def _row(name: str, seconds: float, bytes_count: int) -> tuple[str, ...]:
    what = {"all": "all at a time"}.get(name, f"{name} alone")
    rate = numbers.byte_rate(bytes_count / 1e9 / seconds)
    return what, numbers.duration(seconds * 1e3), rate, numbers.pixel_rate(SIDE**2 / 1e6 / seconds)


def _measured(engine: Engine, folder: Path, rounds: int) -> Seconds:
    """Return the best times of some rounds, in which stages and all of them take turns."""
    source = folder / "in.tif"
    _write_source(source)
    found = [_round(engine, source, folder / "out.tif") for _ in range(rounds)]
    return Seconds(*(min(times) for times in zip(*found, strict=True)))


def _write_source(path: Path) -> None:
    lay_out(path, (SIDE, SIDE, 3), np.dtype(np.uint8), NO_METADATA)
    with TiledTiff(path) as tiff:
        rows = of_kind("photo", TILE, SIDE, 3, "uint8")
        for first in range(0, SIDE, TILE):
            tiff.fill(first, rows[: SIDE - first])
        tiff.sync()


def _round(engine: Engine, source: Path, target: Path) -> list[float]:
    """Return the seconds of reading, filtering and writing alone, and of all."""
    with LargePicture(source, kept=State().ksize + 1) as picture:
        job = job_for(State(picture=picture.sample()))
        assert job is not None
        rows = rows_a_strip(picture, job, STRIPS_BYTES)
        strips = list(strips_of(SIDE, rows, job.reach, job.border))
        forget(source)
        alone = [
            _seconds(lambda: _read(picture, strips)),
            _filter_seconds(engine, picture, job, strips),
            _seconds(lambda: _write(picture, target, strips)),
        ]
        target.unlink()
        forget(source)

        def everything() -> None:
            outcome_of(filtering_file(engine, picture, target, job, memory_bytes=STRIPS_BYTES))

        alone.append(_seconds(everything))
        target.unlink()
        return alone


def forget(path: Path) -> None:
    """Let the system forget what it holds of a file, where it can: the disk is to be read."""
    with suppress(AttributeError, OSError), path.open("rb") as file:
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def _read(picture: LargePicture, strips: list[RowStrip]) -> None:
    room = np.empty((max(each.height for each in strips), SIDE, 3), np.uint8)
    for strip in strips:
        for first, end in strip.spans:
            picture.rows(first, end, room[: end - first])


def _filter_seconds(
    engine: Engine, picture: LargePicture, job: Job, strips: list[RowStrip]
) -> float:
    """Return how long filtering takes, once what is to be chosen is chosen."""
    strip_filter, room = StripFilter(engine, job), picture.rows(0, strips[0].height)

    def filter_one(height: int) -> None:
        for _ in strip_filter.filtering(room[:height]):
            pass

    filter_one(strips[0].height)

    def filter_all() -> None:
        for strip in strips:
            filter_one(min(strip.height, len(room)))

    return _seconds(filter_all)


def _write(picture: LargePicture, target: Path, strips: list[RowStrip]) -> None:
    room = picture.rows(0, strips[0].end)
    lay_out(target, (SIDE, SIDE, 3), room.dtype, NO_METADATA)
    with TiledTiff(target) as tiff:
        for strip in strips:
            tiff.fill(strip.first, room[: strip.end - strip.first])
            tiff.sync()


def _seconds(work: Callable[[], object]) -> float:
    began = perf_counter()
    work()
    return perf_counter() - began
