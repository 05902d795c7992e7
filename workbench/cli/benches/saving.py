"""Measure from a kernel's save to its verdict: compiled, run, checked and shown.

On a GPU, where there is one, with its time; else on the CPU, without.
"""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable, Iterator
from pathlib import Path
from time import perf_counter, time_ns

from kernels.core.device import Device
from kernels.cuda_on_cpu.compiler import why_not
from kernels.pictures import generated
from kernels.rungs.starting_points import starting_points
from workbench.cli.benches import BenchRow
from workbench.cli.command_error import CommandError
from workbench.cli.real_window import real_window, settle, wait_for_device, wait_until
from workbench.files.kernel_files import kernels_folder
from workbench.model.state import Picture
from workbench.panels.kernel.kernel_page import KernelPage
from workbench.window.main_window import MainWindow

TITLE = (
    "From a kernel's save to its verdict (1024×1024 RGB, Gaussian 5×5: all of it on a GPU, with a "
    "time; a part of it on the CPU)"
)
RUNS = 10
SIDE = 1024
KEYS = ("constant", "shared")
LIMIT_MS = 300.0  # on a GPU


def measure(arguments: Namespace) -> Iterator[BenchRow]:
    """Measure two kernels, saved by another program and in the panel; no text is the same twice."""
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
        page = window.kernel.get().page
        folder = kernels_folder()
        folder.mkdir(parents=True)
        for key in KEYS:
            path = folder / f"{key}.cu"
            path.write_text(_text(key, 0), encoding="utf-8")
            page.open_file(path)
            wait_until(window, lambda: page.is_tried)
            for way, save in (("by another program", _save_outside), ("in the panel", _save_here)):
                samples = [
                    _ms(window, page, save, path, f"{_text(key, number)}// {way}\n")
                    for number in range(1, 1 + (arguments.runs or RUNS))
                ]
                limit_ms = LIMIT_MS if is_on_gpu else None
                yield BenchRow(f"{key}, saved {way}, {where}", samples, limit_ms=limit_ms)


def _text(key: str, number: int) -> str:
    text = next(each.text for each in starting_points() if each.key == key)
    return f"{text}// {number}, {time_ns()}\n"  # which no cache has


def _save_outside(_page: KernelPage, path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")


def _save_here(page: KernelPage, _path: Path, text: str) -> None:
    page.entrance.replace_text(text)
    page.save()


def _ms(
    window: MainWindow,
    page: KernelPage,
    save: Callable[[KernelPage, Path, str], None],
    path: Path,
    text: str,
) -> float:
    """Return the milliseconds until the verdict of `text` is shown, and on a GPU its time.

    Counts may come later.
    """
    start = perf_counter()
    save(page, path, text)
    wait_until(window, lambda: page.entrance.toPlainText() == text and page.has_verdict)
    taken = 1e3 * (perf_counter() - start)
    wait_until(window, lambda: page.is_tried)
    return taken
