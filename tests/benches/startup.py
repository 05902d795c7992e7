"""Measure a start until the first paint, and the filtered picture: a new process each time."""

from __future__ import annotations

import os
import subprocess
import sys
from argparse import Namespace
from collections.abc import Iterator
from functools import partial
from time import perf_counter

from tests.benches import bench
from tests.benches.bench import BenchRow
from tests.conftest import ROOT
from workbench.cli.output import CommandError

TITLE = "From the start of a new process, its files in the system's cache"
RUNS = 7


def measure(arguments: Namespace) -> Iterator[BenchRow]:
    """Start the program again and again; the first start only warms up."""
    options = ["--device", str(arguments.device or 0)] + ["--no-gpu"] * arguments.no_gpu
    starts = [_start(options) for _ in range(1 + (arguments.runs or RUNS))][1:]
    for what in starts[0]:
        yield BenchRow(what, [each[what] for each in starts])


def _start(options: list[str]) -> dict[str, float]:
    """Time until the new process prints each of its lines, in milliseconds."""
    said: dict[str, float] = {}
    start = perf_counter()
    with subprocess.Popen(
        [sys.executable, "-m", "tests.benches.started", *options],
        cwd=ROOT,
        env={"QT_QPA_PLATFORM": "offscreen", **os.environ},
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,  # Ctrl+C ends the bench, and the bench ends what it started
    ) as process:
        assert process.stdout is not None
        try:
            for line in process.stdout:
                said[line.strip()] = (perf_counter() - start) * 1e3
        except KeyboardInterrupt:
            process.kill()
            raise
    if process.returncode != 0:
        raise CommandError("The window did not start; `workbench doctor` may say why.")
    return said


main = partial(bench.main_of_window, "startup", TITLE, measure)


if __name__ == "__main__":
    sys.exit(main())
