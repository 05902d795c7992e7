"""Draw the real window, in any mode, off screen into a PNG file: `workbench shot OUT.png`."""

from __future__ import annotations

import os
import sys
from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import QCoreApplication, QEvent, QPoint
from PySide6.QtGui import QColor, QGuiApplication, QImage, QPainter
from PySide6.QtWidgets import QWidget

from kernels.core.device import NoDevice
from workbench.base.same_file import identity
from workbench.cli.output import FAILED, USAGE, CommandError
from workbench.cli.real_window import (
    real_window,
    settle,
    wait_for_baseline,
    wait_for_calm,
    wait_for_device,
    wait_for_repeat,
)
from workbench.cli.result_words import as_table
from workbench.cli.state_options import (
    changes_of,
    devices_of_window,
    ignored,
    named_kernel,
    read_named,
)
from workbench.cli.window_driver import WindowDriver
from workbench.files.picture_errors import ImageFileError
from workbench.model import intents
from workbench.model.intents import Changes
from workbench.model.state import State
from workbench.session.screenshot_files import save_png
from workbench.window.main_window import MainWindow

SHADOW_PX, SHADOW_ALPHA = 10, 7


def run(arguments: Namespace) -> int:
    """Open the picture, wait for the last word on its result, enter the modes, and draw.

    Prints where, and the times.
    """
    paths = [arguments.image] if arguments.image else []
    _check(arguments.output, paths)
    changes = changes_of(arguments, State()) | _baseline(arguments.baseline)
    changes |= devices_of_window(arguments)
    kernel = named_kernel(arguments)
    if kernel is not None:
        read_named(kernel)  # it refuses what the window would only complain about
    os.environ["QT_QPA_PLATFORM"] = "offscreen"
    with real_window(arguments, changes, arguments.size_px, arguments.theme) as window:
        wait_for_device(window)
        if kernel is not None:
            window.open_kernel(kernel)
        _resize(window, arguments.size_px)
        _refuse_another_implementation(kernel.name if kernel else arguments.implementation, window)
        _say_what_is_ignored(arguments, window)
        result = settle(window, lambda: window.intake.open_paths(paths))
        wait_for_baseline(window, result)
        result = wait_for_repeat(window, result)
        _resize(window, arguments.size_px)  # with the timings its contents may have grown
        visit = WindowDriver(window, arguments.at, arguments.zoom)
        if kernel is not None:
            visit.wait_for_trial()
        try:
            image = picture_of(visit, arguments.mode, arguments.size_px)
        finally:
            visit.leave()
        _save(window, image, arguments)
    print(f"{arguments.output}\n{as_table(result)}")
    return 0 if result.check is None or result.check.ok else FAILED


def _baseline(name: str | None) -> Changes:
    """Return the baseline, of the implementations on the CPU."""
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
    """Resize the window, or refuse: it does not become smaller than its contents."""
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


def _refuse_another_implementation(name: str | None, window: MainWindow) -> None:
    """Refuse an implementation that does not run here.

    The window falls back to one that does; who asked for one by name wants that or none.
    """
    if name not in (None, window.store.state.implementation):
        assert name is not None
        raise CommandError(intents.why_not_here(intents.implementation(name), window.device) or "")


def picture_of(visit: WindowDriver, modes: Sequence[str], size: tuple[int, int]) -> QImage:
    """Return what there is to see, `size` pixels large, after `modes` were entered in turn."""
    QGuiApplication.styleHints().setCursorFlashTime(0)  # or a text cursor is there only at times
    for mode in modes:
        visit.enter(mode)
    if visit.shown is visit.window:
        return _with_dialogs(wait_for_calm(visit.window, visit.window), visit)
    visit.shown.resize(*size)
    return wait_for_calm(visit.window, visit.shown)


def _with_dialogs(image: QImage, visit: WindowDriver) -> QImage:
    """Paint the dialogs that lie over the window in its middle, as a desktop puts them."""
    painter = QPainter(image)
    for dialog in visit.dialogs():
        corner = QPoint(image.width() - dialog.width(), image.height() - dialog.height()) / 2
        _draw_raised(painter, dialog, corner)
    painter.end()
    return image


def _draw_raised(painter: QPainter, dialog: QWidget, corner: QPoint) -> None:
    """Draw with a shadow instead of the desktop's frame."""
    box = dialog.rect().translated(corner)
    for reach in range(SHADOW_PX, 0, -1):
        painter.setPen(QColor(0, 0, 0, SHADOW_ALPHA))
        painter.setBrush(QColor(0, 0, 0, SHADOW_ALPHA))
        painter.drawRoundedRect(box.adjusted(-reach, -reach, reach, reach), reach, reach)
    painter.drawPixmap(corner, dialog.grab())


def _save(window: MainWindow, image: QImage, arguments: Namespace) -> None:
    kept = window.memory.for_screenshot() | {"modes": list(arguments.mode)}
    try:
        save_png(arguments.output, image, kept)
    except ImageFileError as error:
        raise CommandError(str(error)) from error
