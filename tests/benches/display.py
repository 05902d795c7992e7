"""Stalls of the window's event loop during a sweep."""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Callable, Iterator
from functools import partial
from itertools import pairwise
from time import perf_counter

from PySide6.QtCore import Qt, QTimer

from kernels.engine.engine import all_implementations
from kernels.pictures import generated
from kernels.sweeps.plan import Plan
from kernels.sweeps.plan_run import sweeping
from tests.benches import bench
from tests.benches.bench import BenchRow, peak_memory
from workbench.cli.draw_window import real_window, settle, wait_for_device, wait_until
from workbench.imaging.pictures import Picture
from workbench.window.main_window import MainWindow

TITLE = "How late a 1 ms timer of the event loop fires, with a picture of 4096×4096 RGB"
SIDE = 4096
HEARTBEAT_MS = 1
IDLE_MS = 3000


def measure(arguments: Namespace) -> Iterator[BenchRow]:
    """Measure stalls at rest, as a measure of the machine, and during a sweep."""
    with real_window(arguments, {"implementation": "opencv"}) as window:
        wait_for_device(window)
        samples = generated.noise(SIDE, SIDE, 3)
        settle(window, lambda: window.store.update(picture=Picture("noise", samples)))
        yield BenchRow("stalls, nothing running", _stalls(window, _rest))
        yield BenchRow(f"stalls, sequential sweep at {SIDE}²", _stalls(window, _sweep))
        yield peak_memory()


def _stalls(window: MainWindow, run: Callable[[MainWindow], None]) -> list[float]:
    """The delay of each heartbeat while `run` ran Qt's loop, in milliseconds."""
    beats = [perf_counter()]
    heart = QTimer(timerType=Qt.TimerType.PreciseTimer, interval=HEARTBEAT_MS)
    heart.timeout.connect(lambda: beats.append(perf_counter()))
    heart.start()
    run(window)
    heart.stop()
    gaps = (later - earlier for earlier, later in pairwise(beats))
    return [max(gap * 1e3 - HEARTBEAT_MS, 0.0) for gap in gaps]


def _rest(window: MainWindow) -> None:
    until = perf_counter() + IDLE_MS / 1e3
    wait_until(window, lambda: perf_counter() > until)


def _sweep(window: MainWindow) -> None:
    """Run a sweep of one cell, to its end; none of the user's sessions."""
    plan = Plan("display", (all_implementations()[0].key,), ((SIDE, SIDE),), channels=(3,))
    ended: list[object] = []
    window.worker.sweep.ended.connect(lambda _error, is_complete: ended.append(is_complete))
    wait_until(
        window, lambda: bool(ended), act=lambda: window.worker.sweep.start(partial(sweeping, plan))
    )


main = partial(bench.main_of_window, "display", TITLE, measure, has_runs=False)


if __name__ == "__main__":
    sys.exit(main())
