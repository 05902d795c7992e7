"""Widths of a table's columns in LaTeX, and the size of its letters, to fit an A4 page.

Widths of letters are those of Computer Modern at 10 pt (Knuth, Computers & Typesetting E), rounded
upwards by kinds of letters; smaller sizes of it are wider for their height, and so are other fonts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from workbench.report.tables import Table

PORTRAIT_PT, LANDSCAPE_PT = 455.0, 700.0  # 16 cm: A4 with margins of 2.5 cm; and the same turned
SIZES = ((9.0, 11.0), (8.0, 9.5), (7.0, 8.5))  # letters and lines
GAP_PT = 6.0  # between two columns
NARROW, WIDE, CAPITAL = "ijlft.,;:'|()[]/!Iıſ", "mwMW—…%@", 0.79
# What a letter of 10 pt becomes, in em of its own size.
SMALL_IS_WIDER = {9.0: 1.03, 8.0: 1.07, 7.0: 1.15}
SPARE = 1.04  # for fonts a little wider than that
MAX_WORD = 24  # letters; what is longer may be broken there, see `latex.escaped`
MIN_SENTENCE_EM = 9.0  # what is made of words is not set in a column of single ones


@dataclass(frozen=True, slots=True)
class ColumnLayout:
    """The size of a table's letters and the width of its columns.

    size, line    of the letters and of their lines, in points
    columns       what \begin{longtable} takes
    is_landscape  it stands on a page that is turned
    """

    size: float
    line: float
    columns: str
    is_landscape: bool


def layout_of(table: Table) -> ColumnLayout:
    """Return the largest letters in which no cell has to be broken.

    Else those of 8 or of 7 points in which words stay whole; else a page that is turned.
    """
    for size, line in SIZES:
        if (widths := _natural(table, size)) is not None:
            return ColumnLayout(size, line, _columns(table, widths), False)
    for page_pt, sizes in ((PORTRAIT_PT, SIZES[1:]), (LANDSCAPE_PT, SIZES)):
        for size, line in sizes:
            if (widths := _broken(table, size, page_pt)) is not None:
                return ColumnLayout(size, line, _columns(table, widths), page_pt == LANDSCAPE_PT)
    size, line = SIZES[-1]
    room = LANDSCAPE_PT - GAP_PT * len(table.columns)
    least = _least(table, size)
    widths = [each * room / sum(least) for each in least]
    return ColumnLayout(size, line, _columns(table, widths), True)


def _natural(table: Table, size: float) -> list[float] | None:
    """Return widths in which every cell has one line; None where they are too wide together."""
    widths = [max(pair) for pair in zip(_whole(table, size), _least(table, size), strict=True)]
    return widths if sum(widths) <= _room(table, PORTRAIT_PT) else None


def _broken(table: Table, size: float, page_pt: float) -> list[float] | None:
    """Return widths in which every word has one line; None where they are too wide together.

    What is left is given to the longest cells.
    """
    least, whole = _least(table, size), _whole(table, size)
    left = _room(table, page_pt) - sum(least)
    if left < 0:
        return None
    wanted = [max(0.0, want - have) for want, have in zip(whole, least, strict=True)]
    share = min(1.0, left / sum(wanted)) if any(wanted) else 0.0
    return [have + share * more for have, more in zip(least, wanted, strict=True)]


def _room(table: Table, page_pt: float) -> float:
    return page_pt - GAP_PT * (len(table.columns) - 1)


def _whole(table: Table, size: float) -> list[float]:
    """Return the width of each column's widest cell, in points."""
    return [
        max((_points(row.cells[at], size) for row in table.rows), default=0.0)
        for at in range(len(table.columns))
    ]


def _least(table: Table, size: float) -> list[float]:
    """Return the width of each column's longest word, its header's included.

    Numbers are one word.
    """
    found = []
    for at, column in enumerate(table.columns):
        cells = [row.cells[at] for row in table.rows]
        words = [word for text in (column.title, *cells) for word in _unbroken(text)]
        least = max((_points(word, size) for word in words), default=0.0)
        longest = max((_points(cell, size) for cell in cells), default=0.0)
        if column.is_number:
            least = max(least, longest)
        found.append(max(least, min(longest, MIN_SENTENCE_EM * size)))
    return found


def _unbroken(text: str) -> Sequence[str]:
    """Yield what LaTeX sets in one line: words, and what stands between their hyphens."""
    pieces = text.replace("-", "- ").split(" ")
    return [piece[at : at + MAX_WORD] for piece in pieces for at in range(0, len(piece), MAX_WORD)]


@cache
def _points(text: str, size: float) -> float:
    return sum(map(_em, text)) * size * SMALL_IS_WIDER[size] * SPARE


def _em(letter: str) -> float:
    if letter in NARROW:
        return 0.34
    if letter in WIDE:
        return 1.0
    if letter == "×":
        return 0.78
    if letter.isupper():
        return CAPITAL
    return 0.25 if letter == "\u202f" else 0.34 if letter.isspace() else 0.51


def _columns(table: Table, widths: Sequence[float]) -> str:
    """Return the columns: numbers to the right, words to the left, each as wide as told."""
    sides = ["raggedleft" if each.is_number else "raggedright" for each in table.columns]
    columns = (
        rf">{{\{side}\arraybackslash}}p{{{width:.1f}pt}}"
        for side, width in zip(sides, widths, strict=True)
    )
    between = f"@{{\\hspace{{{GAP_PT:g}pt}}}}"
    return f"@{{}}{between.join(columns)}@{{}}"
