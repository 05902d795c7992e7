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
keys are those of KEYS and of [sampling], whose names are the fields of `kernels.core.job.Sampling`;
where one of these may be None, 0 stands for that.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import fields
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import tomli_w

from kernels.core.errors import PlanFileError
from kernels.core.job import Sampling
from kernels.core.limited_toml import LimitedTomlError, parse
from kernels.core.sampling import SWEEP_SAMPLING
from kernels.sweeps import plan_values as values
from kernels.sweeps.plan import DIMENSIONS, Plan

# Every field of Plan -> its key.
KEYS = {
    "title": "title",
    "source": "source",
    "table": "table",
    "note": "note",
    "implementations": "implementation",
    "sizes": "size",
    "ksizes": "kernel_size",
    "blocks": "block",
    "filters": "filter",
    "sigma": "sigma",
    "amount": "amount",
    "matrix": "matrix",
    "borders": "border",
    "pictures": "picture",
    "channels": "channels",
    "pixel_types": "pixel_type",
    "counts": "count",
    "caches": "cache",
    "transfers": "transfers",
    "tolerance": "tolerance",
    "cell_seconds": "cell_seconds",
    "sampling": "sampling",
}
NEEDED = ("title", "implementation")
SAMPLING_KEYS = tuple(each.name for each in fields(Sampling) if each.name != "cache")
MAX_BYTES = 1 << 20
MAX_LIST = 80  # characters


def read_plan(path: Path) -> Plan:
    """Return the plan that a TOML file holds. Pictures that are files keep the names it has for
    them, which are relative to its folder. Raises PlanFileError."""
    try:
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise PlanFileError(f"{path} cannot be read ({error.strerror}).") from error
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = "\0"
    if "\0" in text or len(data) > MAX_BYTES:
        raise PlanFileError(f"{path} is not a plan: a plan is a small TOML file.")
    return plan_of(text, str(path))


def plan_of(text: str, name: str = "The plan") -> Plan:
    """Return the plan that TOML stands for; `name` is what complaints call it. Raises
    PlanFileError."""
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
    for field, key in KEYS.items():
        value = getattr(plan, field)
        if key not in NEEDED and value == getattr(usual, field):
            continue
        data[key] = _sampling_data(value) if key == "sampling" else _written(field, value)
    return re.sub(r"\[\n(?:    .*,\n)+\]", _on_one_line, tomli_w.dumps(data))


def _plan(data: Mapping[str, Any]) -> Plan:
    _refuse_unknown(data, tuple(KEYS.values()), "key")
    if missing := [key for key in NEEDED if key not in data]:
        raise PlanFileError(
            f"{' and '.join(missing)} {'is' if len(missing) == 1 else 'are'} missing."
        )
    found: dict[str, Any] = {}
    for field, key in KEYS.items():
        if key in data and key != "sampling":
            found[field] = _read(field, key, data[key])
    if "sampling" in data:
        found["sampling"] = _sampling(data["sampling"])
    plan = Plan(**found)
    values.refuse_clashes(plan)
    return plan


def _read(field: str, key: str, value: Any) -> Any:
    read = values.READERS[key]
    if field not in DIMENSIONS:
        return read(key, value)
    listed = value if isinstance(value, list) else [value]
    if not listed:
        raise PlanFileError(f"{key} is an empty list; leave it out, or name a value at least.")
    return tuple(read(key, each) for each in listed)


def _written(field: str, value: Any) -> Any:
    write = values.WRITERS.get(KEYS[field], lambda value: value)
    if field not in DIMENSIONS:
        return write(value)
    listed = [write(each) for each in value]
    return listed if len(listed) != 1 else listed[0]


def _sampling(data: Any) -> Sampling:
    if not isinstance(data, dict):
        raise PlanFileError("sampling is a table: write [sampling], and its keys below.")
    _refuse_unknown(data, SAMPLING_KEYS, "key of [sampling]")
    found = {name: getattr(SWEEP_SAMPLING, name) for name in SAMPLING_KEYS}
    found |= {name: values.sampling_value(name, value) for name, value in data.items()}
    sampling = Sampling(**found, cache=SWEEP_SAMPLING.cache)
    if sampling.min_samples > sampling.max_samples:
        raise PlanFileError(
            f"min_samples, {sampling.min_samples}, is more than max_samples, "
            f"{sampling.max_samples}."
        )
    return sampling


def _sampling_data(sampling: Sampling) -> dict[str, Any]:
    """Return what differs from the usual sampling; 0 stands for None, which TOML does not have."""
    both = ((name, getattr(sampling, name)) for name in SAMPLING_KEYS)
    return {
        name: 0 if value is None else value
        for name, value in both
        if value != getattr(SWEEP_SAMPLING, name)
    }


def _on_one_line(found: re.Match[str]) -> str:
    """Return a list that TOML's writer has put a value a line as one line, where it fits. Texts
    hold no newline: they are escaped."""
    values = found[0][2:-1].splitlines()
    line = f"[{' '.join(value.strip() for value in values).rstrip(',')}]"
    return line if len(line) <= MAX_LIST else found[0]


def _refuse_unknown(data: Mapping[str, Any], known: tuple[str, ...], what: str) -> None:
    for name in data:
        if name not in known:
            near = get_close_matches(name, known, n=1, cutoff=0.5)
            hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(known)}."
            raise PlanFileError(f"There is no {what} {name!r}; {hint}")
