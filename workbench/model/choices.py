"""A State's choices as plain data, for the settings file and the inside of a screenshot."""

from __future__ import annotations

from dataclasses import fields, replace
from reprlib import repr as short_repr
from typing import Any

from kernels.core.errors import KernelError
from kernels.core.job import MAX_STEPS
from kernels.engine.auto import AUTO
from kernels.rungs.own_kernels import is_own
from kernels.sweeps.step_words import PARAMETERS, made_filter
from workbench.model.intents import Changes, with_filter
from workbench.model.state import FACTS, State, Step, is_implementation, or_none

TEXT = "text_sha256"  # beside choices: of a user kernel, whose file changes
# All fields but the picture and its levels, which belong to it.
OF_FILTER = ("filter", "ksize", *PARAMETERS)
OF_STEP = tuple(each.name for each in fields(Step) if each.name != "own_kernel")
ALONE: Changes = {
    **{"before": (), "after": (), "mix": 1.0, "is_on": True, "is_rounded": False},
    "region": None,
}
LOST = object()
NAMES = tuple(name for name, facts in FACTS.items() if facts.check is not None)

KEYS = {*NAMES, *(facts.older_key for facts in FACTS.values() if facts.older_key)}


def to_data(state: State) -> dict[str, Any]:
    """Choices by the names of their fields, fit for JSON."""
    return as_data({name: getattr(state, name) for name in NAMES})


def as_data(changes: Changes) -> dict[str, Any]:
    """Changes to a State as `from_data` reads them, without an implementation nobody chose."""
    left_out = "implementation" if changes.get("chosen_implementation", "") is None else ""
    return {name: _plain(value) for name, value in changes.items() if name != left_out}


def _plain(value: Any) -> Any:
    """A value fit for JSON; of a step all but the text of a user kernel."""
    if _are_steps(value):
        return [{name: getattr(step, name) for name in OF_STEP} for step in value]
    return value


def _are_steps(value: Any) -> bool:
    return isinstance(value, tuple) and bool(value) and isinstance(value[0], Step)


def _read_steps(value: Any) -> tuple[Step, ...]:
    """Steps as `_plain` wrote them; raises TypeError, ValueError or KeyError.

    A user kernel's text is not there: what runs in its place is chosen anew.
    """
    steps: list[Step] = []
    if not isinstance(value, list | tuple):
        raise TypeError(value)
    for each in value:
        given = {name: _tuples(each[name]) for name in OF_STEP if name in each}
        step = replace(Step(each["filter"], implementation=AUTO.key), **given)
        if is_own(step.implementation):
            step = replace(step, implementation=AUTO.key, chosen_implementation=None)
        is_known = or_none(is_implementation)(step.chosen_implementation)
        if not (is_known and _has_filter(step)):
            raise ValueError(each)
        steps.append(step)
    return tuple(steps)


def to_settings(state: State) -> dict[str, Any]:
    """Choices that the next start takes up; of what nobody chose to run on only `auto`.

    The part of the picture is not among them: it belongs to that.
    """
    state = replace(state, **dict(state.aside))
    data, chosen = to_data(state), state.chosen_implementation
    del data["implementation"], data["region"]
    chosen = AUTO.key if chosen is None and state.implementation == AUTO.key else chosen
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
            if key not in data or check is None:
                continue
            read = _read_steps if name in ("before", "after") else _tuples
            if check(value := read(data[key])):
                changes[name] = value
        except (TypeError, ValueError, KeyError, OverflowError, AttributeError):
            continue
    changes = _fitting(changes, state)
    lost = [
        f"{FACTS[name].label} {short_repr(data[key])}"
        for name, key in given.items()
        if key in data and not _is_kept(changes.get(name, LOST), data[key])
    ]
    if "filter" in changes:
        changes |= {name: value for name, value in alone(state).items() if name not in data}
    return changes, lost


def alone(state: State) -> Changes:
    """Changes that make one whole step of the selected one, as a filter without steps means."""
    return {name: value for name, value in ALONE.items() if getattr(state, name) != value}


def _is_kept(value: Any, given: Any) -> bool:
    if not _are_steps(value):
        return value in (given, _tuples(given))
    pairs = zip(_tuples(given), _plain(value), strict=True)
    return all(then.items() <= now.items() for then, now in pairs)


def _fitting(changes: Changes, state: State) -> Changes:
    """Changes with a size that their filter takes, or without all that makes weights.

    Also without the other steps, where there are too many.
    """
    if len(replace(state, **changes).steps) > MAX_STEPS:
        changes = {name: v for name, v in changes.items() if name not in ("before", "after")}
    merged = replace(state, **changes)
    sized = {**changes, "ksize": with_filter(merged, merged.filter)["ksize"]}
    rest = {name: value for name, value in changes.items() if name not in OF_FILTER}
    return next((each for each in (changes, sized) if _has_filter(replace(state, **each))), rest)


def _has_filter(step: State | Step) -> bool:
    try:
        made_filter(step)
    except (KernelError, TypeError, ValueError):
        return False
    return True


def _tuples(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _tuples(each) for name, each in value.items()}
    return tuple(_tuples(each) for each in value) if isinstance(value, list) else value
