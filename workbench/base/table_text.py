"""Numbers from a spreadsheet, or an array in C++ or Python, and back."""

from __future__ import annotations

import math
import re
from functools import lru_cache
from statistics import fmean

from kernels.core.errors import BadJobError

COMMENT = re.compile(r"//[^\n]*|#[^\n]*|/\*.*?\*/", re.DOTALL)
FLOAT = re.compile(r"(?<=[\d.])[fF]\b")  # 1.0f
DIVIDED = re.compile(r"[\])}]\s*//\s*[\d.(]")  # in Python that is no comment
# Allowed around the brackets.  Anything else, such as a factor, would change the numbers.  Blanks
# are matched once (\s*+), or a text of many would take minutes.
BEFORE = (
    r"(?:[\w\s:<>,&*]*(?:\[\s*+\w*+\s*+\]\s*+)*=)?"  # const float weights[3][3] =
    r"\s*+(?:\w+\.)?(?:array|asarray|float32)?\s*+\(?\s*+"  # np.array(
)
AFTER = (
    r"\s*+(?:,\s*(?:dtype\s*=\s*)?[A-Za-z'\"][\w.'\"]*)?\s*+,?\s*+\)?\s*+"  # , dtype=np.float32)
    r"(?:\.(?:reshape|astype)\([^()]*+(?:\([^()]*+\))?[^()]*+\)\s*+)*;?\s*"
)
ARRAY = re.compile(rf"{BEFORE}([\[{{].*[\]}}]){AFTER}", re.DOTALL)


def rows_of_array(text: str) -> str:
    """Rows of {{0, 1, 0}, …}, [[0, 1, 0], …] or {0, 1, 0, …}; 1.0f is 1.0.

    A square written as one row becomes rows.  `text` as it is where it is no such array, or more
    than one.
    """
    array = None if DIVIDED.search(text) else ARRAY.fullmatch(COMMENT.sub(" ", text))
    if array is None:
        return text
    inside, opened = re.subn(r"[\[{]", "", FLOAT.sub("", array[1]))
    rows, closed = re.subn(r"[\]}]\s*,?", "\n", inside)
    rows = rows.replace(",", " ").strip()
    cells = rows.split()
    side = math.isqrt(len(cells))
    if opened != closed:
        return text
    if "\n" in rows or side * side != len(cells):
        return rows
    return "\n".join(" ".join(cells[at : at + side]) for at in range(0, len(cells), side or 1))


Texts = tuple[tuple[str, ...], ...]  # cells as they are written

MAX_SIZE = 31
SIZES = range(1, MAX_SIZE + 1, 2)
MAX_VALUE = 3.4028234e38  # that float32 holds
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
DECIMAL_COMMA = re.compile(r"(?<=\d),(?=\d)")
QUOTED = re.compile(r'"([^"\n]*)"')
MAX_QUOTED = 20  # characters of a cell, in a sentence
MAX_CHARACTERS = 100_000  # of text that is looked at: 127×127 long numbers


class BadTextError(BadJobError):
    """The text is not a square of numbers; str(error) is one sentence."""


@lru_cache(maxsize=8192)
def value_of(text: str) -> float | None:
    """Number in a cell: 0.25, 0,25, 1e-3 or 1/9; None for others, and beyond float32."""
    value = _number(text)
    return value if value is not None and abs(value) <= MAX_VALUE else None


def why_no_value(text: str) -> str:
    """Reason why `value_of` gives none: "is not a number"."""
    return "is not a number" if _number(text) is None else "is too large for float32"


def _number(text: str) -> float | None:
    parts = [part.strip() for part in text.replace("−", "-").split("/")]
    plain = [part if "." in part else DECIMAL_COMMA.sub(".", part, count=1) for part in parts]
    if len(parts) > 2 or not all(map(NUMBER.fullmatch, plain)):
        return None
    above, below = map(float, (*plain, "1")[:2])
    return above / below if below else None


def read_table(text: str) -> Texts:
    """Cells of a square of numbers, of odd size from 1 to 31.

    The separator is whichever makes it one: of 1,5 as a number and as two, no more than one can be
    a square.  Raises BadTextError where there is none.
    """
    tables = _readings(text)
    for table in tables:
        is_square = len(table) in SIZES and all(len(row) == len(table) for row in table)
        if is_square and _are_numbers(table):
            return table
    raise BadTextError(_objection(tables))


def read_block(text: str) -> Texts | None:
    """Cells of a rectangle of numbers, of any size; None where it is none."""
    for table in _readings(text):
        if len({len(row) for row in table}) == 1 and _are_numbers(table):
            return table
    return None


def _readings(text: str) -> list[Texts]:
    """All readings of the text.  Raises BadTextError where there is nothing, or too much."""
    if len(text) > MAX_CHARACTERS:
        raise BadTextError("That is too much text for weights; copy only the cells.")
    text = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n").strip("\n ")
    # A comma within quotes separates no cells: "0,5","1" is 0.5 and 1.
    text = QUOTED.sub(lambda found: found[1].replace(",", "."), text)
    text = rows_of_array(text)
    if not text.strip():
        raise BadTextError("There is no text to paste; copy a square of numbers first.")
    return [table for between in _separators(text) if (table := _split(text, *between))]


def as_text(cells: Texts, separator: str = "\t") -> str:
    """A line per row, as spreadsheets take it."""
    return "\n".join(separator.join(row) for row in cells)


def shortest(value: float) -> str:
    """As few digits as are this number again: "0.25", "-1", "1e-05"."""
    return str(int(value)) if value == int(value) and abs(value) < 1e15 else repr(value)


def compact(value: float, digits: int) -> str:
    """So many digits in the fewest characters, for people: "0.25", "−1.5e−4"."""
    plain = f"{value:.{digits}g}"
    mantissa, _, exponent = f"{value:.{digits - 1}e}".partition("e")
    mantissa = mantissa.rstrip("0").rstrip(".") if "." in mantissa else mantissa
    short = min(plain, f"{mantissa}e{int(exponent)}", key=len)
    return short.replace("-", "−")


def in_words(cell: str) -> str:
    """Quote a cell at the beginning of a sentence."""
    cut = "…" if len(cell) > MAX_QUOTED else ""
    return f"“{cell[:MAX_QUOTED]}{cut}”" if cell else "An empty cell"


def _separators(text: str) -> list[tuple[str, str]]:
    """Separators of rows and of cells that the text may have, by its characters."""
    if "\t" in text:
        return [("\n", "\t")]
    if ";" in text:  # a file from where commas are decimal; or 0 1 0; 1 -4 1; 0 1 0
        return [("\n", ";"), (";", r"\s+"), (";", r"\s*,\s*|\s+")]
    return [("\n", r"\s+"), *([("\n", r"\s*,\s*|\s+")] if "," in text else [])]


def _split(text: str, between_rows: str, between_cells: str) -> Texts:
    """Cells of the text, without the empty columns left and right of the numbers."""
    margin = "\n" if between_cells == "\t" else " \n"
    rows = [row.strip(margin) for row in text.split(between_rows) if row.strip()]
    table = [[cell.strip() for cell in re.split(between_cells, row)] for row in rows]
    filled = [x for row in table for x, cell in enumerate(row) if cell] or [0]
    return tuple(tuple(row[min(filled) : max(filled) + 1]) for row in table)


def _are_numbers(table: Texts) -> bool:
    return all(value_of(cell) is not None for row in table for cell in row)


def _objection(tables: list[Texts]) -> str:
    def numbers(table: Texts) -> float:
        return fmean(value_of(cell) is not None for row in table for cell in row)

    best = max(tables, key=lambda table: (numbers(table), len(table[0])))
    for row, cells in enumerate(best, 1):
        for column, cell in enumerate(cells, 1):
            if value_of(cell) is None:
                place = f"row {row}, column {column}"
                return f"{in_words(cell)} in {place} {why_no_value(cell)}; nothing was changed."
    widths = " or ".join(map(str, sorted({len(row) for row in best})))
    return (
        f"Weights are a square of odd size up to {MAX_SIZE}; this is {len(best)} rows of {widths}. "
        "Nothing was changed."
    )
