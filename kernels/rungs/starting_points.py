"""Texts to begin a kernel of one's own with: an empty one, or a rung to change one thing about."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from kernels.rungs.headers import BEGIN, END
from kernels.rungs.rung import Rung, ladder

EMPTY = Path(__file__).with_name("empty_kernel.cu")
PASS = "[[passes]]"
TOLD_ANEW = ("title", "idea", "after")
# What the ladder's tests have proved of a rung's text, and nobody of one that was changed.
DESCRIPTIONS = ("loads", "stores", "flops", "anatomy", "layout")


@dataclass(frozen=True, slots=True)
class StartingPoint:
    """A text to begin with.

    key   of the rung; empty for the empty kernel
    stem  of a name for its file
    """

    key: str
    title: str
    stem: str
    text: str


def starting_points() -> tuple[StartingPoint, ...]:
    """Return the empty kernel, and every rung as something to change."""
    empty = StartingPoint("", "Empty kernel", "my_kernel", EMPTY.read_text(encoding="utf-8"))
    return (empty, *map(changing, ladder()))


def changing(rung: Rung) -> StartingPoint:
    """Return `rung`'s text, with a header that comes after it, to change one thing about."""
    header, _, body = rung.source.removeprefix(BEGIN).partition(END)
    kept: list[str] = []
    for each in _statements(header):
        if not _is_left_out(each):
            kept.append(each)
            continue
        while kept and kept[-1].startswith("#"):  # which tells of what is left out
            kept.pop()
    if kept.count(PASS) == 1 and kept[-1] == PASS:  # a pass that is as one is anyway
        kept.pop()
    lines = [
        f'title   = "{rung.title}, changed"',
        f'idea    = "What is different from {rung.key}, in one sentence."',
        f'after   = "{rung.key}"',
        *(f"\n{each}" if each.startswith("[") else each for each in kept),
    ]
    text = "\n".join((BEGIN, *lines, END)) + body
    return StartingPoint(rung.key, rung.title, f"my_{rung.key}", text)


def _statements(header: str) -> Iterator[str]:
    """Yield a header's statements as they are written, on one line or several."""
    begun = ""
    for line in header.splitlines():
        begun = f"{begun}\n{line}" if begun else line
        try:
            tomllib.loads(begun)
        except tomllib.TOMLDecodeError:
            continue  # its value goes on in the next line
        if begun.strip():
            yield begun
        begun = ""


def _is_left_out(statement: str) -> bool:
    name = re.match(r"\w+", statement)
    return name is not None and name[0] in (*TOLD_ANEW, *DESCRIPTIONS)
