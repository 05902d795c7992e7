"""The moment when something is on the screen, as far as the program can know it."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter

from PySide6.QtCore import QEvent, QObject, QTimer, Signal
from PySide6.QtWidgets import QWidget

from kernels.job import Result
from workbench import intents
from workbench.commands.real_window import Wait
from workbench.main_window import MainWindow
from workbench.views.picture_view import PictureView


class Painted(QObject):
    """Watches one widget.

    Signals:
        painted(): it was painted since `expect`, and so was all that was painted together with it.
    """

    painted = Signal()

    def __init__(self, widget: QWidget) -> None:
        super().__init__(widget)
        self._expecting = False
        widget.installEventFilter(self)

    def expect(self) -> None:
        self._expecting = True

    def eventFilter(self, _watched: QObject, event: QEvent) -> bool:  # noqa: N802
        if self._expecting and event.type() == QEvent.Type.Paint:
            self._expecting = False
            QTimer.singleShot(0, self.painted.emit)  # once Qt is done with this paint
        return False


def ms_until_painted(window: MainWindow, act: Callable[[], None]) -> float:
    """Do `act`, which asks for another result; milliseconds until that result is on the screen."""
    wait, watch = Wait(window), Painted(after_view(window))
    start = 0.0

    def begin() -> None:
        nonlocal start
        start = perf_counter()
        act()

    def expect(result: Result) -> None:
        if result.job.weights is intents.weights_for(window.store.state):
            watch.expect()

    window.live.after_ready.connect(expect)
    watch.painted.connect(lambda: wait.end((perf_counter() - start) * 1e3))
    elapsed_ms: float = wait.until_ended(begin)
    window.live.after_ready.disconnect(expect)
    watch.deleteLater()
    return elapsed_ms


def after_view(window: MainWindow) -> PictureView:
    """Where the filtered picture is shown beside the original."""
    views = window.compare.findChildren(PictureView)
    return next(view for view in views if view.accessibleName() == "After")
