"""The dimensions of cells in words: one value, a whole cell, and everything that cells share."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from contextlib import suppress
from functools import cache, lru_cache
from typing import Any

from kernels import filters
from kernels.core.errors import KernelError
from kernels.sweeps.plan import DIMENSIONS, Cell
from kernels.sweeps.plan_files import OF_STEPS
from kernels.sweeps.step_words import AND, list_words, parse_step, ready_made
from workbench.model.intents import step_in_words
from workbench.model.names import filter_title, implementation_title, kind_of

NAMES = DIMENSIONS
# Label, and the field of a Cell; the last two are parameters, which no plan varies.
_TABLE = {
    "machines": ("Machine", ""),
    "pictures": ("Picture", "picture"),
    "pixel_types": ("Pixel type", "pixel_type"),
    "channels": ("Channels", "channels"),
    "sizes": ("Image size", ""),
    "counts": ("Pictures", "count"),
    "lists": ("Steps", "list"),
    "filters": ("Filter", "filter"),
    "borders": ("Border", "border"),
    "ksizes": ("Kernel size", "ksize"),
    "implementations": ("Implementation", "implementation"),
    "caches": ("L2 cache", "cache"),
    "devices": ("Devices", "devices"),
    "blocks": ("Block", "block_xy"),
    "sigma": ("σ", "sigma"),
    "amount": ("Amount", "amount"),
}
_COUNTED = {"channels": "channel", "devices": "GPU", "counts": "picture"}
_SORTED = ("channels", "counts", "devices", "ksizes")
_SAID = ("mix=", "disk=")  # by `step_in_words`
_BEFORE = {"borders": "border ", "blocks": "blocks "}  # a value that stands alone
WORK = ("lists", "filters", "ksizes")
# Dimensions that a cell's name contains only where they vary.
ASIDE = ("sigma", "amount", "borders", "channels", "pixel_types", "counts", "caches", "devices")


def of(cell: Cell, name: str) -> Any:
    """A cell's value of a dimension; None where it has no choice of it."""
    if name == "devices" and kind_of(cell.implementation) == "cpu":
        return None
    if cell.list and name in OF_STEPS:
        return None
    if name == "amount" and cell.filter not in _with_amount():
        return None
    return (cell.width, cell.height) if name == "sizes" else getattr(cell, _TABLE[name][1])


@cache
def _with_amount() -> set[str]:
    return {each.key for each in filters.all_filters() if filters.has_parameter(each, "amount")}


def label(name: str) -> str:
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
        case "lists":
            return list_title(value)
        case "caches":
            return f"{value} L2"
        case "sigma":
            return "default σ" if value is None else f"σ {value:g}"
        case "amount":
            return f"amount {value:g}"
    return f"{value} {_COUNTED[name]}{'s' if value > 1 else ''}" if name in _COUNTED else str(value)


@lru_cache(maxsize=256)
def list_name(words: str) -> str:
    """The name of a list that comes along, "sketch", else its steps; either may stand in a plan."""
    if not words:
        return "one filter"
    return next((key for key in ready_made() if list_words(key) == words), words)


@lru_cache(maxsize=256)
def list_title(words: str) -> str:
    """The name of a list that comes along, else its steps: "Gaussian blur 5×5 ▸ Sharpen 3×3"."""
    name = list_name(words)
    with suppress(KernelError):  # it is no step, or of another version
        steps = [(step_in_words(parse_step(e)), *e.split(",")[1:]) for e in name.split(AND)]
        return " ▸ ".join(", ".join(w for w in e if not w.startswith(_SAID)) for e in steps)
    return name


def where(cell: Cell, names: Iterable[str]) -> str:
    """Say a cell's values of some dimensions: "1024² with 3×3", "Gaussian blur 3×3, 32×8"."""
    said = ""
    for name in names:
        if (value := of(cell, name)) not in (None, ""):
            gap = ", "
            if name == "ksizes":
                gap = " " if said.endswith(in_words("filters", cell.filter)) else " with "
            said += f"{gap if said else ''}{in_words(name, value)}"
    return said


def values_of(cells: Iterable[Cell], name: str) -> set[Any]:
    """The values of a dimension among `cells`; of σ, None is one: the filter's default."""
    values = {of(cell, name) for cell in cells}
    return values if name == "sigma" else values - {None}


def held_fixed(cells: Collection[Cell], varied: Collection[str] = ()) -> str:
    """Name all that cells share: "Gaussian blur 5×5, 1 channel float32, border clamp, cold L2".

    varied  dimensions that are left out
    """
    said = dict.fromkeys(_TABLE, "")
    for name in {*NAMES, "sigma", "amount"} - {*varied}:
        values = values_of(cells, name)
        only = values.pop() if len(values) == 1 else None
        if only not in (None, "") and not (name in ("counts", "devices") and only == 1):
            said[name] = f"{_BEFORE.get(name, '')}{in_words(name, only)}"
    parts = (
        f"{said['lists']}{said['filters']} {said['ksizes']}".strip(),
        *(said[name] for name in ("sigma", "amount", "sizes", "pictures")),
        f"{said['channels']} {said['pixel_types']}".strip(),
        *(said[name] for name in ("counts", "borders", "blocks", "caches", "devices")),
    )
    return ", ".join(filter(None, parts))


def varied_of(cells: Iterable[Cell]) -> frozenset[str]:
    """Names in ASIDE whose values differ among `cells`."""
    cells = tuple(cells)
    return frozenset(name for name in ASIDE if len(values_of(cells, name)) > 1)


def cell_in_words(cell: Cell, varied: Collection[str] = ()) -> str:
    """Format a cell: "Gaussian blur 5×5 · Shared-memory tile 32×8 · noise 1024²".

    varied  names in ASIDE that are added: " · border wrap, 3 channels"
    """
    how = f"{implementation_title(cell.implementation)} {cell.block_in_words}".strip()
    values = ((name, of(cell, name)) for name in ASIDE if name in varied)
    aside = ", ".join(
        f"{_BEFORE.get(name, '')}{in_words(name, value)}"
        for name, value in values
        if value is not None or name == "sigma"
    )
    return " · ".join(filter(None, (where(cell, WORK), how, cell_name(cell), aside)))


def cell_name(cell: Cell) -> str:
    """Name of the picture of `cell`: "noise 1024²"."""
    return f"{cell.picture} {cell.size_in_words}"
