"""Measure a batch of files beside each of its stages alone: `workbench bench batch`."""

from __future__ import annotations

import json
from argparse import Namespace
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

from kernels import Engine
from kernels.core.cores import usable_cores
from kernels.core.version import program_version
from kernels.pictures.picture_kinds import of_kind
from workbench.base import diagnostics, numbers
from workbench.base.columns import aligned, columns
from workbench.batch.batch_run import running
from workbench.batch.file_pairs import FilePairs, Group
from workbench.batch.filtering import UNTIMED, Outcome, Recipe, filter_, read, write
from workbench.cli import this_machine
from workbench.cli.command_error import CommandError
from workbench.cli.output_files import write_whole
from workbench.files import image_files
from workbench.model.state import State

EXTENSIONS = (".png", ".jpg", ".tif")
SIZE = (1080, 1920)  # rows, columns
RUNS = 24  # files of each format
ROUNDS = 3  # in turns; the quickest counts, since whatever else runs only slows it down
HEADER = ("", "decode", "filter", "encode", "batch", "of the slowest stage", "of all in turn")


@dataclass(frozen=True, slots=True)
class Rates:
    """Pictures per second: of each stage while nothing else is done, and of the batch."""

    decode: float
    filter: float
    encode: float
    batch: float

    @property
    def of_slowest(self) -> float:
        """Return the batch's rate over the slowest stage's; 1 is what cores to spare allow."""
        return self.batch / min(self.decode, self.filter, self.encode)

    @property
    def of_all_in_turn(self) -> float:
        """Return how many times the rate of doing each stage for all files before the next."""
        return self.batch * (1 / self.decode + 1 / self.filter + 1 / self.encode)

    def cells(self, name: str) -> tuple[str, ...]:
        """Return a row of the table."""
        each = (self.decode, self.filter, self.encode, self.batch)
        rates = (f"{numbers.three_digits(rate)} per s" for rate in each)
        return name, *rates, f"{self.of_slowest:.0%}", numbers.fine_ratio(self.of_all_in_turn)


def run(arguments: Namespace) -> int:
    """Print the rates of every format, and write them where --json says."""
    engine = this_machine.engine_maker(arguments)()
    jobs, files = usable_cores(), arguments.runs or RUNS
    print(aligned(_facts(engine, jobs, files)), end="\n\n", flush=True)
    found: dict[str, Rates] = {}
    for extension in EXTENSIONS:
        with TemporaryDirectory(prefix="workbench-bench-") as folder:
            found[extension] = _measured(engine, Path(folder), extension, jobs, files)
    print(columns([HEADER, *(rates.cells(name) for name, rates in found.items())]))
    if arguments.json:
        data = {"program": program_version(), "cpu": this_machine.cpu(), "jobs": jobs}
        rates = {name: asdict(each) for name, each in found.items()}
        write_whole(arguments.json, json.dumps({**data, "files": files, "per_s": rates}, indent=1))
    return 0


def _facts(engine: Engine, jobs: int, files: int) -> list[tuple[str, str]]:
    return [
        ("Bench", f"batch, Filter Workbench {program_version()}"),
        ("CPU", f"{this_machine.cpu()}; {jobs} threads read and write"),
        ("GPU", diagnostics.gpu(engine.device)),
        ("Files", f"{files} of each format, {SIZE[1]}×{SIZE[0]} RGB; 5×5 Gaussian"),
    ]


def _measured(engine: Engine, folder: Path, extension: str, jobs: int, files: int) -> Rates:
    """Return the best rates of some rounds, in which the stages and the batch take turns."""
    source, target = folder / "in", folder / "out"
    source.mkdir()
    target.mkdir()
    names = tuple(f"{number}{extension}" for number in range(files))
    picture = of_kind("photo", *SIZE, 3, "uint8")
    for name in names:
        image_files.save(source / name, picture)
    pairs = FilePairs([Group(source, target, names)], str)
    recipe = Recipe(State(), sampling=UNTIMED, check_every=0)
    rounds = [_round(engine, pairs, recipe, jobs) for _ in range(ROUNDS)]
    return Rates(*(files / min(times) for times in zip(*rounds, strict=True)))


def _round(engine: Engine, pairs: FilePairs, recipe: Recipe, jobs: int) -> list[float]:
    """Return the seconds of decoding, filtering and encoding alone, and of the batch."""
    outcomes = [Outcome(pair) for pair in pairs]

    def filtering(outcome: Outcome) -> None:
        if outcome.goes_on:
            filter_(engine, outcome, recipe, lambda _: None)

    def writing(outcome: Outcome) -> None:
        if outcome.goes_on:
            write(outcome, recipe)

    with ThreadPoolExecutor(jobs) as pool:
        alone = [
            _seconds(pool.map, lambda each: read(each, recipe), outcomes),
            _seconds(map, filtering, outcomes),
            _seconds(pool.map, writing, outcomes),
        ]
    errors = [each.error for each in outcomes]
    outcomes.clear()  # the batch is to find the memory free
    batch = _seconds(
        map, lambda each: errors.append(each.error), running(engine, pairs, recipe, jobs)
    )
    if failed := list(filter(None, errors)):
        raise CommandError(failed[0])
    return [*alone, batch]


def _seconds(
    each: Callable[..., Iterable[None]], step: Callable[[Outcome], None], of: Iterable[Outcome]
) -> float:
    """Return how long `step` takes for all of them, which `each` goes through."""
    began = perf_counter()
    for _ in each(step, of):
        pass
    return perf_counter() - began
