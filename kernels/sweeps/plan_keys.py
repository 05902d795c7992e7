"""Keys of plans as people write them in TOML, each with its reader and its writer."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, get_args

from kernels import filters
from kernels.core.borders import BORDERS
from kernels.core.errors import BadJobError, PlanFileError, hint_of
from kernels.core.job import PIXEL_TYPES, Sampling
from kernels.core.nonlinear import MAX_KSIZE
from kernels.core.plain_data import SIMPLE, plain_text
from kernels.core.sampling import SWEEP_SAMPLING
from kernels.core.timing import Cache
from kernels.engine.auto import AUTO
from kernels.engine.engine import all_implementations
from kernels.filters import custom
from kernels.filters.parameters import AMOUNT, SIGMA, Parameter
from kernels.rungs.own_kernels import is_own
from kernels.sweeps.plan import PICTURE_KINDS, Matrix

Reader = Callable[[str, Any], Any]  # key, value as TOML has it -> value as Plan has it

MAX_SIDE = 99_999
MAX_BLOCK = 1024
MAX_PICTURES = 10_000
MAX_DEVICES = 64
MAX_NUMBER = 1_000_000_000_000
MAX_SECONDS = 86_400.0


def known_name(what: str, value: Any, known: Sequence[str], otherwise: str = "") -> str:
    """One of `known`.  Raises PlanFileError, with the nearest of them."""
    if value in known:
        return str(value)
    hint = hint_of(str(value), known, otherwise)
    raise PlanFileError(f"There is no {what} {shown(value)}; {hint}")


def _reader(allowed: str, convert: Callable[[Any], Any]) -> Reader:
    """A reader by `convert`, which raises a ValueError for all but `allowed`."""

    def read(key: str, value: Any) -> Any:
        try:
            return convert(value)
        except ValueError:
            raise PlanFileError(f"{key} must be {allowed}, not {shown(value)}.") from None

    return read


def shown(value: Any) -> str:
    return f"{value!r}" if len(repr(value)) <= 60 else f"{repr(value)[:60]}…"


def _holds(is_right: bool) -> None:
    if not is_right:
        raise ValueError


def number(kind: type, low: float, high: float, *, zero_is_none: bool = False) -> Reader:
    def convert(value: Any) -> Any:
        found = SIMPLE[kind](value)
        _holds(low <= found <= high and math.isfinite(found))
        return None if zero_is_none and found == 0 else found

    name = "a whole number" if kind is int else "a number"
    return _reader(f"{name} from {low:,g} to {high:,.15g}", convert)


def _ksize(value: Any) -> int:
    _holds(type(value) is int and value % 2 == 1 and 1 <= value <= MAX_KSIZE)
    return int(value)


def _pair(value: Any, most: int) -> tuple[int, int]:
    found = re.fullmatch(r"(\d{1,5})\s*[xX×*]\s*(\d{1,5})", plain_text(value))
    x, y = map(int, found.groups()) if found else (0, 0)
    _holds(1 <= x <= most and 1 <= y <= most)
    return x, y


def _size(value: Any) -> tuple[int, int]:
    return _pair(f"{value}x{value}" if type(value) is int else value, MAX_SIDE)


def _words(value: Any) -> str:
    _holds(bool(plain_text(value).strip()))
    return plain_text(value)


def one_of(names: Callable[[], Sequence[str]]) -> Reader:
    """A reader of one of `names`, which is called late: making the lists reads folders."""
    return lambda key, value: known_name(key, value, names())


def _picture(key: str, value: Any) -> str:
    if isinstance(value, str) and re.search(r"[^.\s]\.\w+$", value):  # a file's name
        return value
    return known_name(key, value, PICTURE_KINDS, ", or a file such as photo.png")


def _implementation(key: str, value: Any) -> str:
    if isinstance(value, str) and is_own(value):
        return plain_text(value)
    keys = [*(each.key for each in all_implementations()), AUTO.key]
    return known_name(key, value, keys, ", or a file such as mine.cu")


def _matrix(key: str, value: Any) -> Matrix:
    """Weights from rows of numbers: a list of lists, or the text that --weights takes."""
    if isinstance(value, list) and all(isinstance(row, list) for row in value):
        value = "; ".join(" ".join(map(str, row)) for row in value)
    try:
        return custom.parse(_text(key, value))
    except BadJobError as error:
        raise PlanFileError(f"{key}: {error}") from None


_text, truth = _reader("a text in quotes", plain_text), _reader("true or false", SIMPLE[bool])
# The fields of Sampling but its cache, which is a dimension; 0 stands for None, which TOML lacks.
SAMPLING_KEYS: dict[str, Reader] = {
    "max_samples": number(int, 1, MAX_NUMBER),
    "max_seconds": number(float, 0, MAX_SECONDS),
    "check": truth,
    "check_taps": number(int, 0, MAX_NUMBER, zero_is_none=True),
    "min_samples": number(int, 1, MAX_NUMBER),
    "noise": number(float, 0, MAX_SECONDS, zero_is_none=True),
    "warmups": number(int, 0, MAX_NUMBER),
    "warmup_seconds": number(float, 0, MAX_SECONDS),
}


def _sampling(_key: str, data: Any) -> Sampling:
    if not isinstance(data, dict):
        raise PlanFileError("sampling is a table: write [sampling], and its keys below.")
    known = tuple(SAMPLING_KEYS)
    found = {
        known_name("key of [sampling]", name, known): SAMPLING_KEYS[name](name, value)
        for name, value in data.items()
    }
    sampling = replace(SWEEP_SAMPLING, **found)
    if sampling.min_samples > sampling.max_samples:
        raise PlanFileError(
            f"min_samples, {sampling.min_samples}, is more than max_samples, "
            f"{sampling.max_samples}."
        )
    return sampling


def _sampling_data(sampling: Sampling) -> dict[str, Any]:
    """The values that differ from the usual sampling."""
    values = {name: getattr(sampling, name) for name in SAMPLING_KEYS}
    return {
        name: 0 if value is None else value
        for name, value in values.items()
        if value != getattr(SWEEP_SAMPLING, name)
    }


@dataclass(frozen=True, slots=True)
class PlanKey:
    """A key of a plan's TOML."""

    name: str
    read: Reader  # makes Plan's value of TOML's, or raises PlanFileError
    write: Callable[[Any], Any] = lambda value: value  # makes TOML's value of Plan's

    @classmethod
    def of(cls, parameter: Parameter) -> PlanKey:
        kind = int if type(parameter.default) is int else float
        return cls(parameter.name, number(kind, parameter.low or 0, parameter.high or 0))


# Every field of Plan but own_texts -> its key, in the order in which they are written.
PLAN_KEYS = {
    "title": PlanKey("title", _reader("a few words", _words)),
    "source": PlanKey("source", _text),
    "table": PlanKey("table", _text),
    "note": PlanKey("note", _text),
    "implementations": PlanKey("implementation", _implementation),
    "sizes": PlanKey(
        "size",
        _reader(f'a side such as 512, or "640x480", to {MAX_SIDE:,} pixels', _size),
        lambda size: size[0] if size[0] == size[1] else "{}x{}".format(*size),
    ),
    "ksizes": PlanKey("kernel_size", _reader(f"an odd number from 1 to {MAX_KSIZE}", _ksize)),
    "blocks": PlanKey(
        "block",
        _reader(
            f'threads such as "32x8", to {MAX_BLOCK} each way',
            lambda value: _pair(value, MAX_BLOCK),
        ),
        lambda block: "{}x{}".format(*block),
    ),
    "lists": PlanKey("list", _text),  # which `plan_files` reads further
    "filters": PlanKey("filter", one_of(lambda: [each.key for each in filters.all_filters()])),
    "sigma": PlanKey.of(SIGMA),
    "amount": PlanKey.of(AMOUNT),
    "matrix": PlanKey(
        "matrix", _matrix, lambda rows: "; ".join(" ".join(map(repr, row)) for row in rows)
    ),
    "borders": PlanKey("border", one_of(lambda: BORDERS)),
    "pictures": PlanKey("picture", _picture),
    "channels": PlanKey("channels", number(int, 1, 4)),
    "pixel_types": PlanKey("pixel_type", one_of(lambda: PIXEL_TYPES)),
    "counts": PlanKey("count", number(int, 1, MAX_PICTURES)),
    "caches": PlanKey("cache", one_of(lambda: get_args(Cache))),
    "devices": PlanKey("devices", number(int, 1, MAX_DEVICES)),
    "transfers": PlanKey("transfers", truth),
    "tolerance": PlanKey("tolerance", number(float, 0, math.inf)),
    "cell_seconds": PlanKey("cell_seconds", number(float, 0.001, MAX_SECONDS)),
    "sampling": PlanKey("sampling", _sampling, _sampling_data),
}


KEYS = {field: key.name for field, key in PLAN_KEYS.items()}


def toml(value: Any) -> str:
    """A text, a number, a list of them, true or false as TOML."""
    return json.dumps(value, ensure_ascii=False)  # TOML writes texts, numbers and lists likewise
