"""Words of C++'s library that CUDA's compiler does not know: it reads no header.

A compiler for the CPU knows them, and would take what no GPU can run.  They are those that NVRTC 12
and 13 refuse, of the ones that a header brings here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain

from kernels.rungs.cuda_text import without_literals

IN_STD = frozenset({"move", "forward", "initializer_list"})  # all that NVRTC has there
TYPES = {
    **{f"{sign}int{bits}_t": "" for sign in ("", "u") for bits in (8, 16, 32, 64)},
    "int8_t": "signed char",
    "uint8_t": "unsigned char, or uint8",
    "int16_t": "short",
    "uint16_t": "unsigned short, or uint16",
    "int32_t": "int",
    "uint32_t": "unsigned",
    "int64_t": "long long",
    "uint64_t": "unsigned long long",
    "intptr_t": "long long",
    "uintptr_t": "unsigned long long",
    "uint": "unsigned",
    "ushort": "unsigned short",
    "ulong": "unsigned long",
    "ssize_t": "long long",
    "intmax_t": "long long",
    "uintmax_t": "unsigned long long",
    "float_t": "float",
    "double_t": "double",
    "_Float16": "float16 for what is stored, and float to compute",
}
VALUES = {
    "M_PI": "3.14159265f",
    "NAN": 'nanf("")',
    "INFINITY": "__int_as_float(0x7f800000)",
    "HUGE_VALF": "__int_as_float(0x7f800000)",
    "SIZE_MAX": "~0ull",
    "UINT8_MAX": "255",
    "INT32_MAX": "2147483647",
    "UINT32_MAX": "0xffffffffu",
    "RAND_MAX": "",
    "stdout": "",
    "stderr": "",
}
FUNCTIONS = {
    **dict.fromkeys(("memmove", "memcmp", "strlen", "strcpy", "strcmp", "calloc", "realloc"), ""),
    **dict.fromkeys(("sprintf", "snprintf", "puts", "putchar", "fprintf"), "printf"),
    **dict.fromkeys(("rand", "srand", "getenv", "atoi", "atof", "qsort"), ""),
    **dict.fromkeys(("exit", "abort"), "__trap()"),
    "__builtin_popcount": "__popc",
    "__builtin_clz": "__clz",
    "__builtin_memcpy": "memcpy",
    "__builtin_sqrtf": "sqrtf",
}
WORDS = {**TYPES, **VALUES, **FUNCTIONS}
# Of std, what is there without that.
ALONE = frozenset(
    (
        *("min", "max", "abs", "fabs", "sqrt", "pow", "exp", "log", "floor", "ceil", "round"),
        *("sin", "cos", "tan", "hypot", "fma", "fmod", "isnan", "isinf", "isfinite"),
        *("memcpy", "memset", "printf", "size_t"),
    )
)
WITHOUT = "Device code is compiled without C++'s library"
HOST = (
    "A kernel's file holds device code alone: the program gets the memory, copies the picture, and "
    "launches the kernel."
)
ANNOTATED = (
    ("without execution space annotations", "Write __device__ in front of it."),
    ("without memory space annotations", "Write __device__ or __constant__ in front of it."),
)
READ_ONLY = "The picture is only to be read: write to the answer, dst."
NAMED = re.compile(
    r"identifier \"(\w+)\" is undefined|['‘](\w+)['’] was not declared in this scope"
)
OF_STD = re.compile(r"namespace \"std\" has no member \"(\w+)\"")
NO_LVALUE = re.compile(r"must be a modifiable lvalue|assignment of read-only location")
NOT_COMPILED = re.compile(
    r"^[ \t]*#[ \t]*if[ \t]+0\b.*?^[ \t]*#[ \t]*(?:else|elif|endif)|"
    r"^[ \t]*#[ \t]*(?:if|ifdef|ifndef|elif|undef)\b[^\n]*",
    re.M | re.DOTALL,
)
_WORD = re.compile(rf"(?<![\w.:>])(?:{'|'.join(map(re.escape, WORDS))})\b")
_STD = re.compile(r"(?<![\w:])std\s*::\s*(\w+)")


def unknown_words(source: str) -> list[tuple[int, str]]:
    """Return the lines of a text that have such words, and what NVRTC says of each."""
    code = NOT_COMPILED.sub(_blanked, without_literals(source))
    return sorted(
        {
            (code.count("\n", 0, at) + 1, said)
            for at, said in chain(_of_std(code), _of_headers(code))
        }
    )


def hint_for(message: str) -> str:
    """Return a sentence on what to do about a compiler's message; empty: nothing is known."""
    if found := OF_STD.search(message):
        name = found[1]
        if name in ALONE:
            return f"{WITHOUT}: write {name} alone."
        return f"{WITHOUT}." if not WORDS.get(name) else f"{WITHOUT}: write {WORDS[name]}."
    if found := NAMED.search(message):
        name = found[1] or found[2]
        if re.match(r"cuda[A-Z]", name):
            return HOST
        if name in WORDS:
            return f"{WITHOUT}{': write ' if WORDS[name] else ''}{WORDS[name]}."
    for words, hint in ANNOTATED:
        if words in message:
            return hint
    return READ_ONLY if NO_LVALUE.search(message) else ""


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


def _blanked(found: re.Match[str]) -> str:
    return re.sub(r"[^\n]", " ", found[0])


def _is_declared(name: str, code: str) -> bool:
    """Return whether a text gives a word a meaning of its own."""
    word = rf"\b{re.escape(name)}\b"
    of_type = (
        rf"#[ \t]*define[ \t]+{word}|\busing\s+{word}\s*=|\btypedef\b[^;]*{word}\s*(?:\[[^;]*\])?;|"
        rf"\b(?:struct|class|enum|union|typename)\s+{word}"
    )
    of_other = rf"\b(?!return\b|else\b|case\b|goto\b|do\b)[A-Za-z_]\w*[\s*&]+{word}\s*[(=;,\[{{)]"
    return bool(re.search(of_type, code)) or (name not in TYPES and bool(re.search(of_other, code)))
