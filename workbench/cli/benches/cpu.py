"""Compare our CPU implementations with what people type: `workbench bench cpu`.

All ways of a cell take turns in one process, a run each, so that whatever drifts hits all alike;
each answer is held against the oracle first.  What is told are ratios of medians.
"""

from __future__ import annotations

import importlib
import json
import platform
from argparse import Namespace
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass
from functools import cache
from itertools import product
from random import Random
from statistics import median
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernels.core.cpu_load import usable_cores
from kernels.core.job import Job
from kernels.core.sampling import THREADS_SETTLE_S
from kernels.core.verdict import Tolerance
from kernels.core.version import program_version
from kernels.cpu import HostImplementation, host_implementations
from kernels.cpu.opencv import use_threads
from kernels.oracle.checking import checking, limits_of
from kernels.oracle.reference import to_pixel_type
from workbench.base import numbers
from workbench.cli import made_jobs, this_machine
from workbench.cli.benches import fitting
from workbench.cli.benches.cpu_ways import CpuWay, missing, ways
from workbench.cli.output import FAILED, USAGE, CommandError, write_whole

FILTERS = (
    *(("gaussian", ksize) for ksize in (3, 7, 15, 31)),
    *(("box", ksize) for ksize in (3, 7, 31)),
    ("sobel_x", 3),
    ("laplacian", 3),
    *(("random", ksize) for ksize in (3, 5, 9, 15)),
)
# (rows, columns, channels, pixel type)
PICTURES = (
    (512, 768, 3, "uint8"),
    (256, 256, 1, "float32"),
    (512, 512, 1, "float32"),
    (512, 768, 3, "uint16"),
    (2048, 2048, 1, "float32"),
    (4096, 4096, 3, "uint8"),
)
OURS = ("opencv", "parallel")
# The slow ones, and plain loops of many weights, take minutes on the largest picture.
MAX_PRODUCTS = {"SciPy": 4e8, "scikit-image": 4e8, "Pillow": 4e9, "C": 1.2e10}
ROUNDS, MIN_ROUNDS, SECONDS, SEED = 41, 5, 0.6, 12
LEVELS, ROUNDINGS, CHECK_TAPS = 1, 8.0, 20_000_000
WRONG = "WRONG"
AIM = {"opencv": 1.4, "parallel": 1.4}


@dataclass(frozen=True, slots=True)
class Timed:
    """One way's time in a cell.

    ms     median; None where its answer is another one
    error  how far its answer is off at most, in sample values
    """

    library: str
    name: str
    ms: float | None
    runs: int
    error: float


@dataclass(frozen=True, slots=True)
class CpuCell:
    """A cell and all its ways.

    ours   by key: what `opencv` and `parallel` took
    """

    cell: str
    ours: dict[str, Timed]
    others: tuple[Timed, ...]

    def best(self, library: str) -> Timed | None:
        """Return the quickest right way of a library; None where there is none."""
        right = [each for each in self.others if each.library == library and each.ms]
        return min(right, key=lambda each: each.ms or 0.0, default=None)

    def ratio(self, key: str, library: str) -> float | None:
        """Return our time over that of a library's best."""
        ours, theirs = self.ours[key].ms, self.best(library)
        return ours / theirs.ms if ours and theirs and theirs.ms else None


def run(arguments: Namespace) -> int:
    """Measure the cells asked for, printing each; then how many meet the aims."""
    cells = chosen_cells(arguments)
    # Before the C loop loads the same OpenMP library, which is then set up as in the program.
    importlib.import_module("kernels.cpu._jit_rows")
    facts = [
        f"Filter Workbench {program_version()}, {this_machine.cpu()}, {usable_cores()} threads",
        f"Python {platform.python_version()}, {_versions()}",
        *missing(),
    ]
    print(*facts, "", HEADER, sep="\n", flush=True)
    rows = []
    for name, job in cells:
        rows.append(measured(name, job))
        print(in_words(rows[-1]), flush=True)
    closing = list(closing_lines(rows))
    print("", *closing, sep="\n")
    if arguments.json is not None:
        found = {"facts": facts, "rows": [asdict(row) for row in rows], "closing": closing}
        write_whole(arguments.json, json.dumps(found, indent=1))
    return FAILED if any(line.endswith(WRONG) for line in closing) else 0


def chosen_cells(arguments: Namespace) -> list[tuple[str, Job]]:
    """Return (filter, job) of those that --cells leaves; CommandError where that is none."""
    fits = fitting(arguments.cells)
    found = [
        (name, job)
        for picture, (name, ksize) in product(PICTURES, FILTERS)
        if fits(cell_title(name, job := job_of(name, ksize, *picture)))
    ]
    if not found:
        example = cell_title("gaussian", job_of("gaussian", 7, *PICTURES[0]))
        raise CommandError(f"No cell fits; there are such as {example}.", USAGE)
    return found


def job_of(name: str, ksize: int, height: int, width: int, channels: int, pixel_type: str) -> Job:
    """Return a job on a picture of noise, of that size and type."""
    picture = made_jobs.picture(height, width, channels, pixel_type)
    return Job(picture, made_jobs.weights(name, ksize), filter_title=made_jobs.weights_title(name))


def cell_title(name: str, job: Job) -> str:
    """Return a cell in words: "gaussian 5 640×480×3 uint8"."""
    return f"{name} {job.ksize} {job.width}×{job.height}×{job.channels} {job.pixel_type}"


@dataclass(frozen=True, slots=True, eq=False)
class CpuEntry:
    """A way, and the threads that OpenCV is to use meanwhile."""

    way: CpuWay
    threads: int


def measured(name: str, job: Job) -> CpuCell:
    """Check every way's answer, then let all that are right take turns."""
    ours = {each.key: _our_entry(each, job) for each in host_implementations() if each.key in OURS}
    products = job.picture.size * job.ksize**2
    others = [
        CpuEntry(way, _plain_threads())
        for way in ways(name, job)
        if products <= MAX_PRODUCTS.get(way.library, products)
    ]
    # The loops on their own: OpenMP's threads wait spinning after a run, which would cost whatever
    # comes next.
    loops = [ours["parallel"], *(each for each in others if each.way.library == "C")]
    calls = [ours["opencv"], *(each for each in others if each.way.library != "C")]
    errors = {entry: max_error(job, entry) for entry in (*loops, *calls)}
    seconds: dict[CpuEntry, list[float]] = {}
    for together in (loops, calls):
        seconds |= _taking_turns([each for each in together if _is_right(job, errors[each])])
    timed = {each: _timed(each.way, errors[each], seconds.get(each, [])) for each in errors}
    by_key = {key: timed[entry] for key, entry in ours.items()}
    return CpuCell(cell_title(name, job), by_key, tuple(timed[each] for each in others))


def _our_entry(implementation: HostImplementation, job: Job) -> CpuEntry:
    prepared = implementation.prepare(job)
    ran = prepared.ran

    def run() -> NDArray[Any]:
        out = np.empty_like(job.picture)  # new each time, as that of the others: memory just freed
        for _ in prepared.filtering(out):
            pass
        return out

    is_cv2 = ran.function.startswith("cv2.")
    threads = ran.threads if is_cv2 and ran.threads else _plain_threads()
    return CpuEntry(CpuWay("ours", str(ran), run), threads)


@cache
def _plain_threads() -> int:
    """Return the threads that OpenCV takes by itself."""
    import cv2

    cv2.setNumThreads(-1)
    return int(cv2.getNumThreads())


def max_error(job: Job, entry: CpuEntry) -> float:
    """Return what the way's answer is off by at most, in sample values."""
    use_threads(entry.threads)
    answer = as_asked_for(entry.way.run(), job)
    *_, check = checking(job, answer, tolerance(job), CHECK_TAPS)
    return check.max_error


def as_asked_for(answer: Any, job: Job) -> NDArray[Any]:
    """Return an answer in the picture's shape and type, whatever a library gave."""
    found = np.asarray(answer).reshape(job.picture.shape)
    if found.dtype == job.picture.dtype:
        return found
    return to_pixel_type(found.astype(np.float64), job.picture.dtype)


def tolerance(job: Job) -> Tolerance:
    """Return what libraries may be off by."""
    return Tolerance(job.ksize**2, ROUNDINGS, LEVELS)


def _is_right(job: Job, error: float) -> bool:
    """Return whether the answer is right: libraries round integers by a level more or less."""
    limits = limits_of(job, tolerance(job))
    return error <= (LEVELS if job.picture.dtype.kind == "u" else limits.bound)


def _taking_turns(entries: list[CpuEntry]) -> dict[CpuEntry, list[float]]:
    """Return the seconds of each way's runs: a run each in turn, in a changing order.

    Before, all warm up.  It ends after ROUNDS, or when the time is over.
    """
    seconds: dict[CpuEntry, list[float]] = {entry: [] for entry in entries}
    order, shuffle = list(entries), Random(SEED)
    settled_at = perf_counter() + THREADS_SETTLE_S
    while perf_counter() < settled_at:
        for entry in order:
            _seconds(entry)
    for number in range(ROUNDS):
        shuffle.shuffle(order)
        for entry in order:
            # A slow way needs not be as sure as the others, nor take their time.
            if sum(seconds[entry]) < SECONDS or number < MIN_ROUNDS:
                seconds[entry].append(_seconds(entry))
        if number + 1 >= MIN_ROUNDS and all(sum(each) >= SECONDS for each in seconds.values()):
            break
    return seconds


def _seconds(entry: CpuEntry) -> float:
    if use_threads(entry.threads):
        entry.way.run()  # OpenCV starts or ends its threads
    start = perf_counter()
    entry.way.run()
    return perf_counter() - start


def _timed(way: CpuWay, error: float, seconds: list[float]) -> Timed:
    ms = 1e3 * median(seconds) if seconds else None
    return Timed(way.library, way.name, ms, len(seconds), error)


HEADER = (
    f"{'cell':<36}{'cv2, best call':<25}{'opencv/cv2':>11}{'parallel/C':>11}"
    f"{'SciPy':>9}{'skimage':>9}{'Pillow':>9}   of opencv's time; what opencv calls"
)


def in_words(row: CpuCell) -> str:
    """Return the cell's line."""
    best = row.best("cv2")
    plain = f"{best.name} {numbers.duration(best.ms)}" if best and best.ms else numbers.MISSING
    figures = [_figure(row.ratio("opencv", "cv2")), _figure(row.ratio("parallel", "C"))]
    others = [_turned(row.ratio("opencv", each)) for each in ("SciPy", "scikit-image", "Pillow")]
    return (
        f"{row.cell:<36}{plain:<25}{figures[0]:>11}{figures[1]:>11}"
        f"{others[0]:>9}{others[1]:>9}{others[2]:>9}   {row.ours['opencv'].name}"
    )


def _figure(ratio: float | None) -> str:
    return f"{ratio:.2f}" if ratio else numbers.MISSING


def _turned(ratio: float | None) -> str:
    return f"{1 / ratio:.3g}×" if ratio else numbers.MISSING


def closing_lines(rows: list[CpuCell]) -> Iterator[str]:
    """Yield what of ours is wrong; how many cells meet each aim, and which do not."""
    for row in rows:
        for key, found in row.ours.items():
            if found.ms is None:
                yield f"{row.cell}: {key} is off by {found.error:g}, which is {WRONG}"
    for key, library in (("opencv", "cv2"), ("parallel", "C")):
        ratios = {row.cell: ratio for row in rows if (ratio := row.ratio(key, library))}
        if not ratios:
            continue
        missed = {cell: ratio for cell, ratio in ratios.items() if ratio > AIM[key]}
        worst = max(ratios, key=ratios.__getitem__)
        yield (
            f"{key} takes at most {AIM[key]:g} of the time of the best plain {library} call in "
            f"{len(ratios) - len(missed)} of {len(ratios)} cells; median "
            f"{median(ratios.values()):.2f}, worst {ratios[worst]:.2f} ({worst})."
        )
        for cell, ratio in missed.items():
            yield f"  {cell}: {ratio:.2f}"


def _versions() -> str:
    found = []
    for module in ("cv2", "numba", "scipy", "skimage", "PIL"):
        with suppress(ImportError):
            found.append(f"{module} {importlib.import_module(module).__version__}")
    return ", ".join(found)
