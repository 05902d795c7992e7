"""The dimensions of a plan as charts use them: the value of a cell, its words, its order."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from kernels.sweeps.plan import DIMENSIONS, Cell
from workbench.model.names import filter_title, implementation_title, kind_of

NAMES = DIMENSIONS
# Label, and the field of a Cell.
_TABLE = {
    "machines": ("Machine", ""),
    "pictures": ("Picture", "picture"),
    "pixel_types": ("Pixel type", "pixel_type"),
    "channels": ("Channels", "channels"),
    "sizes": ("Image size", ""),
    "counts": ("Pictures", "count"),
    "filters": ("Filter", "filter"),
    "borders": ("Border", "border"),
    "ksizes": ("Kernel size", "ksize"),
    "implementations": ("Implementation", "implementation"),
    "caches": ("L2 cache", "cache"),
    "devices": ("Devices", "devices"),
    "blocks": ("Block", "block_xy"),
}
_COUNTED = {"channels": "channel", "devices": "GPU", "counts": "picture"}
_SORTED = ("channels", "counts", "devices", "ksizes")


def of(cell: Cell, name: str) -> Any:
    """A cell's value of a dimension; None where it has no choice of it."""
    if name == "devices" and kind_of(cell.implementation) == "cpu":
        return None
    return (cell.width, cell.height) if name == "sizes" else getattr(cell, _TABLE[name][1])


def label(name: str) -> str:
    """The name of a dimension, for the list to choose from."""
    return _TABLE[name][0]


def in_order(name: str, values: Iterable[Any]) -> tuple[Any, ...]:
    """Sort numbers and sizes from small to large; all other values stay as they were met."""
    if name == "sizes":
        return tuple(sorted(values, key=lambda size: (size[0] * size[1], size)))
    return tuple(sorted(values)) if name in _SORTED else tuple(values)


def in_words(name: str, value: Any) -> str:
    """Format a value: 1024², 3×3, Gaussian blur, 32×8."""
    match name:
        case "sizes":
            return f"{value[0]}²" if value[0] == value[1] else f"{value[0]}×{value[1]}"
        case "ksizes":
            return f"{value}×{value}"
        case "blocks":
            return f"{value[0]}×{value[1]}"
        case "implementations":
            return implementation_title(value)
        case "filters":
            return filter_title(value)
        case "caches":
            return f"{value} L2"
    if name in _COUNTED:
        return f"{value} {_COUNTED[name]}{'s' if value > 1 else ''}"
    return str(value)


def where(cell: Cell, names: Iterable[str]) -> str:
    """Say a cell's values of some dimensions: "1024² with 3×3", "Gaussian blur 3×3, 32×8"."""
    said = ""
    for name in names:
        if (value := of(cell, name)) is not None:
            gap = ", "
            if name == "ksizes":
                gap = " " if said.endswith(in_words("filters", cell.filter)) else " with "
            said += f"{gap if said else ''}{in_words(name, value)}"
    return said
