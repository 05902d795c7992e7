"""Plans as TOML, for people to write: one key a dimension, and a value may stand for a list of one.

    title = "Shared memory against registers"
    implementation = ["shared", "register_tile"]
    size = [256, "640x480"]
    kernel_size = [3, 5, 7]
    block = ["16x16", "32x8"]
    cache = "cold"

    [sampling]
    max_samples = 50

What is left out is as `Plan` has it, but title and implementation have to be there.  The remaining
keys are those of PLAN_KEYS and of [sampling], whose names are the fields of
`kernels.core.job.Sampling`; where one of these may be None, 0 stands for that.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import tomli_w

from kernels.core.errors import PlanFileError
from kernels.core.limited_toml import LimitedTomlError, parse, text_of_small_file
from kernels.sweeps.plan import DIMENSIONS, Plan
from kernels.sweeps.plan_values import PLAN_KEYS, PlanKey, refuse_clashes, refuse_unknown

KEYS = {field: key.name for field, key in PLAN_KEYS.items()}
NEEDED = ("title", "implementation")
MAX_LIST = 80  # characters


def read_plan(path: Path) -> Plan:
    """Return the plan that a TOML file holds.

    Pictures that are files keep the names it has for them, which are relative to its folder.
    Raises PlanFileError.
    """
    try:
        text = text_of_small_file(path)
    except OSError as error:
        raise PlanFileError(f"{path} cannot be read ({error.strerror}).") from error
    if text is None:
        raise PlanFileError(f"{path} is not a plan: a plan is a small TOML file.")
    return plan_of(text, str(path))


def plan_of(text: str, name: str = "The plan") -> Plan:
    """Return the plan that TOML stands for; `name` is what complaints call it.

    Raises PlanFileError.
    """
    try:
        data = parse(text, name)
    except LimitedTomlError as error:
        raise PlanFileError(str(error)) from None
    try:
        return _plan(data)
    except PlanFileError as error:
        raise PlanFileError(f"{name}: {error}") from None


def as_toml(plan: Plan) -> str:
    """Return the TOML that `plan_of` makes `plan` of again, without what is as usual."""
    usual = Plan(title="", implementations=())
    data: dict[str, Any] = {}
    for field, key in PLAN_KEYS.items():
        value = getattr(plan, field)
        if key.name in NEEDED or value != getattr(usual, field):
            data[key.name] = _written(field, key, value)
    return re.sub(r"\[\n(?:    .*,\n)+\]", _on_one_line, tomli_w.dumps(data))


def _plan(data: Mapping[str, Any]) -> Plan:
    refuse_unknown(data, tuple(KEYS.values()), "key")
    if missing := [key for key in NEEDED if key not in data]:
        raise PlanFileError(
            f"{' and '.join(missing)} {'is' if len(missing) == 1 else 'are'} missing."
        )
    found = {
        field: _read(field, key, data[key.name])
        for field, key in PLAN_KEYS.items()
        if key.name in data
    }
    plan = Plan(**found)
    refuse_clashes(plan)
    return plan


def _read(field: str, key: PlanKey, value: Any) -> Any:
    if field not in DIMENSIONS:
        return key.read(key.name, value)
    listed = value if isinstance(value, list) else [value]
    if not listed:
        raise PlanFileError(f"{key.name} is an empty list; leave it out, or name a value at least.")
    return tuple(key.read(key.name, each) for each in listed)


def _written(field: str, key: PlanKey, value: Any) -> Any:
    if field not in DIMENSIONS:
        return key.write(value)
    listed = [key.write(each) for each in value]
    return listed if len(listed) != 1 else listed[0]


def _on_one_line(found: re.Match[str]) -> str:
    """Return a list that TOML's writer has put a value a line as one line, where it fits.

    Texts hold no newline: they are escaped.
    """
    values = found[0][2:-1].splitlines()
    line = f"[{' '.join(value.strip() for value in values).rstrip(',')}]"
    return line if len(line) <= MAX_LIST else found[0]
