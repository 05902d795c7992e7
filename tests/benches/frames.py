"""Measure whether the picture follows the hand: dragging, zooming and wiping, in each mode."""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Callable, Iterator
from functools import partial
from time import perf_counter

from PySide6.QtCore import QCoreApplication, QEvent, QObject, QPoint, QPointF, Qt
from PySide6.QtGui import QMouseEvent, QWheelEvent
from PySide6.QtWidgets import QWidget

from kernels.pictures import generated
from tests.benches import bench
from tests.benches.bench import BenchRow, peak_memory
from tests.benches.views import MODES
from workbench.base import numbers
from workbench.cli.draw_window import real_window, settle, wait_for_device
from workbench.imaging.pictures import Picture
from workbench.panels.compare.picture_layer import ViewTransform
from workbench.panels.compare.picture_view import PictureView
from workbench.panels.compare.wipe_view import WipeView

SIDE = 4096
SIZE = (1920, 1080)
FRAME_MS = 1000 / 60
RUNS = 200  # frames
SMOOTH, EXACT, CELLS = 0.37, 1.0, 44.0  # averaged pixels, whole ones, and numbers in them
NOTCH = 40  # a third of a common wheel's
TITLE = (
    "From an event of mouse or wheel to the end of the paint it leads to: "
    "4096×4096 RGB in a window of 1920×1080"
)

Step = Callable[[], None]


def measure(arguments: Namespace) -> Iterator[BenchRow]:
    """Measure in each mode: the picture dragged at three scales, zoomed, its divider dragged."""
    runs = arguments.runs or RUNS
    with real_window(arguments, {"implementation": "opencv"}, SIZE) as window:
        wait_for_device(window)
        samples = generated.noise(SIDE, SIDE, 3)
        settle(window, lambda: window.store.update(picture=Picture("noise", samples)))
        for mode in MODES:
            with mode.on(window) as view:
                for what, steps in _gestures(view, runs):
                    yield BenchRow(f"{mode.name}, {what}", _frames(view, steps), limit_ms=FRAME_MS)
        yield peak_memory()


def _gestures(view: PictureView, runs: int) -> Iterator[tuple[str, Iterator[Step]]]:
    for scale in (SMOOTH, EXACT, CELLS):
        yield f"drag at {numbers.percent(scale)}", _drag(view, scale, runs)
    yield "zoom", _zoom(view, runs)
    if isinstance(view, WipeView) and view.divider.isVisible():
        yield "divider", _slide(view, runs)


def _frames(view: PictureView, steps: Iterator[Step]) -> list[float]:
    """Time each step with its paint, in milliseconds.

    The first, which fetches data, is left out.  A step that paints nothing is none.
    """
    paints, elapsed = _Paints(view), []
    for step in steps:
        before, start = paints.count, perf_counter()
        step()
        QCoreApplication.processEvents()
        if paints.count > before:
            elapsed.append((perf_counter() - start) * 1e3)
    paints.deleteLater()
    return elapsed[1:]


class _Paints(QObject):
    """A counter of a widget's paints."""

    def __init__(self, widget: QWidget) -> None:
        super().__init__(widget)
        self.count = 0
        widget.installEventFilter(self)

    def eventFilter(self, _watched: QObject, event: QEvent) -> bool:  # noqa: N802
        self.count += event.type() == QEvent.Type.Paint
        return False


def _drag(view: PictureView, scale: float, runs: int) -> Iterator[Step]:
    """Drag a few pixels a frame, to the right and down and back again."""
    view.moved.emit(ViewTransform(scale, (SIDE / 2, SIDE / 2)))
    QCoreApplication.processEvents()
    start = QPointF(view.rect().center())
    _mouse(view, QEvent.Type.MouseButtonPress, start)
    for run in range(runs):
        way = runs / 2 - abs(run - runs / 2)
        at = start + QPointF(3 * way, way) * min(1, view.width() / (4 * runs))
        yield lambda at=at: _mouse(view, QEvent.Type.MouseMove, at)  # type: ignore[misc]
    _mouse(view, QEvent.Type.MouseButtonRelease, start)


def _zoom(view: PictureView, runs: int) -> Iterator[Step]:
    """Zoom from the whole picture to its pixels and back, around a place beside the middle."""
    view.moved.emit(None)
    QCoreApplication.processEvents()
    at = QPointF(view.width() * 0.4, view.height() * 0.6)
    for run in range(runs):
        delta = NOTCH if run < runs / 2 else -NOTCH
        yield lambda delta=delta: _turn_wheel(view, at, delta)  # type: ignore[misc]


def _slide(wipe: WipeView, runs: int) -> Iterator[Step]:
    """Slide from one side to the other and back."""
    wipe.moved.emit(None)
    QCoreApplication.processEvents()
    extent = wipe.height() if wipe.is_level else wipe.width()
    wipe.divider.take()
    for run in range(runs):
        along = extent * (1 - abs(2 * run / runs - 1))
        at = QPointF(wipe.width() / 2, along) if wipe.is_level else QPointF(along, 100)
        yield lambda at=at: _mouse(wipe, QEvent.Type.MouseMove, at)  # type: ignore[misc]
    _mouse(wipe, QEvent.Type.MouseButtonRelease, QPointF(1, 1))


def _mouse(view: PictureView, kind: QEvent.Type, at: QPointF) -> None:
    left, none = Qt.MouseButton.LeftButton, Qt.MouseButton.NoButton
    is_move = kind == QEvent.Type.MouseMove
    held = none if kind == QEvent.Type.MouseButtonRelease else left
    event = QMouseEvent(
        kind,
        at,
        view.mapToGlobal(at),
        none if is_move else left,
        held,
        Qt.KeyboardModifier.NoModifier,
    )
    QCoreApplication.sendEvent(view, event)


def _turn_wheel(view: PictureView, at: QPointF, delta: int) -> None:
    event = QWheelEvent(
        at,
        view.mapToGlobal(at),
        QPoint(),
        QPoint(0, delta),
        Qt.MouseButton.NoButton,
        Qt.KeyboardModifier.NoModifier,
        Qt.ScrollPhase.NoScrollPhase,
        False,
    )
    QCoreApplication.sendEvent(view, event)


main = partial(bench.main_of_window, "frames", TITLE, measure)


if __name__ == "__main__":
    sys.exit(main())
