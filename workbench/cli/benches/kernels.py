"""Measure every rung in every cell of the table of aims, in one run, checked, from a cold L2.

Beside the rungs' times stand what the same device copies in that time, what an empty launch
takes, and on request what the libraries installed take for the same.
"""

from __future__ import annotations

import json
from argparse import Namespace
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from time import perf_counter
from typing import Any

from kernels import Engine
from kernels.core.device import NoDevice
from kernels.core.driving import outcome_of
from kernels.core.job import Job, Sampling
from kernels.engine.engine import Implementation, all_implementations
from kernels.engine.measurements import job_class_of
from kernels.measuring.trials import measure_checked
from kernels.oracle.checking import Oracle
from workbench.cli.benches import fitting
from workbench.cli.benches.cell_report import CellReport, RungTime, closing_lines
from workbench.cli.benches.cells import FFT, BenchCell, Clock, Conditions, all_cells
from workbench.cli.benches.libraries import PeerTime, measure_peers
from workbench.cli.output import INTERRUPTED, USAGE, CommandError, say, write_whole
from workbench.cli.this_machine import engine_maker

SAMPLING = Sampling(max_samples=20, max_seconds=0.3, check_taps=3_000_000)
DEFAULT_BLOCK_XY = (32, 8)
LARGE_COPY = 1 << 28  # bytes: 8192² float32


def run(arguments: Namespace) -> int:
    """Measure the cells asked for; print each as it is known, then what they say together."""
    cells = chosen_cells(arguments)
    engine = engine_maker(arguments)()
    if isinstance(engine.device, NoDevice):
        raise CommandError(f"{engine.device.reason} {engine.device.remedy}".rstrip())
    clock = Clock(engine.device)
    conditions = Conditions.here(
        engine.device, clock.copy_ms(LARGE_COPY), LARGE_COPY, clock.empty_launch_ms()
    )
    print("\n".join(conditions.lines()), end="\n\n", flush=True)
    if not arguments.quick:
        _compile_ahead(engine, cells)
    reports: list[CellReport] = []
    exit_code = 0
    try:
        for cell in cells:
            reports.append(_measure(cell, engine, clock, arguments, conditions))
            print("\n".join(reports[-1].lines()), flush=True)
    except KeyboardInterrupt:
        print("Stopped: what follows is of the cells above.")
        exit_code = INTERRUPTED
    finally:
        closing = closing_lines(reports, conditions)
        if arguments.json is not None:
            _write(arguments.json, conditions, reports, closing)
    print("", *closing, sep="\n")
    return exit_code


def chosen_cells(arguments: Namespace) -> list[BenchCell]:
    """Return those that --cells and --sizes leave; raise CommandError where that is none."""
    fits, sizes = fitting(arguments.cells), arguments.sizes
    found = [
        cell for cell in all_cells() if fits(str(cell)) and (sizes is None or cell.ksize in sizes)
    ]
    if not found:
        raise CommandError(
            f"No cell fits; there are such as {all_cells()[0]} and {all_cells()[-1]}.", USAGE
        )
    return found


def _measure(
    cell: BenchCell, engine: Engine, clock: Clock, arguments: Namespace, conditions: Conditions
) -> CellReport:
    start = perf_counter()
    job, known = cell.job(), Oracle()
    candidates = _quick(engine, job) if arguments.quick else _all(engine, job)
    copy_ms = clock.copy_ms(job.picture.nbytes)
    times = []
    for implementation, chosen in candidates:
        say(f"{cell}: {implementation.key}")
        outcome = outcome_of(measure_checked(engine, chosen, SAMPLING, known))
        times.append(RungTime.of(implementation, chosen, outcome, copy_ms))
    say("")
    return CellReport(
        cell=cell,
        copy_ms=copy_ms,
        rungs=tuple(times),
        peers=tuple(_peers(cell, job, known, clock, arguments)),
        conditions=conditions,
        took_s=perf_counter() - start,
        auto=_auto(engine, job, times),
    )


def _auto(engine: Engine, job: Job, times: list[RungTime]) -> str | None:
    """Return what `auto` picks, as it stands among `times`."""
    pick = next(engine.picker.picks(job), None)
    found = [each for each in times if pick and each.key == pick.implementation]
    return str(found[0]) if found else None


def _all(engine: Engine, job: Job) -> Iterator[tuple[Implementation, Job]]:
    """Measure every rung, in its best block shape as far as that was measured."""
    measured = sorted(engine.picker.measurements.of(job_class_of(job)), key=lambda m: m.median_ms)
    blocks = {each.implementation: each.block_xy for each in reversed(measured)}
    for each in all_implementations():
        if each.kind == "cuda":
            block_xy = blocks.get(each.key) or DEFAULT_BLOCK_XY
            yield each, replace(job, implementation=each.key, block_xy=block_xy)


def _quick(engine: Engine, job: Job) -> Iterator[tuple[Implementation, Job]]:
    """Measure what `auto` picks, and its second choice."""
    for _, pick in zip(range(2), engine.picker.picks(job), strict=False):
        block_xy = pick.block_xy or DEFAULT_BLOCK_XY
        chosen = replace(job, implementation=pick.implementation, block_xy=block_xy)
        yield engine.implementation(pick.implementation), chosen


def _peers(
    cell: BenchCell, job: Job, known: Oracle, clock: Clock, arguments: Namespace
) -> Iterator[PeerTime]:
    """Return the libraries' times where asked for, and cuFFT's wherever an aim is made of it."""
    only = None if arguments.peers else ("cufft",)
    if not cell.aims:
        return
    if arguments.peers or any(aim.target == FFT for aim in cell.aims):
        for each in measure_peers(job, known, clock, only):
            say(f"{cell}: {each.name}")
            yield each
        say("")


def _compile_ahead(engine: Engine, cells: list[BenchCell]) -> None:
    """Compile everything on all cores: one after another takes longer than the measuring."""
    start = perf_counter()
    wanted = (chosen for cell in cells for _, chosen in _all(engine, cell.job()))
    for progress in engine.compiling(wanted):
        say(progress.doing)
    say("")
    print(f"Compiled in {perf_counter() - start:.0f} s.\n", flush=True)


def _write(
    path: Path, conditions: Conditions, reports: list[CellReport], closing: list[str]
) -> None:
    data: dict[str, Any] = {
        "version": 1,
        **conditions.to_data(),
        "cells": [each.to_data() for each in reports],
        "closing": closing,
    }
    write_whole(path, json.dumps(data, indent=1) + "\n")
