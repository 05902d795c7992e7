"""See in CUDA C++ without a compiler what a function takes, and on which line."""

from __future__ import annotations

import re
from dataclasses import dataclass

# Literals are matched so that what looks like a comment within one stays.
_TOKEN = re.compile(
    r"""//[^\n]*|/\*.*?(?:\*/|\Z)|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])'""", re.DOTALL
)


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter of a function, as it is written, and the line that it ends on."""

    text: str
    line: int


def without_comments(source: str) -> str:
    """Return `source` with blanks for its comments; every character keeps its place."""
    return _TOKEN.sub(_blanked, source)


def without_literals(source: str) -> str:
    """Return the same with blanks for what stands in quotes as well."""
    return _TOKEN.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), source)


def parameters_of(function: str, code: str) -> tuple[int, tuple[Parameter, ...]] | None:
    """Return the line of a kernel and its parameters; None where it is not written out.

    code  without comments
    """
    # Not beyond the next one, or a text of nothing else would take minutes.
    words = rf"__global__(?:(?!__global__)[^;{{}}])*?\b{re.escape(function)}\s*\("
    found = re.search(words, code)
    if not found:
        return None
    line = code.count("\n", 0, found.end()) + 1
    parameters: list[Parameter] = []
    depth, start = 1, found.end()
    for at in range(start, len(code)):
        depth += code[at] in "([{<"
        depth -= code[at] in ")]}>"
        if depth == 0 or (depth == 1 and code[at] == ","):
            text = " ".join(code[start:at].split())
            if text and text != "void":
                parameters.append(Parameter(text, code.count("\n", 0, at) + 1))
            start = at + 1
        if depth == 0:
            return line, tuple(parameters)
    return None


def _blanked(found: re.Match[str]) -> str:
    text = found[0]
    return re.sub(r"[^\n]", " ", text) if text.startswith("/") else text


def line_without_end(source: str, line: int, message: str) -> int:
    """Return the line that a compiler means by a message of `line`, where it misses a `;`.

    It notices at the next word, which as a rule begins the next line.
    """
    if not re.search(r"expected (?:an? )?[^;]*['\"‘];['\"’]", message):
        return line
    lines = without_comments(source).split("\n")[:line]
    if not lines or re.match(r"\s*(?:[-+*/%=<>&|^?:.,)\]]|$)", lines[-1]):
        return line
    before = next((n for n in range(len(lines) - 1, 0, -1) if lines[n - 1].strip()), 0)
    has_end = not before or lines[before - 1].rstrip().endswith((";", "{", "}", ":", ",", "\\"))
    return line if has_end or lines[before - 1].lstrip().startswith("#") else before
