"""`workbench shot OUT.png`: the real window, filtered, drawn off screen into a PNG file."""

from __future__ import annotations

import os
import sys
from argparse import Namespace
from pathlib import Path

from PySide6.QtCore import QCoreApplication, QEvent

from kernels.device import NoDevice
from workbench import intents
from workbench.cli import FAILED, USAGE
from workbench.commands import CommandError
from workbench.commands.options import changes_of, ignored
from workbench.commands.real_window import (
    real_window,
    settle,
    wait_for_baseline,
    wait_for_device,
)
from workbench.commands.words import as_table
from workbench.files.export import save_png
from workbench.files.image_files import ImageFileError
from workbench.main_window import MainWindow
from workbench.state import State


def run(arguments: Namespace) -> int:
    """Open the picture, wait for the last word on its result, draw; print where, and the times."""
    paths = [arguments.image] if arguments.image else []
    _check(arguments.output, paths)
    changes = changes_of(arguments, State())
    os.environ["QT_QPA_PLATFORM"] = "offscreen"
    with real_window(arguments, changes, arguments.size_px, arguments.theme) as window:
        wait_for_device(window)
        _resize(window, arguments.size_px)
        _refuse_another_implementation(arguments, window)
        _say_what_is_ignored(arguments, window)
        result = settle(window, lambda: window.open_paths(paths))
        wait_for_baseline(window, result)
        _resize(window, arguments.size_px)  # with the timings its contents may have grown
        _draw(window, arguments.output)
    print(f"{arguments.output}\n{as_table(result)}")
    return 0 if result.check is None or result.check.ok else FAILED


def _check(output: Path, paths: list[Path]) -> None:
    if output.suffix.lower() != ".png":
        raise CommandError(f"{output} must end in .png, the format that keeps the settings.", USAGE)
    if output.resolve() in [each.resolve() for each in paths]:
        raise CommandError(f"{output} is an input; write to another file.", USAGE)


def _resize(window: MainWindow, size: tuple[int, int]) -> None:
    """Give it `size`, or refuse: it does not become smaller than its contents."""
    # What it shows has changed, and with it perhaps its least size.
    QCoreApplication.sendPostedEvents(None, QEvent.Type.LayoutRequest.value)
    window.resize(*size)
    real = zip(size, (window.width(), window.height()), ("wide", "high"), strict=True)
    too_small = [f"{least} pixels {way}" for asked, least, way in real if least > asked]
    if too_small:
        raise CommandError(
            f"The window is at least {' and '.join(too_small)}, so --size-px {size[0]}x{size[1]} "
            "is too small.",
            USAGE,
        )


def _say_what_is_ignored(arguments: Namespace, window: MainWindow) -> None:
    asked, device = arguments.implementation, window.device
    reason = device.reason if asked is None and isinstance(device, NoDevice) else None
    if note := ignored(arguments, window.store.state.implementation, reason):
        print(f"workbench: {note}", file=sys.stderr)


def _refuse_another_implementation(arguments: Namespace, window: MainWindow) -> None:
    """The window falls back to one that runs here; who asked for one by name wants that or none."""
    if arguments.implementation not in (None, window.store.state.implementation):
        asked = intents.implementation(arguments.implementation)
        raise CommandError(intents.why_not_here(asked, window.device) or "")


def _draw(window: MainWindow, output: Path) -> None:
    QCoreApplication.processEvents()  # the charts draw what came last
    try:
        save_png(output, window.screenshot(), window.choices_to_keep())
    except ImageFileError as error:
        raise CommandError(str(error)) from error
