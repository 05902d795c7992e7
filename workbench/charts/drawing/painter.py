"""Drawing of a figure into a pyqtgraph plot.  Imports pyqtgraph: import it when drawing."""

from __future__ import annotations

import math
from typing import Any

from PySide6.QtGui import QFont, QFontMetricsF

from workbench.base.theme import Colors
from workbench.charts.data import figure as shown
from workbench.charts.data.figure import Drawn
from workbench.charts.drawing import drawn_bars, drawn_dots, drawn_grid
from workbench.charts.drawing.plotting import apply_theme, emptied, scaled

COMPACT_ROW = 1.35  # heights of a letter, of a bar that has its name beside it


def draw(plot: Any, figure: shown.Figure, colors: Colors, font: QFont) -> Drawn:
    """Draw everything anew into `plot`, which has its size already.

    font  of labels; ticks are a little smaller
    """
    emptied(plot)
    apply_theme(plot, colors, scaled(font, 0.92))
    match figure.body:
        case shown.Plot():
            return drawn_dots.draw(plot, figure.body, colors, font)
        case shown.Bars():
            return drawn_bars.draw(plot, figure.body, colors, font)
        case shown.Grid():
            return drawn_grid.draw(plot, figure.body, colors, font)
    return Drawn([], (0.0, 1.0), (0.0, 1.0))


def least_px(figure: shown.Figure, wide_px: float, font: QFont) -> float:
    """The height below which a figure cannot be read."""
    row = QFontMetricsF(font).height()
    match figure.body:
        case shown.Bars():
            return drawn_bars.rows(figure.body, wide_px) * row + 4 * row
        case shown.Grid():
            return drawn_grid.least_px(figure.body, wide_px, font)
    return 14 * row


def most_px(figure: shown.Figure, font: QFont) -> float:
    """The height above which a figure gains nothing."""
    match figure.body:
        case shown.Bars(names_beside=True):
            row = QFontMetricsF(font).height()
            return COMPACT_ROW * drawn_bars.rows(figure.body, 0.0) * row + 4 * row
        case shown.Grid():
            tiles_px = drawn_grid.largest_tile_px(figure.body, font) * len(figure.body.rows)
            return max(tiles_px + 6 * font.pixelSize(), least_px(figure, 0.0, font))
    return math.inf
