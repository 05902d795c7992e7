"""Places in a plot that have a text for the pointer, and may lead to a cell."""

from __future__ import annotations

from typing import Any, NamedTuple


class Spot(NamedTuple):
    """A place in the plot's coordinates.

    cell  what a click or Enter asks for; None: it leads nowhere
    box   left, low, right, high of a bar or a tile; None: a mark at x, y
    """

    x: float
    y: float
    text: str
    cell: Any = None
    box: tuple[float, float, float, float] | None = None


class Drawn(NamedTuple):
    """The result of drawing a figure.

    x, y      the ranges that the plot shows
    can_zoom  whether zooming in makes sense
    """

    spots: list[Spot]
    x: tuple[float, float]
    y: tuple[float, float]
    can_zoom: bool = False
