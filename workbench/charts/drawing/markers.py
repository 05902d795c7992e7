"""Markers in a plot."""

from __future__ import annotations

from typing import Any

import pyqtgraph as pg


class Markers(pg.ScatterPlotItem):  # type: ignore[misc]  # pyqtgraph has no types
    """Pyqtgraph's, but deaf to clicks: for each of them it makes an object then, which is held by
    an array that the object holds, and NumPy's arrays are nothing to Python's garbage collector."""

    def mouseClickEvent(self, event: Any) -> None:  # noqa: N802
        event.ignore()
