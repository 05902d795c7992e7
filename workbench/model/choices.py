"""A State's choices as plain data, for the settings file and the inside of a screenshot."""

from __future__ import annotations

from typing import Any, get_args

from kernels import filters
from kernels.core.borders import BORDERS
from kernels.core.errors import BadJobError, KernelError
from kernels.core.job import MAX_KSIZE, PIXEL_TYPES
from kernels.filters.parameters import AMOUNT, SIGMA, Parameter
from workbench.imaging.display_mapping import MAX_GAIN, MIN_GAIN, SIGNED_AS
from workbench.model.intents import Changes
from workbench.model.intents import choices as choosable
from workbench.model.state import DifferenceKind, Divider, Matrix, State, ViewMode

NAMES = (
    "pixel_type",
    "filter",
    "ksize",
    "free_ksize",
    "sigma",
    "amount",
    "matrix",
    "offset",
    "border",
    "implementation",
    "block_xy",
    "baseline",
    "cache",
    "view_mode",
    "signed_as",
    "divider",
    "difference",
    "gain",
)


def to_data(state: State) -> dict[str, Any]:
    """Everything but the picture, and its levels, which belong to it; fit for JSON."""
    return {name: getattr(state, name) for name in NAMES}


def to_settings(state: State) -> dict[str, Any]:
    """Return what the next start takes up: with an implementation only if the user chose one, so
    that a GPU will be used once there is one."""
    data, chosen = to_data(state), state.chosen_implementation
    del data["implementation"]
    return data if chosen is None else {**data, "implementation": chosen}


def from_data(data: dict[str, Any], state: State) -> Changes:
    """What of `data` makes sense, as changes to `state`; the rest is left as it is.

    Files outlive versions: a filter, or an implementation, may have gone since.
    """
    changes: Changes = {}
    for name in NAMES:
        try:
            if name in data and _makes_sense(name, value := _tuples(data[name])):
                changes[name] = value
        except (TypeError, ValueError, OverflowError):
            continue
    return changes if _fits_together(changes, state) else {}


def _makes_sense(name: str, value: Any) -> bool:
    match name:
        case "pixel_type":
            return value is None or value in PIXEL_TYPES
        case "filter":
            return value in [each.key for each in filters.all_filters()]
        case "ksize":
            return _is_size(value)
        case "free_ksize":
            return value is None or _is_size(value)
        case "sigma":
            return value is None or _is_in_range(value, SIGMA)
        case "amount":
            return _is_in_range(value, AMOUNT)
        case "matrix":
            return all(type(n) in (int, float) for row in value for n in row) and _is_drawn(value)
        case "offset":
            return type(value) in (int, float) and -1 <= value <= 1
        case "border":
            return value in BORDERS
        case "implementation" | "baseline":
            return value in [
                each.key for each in choosable() if name == "implementation" or each.kind == "cpu"
            ]
        case "block_xy":
            return len(value) == 2 and all(type(n) is int and 1 <= n <= 1024 for n in value)
        case "cache":
            return value in ("cold", "warm")
        case "view_mode":
            return value in get_args(ViewMode)
        case "signed_as":
            return value in SIGNED_AS
        case "divider":
            return value in get_args(Divider)
        case "difference":
            return value in get_args(DifferenceKind)
        case "gain":
            number = type(value) in (int, float)
            return value is None or (number and MIN_GAIN <= value <= MAX_GAIN)
    return False


def _is_size(value: Any) -> bool:
    return type(value) is int and 1 <= value <= MAX_KSIZE and value % 2 == 1


def _is_in_range(value: Any, parameter: Parameter) -> bool:
    """Whether some filter could take `value`, be it the chosen one or not."""
    if type(value) not in (int, float):
        return False
    try:
        parameter.check("", value)
    except BadJobError:
        return False
    return True


def _is_drawn(matrix: Matrix) -> bool:
    try:
        filters.get("custom").weights(len(matrix), matrix=matrix)
    except BadJobError:
        return False
    return True


def _fits_together(changes: Changes, state: State) -> bool:
    """Whether the filter takes the size and the numbers that come with it."""
    wish = {name: changes.get(name, getattr(state, name)) for name in NAMES}
    try:
        filters.get(wish["filter"]).weights(
            wish["ksize"], sigma=wish["sigma"], amount=wish["amount"], matrix=wish["matrix"]
        )
    except (KernelError, TypeError, ValueError):
        return False
    return True


def _tuples(value: Any) -> Any:
    """JSON gives lists back for tuples."""
    return tuple(_tuples(each) for each in value) if isinstance(value, list) else value
