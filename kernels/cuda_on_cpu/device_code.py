"""A rung's text as C++ for the CPU: once for each set of knobs, with what launches it."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable
from functools import cache
from itertools import chain
from pathlib import Path

from kernels.core.job import Job
from kernels.rungs.cuda_text import macros_in, without_literals
from kernels.rungs.headers import SMALLEST, knobs
from kernels.rungs.operands import example_of
from kernels.rungs.own_kernels import is_own
from kernels.rungs.rung import Rung

Knobs = tuple[tuple[str, str], ...]
HEADERS = sorted(Path(__file__).parent.glob("cuda_*.h"))
# What CUDA has as well, and operators that no macro may be called by.
OPERATORS = "and or not xor bitand bitor compl and_eq or_eq xor_eq not_eq"
KEPT = frozenset(f"NULL assert defined {OPERATORS}".split())
OWN_WORDS = "printf", "malloc", "memcpy", "memset", "clock", "clock64"  # instead of C's
GENERATED = "generated"  # as a file's name in the compiler's messages: what nobody wrote
STRICT_MACROS = ("CUDA_ON_CPU", "__CUDACC__", "__CUDACC_RTC__", "__CUDA_ARCH__")
# The linker's names for where the shared memory of one set of macros begins and ends.
SHARED_OF = (
    'extern "C" {{ __attribute__((weak, visibility("hidden"))) extern char '
    "__start_cuda_shared_{0}[], __stop_cuda_shared_{0}[]; }}"
)
# CUDA's own way to ask for shared memory of a size that the launch decides.
EXTERN_SHARED = re.compile(
    r"\bextern\s+__shared__\s+(?:__align__\s*\(\s*\w+\s*\)\s*)?"
    r"((?:(?!extern\b)[\w:\s])+?)\s*\b(\w+)\s*\[\s*\]\s*;"
)


def functions_of(rung: Rung) -> tuple[str, ...]:
    """The CUDA functions of its passes, each once."""
    return tuple(dict.fromkeys(each.function for each in rung.passes if not each.library))


def knobs_of(rung: Rung, job: Job) -> Knobs:
    """The macros that fit the rung to the job."""
    return tuple(sorted(rung.defines(job).items()))


def key_of(knobs: Knobs) -> str:
    """Short key of a set of macros: the names of its functions in a library end with it."""
    return hashlib.sha256(repr(knobs).encode()).hexdigest()[:12]


def generated(
    rung: Rung,
    sets: Iterable[Knobs],
    written: Callable[[str], str] = lambda text: text,
    *headers: str,
) -> str:
    """C++ with the rung's whole text for each set of macros, in namespaces of their own.

    written  changes a part's text, line by line
    headers  to include besides
    """
    by_key = {key_of(knobs): knobs for knobs in sets}
    # First, or g++ would not take it from where it is parsed.
    included = (f'#include "{each}"' for each in ("cuda_cpu.h", *headers))
    shared = (SHARED_OF.format(key) for key in by_key)
    parts = (_one(rung, key, knobs, written) for key, knobs in by_key.items())
    return "\n".join((*included, *shared, *parts)) + "\n"


def _one(rung: Rung, key: str, knobs: Knobs, written: Callable[[str], str]) -> str:
    # extern "C" looks through namespaces, so the passes must have names of their own.
    passes = [(name, f"{name}_{key}") for name in functions_of(rung)]
    # Whatever the text does to macros ends with it: every set begins as the first.
    macros = ("__shared__", *STRICT_MACROS, *macros_in(rung.source, ("define", "undef")))
    lines = [f'#pragma push_macro("{name}")' for name in macros]
    lines += ["#pragma pack()", "#undef __shared__", f"#define __shared__ SHARED_OF({key})"]
    lines += [f"#define {name} {value}" for name, value in (*knobs, *passes)]
    # Without a name, so that nothing in it is ever shared between libraries.
    own = (f"using cuda_cpu::words::{name};" for name in OWN_WORDS)
    lines.append(f"namespace rung_{key} {{ namespace {{ {' '.join(own)}")
    lines += [written(with_words(_guarded(rung))), f'#line 1 "{GENERATED}"']
    # What follows is ours, whatever words the text has for itself.
    lines += [*(f'#pragma pop_macro("{name}")' for name in macros), "} }"]
    lines += [f"#undef {name}" for name, _ in (*knobs, *passes)]
    shared = f"__start_cuda_shared_{key}, __stop_cuda_shared_{key}"
    for _, unique in passes:
        lines += [
            f'extern "C" const char* launch_{unique}(const cuda_cpu::Launch* how, '
            f"void** arguments) {{ return cuda_cpu::launch(*how, rung_{key}::{unique}, "
            f"arguments, {{{shared}}}); }}"
        ]
    lines.append(
        f'extern "C" long static_shared_bytes_{key}() '
        f"{{ return __stop_cuda_shared_{key} - __start_cuda_shared_{key}; }}"
    )
    for name in example_of(rung.weights).constants:
        lines.append(f'extern "C" void* {name}_{key}() {{ return &rung_{key}::{name}; }}')
    return "\n".join(lines)


@cache
def _of_the_runtime() -> frozenset[str]:
    """Macros that its headers define, most of them words of CUDA."""
    found = (re.findall(r"^#define (\w+)", path.read_text("utf-8"), re.M) for path in HEADERS)
    return frozenset(chain.from_iterable(found))


def _hidden(rung: Rung) -> str:
    """Undefine what a text has for itself or does not have, but C's library defines as a macro.

    Names that begin with _ are refused where it asks for them.
    """
    code = without_literals(rung.source)
    conditions = re.findall(r"^\s*(?:#|%:)\s*(?:if|elif)(.*)", code, re.M)
    asked = {*re.findall(r"\w+", " ".join(conditions))}
    given = {*knobs(SMALLEST), *example_of(rung.weights).knobs, *functions_of(rung)}
    given |= {*re.findall(r"#[ \t]*define[ \t]+(\w+)", rung.text.removesuffix(rung.source))}
    kept = given | KEPT | (_of_the_runtime() - asked)
    words = {*re.findall(r"\b[A-Za-z]\w*", code)} - kept
    return "".join(f"#undef {word}\n" for word in sorted(words))


def _guarded(rung: Rung) -> str:
    """The rung's whole text; a user kernel's own part knows nothing of this compiler's."""
    if not is_own(rung.key):
        return rung.text
    headers, line, _ = rung.text.removesuffix(rung.source).rpartition("#line ")
    strict = "#define IS_STRICT\n" if rung.is_strict else ""
    hidden = _hidden(rung) if rung.is_strict else ""
    guard = f'#line 1 "{GENERATED}"\n{hidden}{strict}#include "user_text.h"\n'
    return f"{headers}{guard}{line}{rung.text[len(headers) + len(line) :]}"


def with_words(text: str) -> str:
    """Replace declarations that no macro can express, on the same lines."""

    def replaced(found: re.Match[str]) -> str:
        lines = "\n" * found[0].count("\n")
        before = text[: found.start()].rpartition("\n#line ")[2]  # of the same file
        is_inside = before.count("{") > before.count("}")
        word = "DYNAMIC_SHARED" if is_inside else "DYNAMIC_SHARED_FOR_ALL"
        return f"{word}({found[1]}, {found[2]});{lines}"

    return EXTERN_SHARED.sub(replaced, text)
