"""Lay out names and values, and tables, as text of one width per letter."""

from __future__ import annotations

from collections.abc import Sequence


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
