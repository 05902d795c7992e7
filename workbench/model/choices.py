"""A State's choices as plain data, for the settings file and the inside of a screenshot."""

from __future__ import annotations

from dataclasses import replace
from reprlib import repr as short_repr
from typing import Any

from kernels.core.errors import KernelError
from workbench.model.intents import Changes, weights_for, with_filter
from workbench.model.state import FACTS, State

TEXT = "text_sha256"  # beside choices: of a user kernel, whose file changes
# All fields but the picture and its levels, which belong to it.
OF_WEIGHTS = ("filter", "ksize", "sigma", "amount", "matrix")
LOST = object()
NAMES = tuple(name for name, facts in FACTS.items() if facts.check is not None)


def to_data(state: State) -> dict[str, Any]:
    """Choices by the names of their fields, fit for JSON."""
    return {name: getattr(state, name) for name in NAMES}


def to_settings(state: State) -> dict[str, Any]:
    """Choices that the next start takes up; an implementation only if the user chose one."""
    data, chosen = to_data(state), state.chosen_implementation
    del data["implementation"]
    return data if chosen is None else {**data, "implementation": chosen}


def from_data(data: dict[str, Any], state: State) -> Changes:
    """Valid values of `data`, of this or an earlier version, as changes to `state`."""
    return recalled(data, state)[0]


def recalled(data: dict[str, Any], state: State) -> tuple[Changes, list[str]]:
    """Changes of `from_data`, and the values that were left out, in words."""
    changes: Changes = {}
    given = {name: name if name in data else FACTS[name].older_key for name in NAMES}
    for name, key in given.items():
        check = FACTS[name].check
        try:
            if key in data and check is not None and check(value := _tuples(data[key])):
                changes[name] = value
        except (TypeError, ValueError, OverflowError):
            continue
    changes = _fitting(changes, state)
    lost = [
        f"{FACTS[name].label} {short_repr(data[key])}"
        for name, key in given.items()
        if key in data and changes.get(name, LOST) != _tuples(data[key])
    ]
    return changes, lost


def _fitting(changes: Changes, state: State) -> Changes:
    """Changes with a size that their filter takes, or without all that makes weights."""
    merged = replace(state, **changes)
    sized = {**changes, "ksize": with_filter(merged, merged.filter)["ksize"]}
    rest = {name: value for name, value in changes.items() if name not in OF_WEIGHTS}
    return next((each for each in (changes, sized) if _has_weights(replace(state, **each))), rest)


def _has_weights(state: State) -> bool:
    try:
        weights_for(state)
    except (KernelError, TypeError, ValueError):
        return False
    return True


def _tuples(value: Any) -> Any:
    """Turn the lists that JSON gives back into tuples."""
    return tuple(_tuples(each) for each in value) if isinstance(value, list) else value
