"""Checks of the values of State fields, as read from a file.

A check may raise TypeError, ValueError or OverflowError instead of returning False.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from kernels import filters
from kernels.core.errors import BadJobError
from kernels.core.job import MAX_KSIZE
from kernels.engine.auto import AUTO
from kernels.engine.engine import all_implementations
from kernels.filters.parameters import AMOUNT, SIGMA, Parameter
from kernels.rungs.own_kernels import is_own
from workbench.imaging.display_mapping import MAX_GAIN, MIN_GAIN

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


Check = Callable[[Any], bool]


def one_of(*values: Any) -> Check:
    """Return a check for one of these `values`."""
    return lambda value: value in values


def or_none(check: Check) -> Check:
    """Return `check`, which None passes as well."""
    return lambda value: value is None or check(value)


def is_filter(value: Any) -> bool:
    """Return whether `value` is a filter's key."""
    return value in [each.key for each in filters.all_filters()]


def is_implementation(value: Any) -> bool:
    """Return whether `value` is the key of something that can be chosen to run on.

    Of a kernel of the user's own it is a file's name alone, whether or not there is such a file.
    """
    if type(value) is str and is_own(value):
        return Path(value).name == value
    return value == AUTO.key or value in [each.key for each in all_implementations()]


def is_cpu_implementation(value: Any) -> bool:
    """Return whether `value` is the key of an implementation on the CPU."""
    return value in [each.key for each in all_implementations() if each.kind == "cpu"]


def is_size(value: Any) -> bool:
    """Return whether `value` is an odd size of weights."""
    return type(value) is int and 1 <= value <= MAX_KSIZE and value % 2 == 1


def is_block(value: Any) -> bool:
    """Return whether `value` is a block's (x, y) in threads."""
    return len(value) == 2 and all(type(n) is int and 1 <= n <= 1024 for n in value)


def is_device_count(value: Any) -> bool:
    """Return whether `value` is a number of GPUs, though there may be fewer here."""
    return type(value) is int and value >= 1


def is_sigma(value: Any) -> bool:
    """Return whether some filter takes `value` as its sigma."""
    return _is_in_range(value, SIGMA)


def is_amount(value: Any) -> bool:
    """Return whether some filter takes `value` as its amount."""
    return _is_in_range(value, AMOUNT)


def is_matrix(value: Any) -> bool:
    """Return whether `value` is rows of numbers that can be weights."""
    if not all(_is_number(n) for row in value for n in row):
        return False
    try:
        filters.get("custom").weights(len(value), matrix=value)
    except BadJobError:
        return False
    return True


def is_offset(value: Any) -> bool:
    """Return whether `value` is an offset, as a part of white."""
    return _is_number(value) and -1 <= value <= 1


def is_gain(value: Any) -> bool:
    """Return whether a difference can be multiplied by `value` to be shown."""
    return _is_number(value) and MIN_GAIN <= value <= MAX_GAIN


def _is_in_range(value: Any, parameter: Parameter) -> bool:
    if not _is_number(value):
        return False
    try:
        parameter.check("", value)
    except BadJobError:
        return False
    return True


def _is_number(value: Any) -> bool:
    return type(value) in (int, float)
