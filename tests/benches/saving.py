"""Measure from a kernel's save to its verdict: compiled, run, checked and shown.

On a GPU, where there is one, with its time, and what of that is no compiler's; else on the CPU.
"""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from time import perf_counter, time_ns

from kernels.core.device import Device
from kernels.cuda_on_cpu.compiler import why_not
from kernels.pictures import generated
from kernels.rungs.own_kernels import own_kernel, starting_points
from tests.benches import bench
from tests.benches.bench import BenchRow
from workbench.cli.draw_window import real_window, settle, wait_for_device, wait_until
from workbench.cli.output import CommandError
from workbench.imaging.pictures import Picture
from workbench.panels.kernel.kernel_pane import KernelPane
from workbench.session.kernel_folder import kernels_folder
from workbench.window.main_window import MainWindow

TITLE = (
    "From a kernel's save to its verdict (1024×1024 RGB, Gaussian 5×5: all of it on a GPU, with a "
    "time; a part of it on the CPU)"
)
RUNS = 10
SIDE = 1024
KEYS = ("constant", "shared", "ring")
PAUSE_S = 1.0  # from the last key to the save
LIMIT_MS = 300.0  # on a GPU, for a text of up to so many lines, with what it includes
MAX_LINES = 200
REST = "all but the compiler: what any kernel waits for, however long its text"


def measure(arguments: Namespace) -> Iterator[BenchRow]:
    """Measure kernels, saved by another program and in the panel; no text is the same twice."""
    with real_window(arguments, {}) as window:
        wait_for_device(window)
        device = window.device
        is_on_gpu = isinstance(device, Device)
        if not is_on_gpu and (reason := why_not()) is not None:
            raise CommandError(reason)
        where = device.name if isinstance(device, Device) else "CPU"
        picture = Picture("noise", generated.noise(SIDE, SIDE, 3))
        settle(window, lambda: window.store.update(picture=picture))
        window.docks.enter("Kernel")
        page = window.kernel.get()
        folder = kernels_folder()
        folder.mkdir(parents=True, exist_ok=True)
        for key in KEYS:
            path = folder / f"{key}.cu"
            path.write_text(_text(key, 0), encoding="utf-8")
            page.files.open_file(path)
            wait_until(window, lambda path=path: page.path == path and page.is_tried)
            lines = len(own_kernel(path.name, path.read_text(encoding="utf-8")).text.splitlines())
            limit_ms = LIMIT_MS if is_on_gpu and lines <= MAX_LINES else None
            for way, (prepare, save) in WAYS.items():
                waits = [
                    _waited(window, page, (prepare, save), path, f"{_text(key, number)}// {way}\n")
                    for number in range(1, 1 + (arguments.runs or RUNS))
                ]
                name = f"{key} ({lines} lines compiled), saved {way}, {where}"
                yield BenchRow(name, [ms for ms, _ in waits], limit_ms=limit_ms)
                if is_on_gpu:
                    yield BenchRow(f"  {REST}", [ms - compile_ms for ms, compile_ms in waits])


def _text(key: str, number: int) -> str:
    text = next(each.text for each in starting_points() if each.key == key)
    return f"{text}// {number}, {time_ns()}\n"  # which no cache has


def _save_outside(_page: KernelPane, path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")


def _save_here(page: KernelPane, _path: Path, text: str) -> None:
    page.entrance.replace_text(text)
    page.files.save()


def _type_nothing(_window: MainWindow, _page: KernelPane, _text: str) -> None:
    pass


def _type_and_pause(window: MainWindow, page: KernelPane, text: str) -> None:
    """Enter it, and wait as if to think before the save: it is tried meanwhile."""
    page.entrance.replace_text(text)
    until = perf_counter() + PAUSE_S
    wait_until(window, lambda: perf_counter() > until)


def _save_typed(page: KernelPane, _path: Path, _text: str) -> None:
    page.files.save()


Prepare = Callable[[MainWindow, KernelPane, str], None]
Save = Callable[[KernelPane, Path, str], None]
WAYS: dict[str, tuple[Prepare, Save]] = {
    "by another program": (_type_nothing, _save_outside),
    "in the panel": (_type_nothing, _save_here),
    "in the panel a second after the last key": (_type_and_pause, _save_typed),
}


def _waited(
    window: MainWindow, page: KernelPane, way: tuple[Prepare, Save], path: Path, text: str
) -> tuple[float, float]:
    """Wait until the verdict of `text` is shown, and on a GPU its time; counts may come later.

    Return the milliseconds in all, and those that a GPU's compiler took.
    """
    prepare, save = way
    prepare(window, page, text)
    start = perf_counter()
    save(page, path, text)
    wait_until(
        window, lambda: page.entrance.toPlainText() == text and page.trying.verdict[1] is not None
    )
    end = perf_counter()
    built = page.trying.tried and page.trying.tried.built
    wait_until(window, lambda: page.is_tried)
    return 1e3 * (end - start), built.compile_ms if built else 0.0


main = partial(bench.main_of_window, "saving", TITLE, measure)


if __name__ == "__main__":
    sys.exit(main())
