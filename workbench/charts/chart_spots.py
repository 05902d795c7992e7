"""Places of a plot that say something to whoever points there, and lead to a cell."""

from __future__ import annotations

from typing import NamedTuple

from kernels.sweeps.cell import Cell


class Spot(NamedTuple):
    """In the plot's coordinates.

    box  left, low, right, high of a bar or a tile; None: a mark at x, y
    """

    x: float
    y: float
    text: str
    cell: Cell | None = None
    box: tuple[float, float, float, float] | None = None


class Drawn(NamedTuple):
    """What became of drawing a figure.

    x, y      what the plot shows from where to where
    can_zoom  whether to look closer makes sense
    """

    spots: list[Spot]
    x: tuple[float, float]
    y: tuple[float, float]
    can_zoom: bool = False
