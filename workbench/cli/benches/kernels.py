"""Measure every rung in every cell of the table of aims, in one run, checked, from a cold L2.

Beside the rungs' times stand the copy on the same device, an empty launch, and with --peers the
libraries installed.
"""

from __future__ import annotations

import json
import platform
from argparse import Namespace
from collections.abc import Iterator
from dataclasses import asdict, replace
from datetime import UTC, datetime
from itertools import islice
from time import perf_counter
from typing import Any

from kernels import Engine
from kernels.core.device import NoDevice, cuda_version
from kernels.core.driving import outcome_of
from kernels.core.job import Job, Result, Sampling
from kernels.core.version import program_version
from kernels.cuda.probing import cupy_version
from kernels.engine.auto import job_class_of
from kernels.engine.engine import Implementation, all_implementations
from kernels.engine.job_comparison import measure_checked
from kernels.oracle.checking import Oracle
from kernels.rungs.rung import Rung
from workbench.base import diagnostics, numbers
from workbench.base.columns import aligned
from workbench.cli import this_machine
from workbench.cli.benches import chosen
from workbench.cli.benches.cells import FFT, BenchCell, CellReport, all_cells, closing_lines
from workbench.cli.benches.gpu_ways import Clock, measure_peers
from workbench.cli.benches.ways import Measured, precision_of
from workbench.cli.output import INTERRUPTED, CommandError, say, write_whole
from workbench.cli.this_machine import engine_maker

LARGE_COPY = 1 << 28  # bytes: 8192² float32
SAMPLING = Sampling(max_samples=20, max_seconds=0.3, check_taps=3_000_000)
DEFAULT_BLOCK_XY = (32, 8)


def run(arguments: Namespace) -> int:
    """Measure the chosen cells; print each as it is known, then a summary."""
    sizes = arguments.sizes
    cells = chosen(
        arguments.cells, [each for each in all_cells() if sizes is None or each.ksize in sizes]
    )
    engine = engine_maker(arguments)()
    if isinstance(engine.device, NoDevice):
        raise CommandError(f"{engine.device.reason} {engine.device.remedy}".rstrip())
    clock = Clock(engine.device)
    here = conditions_of(clock)
    facts = [
        ("Bench", f"kernels, Filter Workbench {here['workbench']}, {here['date']}"),
        ("GPU", diagnostics.gpu(engine.device)),
        ("Driver", f"runs CUDA up to {here['driver']}"),
        ("CUDA", f"{here['cuda']}, {here['cupy']}"),
        ("CPU", here["cpu"]),
        ("Copy", f"{here['copy_gb_s']:,.0f} GB/s, device to device, cold L2, both ways"),
        ("Launch", f"{numbers.duration(here['empty_launch_ms'])} between two events, empty"),
    ]
    print(aligned(facts), end="\n\n", flush=True)
    if not arguments.quick:
        _compile_ahead(engine, cells)
    reports: list[CellReport] = []
    exit_code = 0
    try:
        for cell in cells:
            reports.append(_measure(cell, engine, clock, arguments, here))
            print("\n".join(reports[-1].lines()), flush=True)
    except KeyboardInterrupt:
        print("Stopped: what follows is of the cells above.")
        exit_code = INTERRUPTED
    finally:
        closing = closing_lines(reports, here)
        if arguments.json is not None:
            found = [each.to_data() for each in reports]
            data = {"version": 1, **here, "cells": found, "closing": closing}
            write_whole(arguments.json, json.dumps(data, indent=1) + "\n")
    print("", *closing, sep="\n")
    return exit_code


def conditions_of(clock: Clock) -> dict[str, Any]:
    """Measure the ceilings of the device; with them, what the figures belong to, as JSON."""
    device, copied_bytes = clock.device, 2 * LARGE_COPY  # a copy moves its bytes twice
    return {
        "device": asdict(device),
        "driver": cuda_version(device.driver_version),
        "cuda": cuda_version(device.runtime_version),
        "cupy": cupy_version(),
        "python": platform.python_version(),
        "workbench": program_version(),
        "cpu": this_machine.cpu(),
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "copy_gb_s": copied_bytes / 1e6 / clock.copy_ms(LARGE_COPY),
        "empty_launch_ms": clock.empty_launch_ms(),
    }


def _measure(
    cell: BenchCell, engine: Engine, clock: Clock, arguments: Namespace, here: dict[str, Any]
) -> CellReport:
    start = perf_counter()
    job, known = cell.job(), Oracle()
    copy_ms = clock.copy_ms(job.picture.nbytes)
    rungs = []
    for implementation, own in _candidates(engine, job, is_quick=arguments.quick):
        say(f"{cell}: {implementation.key}")
        outcome = outcome_of(measure_checked(engine, own, SAMPLING, known))
        rungs.append(measured_rung(implementation, own, outcome, copy_ms))
    peers: list[Measured] = []
    # cuFFT wherever an aim depends on it.
    if cell.aims and (arguments.peers or any(target == FFT for _, target in cell.aims)):
        for each in measure_peers(job, known, clock, None if arguments.peers else ("cufft",)):
            say(f"{cell}: {each.name}")
            peers.append(each)
    say("")
    pick = next(engine.picker.picks(job), None)
    auto = next((str(each) for each in rungs if pick and each.key == pick.implementation), None)
    took_s = perf_counter() - start
    return CellReport(cell, copy_ms, tuple(rungs), tuple(peers), here, took_s, auto)


def measured_rung(
    implementation: Implementation, job: Job, outcome: Result | str, copy_ms: float
) -> Measured:
    """Describe a rung's outcome, or the reason for having none.

    copy_ms  of the picture, device to device
    """
    if isinstance(outcome, str):
        return Measured(implementation.key, why_not=outcome)
    check, ms = outcome.check, outcome.timed.median_ms
    assert check is not None
    precision = precision_of(check.max_error, job)
    is_reduced = isinstance(implementation, Rung) and implementation.reduced_precision
    return Measured(
        key=implementation.key,
        ms=ms,
        quartiles=outcome.timed.quartiles_ms,
        samples=len(outcome.timed.samples_ms),
        max_error=check.max_error,
        precision="reduced" if is_reduced and precision else precision,
        ok=check.ok,
        why_not=None if check.ok else f"Its output is {check}.",
        share=100 * copy_ms / ms,
        block_xy=outcome.block_xy,
        passes=len(outcome.ran),
        registers=max((ran.registers or 0 for ran in outcome.ran), default=0),
        shared_bytes=max((ran.shared_bytes or 0 for ran in outcome.ran), default=0),
    )


def _candidates(
    engine: Engine, job: Job, *, is_quick: bool
) -> Iterator[tuple[Implementation, Job]]:
    """Every rung, in its best known block shape; or the first two choices of `auto`."""
    if is_quick:
        ways = [(p.implementation, p.block_xy) for p in islice(engine.picker.picks(job), 2)]
    else:
        measured = engine.picker.measurements.of(job_class_of(job))
        slowest_first = sorted(measured, key=lambda each: -each.median_ms)
        blocks = {each.implementation: each.block_xy for each in slowest_first}
        rungs = (each.key for each in all_implementations() if each.kind == "cuda")
        ways = [(key, blocks.get(key)) for key in rungs]
    for key, block_xy in ways:
        block_xy = block_xy or DEFAULT_BLOCK_XY
        yield engine.implementation(key), replace(job, implementation=key, block_xy=block_xy)


def _compile_ahead(engine: Engine, cells: list[BenchCell]) -> None:
    """Compile everything on all cores: one after another takes longer than the measuring."""
    start = perf_counter()
    jobs = (own for cell in cells for _, own in _candidates(engine, cell.job(), is_quick=False))
    for progress in engine.compiling(jobs):
        say(progress.doing)
    say("")
    print(f"Compiled in {perf_counter() - start:.0f} s.\n", flush=True)
