"""`workbench shot OUT.png`: the real window, filtered, drawn off screen into a PNG file."""

from __future__ import annotations

import os
from argparse import Namespace
from pathlib import Path

from PySide6.QtCore import QCoreApplication

from workbench import intents
from workbench.cli import FAILED, USAGE
from workbench.commands import CommandError
from workbench.commands.options import changes_of
from workbench.commands.real_window import (
    real_window,
    settle,
    wait_for_baseline,
    wait_for_device,
)
from workbench.commands.words import as_table
from workbench.export import save_png
from workbench.image_files import ImageFileError
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
        _refuse_another_implementation(arguments, window)
        result = settle(window, lambda: window.open_paths(paths))
        wait_for_baseline(window, result)
        _draw(window, arguments.output)
    print(f"{arguments.output}\n{as_table(result)}")
    return 0 if result.check is None or result.check.ok else FAILED


def _check(output: Path, paths: list[Path]) -> None:
    if output.suffix.lower() != ".png":
        raise CommandError(f"{output} must end in .png, the format that keeps the settings.", USAGE)
    if output.resolve() in [each.resolve() for each in paths]:
        raise CommandError(f"{output} is an input; write to another file.", USAGE)


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
