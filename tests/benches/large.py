"""A picture filtered in strips beside each stage alone: `python -m tests.benches.large`.

The slowest stage alone is the wall: disk, processor, or GPU, its kernel or its link.  Files lie in
the folder for temporary ones (TMPDIR), whose disk is measured.
"""

from __future__ import annotations

import json
import os
import sys
from argparse import Namespace
from contextlib import closing, suppress
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from kernels import Engine, Job, Result
from kernels.core.borders import RowStrip, strips_of
from kernels.core.device_turns import outcome_of
from kernels.core.version import program_version
from kernels.engine.engine import StripFilter
from kernels.pictures.generated import of_kind
from kernels.sweeps.estimate import about
from tests.benches import bench
from tests.benches.bench import peak_bytes, peak_memory
from workbench.base import diagnostics, numbers
from workbench.base.columns import aligned, columns
from workbench.batch.filtering import STRIPS_BYTES
from workbench.batch.large_filtering import filtering_file, rows_a_strip
from workbench.cli import this_machine
from workbench.cli.benches.ways import seconds_of
from workbench.cli.output import CommandError, write_whole
from workbench.files.large_pictures import LargePicture
from workbench.files.picture_errors import ImageFileError
from workbench.files.tiff_rows import TILE, TiledTiff, lay_out
from workbench.imaging.pictures import NO_METADATA
from workbench.model.intents import job_for
from workbench.model.state import State

SIDE = 12_288  # pixels; RGB of 8 bits
ROUNDS = 2  # in turns; the quickest counts
PLANNED_SIDE = 100_000  # of the picture that is planned from the rates
STAGES = ("read", "filter", "write", "all")
TITLES = {
    "read": "read alone",
    "filter": "filter alone",
    "link": "of that: link",
    "kernel": "of that: kernel",
    "write": "write alone",
    "all": "all at a time",
}
HEADER = ("", "time", "of the picture", "")


@dataclass(frozen=True, slots=True)
class Seconds:
    """The time of each stage while nothing else is done, and of all at a time.

    link, kernel  of filtering, on a GPU: bringing the strips there and back, and its kernels
    """

    read: float
    filter: float
    write: float
    all: float
    link: float | None = None
    kernel: float | None = None

    @property
    def wall(self) -> str:
        """The stage that takes longest by itself."""
        return max(("read", "filter", "write"), key=lambda name: float(getattr(self, name)))

    @property
    def wall_in_words(self) -> str:
        """The limit of that stage."""
        if self.wall != "filter":
            return f"the disk, to {self.wall}"
        if self.link is None or self.kernel is None:
            return "the processor, to filter"
        return "the GPU's kernel" if self.kernel > self.link else "the GPU's link"

    @property
    def of_wall(self) -> float:
        """The rate of all at a time over the slowest stage's; 1 is the most."""
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
    times = ((name, getattr(found, name)) for name in TITLES)
    rows = (_row(name, taken, bytes_count) for name, taken in times if taken is not None)
    print(columns([HEADER, *rows]))
    planned_s = found.all * (PLANNED_SIDE / SIDE) ** 2
    print(
        f"\nThe wall is {found.wall_in_words}; all at a time reach "
        f"{numbers.percent(found.of_wall)} of its rate, and {PLANNED_SIDE:,}×{PLANNED_SIDE:,} "
        f"pixels would take {about(planned_s)}."
    )
    print(f"{peak_memory().what}: {peak_memory().figure}")
    if arguments.json:
        data = {
            **this_machine.heading("large", engine),
            "side": SIDE,
            "bytes": bytes_count,
            "seconds": asdict(found),
            "wall": found.wall_in_words,
            "of_wall": found.of_wall,
            "peak_bytes": peak_bytes(),
        }
        write_whole(arguments.json, json.dumps(data, indent=1))
    return 0


def _facts(engine: Engine) -> list[tuple[str, str]]:
    return [
        ("Bench", f"large, Filter Workbench {program_version()}"),
        ("CPU", this_machine.cpu()),
        ("GPU", diagnostics.gpu(engine.device)),
        ("Picture", f"{SIDE:,}×{SIDE:,} RGB, a TIFF of tiles, not packed; 5×5 Gaussian"),
    ]


def _row(name: str, seconds: float, bytes_count: int) -> tuple[str, ...]:
    what = TITLES[name]
    rate = numbers.byte_rate(bytes_count / 1e9 / seconds)
    return what, numbers.duration(seconds * 1e3), rate, numbers.pixel_rate(SIDE**2 / 1e6 / seconds)


def _measured(engine: Engine, folder: Path, rounds: int) -> Seconds:
    """Take the best times of some rounds, in which stages and all of them take turns."""
    source = folder / "in.tif"
    lay_out(source, (SIDE, SIDE, 3), np.dtype(np.uint8), NO_METADATA)
    with closing(TiledTiff(source)) as tiff:
        rows = of_kind("photo", TILE, SIDE, 3, "uint8")
        for first in range(0, SIDE, TILE):
            tiff.fill(first, rows[: SIDE - first])
        tiff.sync()
    found = [_round(engine, source, folder / "out.tif") for _ in range(rounds)]
    least = {name: min(each[name] for each in found) for name in STAGES}
    quickest = min(found, key=lambda each: each["filter"])
    return Seconds(**least, link=quickest.get("link"), kernel=quickest.get("kernel"))


def _round(engine: Engine, source: Path, target: Path) -> dict[str, float]:
    """Time each stage alone, and all, by the names of `Seconds`."""
    with LargePicture(source, kept=State().ksize + 1) as picture:
        job = job_for(State(picture=picture.sample()))
        assert job is not None
        rows = rows_a_strip(picture, job, STRIPS_BYTES)
        strips = list(strips_of(SIDE, rows, job.reach, job.border))
        forget(source)
        seconds = {
            "read": seconds_of(lambda: _read(picture, strips)),
            **_filter_seconds(engine, picture, job, strips),
            "write": seconds_of(lambda: _write(picture, target, strips)),
        }
        target.unlink()
        forget(source)

        def everything() -> None:
            outcome_of(filtering_file(engine, picture, target, job, memory_bytes=STRIPS_BYTES))

        seconds["all"] = seconds_of(everything)
        target.unlink()
        return seconds


def forget(path: Path) -> None:
    """Drop a file from the system's cache, where it can: the disk is to be read."""
    with suppress(AttributeError, OSError), path.open("rb") as file:
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def _read(picture: LargePicture, strips: list[RowStrip]) -> None:
    room = np.empty((max(each.height for each in strips), SIDE, 3), np.uint8)
    for strip in strips:
        for first, end in strip.spans:
            picture.rows(first, end, room[: end - first])


def _filter_seconds(
    engine: Engine, picture: LargePicture, job: Job, strips: list[RowStrip]
) -> dict[str, float]:
    """Time filtering, after the choice of an implementation, and its parts."""
    strip_filter, room = StripFilter(engine, job), picture.rows(0, strips[0].height)
    results: list[Result] = []

    def filter_one(strip: RowStrip) -> None:
        *_, last = strip_filter.filtering(room[: strip.height], strip)
        assert isinstance(last, Result)
        tiny = np.zeros((1, 1, 3), np.uint8)
        results.append(replace(last, picture=tiny, job=job))  # without the strip's own

    filter_one(strips[0])
    results.clear()

    def filter_all() -> None:
        for strip in strips:
            filter_one(strip)

    found = {"filter": seconds_of(filter_all)}
    if all(each.device_name for each in results):
        moves = [(each.upload_ms or 0.0) + (each.download_ms or 0.0) for each in results]
        found["link"] = sum(moves) / 1e3
        found["kernel"] = sum(each.timed.median_ms for each in results) / 1e3
    return found


def _write(picture: LargePicture, target: Path, strips: list[RowStrip]) -> None:
    room = picture.rows(0, strips[0].end)
    lay_out(target, (SIDE, SIDE, 3), room.dtype, NO_METADATA)
    with closing(TiledTiff(target)) as tiff:
        for strip in strips:
            tiff.fill(strip.first, room[: strip.end - strip.first])
            tiff.sync()


main = partial(bench.main, "large", run, ("runs", "json"))


if __name__ == "__main__":
    sys.exit(main())
