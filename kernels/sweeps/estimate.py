"""How long cells will take: a rough model of the work, put right by what was measured already.

Good enough to decide whether to wait: within a factor of two or so, and better while it goes on.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cache, lru_cache
from itertools import pairwise
from statistics import median

from kernels.engine import all_implementations
from kernels.host.cores import usable_cores
from kernels.job import Sampling
from kernels.sweeps.cell import Cell
from kernels.sweeps.plan import SWEEP_SAMPLING, sampling_of
from kernels.sweeps.record import Measurement, Record

# Products of a weight and a sample in a second, of one core and of a GPU, as they come to be.
PRODUCTS_A_CORE = 5e8
PRODUCTS_A_GPU = 3e12
MEMORY_PRODUCTS = 8  # a sample's way through memory takes as long as so many
OPENCV_SPEED, MOST_OPENCV_PRODUCTS = 10, 40  # vectors; and two passes or spectra for large weights
START_S = {"cpu": 5e-4, "cuda": 5e-6}  # threads to wake, a kernel to launch
# What a cell costs beside its runs: bringing the answer back and comparing it; and a run on the GPU
# beside the kernel: emptying L2, keeping the stream busy.
CELL_S = {"cpu": 0.02, "cuda": 0.03}
BETWEEN_S = {"cpu": 0.0, "cuda": 2.5e-4}
PICTURE_S_A_SAMPLE = 1e-8  # making it and holding it against the oracle
LATEST = 40  # records that tell how far off the model is


def estimated_s(
    cells: Iterable[Cell], seen: Iterable[Record] = (), sampling: Sampling = SWEEP_SAMPLING
) -> float:
    """About how many seconds `cells` will take, those that are refused left out by the caller.

    seen  what was measured of the same plan, in order
    """
    records = list(seen)
    latest = records[-LATEST:]
    off = {kind: _how_far_off(latest, kind, sampling) for kind in CELL_S}
    timed = {but_for_size(each.cell): each for each in records if _timed(each)}
    return sum(
        _cell_s(cell, _run_s(cell, timed.get(but_for_size(cell))), sampling) * off[_kind(cell)]
        for cell in cells
    )


def scaled_s(cell: Cell, like: Cell, like_s: float) -> float:
    """About how long one run of `cell` takes, where `like`, which differs from it in its size
    alone, took `like_s`: in proportion to the pixels."""
    return like_s * cell.megapixels / like.megapixels


def about(seconds: float) -> str:
    """ "about 40 s", "about 13 min", "about 2.5 h"."""
    if seconds < 1:
        return "less than a second"
    if seconds < 99.5:
        return f"about {seconds:.{0 if seconds >= 9.5 else 1}f} s"
    if seconds < 99.5 * 60:
        return f"about {seconds / 60:.0f} min"
    return f"about {seconds / 3600:,.1f} h"


@lru_cache(maxsize=4096)
def but_for_size(cell: Cell) -> Cell:
    """What cells have in common that differ in their size alone."""
    return replace(cell, width=0, height=0)


def _how_far_off(records: Sequence[Record], kind: str, sampling: Sampling) -> float:
    """How many times longer than the model has it cells took, by the times between records; the
    median, so that a pause does not matter."""
    ratios = [
        (record.at - before.at) / _cell_s(record.cell, _run_s(record.cell, record), sampling)
        for before, record in pairwise(records)
        if _timed(record) and _kind(record.cell) == kind and record.at > before.at
    ]
    return median(ratios) if ratios else 1.0


def _cell_s(cell: Cell, run_s: float, sampling: Sampling) -> float:
    """All that it takes to measure `cell`, if one run takes so long; see `kernels.sampling`."""
    kind, sampling, run_s = _kind(cell), sampling_of(cell, sampling), run_s / cell.count
    samples = cell.pixels * cell.channels
    beside_s = CELL_S[kind] + samples * PICTURE_S_A_SAMPLE
    if run_s > sampling.max_seconds:
        return cell.count * (beside_s + run_s)
    each_s = run_s + BETWEEN_S[kind]
    warm_s = max(sampling.warmups * each_s, sampling.warmup_seconds)
    least_s = max(sampling.max_seconds, sampling.min_samples * each_s)
    return cell.count * (beside_s + warm_s + min(sampling.max_samples * each_s, least_s))


def _run_s(cell: Cell, like: Record | None) -> float:
    """One run of all pictures of `cell`: as `like` has it, else as the model has it."""
    if like is not None and isinstance(like.outcome, Measurement):
        return scaled_s(cell, like.cell, like.outcome.kernel.median_ms / 1e3)
    kind, taps = _kind(cell), cell.ksize**2
    if cell.implementation == "opencv":
        taps = min(taps // OPENCV_SPEED, MOST_OPENCV_PRODUCTS)
    products = cell.megapixels * 1e6 * cell.channels * max(taps, MEMORY_PRODUCTS)
    cores = 1 if cell.implementation == "sequential" else usable_cores()
    pace = PRODUCTS_A_GPU if kind == "cuda" else PRODUCTS_A_CORE * cores
    return START_S[kind] * cell.count + products / pace


def _timed(record: Record) -> bool:
    return isinstance(record.outcome, Measurement)


def _kind(cell: Cell) -> str:
    return _kinds()[cell.implementation]


@cache
def _kinds() -> dict[str, str]:
    return {each.key: each.kind for each in all_implementations()}
