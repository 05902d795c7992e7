"""Facts about State fields that their types do not tell, written down beside each field."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any

KEY = "facts"


@dataclass(frozen=True, slots=True)
class FieldFacts:
    """Everything known about one field of the State but its type.

    label        what it is called in "Undo kernel size 5 → 7"
    reruns       whether a change of it asks for another result
    check        whether a value read from a file makes sense; None: the field is not kept in files
    older_key    the key that earlier versions wrote it under
    option       the command line's option, without dashes: "size"
    is_gradual   whether it is dragged, held or typed on the way to another value
    has_words    whether a value of it can be told in a word or two
    comes_with   fields whose change brings one of this along, which then needs no mention
    is_view      whether it only says how pictures are looked at, not what is done to them
    """

    label: str
    reruns: bool = False
    check: Callable[[Any], bool] | None = None
    older_key: str = ""
    option: str = ""
    is_gradual: bool = False
    has_words: bool = True
    comes_with: tuple[str, ...] = ()
    is_view: bool = False


def about(label: str, **facts: Any) -> dict[str, FieldFacts]:
    """Return a dataclass field's metadata that hold these FieldFacts."""
    return {KEY: FieldFacts(label, **facts)}


def facts_of(state: type) -> dict[str, FieldFacts]:
    """Return the FieldFacts of the class `state`, by the field's name and in order."""
    return {each.name: each.metadata[KEY] for each in fields(state)}
