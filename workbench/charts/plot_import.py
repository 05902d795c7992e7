"""The import of pyqtgraph, off the GUI thread: it takes 0.4 s, in which nothing would move.

The plots are then made there one step at a time, since each step takes as long as a frame.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from importlib import import_module
from threading import Thread
from time import perf_counter

from PySide6.QtCore import QObject, Signal, Slot

from workbench.base.turns import Turns

# All that pyqtgraph imports; of the first three it asks for every name, the others may be missing.
QT_MODULES = ("QtCore", "QtGui", "QtWidgets", "QtSvg", "QtOpenGL", "QtOpenGLWidgets", "QtTest")
STEP_S = 0.004


class PlotImport(QObject):
    """The one import, begun when a chart is first seen, and the steps of who waited for it.

    Qt's types are made in the GUI thread first.  PySide makes each when it is first asked for, and
    where two threads ask at the same time the program crashes.

    Python waits for the import's thread at the end of the program.

    Signals:
        ended(): it is over; where it failed, importing again says why.
    """

    ended = Signal()
    _done = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._types: Iterator[object] | None = None
        self.is_over = False
        self.turns = Turns()
        self._done.connect(self._end)

    def begin(self) -> None:
        """Begin unless it has."""
        if self._types is None:
            self._types = _qt_types()
            self.turns.add(self, self._make_types)

    def _make_types(self) -> None:
        """Make types for STEP_S, and begin the thread after the last."""
        assert self._types is not None
        end = perf_counter() + STEP_S
        for _ in self._types:
            if perf_counter() > end:
                self.turns.add(self, self._make_types)
                return
        Thread(target=self._import, name="pyqtgraph").start()

    def _import(self) -> None:
        with suppress(Exception):
            from workbench.charts.drawing import plotting  # noqa: F401
        self._done.emit()

    @Slot()
    def _end(self) -> None:
        self.is_over = True
        self.ended.emit()


def _qt_types() -> Iterator[object]:
    """Yield all that stands in Qt's modules; a type is made by that, which takes up to 5 ms."""
    for name in QT_MODULES:
        with suppress(ImportError):
            module = import_module(f"PySide6.{name}")
            for each in dir(module):
                yield getattr(module, each, None)  # what is wrong with it the import says


plot_import = PlotImport()
