"""Find the bracket that belongs to another one, past comments and quoted text."""

from __future__ import annotations

import re

PAIRS = {"(": ")", "[": "]", "{": "}"}
OPENING, CLOSING = "".join(PAIRS), "".join(PAIRS.values())
NO_CODE = re.compile(
    r'//[^\n]*|/\*.*?(?:\*/|\Z)|"(?:\\.|[^"\\\n])*"?|' + r"'(?:\\.|[^'\\\n])*'?", re.S
)

BEYOND = re.compile("[\U00010000-\U0010ffff]")  # letters that Qt counts as two


def bracket_pair(text: str, at: int) -> tuple[int, int] | None:
    """Return where the bracket beside the cursor stands, and its other half.

    at  the cursor; a bracket behind it goes before one in front of it
    Returns None where there is no bracket; (place, -1) for one that has no other half.
    """
    text = BEYOND.sub("  ", text)
    code = NO_CODE.sub(lambda found: " " * len(found[0]), text)
    for place in (at, at - 1):
        if 0 <= place < len(code) and code[place] in OPENING + CLOSING:
            return place, _other_half(code, place)
    return None


def _other_half(code: str, place: int) -> int:
    """Return where the other half stands; -1: nowhere, or another kind stands in its place."""
    step = 1 if code[place] in OPENING else -1
    deeper, wanted = (OPENING, CLOSING) if step == 1 else (CLOSING, OPENING)
    waiting: list[str] = []
    for at in range(place, len(code) if step == 1 else -1, step):
        letter = code[at]
        if letter in deeper:
            waiting.append(wanted[deeper.index(letter)])
        elif letter in wanted and letter != waiting.pop():
            return -1
        if letter in wanted and not waiting:
            return at
    return -1
