"""Escape text for LaTeX, so that it is taken as it is meant, whatever stands in it."""

from __future__ import annotations

import unicodedata
from functools import cache

from workbench.report.latex_columns import MAX_WORD

SPECIAL = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "%": r"\%",
    "_": r"\_",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': "''",
    "[": "{[}",  # behind \\ it would begin a length
    "]": "{]}",
    "×": r"\(\times\)",
    "÷": r"\(\div\)",
    "·": r"\(\cdot\)",
    "−": r"\(-\)",
    "±": r"\(\pm\)",
    "≤": r"\(\leq\)",
    "≥": r"\(\geq\)",
    "≈": r"\(\approx\)",
    "√": r"\(\surd\)",
    "Σ": r"\(\Sigma\)",
    "σ": r"\(\sigma\)",
    "µ": r"\textmu{}",
    "μ": r"\textmu{}",
    "°": r"\textdegree{}",
    "–": "--",
    "—": "---",
    "…": r"\ldots{}",
    "’": "'",
    "‘": "`",
    "“": "``",
    "”": "''",
    "→": r"\(\rightarrow\)",
    "\u00a0": "~",
    "\u202f": r"\,",
    "\u2009": r"\,",
}
SHIFTS = {"<super>": r"\textsuperscript", "<sub>": r"\textsubscript"}
LATIN_ENDS = 0x180  # what every LaTeX since 2018 can print without a package


def escaped(text: str) -> str:
    """Return `text` in LaTeX's own words.

    What it has no words for becomes its code point, and a word of more than MAX_WORD letters
    may be broken.
    """
    words = unicodedata.normalize("NFC", text).split(" ")
    return " ".join(map(_breakable, words))


def _breakable(word: str) -> str:
    parts = [word[at : at + MAX_WORD] for at in range(0, len(word), MAX_WORD)]
    return r"\allowbreak{}".join("".join(map(_escaped, part)) for part in parts)


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
