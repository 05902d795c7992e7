"""The difference of two listings: instructions by their kind, and rows that came or went.

Two versions of a text rarely have a register or a label in common, so these are not compared.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Literal

from kernels.cuda.listings import Listing, Row

Mark = Literal[" ", "+", "−"]
REGISTER = re.compile(r"%[a-z]+\d+|\b(U?[RP])\d+\b|\.reuse\b|\bSB\d\b")
LABEL = re.compile(r"\$?\.?L_+\w+\d+|`\(\.L_x_\d+\)")
# PTX has one instruction for all kinds of memory.
OF_MEMORY = ("ld", "st", "atom", "red")
SPACES = ("global", "shared", "const", "local", "param")
MAX_ROWS = 3000  # beyond, to pair two that have little in common would take seconds


@dataclass(frozen=True, slots=True)
class KindChange:
    """The times that one kind of instruction, such as LDG or ld.global, was and is there."""

    kind: str
    before: int
    now: int


@dataclass(frozen=True, slots=True)
class Changes:
    """The difference of two listings.

    kinds      all of them, the most changed first
    rows       the newer one, with what is gone between
    is_by_row  whether rows were compared; else they are too many, and have no marks
    """

    kinds: tuple[KindChange, ...]
    rows: tuple[tuple[Mark, Row], ...]
    is_by_row: bool = True

    @property
    def count(self) -> KindChange:
        """Return how many instructions there were, and are."""
        return KindChange(
            "", sum(each.before for each in self.kinds), sum(each.now for each in self.kinds)
        )

    def marked(self, mark: Mark) -> int:
        """Return how many instructions have that mark."""
        return sum(each == mark and bool(row.opcode) for each, row in self.rows)


def changes_of(before: Listing, now: Listing) -> Changes:
    """Compare two listings of the same kind."""
    then, today = _counts(before), _counts(now)
    kinds = [KindChange(kind, then[kind], today[kind]) for kind in then | today]
    kinds.sort(key=lambda each: (-abs(each.now - each.before), -each.now, each.kind))
    is_too_long = max(len(before), len(now)) > MAX_ROWS
    rows = ((" ", row) for row in now) if is_too_long else _paired(before, now)
    return Changes(tuple(kinds), tuple(rows), not is_too_long)


def kind_of(opcode: str) -> str:
    """Return what instructions are counted by: LDG of LDG.E.U8, ld.global of ld.global.nc.u8."""
    parts = opcode.split(".")
    spaces = SPACES if parts[0] in OF_MEMORY else ()
    space = next((each for each in parts if each in spaces), "")
    return f"{parts[0]}.{space}" if space else parts[0]


def _counts(listing: Listing) -> Counter[str]:
    return Counter(kind_of(row.opcode) for row in listing if row.opcode)


def _paired(before: Listing, now: Listing) -> Iterator[tuple[Mark, Row]]:
    """Yield the rows of both, each where it stands."""
    old, new = ([_compared(row.text) for row in rows] for rows in (before, now))
    for what, a, b, c, d in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if what == "equal":
            yield from ((" ", row) for row in now[c:d])
            continue
        yield from (("−", row) for row in before[a:b])
        yield from (("+", row) for row in now[c:d])


def _compared(text: str) -> str:
    return " ".join(REGISTER.sub(r"\1", LABEL.sub("L", text)).split())
