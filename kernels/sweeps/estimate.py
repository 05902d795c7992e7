"""Rounds of a sweep, and an estimate of the time that is left, corrected by what was measured."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import lru_cache
from itertools import pairwise
from random import Random
from statistics import median

from kernels.core.cpu_load import both_loads, usable_cores
from kernels.core.errors import KernelError
from kernels.core.health import health_of_all
from kernels.core.job import Sampling
from kernels.core.sampling import SWEEP_SAMPLING
from kernels.core.timing import Timing
from kernels.sweeps.plan import Cell, kind_of, sampling_of
from kernels.sweeps.record import Measurement, Record
from kernels.sweeps.step_words import AND, steps_in

# Of ten medians the second lowest and the second highest hold the true one in 98 % of all cases; of
# six it takes the lowest and the highest.  More would cost more warm-ups than samples.
ROUNDS = 10


def rounds_of(sampling: Sampling) -> int:
    """The number of rounds that a cell is measured in, at least one."""
    return max(1, min(ROUNDS, sampling.max_samples))


def part_of(sampling: Sampling, number: int) -> Sampling:
    """The sampling of round `number`, from 0 on, of a cell that has `sampling` in all."""
    rounds = rounds_of(sampling)
    part = replace(
        sampling,
        max_samples=math.ceil(sampling.max_samples / rounds),
        min_samples=math.ceil(sampling.min_samples / rounds),
        max_seconds=sampling.max_seconds / rounds,
        noise=None,
        again_seconds=math.inf,  # a first run compiles, and touches memory first
    )
    warmup_seconds = sampling.warmup_seconds / rounds / 2
    return replace(part, warmups=1, warmup_seconds=warmup_seconds) if number else part


def in_order(cells: Sequence[Cell], number: int) -> list[Cell]:
    """The order of `cells` in round `number`: drawn, always the same, by pictures."""
    if number == 0:
        return list(cells)
    groups: dict[object, list[Cell]] = {}
    for cell in cells:
        facts = cell.picture, cell.width, cell.height, cell.channels, cell.pixel_type, cell.count
        groups.setdefault(facts, []).append(cell)
    drawn = Random(number)
    order = list(groups.values())
    drawn.shuffle(order)
    for group in order:
        drawn.shuffle(group)
    return [cell for group in order for cell in group]


def with_part(
    before: Measurement | None, part: Measurement, sampling: Sampling, count: int = 1
) -> Measurement:
    """Add a part to the measurement of a cell.

    sampling  of each of the cell's `count` pictures, in all rounds; a run of one that takes longer
              than its max_seconds is the only one
    A wrong output stays wrong.
    """
    known = before.kernel if before else Timing(())
    samples_ms = (*known.samples_ms, *part.kernel.samples_ms)
    rounds = (*known.rounds, len(part.kernel.samples_ms))
    warmups = known.warmups + part.kernel.warmups
    kernel = replace(part.kernel, samples_ms=samples_ms, rounds=rounds, warmups=warmups, ended="")
    if part.kernel.ended == "single" and kernel.median_ms > 1e3 * count * sampling.max_seconds:
        kernel = replace(kernel, ended="single" if len(samples_ms) == 1 else "time")
    elif len(rounds) >= rounds_of(sampling):
        is_all = len(samples_ms) >= sampling.max_samples
        kernel = replace(kernel, ended="samples" if is_all else "time")
    if before is None:
        return replace(part, kernel=kernel)
    return replace(
        before,
        kernel=kernel,
        check=before.check if before.check and not before.check.ok else part.check,
        health=health_of_all(each.health for each in (before, part)),
        load=both_loads(before.load, part.load),
        steps=tuple(
            replace(one, samples_ms=(*one.samples_ms, *more.samples_ms))
            for one, more in zip(before.steps, part.steps, strict=False)
        ),
    )


def rounds_done(record: Record | None, rounds: int) -> int:
    """Rounds that a cell has had: all of them where it is complete."""
    if record is None:
        return 0
    if record.is_complete or isinstance(record.outcome, str):
        return rounds
    return min(len(record.outcome.kernel.rounds), rounds)


def share_done(cells: Sequence[Cell], records: Iterable[Record], sampling: Sampling) -> float:
    """The finished share of a sweep of `cells`, from 0 to 1, by its rounds."""
    rounds, known = rounds_of(sampling), {record.cell: record for record in records}
    if not cells:
        return 1.0
    return sum(rounds_done(known.get(cell), rounds) for cell in cells) / (rounds * len(cells))


def place_in(cells: Sequence[Cell], records: Iterable[Record], sampling: Sampling) -> str:
    """How far a sweep of `cells` is: "7 of 15 in round 1 of 10", at its end "15 of 15"."""
    known = {record.cell: record for record in records}
    done = [rounds_done(known.get(cell), rounds_of(sampling)) for cell in cells]
    before = min([*done, rounds_of(sampling) - 1])  # rounds that all have had
    count = sum(each > before for each in done)
    return place_in_words(count, len(done), before + 1, rounds_of(sampling))


def place_in_words(done: int, count: int, number: int, rounds: int) -> str:
    """Say how many of `count` cells are done in a round, from 1 on: see `place_in`."""
    place = f"{done:,} of {count:,}"
    return f"{place} in round {number} of {rounds}" if rounds > 1 and done < count else place


# Products of a weight and a sample per second, of one core and of a GPU, as `workbench bench cpu`
# and `bench kernels` measured them.
PRODUCTS_PER_CORE = {"sequential": 5e8, "parallel": 7e9, "opencv": 7e9}
PRODUCTS_PER_GPU = 3e12
MEMORY_PRODUCTS = 8  # that take as long as a sample's way through memory
MAX_OPENCV_PRODUCTS = 40  # per sample: two passes or spectra for large weights
# Products of `parallel` in whose time a CPU is done with a tap of a filter without weights.
TAP_PRODUCTS = {"median": 300, "percentile": 300, "bilateral": 60, "non_local_means": 200}
OPENCV_PRODUCTS = {"median": 5, "bilateral": 20}
START_S = {"cpu": 1e-4, "cuda": 5e-6, "own": 5e-6}  # threads to wake, a kernel to launch
# What a cell costs beside its runs: bringing the output back and comparing it; and a run on the GPU
# beside the kernel: emptying L2, keeping the stream busy.
# Each part of user kernels is compiled, tried and compared: what `bench saving` aims at.
CELL_S = {"cpu": 0.02, "cuda": 0.03, "own": 0.3}
PART_S = {"cpu": 0.002, "cuda": 0.005, "own": 0.3}  # in later rounds, where others compare nothing
BETWEEN_S = {"cpu": 0.0, "cuda": 2.5e-4, "own": 2.5e-4}
PICTURE_S_A_SAMPLE = 1e-8  # making it and holding it against the oracle
LATEST = 40  # records that tell how far off the model is
PAUSED = 10  # times as long as usual, for a part between which the sweep was paused


def estimated_s(
    cells: Iterable[Cell], seen: Iterable[Record] = (), sampling: Sampling = SWEEP_SAMPLING
) -> float:
    """About the seconds that `cells` will take, none of which is complete or rejected.

    seen  records of the same plan: of `cells`, too, where some rounds are behind them
    """
    records, rounds = list(seen), rounds_of(sampling)
    latest = sorted(records, key=lambda each: each.at)[-LATEST:]
    off = {
        (kind, is_first): _how_far_off(latest, kind, is_first, sampling)
        for kind in CELL_S
        for is_first in (True, False)
    }
    timed = {
        but_for_size(each.cell): each for each in records if isinstance(each.outcome, Measurement)
    }
    begun = {each.cell: each for each in records if not each.is_complete}

    def left_s(cell: Cell) -> float:
        like = begun.get(cell) or timed.get(but_for_size(cell))
        parts = _parts_s(cell, _run_s(cell, like), sampling)
        left = range(rounds_done(begun.get(cell), rounds), len(parts))
        kind = kind_of(cell)
        return sum(parts[at] + off[kind, at == 0] * (1 if at else _samples(cell)) for at in left)

    return max(0.0, sum(map(left_s, cells)))


def about(seconds: float) -> str:
    """A duration in words: "about 40 s", "about 13 min", "about 2.5 h"."""
    if seconds < 1:
        return "less than a second"
    if seconds < 99.5:
        return f"about {seconds:.{0 if seconds >= 9.5 else 1}f} s"
    if seconds < 99.5 * 60:
        return f"about {seconds / 60:.0f} min"
    return f"about {seconds / 3600:,.1f} h"


@lru_cache(maxsize=4096)
def but_for_size(cell: Cell) -> Cell:
    return replace(cell, width=0, height=0)


def _how_far_off(records: Sequence[Record], kind: str, is_first: bool, sampling: Sampling) -> float:
    """How many seconds more than the model says a part takes: no factor, so large for quick cells.

    The times are those between records of the latest round that has some, but for pauses.

    is_first  of first rounds alone, a sample, as outputs are compared; else of the others
    """
    # By rounds behind: seconds of parts, those by the model, and how many these are for.
    of_rounds: dict[int, list[tuple[float, float, float]]] = {}
    for before, record in pairwise(records):
        there, rounds = (  # none where it was measured in one go
            None if isinstance(each.outcome, str) else len(each.outcome.kernel.rounds)
            for each in (before, record)
        )
        if kind_of(record.cell) != kind or record.at <= before.at:
            continue
        if rounds is None or there not in (None, rounds) or (rounds and (rounds == 1) != is_first):
            continue
        parts = _parts_s(record.cell, _run_s(record.cell, record), sampling)
        last_s = parts[min(rounds, len(parts)) - 1] if rounds else sum(parts)
        found = record.at - before.at, last_s, _samples(record.cell) if is_first else 1
        of_rounds.setdefault(rounds, []).append(found)
    several = [rounds for rounds, each in of_rounds.items() if len(each) > 3]  # fewer tell nothing
    took = of_rounds[max(several)] if several else []
    usual = median([it / said for it, said, _ in took]) if took else 1.0
    kept = [each for each in took if each[0] <= PAUSED * usual * each[1]]
    more_s = sum(it - said for it, said, _ in kept)
    return more_s / sum(weight for *_, weight in kept) if kept else 0.0


def _samples(cell: Cell) -> int:
    return cell.pixels * cell.channels * cell.count


def _parts_s(cell: Cell, run_s: float, sampling: Sampling) -> list[float]:
    """Seconds of each round of `cell`, if one run takes `run_s`; a long one is the only one.

    Of a list each step is sampled alone, and on one GPU the whole as well.
    """
    kind, sampling, run_s = kind_of(cell), sampling_of(cell, sampling), run_s / cell.count
    steps = cell.list.count(AND) + 1
    has_whole = steps > 1 and kind == "cuda" and cell.devices == 1
    runs_s = [run_s / steps] * steps + [run_s] * has_whole
    beside_s = CELL_S[kind] + cell.pixels * cell.channels * PICTURE_S_A_SAMPLE
    if run_s > sampling.max_seconds:
        return [cell.count * (beside_s + 2 * sum(runs_s))]
    first_s, later_s, rounds = beside_s, PART_S[kind], rounds_of(sampling)
    for each_s in (each + BETWEEN_S[kind] for each in runs_s):
        least_s = max(sampling.max_seconds, sampling.min_samples * each_s)
        sampled_s = min(sampling.max_samples * each_s, least_s) / rounds
        first_s += max(each_s, sampling.warmup_seconds) + sampled_s
        later_s += max(each_s, sampling.warmup_seconds / rounds / 2) + sampled_s
    return [cell.count * each for each in (first_s, *[later_s] * (rounds - 1))]


def _run_s(cell: Cell, like: Record | None) -> float:
    """Seconds of one run of all pictures of `cell`: by `like`, or else by the model."""
    if like is not None and isinstance(like.outcome, Measurement):
        median_s = like.outcome.kernel.median_ms / 1e3  # of what differs in size alone
        return median_s * cell.megapixels / like.cell.megapixels
    kind, steps = kind_of(cell), [(cell.filter, cell.ksize)]
    with suppress(KernelError):  # steps of another version: it is refused
        steps = [(each.filter, each.ksize) for each in steps_in(cell.list)] or steps
    is_opencv = cell.implementation == "opencv"
    slow = {} if kind != "cpu" else OPENCV_PRODUCTS if is_opencv else TAP_PRODUCTS
    taps = 0.0
    for key, side in steps:
        most = MAX_OPENCV_PRODUCTS if is_opencv and key != "bilateral" else math.inf
        taps += slow.get(key, 1) * max(min(side**2, most), MEMORY_PRODUCTS)
    products = cell.megapixels * 1e6 * cell.channels * taps
    cores = 1 if cell.implementation == "sequential" else usable_cores()
    paced = "parallel" if any(key in slow for key, _ in steps) else cell.implementation
    per_core = PRODUCTS_PER_CORE.get(paced, min(PRODUCTS_PER_CORE.values()))
    pace = per_core * cores if kind == "cpu" else PRODUCTS_PER_GPU * cell.devices
    return START_S[kind] * cell.count + products / pace
