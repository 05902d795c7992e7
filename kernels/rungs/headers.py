"""The header of a rung's file: TOML between `/*---` and `---*/`, read into a dataclass's types.

What is wrong with it becomes a HeaderError: one sentence with the file's name and the line.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import MISSING, dataclass, fields
from difflib import get_close_matches
from functools import cache
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from kernels.rungs.job_facts import (
    Expression,
    Template,
    WorkExpression,
    names,
    why_not_expression,
    work_names,
)

BEGIN, END = "/*---", "---*/"
MISSING_END = f"write {END} on a line of its own behind its last field"
PASSES = "passes"  # the table of tables in a header
# Fields of a pass that earlier versions read: what a user wrote then is still a header.
OBSOLETE = ("anatomy",)
PLAIN = {
    str: "text",
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    Expression: "an expression in quotes",
    WorkExpression: "an expression in quotes",
    Template: "text",
}

# The fault of such a text; "" if there is none.
CHECKS: dict[Any, Callable[[str], str]] = {
    Expression: lambda text: why_not_expression(text, names()),
    WorkExpression: lambda text: why_not_expression(text, work_names()),
    Template: lambda text: why_not_expression(text, names(), is_template=True),
}


class HeaderError(ValueError):
    """A rung's file cannot be used: "27_two_sums.cu, line 2: there is no field …"."""


class _WrongValueError(ValueError):
    """A field has a value of the wrong kind; in a table, it says under which name."""

    def __init__(self, what: str, name: str = "") -> None:
        super().__init__(what)
        self.name = name


@dataclass(frozen=True, slots=True)
class Header:
    """The header of a rung's file, and where each field stands.

    file    the file's name
    lines   of the header, the first being the file's first
    fields  as TOML has them
    """

    file: str
    lines: tuple[str, ...]
    fields: Mapping[str, Any]

    def error(
        self, what: str, field: str = "", number: int | None = None, name: str = ""
    ) -> HeaderError:
        """Return the error that says `what` of a field.

        number  of the pass that the field is in
        name    in the table that the field is
        """
        line = self.line_of(name, number) or self.line_of(field, number)
        if not line and number is not None:
            line = self._sections()[number + 1] + 1
        return HeaderError(f"{self.file}{f', line {line}' if line else ''}: {what}.")

    def line_of(self, field: str, number: int | None = None) -> int:
        """Return the line that begins with `field`, of that pass or before all; 0: none."""
        sections, place = self._sections(), 0 if number is None else number + 1
        if not field or place + 1 >= len(sections):
            return 0
        pattern = re.compile(rf"\s*(\[+\s*)?[\"']?{re.escape(field)}[\"']?\s*[=.\]]")
        lines = range(sections[place], sections[place + 1])
        return next((n + 1 for n in lines if pattern.match(self.lines[n])), 0)

    def _sections(self) -> list[int]:
        """The first lines of the header and of each pass, and the end."""
        begins = [n for n, line in enumerate(self.lines) if re.match(r"\s*\[\[passes\]\]", line)]
        return [0, *begins, len(self.lines)]


def header_of(file: str, source: str) -> Header:
    """Parse the header that `source` begins with.  Raises HeaderError."""
    before, _, rest = source.partition(BEGIN)
    text, end, _ = rest.partition(END)
    if not before and rest and not end:
        raise HeaderError(
            f"{file}, line 1: the header begins here and ends nowhere: {MISSING_END}."
        )
    if before or not rest or not end:
        raise HeaderError(f"{file}, line 1: it must begin with a header, {BEGIN} TOML {END}.")
    try:
        return Header(file, tuple(text.split("\n")), tomllib.loads(text))
    except tomllib.TOMLDecodeError as error:
        words = str(error)
        found = re.search(r" \(at (?:line (\d+), column \d+|end of document)\)$", words)
        line = (found[1] if found else None) or text.count("\n") + 1
        words = words[: found.start()] if found else words
        lines = text.split("\n")
        written = lines[min(int(line), len(lines)) - 1].strip()
        raise HeaderError(f"{file}, line {line}: {_no_toml(written, words)}.") from error
    except RecursionError as error:
        raise HeaderError(f"{file}: the header is nested too deeply.") from error


def _no_toml(written: str, words: str) -> str:
    """The reason why a line of the header is no TOML, by its text and the parser's words."""
    named = re.match(r"(\w+)\s*(=?)\s*(.*)", written)
    if not named:
        return f"the header is no TOML: {words}"
    name, equals, value = named.groups()
    if not equals:
        return f"a line of the header is a field with its value, such as {name} = 1 ({words})"
    if not value:
        return f"{name} has no value: write it behind the = ({words})"
    if re.match(r"[A-Za-z]", value):
        return f'text stands in quotes: {name} = "{value}" ({words})'
    if value.count('"') % 2:
        return f"a quote is missing: {name} = {value} ({words})"
    return f"the header is no TOML: {words}"


def typed_fields(header: Header, whole: type, part: type, given: Iterable[str]) -> dict[str, Any]:
    """Read `header` as arguments of the dataclass `whole`, its passes as instances of `part`.

    given  fields of `whole` that no header says
    Raises HeaderError.
    """
    plain = {name: value for name, value in header.fields.items() if name != PASSES}
    found = _fields(header, plain, whole, None, {*given, PASSES})
    passes = header.fields.get(PASSES)
    if passes is None:
        return found
    if not isinstance(passes, list) or not passes or not all(isinstance(p, dict) for p in passes):
        raise header.error("passes are written as [[passes]], one or more", PASSES)
    each = (_fields(header, values, part, n, set()) for n, values in enumerate(passes))
    return {**found, PASSES: tuple(part(**values) for values in each)}


def _fields(
    header: Header, values: Mapping[str, Any], of: type, number: int | None, left_out: set[str]
) -> dict[str, Any]:
    hints = _hints(of)
    known = [each for each in fields(of) if each.init and each.name not in left_out]
    where = "" if number is None else " of a pass"
    found = {}
    for name, value in values.items():
        if number is not None and name in OBSOLETE:
            continue
        if name not in {each.name for each in known}:
            near = get_close_matches(name, [each.name for each in known], 1)
            guess = f"; the nearest is {near[0]}" if near else ""
            raise header.error(f"there is no field {name}{where}{guess}", name, number)
        try:
            found[name] = _taken(value, hints[name])
        except _WrongValueError as error:
            raise header.error(f"{name}{where} {error}", name, number, error.name) from error
    for each in known:
        if each.name not in found and each.default is MISSING:
            raise header.error(f"its header has no {each.name}")
    return found


@cache
def _hints(of: type) -> dict[str, Any]:
    return get_type_hints(of)


def _taken(value: Any, hint: Any) -> Any:
    """Return `value` as `hint` wants it: lists and tables as tuples, which can be hashed."""
    if get_origin(hint) in (Union, UnionType):
        (hint,) = (each for each in get_args(hint) if each is not NoneType)
    if get_origin(hint) is Literal:
        if value not in (known := get_args(hint)) or type(value) not in map(type, known):
            raise _WrongValueError(f"takes {' or '.join(map(repr, known))}, not {value!r}")
        return value
    if get_origin(hint) is tuple:
        return _several(value, get_args(hint))
    if hint is float and type(value) is int:
        return float(value)
    if type(value) is not getattr(hint, "__supertype__", hint):
        raise _WrongValueError(f"takes {PLAIN[hint]}, not {value!r}")
    if hint in CHECKS and (wrong := CHECKS[hint](value)):
        raise _WrongValueError(f"is wrong: {wrong}")
    return value


def _several(value: Any, hints: tuple[Any, ...]) -> tuple[Any, ...]:
    if isinstance(value, dict):
        return tuple(_pairs(value, hints[0]))
    if hints[-1] is Ellipsis:
        if not isinstance(value, list):
            raise _WrongValueError(f"takes a list of several, not {value!r}")
        return tuple(_taken(each, hints[0]) for each in value)
    if not isinstance(value, list) or len(value) != len(hints):
        raise _WrongValueError(f"takes a list of {len(hints)}, not {value!r}")
    return tuple(_taken(each, hint) for each, hint in zip(value, hints, strict=True))


def _pairs(table: Mapping[str, Any], hint: Any) -> Iterator[tuple[str, Any]]:
    if get_origin(hint) is not tuple:
        raise _WrongValueError("takes a list, not a table")
    for name, value in table.items():
        try:
            yield name, _taken(value, get_args(hint)[1])
        except _WrongValueError as error:
            raise _WrongValueError(str(error), name) from error
