"""See in CUDA C++ without a compiler what a function takes, and on which line."""

from __future__ import annotations

import re
from dataclasses import dataclass

# Literals are matched so that what looks like a comment within one stays; and numbers, as 1'000 has
# no literal in it.
_TOKEN = re.compile(
    r"""(?P<raw>(?<!\w)(?:u8|[uUL])?R"(?P<mark>[^\s()\\"]*)\(.*?(?:\)(?P=mark)"|\Z))"""
    r"""|//(?:\\\n|[^\n])*|/\*.*?(?:\*/|\Z)|\.?\b\d(?:'?\w|\.)*"""
    r"""|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'""",
    re.DOTALL,
)
_DECORATION = re.compile(
    r"\b(?:__launch_bounds__|__maxnreg__|__cluster_dims__|__block_size__|__attribute__|__align__|"
    r"alignas)\s*(?=\()|\[(?=\[)"
)
# Not beyond the next one, or a text of nothing else would take minutes.
_KERNEL = re.compile(r"__global__\b(?:(?!__global__)[^;{}()])*?\b(\w+)\s*\(")


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter of a function, as it is written, and the line that it ends on."""

    text: str
    line: int


def without_comments(source: str) -> str:
    """Return `source` with blanks for its comments; every character keeps its place."""
    return _TOKEN.sub(_blanked, source)


def without_literals(source: str, *, joined: bool = False) -> str:
    """Return the same with blanks for what stands in quotes as well.

    joined  blank the ends of lines in comments, too: a directive goes on behind them
    """

    def blanked(found: re.Match[str]) -> str:
        text = found[0]
        if text[0].isdigit() or text[0] == ".":
            return text
        return " " * len(text) if joined else _blank(text)

    return _TOKEN.sub(blanked, source)


def without_decorations(code: str) -> str:
    """Blank __launch_bounds__(…), attributes and the like, which may stand before any name.

    code  without comments
    """
    parts, end = [], 0
    while found := _DECORATION.search(code, end):
        begin, last = end, found.start()
        end = _closing(code, found.end())
        parts += [code[begin:last], _blank(code[last:end])]
    return "".join((*parts, code[end:]))


def kernels_in(code: str) -> dict[str, int]:
    """Return the names of the kernels in a text without comments, each with its line."""
    bare = without_decorations(code)
    return {each[1]: bare.count("\n", 0, each.end()) + 1 for each in _KERNEL.finditer(bare)}


def parameters_of(function: str, code: str) -> tuple[int, tuple[Parameter, ...]] | None:
    """Return the line of a kernel and its parameters; None where it is not written out.

    code  without comments
    """
    code = without_decorations(code)
    found = next((each for each in _KERNEL.finditer(code) if each[1] == function), None)
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
    return _blank(found[0]) if found[0].startswith("/") else found[0]


def _blank(text: str) -> str:
    return re.sub(r"[^\n]", " ", text)


def _closing(code: str, at: int) -> int:
    """Return the place behind the bracket that closes the one at `at`."""
    depth = 0
    for place in range(at, len(code)):
        depth += (code[place] in "([{") - (code[place] in ")]}")
        if depth == 0:
            return place + 1
    return len(code)


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
