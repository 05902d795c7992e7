"""Tell how often the same work, swept again, is called different: `workbench bench repeat`.

Every sweep is held against every other by the rule that all comparisons go by.  What differs is
then no difference of the work: at CONFIDENCE the rule should be wrong in one of twenty at most.
"""

from __future__ import annotations

import json
import multiprocessing
from argparse import Namespace
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path

from kernels import Engine
from kernels.core.atomic_files import replacing
from kernels.core.comparison import compare
from kernels.core.cpu_load import disturbed_in_words
from kernels.core.device import NoDevice
from kernels.core.errors import KernelError
from kernels.core.statistics import CONFIDENCE
from kernels.core.timing import Timing
from kernels.core.version import program_version
from kernels.cpu import host_implementations
from kernels.sweeps.cell import Cell
from kernels.sweeps.plan import Plan
from kernels.sweeps.plan_run import sweeping
from kernels.sweeps.record import Measurement, Record
from workbench.base import diagnostics
from workbench.base.columns import aligned, columns
from workbench.cli import this_machine
from workbench.cli.command_error import CommandError
from workbench.cli.progress_line import say

RUNS = 6
RUNGS = ("global", "shared", "tile_separable")
PLAN = Plan(
    title="Again and again",
    implementations=(),
    sizes=((256, 256), (768, 512)),
    ksizes=(3, 7),
    channels=(3,),
    pixel_types=("uint8",),
)
HEADER = ("", "compared", "called different", "rate", "largest spread of medians")


@dataclass(frozen=True, slots=True)
class Tally:
    """Counts from comparing the sweeps of some cells, each with each.

    compared, different  pairs, and how many of them were called faster or slower
    naive      how many would have been, had samples been taken for independent of each other
    spread     of the medians of one cell, largest over smallest, less 1: the largest there is
    """

    compared: int = 0
    different: int = 0
    naive: int = 0
    spread: float = 0.0

    @property
    def rate(self) -> float:
        """Return the share of comparisons that found a difference."""
        return self.different / self.compared if self.compared else 0.0

    def plus(self, other: Tally) -> Tally:
        """Return the sum of both."""
        return Tally(
            self.compared + other.compared,
            self.different + other.different,
            self.naive + other.naive,
            max(self.spread, other.spread),
        )


def run(arguments: Namespace) -> int:
    """Sweep the same plan several times, and print how often A differs from A."""
    make_engine = this_machine.engine_maker(arguments)
    engine = make_engine()
    runs = arguments.runs or RUNS
    if runs < 2:
        raise CommandError("Two sweeps at least are held against each other: --runs 2.")
    plan = _plan(engine)
    print(aligned(_facts(engine, plan, runs)), end="\n\n", flush=True)
    timings, records = _swept(plan, make_engine, runs)
    tallies = {key: _tally(timings, key) for key in plan.implementations}
    print("\n".join(lines(tallies)))
    if words := disturbed_in_words(
        each.outcome.load for each in records if isinstance(each.outcome, Measurement)
    ):
        print(words)
    if arguments.json:
        _write(arguments.json, timings, tallies)
    return 0


def tally_of(timings: Sequence[Timing]) -> Tally:
    """Count the verdicts of all timings of one cell against each other."""
    medians = [each.median_ms for each in timings]
    pairs = list(combinations(timings, 2))
    alone = [(replace(a, rounds=()), replace(b, rounds=())) for a, b in pairs]
    return Tally(
        compared=len(pairs),
        different=sum(compare(a, b).verdict != "same" for a, b in pairs),
        naive=sum(compare(a, b).verdict != "same" for a, b in alone),
        spread=max(medians) / min(medians) - 1 if pairs else 0.0,
    )


def lines(tallies: dict[str, Tally]) -> Iterator[str]:
    """Yield the table, a row for each implementation, and the rate of all."""
    total = Tally()
    for each in tallies.values():
        total = total.plus(each)
    yield columns(
        [
            HEADER,
            *(
                (key, str(t.compared), str(t.different), f"{t.rate:.1%}", f"{t.spread:.1%}")
                for key, t in tallies.items()
            ),
        ]
    )
    yield ""
    yield (
        f"A was called different from A in {total.different} of {total.compared} comparisons, "
        f"{total.rate:.1%}; the aim is {1 - CONFIDENCE:.0%} at most."
    )
    naive = total.naive / total.compared if total.compared else 0.0
    yield f"By samples alone, without their rounds, it would have been {naive:.1%}."


def _plan(engine: Engine) -> Plan:
    rungs = () if isinstance(engine.device, NoDevice) else RUNGS
    return replace(PLAN, implementations=(*(each.key for each in host_implementations()), *rungs))


def _swept(
    plan: Plan, make_engine: Callable[[], Engine], runs: int
) -> tuple[dict[Cell, list[Timing]], list[Record]]:
    """Return the times of each cell, one for each sweep; and all last records.

    Each sweep has a process of its own, as sessions that people compare have: what a process
    chose once, such as OpenCV's call for a job, would else be shared by all of them.
    """
    timings: dict[Cell, list[Timing]] = {}
    records: list[Record] = []
    try:
        for number in range(1, runs + 1):
            spawn = multiprocessing.get_context("spawn")
            with ProcessPoolExecutor(1, mp_context=spawn) as process:
                last = process.submit(_sweep, plan, make_engine, f"sweep {number} of {runs}")
                found = last.result()
            records += found
            for record in found:
                if record.verified:
                    timings.setdefault(record.cell, []).append(record.verified.kernel)
    except KernelError as error:
        raise CommandError(str(error)) from error
    finally:
        say("")
    return timings, records


def _sweep(plan: Plan, make_engine: Callable[[], Engine], name: str) -> list[Record]:
    """Return the last record of each cell; runs in a process of its own."""
    last: dict[Cell, Record] = {}
    for step in sweeping(plan, make_engine()):
        if isinstance(step, Record):
            last[step.cell] = step
        else:
            say(f"{name} · {step.doing}")
    return list(last.values())


def _tally(timings: dict[Cell, list[Timing]], key: str) -> Tally:
    total = Tally()
    for cell, each in timings.items():
        if cell.implementation == key:
            total = total.plus(tally_of(each))
    return total


def _facts(engine: Engine, plan: Plan, runs: int) -> list[tuple[str, str]]:
    return [
        ("Bench", f"repeat, Filter Workbench {program_version()}"),
        ("CPU", this_machine.cpu()),
        ("GPU", diagnostics.gpu(engine.device)),
        ("Sweeps", f"{runs} of {len(plan.cells())} cells, each against each"),
    ]


def _write(path: Path, timings: dict[Cell, list[Timing]], tallies: dict[str, Tally]) -> None:
    """Write every median and interval, and what came of comparing them."""
    data = {
        "program": program_version(),
        "tallies": {
            key: {
                "compared": t.compared,
                "different": t.different,
                "without_rounds": t.naive,
                "spread": t.spread,
            }
            for key, t in tallies.items()
        },
        "cells": [
            {
                "implementation": cell.implementation,
                "size": [cell.width, cell.height],
                "kernel_size": cell.ksize,
                "medians_ms": [t.median_ms for t in each],
                "intervals_ms": [list(t.interval_ms) for t in each],
                "rounds_ms": [list(t.independent_ms) for t in each],
            }
            for cell, each in timings.items()
        ],
    }
    try:
        with replacing(path) as file:
            file.write(json.dumps(data, indent=1).encode())
    except OSError as error:
        raise CommandError(f"{path} cannot be written ({error.strerror}).") from error
