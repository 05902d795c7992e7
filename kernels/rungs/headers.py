"""The header of a rung's file: TOML between `/*---` and `---*/`, read into a dataclass's types.

What is wrong with it becomes a HeaderError: one sentence with the file's name and the line.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from kernels.core.plain_data import SIMPLE, NotPlainError, from_plain, plain_text
from kernels.rungs.job_facts import (
    Expression,
    Template,
    WorkExpression,
    names,
    why_not_expression,
    work_names,
)

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

T = TypeVar("T", bound="DataclassInstance")

BEGIN, END = "/*---", "---*/"
MISSING_END = f"write {END} on a line of its own behind its last field"
PASSES = "passes"  # the table of tables in a header
# A field of a pass that earlier versions read: what a user wrote then is still a header.
OBSOLETE = "anatomy"
# Of an error's place: pass, field, name in a table.
PLACE = re.compile(r"(?:\.passes\[(\d+)\])?(?:\.(\w+))?(?:\[.*\])?(?:\.(.*))?")


class HeaderError(ValueError):
    """A rung's file cannot be used: "27_two_sums.cu, line 2: titel is not known"."""


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
            where = " of a pass" if number else ""
            at = int(number) if number else None
            what = f"{field or PASSES}{where} {error.why}"
            raise self.error(what, field or "", at, name or "") from error

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
    lines = tuple(text.split("\n"))
    try:
        return Header(file, lines, tomllib.loads(text))
    except tomllib.TOMLDecodeError as error:
        found = re.search(r" \(at (?:line (\d+), column \d+|end of document)\)$", str(error))
        line = min(int((found[1] if found else None) or len(lines)), len(lines))
        words = f"{str(error)[: found.start()] if found else error}: {lines[line - 1].strip()}"
        raise HeaderError(f"{file}, line {line}: the header is no TOML, {words}.") from error
    except RecursionError as error:
        raise HeaderError(f"{file}: the header is nested too deeply.") from error


def _without_obsolete(part: Any) -> Any:
    if type(part) is not dict:
        return part
    return {name: value for name, value in part.items() if name != OBSOLETE}


def _checked(known: Callable[[], frozenset[str]], is_template: bool, data: Any) -> str:
    text = plain_text(data)
    if wrong := why_not_expression(text, known(), is_template=is_template):
        raise NotPlainError(f"is wrong: {wrong}")
    return text


SIMPLE[Expression] = partial(_checked, names, False)
SIMPLE[WorkExpression] = partial(_checked, work_names, False)
SIMPLE[Template] = partial(_checked, names, True)
