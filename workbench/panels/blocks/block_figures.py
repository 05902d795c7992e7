"""Figures of how the candidates stand: a bar for each, or a map of block widths and heights."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from workbench.base import numbers
from workbench.charts.data.figure import (
    Axis,
    Bar,
    Bars,
    Figure,
    Grid,
    Group,
    LegendLine,
    SeriesStyle,
    Tile,
)
from workbench.panels.blocks.rows import BlockRow

LARGE_RANGE = 20.0  # largest over smallest time, from which the scale is logarithmic
DIGIT_SPACE = "\u2007"  # as wide as a digit
IN_USE = "● "  # marks what the window filters with
VERDICTS: dict[str, Literal["bad", "missing", "refused"]] = {
    "wrong": "bad",
    "waiting": "missing",
    "refused": "refused",
}
MARKS = {"wrong": "✗", "waiting": "…"}
BLUE, GREEN = 0, 2  # indices into a theme's series colours


def bars_of(rows: Sequence[BlockRow], sentence: str) -> Figure:
    """Return a bar for each row: its median with the quartiles, beside its rank and name."""
    times = [row.ms[1] for row in rows if row.ms]
    is_log = bool(times) and max(times) > LARGE_RANGE * min(times)
    axis = Axis(f"Time{', logarithmic' if is_log else ''}", numbers.duration, is_log)
    shapes = [len(row.name) for row in rows if isinstance(row.key, tuple)]
    groups = tuple(Group(_name(row, max(shapes, default=0)), (_bar(row),)) for row in rows)
    return _figure(sentence, Bars(axis, groups, names_beside=True))


def map_of(rows: Sequence[BlockRow], sentence: str) -> Figure:
    """Return a tile for each row whose key is a block shape, light where it is fast."""
    shapes = {row.key: row for row in rows if isinstance(row.key, tuple)}
    wide, high = (sorted({key[side] for key in shapes}) for side in (0, 1))
    places = {
        (x, y): (column, line) for line, y in enumerate(high) for column, x in enumerate(wide)
    }
    tiles = tuple(_tile(*at, shapes[key]) for key, at in places.items() if key in shapes)
    columns, lines = tuple(map(str, wide)), tuple(map(str, high))
    scale = Axis("Time; below it the occupancy", numbers.duration, True)
    labels = "Block width, threads", "Block height, threads"
    return _figure(sentence, Grid(columns, lines, *labels, tiles, scale))


def _figure(sentence: str, body: Bars | Grid) -> Figure:
    return Figure("", "Times of the candidates", "", sentence, (), body)


def _name(row: BlockRow, widest: int) -> str:
    """Return rank and name; shapes take `widest` digits, so that ranks stand below each other."""
    rank = f"{row.rank}\u2003" if row.rank else ""
    spare = widest - len(row.name) if rank and isinstance(row.key, tuple) else 0
    return f"{IN_USE if row.is_current else ''}{rank}{spare * DIGIT_SPACE}{row.name}"


def _bar(row: BlockRow) -> Bar:
    middle, low, high = (row.ms[1], row.ms[0], row.ms[2]) if row.ms else (None, 0.0, 0.0)
    style = SeriesStyle(GREEN if row.is_best else BLUE, None)
    words = f"{row.words} ?" if row.state == "unsure" else row.words
    entry = LegendLine(row.name, row.name, "", row.name, style)
    is_unsure = row.state == "unsure"
    return Bar(entry, middle, low, high, words, row.text, _pick(row), row.is_best, is_unsure)


def _tile(column: int, line: int, row: BlockRow) -> Tile:
    """Return a row's time and occupancy, or a mark in their place."""
    words: tuple[str, ...] = ("",)
    if row.ms:
        share = () if row.occupancy is None else (numbers.percent(row.occupancy),)
        words = row.words, *share
    elif row.state in MARKS:
        words = (MARKS[row.state],)
    return Tile(
        column,
        line,
        row.ms[1] if row.ms else None,
        words,
        row.text,
        _pick(row),
        row.is_best,
        "" if row.ms else VERDICTS[row.state],
        is_pale=row.state == "unsure",
        is_current=row.is_current,
    )


def _pick(row: BlockRow) -> object:
    """Return what a click takes; None: nothing, as it cannot run."""
    return None if row.state in ("refused", "recorded") else row.key
