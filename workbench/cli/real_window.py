"""The program's own window, driven by a command: for a picture of it, or for a measurement."""

from __future__ import annotations

import os
import signal
import sys
from argparse import Namespace
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from PySide6.QtCore import (
    QCoreApplication,
    QEvent,
    QEventLoop,
    QMessageLogContext,
    Qt,
    QTimer,
    QtMsgType,
    qInstallMessageHandler,
)
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QWidget

from kernels.core.job import Result
from workbench.base import theme
from workbench.base.background import bugs
from workbench.base.garbage import GarbageCollector
from workbench.base.paths import DATA_VARIABLE
from workbench.base.settings import Settings
from workbench.charts.canvas import make_plots
from workbench.cli.options import WINDOW_SIZE
from workbench.cli.output import CommandError
from workbench.cli.this_machine import engine_maker
from workbench.files.kernel_files import FOLDER_VARIABLE as KERNELS_VARIABLE
from workbench.model.intents import Changes
from workbench.window.app import make_application
from workbench.window.main_window import MainWindow

TICK_MS = 100  # how long Ctrl+C may go unnoticed
POLL_MS = 1
CALM, CALM_MS = 4, 60  # as many equal images, as far apart
SOON_MS = 2000  # the longest wait of charts that take long to draw
BASELINE_MS = 30_000  # the CPU's turn may be rejected
REPEAT_MS = 30_000


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
    with _without_noise(), TemporaryDirectory() as folder, _without_data(Path(folder)):
        settings = Settings(Path(folder) / "settings.json")
        settings.set("choices", changes)
        window = MainWindow(engine_maker(arguments), settings)
        window.setWindowState(Qt.WindowState.WindowNoState)  # not as large as the screen
        window.resize(*size)
        window.opener.asked.connect(lambda _sentence, go_on: go_on())  # nobody is there to agree
        window.show()
        collector = GarbageCollector(window)
        try:
            yield window
        finally:
            collector.stop()
            window.close()
            window.deleteLater()
            QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)


@contextmanager
def _without_data(folder: Path) -> Iterator[None]:
    """Keep sessions, reports, weights and kernels in `folder` rather than with the user's."""
    before = dict(os.environ)
    os.environ[DATA_VARIABLE] = str(folder / "data")
    os.environ[KERNELS_VARIABLE] = str(folder / "data" / "kernels")
    try:
        yield
    finally:
        for name in (DATA_VARIABLE, KERNELS_VARIABLE):
            del os.environ[name]
            os.environ |= {name: before[name]} if name in before else {}


@contextmanager
def _without_noise() -> Iterator[None]:
    """Silence Qt's offscreen platform, which says at every window that it ignores size hints."""

    def say(kind: QtMsgType, context: QMessageLogContext, message: str) -> None:
        if message.startswith("This plugin does not support"):
            return
        if previous is not None:
            previous(kind, context, message)
        else:
            print(message, file=sys.stderr)

    previous = qInstallMessageHandler(say)
    try:
        yield
    finally:
        qInstallMessageHandler(previous)


def wait_for_device(window: MainWindow) -> None:
    """Wait until the window knows its GPU, or that there is none, and keeps its implementation."""
    wait_until(window, lambda: window.device is not None)


def wait_until(window: MainWindow, is_so: Callable[[], bool], every_ms: int = POLL_MS) -> None:
    """Run Qt's loop until `is_so`, by polling: its signal may have been sent before.

    Raises as `settle`.
    """
    wait = Wait(window)
    poll = QTimer()
    poll.timeout.connect(lambda: wait.end(None) if is_so() else None)
    try:
        wait.until_ended(lambda: poll.start(every_ms))
    finally:
        poll.stop()


def wait_for_calm(window: MainWindow, shown: QWidget) -> QImage:
    """Wait until `shown` has stopped changing, and nothing is under way; return its image."""
    seen: list[QImage] = []

    def is_calm() -> bool:
        if not seen and _means_to_do_more(window):
            return False
        make_plots(shown)
        seen.append(window.screenshots.of_window() if shown is window else shown.grab().toImage())
        del seen[:-CALM]
        return len(seen) == CALM and all(each == seen[0] for each in seen)

    wait_until(window, is_calm, CALM_MS)
    return seen[-1]


def _means_to_do_more(window: MainWindow) -> bool:
    """True if something is computed aside, or is to happen in a moment; messages end later."""
    return not window.analysis_thread.is_idle or any(
        each.isActive() and each.isSingleShot() and each.interval() <= SOON_MS
        for each in window.findChildren(QTimer)
    )


def settle(window: MainWindow, act: Callable[[], None]) -> Result:
    """Do `act`, and wait until its result is filtered, timed and checked.

    Raises CommandError with the sentence that the window would show.
    """
    wait = Wait(window)
    window.live.settled.connect(wait.end)
    try:
        result: Result = wait.until_ended(act)
        return result
    finally:
        window.live.settled.disconnect(wait.end)


def wait_for_baseline(window: MainWindow, result: Result) -> None:
    """Wait until `result`, just settled, has its baseline, or for BASELINE_MS."""
    if window.live.baseline_of(result) is None:
        _wait_for(window, window.live.baseline_ready, BASELINE_MS)


def wait_for_repeat(window: MainWindow, result: Result) -> Result:
    """Wait until `result`, just settled, is timed again if it ran only once, or for REPEAT_MS.

    Returns the newest result.
    """
    if result.kernel and result.kernel.is_single and result.strips == 1:
        _wait_for(window, window.live.timed_again, REPEAT_MS)
    return window.live.result or result


def _wait_for(window: MainWindow, signal: Any, most_ms: int) -> None:
    wait = Wait(window)
    signal.connect(wait.end)
    QTimer.singleShot(most_ms, lambda: wait.end(None))
    wait.until_ended(lambda: None)
    signal.disconnect(wait.end)


class Wait:
    """A wait in Qt's loop until `end` is called, the window refuses, or Ctrl+C."""

    def __init__(self, window: MainWindow) -> None:
        self._window = window
        self._loop = QEventLoop()
        self._outcomes: list[Any] = []

    def end(self, outcome: Any) -> None:
        """End the wait with `outcome`; only the first one counts."""
        self._outcomes.append(outcome)
        self._loop.quit()

    def until_ended(self, act: Callable[[], None]) -> Any:
        """Do `act`; return what `end` was called with first, or raise it if it is an error."""
        with self._watching():
            act()
            if not self._outcomes:
                self._loop.exec()
        if isinstance(self._outcomes[0], BaseException):
            raise self._outcomes[0]
        return self._outcomes[0]

    @contextmanager
    def _watching(self) -> Iterator[None]:
        """End at the window's errors as well, at a bug, and at Ctrl+C.

        Python notices that only between its own instructions.
        """
        window, hook = self._window, sys.excepthook
        connections = [
            (window.live.refused, lambda sentence, _: self.end(CommandError(sentence))),
            (window.opener.failed, lambda sentence: self.end(CommandError(sentence))),
            (bugs.met, lambda _, details: self.end(RuntimeError(details))),
        ]
        for told, slot in connections:
            told.connect(slot)
        sys.excepthook = lambda _kind, error, _trace: self.end(error)
        handler = signal.signal(signal.SIGINT, lambda *_: self.end(KeyboardInterrupt()))
        tick = QTimer()
        tick.timeout.connect(lambda: None)
        tick.start(TICK_MS)
        try:
            yield
        finally:
            tick.stop()
            signal.signal(signal.SIGINT, handler)
            sys.excepthook = hook
            for told, slot in connections:
                told.disconnect(slot)
