"""What the benches share: options, errors, the facts above a table, and its rows."""

from __future__ import annotations

import argparse
import os
import platform
import sys
from argparse import Namespace
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from kernels.core.version import program_version
from workbench.base import diagnostics, numbers, qt_libraries
from workbench.base.columns import aligned
from workbench.cli import commands as types
from workbench.cli import this_machine
from workbench.cli.main import exit_code_of

WIDTH, FIGURE_WIDTH = 56, 11
HEADER = ("what", "median", "p99", "largest", "n", "")
OPTIONS: dict[str, dict[str, Any]] = {
    "runs": {"metavar": "N", "type": types.positive, "help": "how often to repeat it"},
    "cells": {"metavar": "PATTERN", "help": "those whose name fits"},
    "json": {"metavar": "FILE", "type": Path, "help": "write everything that was measured there"},
}


@dataclass(frozen=True, slots=True)
class BenchRow:
    """A row of a bench's table: samples, or a single figure.

    limit_ms  what each sample is to stay below; None: no limit
    """

    what: str
    samples_ms: Sequence[float] = ()
    figure: str = ""
    limit_ms: float | None = None

    def cells(self) -> tuple[str, ...]:
        """The columns of HEADER."""
        if not self.samples_ms:
            return (self.what, self.figure, "", "", "", "")
        median, high, largest = np.percentile(self.samples_ms, (50, 99, 100))
        times = (numbers.duration(each) for each in (median, high, largest))
        return (self.what, *times, str(len(self.samples_ms)), self._within_limit())

    def _within_limit(self) -> str:
        if self.limit_ms is None:
            return ""
        kept = np.mean(np.asarray(self.samples_ms) <= self.limit_ms)
        return f"{numbers.percent(float(kept), 1)} within {numbers.duration(self.limit_ms)}"


Measure = Callable[[Namespace], Iterator[BenchRow]]


def main(
    name: str,
    run: Callable[[Namespace], int],
    options: Sequence[str],
    words: Sequence[str] | None = None,
) -> int:
    """Run a bench with `words`, by default the process's own; return the exit code.

    options  those of OPTIONS that it takes, beside --device and --no-gpu
    """
    parser = argparse.ArgumentParser(prog=f"python -m tests.benches.{name}")
    for option in options:
        parser.add_argument(f"--{option}", **OPTIONS[option])
    parser.add_argument("--device", metavar="N", type=types.natural, help="which GPU, from 0")
    parser.add_argument("--no-gpu", action="store_true", help="as on a computer without one")
    arguments = parser.parse_args(words)
    return exit_code_of(lambda: run(arguments), f"the bench {name}")


def main_of_window(
    name: str,
    title: str,
    measure: Measure,
    words: Sequence[str] | None = None,
    *,
    has_runs: bool = True,
) -> int:
    """Run a bench of the window, which stays unseen, and print its table."""

    def run(arguments: Namespace) -> int:
        os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
        print(aligned(_facts(name, arguments)), end=f"\n\n{title}:\n", flush=True)
        print(_line(HEADER))
        for row in measure(arguments):  # each as it is known, as some benches take minutes
            print(_line(row.cells()), flush=True)
        return 0

    return main(name, run, ("runs",) if has_runs else (), words)


def _line(cells: Sequence[str]) -> str:
    what, *figures = cells
    return f"  {what:<{WIDTH}}{''.join(f'{each:<{FIGURE_WIDTH}}' for each in figures)}".rstrip()


def _facts(name: str, arguments: Namespace) -> list[tuple[str, str]]:
    from PySide6.QtCore import qVersion

    return [
        ("Bench", f"{name}, Filter Workbench {program_version()}"),
        ("Machine", f"{platform.node()}, {platform.platform()}"),
        ("CPU", this_machine.cpu()),
        ("GPU", diagnostics.gpu(this_machine.engine_maker(arguments)().device)),
        ("Python", platform.python_version()),
        ("Qt", f"{qVersion()}, platform {qt_libraries.platform()}"),
    ]


def peak_memory() -> BenchRow:
    """The peak memory of this process, as a row."""
    peak = peak_bytes()
    figure = "not known on this system" if peak is None else numbers.byte_count(peak)
    return BenchRow("peak memory of the process", figure=figure)


def peak_bytes() -> int | None:
    """The peak memory of this process so far; None on Windows."""
    try:
        import resource
    except ImportError:
        return None
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit
