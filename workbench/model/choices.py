"""A State's choices as plain data, for the settings file and the inside of a screenshot."""

from __future__ import annotations

from typing import Any

from kernels import filters
from kernels.core.errors import KernelError
from workbench.model.intents import Changes
from workbench.model.state import FACTS, State

TEXT = "text_sha256"  # beside choices: of a kernel of the user's own, whose file changes
# All fields but the picture and its levels, which belong to it.
NAMES = tuple(name for name, facts in FACTS.items() if facts.check is not None)


def to_data(state: State) -> dict[str, Any]:
    """Return the choices by the names of their fields, fit for JSON."""
    return {name: getattr(state, name) for name in NAMES}


def to_settings(state: State) -> dict[str, Any]:
    """Return the choices that the next start takes up.

    Includes an implementation only if the user chose one, so that a GPU is used once there is one.
    """
    data, chosen = to_data(state), state.chosen_implementation
    del data["implementation"]
    return data if chosen is None else {**data, "implementation": chosen}


def from_data(data: dict[str, Any], state: State) -> Changes:
    """Return those values of `data` that make sense, as changes to `state`.

    Files outlive versions: a filter or an implementation may no longer exist, and a field may have
    had another name.  Values that do not fit together are dropped as a whole.
    """
    changes: Changes = {}
    for name in NAMES:
        key = name if name in data else FACTS[name].older_key
        try:
            if key in data and _makes_sense(name, value := _tuples(data[key])):
                changes[name] = value
        except (TypeError, ValueError, OverflowError):
            continue
    return changes if _fits_together(changes, state) else {}


def _makes_sense(name: str, value: Any) -> bool:
    check = FACTS[name].check
    return check is not None and check(value)


def _fits_together(changes: Changes, state: State) -> bool:
    """Return whether the chosen filter accepts the size and the numbers that come with it."""
    merged = {name: changes.get(name, getattr(state, name)) for name in NAMES}
    try:
        filters.get(merged["filter"]).weights(
            merged["ksize"], sigma=merged["sigma"], amount=merged["amount"], matrix=merged["matrix"]
        )
    except (KernelError, TypeError, ValueError):
        return False
    return True


def _tuples(value: Any) -> Any:
    """Return `value` with tuples for the lists that JSON gives back."""
    return tuple(_tuples(each) for each in value) if isinstance(value, list) else value
