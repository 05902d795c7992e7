"""Count how often the same work, swept again, is called different.

`python -m tests.benches.repeat` compares every sweep with every other by the rule for two sessions.
A difference is then none of the work: at CONFIDENCE the rule should be wrong in one of twenty at
most.  Pairs with a disturbed time have no verdict; they are counted apart.
"""

from __future__ import annotations

import json
import multiprocessing
import sys
from argparse import Namespace
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, astuple, dataclass, replace
from functools import partial
from itertools import combinations
from pathlib import Path

from kernels import Engine
from kernels.core.cpu_load import disturbed_in_words
from kernels.core.device import NoDevice
from kernels.core.errors import KernelError
from kernels.core.timing import CONFIDENCE, compare
from kernels.core.version import program_version
from kernels.cpu import host_implementations
from kernels.sweeps.plan import Cell, Plan
from kernels.sweeps.plan_run import sweeping
from kernels.sweeps.record import Measurement, Record, within_of
from tests.benches import bench
from workbench.base import diagnostics, numbers
from workbench.base.columns import aligned, columns
from workbench.cli import this_machine
from workbench.cli.output import CommandError, say, write_whole

RUNS = 6
RUNGS = ("global", "shared", "tile_separable")
PLAN = Plan(
    title="Again and again",
    implementations=(),
    sizes=((256, 256), (768, 512)),
    ksizes=(3, 5, 7),
    channels=(3,),
    pixel_types=("uint8",),
)
HEADER = (
    *("", "with a verdict", "called different", "rate"),
    *("disturbed", "would be different", "largest spread of medians"),
)


@dataclass(frozen=True, slots=True)
class Tally:
    """Counts from comparing the sweeps of some cells, each with each.

    judged, different  pairs with a verdict, and how many of them were called faster or slower
    naive       how many would have been, had samples been taken for independent of each other
    disturbed, would_differ  pairs without a verdict since a time was disturbed, and how many of
                them would have been called faster or slower
    spread      of the medians of one cell, largest over smallest, less 1: the largest there is
    """

    judged: int = 0
    different: int = 0
    naive: int = 0
    disturbed: int = 0
    would_differ: int = 0
    spread: float = 0.0

    def plus(self, other: Tally) -> Tally:
        """Add the counts; keep the larger spread."""
        counts = map(sum, zip(astuple(self)[:-1], astuple(other)[:-1], strict=True))
        return Tally(*counts, max(self.spread, other.spread))


def run(arguments: Namespace) -> int:
    """Sweep the same plan several times, and print how often A differs from A."""
    make_engine = this_machine.engine_maker(arguments)
    engine = make_engine()
    runs = arguments.runs or RUNS
    if runs < 2:
        raise CommandError("Two sweeps at least are held against each other: --runs 2.")
    plan = _plan(engine)
    print(aligned(_facts(engine, plan, runs)), end="\n\n", flush=True)
    measured, records = _swept(plan, make_engine, runs)
    tallies = {key: _tally(measured, key) for key in plan.implementations}
    print("\n".join(lines(tallies)))
    if words := disturbed_in_words(
        each.outcome.load for each in records if isinstance(each.outcome, Measurement)
    ):
        print(words)
    if arguments.json:
        _write(arguments.json, measured, tallies)
    return 0


def tally_of(cell: Cell, measured: Sequence[Measurement]) -> Tally:
    """Count the verdicts on all measurements of one cell against each other."""
    medians = [each.kernel.median_ms for each in measured]
    total = Tally(spread=max(medians) / min(medians) - 1 if measured else 0.0)
    for pair in combinations(measured, 2):
        a, b = (each.kernel for each in pair)
        within = within_of(cell, a, b)
        is_different = compare(a, b, within).verdict != "same"
        if any(each.disturbances for each in pair):
            total = total.plus(Tally(disturbed=1, would_differ=is_different))
        else:
            alone = compare(replace(a, rounds=()), replace(b, rounds=()), within)
            naive = alone.verdict != "same"
            total = total.plus(Tally(judged=1, different=is_different, naive=naive))
    return total


def lines(tallies: dict[str, Tally]) -> Iterator[str]:
    """The table, a row for each implementation, and the rates of all."""
    total = Tally()
    for each in tallies.values():
        total = total.plus(each)
    yield columns(
        [
            HEADER,
            *(
                (
                    *(key, str(t.judged), str(t.different), _rate(t.different, t.judged)),
                    *(str(t.disturbed), str(t.would_differ), numbers.percent(t.spread, 1)),
                )
                for key, t in tallies.items()
            ),
        ]
    )
    yield ""
    yield (
        f"With a verdict: A was called different from A in {total.different} of {total.judged} "
        f"comparisons, {_rate(total.different, total.judged)}; the aim is "
        f"{numbers.percent(1 - CONFIDENCE)} at most."
    )
    yield (
        "By samples alone, without their rounds, it would have been "
        f"{_rate(total.naive, total.judged)}."
    )
    if total.disturbed:
        yield (
            f"Without a verdict, since a time was disturbed: {total.disturbed} comparisons; "
            f"{total.would_differ} of them would have been called different, "
            f"{_rate(total.would_differ, total.disturbed)}."
        )


def _rate(count: int, of: int) -> str:
    return numbers.percent(count / of, 1) if of else numbers.MISSING


def _plan(engine: Engine) -> Plan:
    rungs = () if isinstance(engine.device, NoDevice) else RUNGS
    return replace(PLAN, implementations=(*(each.key for each in host_implementations()), *rungs))


def _swept(
    plan: Plan, make_engine: Callable[[], Engine], runs: int
) -> tuple[dict[Cell, list[Measurement]], list[Record]]:
    """Measure each cell, once for each sweep; return these, and all last records.

    Each sweep has its own process, as sessions that people compare have: else all would share the
    choices of one process, such as OpenCV's call for a job.
    """
    measured: dict[Cell, list[Measurement]] = {}
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
                    measured.setdefault(record.cell, []).append(record.verified)
    except KernelError as error:
        raise CommandError(str(error)) from error
    finally:
        say("")
    return measured, records


def _sweep(plan: Plan, make_engine: Callable[[], Engine], name: str) -> list[Record]:
    """Return the last record of each cell; runs in its own process."""
    last: dict[Cell, Record] = {}
    for step in sweeping(plan, make_engine()):
        if isinstance(step, Record):
            last[step.cell] = step
        else:
            say(f"{name} · {step.doing}")
    return list(last.values())


def _tally(measured: dict[Cell, list[Measurement]], key: str) -> Tally:
    total = Tally()
    for cell, each in measured.items():
        if cell.implementation == key:
            total = total.plus(tally_of(cell, each))
    return total


def _facts(engine: Engine, plan: Plan, runs: int) -> list[tuple[str, str]]:
    return [
        ("Bench", f"repeat, Filter Workbench {program_version()}"),
        ("CPU", this_machine.cpu()),
        ("GPU", diagnostics.gpu(engine.device)),
        ("Sweeps", f"{runs} of {len(plan.cells())} cells, each against each"),
    ]


def _write(path: Path, measured: dict[Cell, list[Measurement]], tallies: dict[str, Tally]) -> None:
    """Write every median and interval, its function, and the comparisons."""
    data = {
        "program": program_version(),
        "tallies": {key: {"without_rounds": t.naive, **asdict(t)} for key, t in tallies.items()},
        "cells": [
            {
                "implementation": cell.implementation,
                "size": [cell.width, cell.height],
                "kernel_size": cell.ksize,
                "medians_ms": [m.kernel.median_ms for m in each],
                "intervals_ms": [m.kernel.interval_ms for m in each],
                "rounds_ms": [m.kernel.independent_ms for m in each],
                "disturbances": [m.disturbances for m in each],
                "ran": [", ".join(map(str, m.ran)) for m in each],
            }
            for cell, each in measured.items()
        ],
    }
    write_whole(path, json.dumps(data, indent=1))


main = partial(bench.main, "repeat", run, ("runs", "json"))


if __name__ == "__main__":
    sys.exit(main())
