"""CUDA C++ as text: parts, comments, functions, directives and words, without a compiler."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from functools import cache
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from kernels.core.plain_data import table_beside

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


def without_comments(source: str) -> str:
    """`source` with blanks for its comments; every character keeps its place."""
    return _TOKEN.sub(lambda each: _blank(each[0]) if each[0][0] == "/" else each[0], source)


def without_literals(source: str, *, joined: bool = False) -> str:
    """`source` with blanks for its comments and for quoted text.

    joined  blank the ends of lines in comments, too: a directive goes on behind them
    """

    def blank(found: re.Match[str]) -> str:
        text = found[0]
        if text[0].isdigit() or text[0] == ".":
            return text
        return " " * len(text) if joined else _blank(text)

    return _TOKEN.sub(blank, source)


def without_decorations(code: str) -> str:
    """Blank __launch_bounds__(…), attributes and the like in a source without comments."""
    parts, end = [], 0
    while found := _DECORATION.search(code, end):
        begin, last = end, found.start()
        end = _closing(code, found.end())
        parts += [code[begin:last], _blank(code[last:end])]
    return "".join((*parts, code[end:]))


def kernels_in(code: str) -> dict[str, int]:
    """Names of the kernels in a source without comments, each with its line."""
    bare = without_decorations(code)
    return {each[1]: line_at(bare, each.end()) for each in _KERNEL.finditer(bare)}


def parameters_of(function: str, code: str) -> tuple[int, list[tuple[str, int]]] | None:
    """Line and parameters of a kernel in a source without comments; None if it is not there.

    Of each parameter what is written, and the line that it ends on.
    """
    code = without_decorations(code)
    found = next((each for each in _KERNEL.finditer(code) if each[1] == function), None)
    if not found:
        return None
    parameters: list[tuple[str, int]] = []
    depth, start = 1, found.end()
    for at in range(start, len(code)):
        depth += (code[at] in "([{<") - (code[at] in ")]}>")
        if depth == 0 or (depth == 1 and code[at] == ","):
            text = " ".join(code[start:at].split())
            if text and text != "void":
                parameters.append((text, line_at(code, at)))
            start = at + 1
        if depth == 0:
            return line_at(code, found.end()), parameters
    return None


def line_at(code: str, at: int) -> int:
    """The line, from 1, of a place in a text."""
    return code.count("\n", 0, at) + 1


def _blank(text: str) -> str:
    return re.sub(r"[^\n]", " ", text)


def _closing(code: str, at: int) -> int:
    """The place behind the bracket that closes the one at `at`."""
    depth = 0
    for place in range(at, len(code)):
        depth += (code[place] in "([{") - (code[place] in ")]}")
        if depth == 0:
            return place + 1
    return len(code)


def line_without_end(source: str, line: int, message: str) -> int:
    """The line that lacks a `;` by a compiler's message of `line`, which may be the next one."""
    if not re.search(r"expected (?:an? )?[^;]*['\"‘];['\"’]", message):
        return line
    lines = without_comments(source).split("\n")[:line]
    if not lines or re.match(r"\s*(?:[-+*/%=<>&|^?:.,)\]]|$)", lines[-1]):
        return line
    before = next((n for n in range(len(lines) - 1, 0, -1) if lines[n - 1].strip()), 0)
    has_end = not before or lines[before - 1].rstrip().endswith((";", "{", "}", ":", ",", "\\"))
    return line if has_end or lines[before - 1].lstrip().startswith("#") else before


LADDER = Path(__file__).parents[1] / "ladder"
PRELUDE = "prelude"


class Part(NamedTuple):
    """One file's share of a text, which begins in a line of it."""

    name: str  # the file's, without folders: what is compiled says nothing of this computer
    line: int
    text: str


def header_parts(includes: Iterable[str]) -> tuple[Part, ...]:
    """The prelude and those headers of the ladder's folder."""
    return tuple(part for name in (PRELUDE, *includes) for part in _parts_of(name))


def with_lines(parts: Iterable[Part]) -> str:
    """Join `parts`; the compiler counts lines in each of them anew."""
    return "".join(f"#line {each.line} {_quoted(each.name)}\n{each.text}" for each in parts)


def _quoted(name: str) -> str:
    plain = "".join(letter if letter.isprintable() else "?" for letter in name)
    return '"' + plain.replace("\\", "\\\\").replace('"', '\\"') + '"'


@cache
def _parts_of(name: str) -> tuple[Part, ...]:
    """A header without the knobs' defaults, which are for editors."""
    file = f"{name}.cuh"
    text = (LADDER / file).read_text(encoding="utf-8")
    before, start, rest = text.partition("#ifndef KSIZE")
    if not start:
        return (Part(file, 1, text + "\n"),)
    behind = rest.partition("#endif")[2]
    line = text.count("\n") - behind.count("\n") + 1
    return Part(file, 1, before), Part(file, line, behind + "\n")


# What the CPU runtime gives another meaning, so that it has no effect on more than this text.
RESERVED = frozenset(("__attribute__", "_Pragma", "CUDA_ON_CPU"))
CONDITIONS = ("if", "ifdef", "ifndef")
HARMLESS = {*CONDITIONS, "elif", "elifdef", "elifndef", "else", "endif", "error", "warning", ""}
PRAGMA = re.compile(
    r"(?:unroll|nounroll|once|pack|nv_\w+|diag_\w+|hd_\w+|GCC\s+(?:unroll|ivdep))\b"
)
FILES = ("include", "include_next", "import", "embed")
NO_RAW = 'a text with lines that end in \\ cannot have strings that begin with R"; write "…"'
# What a hand-in may ask of who compiles it; anything else would tell the CPU runtime from a GPU.
OF_CUDA = {
    *("__CUDA_ARCH__", "__CUDACC__", "__CUDACC_RTC__", "__CUDACC_VER_MAJOR__", "__NVCC__"),
    *("__CUDACC_VER_MINOR__", "__cplusplus", "__has_cpp_attribute", "_DEBUG", "_WIN32"),
}
_GOES_ON = re.compile(r"\\[ \t]*\n")  # a line that the next one belongs to
_CONTINUED = re.compile(r"^(?:[^\n]*\\[ \t]*\n)+[^\n]*\n?", re.M)
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
_PLAIN = re.compile(r"\w+\s[\w\s*.]+")
_GLOBAL = re.compile(r"(?:(\b\w+|>)|(?<![\w>\s]))\s*(::)\s*[A-Za-z_]")  # looks at blanks once
_HAS = re.compile(r"\b__has_(?:include|include_next|embed|feature)\b")


def refused(
    source: str, job_macros: Collection[str], *, is_strict: bool = False
) -> tuple[int, str] | None:
    """The first line that no kernel may have, and why; None: there is none.

    job_macros  must not be redefined: that would change the job in silence
    is_strict   nor may anything tell one compiler from another
    """
    joined = _CONTINUED.sub(  # with the lines below where they were
        lambda found: _GOES_ON.sub("", found[0]) + "\n" * len(_GOES_ON.findall(found[0])), source
    )
    if joined != source and (raw := _RAW.search(joined)):  # the one thing that a joint is part of
        return line_at(joined, raw.end()), NO_RAW
    code = without_literals(joined, joined=True)
    own = {*OF_CUDA, *RESERVED, *macros_in(source)}
    telling = ((at, TELLING.format(word=" ".join(w.split()))) for at, w in _telling(code, own))
    for at, reason in chain(_refusals(code, job_macros), telling if is_strict else ()):
        return line_at(joined, at), reason
    return None


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
    others = set(macros_in(code)) - plain
    for found in _MEASURED.finditer(code):
        if found[1] is None or others.intersection(re.findall(r"\w+", found[1])):
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
    """The macro that is not defined behind a condition; "0" for `#if 0`."""
    if word == "ifndef":
        return rest.partition(" ")[0]
    negated = re.fullmatch(r"!\s*defined\s*\(?\s*(\w+)\s*\)?", rest)
    return negated[1] if word == "if" and negated else "0" if rest == "0" else ""


def _why_not(word: str, rest: str, job_macros: Collection[str]) -> str:
    """Reason to reject a directive; empty: there is none."""
    if word in HARMLESS:
        return ""
    if word in FILES:
        return (
            "delete this line: a kernel includes no file; the prelude stands in front of it, and a "
            'header of the ladder comes with includes = ["wide"] in its own header'
        )
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


_TABLE = table_beside(__file__)
TYPES, VALUES, FUNCTIONS = _TABLE["types"], _TABLE["values"], _TABLE["functions"]
WORDS: dict[str, str] = {**TYPES, **VALUES, **FUNCTIONS}
IN_STD, ALONE = _TABLE["in_std"], _TABLE["alone"]
HINTS: dict[str, str] = _TABLE["hints"]
WITHOUT = "Device code is compiled without C++'s library"
NAMED = re.compile(
    r"identifier \"(\w+)\" is undefined|['‘](\w+)['’] was not declared in this scope"
)
OF_STD = re.compile(r"namespace \"std\" has no member \"(\w+)\"")
NOT_COMPILED = re.compile(
    r"^[ \t]*#[ \t]*if[ \t]+0\b.*?^[ \t]*#[ \t]*(?:else|elif|endif)|"
    r"^[ \t]*#[ \t]*(?:if|ifdef|ifndef|elif|undef)\b[^\n]*",
    re.M | re.DOTALL,
)
_WORD = re.compile(rf"(?<![\w.:>])(?:{'|'.join(map(re.escape, WORDS))})\b")
_STD = re.compile(r"(?<![\w:])std\s*::\s*(\w+)")


def unknown_words(source: str) -> list[tuple[int, str]]:
    """Lines with words that NVRTC does not know, and its message for each."""
    code = NOT_COMPILED.sub(lambda found: _blank(found[0]), without_literals(source))
    return sorted(
        {(line_at(code, at), said) for at, said in chain(_of_std(code), _of_headers(code))}
    )


def hint_for(message: str) -> str:
    """Advice on a compiler's message; empty: nothing is known."""
    of_std, named = OF_STD.search(message), NAMED.search(message)
    name = next((each for found in (of_std, named) if found for each in found.groups() if each), "")
    if re.match(r"cuda[A-Z]", name) and not of_std:
        return (
            "A kernel's file holds device code alone: the program gets the memory, copies the "
            "picture, and launches the kernel."
        )
    if of_std or name in WORDS:
        word = name if of_std and name in ALONE else WORDS.get(name)
        advice = f"{word} alone" if word == name else word
        return f"{WITHOUT}: write {advice}." if word else f"{WITHOUT}."
    return next((hint for words, hint in HINTS.items() if re.search(words, message)), "")


def _of_std(code: str) -> Iterator[tuple[int, str]]:
    if re.search(r"\bnamespace\s+std\b(?!\s*;)", re.sub(r"\busing\s+namespace", "", code)):
        return  # one of its own
    for found in _STD.finditer(code):
        if found[1] not in IN_STD:
            yield found.start(), f'namespace "std" has no member "{found[1]}"'


def _of_headers(code: str) -> Iterator[tuple[int, str]]:
    own: dict[str, bool] = {}
    for found in _WORD.finditer(code):
        name = found[0]
        if not own.setdefault(name, _is_declared(name, code)):
            yield found.start(), f'identifier "{name}" is undefined'


def _is_declared(name: str, code: str) -> bool:
    word = rf"\b{re.escape(name)}\b"
    of_type = (
        rf"#[ \t]*define[ \t]+{word}|\busing\s+{word}\s*=|\btypedef\b[^;]*{word}\s*(?:\[[^;]*\])?;|"
        rf"\b(?:struct|class|enum|union|typename)\s+{word}"
    )
    of_other = rf"\b(?!return\b|else\b|case\b|goto\b|do\b)[A-Za-z_]\w*[\s*&]+{word}\s*[(=;,\[{{)]"
    return bool(re.search(of_type, code)) or (name not in TYPES and bool(re.search(of_other, code)))
