"""Preprocessor directives that a user kernel may not have.

A compiler would read other files for them, quote those in its messages, or act on the rest of what
is compiled; and a job's own macros are the job's.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from itertools import accumulate
from typing import NamedTuple

from kernels.rungs.cuda_text import without_literals

# What the CPU runtime gives another meaning, so that it has no effect on more than this text.
RESERVED = frozenset(("__attribute__", "_Pragma", "CUDA_ON_CPU"))
CONDITIONS = ("if", "ifdef", "ifndef")
HARMLESS = frozenset(
    (*CONDITIONS, "elif", "elifdef", "elifndef", "else", "endif", "error", "warning", "")
)
PRAGMA = re.compile(
    r"(?:unroll|nounroll|once|pack|nv_\w+|diag_\w+|hd_\w+|GCC\s+(?:unroll|ivdep))\b"
)
FILES = ("include", "include_next", "import", "embed")
NO_FILES = (
    "delete this line: a kernel includes no file; the prelude stands in front of it, and a header "
    'of the ladder comes with includes = ["wide"] in its own header'
)
NO_RAW = 'a text with lines that end in \\ cannot have strings that begin with R"; write "…"'
# What a hand-in may ask of who compiles it; anything else would tell the CPU runtime from a GPU.
OF_CUDA = frozenset(
    (
        *("__CUDA_ARCH__", "__CUDACC__", "__CUDACC_RTC__", "__CUDACC_VER_MAJOR__", "__NVCC__"),
        *("__CUDACC_VER_MINOR__", "__cplusplus", "__has_cpp_attribute", "_DEBUG", "_WIN32"),
    )
)
_GOES_ON = re.compile(r"\\[ \t]*\n")  # a line that the next one belongs to
_DIRECTIVE = re.compile(r"^[^\S\n]*(?:#|%:)[^\S\n]*(\w*)[^\S\n]*([^\n]*)", re.M)
_RAW = re.compile(r'(?<!\w)(?:u8|[uUL])?R"')
# What has other values or types by compiler, or asks what a name means to this one.
TELLING = "{word} tells compilers apart, which no hand-in may"
_SPELT = re.compile(r"(?<!_Pragma\()(?<!#)(?:#|%:)(?!#|%:)\s*\w+")  # how macros look inside
_TELLS = re.compile(
    r"\b(?:decltype|requires|concept|__typeof\w*|long\s+double|noexcept\s*\("
    r"|__builtin_(?!expect|unreachable|assume)\w+|__(?:is|has)_\w+|__func__"
    r"|__(?!CUDA|NVCC|VA_|FAST_|LINE_|FILE_)[A-Z][A-Z_]+__)"
)
# Of a type alone: not of what is called, nor of a macro in which a call may be.
_MEASURED = re.compile(
    r"\b(?:sizeof|alignof)\b(?:\s*\(([\w\s*&:<>,\[\].]*)\)(?!\s*[(.\[{]|\s*->))?"
)
_PLAIN = re.compile(r"\w+\s+[\w\s*.]+")
_GLOBAL = re.compile(r"(\w+|[>])?\s*(::)\s*[A-Za-z_]")
_HAS = re.compile(r"\b__has_(?:include|include_next|embed|feature)\b")


class Refused(NamedTuple):
    """A line that a kernel may not have, and why."""

    line: int
    reason: str


def refused_directive(source: str, job_macros: Collection[str]) -> Refused | None:
    """Return the first directive that no kernel may have; None: there is none.

    job_macros  what fits the text to its job: to redefine one would change the job in silence
    """
    pieces = _GOES_ON.split(source)
    joined = "".join(pieces)
    if len(pieces) > 1 and (raw := _RAW.search(joined)):  # the one thing that a joint is part of
        found: tuple[int, str] | None = raw.end(), NO_RAW
    else:
        found = next(_refusals(without_literals(joined, joined=True), job_macros), None)
    return _placed(pieces, found)


def telling_word(source: str) -> Refused | None:
    """Return the first words that could tell one compiler from another; None: there are none."""
    pieces = _GOES_ON.split(source)
    code = without_literals("".join(pieces), joined=True)
    own = {*OF_CUDA, *RESERVED, *macros_in(source)}
    found = next(_telling(code, own), None)
    return _placed(pieces, found and (found[0], TELLING.format(word=" ".join(found[1].split()))))


def _placed(pieces: list[str], found: tuple[int, str] | None) -> Refused | None:
    """Place what was found in a text of joined pieces on its line."""
    if found is None:
        return None
    joints = sum(length < found[0] for length in accumulate(map(len, pieces)))
    return Refused("".join(pieces).count("\n", 0, found[0]) + joints + 1, found[1])


def _telling(code: str, own: Collection[str]) -> Iterator[tuple[int, str]]:
    """Yield such words of a text, and their places; own: macros that it may ask for."""
    plain = set()  # macros that stand for a type or number
    for found in _DIRECTIVE.finditer(code):
        word, rest = found[1], found[2]
        if word in CONDITIONS or word.startswith("elif"):
            for name in sorted(set(re.findall(r"\b_[_A-Z]\w*", rest)) - set(own)):
                yield found.start(1), name
        if word == "define":
            if spelt := _SPELT.search(rest):
                yield found.start(2) + spelt.start(), spelt[0]
            if _PLAIN.fullmatch(rest):
                plain.add(rest.split()[0])
    for found in _TELLS.finditer(code):
        yield found.start(), found[0]
    for found in _MEASURED.finditer(code):
        words = set(re.findall(r"\w+", found[1] or "("))
        if found[1] is None or words & (set(macros_in(code)) - plain):
            yield found.start(), found[0]
    for found in _GLOBAL.finditer(code):
        if not found[1] or found[1] in ("return", "case", "else", "do", "goto"):
            yield found.start(2), "::"


def macros_in(source: str, words: Collection[str] = ("define",)) -> list[str]:
    """Macros that the directives of a source define, each once."""
    code = without_literals(_GOES_ON.sub("", source), joined=True)
    named = (each[2] for each in _DIRECTIVE.finditer(code) if each[1] in words)
    return sorted({found[0] for each in named if (found := re.match(r"\w+", each))})


def _refusals(code: str, job_macros: Collection[str]) -> Iterator[tuple[int, str]]:
    """Yield places in a text, and what is wrong there."""
    if asked := _HAS.search(code):
        yield asked.end(), f"delete {asked[0]}: a kernel asks for no file"
    without: list[str] = []  # by open condition: the macro that its lines are compiled without
    for found in _DIRECTIVE.finditer(code):
        word, rest = found[1], found[2].strip()
        if word in CONDITIONS:
            without.append(_compiled_without(word, rest))
        elif word == "endif" and without:
            without.pop()
        elif word.startswith("el") and without:
            without[-1] = ""
        taken = () if "0" in without else set(job_macros).difference(without)
        if reason := _why_not(word, rest, taken):
            yield found.end(1), reason


def _compiled_without(word: str, rest: str) -> str:
    """Return the macro that is not defined behind a condition; "0" for `#if 0`."""
    if word == "ifndef":
        return rest.partition(" ")[0]
    negated = re.fullmatch(r"!\s*defined\s*\(?\s*(\w+)\s*\)?", rest)
    return negated[1] if word == "if" and negated else "0" if rest == "0" else ""


def _why_not(word: str, rest: str, job_macros: Collection[str]) -> str:
    """Reason to reject a directive; empty: there is none."""
    if word in HARMLESS:
        return ""
    if word in FILES:
        return NO_FILES
    if word == "pragma":
        name = " ".join(rest.split()[:2])
        return "" if PRAGMA.match(rest) else f"#pragma {name} means nothing to a kernel; delete it"
    if word not in ("define", "undef"):
        return f"#{word} is not for kernels; delete this line"
    macro = (re.match(r"\w*", rest) or [""])[0]
    if macro in RESERVED:
        return f"{macro} cannot be redefined"
    if macro in job_macros:
        return f"{macro} is given by the job, and cannot be redefined; choose another name"
    return ""
