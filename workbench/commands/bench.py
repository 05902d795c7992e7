"""`workbench bench NAME`: measure the window on this computer, and print the figures."""

from __future__ import annotations

import importlib
import os
import platform
from argparse import Namespace

from PySide6.QtCore import qVersion

from workbench import __version__, qt_libraries
from workbench.commands import machine
from workbench.commands.benches import HEADER
from workbench.commands.words import aligned, columns


def run(arguments: Namespace) -> int:
    """Print what computer this is, what is measured, and a row for each figure."""
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    bench = importlib.import_module(f"workbench.commands.benches.{arguments.bench}")
    print(aligned(_facts(arguments)), end="\n\n", flush=True)
    rows = [row.cells() for row in bench.measure(arguments)]
    print(f"{bench.TITLE}:")
    print(columns([HEADER, *rows]))
    return 0


def _facts(arguments: Namespace) -> list[tuple[str, str]]:
    """What a figure means nothing without."""
    return [
        ("Bench", f"{arguments.bench}, Filter Workbench {__version__}"),
        ("Machine", f"{platform.node()}, {platform.platform()}"),
        ("CPU", machine.cpu()),
        ("GPU", machine.gpu(machine.engine_maker(arguments)().device)),
        ("Python", platform.python_version()),
        ("Qt", f"{qVersion()}, platform {qt_libraries.platform()}"),
    ]
