"""Measure from a changed setting to the filtered picture on the screen, in each mode.

Kernels are compiled before.
"""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from numpy.typing import NDArray

from kernels.engine.engine import Implementation, all_implementations
from kernels.pictures import generated
from tests.benches import bench
from tests.benches.bench import BenchRow, peak_memory
from tests.benches.views import MODES, ms_until_painted, named_view
from workbench.cli.draw_window import real_window, settle, wait_for_baseline, wait_for_device
from workbench.imaging.pictures import Picture
from workbench.model import intents
from workbench.panels.compare.picture_view import PictureView
from workbench.window.main_window import MainWindow

TITLE = "From a changed setting (Gaussian of size 3 or 5) to the filtered picture on the screen"
RUNS = 20
CPU = "opencv"
PICTURES: dict[str, Callable[[], NDArray[Any]]] = {
    "768×512 RGB": generated.scene,
    "2048×2048 RGB": partial(generated.noise, 2048, 2048, 3),
    "4096×4096 RGB": partial(generated.noise, 4096, 4096, 3),
}


def measure(arguments: Namespace) -> Iterator[BenchRow]:
    """Measure each picture with OpenCV and every rung that runs here, rested and without a pause.

    Then with OpenCV in each mode, without a pause, as while a slider is dragged.
    """
    with real_window(arguments, {"implementation": CPU}) as window:
        wait_for_device(window)
        for name, make in PICTURES.items():
            _open(window, name, make())
            for implementation in _able(window):
                what = f"{name}, {implementation.key}"
                _warm_up(window, implementation)
                for mode, is_at_rest in (("from rest", True), ("without a pause", False)):
                    samples = [_change(window, is_at_rest) for _ in range(arguments.runs or RUNS)]
                    yield BenchRow(f"{what}, {mode}", samples)
            window.store.update(implementation=CPU)
            for way in MODES:
                with way.on(window) as view:
                    samples = [_changed(window, view) for _ in range(arguments.runs or RUNS)]
                yield BenchRow(f"{name}, {CPU}, {way.name}", samples)
        yield peak_memory()


def _able(window: MainWindow) -> list[Implementation]:
    state, device = window.store.state, window.device
    return [
        each
        for each in all_implementations()
        if (each.key == CPU or each.kind == "cuda")
        and intents.why_unavailable(state, each, device) is None
    ]


def _open(window: MainWindow, name: str, samples: NDArray[Any]) -> None:
    settle(window, lambda: window.store.update(picture=Picture(name, samples)))


def _warm_up(window: MainWindow, implementation: Implementation) -> None:
    """Compile both sizes."""
    window.store.update(ksize=7)
    settle(window, lambda: window.store.update(ksize=5, implementation=implementation.key))
    settle(window, lambda: window.store.update(ksize=3))


def _change(window: MainWindow, is_at_rest: bool) -> float:
    """Time until the other size is on the screen, in milliseconds.

    is_at_rest  begin when the last one is settled, its baseline too
    """
    if is_at_rest:
        wait_for_baseline(window, settle(window, window.live.run_again))
    return _changed(window, named_view(window, "After"))


def _changed(window: MainWindow, view: PictureView) -> float:
    """Time until `view` was painted with it, in milliseconds."""
    other = 8 - window.store.state.ksize
    return ms_until_painted(window, view, lambda: window.store.update(ksize=other))


main = partial(bench.main_of_window, "latency", TITLE, measure)


if __name__ == "__main__":
    sys.exit(main())
