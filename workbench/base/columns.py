"""Lay out names and values, and tables, as text of one width per letter."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from textwrap import fill


def aligned(rows: list[tuple[str, str]]) -> str:
    """Format names and values in two columns."""
    width = max(len(name) for name, _ in rows) + 2
    return "\n".join(f"{name:<{width}}{value}" for name, value in rows)


def columns(rows: Sequence[tuple[str, ...]]) -> str:
    """Format a table without lines: each column as wide as its widest cell."""
    widths = [max(map(len, column)) + 2 for column in zip(*rows, strict=True)]
    lines = (
        "".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)) for row in rows
    )
    return "\n".join(f"  {line}".rstrip() for line in lines)


LINE_LETTERS = 125


def table(head: Sequence[str], rows: Iterable[Sequence[str]], right: Iterable[int] = ()) -> str:
    """Format a table in Markdown; `right` are the columns of numbers."""
    line = ["--:" if column in set(right) else "---" for column in range(len(head))]
    return "\n".join(f"| {' | '.join(row)} |" for row in (head, line, *rows))


def wrapped(text: str, indent: str = "") -> str:
    """Wrap a paragraph at LINE_LETTERS; all lines but the first are indented."""
    return fill(
        text, LINE_LETTERS, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
    )


def with_tables(text: str, made: dict[str, str]) -> str:
    """Replace everything between <!-- name --> and <!-- /name --> in `text`."""
    for name, content in made.items():
        pattern = re.compile(rf"(<!-- {name} -->\n).*?(<!-- /{name} -->)", re.DOTALL)
        if not pattern.search(text):
            raise ValueError(f"There is no place for the table {name}.")
        plain = content.replace("\\", r"\\")  # no reference to a group
        text = pattern.sub(rf"\g<1>\n{plain}\n\n\g<2>", text)
    return text
