"""Draw the real window off screen into a PNG file: `workbench shot OUT.png`."""

from __future__ import annotations

import os
import sys
from argparse import Namespace
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from PySide6.QtCore import QCoreApplication, QEvent
from PySide6.QtGui import QImage

from kernels.core.device import NoDevice
from workbench.base.paths import identity
from workbench.cli.output import FAILED, USAGE, CommandError
from workbench.cli.real_window import (
    real_window,
    settle,
    wait_for_baseline,
    wait_for_calm,
    wait_for_device,
    wait_for_repeat,
    wait_until,
)
from workbench.cli.recipe_options import (
    changes_of,
    devices_of_window,
    ignored,
    named_kernel,
    read_named,
)
from workbench.cli.result_words import as_table
from workbench.files.picture_errors import ImageFileError
from workbench.model import intents
from workbench.model.intents import Changes
from workbench.model.state import State
from workbench.session.exporter import save_png
from workbench.window.main_window import MainWindow


def run(arguments: Namespace) -> int:
    """Open the picture, wait for its last result, and draw.  Prints where, and the times."""
    return draw(arguments, lambda window: wait_for_calm(window, window))


def draw(
    arguments: Namespace, look: Callable[[MainWindow], QImage], modes: Sequence[str] = ()
) -> int:
    """Draw the image that `look` returns once the result has settled.

    modes  of the window, to write into the file
    """
    paths = [arguments.image] if arguments.image else []
    _check(arguments.output, paths)
    changes = changes_of(arguments, State()) | _baseline(arguments.baseline)
    changes |= devices_of_window(arguments)
    kernel = named_kernel(arguments)
    if kernel is not None:
        read_named(kernel)  # it rejects sources of which the window would only complain
    os.environ["QT_QPA_PLATFORM"] = "offscreen"
    with real_window(arguments, changes, arguments.size_px, arguments.theme) as window:
        wait_for_device(window)
        if kernel is not None:
            window.open_kernel(kernel)
        _resize(window, arguments.size_px)
        _reject_another_implementation(kernel.name if kernel else arguments.implementation, window)
        _say_ignored(arguments, window)
        result = settle(window, partial(window.intake.open_paths, paths))
        wait_for_baseline(window, result)
        result = wait_for_repeat(window, result)
        _resize(window, arguments.size_px)  # with the timings its contents may have grown
        if kernel is not None:
            wait_until(window, lambda: window.kernel.get().is_tried)
        image = look(window)
        kept = window.memory.for_screenshot() | {"modes": list(modes)}
        try:
            save_png(arguments.output, image, kept)
        except ImageFileError as error:
            raise CommandError(str(error)) from error
    print(f"{arguments.output}\n{as_table(result)}")
    return 0 if result.check is None or result.check.ok else FAILED


def _baseline(name: str | None) -> Changes:
    names = [each.key for each in intents.choices() if each.kind == "cpu"]
    if name is None:
        return {}
    if name not in names:
        raise CommandError(f"--baseline takes {', '.join(names)}, not {name!r}.", USAGE)
    return {"baseline": name}


def _check(output: Path, paths: list[Path]) -> None:
    if output.suffix.lower() != ".png":
        raise CommandError(f"{output} must end in .png, the format that keeps the settings.", USAGE)
    if identity(output) in [identity(each) for each in paths]:
        raise CommandError(f"{output} is an input; write to another file.", USAGE)


def _resize(window: MainWindow, size: tuple[int, int]) -> None:
    """Resize the window.  Raises CommandError: it does not become smaller than its contents."""
    # The contents have changed, and with them perhaps the least size.
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


def _say_ignored(arguments: Namespace, window: MainWindow) -> None:
    named, device = arguments.implementation, window.device
    reason = device.reason if named is None and isinstance(device, NoDevice) else None
    if note := ignored(arguments, window.store.state.implementation, reason):
        print(f"workbench: {note}", file=sys.stderr)


def _reject_another_implementation(name: str | None, window: MainWindow) -> None:
    """Raise CommandError where the window fell back from the implementation of this name."""
    if name is not None and name != window.store.state.implementation:
        raise CommandError(intents.why_not_here(intents.implementation(name), window.device) or "")
