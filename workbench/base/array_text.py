"""Parse arrays as they stand in C++ or Python code into rows of numbers."""

from __future__ import annotations

import math
import re

COMMENT = re.compile(r"//[^\n]*|#[^\n]*|/\*.*?\*/", re.DOTALL)
FLOAT = re.compile(r"(?<=[\d.])[fF]\b")  # 1.0f
# What may stand around the brackets.  Anything else, such as a factor, would change the numbers.
BEFORE = re.compile(
    r"(?:[\w\s:<>,&*]*(?:\[\s*\w*\s*\]\s*)*=)?"  # const float weights[3][3] =
    r"\s*(?:\w+\.)?(?:array|asarray|float32)?\s*\(?\s*(?=[\[{])"  # np.array(
)
DIVIDED = re.compile(r"[\])}]\s*//\s*[\d.(]")  # in Python that is no comment
AFTER = re.compile(
    r"\s*(?:,\s*(?:dtype\s*=\s*)?[A-Za-z'\"][\w.'\"]*)?\s*,?\s*\)?\s*"  # , dtype=np.float32)
    r"(?:\.(?:reshape|astype)\([^()]*(?:\([^()]*\))?[^()]*\)\s*)*;?\s*"
)
DEEPEST = 2


def rows_of_array(text: str) -> str:
    """Return the rows of {{0, 1, 0}, …}, [[0, 1, 0], …] or {0, 1, 0, …}; 1.0f is 1.0.

    Of a square written as one row the rows are made.  `text` as it is where it is no such array, or
    more than one: then it is judged as numbers, and refused as that.
    """
    if ("[" not in text and "{" not in text) or DIVIDED.search(text):
        return text
    code = COMMENT.sub(" ", text)
    before = BEFORE.match(code)
    end = _end_of_brackets(code, before.end()) if before else None
    if before is None or end is None or not AFTER.fullmatch(code, end):
        return text
    inside = FLOAT.sub("", code[before.end() : end])
    rows = re.sub(r"[\]}]\s*,?", "\n", re.sub(r"[\[{]", "", inside)).replace(",", " ").strip()
    cells = rows.split()
    side = math.isqrt(len(cells))
    if not cells or "\n" in rows or side * side != len(cells):
        return rows
    return "\n".join(" ".join(cells[at : at + side]) for at in range(0, len(cells), side))


def _end_of_brackets(code: str, start: int) -> int | None:
    """Return the position behind the bracket that closes the one at `start`.

    None where none does, or too many are within each other.
    """
    depth = 0
    for found in re.compile(r"[\[\]{}]").finditer(code, start):
        depth += 1 if found[0] in "[{" else -1
        if depth == 0:
            return found.end()
        if depth > DEEPEST:
            return None
    return None
