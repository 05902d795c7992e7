"""Measure every rung in every cell of the table of aims: `workbench bench kernels`.

Each cell is one job; all are measured in one run, checked, from a cold L2.  Aims are for an H200.
"""

from __future__ import annotations

import json
import math
import platform
from argparse import Namespace
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from functools import cache
from itertools import islice
from statistics import geometric_mean
from time import perf_counter
from typing import Any

import numpy as np

from kernels import Engine
from kernels.core.device import Device, cuda_version
from kernels.core.device_turns import outcome_of
from kernels.core.job import Job, Result, Sampling
from kernels.core.plain_data import table_beside
from kernels.core.version import program_version
from kernels.cuda.probing import cupy_version
from kernels.engine.auto import DEFAULT_BLOCK_XY, job_class_of
from kernels.engine.engine import Implementation
from kernels.engine.job_comparison import measure_checked
from kernels.engine.list_ways import WAYS
from kernels.oracle.checking import Oracle
from kernels.rungs.rung import Rung, ladder
from workbench.base import diagnostics, numbers
from workbench.base.columns import aligned
from workbench.cli import made_jobs, this_machine
from workbench.cli.benches import chosen, filter_ways
from workbench.cli.benches.gpu_ways import LIBRARIES, Clock, measure_peers
from workbench.cli.benches.ways import Measured, Precision, of_timing, precision_of, quickest
from workbench.cli.output import INTERRUPTED, CommandError, say, write_whole
from workbench.cli.this_machine import engine_maker

SAMPLING = Sampling(max_samples=20, max_seconds=0.3, check_taps=3_000_000)
EXACT: Precision = "float32"
# A target is a share of the copy bandwidth in percent, FFT, or a sum of times, in any order: an
# empty launch, the memory's and microseconds, as "launch + memory + 2 µs" or "140 µs".
Target = float | str
FFT = "cuFFT"  # no slower than that


@dataclass(frozen=True, slots=True)
class BenchCell:
    """One job to measure.

    weights  a filter's name, of weights or not, or "random" or "whole"; or a list
    size     (height, width)
    ksize    of a list 1, which says nothing
    aims     targets with the precision that they require
    """

    weights: str
    pixel_type: str
    channels: int
    size: tuple[int, int]
    ksize: int
    aims: tuple[tuple[Precision, Target], ...] = ()

    @property
    def size_in_words(self) -> str:
        """The picture's size: "4096²" or "640×480"."""
        height, width = self.size
        return f"{width}²" if width == height else f"{width}×{height}"

    @property
    def kind(self) -> str:
        """Its weights and samples: "gaussian uint8×3"."""
        return f"{self.weights} {self.pixel_type}×{self.channels}"

    @property
    def is_list(self) -> bool:
        return made_jobs.is_list(self.weights)

    def __str__(self) -> str:
        size = "" if self.is_list else f" K={self.ksize}"
        return f"{self.kind} {self.size_in_words}{size}"

    def job(self) -> Job:
        return made_jobs.job(self.weights, self.ksize, self.size, self.channels, self.pixel_type)


@cache
def all_cells() -> tuple[BenchCell, ...]:
    """List every cell of kernels.toml once, in its order, with all of its aims."""
    found: dict[BenchCell, tuple[tuple[Precision, Target], ...]] = {}
    table = table_beside(__file__)
    for group in table["group"]:
        weights, pixel_type, channels, size = group["of"]
        times = {ksize: f"{time:,} µs" for ksize, time in group.get("aims_us", {}).items()}
        aims = {**group.get("aims", {}), **times, **dict.fromkeys(group.get("sizes", ()))}
        for ksize, target in aims.items():
            cell = BenchCell(weights, pixel_type, channels, tuple(size), int(ksize))
            own = () if target is None else ((group.get("precision", EXACT), target),)
            found[cell] = found.get(cell, ()) + own
    return tuple(replace(cell, aims=aims) for cell, aims in found.items())


# -- what was found

PEER_AIM = 4.5
AUTO_AIM = 0.02
MOST_IDLE = 0.2  # of the device, over all waves of a launch's blocks
VERDICTS = {True: "met", False: "missed", None: "not measured"}
INDENT = " " * 44
Data = dict[str, Any]


@dataclass(frozen=True, slots=True)
class CellReport:
    """The times of one cell's rungs and libraries.

    conditions  of the bench, as `kernels.conditions_of` has them
    auto        the pick of `auto`, as str(Measured) has it
    steps_ms    of a list, each step by itself
    """

    cell: BenchCell
    copy_ms: float
    rungs: tuple[Measured, ...]
    peers: tuple[Measured, ...]
    conditions: Data
    took_s: float
    auto: str | None = None
    steps_ms: tuple[float, ...] = ()

    def findings(self) -> list[Data]:
        """The quickest rung and library for each aim, or of the exact ones without any, as JSON."""
        found = []
        aims: Sequence[tuple[Precision, Target | None]] = self.cell.aims or ((EXACT, None),)
        for precision, target in aims:
            best, peer = quickest(self.rungs, precision), quickest(self.peers, precision)
            limit_ms = self._limit_ms(target)
            found.append(
                {
                    "name": f"{self.cell}{'' if precision == EXACT else ', 1e-4'}",
                    "precision": precision,
                    "aim": target,
                    "limit_ms": limit_ms,
                    "best": best and best.key,
                    "block_xy": best and best.block_xy,
                    **{name: best and getattr(best, name) for name in ("ms", "share", "max_error")},
                    "met": best.time_ms <= limit_ms if best and limit_ms else None,
                    "best_peer": peer and peer.name,
                    "best_peer_ms": peer and peer.ms,
                    "peer_ratio": peer.time_ms / best.time_ms if peer and best else None,
                }
            )
        return found

    def _limit_ms(self, target: Target | None) -> float | None:
        if target == FFT:
            return min((e.ms for e in self.peers if e.key == "cufft" and e.ms), default=None)
        if isinstance(target, str):
            samples = math.prod((*self.cell.size, self.cell.channels))
            copied_gb = 2e-9 * samples * np.dtype(self.cell.pixel_type).itemsize
            memory_ms = 1e3 * copied_gb / self.conditions["copy_gb_s"]
            known = {"launch": self.conditions["empty_launch_ms"], "memory": memory_ms}
            terms = target.replace(",", "").replace(" µs", "e-3").split(" + ")
            return float(sum(known[each] if each in known else float(each) for each in terms))
        return self.copy_ms / (target / 100) if target else None

    @property
    def auto_excess(self) -> float | None:
        """The longer time of `auto`'s pick than of the quickest exact rung: 0.02 is 2 %.

        None where either has no time.
        """
        best = quickest(self.rungs, EXACT)
        picked = quickest([each for each in self.rungs if str(each) == self.auto], EXACT)
        return picked.time_ms / best.time_ms - 1 if best and picked else None

    def lines(self) -> Iterator[str]:
        """Describe each finding, and name rungs with wrong outputs."""
        for finding in self.findings():
            yield from _lines(finding)
        best = quickest(self.rungs, EXACT)
        if self.steps_ms and best:
            apart, dearest = sum(self.steps_ms), max(self.steps_ms)
            yield (
                f"{INDENT}steps apart {numbers.duration(apart)}, {apart / best.time_ms:.2f} × as "
                f"long; the dearest alone {numbers.duration(dearest)}, of which this is "
                f"{best.time_ms / dearest:.2f}"
            )
        if wrong := [each.key for each in self.rungs if each.ms is not None and not each.ok]:
            yield f"{INDENT}WRONG, and not counted: {', '.join(wrong)}"

    def to_data(self) -> Data:
        height, width = self.cell.size
        return {
            **{name: getattr(self.cell, name) for name in OF_CELL},
            "size": width if width == height else f"{width}x{height}",
            "height": height,
            "width": width,
            "copy_ms": self.copy_ms,
            "took_s": round(self.took_s, 2),
            "auto": self.auto,
            "auto_excess": self.auto_excess,
            "steps_ms": self.steps_ms,
            "rungs": [each.to_row() for each in self.rungs],
            "peers": [each.to_row() for each in self.peers],
            "aims": [each for each in self.findings() if each["aim"] is not None],
        }


def _lines(found: Data) -> Iterator[str]:
    aim, words = found["aim"], "nothing can run it, or all outputs were wrong"
    if found["best"]:
        best = str(Measured(found["best"], block_xy=found["block_xy"]))
        words = f"{best:<28}{numbers.duration(found['ms']):>9}{found['share']:7.1f} %  "
        words += f"error {found['max_error']:.1e}"
    if found["best"] and aim is not None:
        limit = numbers.duration(found["limit_ms"]) if found["limit_ms"] else numbers.MISSING
        in_words = aim if isinstance(aim, str) else f"{aim:g} %"
        is_time = in_words.endswith(" µs") and "+" not in in_words
        words += f"  aim {in_words if is_time else f'{in_words} = {limit}'}: "
        words += VERDICTS[found["met"]]
    yield f"{found['name']:<44}{words}"
    if found["best_peer"]:
        ours = f", {found['peer_ratio']:.2f} × ours" if found["peer_ratio"] else ""
        peer_ms = numbers.duration(found["best_peer_ms"])
        yield f"{INDENT}best peer: {found['best_peer']} {peer_ms}{ours}"


OF_CELL = ("weights", "pixel_type", "channels", "ksize")


def closing_lines(reports: Sequence[CellReport], conditions: Data) -> Iterator[str]:
    """Summarise aims, `auto`, the growth of times, small pictures and libraries."""
    findings = [each for report in reports for each in report.findings()]
    aims = [each for each in findings if each["aim"] is not None]
    yield f"Aims met: {sum(each['met'] is True for each in aims)} of {len(aims)}."
    for verdict in (False, None):
        names = [each["name"] for each in aims if each["met"] is verdict]
        yield from _listed(VERDICTS[verdict].capitalize(), names)
    yield from _auto(reports)
    yield from _waves(reports)
    if any(len(each.peers) > 1 for each in reports):  # cuFFT alone is no comparison of libraries
        yield from _peers({e["name"]: e["peer_ratio"] for e in findings if e["peer_ratio"]})
    yield (
        f"{len(reports)} cells in {sum(each.took_s for each in reports):.0f} s on "
        f"{conditions['device']['name']}, copy {conditions['copy_gb_s']:,.0f} GB/s, empty launch "
        f"{numbers.duration(conditions['empty_launch_ms'])}."
    )


def _listed(title: str, names: Sequence[str]) -> Iterator[str]:
    if names:
        yield f"{title}: {'; '.join(names)}."


def _auto(reports: Iterable[CellReport]) -> Iterator[str]:
    if known := {each.cell: each.auto_excess for each in reports if each.auto_excess is not None}:
        over = [f"{cell} {numbers.percent(e, 1)}" for cell, e in known.items() if e > AUTO_AIM]
        yield (
            f"auto is within {numbers.percent(AUTO_AIM)} of the quickest exact rung in "
            f"{len(known) - len(over)} of {len(known)} cells, at most "
            f"{numbers.percent(max(known.values()), 1)} off."
        )
        yield from _listed("Further off", over)


def _waves(reports: Iterable[CellReport]) -> Iterator[str]:
    """Name the quickest rungs whose last wave of blocks is so empty that much is idle over all."""
    found = []
    for report in reports:
        best = quickest(report.rungs, EXACT)
        if not best or not best.waves or best.waves < 1:  # a small picture has no second wave
            continue
        if (idle := 1 - best.waves / math.ceil(best.waves)) > MOST_IDLE:
            found.append(f"{report.cell} {best} {best.waves:.2f}, {numbers.percent(idle)} idle")
    yield from _listed("Waves of blocks, the last of which leaves over a fifth of them idle", found)


def _peers(ratios: dict[str, float]) -> Iterator[str]:
    if ratios:
        slower = [f"{name} ({ratio:.2f})" for name, ratio in ratios.items() if ratio < 1]
        yield (
            f"Best peer's time over ours: geometric mean {geometric_mean(ratios.values()):.2f} "
            f"over {len(ratios)} cells (aim {PEER_AIM:g}), at least as fast in "
            f"{len(ratios) - len(slower)} of them."
        )
        yield from _listed("A library was quicker at", slower)


# -- the run


def run(arguments: Namespace) -> int:
    """Measure the chosen cells; print each as it is known, then a summary."""
    sizes = arguments.sizes
    every = [each for each in all_cells() if sizes is None or each.ksize in sizes]
    cells = chosen(arguments.cells, every)
    engine = engine_maker(arguments)()
    clock = Clock(this_machine.gpu_of(engine))
    here = conditions_of(engine, clock.device)
    facts = {**here, "device": diagnostics.gpu(clock.device)}
    rows = [(k, f"{v:.4g}" if isinstance(v, float) else str(v)) for k, v in facts.items()]
    print(aligned(rows), end="\n\n", flush=True)
    if not arguments.quick:
        _compile_ahead(engine, cells)
    reports: list[CellReport] = []
    exit_code = 0
    try:
        for cell in cells:
            measure = _measure_list if cell.is_list else _measure
            reports.append(measure(cell, engine, clock, arguments, here))
            print("\n".join(reports[-1].lines()), flush=True)
    except KeyboardInterrupt:
        print("Stopped: what follows is of the cells above.")
        exit_code = INTERRUPTED
    finally:
        closing = list(closing_lines(reports, here))
        if arguments.json is not None:
            found = [each.to_data() for each in reports]
            data = {"version": 1, **here, "cells": found, "closing": closing}
            write_whole(arguments.json, json.dumps(data, separators=(",", ":")) + "\n")
    print("", *closing, sep="\n")
    return exit_code


def conditions_of(engine: Engine, device: Device) -> Data:
    """Measure the device's copy, both ways, and an empty launch; with what they belong to."""
    if not (ceilings := engine.ceilings()):
        raise CommandError("The GPU's limits cannot be measured: it has too little memory free.")
    return {
        "device": asdict(device),
        "driver": cuda_version(device.driver_version),
        "cuda": cuda_version(device.runtime_version),
        "cupy": cupy_version(),
        "python": platform.python_version(),
        "workbench": program_version(),
        "cpu": this_machine.cpu(),
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        **{name: ceilings[name] for name in ("copy_gb_s", "empty_launch_ms")},
    }


def _measure(
    cell: BenchCell, engine: Engine, clock: Clock, arguments: Namespace, here: Data
) -> CellReport:
    start = perf_counter()
    job, known = cell.job(), Oracle()
    copy_ms = clock.copy_ms(job.picture.nbytes)
    rungs, peers = [], []
    for own in _candidates(engine, job, is_quick=arguments.quick):
        say(f"{cell}: {own.implementation}")
        outcome = outcome_of(measure_checked(engine, own, SAMPLING, known))
        occupancy = engine.occupancy(own) if isinstance(outcome, Result) else None
        resident = occupancy.blocks * clock.device.multiprocessors if occupancy else 0
        rung = engine.implementation(own.implementation)
        rungs.append(measured_rung(rung, outcome, copy_ms, resident))
    libraries = LIBRARIES if job.has_weights else filter_ways.LIBRARIES
    if not arguments.peers:  # cuFFT wherever an aim depends on it
        libraries = {"cufft": LIBRARIES["cufft"]} if FFT in dict(cell.aims).values() else {}
    if libraries and (cell.aims or not job.has_weights):
        for each in measure_peers(cell.weights, job, known, clock, libraries):
            say(f"{cell}: {each.name}")
            peers.append(each)
    say("")
    pick = next(engine.picker.picks(job), None)
    auto = next((str(each) for each in rungs if pick and each.key == pick.implementation), None)
    return CellReport(cell, copy_ms, tuple(rungs), tuple(peers), here, perf_counter() - start, auto)


def _measure_list(
    cell: BenchCell, engine: Engine, clock: Clock, _arguments: Namespace, here: Data
) -> CellReport:
    """Measure every way to run a list as a whole."""
    start = perf_counter()
    job, known = cell.job(), Oracle()
    copy_ms = clock.copy_ms(job.picture.nbytes)
    ways: list[Measured] = []
    steps_ms: tuple[float, ...] = ()
    for way in WAYS:
        say(f"{cell}: {way}")
        outcome = outcome_of(measure_checked(engine, replace(job, list_way=way), SAMPLING, known))
        if isinstance(outcome, Result):
            steps_ms = tuple(each.timed.median_ms for each in outcome.steps)
            outcome = outcome if outcome.list_way == way else "It cannot run this list."
        ways.append(measured(way, outcome, copy_ms))
    say("")
    took_s = perf_counter() - start
    return CellReport(cell, copy_ms, tuple(ways), (), here, took_s, steps_ms=steps_ms)


def measured_rung(
    implementation: Implementation, outcome: Result | str, copy_ms: float, resident: int = 0
) -> Measured:
    """Describe a rung's outcome.

    resident  blocks that the device runs at a time; 0: not known
    """
    found = measured(implementation.key, outcome, copy_ms)
    if isinstance(outcome, str) or outcome.check is None:
        return found
    precision, ran = precision_of(outcome.check.max_error, outcome.job), outcome.ran
    grid = ran[0].grid if len(ran) == 1 else None
    is_reduced = isinstance(implementation, Rung) and implementation.reduced_precision
    return replace(
        found,
        precision="reduced" if is_reduced and precision else precision,
        block_xy=outcome.block_xy,
        waves=math.prod(grid) / resident if grid and resident else None,
        registers=max((each.registers or 0 for each in ran), default=0),
        shared_bytes=max((each.shared_bytes or 0 for each in ran), default=0),
    )


def measured(key: str, outcome: Result | str, copy_ms: float) -> Measured:
    """Describe the outcome of a way; copy_ms: of the picture, device to device."""
    if isinstance(outcome, str):
        return Measured(key, why_not=outcome)
    check, timing = outcome.check, outcome.timed
    assert check is not None
    return Measured(
        key,
        **of_timing(timing),
        max_error=check.max_error,
        precision=EXACT,
        ok=check.ok,
        why_not=None if check.ok else f"Its output is {check}.",
        share=100 * copy_ms / timing.median_ms,
        passes=len(outcome.ran),
    )


def _candidates(engine: Engine, job: Job, *, is_quick: bool) -> Iterator[Job]:
    """Every rung, in its best known block shape; or the first two choices of `auto`."""
    if is_quick:
        ways = [(p.implementation, p.block_xy) for p in islice(engine.picker.picks(job), 2)]
    else:
        measured = engine.picker.measurements.of(job_class_of(job))
        slowest_first = sorted(measured, key=lambda each: -each.median_ms)
        blocks = {each.implementation: each.block_xy for each in slowest_first}
        rungs = (each.key for each in ladder() if each.does(job))
        ways = [(key, blocks.get(key)) for key in rungs]
    for key, block_xy in ways:
        yield job.but(implementation=key, block_xy=block_xy or DEFAULT_BLOCK_XY)


def _compile_ahead(engine: Engine, cells: list[BenchCell]) -> None:
    """Compile everything on all cores: one after another takes longer than the measuring."""
    start = perf_counter()
    of_rungs = (cell.job() for cell in cells if not cell.is_list)
    jobs = (own for job in of_rungs for own in _candidates(engine, job, is_quick=False))
    for progress in engine.compiling(jobs):
        say(progress.doing)
    say("")
    print(f"Compiled in {perf_counter() - start:.0f} s.\n", flush=True)
