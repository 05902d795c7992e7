"""The dimensions of a plan as charts use them: the value of a cell, its words, its order."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from kernels.sweeps.cell import Cell
from kernels.sweeps.plan import DIMENSIONS
from workbench.model.names import filter_title, implementation_title, kind_of

NAMES = DIMENSIONS
_LABELS = {
    "machines": "Machine",
    "pictures": "Picture",
    "pixel_types": "Pixel type",
    "channels": "Channels",
    "sizes": "Image size",
    "counts": "Pictures",
    "filters": "Filter",
    "borders": "Border",
    "ksizes": "Kernel size",
    "implementations": "Implementation",
    "caches": "L2 cache",
    "devices": "Devices",
    "blocks": "Block",
}
_FIELDS = {
    "pictures": "picture",
    "pixel_types": "pixel_type",
    "channels": "channels",
    "counts": "count",
    "filters": "filter",
    "borders": "border",
    "ksizes": "ksize",
    "implementations": "implementation",
    "caches": "cache",
    "devices": "devices",
    "blocks": "block_xy",
}
_SORTED = ("channels", "counts", "devices", "ksizes")


def of(cell: Cell, name: str) -> Any:
    """Return a cell's value of a dimension; None where the cell has no choice of it."""
    if name == "devices" and kind_of(cell.implementation) == "cpu":
        return None
    return (cell.width, cell.height) if name == "sizes" else getattr(cell, _FIELDS[name])


def label(name: str) -> str:
    """Return the name of a dimension, for the list to choose from."""
    return _LABELS[name]


def in_order(name: str, values: Iterable[Any]) -> tuple[Any, ...]:
    """Return numbers and sizes from small to large, all other values as they were met."""
    if name == "sizes":
        return tuple(sorted(values, key=lambda size: (size[0] * size[1], size)))
    return tuple(sorted(values)) if name in _SORTED else tuple(values)


def in_words(name: str, value: Any) -> str:
    """Return a value as people write it: 1024², 3×3, Gaussian blur, 32×8."""
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
        case "channels":
            return f"{value} channel{'s' if value > 1 else ''}"
        case "devices":
            return f"{value} GPU{'s' if value > 1 else ''}"
        case "counts":
            return f"{value} picture{'s' if value > 1 else ''}"
    return str(value)


def where(cell: Cell, names: Iterable[str]) -> str:
    """Return a cell's values of some dimensions: "1024² with 3×3", "Gaussian blur 3×3, 32×8"."""
    said = ""
    for name in names:
        if (value := of(cell, name)) is not None:
            gap = ", "
            if name == "ksizes":
                gap = " " if said.endswith(in_words("filters", cell.filter)) else " with "
            said += f"{gap if said else ''}{in_words(name, value)}"
    return said
