"""`workbench bench NAME`: measure the window, or the rungs, here, and print the figures."""

from __future__ import annotations

import importlib
import os
import platform
from argparse import Namespace

from kernels.core.version import program_version
from workbench.base import diagnostics, qt_libraries
from workbench.base.columns import aligned, columns
from workbench.cli import this_machine
from workbench.cli.benches import HEADER, batch, cpu, devices, kernels, large, repeat, timing
from workbench.cli.command_error import USAGE, CommandError
from workbench.cli.output_files import refuse_unwritable

NEED_NO_QT = {
    "batch": batch.run,
    "cpu": cpu.run,
    "devices": devices.run,
    "kernels": kernels.run,
    "large": large.run,
    "repeat": repeat.run,
    "timing": timing.run,
}
OPTIONS = ("runs", "peers", "quick", "cells", "sizes", "json")
TAKEN = {
    "kernels": OPTIONS[1:],
    "batch": ("runs", "peers", "json"),
    "cpu": ("cells", "json"),
    "devices": ("runs", "cells", "json"),
    "large": ("runs", "json"),
    "repeat": ("runs", "json"),
    "timing": ("cells", "json"),
    "display": (),
}


def run(arguments: Namespace) -> int:
    """Print which computer this is, what is measured, and a row for each figure.

    Or what the bench prints itself, which then needs no Qt.
    """
    _refuse_what_does_nothing(arguments)
    refuse_unwritable(arguments.json)
    if arguments.bench in NEED_NO_QT:
        return NEED_NO_QT[arguments.bench](arguments)
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    bench = importlib.import_module(f"workbench.cli.benches.{arguments.bench}")
    print(aligned(_facts(arguments)), end="\n\n", flush=True)
    rows = [row.cells() for row in bench.measure(arguments)]
    print(f"{bench.TITLE}:")
    print(columns([HEADER, *rows]))
    return 0


def _refuse_what_does_nothing(arguments: Namespace) -> None:
    """Refuse options of another bench, which would be ignored."""
    taken = TAKEN.get(arguments.bench, ("runs",))
    idle = [name for name in OPTIONS if name not in taken]
    if given := [f"--{name}" for name in idle if getattr(arguments, name)]:
        raise CommandError(f"bench {arguments.bench} does not take {', '.join(given)}.", USAGE)


def _facts(arguments: Namespace) -> list[tuple[str, str]]:
    """Return the facts without which a figure means nothing."""
    from PySide6.QtCore import qVersion

    return [
        ("Bench", f"{arguments.bench}, Filter Workbench {program_version()}"),
        ("Machine", f"{platform.node()}, {platform.platform()}"),
        ("CPU", this_machine.cpu()),
        ("GPU", diagnostics.gpu(this_machine.engine_maker(arguments)().device)),
        ("Python", platform.python_version()),
        ("Qt", f"{qVersion()}, platform {qt_libraries.platform()}"),
    ]
