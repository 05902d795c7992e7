"""Catch the moment when something is on the screen, as far as the program can know it."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter

from PySide6.QtCore import QEvent, QObject, QTimer, Signal
from PySide6.QtWidgets import QWidget

from workbench.cli.real_window import Wait
from workbench.model import intents
from workbench.panels.compare.picture_view import PictureView
from workbench.window.main_window import MainWindow


class Painted(QObject):
    """A watcher of one widget's paints.

    Signals:
        painted(): it was painted since `expect`, and so was all that was painted together with it.
    """

    painted = Signal()

    def __init__(self, widget: QWidget) -> None:
        super().__init__(widget)
        self._is_it: Callable[[], bool] = lambda: False
        widget.installEventFilter(self)

    def expect(self, is_it: Callable[[], bool] = lambda: True) -> None:
        """Tell of the next paint, of those during which `is_it` says yes."""
        self._is_it = is_it

    def eventFilter(self, _watched: QObject, event: QEvent) -> bool:  # noqa: N802
        if event.type() == QEvent.Type.Paint and self._is_it():
            self._is_it = lambda: False
            QTimer.singleShot(0, self, self.painted.emit)  # once Qt is done with this paint
        return False


def ms_until_painted(window: MainWindow, view: PictureView, act: Callable[[], None]) -> float:
    """Do `act`, which asks for another result, and time it until `view` was painted.

    After that result was there and what the view shows was another; in milliseconds.
    """
    wait, watch = Wait(window), Painted(view)
    start, shown = 0.0, view.display

    def begin() -> None:
        nonlocal start
        start = perf_counter()
        act()

    def expect(*_: object) -> None:
        newest = window.live.newest
        if newest and newest.job.weights is intents.weights_for(window.store.state):
            watch.expect(lambda: view.display is not shown)

    signals = window.live.computed, window.live.after_ready  # the latter alone, with a new picture
    for signal in signals:
        signal.connect(expect)
    watch.painted.connect(lambda: wait.end((perf_counter() - start) * 1e3))
    elapsed_ms: float = wait.until_ended(begin)
    for signal in signals:
        signal.disconnect(expect)
    watch.deleteLater()
    return elapsed_ms
