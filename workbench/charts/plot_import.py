"""The import of pyqtgraph, off the GUI thread: it takes 0.4 s, in which nothing would move.

The plots are then made there one step at a time, since each step takes as long as a frame.
"""

from __future__ import annotations

from contextlib import suppress
from threading import Thread

from PySide6.QtCore import QObject, Signal, Slot

from workbench.base.turns import Turns


class PlotImport(QObject):
    """The one import, begun when a chart is first seen, and the steps of who waited for it.

    Python waits for its thread at the end of the program.

    Signals:
        ended(): it is over; where it failed, importing again says why.
    """

    ended = Signal()
    _done = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._thread: Thread | None = None
        self.is_over = False
        self.turns = Turns()
        self._done.connect(self._end)

    def begin(self) -> None:
        """Begin unless it has."""
        if self._thread is None:
            self._thread = Thread(target=self._import, name="pyqtgraph")
            self._thread.start()

    def _import(self) -> None:
        with suppress(Exception):
            from workbench.charts.drawing import plotting  # noqa: F401
        self._done.emit()

    @Slot()
    def _end(self) -> None:
        self.is_over = True
        self.ended.emit()


plot_import = PlotImport()
