"""Frozen dataclasses as JSON and back, strictly; JSON and TOML of others within limits."""

from __future__ import annotations

import json
import math
import re
import tomllib
from collections.abc import Callable
from contextlib import suppress
from dataclasses import MISSING, fields, is_dataclass
from difflib import get_close_matches
from functools import cache, partial
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from kernels.core.errors import PlanFileError

T = TypeVar("T")
Read = Callable[[Any], Any]

MAX_WHOLE = 1 << 63  # what other programs can read, and floats can hold the product of
MAX_NAME = 80  # letters of what a damaged file calls something
NAMED_FLOATS = {"inf": math.inf, "-inf": -math.inf, "nan": math.nan}
CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\u202a-\u202e\u2066-\u2069]")
IN_WORDS: dict[Any, str] = {
    **{str: "a text", bool: "true or false", int: "a whole number", float: "a number"},
    **{dict: "an object", list: "a list"},
}


class NotPlainError(ValueError):
    """Data is not what its type asks for; in words "cell.ksize is not a whole number"."""

    def __init__(self, why: str, where: str = "") -> None:
        shown = without_controls(where.lstrip("."))
        shown = shown if len(shown) <= MAX_NAME else f"{shown[:MAX_NAME]}…"
        super().__init__(f"{shown} {why}".lstrip())
        self.why, self.where = why, where


def without_controls(text: str) -> str:
    """Return `text` without what a terminal obeys and nothing shows; lines still end."""
    return CONTROLS.sub("", text)


def to_plain(value: Any, digits: int | None = None) -> Any:
    """Return `value` as dicts, lists, texts, numbers, true, false and None.

    digits  significant ones to keep of each float; None: all
    """
    match value:
        case bool() | int() | str() | None:
            return value
        case float():
            if not math.isfinite(value):
                return "nan" if math.isnan(value) else "inf" if value > 0 else "-inf"
            return float(f"{value:.{digits}g}") if digits else float(value)
        case tuple():
            return [to_plain(each, digits) for each in value]
        case dict():
            return {name: to_plain(each, digits) for name, each in value.items()}
    return {each.name: to_plain(getattr(value, each.name), digits) for each in fields(value)}


def from_plain(kind: Callable[..., T], data: Any) -> T:
    """Return the value of type `kind` that `data` stands for.  Raises NotPlainError."""
    try:
        value: T = _reader(kind)(data)
    except RecursionError:
        raise NotPlainError("is nested too deeply") from None
    return value


@cache
def _reader(kind: Any) -> Read:
    """A reader of data as a `kind`; made once for each type."""
    if kind in SIMPLE:
        return SIMPLE[kind]
    if is_dataclass(kind):
        return _dataclass(kind)
    origin, arguments = get_origin(kind), get_args(kind)
    if origin is Literal:
        return partial(_choice, arguments)
    if origin in (Union, UnionType):
        return _any_of(arguments)
    if origin is dict and arguments[0] is str:
        return partial(_dict, _reader(arguments[1]))
    if origin is not tuple:
        raise TypeError(f"{kind} has no plain form")
    if arguments[-1] is not Ellipsis:
        return partial(_tuple, [_reader(each) for each in arguments])
    match get_args(arguments[0]):
        case (type() as key, value) if key is str and value is not Ellipsis:
            return partial(_pairs, _reader(value))  # a table that can be hashed
    return partial(_list, _reader(arguments[0]))


def _exactly(kind: type, data: Any, most: float = math.inf) -> Any:
    if type(data) is not kind or (isinstance(data, int) and abs(data) >= most):
        raise NotPlainError(f"is not {IN_WORDS[kind]}")
    return data


def plain_text(data: Any) -> str:
    """Read a text, without controls.  Raises NotPlainError."""
    return without_controls(_exactly(str, data))


def _float(data: Any) -> Any:
    if isinstance(data, str) and data in NAMED_FLOATS:
        return NAMED_FLOATS[data]
    is_exact = type(data) is int and abs(data) < 1 << 53
    return _exactly(float, float(data) if is_exact else data)


SIMPLE: dict[Any, Read] = {
    int: partial(_exactly, int, most=MAX_WHOLE),
    **{float: _float, str: plain_text, bool: partial(_exactly, bool)},
}


def _choice(choices: tuple[Any, ...], data: Any) -> Any:
    for each in choices:
        if type(data) is type(each) and data == each:
            return each
    words = ", ".join(f'"{each}"' if isinstance(each, str) else str(each) for each in choices)
    raise NotPlainError(f"is none of {words}")


def _any_of(kinds: tuple[Any, ...]) -> Read:
    """A reader of the first kind that fits; the last one's complaint says most."""
    may_be_none, known = NoneType in kinds, [each for each in kinds if each is not NoneType]
    *others, last = map(_reader, sorted(known, key=is_dataclass))

    def read(data: Any) -> Any:
        if data is None and may_be_none:
            return None
        for reader in others:
            with suppress(NotPlainError):
                return reader(data)
        return last(data)

    return read


def _dict(reader: Read, data: Any) -> dict[str, Any]:
    items = _exactly(dict, data).items()
    return {without_controls(name): _at(f".{name}", reader, each) for name, each in items}


def _pairs(reader: Read, data: Any) -> tuple[tuple[str, Any], ...]:
    return tuple(_dict(reader, data).items())


def _list(reader: Read, data: Any) -> tuple[Any, ...]:
    _exactly(list, data)
    if reader is _float and all(type(each) is float for each in data):
        return tuple(data)  # samples, of which there are very many
    return tuple(_at(f"[{place}]", reader, each) for place, each in enumerate(data))


def _tuple(readers: list[Read], data: Any) -> tuple[Any, ...]:
    if type(data) is not list or len(data) != len(readers):
        raise NotPlainError(f"is not a list of {len(readers)}")
    pairs = enumerate(zip(readers, data, strict=True))
    return tuple(_at(f"[{place}]", reader, each) for place, (reader, each) in pairs)


def _dataclass(kind: Any) -> Read:
    hints = get_type_hints(kind)
    readers = {each.name: _reader(hints[each.name]) for each in fields(kind)}
    has_none = (each for each in fields(kind) if each.default is each.default_factory is MISSING)
    needed = {each.name for each in has_none}

    def read(data: Any) -> Any:
        _exactly(dict, data)
        if unknown := data.keys() - readers.keys():
            near = get_close_matches(min(unknown), readers, 1)
            guess = "".join(f"; the nearest is {each}" for each in near)
            raise NotPlainError(f"is not known{guess}", f".{min(unknown)}")
        if missing := needed - data.keys():
            raise NotPlainError("is missing", f".{min(missing)}")
        return kind(**{name: _at(f".{name}", readers[name], each) for name, each in data.items()})

    return read


def _at(where: str, reader: Read, data: Any) -> Any:
    try:
        return reader(data)
    except NotPlainError as error:
        raise NotPlainError(error.why, where + error.where) from None


MAX_BYTES = 1 << 20  # of a file
MAX_CHARACTERS = 400_000  # weights of 127×127, the largest there are, with all their digits
MAX_DOTS = 64  # in one key: `tomllib` takes time as their square
_NAME = r"[^\s.=,\[\]{}]"
_DOTS = re.compile(rf"(?<!{_NAME})(?:{_NAME}+\s*\.\s*){{{MAX_DOTS}}}")


class LimitedTomlError(PlanFileError):
    """A text is not TOML, or beyond the limits."""


def text_of_small_file(path: Path) -> str | None:
    """Read a file that may hold TOML; None if it is too large, or no text.  Raises OSError."""
    with path.open("rb") as file:
        data = file.read(MAX_BYTES + 1)
    with suppress(UnicodeDecodeError):
        text = data.decode("utf-8-sig")
        return None if "\0" in text or len(data) > MAX_BYTES else text
    return None


def parse_toml(text: str, name: str) -> dict[str, Any]:
    """Parse TOML; raise LimitedTomlError, which calls the text `name`."""
    if len(text) > MAX_CHARACTERS:
        raise LimitedTomlError(f"{name} has more than {MAX_CHARACTERS:,} characters.")
    if _DOTS.search(text):
        raise LimitedTomlError(f"{name} has a key of {MAX_DOTS} dots or more.")
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise LimitedTomlError(f"{name} is not TOML: nested too deeply.") from None
    except ValueError as error:  # a number of too many digits is a plain one
        raise LimitedTomlError(f"{name} is not TOML: {str(error).partition(';')[0]}.") from None


def table_beside(module: str) -> dict[str, Any]:
    """Read the TOML file that lies beside a module; `module` is its `__file__`."""
    path = Path(module).with_suffix(".toml")
    return parse_toml(path.read_text("utf-8"), path.name)


_PLAIN = (str, int, float, NoneType)  # bool is an int
MAX_DEPTH = 64  # values within each other; what this program writes has seven


def parse_json(text: bytes) -> Any:
    """Parse JSON; raise ValueError if it is none, or too deeply nested for Python's stack."""
    try:
        value = json.loads(text)
    except RecursionError:
        raise ValueError("nested too deeply") from None
    level = [value]
    for _ in range(MAX_DEPTH):
        lists = (each.values() if isinstance(each, dict) else each for each in level)
        level = [inner for each in lists if not isinstance(each, _PLAIN) for inner in each]
        if not level:
            return value
    raise ValueError("nested too deeply")
