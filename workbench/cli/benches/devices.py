"""Measure how a job, and a folder, scale over the GPUs of this computer: `bench devices`."""

from __future__ import annotations

import json
import re
from argparse import Namespace
from collections.abc import Iterator
from typing import Any

from kernels import Engine
from kernels.core.comparison import Comparison
from kernels.core.device import Device, NoDevice, cuda_version
from kernels.core.errors import KernelError
from kernels.core.plain_data import to_plain
from kernels.core.version import program_version
from workbench.base import diagnostics, numbers
from workbench.base.columns import aligned, columns
from workbench.batch.stage_words import IN_WORDS
from workbench.cli import this_machine
from workbench.cli.benches.device_scaling import (
    DeviceTimes,
    Scaling,
    ScalingCell,
    scaling_cells,
    scaling_of,
)
from workbench.cli.benches.folder_scaling import (
    CELLS,
    FolderCell,
    FolderRate,
    folder_rates,
)
from workbench.cli.command_error import USAGE, CommandError
from workbench.cli.output_files import write_whole
from workbench.cli.progress_line import say
from workbench.model.share_words import PATHS, halo_in_words

ROUNDS = 7
HEADER = ("", "GPUs", "filtering", "against 1", "with transfers", "against 1", "halo, and each GPU")

FOLDER_HEADER = ("", "GPUs", "pictures", "against 1", "limit")


def run(arguments: Namespace) -> int:
    """Print a row for each number of GPUs, and write everything where --json says."""
    engine = this_machine.engine_maker(arguments)()
    counts = _counts(engine)
    cells, folder_cells = _chosen(arguments.cells)
    print(aligned(_facts(engine)), end="\n\n", flush=True)
    found: list[Scaling] = []
    for cell in cells:
        say(f"measuring {cell}")
        try:
            found.append(scaling_of(engine, cell, counts, arguments.runs or ROUNDS))
        except KernelError as error:
            print(f"{cell}: {error}", flush=True)
    if found:
        print(columns([HEADER, *(row for each in found for row in _rows(each))]))
        print("", *_closing(found), sep="\n", flush=True)
    sets = [engine.device_numbers[:count] for count in counts]
    folders = {cell: folder_rates(cell, sets, say) for cell in folder_cells}
    say("")
    if folders:
        print(
            columns([FOLDER_HEADER, *(row for each in folders.items() for row in _folder(*each))])
        )
    if arguments.json:
        write_whole(arguments.json, json.dumps(_data(engine, found, folders), indent=1))
    return 0 if all(_is_right(each) for scaling in found for each in scaling.times) else 1


def _counts(engine: Engine) -> range:
    """Return 1 to as many as there are.  Raises CommandError where that is one, or none."""
    if isinstance(engine.device, NoDevice):
        raise CommandError(f"{engine.device.reason} {engine.device.remedy}".rstrip())
    there = len(engine.device_numbers)
    if there < 2:
        raise CommandError("bench devices compares several GPUs with one, and here is only one.")
    return range(1, there + 1)


def _chosen(pattern: str | None) -> tuple[list[ScalingCell], list[FolderCell]]:
    """Return the cells for one picture and those for a folder."""
    try:
        fits = re.compile(pattern or "").search
    except re.error as error:
        raise CommandError(f"--cells takes a regular expression: {error}.", USAGE) from error
    cells = [cell for cell in scaling_cells() if fits(str(cell))]
    folder_cells = [cell for cell in CELLS if fits(str(cell))]
    if not cells and not folder_cells:
        raise CommandError(f"No cell fits; there are such as {next(scaling_cells())}.", USAGE)
    return cells, folder_cells


def _facts(engine: Engine) -> list[tuple[str, str]]:
    device = engine.device
    assert isinstance(device, Device)
    others = [engine.find_device(number) for number in engine.device_numbers[1:]]
    names = [device.name, *(each.name for each in others if isinstance(each, Device))]
    return [
        ("Bench", f"devices, Filter Workbench {program_version()}"),
        ("GPUs", "; ".join(f"{at}: {name}" for at, name in enumerate(names))),
        ("Driver", f"runs CUDA up to {cuda_version(device.driver_version)}"),
        ("GPU 0", diagnostics.gpu(device)),
        ("CPU", this_machine.cpu()),
        ("Pictures", "float32, one channel, border clamp; L2 cold"),
    ]


def _rows(scaling: Scaling) -> list[tuple[str, ...]]:
    rows = []
    for at, times in enumerate(scaling.times):
        name = f"{scaling.cell}, {scaling.implementation}" if at == 0 else ""
        cells = [name, str(times.job.devices)]
        for whole, timing in ((False, times.kernel), (True, times.whole)):
            against = scaling.against_one(times, whole=whole) if at else None
            cells += [
                numbers.duration(timing.median_ms),
                "" if against is None else verdict(scaling.cell, times, against),
            ]
        rows.append((*cells, _shares(times)))
    return rows


def verdict(cell: ScalingCell, times: DeviceTimes, against: Comparison) -> str:
    """Return "1.93×" of a strong cell, "97 % of 2×" of a weak one, and where it is a tie, that."""
    said = numbers.speed_up(against.ratio, numbers.fine_ratio)
    if cell.kind == "weak":
        said = f"{numbers.percent(against.ratio)} of {times.job.devices}×"
    return f"{said}, {against.in_words}" if against.verdict == "same" else said


def _shares(times: DeviceTimes) -> str:
    if not times.shares:
        return ""
    each = ", ".join(numbers.duration(share.kernel_ms) for share in times.shares)
    slowest = max(share.halo_ms for share in times.shares)
    return f"{numbers.duration(slowest)}, {each}"


def _folder(cell: FolderCell, rates: list[FolderRate]) -> Iterator[tuple[str, ...]]:
    """Yield a row for each number of GPUs."""
    for at, each in enumerate(rates):
        rate = f"{numbers.three_digits(each.best)} per s"
        against = numbers.fine_ratio(each.best / rates[0].best) if at else ""
        limit = IN_WORDS[each.waited_for] if each.waited_for else ""
        yield str(cell) if at == 0 else "", str(len(each.devices)), rate, against, limit


def _closing(found: list[Scaling]) -> list[str]:
    shares = [share for scaling in found for times in scaling.times for share in times.shares]
    paths = {share.halo_path for share in shares if share.halo_path}
    lines = [f"Halo rows are {PATHS[path]}." for path in sorted(paths)]
    for whole, how in ((False, "by filtering alone"), (True, "with transfers")):
        if late := list(_no_sooner(found, whole=whole)):
            lines.append(f"No sooner than one GPU, {how}: {'; '.join(late)}.")
    wrong = [str(s.cell) for s in found if not all(map(_is_right, s.times))]
    lines.append(f"WRONG answers: {'; '.join(wrong)}." if wrong else "All answers are verified.")
    return lines


def _no_sooner(found: list[Scaling], *, whole: bool) -> Iterator[str]:
    """Yield what several GPUs do in a time that is the same as one's, or longer."""
    for each in found:
        for times in each.times[1:] if each.cell.kind == "strong" else ():
            if each.against_one(times, whole=whole).verdict != "faster":
                yield f"{each.cell} on {times.job.devices}"


def _is_right(times: DeviceTimes) -> bool:
    return times.check is not None and times.check.ok


def _data(
    engine: Engine, found: list[Scaling], folders: dict[FolderCell, list[FolderRate]]
) -> dict[str, Any]:
    return {
        **this_machine.heading("devices", engine),
        "devices": list(engine.device_numbers),
        "cells": [_cell_data(scaling, times) for scaling in found for times in scaling.times],
        "folders": [
            {"name": str(cell), **to_plain(cell), **to_plain(rate)}
            for cell, rates in folders.items()
            for rate in rates
        ],
    }


def _cell_data(scaling: Scaling, times: DeviceTimes) -> dict[str, Any]:
    return {
        **to_plain(scaling.cell),
        "implementation": scaling.implementation,
        "devices": times.job.devices,
        "size": [times.job.height, times.job.width],
        "filtering": to_plain(times.kernel),
        "with_transfers": to_plain(times.whole),
        "against_one": to_plain(scaling.against_one(times)),
        "against_one_with_transfers": to_plain(scaling.against_one(times, whole=True)),
        "shares": [to_plain(share) for share in times.shares],
        "halo": halo_in_words(times.shares),
        "check": str(times.check),
        "is_right": _is_right(times),
    }
