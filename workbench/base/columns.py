"""Lay out names and values, and tables, as text of one width per letter."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from textwrap import wrap


def aligned(rows: list[tuple[str, str]]) -> str:
    """Return names and values in two columns."""
    width = max(len(name) for name, _ in rows) + 2
    return "\n".join(f"{name:<{width}}{value}" for name, value in rows)


def columns(rows: Sequence[tuple[str, ...]]) -> str:
    """Return a table without lines: each column as wide as its widest cell."""
    widths = [max(map(len, column)) + 2 for column in zip(*rows, strict=True)]
    lines = (
        "".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)) for row in rows
    )
    return "\n".join(f"  {line}".rstrip() for line in lines)


LINE_LETTERS = 125


def table(head: Sequence[str], rows: Iterable[Sequence[str]], right: Iterable[int] = ()) -> str:
    """Return a table; `right` are the columns of numbers."""
    line = ["--:" if column in set(right) else "---" for column in range(len(head))]
    return "\n".join(f"| {' | '.join(row)} |" for row in (head, line, *rows))


def wrapped(text: str, indent: str = "") -> str:
    """Return a paragraph in lines of at most LINE_LETTERS; all but the first are indented."""
    lines = wrap(
        text,
        LINE_LETTERS,
        subsequent_indent=indent,
        break_long_words=False,
        break_on_hyphens=False,
    )
    return "\n".join(lines)


def with_tables(text: str, made: dict[str, str]) -> str:
    """Return `text` with everything between <!-- name --> and <!-- /name --> replaced."""
    for name, content in made.items():
        pattern = re.compile(rf"(<!-- {name} -->\n).*?(<!-- /{name} -->)", re.DOTALL)
        if not pattern.search(text):
            raise ValueError(f"There is no place for the table {name}.")
        text = pattern.sub(_replacing(content), text)
    return text


def _replacing(content: str) -> Callable[[re.Match[str]], str]:
    return lambda found: f"{found[1]}\n{content}\n\n{found[2]}"
