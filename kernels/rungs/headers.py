"""The header of a rung's file: TOML between `/*---` and `---*/`, read into a dataclass's types.

What is wrong with it becomes a HeaderError: one sentence with the file's name and the line.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from kernels.core.plain_data import SIMPLE, NotPlainError, from_plain, plain_text
from kernels.rungs.job_facts import (
    PASS_NAMES,
    Expression,
    Template,
    WorkExpression,
    names,
    why_not_expression,
)

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

T = TypeVar("T", bound="DataclassInstance")

BEGIN, END = "/*---", "---*/"
PASSES = "passes"  # the table of tables in a header
# A field of a pass that earlier versions read: what a user wrote then is still a header.
OBSOLETE = "anatomy"
# Of an error's place: pass, field, name in a table.
PLACE = re.compile(r"(?:\.passes\[(\d+)\])?(?:\.(\w+))?(?:\[.*\])?(?:\.(.*))?")


class HeaderError(ValueError):
    """A rung's file cannot be used: "27_two_sums.cu, line 2: titel is not known"."""


def refusal(file: str, what: str, line: int = 0) -> HeaderError:
    """Return the error that says `what` of a file, in a line of it; 0: of none."""
    return HeaderError(f"{file}{f', line {line}' if line else ''}: {what}.")


@dataclass(frozen=True, slots=True)
class Header:
    """The header of a rung's file, and where each field stands."""

    file: str  # the file's name
    lines: tuple[str, ...]  # of the header, the first being the file's first
    fields: Mapping[str, Any]  # as TOML has them

    def error(
        self, what: str, field: str = "", number: int | None = None, name: str = ""
    ) -> HeaderError:
        """Return the error that says `what` of a field.

        number  of the pass that the field is in
        name    in the table that the field is
        """
        begins = [n for n, line in enumerate(self.lines) if re.match(r"\s*\[\[passes\]\]", line)]
        sections, place = [0, *begins, len(self.lines)], 0 if number is None else number + 1
        line = 0
        for each in filter(None, (name, field)):
            pattern = re.compile(rf"\s*(\[+\s*)?[\"']?{re.escape(each)}[\"']?\s*[=.\]]")
            lines = range(*sections[place : place + 2]) if place + 1 < len(sections) else ()
            line = line or next((n + 1 for n in lines if pattern.match(self.lines[n])), 0)
        if not line and number is not None:
            line = sections[place] + 1
        return refusal(self.file, what, line)

    def read(self, of: type[T], **given: Any) -> T:
        """Read it as a dataclass; `given` are fields that no header says.  Raises HeaderError."""
        said, passes = dict(self.fields), self.fields.get(PASSES, [{}])
        if taken := sorted(given.keys() & said.keys()):
            raise self.error(f"{taken[0]} is not known", taken[0])
        if not passes or type(passes) is not list:
            raise self.error("passes are written as [[passes]], one or more", PASSES)
        if PASSES in said:
            said[PASSES] = [_without_obsolete(each) for each in passes]
        try:
            return replace(from_plain(of, {**said, **given}), **given)  # as they are
        except NotPlainError as error:
            found = PLACE.fullmatch(error.where)
            number, field, name = found.groups() if found else ("", "", "")
            what = f"{field or PASSES}{' of a pass' if number else ''} {error.why}"
            at = int(number) if number else None
            raise self.error(what, field or "", at, name or "") from error


def header_of(file: str, source: str) -> Header:
    """Parse the header that `source` begins with.  Raises HeaderError."""
    before, _, rest = source.partition(BEGIN)
    text, end, _ = rest.partition(END)
    if before or not end:
        what = f"it must begin with a header, {BEGIN} TOML {END}"
        if rest and not before:
            what = f"the header begins here and ends nowhere: write {END} on a line of its own"
        raise refusal(file, what, 1)
    lines = tuple(text.split("\n"))
    try:
        return Header(file, lines, tomllib.loads(text))
    except tomllib.TOMLDecodeError as error:
        found = re.search(r" \(at (?:line (\d+), column \d+|end of document)\)$", str(error))
        line = min(int((found[1] if found else None) or len(lines)), len(lines))
        words = f"{str(error)[: found.start()] if found else error}: {lines[line - 1].strip()}"
        raise refusal(file, f"the header is no TOML, {words}", line) from error
    except RecursionError as error:
        raise refusal(file, "the header is nested too deeply") from error


def _without_obsolete(part: Any) -> Any:
    if type(part) is not dict:
        return part
    return {name: value for name, value in part.items() if name != OBSOLETE}


def _checked(more: tuple[str, ...], is_template: bool, data: Any) -> str:
    text = plain_text(data)
    if wrong := why_not_expression(text, names(*more), is_template=is_template):
        raise NotPlainError(f"is wrong: {wrong}")
    return text


SIMPLE[Expression] = partial(_checked, (), False)
SIMPLE[WorkExpression] = partial(_checked, PASS_NAMES, False)
SIMPLE[Template] = partial(_checked, (), True)
