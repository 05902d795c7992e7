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

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from typing import Any, get_args

import tomli_w

from kernels import filters
from kernels.core.borders import BORDERS
from kernels.core.errors import BadJobError, PlanFileError
from kernels.core.job import MAX_KSIZE, PIXEL_TYPES, Sampling
from kernels.core.plain_data import (
    LimitedTomlError,
    parse_toml,
    text_of_small_file,
    without_controls,
)
from kernels.core.sampling import SWEEP_SAMPLING
from kernels.core.timing import Cache
from kernels.engine.engine import all_implementations
from kernels.filters import custom
from kernels.filters.parameters import AMOUNT, SIGMA, Parameter
from kernels.rungs.own_kernels import is_own
from kernels.sweeps.plan import DIMENSIONS, PICTURE_KINDS, Matrix, Plan

Reader = Callable[[str, Any], Any]  # key, value as TOML has it -> value as Plan has it

MAX_SIDE = 99_999
MAX_BLOCK = 1024
MAX_PICTURES = 10_000
MAX_DEVICES = 64
MAX_NUMBER = 1_000_000_000_000
MAX_SECONDS = 86_400.0


def _refuse_clashes(plan: Plan) -> None:
    """Raise PlanFileError unless each filter takes one of the sizes, and each size has a filter.

    Other pairs become cells with the reason why they cannot run.
    """
    takes: dict[str, Sequence[int]] = {key: filters.get(key).sizes for key in plan.filters}
    if (plan.matrix is None) == ("custom" in plan.filters):
        raise PlanFileError(
            'The filter "custom" needs a matrix, such as matrix = "0 1 0; 1 -4 1; 0 1 0", and no '
            "other takes one."
        )
    if plan.matrix is not None:
        takes["custom"] = (len(plan.matrix),)
    for key, sizes in takes.items():
        if not any(ksize in sizes for ksize in plan.ksizes):
            listed = ", ".join(map(str, plan.ksizes))
            raise PlanFileError(f"The filter {key} takes none of the kernel sizes {listed}.")
    for ksize in plan.ksizes:
        if not any(ksize in sizes for sizes in takes.values()):
            raise PlanFileError(f"None of the filters takes the kernel size {ksize}.")


def _refuse_unknown(data: Mapping[str, Any], known: tuple[str, ...], what: str) -> None:
    for name in data:
        if name not in known:
            near = get_close_matches(name, known, n=1, cutoff=0.5)
            hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(known)}."
            raise PlanFileError(f"There is no {what} {name!r}; {hint}")


def _text(key: str, value: Any) -> str:
    if not isinstance(value, str):
        raise _refused(key, "a text in quotes", value)
    return without_controls(value)


def _title(key: str, value: Any) -> str:
    if not _text(key, value).strip():
        raise _refused(key, "a few words", value)
    return _text(key, value)


def _truth(key: str, value: Any) -> bool:
    if not isinstance(value, bool):
        raise _refused(key, "true or false", value)
    return value


def _whole(low: int, high: int = MAX_NUMBER, *, zero_is_none: bool = False) -> Reader:
    def read(key: str, value: Any) -> int | None:
        if type(value) is not int or not low <= value <= high:
            raise _refused(key, f"a whole number from {low} to {high:,}", value)
        return None if zero_is_none and value == 0 else value

    return read


def _number(low: float, high: float, *, zero_is_none: bool = False) -> Reader:
    def read(key: str, value: Any) -> float | None:
        if type(value) not in (int, float) or not low <= value <= high or not math.isfinite(value):
            raise _refused(key, f"a number from {low:g} to {high:g}", value)
        return None if zero_is_none and value == 0 else float(value)

    return read


def _parameter(parameter: Parameter) -> Reader:
    assert parameter.low is not None
    assert parameter.high is not None
    return _number(parameter.low, parameter.high)


def _ksize(key: str, value: Any) -> int:
    if type(value) is not int or value % 2 == 0 or not 1 <= value <= MAX_KSIZE:
        raise _refused(key, f"an odd number from 1 to {MAX_KSIZE}", value)
    return value


def _size(key: str, value: Any) -> tuple[int, int]:
    pair = (value, value) if type(value) is int else _pair(value)
    if pair is None or not all(1 <= side <= MAX_SIDE for side in pair):
        words = f'a side such as 512, or "640x480", to {MAX_SIDE:,} pixels'
        raise _refused(key, words, value)
    return pair


def _block(key: str, value: Any) -> tuple[int, int]:
    pair = _pair(value)
    if pair is None or not all(1 <= threads <= MAX_BLOCK for threads in pair):
        raise _refused(key, f'threads such as "32x8", to {MAX_BLOCK} each way', value)
    return pair


def _pair(value: Any) -> tuple[int, int] | None:
    found = re.fullmatch(r"(\d{1,5})\s*[x×]\s*(\d{1,5})", value) if isinstance(value, str) else None
    return (int(found[1]), int(found[2])) if found else None


def _one_of(names: Callable[[], Sequence[str]], otherwise: str = "") -> Reader:
    """A reader of one of `names`, which is called late: making the lists reads folders."""

    def read(key: str, value: Any) -> str:
        known = names()
        if value in known:
            return str(value)
        if isinstance(value, str) and (near := get_close_matches(value, known, n=1)):
            raise PlanFileError(f"There is no {key} {value!r}; did you mean {near[0]}?")
        raise _refused(key, f"one of {', '.join(known)}{otherwise}", value)

    return read


def _picture(key: str, value: Any) -> str:
    if isinstance(value, str) and re.search(r"[^.\s]\.\w+$", value):  # a file's name
        return value
    kind: str = _one_of(lambda: PICTURE_KINDS, ", or a file such as photo.png")(key, value)
    return kind


def _implementation(key: str, value: Any) -> str:
    if isinstance(value, str) and is_own(value):
        return without_controls(value)
    keys = [each.key for each in all_implementations()]
    found: str = _one_of(lambda: keys, ", or a file such as mine.cu")(key, value)
    return found


def _matrix(key: str, value: Any) -> Matrix:
    """Weights from rows of numbers: a list of lists, or the text that --weights takes."""
    if isinstance(value, list) and all(isinstance(row, list) for row in value):
        value = "; ".join(" ".join(map(str, row)) for row in value)
    try:
        return custom.parse(_text(key, value))
    except PlanFileError:
        raise
    except BadJobError as error:
        raise PlanFileError(f"{key}: {error}") from None


def _refused(key: str, allowed: str, value: Any) -> PlanFileError:
    shown = f"{value!r}" if len(repr(value)) <= 60 else f"{repr(value)[:60]}…"
    return PlanFileError(f"{key} must be {allowed}, not {shown}.")


# The fields of Sampling but its cache, which is a dimension; 0 stands for None, which TOML lacks.
SAMPLING_KEYS: dict[str, Reader] = {
    "max_samples": _whole(1),
    "max_seconds": _number(0.0, MAX_SECONDS),
    "check": _truth,
    "check_taps": _whole(0, zero_is_none=True),
    "min_samples": _whole(1),
    "noise": _number(0.0, MAX_SECONDS, zero_is_none=True),
    "warmups": _whole(0),
    "warmup_seconds": _number(0.0, MAX_SECONDS),
}


def _sampling(_key: str, data: Any) -> Sampling:
    if not isinstance(data, dict):
        raise PlanFileError("sampling is a table: write [sampling], and its keys below.")
    _refuse_unknown(data, tuple(SAMPLING_KEYS), "key of [sampling]")
    found = {name: SAMPLING_KEYS[name](name, value) for name, value in data.items()}
    sampling = replace(SWEEP_SAMPLING, **found)
    if sampling.min_samples > sampling.max_samples:
        raise PlanFileError(
            f"min_samples, {sampling.min_samples}, is more than max_samples, "
            f"{sampling.max_samples}."
        )
    return sampling


def _sampling_data(sampling: Sampling) -> dict[str, Any]:
    """The values that differ from the usual sampling."""
    both = ((name, getattr(sampling, name)) for name in SAMPLING_KEYS)
    return {
        name: 0 if value is None else value
        for name, value in both
        if value != getattr(SWEEP_SAMPLING, name)
    }


@dataclass(frozen=True, slots=True)
class PlanKey:
    """A key of a plan's TOML.

    read   makes Plan's value of TOML's, or raises PlanFileError
    write  makes TOML's value of Plan's
    """

    name: str
    read: Reader
    write: Callable[[Any], Any] = lambda value: value


# Every field of Plan but own_texts -> its key, in the order in which they are written.
PLAN_KEYS = {
    "title": PlanKey("title", _title),
    "source": PlanKey("source", _text),
    "table": PlanKey("table", _text),
    "note": PlanKey("note", _text),
    "implementations": PlanKey("implementation", _implementation),
    "sizes": PlanKey(
        "size", _size, lambda size: size[0] if size[0] == size[1] else "{}x{}".format(*size)
    ),
    "ksizes": PlanKey("kernel_size", _ksize),
    "blocks": PlanKey("block", _block, lambda block: "{}x{}".format(*block)),
    "filters": PlanKey("filter", _one_of(lambda: [each.key for each in filters.all_filters()])),
    "sigma": PlanKey("sigma", _parameter(SIGMA)),
    "amount": PlanKey("amount", _parameter(AMOUNT)),
    "matrix": PlanKey(
        "matrix", _matrix, lambda rows: "; ".join(" ".join(map(repr, row)) for row in rows)
    ),
    "borders": PlanKey("border", _one_of(lambda: BORDERS)),
    "pictures": PlanKey("picture", _picture),
    "channels": PlanKey("channels", _whole(1, 4)),
    "pixel_types": PlanKey("pixel_type", _one_of(lambda: PIXEL_TYPES)),
    "counts": PlanKey("count", _whole(1, MAX_PICTURES)),
    "caches": PlanKey("cache", _one_of(lambda: get_args(Cache))),
    "devices": PlanKey("devices", _whole(1, MAX_DEVICES)),
    "transfers": PlanKey("transfers", _truth),
    "tolerance": PlanKey("tolerance", _number(0.0, math.inf)),
    "cell_seconds": PlanKey("cell_seconds", _number(0.001, MAX_SECONDS)),
    "sampling": PlanKey("sampling", _sampling, _sampling_data),
}


KEYS = {field: key.name for field, key in PLAN_KEYS.items()}
NEEDED = ("title", "implementation")
MAX_LIST = 80  # characters


def read_plan(path: Path) -> Plan:
    """Read a plan from a TOML file, with pictures as it names them.  Raises PlanFileError."""
    try:
        text = text_of_small_file(path)
    except OSError as error:
        raise PlanFileError(f"{path} cannot be read ({error.strerror}).") from error
    if text is None:
        raise PlanFileError(f"{path} is not a plan: a plan is a small TOML file.")
    return plan_of(text, str(path))


def plan_of(text: str, name: str = "The plan") -> Plan:
    """Parse a plan's TOML, which complaints call `name`.  Raises PlanFileError."""
    try:
        data = parse_toml(text, name)
    except LimitedTomlError as error:
        raise PlanFileError(str(error)) from None
    try:
        _refuse_unknown(data, tuple(KEYS.values()), "key")
        if missing := [key for key in NEEDED if key not in data]:
            raise PlanFileError(f"{' and '.join(missing)} must be there.")
        found = {
            field: _read(field, key, data[key.name])
            for field, key in PLAN_KEYS.items()
            if key.name in data
        }
        plan = Plan(**found)
        _refuse_clashes(plan)
        return plan
    except PlanFileError as error:
        raise PlanFileError(f"{name}: {error}") from None


def as_toml(plan: Plan) -> str:
    """Write `plan` as TOML, without the values that are as usual."""
    usual = Plan(title="", implementations=())
    data: dict[str, Any] = {}
    for field, key in PLAN_KEYS.items():
        value = getattr(plan, field)
        if key.name not in NEEDED and value == getattr(usual, field):
            continue
        if field in DIMENSIONS:
            listed = [key.write(each) for each in value]
            data[key.name] = listed if len(listed) != 1 else listed[0]
        else:
            data[key.name] = key.write(value)
    return re.sub(r"\[\n(?:    .*,\n)+\]", _on_one_line, tomli_w.dumps(data))


def _read(field: str, key: PlanKey, value: Any) -> Any:
    if field not in DIMENSIONS:
        return key.read(key.name, value)
    listed = value if isinstance(value, list) else [value]
    if not listed:
        raise PlanFileError(f"{key.name} is an empty list; leave it out, or name a value at least.")
    return tuple(key.read(key.name, each) for each in listed)


def _on_one_line(found: re.Match[str]) -> str:
    """Join a list that TOML's writer broke into lines, if it fits on one; texts hold no newline."""
    values = found[0][2:-1].splitlines()
    line = f"[{' '.join(value.strip() for value in values).rstrip(',')}]"
    return line if len(line) <= MAX_LIST else found[0]


FOLDER = Path(__file__).parent / "presets"


@dataclass(frozen=True, slots=True)
class Preset:
    """A plan that comes with the program.

    key: the file's name without its number, "camerino_image_size".
    """

    key: str
    plan: Plan


@cache
def presets() -> tuple[Preset, ...]:
    """Every plan of the folder: those that reproduce a publication first."""
    files = sorted(FOLDER.glob("[0-9][0-9]_*.toml"))
    return tuple(Preset(path.stem.partition("_")[2], read_plan(path)) for path in files)
