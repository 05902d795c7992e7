"""Compare our CPU implementations with what people type: `workbench bench cpu`.

All ways of a cell take turns, and each output is compared with the reference first.
"""

from __future__ import annotations

import importlib
import json
import platform
from argparse import Namespace
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from itertools import product
from statistics import median
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernels.core.cpu_load import usable_cores
from kernels.core.job import Job, Sampling
from kernels.core.plain_data import table_beside
from kernels.core.sampling import THREADS_SETTLE_S
from kernels.core.timing import Timing
from kernels.core.version import program_version
from kernels.cpu import HostImplementation, host_implementations
from workbench.base import numbers
from workbench.cli import made_jobs, this_machine
from workbench.cli.benches import chosen, filter_ways, ways
from workbench.cli.output import FAILED, write_whole

_CELLS = table_beside(__file__)
PICTURES, KSIZES, WINDOWS = _CELLS["pictures"], _CELLS["ksizes"], _CELLS["windows"]
BESIDE = {"opencv": "cv2", "parallel": "C"}  # ours -> the library of plain calls to compare with
# The slow ones, and plain loops of many weights, take minutes on the largest picture.
MAX_PRODUCTS = {"SciPy": 4e8, "scikit-image": 4e8, "Pillow": 4e9, "C": 1.2e10}
SAMPLING = Sampling(
    min_samples=5, max_samples=41, max_seconds=3.0, noise=0.02, warmup_seconds=THREADS_SETTLE_S
)
CHECK_TAPS = 20_000_000
WRONG = "WRONG"
AIM = 1.4


@dataclass(frozen=True, slots=True)
class CpuCell:
    """A cell and the times of all its ways; ours by their keys."""

    cell: str
    ours: dict[str, ways.Measured]
    others: tuple[ways.Measured, ...]

    def best(self, library: str) -> ways.Measured | None:
        """Find the quickest right way of a library."""
        return ways.quickest([each for each in self.others if each.key == library], "float32")

    def ratio(self, key: str, library: str) -> float | None:
        """Our time over that of a library's best."""
        ours, theirs = self.ours.get(key), self.best(library)
        return ours.ms / theirs.time_ms if ours and ours.ms and theirs else None


def run(arguments: Namespace) -> int:
    """Measure the chosen cells, printing each; then a summary."""
    every = {
        f"{name} {ksize} {columns}×{rows}×{channels} {pixel_type}": (
            name,
            (name, ksize, (rows, columns), channels, pixel_type),
        )
        for pictures, ksizes in ((PICTURES, KSIZES), (WINDOWS["pictures"], WINDOWS["ksizes"]))
        for (rows, columns, channels, pixel_type), name in product(pictures, ksizes)
        for ksize in ksizes[name]
    }
    titles = chosen(arguments.cells, every)
    # Before the C loop loads the same OpenMP library, which is then set up as in the program.
    importlib.import_module("kernels.cpu._jit_rows")
    modules = ("cv2", "numba", "scipy", "skimage", "PIL")
    here = [each for each in modules if ways.importable(each, each) is None]
    versions = [f"{each} {importlib.import_module(each).__version__}" for each in here]
    facts = [
        f"Filter Workbench {program_version()}, {this_machine.cpu()}, {usable_cores()} threads",
        ", ".join((f"Python {platform.python_version()}", *versions)),
        *ways.missing(),
    ]
    print(*facts, "", HEADER, sep="\n", flush=True)
    rows = []
    for title in titles:
        name, what = every[title]
        rows.append(measured(title, name, made_jobs.job(*what)))
        print(in_words(rows[-1]), flush=True)
    closing = list(closing_lines(rows))
    print("", *closing, sep="\n")
    if arguments.json is not None:
        data = {"facts": facts, "rows": [asdict(row) for row in rows], "closing": closing}
        write_whole(arguments.json, json.dumps(data, indent=1))
    return FAILED if any(line.endswith(WRONG) for line in closing) else 0


def measured(title: str, name: str, job: Job) -> CpuCell:
    """Check every way's output, then let all that are right take turns."""
    own = [each for each in host_implementations() if each.key in BESIDE]
    ours = {each.key: _our_way(each, job) for each in own if not each.why_not(job)}
    products = job.picture.size * job.ksize**2
    every = ways.ways(name, job) if job.has_weights else filter_ways.on_cpu(name, job)
    others = [each for each in every if products <= MAX_PRODUCTS.get(each.library, products)]
    # The loops on their own: OpenMP's threads wait spinning after a run, which would slow the next.
    loops = [ours["parallel"], *(each for each in others if each.library == "C")]
    calls = [way for way in (*ours.values(), *others) if way not in loops]
    errors: dict[ways.Way, float] = {}
    times: dict[ways.Way, ways.Measured] = {}
    for way in (*loops, *calls):
        try:
            errors[way] = error_of(job, way)
        except Exception as error:
            if way.library == "ours":
                raise
            times[way] = ways.Measured(way.library, way.name, why_not=ways.first_line(error))
    timings: dict[ways.Way, Timing] = {}
    for together in (loops, calls):
        able = [way for way in together if way in errors]
        right = [way for way in able if ways.precision_of(errors[way], job) == "float32"]
        timings |= ways.in_turns(right, SAMPLING)
    for way, off_by in errors.items():
        times[way] = ways.measured_way(way.library, way, timings.get(way), off_by, job)
    by_key = {key: times[way] for key, way in ours.items()}
    return CpuCell(title, by_key, tuple(times[each] for each in others))


def _our_way(implementation: HostImplementation, job: Job) -> ways.Way:
    prepared = implementation.prepare(job)
    ran = prepared.ran

    def run() -> NDArray[Any]:
        out = np.empty_like(job.picture)  # new each time, as that of the others: memory just freed
        for _ in prepared.filtering(out):
            pass
        return out

    is_cv2 = ran.function.startswith("cv2.")
    return ways.Way("ours", str(ran), run, threads=(ran.threads or 0) if is_cv2 else 0)


def error_of(job: Job, way: ways.Way) -> float:
    """Run a way once and return its largest error, in sample values."""
    ways.use_threads(way)
    return ways.max_error(job.but(border=way.border), way.run(), taps=CHECK_TAPS)


HEADER = (
    f"{'cell':<36}{'cv2, best call':<25}{'opencv/cv2':>11}{'parallel/C':>11}"
    f"{'SciPy':>9}{'skimage':>9}{'Pillow':>9}   of opencv's time; what opencv calls"
)


def in_words(row: CpuCell) -> str:
    best = row.best("cv2")
    plain = f"{best.name} {numbers.duration(best.time_ms)}" if best else numbers.MISSING
    ratios = [row.ratio(*each) for each in BESIDE.items()]
    figures = "".join(f"{f'{each:.2f}' if each else numbers.MISSING:>11}" for each in ratios)
    turned = [row.ratio("opencv", each) for each in ("SciPy", "scikit-image", "Pillow")]
    others = "".join(f"{f'{1 / each:.3g}×' if each else numbers.MISSING:>9}" for each in turned)
    called = row.ours["opencv"].name if "opencv" in row.ours else numbers.MISSING
    return f"{row.cell:<36}{plain:<25}{figures}{others}   {called}"


def closing_lines(rows: list[CpuCell]) -> Iterator[str]:
    """Report wrong outputs of ours, and the cells that meet or miss each aim."""
    for row in rows:
        for key, own in row.ours.items():
            if own.ms is None:
                yield f"{row.cell}: {key} is off by {own.max_error:g}, which is {WRONG}"
    for key, library in BESIDE.items():
        ratios = {row.cell: ratio for row in rows if (ratio := row.ratio(key, library))}
        missed = {cell: ratio for cell, ratio in ratios.items() if ratio > AIM}
        if ratios:
            worst = max(ratios, key=ratios.__getitem__)
            yield (
                f"{key} takes at most {AIM:g} of the time of the best plain {library} call in "
                f"{len(ratios) - len(missed)} of {len(ratios)} cells; median "
                f"{median(ratios.values()):.2f}, worst {ratios[worst]:.2f} ({worst})."
            )
        yield from (f"  {cell}: {ratio:.2f}" for cell, ratio in missed.items())
