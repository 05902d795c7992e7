"""Compare our CPU implementations with what people type: `workbench bench cpu`.

All ways of a cell take turns in one process, a run each, so that drifts hit all alike; each output
is compared with the reference first.  The figures are ratios of medians.
"""

from __future__ import annotations

import importlib
import json
import platform
from argparse import Namespace
from collections.abc import Iterator
from dataclasses import asdict, dataclass
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
from kernels.core.timing import Timing
from kernels.core.version import program_version
from kernels.cpu import HostImplementation, host_implementations
from workbench.base import numbers
from workbench.cli import made_jobs, this_machine
from workbench.cli.benches import chosen
from workbench.cli.benches.ways import (
    Measured,
    Way,
    importable,
    max_error,
    measured_way,
    missing,
    precision_of,
    quickest,
    seconds_of,
    use_threads,
    ways,
)
from workbench.cli.output import FAILED, write_whole

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
BESIDE = {"opencv": "cv2", "parallel": "C"}  # ours -> the library of plain calls to compare with
# The slow ones, and plain loops of many weights, take minutes on the largest picture.
MAX_PRODUCTS = {"SciPy": 4e8, "scikit-image": 4e8, "Pillow": 4e9, "C": 1.2e10}
ROUNDS, MIN_ROUNDS, MILLISECONDS, SEED = 41, 5, 600.0, 12
CHECK_TAPS = 20_000_000
WRONG = "WRONG"
AIM = 1.4


@dataclass(frozen=True, slots=True)
class CpuCell:
    """A cell and the times of all its ways; ours by their keys."""

    cell: str
    ours: dict[str, Measured]
    others: tuple[Measured, ...]

    def best(self, library: str) -> Measured | None:
        """Find the quickest right way of a library."""
        return quickest(tuple(each for each in self.others if each.key == library), "float32")

    def ratio(self, key: str, library: str) -> float | None:
        """Our time over that of a library's best."""
        ours, theirs = self.ours[key].ms, self.best(library)
        return ours / theirs.ms if ours and theirs and theirs.ms else None


def run(arguments: Namespace) -> int:
    """Measure the chosen cells, printing each; then a summary."""
    jobs = (
        (name, made_jobs.job(name, ksize, (height, width), channels, pixel_type))
        for (height, width, channels, pixel_type), (name, ksize) in product(PICTURES, FILTERS)
    )
    every = {cell_title(name, job): (name, job) for name, job in jobs}
    cells = [every[title] for title in chosen(arguments.cells, every)]
    # Before the C loop loads the same OpenMP library, which is then set up as in the program.
    importlib.import_module("kernels.cpu._jit_rows")
    modules = ("cv2", "numba", "scipy", "skimage", "PIL")
    here = [each for each in modules if importable(each, each) is None]
    versions = [f"{each} {importlib.import_module(each).__version__}" for each in here]
    facts = [
        f"Filter Workbench {program_version()}, {this_machine.cpu()}, {usable_cores()} threads",
        ", ".join((f"Python {platform.python_version()}", *versions)),
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
        data = {"facts": facts, "rows": [asdict(row) for row in rows], "closing": closing}
        write_whole(arguments.json, json.dumps(data, indent=1))
    return FAILED if any(line.endswith(WRONG) for line in closing) else 0


def cell_title(name: str, job: Job) -> str:
    """Name a cell: "gaussian 5 640×480×3 uint8"."""
    return f"{name} {job.ksize} {job.width}×{job.height}×{job.channels} {job.pixel_type}"


def measured(name: str, job: Job) -> CpuCell:
    """Check every way's output, then let all that are right take turns."""
    ours = {each.key: _our_way(each, job) for each in host_implementations() if each.key in BESIDE}
    products = job.picture.size * job.ksize**2
    others = [way for way in ways(name, job) if products <= MAX_PRODUCTS.get(way.library, products)]
    # The loops on their own: OpenMP's threads wait spinning after a run, which would slow the next.
    loops = [ours["parallel"], *(each for each in others if each.library == "C")]
    calls = [ours["opencv"], *(each for each in others if each.library != "C")]
    errors = {way: error_of(job, way) for way in (*loops, *calls)}
    right = {way for way, error in errors.items() if precision_of(error, job) == "float32"}
    times_ms: dict[Way, list[float]] = {}
    for together in (loops, calls):
        times_ms |= _taking_turns([each for each in together if each in right])
    timings = {way: Timing(tuple(each)) for way, each in times_ms.items()}
    times = {
        way: measured_way(way.library, way, timings.get(way), errors[way], job) for way in errors
    }
    by_key = {key: times[way] for key, way in ours.items()}
    return CpuCell(cell_title(name, job), by_key, tuple(times[each] for each in others))


def _our_way(implementation: HostImplementation, job: Job) -> Way:
    prepared = implementation.prepare(job)
    ran = prepared.ran

    def run() -> NDArray[Any]:
        out = np.empty_like(job.picture)  # new each time, as that of the others: memory just freed
        for _ in prepared.filtering(out):
            pass
        return out

    is_cv2 = ran.function.startswith("cv2.")
    return Way("ours", str(ran), run, threads=(ran.threads or 0) if is_cv2 else 0)


def error_of(job: Job, way: Way) -> float:
    """Run a way once and return its largest error, in sample values."""
    use_threads(way.threads)
    return max_error(job, way.run(), taps=CHECK_TAPS)


def _taking_turns(entries: list[Way]) -> dict[Way, list[float]]:
    """Collect the milliseconds of each way's runs: a run each in turn, in a changing order.

    Before, all warm up.  It ends after ROUNDS, or when the time is over.
    """
    times_ms: dict[Way, list[float]] = {way: [] for way in entries}
    order, shuffle = list(entries), Random(SEED)
    settled_at = perf_counter() + THREADS_SETTLE_S
    while perf_counter() < settled_at:
        for way in order:
            _ms(way)
    for number in range(ROUNDS):
        shuffle.shuffle(order)
        for way in order:
            # A slow way needs not be as sure as the others, nor take their time.
            if sum(times_ms[way]) < MILLISECONDS or number < MIN_ROUNDS:
                times_ms[way].append(_ms(way))
        if number + 1 >= MIN_ROUNDS and all(
            sum(each) >= MILLISECONDS for each in times_ms.values()
        ):
            break
    return times_ms


def _ms(way: Way) -> float:
    if use_threads(way.threads):
        way.run()  # OpenCV starts or ends its threads
    return 1e3 * seconds_of(way.run)


HEADER = (
    f"{'cell':<36}{'cv2, best call':<25}{'opencv/cv2':>11}{'parallel/C':>11}"
    f"{'SciPy':>9}{'skimage':>9}{'Pillow':>9}   of opencv's time; what opencv calls"
)


def in_words(row: CpuCell) -> str:
    """Describe a cell in a line."""
    best = row.best("cv2")
    plain = f"{best.name} {numbers.duration(best.ms)}" if best and best.ms else numbers.MISSING
    ratios = [row.ratio(*each) for each in BESIDE.items()]
    figures = "".join(f"{f'{each:.2f}' if each else numbers.MISSING:>11}" for each in ratios)
    turned = [row.ratio("opencv", each) for each in ("SciPy", "scikit-image", "Pillow")]
    others = "".join(f"{f'{1 / each:.3g}×' if each else numbers.MISSING:>9}" for each in turned)
    return f"{row.cell:<36}{plain:<25}{figures}{others}   {row.ours['opencv'].name}"


def closing_lines(rows: list[CpuCell]) -> Iterator[str]:
    """Report wrong outputs of ours, and the cells that meet or miss each aim."""
    for row in rows:
        for key, own in row.ours.items():
            if own.ms is None:
                yield f"{row.cell}: {key} is off by {own.max_error:g}, which is {WRONG}"
    for key, library in BESIDE.items():
        ratios = {row.cell: ratio for row in rows if (ratio := row.ratio(key, library))}
        if not ratios:
            continue
        missed = {cell: ratio for cell, ratio in ratios.items() if ratio > AIM}
        worst = max(ratios, key=ratios.__getitem__)
        yield (
            f"{key} takes at most {AIM:g} of the time of the best plain {library} call in "
            f"{len(ratios) - len(missed)} of {len(ratios)} cells; median "
            f"{median(ratios.values()):.2f}, worst {ratios[worst]:.2f} ({worst})."
        )
        yield from (f"  {cell}: {ratio:.2f}" for cell, ratio in missed.items())
