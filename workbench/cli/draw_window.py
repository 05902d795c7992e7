"""Draw the real window off screen into a PNG file: `workbench shot OUT.png`."""

from __future__ import annotations

import os
import signal
import sys
from argparse import Namespace
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic

from PySide6 import QtCore
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QWidget

from kernels.core.device import NoDevice
from kernels.core.job import Result
from kernels.rungs.own_kernels import read_own_kernel
from workbench.base import theme
from workbench.base.background import bugs
from workbench.base.paths import DATA_VARIABLE, identity
from workbench.base.settings import Settings
from workbench.charts.canvas import make_plots
from workbench.cli.output import FAILED, USAGE, CommandError
from workbench.cli.recipe_options import (
    changes_of,
    complain_of_ignored,
    devices_of_window,
    named_kernel,
)
from workbench.cli.result_words import in_one_line, list_in_words
from workbench.cli.this_machine import engine_maker
from workbench.files.picture_errors import ImageFileError
from workbench.model import choices, intents
from workbench.model.intents import Changes
from workbench.model.state import State
from workbench.session.exporter import save_png
from workbench.session.kernel_folder import FOLDER_VARIABLE as KERNELS_VARIABLE
from workbench.window.app import GarbageCollector, make_application
from workbench.window.main_window import MainWindow

WINDOW_SIZE = (1440, 900)
POLL_MS = 1
CALM, CALM_MS = 4, 60  # as many equal images, as far apart
SOON_MS = 2000  # the longest wait of charts that take long to draw
PATIENCE_S = 30.0  # for what may never come: the CPU's turn may be rejected


def run(arguments: Namespace) -> int:
    """Open the picture, wait for its last result, and draw.  Prints where, and the result."""
    return draw(arguments, lambda window: wait_for_calm(window, window))


def draw(
    arguments: Namespace, look: Callable[[MainWindow], QImage], modes: Sequence[str] = ()
) -> int:
    """Draw the image that `look` returns once the result has settled.

    modes  of the window, to write into the file
    """
    output, size = arguments.output, arguments.size_px
    paths = [arguments.image] if arguments.image else []
    if output.suffix.lower() != ".png":
        raise CommandError(f"{output} must end in .png, the format that keeps the settings.", USAGE)
    if paths and identity(output) == identity(paths[0]):
        raise CommandError(f"{output} is an input; write to another file.", USAGE)
    changes = changes_of(arguments, State()) | devices_of_window(arguments)
    if (baseline := arguments.baseline) is not None:
        names = [each.key for each in intents.choices() if each.kind == "cpu"]
        if baseline not in names:
            raise CommandError(f"--baseline takes {', '.join(names)}, not {baseline!r}.", USAGE)
        changes |= {"baseline": baseline}
    if (kernel := named_kernel(arguments)) is not None:
        read_own_kernel(kernel)  # it rejects sources of which the window would only complain
    os.environ["QT_QPA_PLATFORM"] = "offscreen"
    with real_window(arguments, changes, size, arguments.theme) as window:
        wait_for_device(window)
        if kernel is not None:
            window.open_kernel(kernel)
        _resize(window, size)
        named, device = arguments.implementation, window.device
        name, shown = kernel.name if kernel else named, window.store.state.implementation
        if name is not None and name != shown:
            raise CommandError(intents.why_not_here(intents.implementation(name), device) or "")
        reason = device.reason if named is None and isinstance(device, NoDevice) else None
        complain_of_ignored(arguments, shown, reason)
        show = partial(window.intake.open_paths, paths)
        if paths and arguments.page:
            show = partial(window.opener.open_file, paths[0].absolute(), arguments.page)
        result = settle(window, show)
        first, until = window.live.result, monotonic() + PATIENCE_S
        wait_for_baseline(window, result)
        if result.kernel and result.kernel.is_single and result.strips == 1:  # it is timed again
            wait_until(window, lambda: window.live.result is not first or monotonic() > until)
            result = window.live.result or result
        _resize(window, size)  # with the timings its contents may have grown
        if kernel is not None:
            wait_until(window, lambda: window.kernel.get().is_tried)
        window.messages.clear("info")  # it lies over the time
        image = look(window)
        try:
            save_png(output, image, window.memory.for_screenshot() | {"modes": list(modes)})
        except ImageFileError as error:
            raise CommandError(str(error)) from error
        what = list_in_words(window.store.state, titles=True)
    print(f"{output}: {in_one_line(what, result)}")
    return 0 if result.check is None or result.check.ok else FAILED


def _resize(window: MainWindow, size: tuple[int, int]) -> None:
    """Resize the window.  Raises CommandError: it does not become smaller than its contents."""
    # The contents have changed, and with them perhaps the least size.
    QtCore.QCoreApplication.sendPostedEvents(None, QtCore.QEvent.Type.LayoutRequest.value)
    window.resize(*size)
    width, height = window.width(), window.height()
    if width > size[0] or height > size[1]:
        raise CommandError(f"--size-px: the window is at least {width}×{height} pixels.", USAGE)


@contextmanager
def real_window(
    arguments: Namespace,
    changes: Changes,
    size: tuple[int, int] = WINDOW_SIZE,
    scheme: theme.Scheme = "system",
) -> Iterator[MainWindow]:
    """Open a window of `size` pixels with `changes` to the default choices, then close it.

    It neither reads nor writes the user's settings and data, so it looks the same for everybody.
    """
    make_application(scheme)
    with ExitStack() as stack:
        QtCore.qInstallMessageHandler(_pass_on)
        stack.callback(QtCore.qInstallMessageHandler, None)
        folder = Path(stack.enter_context(TemporaryDirectory()))
        stack.callback(os.environ.update, dict(os.environ))
        for name in (DATA_VARIABLE, KERNELS_VARIABLE):
            stack.callback(os.environ.pop, name)
            os.environ[name] = str(folder / name.lower())
        settings = Settings(folder / "settings.json")
        settings.set("choices", choices.as_data(changes))
        window = MainWindow(engine_maker(arguments), settings)
        window.setWindowState(QtCore.Qt.WindowState.WindowNoState)  # not as large as the screen
        window.resize(*size)
        window.opener.asked.connect(lambda _sentence, go_on, _: go_on())  # nobody is there to agree
        window.show()
        collector = GarbageCollector(window)
        try:
            yield window
        finally:
            collector.stop()
            window.leave()
            window.deleteLater()
            QtCore.QCoreApplication.sendPostedEvents(None, QtCore.QEvent.Type.DeferredDelete.value)


def _pass_on(_kind: QtCore.QtMsgType, _context: object, words: str) -> None:
    """Print what Qt says, but not what the offscreen platform says of each window."""
    if "propagateSizeHints" not in words:
        print(words, file=sys.stderr)


def wait_for_device(window: MainWindow) -> None:
    """Wait until the window knows its GPU, or that there is none, and keeps its implementation."""
    wait_until(window, lambda: window.device is not None)


def wait_until(
    window: MainWindow,
    is_so: Callable[[], bool],
    every_ms: int = POLL_MS,
    act: Callable[[], object] = lambda: None,
) -> None:
    """Do `act`, and run Qt's loop until `is_so`.

    Raises CommandError with the sentence that the window would show, bugs and KeyboardInterrupt.
    """
    loop, failures = QtCore.QEventLoop(), list[BaseException]()
    connections = [
        (window.live.refused, lambda sentence, _: failures.append(CommandError(sentence))),
        (window.opener.failed, lambda sentence: failures.append(CommandError(sentence))),
        (bugs.met, lambda _, details: failures.append(RuntimeError(details))),
    ]
    poll = QtCore.QTimer()
    poll.timeout.connect(lambda: loop.quit() if failures or is_so() else None)
    with ExitStack() as stack:
        for happened, slot in connections:
            happened.connect(slot)
            stack.callback(happened.disconnect, slot)
        # Of an exception in a slot Qt calls the hook, Ctrl+C among them.
        stack.callback(setattr, sys, "excepthook", sys.excepthook)
        sys.excepthook = lambda _kind, error, _trace: failures.append(error)
        interrupt = signal.signal(signal.SIGINT, lambda *_: failures.append(KeyboardInterrupt()))
        stack.callback(signal.signal, signal.SIGINT, interrupt)
        act()
        poll.start(every_ms)
        stack.callback(poll.stop)
        loop.exec()
    if failures:
        raise failures[0]


def wait_for_calm(window: MainWindow, shown: QWidget) -> QImage:
    """Wait until `shown` has stopped changing, and nothing is under way; return its image."""
    seen: list[QImage] = []

    def is_calm() -> bool:
        # Messages end later than all that is to happen in a moment.
        timers = (each for each in window.findChildren(QtCore.QTimer) if each.isSingleShot())
        is_soon = any(each.isActive() and each.interval() <= SOON_MS for each in timers)
        if not seen and (is_soon or not window.analysis_thread.is_idle):
            return False
        make_plots(shown)
        seen.append(window.screenshots.of_window() if shown is window else shown.grab().toImage())
        del seen[:-CALM]
        return len(seen) == CALM and all(each == seen[0] for each in seen)

    wait_until(window, is_calm, CALM_MS)
    return seen[-1]


def settle(window: MainWindow, act: Callable[[], object]) -> Result:
    """Do `act`; wait until its result is filtered, timed and checked.  Raises as `wait_until`."""
    results: list[Result] = []
    window.live.settled.connect(results.append)
    try:
        wait_until(window, lambda: bool(results), act=act)
    finally:
        window.live.settled.disconnect(results.append)
    return results[0]


def wait_for_baseline(window: MainWindow, result: Result) -> None:
    """Wait until `result`, just settled, has its baseline, or for PATIENCE_S."""
    live, until = window.live, monotonic() + PATIENCE_S
    wait_until(window, lambda: live.baseline_of(result) is not None or monotonic() > until)
