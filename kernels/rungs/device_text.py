"""The text that is compiled: the prelude, the headers a rung names and the rung, as one.

Not #included: CuPy keys its cache on the text alone, so that an edited header would silently run a
stale binary.  A #line before each part has the compiler name the part's own file and line.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

LADDER = Path(__file__).parents[1] / "ladder"
PRELUDE = "prelude"


@dataclass(frozen=True, slots=True)
class Part:
    """One file's share of a text.

    name  the file's, without folders: what is compiled says nothing of this computer
    line  of the file, that `text` begins in
    """

    name: str
    line: int
    text: str


def header_parts(includes: Iterable[str]) -> tuple[Part, ...]:
    """Return the prelude and the headers of the ladder's folder that are called `includes`."""
    return tuple(part for name in (PRELUDE, *includes) for part in _parts_of(name))


def with_lines(parts: Iterable[Part]) -> str:
    """Join `parts`, so that the compiler counts lines in each of them anew."""
    return "".join(f"#line {each.line} {_quoted(each.name)}\n{each.text}" for each in parts)


def bare(parts: Iterable[Part]) -> str:
    """Join `parts` into a file of its own, in which a compiler counts all lines."""
    return "".join(each.text for each in parts)


def _quoted(name: str) -> str:
    """Return a file's name as text of C++: a user's may have anything in it."""
    plain = "".join(letter if letter.isprintable() else "?" for letter in name)
    return '"' + plain.replace("\\", "\\\\").replace('"', '\\"') + '"'


@cache
def _parts_of(name: str) -> tuple[Part, ...]:
    """Return a header without the knobs' defaults, which are for editors."""
    file = f"{name}.cuh"
    text = (LADDER / file).read_text(encoding="utf-8")
    before, start, rest = text.partition("#ifndef KSIZE")
    if not start:
        return (Part(file, 1, text + "\n"),)
    behind = rest.partition("#endif")[2]
    line = text.count("\n") - behind.count("\n") + 1
    return Part(file, 1, before), Part(file, line, behind + "\n")
