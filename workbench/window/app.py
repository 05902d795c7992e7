"""The start of the Qt application and its window; Qt is first imported here."""

from __future__ import annotations

import gc
import signal
import sys
import traceback
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import TracebackType

from PySide6.QtCore import QObject, QTimer
from PySide6.QtGui import QGuiApplication, QIcon
from PySide6.QtWidgets import QApplication

from kernels.engine.engine import Engine
from workbench import __version__
from workbench.base import theme
from workbench.base.memory import share_one_heap
from workbench.base.paths import asset
from workbench.base.settings import Settings
from workbench.widgets.message_bar import MessageBar
from workbench.window.main_window import TITLE, MainWindow

APPLICATION_ID = "io.github.filter_workbench.FilterWorkbench"


def make_application(scheme: theme.Scheme = "system") -> QApplication:
    """Make the one QApplication, with its name, theme and icon."""
    share_one_heap()
    if sys.platform == "win32":
        import ctypes

        ctypes.windll.shell32.SetCurrentProcessExplicitAppUserModelID(APPLICATION_ID)
    app = QApplication.instance() or QApplication(sys.argv[:1])
    assert isinstance(app, QApplication)
    app.setApplicationName("filter-workbench")
    app.setApplicationDisplayName(TITLE)
    app.setApplicationVersion(__version__)
    QGuiApplication.setDesktopFileName(APPLICATION_ID)
    app.setWindowIcon(QIcon(str(asset("icon.svg"))))
    theme.apply(app, scheme)
    return app


def run(
    paths: list[Path],
    make_engine: Callable[[], Engine],
    settings: Settings,
    kernel: Path | None = None,
) -> int:
    """Open the window until it is closed, and return Qt's exit code.

    It shows the first of `paths`, or the start picture, and offers the session that a crash left.

    kernel  file of a kernel to filter with
    """
    app = make_application(settings.get("theme", "system", theme.SCHEMES))
    window = MainWindow(make_engine, settings)
    sys.excepthook = partial(show_exception, window.messages)
    let_ctrl_c_close(window)
    window.show()
    if kernel is not None:
        window.open_kernel(kernel)
    window.intake.open_paths(paths)
    window.crash_restore.begin()
    collector = GarbageCollector(window)
    try:
        return app.exec()
    finally:
        window.crash_restore.end()
        collector.stop()


def show_exception(
    messages: MessageBar,
    kind: type[BaseException],
    error: BaseException,
    trace: TracebackType | None,
) -> None:
    """Show an uncaught exception, a bug, with its traceback; made for sys.excepthook."""
    details = "".join(traceback.format_exception(kind, error, trace))
    sys.stderr.write(details)
    messages.show_bug(f"{kind.__name__}: {error}", details)


def let_ctrl_c_close(window: MainWindow) -> None:
    """Let Ctrl+C in the terminal, or the system's request to end, close the window normally.

    Python looks at signals only between its own instructions, so a
    timer gives it some.
    """
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: window.leave())
    timer = QTimer(window)
    timer.timeout.connect(lambda: None)
    timer.start(200)


EVERY_MS = 200


class GarbageCollector(QObject):
    """A collector that replaces Python's own, in the GUI thread.

    Python's runs in whichever thread allocates next, and there destroys widgets that cycles
    kept alive.

    Generations are collected by Python's own thresholds, looked at every EVERY_MS.
    """

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._was_enabled = gc.isenabled()
        gc.disable()
        self._timer = QTimer(self)
        self._timer.timeout.connect(self._collect)
        self._timer.start(EVERY_MS)

    def stop(self) -> None:
        """Start Python's own collector again, if it ran before."""
        self._timer.stop()
        if self._was_enabled:
            gc.enable()

    def _collect(self) -> None:
        oldest = -1
        for generation, (count, limit) in enumerate(
            zip(gc.get_count(), gc.get_threshold(), strict=True)
        ):
            if count <= limit:
                break
            oldest = generation
        if oldest >= 0:
            gc.collect(oldest)
