"""Tables in LaTeX: text escaped whatever stands in it, and columns as wide as an A4 page allows.

Widths of letters are those of Computer Modern at 10 pt (Knuth, Computers & Typesetting E), rounded
upwards by kinds of letters; smaller sizes of it are wider for their height, and so are other fonts.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from kernels.core.plain_data import parse_toml
from workbench.report.tables import Table

FILE = Path(__file__).with_name("latex.toml")
SPECIAL: dict[str, str] = parse_toml(FILE.read_text("utf-8"), FILE.name)
SHIFTS = {"<super>": r"\textsuperscript", "<sub>": r"\textsubscript"}
LATIN_ENDS = 0x180  # what every LaTeX since 2018 can print without a package
MAX_WORD = 24  # letters; what is longer may be broken there

PAGES_PT = 455.0, 700.0  # 16 cm: A4 with margins of 2.5 cm; and the same turned
SIZES = ((9.0, 11.0), (8.0, 9.5), (7.0, 8.5))  # letters and lines
GAP_PT = 6.0  # between two columns
WIDTHS = dict.fromkeys("ijlft.,;:'|()[]/!Iıſ", 0.34) | dict.fromkeys("mwMW—…%@", 1.0)
WIDTHS |= {"×": 0.78, "\u202f": 0.25}
# What a letter of 10 pt becomes, in em of its own size.
SMALL_IS_WIDER = {9.0: 1.03, 8.0: 1.07, 7.0: 1.15}
SPARE = 1.04  # for fonts a little wider than that
MIN_SENTENCE_EM = 9.0  # what is made of words is not set in a column of single ones


def escaped(text: str) -> str:
    """Escape text; letters beyond LaTeX's become their code point, long words may be broken."""
    words = unicodedata.normalize("NFC", text).split(" ")
    return " ".join(
        r"\allowbreak{}".join("".join(map(_escaped, part)) for part in _pieces(word))
        for word in words
    )


def _pieces(word: str) -> list[str]:
    return [word[at : at + MAX_WORD] for at in range(0, len(word), MAX_WORD)]


@cache
def _escaped(character: str) -> str:
    if character in SPECIAL:
        return SPECIAL[character]
    if character.isspace():
        return " "
    if not character.isprintable():
        return ""
    if ord(character) < LATIN_ENDS and not unicodedata.decomposition(character).startswith("<"):
        return character
    plain = "".join(
        SPECIAL.get(each, each)
        for each in unicodedata.normalize("NFKD", character).replace("\u2044", "/")
        if not unicodedata.combining(each)
    )
    if not plain.isascii():
        return f"(U+{ord(character):04X})"
    shift = SHIFTS.get(unicodedata.decomposition(character).partition(" ")[0])
    return f"{shift}{{{plain}}}" if shift else plain


# ------------------------------------------------------------------------ widths


@dataclass(frozen=True, slots=True)
class ColumnLayout:
    """The size of a table's letters and the width of its columns."""

    size: float  # of the letters and of their lines, in points
    line: float
    columns: str  # the argument of \\begin{longtable}
    is_landscape: bool  # on a page that is turned


def layout_of(table: Table) -> ColumnLayout:
    """Choose the largest letters in which words stay whole; else a page that is turned.

    Columns whose cells are broken get their shares of the spare room.
    """
    gaps = GAP_PT * len(table.columns)
    for page_pt, letters in ((page, size) for page in PAGES_PT for size in SIZES):
        least, whole = _widths(table, letters[0])
        wanted = [max(0.0, w - have) for w, have in zip(whole, least, strict=True)]
        if (spare := page_pt - gaps - sum(least)) >= 0:
            break
    share = min(1.0, spare / sum(wanted)) if any(wanted) and spare > 0 else 0.0
    squeezed = min(1.0, (page_pt - gaps) / sum(least))
    widths = [squeezed * have + share * w for have, w in zip(least, wanted, strict=True)]
    return ColumnLayout(*letters, _columns(table, widths), page_pt > PAGES_PT[0])


def _widths(table: Table, size: float) -> tuple[list[float], list[float]]:
    """The widths of each column's longest word and of its widest cell, in points.

    Numbers are one word; a header's words count as well.
    """
    least, whole = [], []
    for at, column in enumerate(table.columns):
        cells = [row.cells[at] for row in table.rows]
        # LaTeX breaks between words and after hyphens.
        words = " ".join((column.title, *cells)).replace("-", "- ").split(" ")
        word = max(_points(piece, size) for each in words for piece in _pieces(each) or [""])
        widest = max((_points(cell, size) for cell in cells), default=0.0)
        narrow = widest if column.is_number else min(widest, MIN_SENTENCE_EM * size)
        least.append(max(word, narrow))
        whole.append(widest)
    return least, whole


@cache
def _points(text: str, size: float) -> float:
    em = sum(
        WIDTHS.get(each, 0.79 if each.isupper() else 0.34 if each.isspace() else 0.51)
        for each in text
    )
    return em * size * SMALL_IS_WIDER[size] * SPARE


def _columns(table: Table, widths: Sequence[float]) -> str:
    """Write the columns: numbers to the right, words to the left, each of its width."""
    sides = ["raggedleft" if each.is_number else "raggedright" for each in table.columns]
    columns = (
        rf">{{\{side}\arraybackslash}}p{{{width:.1f}pt}}"
        for side, width in zip(sides, widths, strict=True)
    )
    between = f"@{{\\hspace{{{GAP_PT:g}pt}}}}"
    return f"@{{}}{between.join(columns)}@{{}}"
