"""The views of the window to measure, and the moment when one of them was painted."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from time import perf_counter

from PySide6.QtCore import QEvent, QObject, QTimer, Signal
from PySide6.QtWidgets import QWidget

from workbench.cli.draw_window import wait_until
from workbench.model import intents
from workbench.panels.compare.picture_view import PictureView
from workbench.window.main_window import MainWindow

POLL_MS = 5


@dataclass(frozen=True, slots=True)
class ViewMode:
    """A way to look at a picture.

    name     as printed
    view     the accessible name of the view to measure
    state    fields of State with their values
    pins     results pinned beside the newest
    panel    the open one of those on the right; "" for none
    """

    name: str
    view: str = "After"
    view_mode: str = "result"
    divider: str = "upright"
    pins: int = 0
    panel: str = ""

    @contextmanager
    def on(self, window: MainWindow) -> Iterator[PictureView]:
        """Give the view, with the window in this mode and room for pictures; then put it back."""
        before, layout = window.store.state, window.docks.places()
        for dock in window.docks.frames.values():
            dock.hide()
        if self.panel:
            window.docks.bring_forward(self.panel)
        window.store.update(view_mode=self.view_mode, divider=self.divider)
        for _ in range(self.pins):
            window.inspection.pin()
        try:
            view = named_view(window, self.view)
            wait_until(window, lambda: view.isVisible() and view.display is not None, POLL_MS)
            yield view
        finally:
            for _ in range(self.pins):
                window.inspection.unpin()
            window.store.restore(before)
            window.docks.restore_places(layout)


# The result first: what the others are compared with.
MODES = (
    ViewMode("result"),
    ViewMode("side by side", view_mode="side"),
    ViewMode("wipe", "Before and after", "wipe"),
    ViewMode("wipe down", "Before and after", "wipe", "level"),
    ViewMode("difference", "Comparison", "difference"),
    ViewMode("mismatch", "Comparison", "mismatch"),
    ViewMode("four results", view_mode="side", pins=3),
    ViewMode("this pixel", view_mode="side", panel="Pixel"),
    ViewMode("anatomy", view_mode="side", panel="Anatomy"),
    ViewMode("analysis", view_mode="side", panel="Analysis"),
)


def named_view(window: MainWindow, name: str) -> PictureView:
    """Find the view of pictures with this accessible name."""
    views = window.compare.findChildren(PictureView)
    return next(view for view in views if view.accessibleName() == name)


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
        """Announce the next paint during which `is_it` is true."""
        self._is_it = is_it

    def eventFilter(self, _watched: QObject, event: QEvent) -> bool:  # noqa: N802
        if event.type() == QEvent.Type.Paint and self._is_it():
            self._is_it = lambda: False
            QTimer.singleShot(0, self, self.painted.emit)  # once Qt is done with this paint
        return False


def ms_until_painted(window: MainWindow, view: PictureView, act: Callable[[], None]) -> float:
    """Do `act`, which requests another result, and time it until `view` has painted that.

    In milliseconds.
    """
    watch, elapsed_ms = Painted(view), list[float]()
    start, shown = 0.0, view.display

    def begin() -> None:
        nonlocal start
        start = perf_counter()
        act()

    def expect(*_: object) -> None:
        newest = window.live.newest
        if newest and newest.job.correlation.weights is intents.weights_for(window.store.state):
            watch.expect(lambda: view.display is not shown)

    signals = window.live.computed, window.live.after_ready  # the latter alone, with a new picture
    for signal in signals:
        signal.connect(expect)
    watch.painted.connect(lambda: elapsed_ms.append((perf_counter() - start) * 1e3))
    wait_until(window, lambda: bool(elapsed_ms), POLL_MS, begin)
    for signal in signals:
        signal.disconnect(expect)
    watch.deleteLater()
    return elapsed_ms[0]
