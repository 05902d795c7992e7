"""Several GPUs beside one, at one picture and at a folder: `python -m tests.benches.devices`.

Strong: one picture, shared by ever more GPUs.  Weak: as many times the rows as there are GPUs.
A folder has the processes of `batch`; its files are one by other names, and not packed, since
decoding is not to be the limit.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
from argparse import Namespace
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic
from typing import Any, Literal

from kernels import Engine
from kernels.core.cpu_load import usable_cores
from kernels.core.device import Device, DeviceShare, NoDevice, cuda_version
from kernels.core.errors import KernelError
from kernels.core.job import Job, Result, Sampling
from kernels.core.plain_data import to_plain
from kernels.core.timing import Comparison, Timing, compare
from kernels.core.verdict import Check
from kernels.core.version import program_version
from kernels.engine.auto import with_pick
from kernels.pictures.generated import of_kind
from tests.benches import bench
from workbench.base import diagnostics, numbers
from workbench.base.columns import aligned, columns
from workbench.batch.device_run import DeviceRun, processes_each
from workbench.batch.filtering import UNTIMED, Recipe
from workbench.batch.journal import Stage
from workbench.batch.pairs import FilePairs, Group
from workbench.batch.stage_times import IN_WORDS, StageTimes
from workbench.cli import made_jobs, this_machine
from workbench.cli.benches import chosen
from workbench.cli.benches.batch import middle_per_s
from workbench.cli.output import CommandError, say, write_whole
from workbench.files import image_files
from workbench.files.picture_errors import ImageFileError
from workbench.model.speed_up import PATHS
from workbench.model.state import State

ROUNDS = 7
HEADER = ("", "GPUs", "filtering", "against 1", "with transfers", "against 1", "halo, and each GPU")

FOLDER_HEADER = ("", "GPUs", "pictures", "against 1", "limit")
WEIGHTS = (("gaussian", 5), ("random", 31))  # of the first memory is the limit, else arithmetic
STRONG_SIDES = (2048, 4096, 8192, 16_384)  # pixels of float32
WEAK_SIDES = (2048, 4096, 8192)
IN_A_ROUND = Sampling(min_samples=10, max_samples=10, max_seconds=5.0, warmups=2, check=False)
ONCE = Sampling(max_samples=0, check=False)

Kind = Literal["strong", "weak"]


@dataclass(frozen=True, slots=True)
class ScalingCell:
    """One job that one GPU does, and several.

    side  of the picture that one GPU has
    """

    kind: Kind
    weights: str
    ksize: int
    side: int

    def __str__(self) -> str:
        return f"{self.kind} {self.weights} {self.ksize}×{self.ksize} {self.side}×{self.side}"

    def job(self, devices: int) -> Job:
        """The job of that many GPUs."""
        rows = self.side * (devices if self.kind == "weak" else 1)
        made = made_jobs.job(self.weights, self.ksize, (rows, self.side))
        return replace(made, devices=devices)


@dataclass(slots=True)
class DeviceTimes:
    """The times of one number of GPUs.

    kernels  as `Result.kernel` has them, halo included, the picture there already
    whole    from this computer's memory and back: upload, filtering, download
    """

    job: Job
    kernels_ms: list[float] = field(default_factory=list)
    whole_ms: list[float] = field(default_factory=list)
    rounds: list[int] = field(default_factory=list)
    shares: tuple[DeviceShare, ...] = ()
    check: Check | None = None

    @property
    def kernel(self) -> Timing:
        """The time of filtering."""
        return Timing(tuple(self.kernels_ms), "cold", rounds=tuple(self.rounds))

    @property
    def whole(self) -> Timing:
        """The time with both transfers, one sample in each round."""
        return Timing(tuple(self.whole_ms), "cold")

    def add(self, result: Result, whole: Result) -> None:
        """Add the times of a round."""
        self.kernels_ms += result.timed.samples_ms
        self.rounds.append(len(result.timed.samples_ms))
        assert whole.total_ms is not None
        self.whole_ms.append(whole.total_ms)
        self.shares = result.shares
        self.check = self.check or result.check


@dataclass(frozen=True, slots=True)
class Scaling:
    """The times of a cell, by the number of GPUs; the first is one."""

    cell: ScalingCell
    implementation: str
    times: tuple[DeviceTimes, ...]

    def against_one(self, found: DeviceTimes, *, whole: bool = False) -> Comparison:
        """Compare these GPUs with one."""
        one = self.times[0]
        return compare(found.whole, one.whole) if whole else compare(found.kernel, one.kernel)


def scaling_cells() -> Iterator[ScalingCell]:
    """All cells."""
    for weights, ksize in WEIGHTS:
        yield from (ScalingCell("strong", weights, ksize, side) for side in STRONG_SIDES)
        yield from (ScalingCell("weak", weights, ksize, side) for side in WEAK_SIDES)


def scaling_of(engine: Engine, cell: ScalingCell, counts: Sequence[int], rounds: int) -> Scaling:
    """Measure one cell: all numbers of GPUs take turns, and every second round turns them round.

    All run the pick of `auto` for one.  Raises the errors of `kernels.core.errors`.
    """
    pick = next(engine.picks(cell.job(1)))
    times = [DeviceTimes(with_pick(cell.job(count), pick)) for count in counts]
    fresh = {each.job.picture.shape: each.job.picture.copy() for each in times}
    for number in range(rounds):
        for each in times if number % 2 == 0 else reversed(times):
            result = engine.run(each.job, replace(IN_A_ROUND, check=number == 0))
            # A picture that may change is not kept on a GPU: it is uploaded every time.
            moved = each.job.but(picture=fresh[each.job.picture.shape])
            each.add(result, engine.run(moved, ONCE))
    return Scaling(cell, pick.implementation, tuple(times))


FILES = 512  # a few seconds, and four times as many as are under way at a time
SIDE = 2048
FOLDER_ROUNDS = 2  # in turns; the quickest counts, since whatever else runs only slows it down

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
        """The recipe for each file."""
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
        for number in range(FOLDER_ROUNDS):
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
    """Measure the files per second, and note the stage that the others waited for."""
    out = source.parent / "out"
    out.mkdir()
    pairs = FilePairs([Group(source, out, tuple(map(_name, range(FILES))))], str)
    jobs, gpus = usable_cores(), len(rate.devices)
    processes = rate.devices * processes_each(jobs // gpus, FILES // gpus)
    run = DeviceRun(processes, cell.recipe, jobs, _fail)
    times = StageTimes(FILES, jobs, engines=len(processes))
    finished_s: list[float] = []
    try:
        for outcome in run.outcomes(pairs):
            finished_s.append(monotonic())
            if outcome.error:
                raise CommandError(outcome.error)
            times.add(outcome.status, outcome.seconds)
    finally:
        shutil.rmtree(out, ignore_errors=True)
    rate.waited_for = times.progress().limit
    return middle_per_s(finished_s)


def _fail(sentence: str) -> None:
    raise CommandError(sentence)


def run(arguments: Namespace) -> int:
    """Print a row for each number of GPUs, and write everything where --json says."""
    engine = this_machine.engine_maker(arguments)()
    if isinstance(engine.device, NoDevice):
        raise CommandError(f"{engine.device.reason} {engine.device.remedy}".rstrip())
    there = len(engine.device_numbers)
    if there < 2:
        raise CommandError("bench devices compares several GPUs with one, and here is only one.")
    counts = range(1, there + 1)
    every: list[ScalingCell | FolderCell] = [*scaling_cells(), *CELLS]
    fitting = chosen(arguments.cells, every)
    cells = [each for each in fitting if isinstance(each, ScalingCell)]
    folder_cells = [each for each in fitting if isinstance(each, FolderCell)]
    print(aligned(_facts(engine)), end="\n\n", flush=True)
    found: list[Scaling] = []
    for cell in cells:
        say(f"measuring {cell}")
        try:
            found.append(scaling_of(engine, cell, counts, arguments.runs or ROUNDS))
        except KernelError as error:
            print(f"{cell}: {error}", flush=True)
    if found:
        print(columns([HEADER, *(row for each in found for row in _rows(each))]))
        print("", *_closing(found), sep="\n", flush=True)
    sets = [engine.device_numbers[:count] for count in counts]
    folders = {cell: folder_rates(cell, sets, say) for cell in folder_cells}
    say("")
    if folders:
        print(
            columns([FOLDER_HEADER, *(row for each in folders.items() for row in _folder(*each))])
        )
    if arguments.json:
        write_whole(arguments.json, json.dumps(_data(engine, found, folders), indent=1))
    return 0 if all(_is_right(each) for scaling in found for each in scaling.times) else 1


def _facts(engine: Engine) -> list[tuple[str, str]]:
    device = engine.device
    assert isinstance(device, Device)
    others = [engine.find_device(number) for number in engine.device_numbers[1:]]
    names = [device.name, *(each.name for each in others if isinstance(each, Device))]
    return [
        ("Bench", f"devices, Filter Workbench {program_version()}"),
        ("GPUs", "; ".join(f"{at}: {name}" for at, name in enumerate(names))),
        ("Driver", f"runs CUDA up to {cuda_version(device.driver_version)}"),
        ("GPU 0", diagnostics.gpu(device)),
        ("CPU", this_machine.cpu()),
        ("Pictures", "float32, one channel, border clamp; L2 cold"),
    ]


def _rows(scaling: Scaling) -> list[tuple[str, ...]]:
    rows = []
    for at, times in enumerate(scaling.times):
        name = f"{scaling.cell}, {scaling.implementation}" if at == 0 else ""
        cells = [name, str(times.job.devices)]
        for whole, timing in ((False, times.kernel), (True, times.whole)):
            against = scaling.against_one(times, whole=whole) if at else None
            cells += [
                numbers.duration(timing.median_ms),
                "" if against is None else verdict(scaling.cell, times, against),
            ]
        rows.append((*cells, _shares(times)))
    return rows


def verdict(cell: ScalingCell, times: DeviceTimes, against: Comparison) -> str:
    """Describe a ratio: "1.93×" of a strong cell, "97 % of 2×" of a weak one, and a tie."""
    said = numbers.speed_up(against.ratio, numbers.fine_ratio)
    if cell.kind == "weak":
        said = f"{numbers.percent(against.ratio)} of {times.job.devices}×"
    return f"{said}, {against.in_words}" if against.verdict == "same" else said


def _shares(times: DeviceTimes) -> str:
    if not times.shares:
        return ""
    each = ", ".join(numbers.duration(share.total_ms - share.halo_ms) for share in times.shares)
    slowest = max(share.halo_ms for share in times.shares)
    return f"{numbers.duration(slowest)}, {each}"


def _folder(cell: FolderCell, rates: list[FolderRate]) -> Iterator[tuple[str, ...]]:
    """A row for each number of GPUs."""
    for at, each in enumerate(rates):
        rate = f"{numbers.three_digits(each.best)} per s"
        against = numbers.fine_ratio(each.best / rates[0].best) if at else ""
        limit = IN_WORDS[each.waited_for] if each.waited_for else ""
        yield str(cell) if at == 0 else "", str(len(each.devices)), rate, against, limit


def _closing(found: list[Scaling]) -> list[str]:
    shares = [share for scaling in found for times in scaling.times for share in times.shares]
    paths = {share.halo_path for share in shares if share.halo_path}
    lines = [f"Halo rows are {PATHS[path]}." for path in sorted(paths)]
    for whole, how in ((False, "by filtering alone"), (True, "with transfers")):
        if late := list(_no_sooner(found, whole=whole)):
            lines.append(f"No sooner than one GPU, {how}: {'; '.join(late)}.")
    wrong = [str(s.cell) for s in found if not all(map(_is_right, s.times))]
    lines.append(f"WRONG answers: {'; '.join(wrong)}." if wrong else "All answers are verified.")
    return lines


def _no_sooner(found: list[Scaling], *, whole: bool) -> Iterator[str]:
    """Name the cells in which several GPUs take as long as one, or longer."""
    for each in found:
        for times in each.times[1:] if each.cell.kind == "strong" else ():
            if each.against_one(times, whole=whole).verdict != "faster":
                yield f"{each.cell} on {times.job.devices}"


def _is_right(times: DeviceTimes) -> bool:
    return times.check is not None and times.check.ok


def _data(
    engine: Engine, found: list[Scaling], folders: dict[FolderCell, list[FolderRate]]
) -> dict[str, Any]:
    return {
        **this_machine.heading("devices", engine),
        "devices": list(engine.device_numbers),
        "cells": [_cell_data(scaling, times) for scaling in found for times in scaling.times],
        "folders": [
            {"name": str(cell), **to_plain(cell), **to_plain(rate)}
            for cell, rates in folders.items()
            for rate in rates
        ],
    }


def _cell_data(scaling: Scaling, times: DeviceTimes) -> dict[str, Any]:
    return {
        **to_plain(scaling.cell),
        "implementation": scaling.implementation,
        "devices": times.job.devices,
        "size": [times.job.height, times.job.width],
        "filtering": to_plain(times.kernel),
        "with_transfers": to_plain(times.whole),
        "against_one": to_plain(scaling.against_one(times)),
        "against_one_with_transfers": to_plain(scaling.against_one(times, whole=True)),
        "shares": [to_plain(share) for share in times.shares],
        "check": str(times.check),
        "is_right": _is_right(times),
    }


main = partial(bench.main, "devices", run, ("runs", "cells", "json"))


if __name__ == "__main__":
    sys.exit(main())
