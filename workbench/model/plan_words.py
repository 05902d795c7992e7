"""A plan in words: its title, and what it holds fixed."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

from kernels import filters
from kernels.sweeps.cell import PICTURE_KINDS, Cell
from kernels.sweeps.plan import Plan
from workbench.model import names
from workbench.model.intents import has_parameter, implementation
from workbench.model.plan_dimensions import BY_FIELD, pair


def plan_title(plan: Plan) -> str:
    """Return what varies, and for which filters: "Image size × kernel size, Gaussian blur"."""
    varied = [BY_FIELD[name].name for name in plan.varied if name in BY_FIELD]
    if not varied:
        return f"{filters.get(plan.filters[0]).title} {plan.ksizes[0]}×{plan.ksizes[0]}"
    what = " × ".join([varied[0], *(name[0].lower() + name[1:] for name in varied[1:])])
    of = ", ".join(filters.get(key).title for key in plan.filters[:2])
    return f"{what}, {of}" + (", …" if len(plan.filters) > 2 else "")


def short(plan: Plan) -> str:
    """Return a plan's title without its institution but with its table: "Image size, table 5.5"."""
    name = plan.title.split(": ", 1)[-1] if plan.source else plan.title
    name = name[0].upper() + name[1:]
    return f"{name}, table {plan.table}" if plan.table[:1].isdigit() else name


def varied_in_words(plan: Plan) -> str:
    """Return what varies, and how many values it has: "5 image sizes × 3 implementations"."""
    parts = []
    for field in plan.varied:
        noun = BY_FIELD[field].noun if field in BY_FIELD else field.removesuffix("s")
        first, of, rest = noun.partition(" of ")
        parts.append(f"{len(getattr(plan, field))} {first}s{of}{rest}")
    return " × ".join(parts)


def held_fixed(plan: Plan) -> str:
    """Return in words everything that has one value.

    As in "Gaussian blur 5×5, σ 2, border clamp, 512² pixels of noise, 3 channels uint8, blocks
    32×8, L2 cold".
    """
    chosen = [filters.get(key) for key in plan.filters]
    title = chosen[0].title if len(chosen) == 1 else ""
    ksize = f"{plan.ksizes[0]}×{plan.ksizes[0]}" if len(plan.ksizes) == 1 else ""
    sigma = any(has_parameter(each, "sigma") for each in chosen) and plan.sigma is not None
    amount = any(has_parameter(each, "amount") for each in chosen)
    on_gpu = any(implementation(key).kind == "cuda" for key in plan.implementations)
    parts = (
        f"{title} {ksize}".strip(),
        f"σ {plan.sigma:g}" if sigma else "",
        f"amount {plan.amount:g}" if amount else "",
        f"border {plan.borders[0]}" if len(plan.borders) == 1 else "",
        _picture(plan),
        _samples(plan),
        f"{plan.counts[0]} pictures" if len(plan.counts) == 1 and plan.counts[0] > 1 else "",
        f"blocks {pair(plan.blocks[0])}" if on_gpu and len(plan.blocks) == 1 else "",
        f"L2 {plan.caches[0]}" if on_gpu and len(plan.caches) == 1 else "",
        f"{plan.devices[0]} GPUs" if on_gpu and len(plan.devices) == 1 < plan.devices[0] else "",
    )
    return ", ".join(part for part in parts if part)


def fixed_choices(plan: Plan) -> dict[str, Any]:
    """Return the values of a plan that do not vary, by the names of the State's fields."""
    names = {"filters": "filter", "ksizes": "ksize", "borders": "border", "blocks": "block_xy"}
    names |= {"caches": "cache", "devices": "devices"}
    lists = {name: getattr(plan, field) for field, name in names.items()}
    fixed = {name: values[0] for name, values in lists.items() if len(values) == 1}
    return fixed | {"sigma": plan.sigma, "amount": plan.amount}


# Properties that a cell's name tells only where they vary.
ASIDE = ("sigma", "amount", "border", "channels", "pixel_type", "count", "cache", "devices")


def varied_of(cells: Iterable[Cell]) -> frozenset[str]:
    """Return the names in ASIDE whose values differ among `cells`."""
    cells = tuple(cells)
    values = {name: {getattr(each, name) for each in cells} for name in ASIDE}
    values["cache"].discard(None)  # the CPU has no choice of a cache
    return frozenset(name for name in ASIDE if len(values[name]) > 1)


def in_words(cell: Cell, varied: Collection[str] = ()) -> str:
    """Return a cell in words: "Gaussian blur 5×5 · Shared-memory tile 32×8 · noise 1024²".

    varied  names in ASIDE that are told as well: " · border wrap, 3 channels"
    """
    how = f"{names.implementation_title(cell.implementation)} {cell.block_in_words}".strip()
    what = f"{names.filter_title(cell.filter)} {cell.ksize}×{cell.ksize}"
    aside = ", ".join(filter(None, (_aside(cell, name) for name in ASIDE if name in varied)))
    return " · ".join(part for part in (what, how, cell_name(cell), aside) if part)


def cell_name(cell: Cell) -> str:
    """Return what the picture of `cell` is called: "noise 1024²"."""
    return f"{cell.picture} {cell.size_in_words}"


def _aside(cell: Cell, name: str) -> str:
    many = {"channels": cell.channels, "count": cell.count}.get(name, 0)
    texts = {
        "sigma": "default σ" if cell.sigma is None else f"σ {cell.sigma:g}",
        "amount": f"amount {cell.amount:g}",
        "border": f"border {cell.border}",
        "channels": f"{many} channel{'s' if many != 1 else ''}",
        "pixel_type": cell.pixel_type,
        "count": f"{many} picture{'s' if many != 1 else ''}",
        "cache": f"L2 {cell.cache}" if cell.cache else "",
        "devices": (cell.devices_in_words or "1 GPU") if cell.cache else "",
    }
    return texts[name]


def _picture(plan: Plan) -> str:
    kind = plan.pictures[0] if len(plan.pictures) == 1 else ""
    if kind and kind not in PICTURE_KINDS:
        return f"{kind} of {pair(plan.sizes[0])} pixels"
    size = f"{pair(plan.sizes[0])} pixels" if len(plan.sizes) == 1 else ""
    return " of ".join(part for part in (size, kind) if part)


def _samples(plan: Plan) -> str:
    count = plan.channels[0] if len(plan.channels) == 1 else 0
    channels = f"{count} channel{'s' if count > 1 else ''}" if count else ""
    pixel_type = plan.pixel_types[0] if len(plan.pixel_types) == 1 else ""
    return f"{channels} {pixel_type}".strip()
