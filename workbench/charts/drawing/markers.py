"""Markers in a plot."""

from __future__ import annotations

from typing import Any

import pyqtgraph as pg


class Markers(pg.ScatterPlotItem):  # type: ignore[misc]  # pyqtgraph has no types
    """A scatter plot without clicks.

    For each click pyqtgraph's own makes an object that is held by an array which the object holds.
    Python's garbage collector cannot see through NumPy's arrays, so that memory would leak.
    """

    def mouseClickEvent(self, event: Any) -> None:  # noqa: N802
        event.ignore()
