"""`workbench shot OUT.png`: the real window, filtered, drawn off screen into a PNG file."""

from __future__ import annotations

import os
from argparse import Namespace
from pathlib import Path

from workbench import qt_libraries
from workbench.cli import USAGE
from workbench.commands import CommandError


def run(arguments: Namespace) -> int:
    """Draw the window, and print where, and the timing table."""
    paths = [arguments.image] if arguments.image else []
    draw(arguments, paths, arguments.output, arguments.size_px, arguments.theme)
    return 0


def draw(
    arguments: Namespace,
    paths: list[Path],
    output: Path,
    size: tuple[int, int] = (1440, 900),
    scheme: str = "system",
) -> None:
    """Open `paths`, wait for the last word on the result and its baseline, and draw the window."""
    _check(paths, output)
    os.environ["QT_QPA_PLATFORM"] = "offscreen"
    if reason := qt_libraries.why_no_window("offscreen"):
        raise CommandError(reason)
    from PySide6.QtCore import QCoreApplication

    from workbench.commands.options import changes_of
    from workbench.commands.real_window import real_window, settle, wait_for_baseline
    from workbench.commands.words import as_table
    from workbench.export import save_png
    from workbench.image_files import ImageFileError
    from workbench.state import State

    changes = changes_of(arguments, State())
    with real_window(arguments, changes, size, scheme) as window:
        result = settle(window, lambda: window.open_paths(paths))
        wait_for_baseline(window)
        QCoreApplication.processEvents()
        try:
            save_png(output, window.screenshot(), window.choices_to_keep())
        except ImageFileError as error:
            raise CommandError(str(error)) from error
    print(output)
    print(as_table(result))


def _check(paths: list[Path], output: Path) -> None:
    if output.suffix.lower() != ".png":
        raise CommandError(f"{output} must end in .png, the format that keeps the settings.", USAGE)
    if output.resolve() in [each.resolve() for each in paths]:
        raise CommandError(f"{output} is an input; write to another file.", USAGE)
