"""A step in words: "kernel size 5 → 7"."""

from __future__ import annotations

from typing import Any

from kernels import filters
from kernels.core.errors import KernelError
from workbench.files.picture_refs import PictureRef
from workbench.model.names import title_of
from workbench.window.undo.past import Change
from workbench.window.undo.past_pictures import Kept

# The first of these that changed gives a step its name; others follow by their fields' names.
LABELS = {
    "picture": "picture",
    "filter": "filter",
    "implementation": "implementation",
    "block_xy": "block shape",
    "ksize": "kernel size",
    "pixel_type": "pixel type",
    "levels": "black and white",
    "matrix": "weights",
    "offset": "offset",
    "free_ksize": "size to go back to",
    "baseline": "baseline",
    "cache": "L2 cache",
    "view_mode": "view",
    "signed_as": "signed values",
}
COMES_ALONG = {  # with what: not worth a word
    "picture": {"levels", "implementation", "chosen_implementation"},
    "filter": {"ksize", "free_ksize", "matrix", "offset"},
    "implementation": {"chosen_implementation", "block_xy"},
    "matrix": {"ksize", "offset"},
}
WITHOUT_VALUES = {"matrix", "levels"}
MAX_LETTERS = 24
NAMED = 2  # fields at most


def in_words(change: Change) -> str:
    """What was done, from what to what."""
    names = sorted(change.before, key=_rank)
    first = names[0]
    others = set(names[1:]) - COMES_ALONG.get(first, set())
    label = _label(first)
    if others:
        labels = [label, *map(_label, sorted(others, key=_rank))]
        return " and ".join(labels) if len(labels) <= NAMED else f"{len(labels)} settings"
    if first in WITHOUT_VALUES:
        return label
    old, new = (_value(first, side[first]) for side in (change.before, change.after))
    return f"{label} {old} → {new}"


def _label(name: str) -> str:
    return LABELS.get(name, name.replace("_", " "))


def _rank(name: str) -> tuple[int, str]:
    order = list(LABELS)
    return (order.index(name) if name in order else len(order), name)


def _value(name: str, value: Any) -> str:
    if isinstance(value, Kept | PictureRef):
        return _cut(value.name)
    match name:
        case "filter":
            return _filter_title(value)
        case "implementation" | "baseline":
            return "Auto" if value == "auto" else title_of(value)
        case "block_xy":
            return f"{value[0]}×{value[1]}"
        case "pixel_type" if value is None:
            return "as in the file"
    if value is None:
        return "auto"
    return f"{value:g}" if isinstance(value, float) else str(value)


def _filter_title(key: str) -> str:
    try:
        return filters.get(key).title
    except KernelError:
        return key


def _cut(name: str) -> str:
    """A long file name's middle says the least."""
    if len(name) <= MAX_LETTERS:
        return name
    half = MAX_LETTERS // 2
    return f"{name[:half]}…{name[-half:]}"
