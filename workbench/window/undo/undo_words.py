"""A step in words: "kernel size 5 → 7"."""

from __future__ import annotations

from typing import Any

from workbench.files.picture_refs import PictureRef
from workbench.model.names import filter_title, implementation_title
from workbench.model.state import FACTS
from workbench.window.undo.past import Change
from workbench.window.undo.past_pictures import PastPicture

MAX_LETTERS = 24
NAMED = 2  # so many fields are named at most


def in_words(change: Change) -> str:
    """Return in words what changed, from what to what."""
    names = [name for name in FACTS if name in change.before]
    first = names[0]
    labels = [FACTS[name].label for name in names if first not in FACTS[name].comes_with]
    if len(labels) > 1:
        return " and ".join(labels) if len(labels) <= NAMED else f"{len(labels)} settings"
    if not FACTS[first].has_words:
        return labels[0]
    old, new = (_value(first, side[first]) for side in (change.before, change.after))
    return f"{labels[0]} {old} → {new}"


def _value(name: str, value: Any) -> str:
    if isinstance(value, PastPicture | PictureRef):
        return _cut(value.name)
    match name:
        case "filter":
            return filter_title(value)
        case "implementation" | "baseline":
            return "Auto" if value == "auto" else implementation_title(value)
        case "block_xy":
            return f"{value[0]}×{value[1]}"
        case "pixel_type" if value is None:
            return "as in the file"
    if value is None:
        return "auto"
    return f"{value:g}" if isinstance(value, float) else str(value)


def _cut(name: str) -> str:
    """Cut a long file name in its middle, which says the least."""
    if len(name) <= MAX_LETTERS:
        return name
    half = MAX_LETTERS // 2
    return f"{name[:half]}…{name[-half:]}"
