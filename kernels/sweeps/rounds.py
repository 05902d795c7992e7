"""Rounds: a sweep measures a part of every cell, then another part of every cell, and so on.

Whatever drifts meanwhile, clocks or other programs, then hits all cells alike, and shows in how far
a cell's rounds lie apart: its intervals are made of that (see `Timing.rounds`).  Each part begins
anew, with memory of its own and a warm-up, as another sweep would: where a picture comes to lie is
worth several percent on a CPU, and no repeating in one place shows it.

The first round goes in the plan's order, since answers are checked in it and neighbours share what
the oracle says.  The others are shuffled: pictures among each other, and the cells of one picture
among themselves, so that each picture is made and uploaded once a round.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from random import Random

from kernels.core.health import health_of_all
from kernels.core.job import Sampling
from kernels.sweeps.cell import Cell
from kernels.sweeps.record import Measurement, Record

# Of ten medians the second lowest and the second highest hold the true one in 98 % of all cases; of
# six it takes the lowest and the highest.  More would cost more warm-ups than samples.
ROUNDS = 10


def rounds_of(sampling: Sampling) -> int:
    """Return how many rounds a cell is measured in; one is quick enough for `sampling` at least."""
    return max(1, min(ROUNDS, sampling.max_samples))


def part_of(sampling: Sampling, number: int) -> Sampling:
    """Return what round `number`, from 0 on, takes of a cell that has `sampling` in all.

    There is a sample in each, however long it takes; the settling of their spread, which a part is
    too short for, decides nothing.
    """
    rounds = rounds_of(sampling)
    is_first = number == 0
    return replace(
        sampling,
        max_samples=math.ceil(sampling.max_samples / rounds),
        min_samples=math.ceil(sampling.min_samples / rounds),
        max_seconds=sampling.max_seconds / rounds,
        noise=None,
        warmups=sampling.warmups if is_first else 1,
        warmup_seconds=sampling.warmup_seconds
        if is_first
        else sampling.warmup_seconds / rounds / 2,
    )


def in_order(cells: Sequence[Cell], number: int) -> list[Cell]:
    """Return `cells` as round `number` goes through them: always the same order."""
    if number == 0:
        return list(cells)
    groups: dict[object, list[Cell]] = {}
    for cell in cells:
        groups.setdefault(_picture(cell), []).append(cell)
    drawn = Random(number)
    order = list(groups.values())
    drawn.shuffle(order)
    for group in order:
        drawn.shuffle(group)
    return [cell for group in order for cell in group]


def with_part(
    before: Measurement | None, part: Measurement, sampling: Sampling, count: int = 1
) -> Measurement:
    """Return what is known of a cell after one part more.

    sampling  of each of the cell's `count` pictures, in all rounds; a run of one that takes longer
              than its max_seconds is the only one
    What is found wrong once stays so.
    """
    rounds = (*(before.kernel.rounds if before else ()), len(part.kernel.samples_ms))
    samples_ms = (*(before.kernel.samples_ms if before else ()), *part.kernel.samples_ms)
    kernel = replace(
        part.kernel,
        samples_ms=samples_ms,
        rounds=rounds,
        warmups=part.kernel.warmups + (before.kernel.warmups if before else 0),
        ended="",
    )
    if part.kernel.ended == "single" and kernel.median_ms > 1e3 * count * sampling.max_seconds:
        kernel = replace(kernel, ended="single" if len(samples_ms) == 1 else "time")
    elif len(rounds) >= rounds_of(sampling):
        is_all = len(samples_ms) >= sampling.max_samples
        kernel = replace(kernel, ended="samples" if is_all else "time")
    if before is None:
        return replace(part, kernel=kernel)
    loads = [each.load for each in (before, part) if each.load is not None]
    return replace(
        before,
        kernel=kernel,
        check=before.check if before.check and not before.check.ok else part.check,
        health=health_of_all(each.health for each in (before, part)),
        load=loads[0].plus(loads[1]) if len(loads) == 2 else next(iter(loads), None),
    )


def rounds_done(record: Record | None, rounds: int) -> int:
    """Return how many of `rounds` a cell has had: all where nothing more will come of it."""
    if record is None:
        return 0
    if record.is_complete or isinstance(record.outcome, str):
        return rounds
    return min(len(record.outcome.kernel.rounds), rounds)


def share_done(cells: Sequence[Cell], records: Iterable[Record], sampling: Sampling) -> float:
    """Return how much of a sweep of `cells` is behind, from 0 to 1, by its rounds."""
    rounds, known = rounds_of(sampling), {record.cell: record for record in records}
    if not cells:
        return 1.0
    return sum(rounds_done(known.get(cell), rounds) for cell in cells) / (rounds * len(cells))


def _picture(cell: Cell) -> object:
    return cell.picture, cell.width, cell.height, cell.channels, cell.pixel_type, cell.count
