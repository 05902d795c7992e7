"""A step of the undo stack: the fields of the State that changed, and its words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from PySide6.QtGui import QUndoCommand

from workbench.files.picture_refs import PictureRef
from workbench.model.names import filter_title, implementation_title
from workbench.model.state import FACTS
from workbench.window.undo.past_pictures import PastPicture

TOGETHER_S = 1.0  # changes of one number within this time are one step
GRADUAL = frozenset(name for name, facts in FACTS.items() if facts.is_gradual)
MAX_LETTERS = 24
NAMED = 2  # fields named in the words at most
GRADUAL_ID, NO_ID = 1, -1

Side = Mapping[str, Any]  # fields of the State


class StateStep(QUndoCommand):
    """A change of the State, which the store has made already; it applies nothing itself.

    A change of the same gradual fields soon after the last one, or while a mouse button is held,
    is merged with it.

    at_s  when it was made, by any clock
    """

    def __init__(self, before: Side, after: Side, at_s: float, *, is_held: bool = False) -> None:
        super().__init__()
        self.before, self.after = before, after
        self.at_s, self.is_held = at_s, is_held
        self.is_closed = False  # nothing is merged with it any more
        self.setText(in_words(before, after))

    def id(self) -> int:
        """Id of mergeable steps; -1 keeps others apart."""
        return GRADUAL_ID if self.before.keys() <= GRADUAL else NO_ID

    def mergeWith(self, other: QUndoCommand) -> bool:  # noqa: N802
        """Take a later change of the same number into this step; back at the start it is none."""
        assert isinstance(other, StateStep)
        is_soon = other.at_s - self.at_s < TOGETHER_S or other.is_held
        if self.is_closed or not is_soon or other.before.keys() != self.before.keys():
            return False
        self.after, self.at_s = other.after, other.at_s
        self.setText(in_words(self.before, self.after))
        self.setObsolete(self.before == self.after)
        return True


def in_words(before: Side, after: Side) -> str:
    """Format a change: "kernel size 5 → 7"."""
    names = [name for name in FACTS if name in before]
    first = names[0]
    labels = [FACTS[name].label for name in names if first not in FACTS[name].comes_with]
    if len(labels) > 1:
        return " and ".join(labels) if len(labels) <= NAMED else f"{len(labels)} settings"
    if not FACTS[first].has_words:
        return labels[0]
    old, new = (_value(first, side[first]) for side in (before, after))
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
    """Elide the middle of a long file name."""
    if len(name) <= MAX_LETTERS:
        return name
    half = MAX_LETTERS // 2
    return f"{name[:half]}…{name[-half:]}"
