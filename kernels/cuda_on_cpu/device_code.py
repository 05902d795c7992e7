"""A rung's text as C++ for the CPU: once for each set of knobs, with what launches it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from kernels.core.job import Job
from kernels.rungs.directives import defined_macros
from kernels.rungs.operands import example_of
from kernels.rungs.own_kernels import is_own
from kernels.rungs.rung import Rung

Knobs = tuple[tuple[str, str], ...]
GENERATED = "generated"  # as a file's name in the compiler's messages: what nobody wrote
STATIC_SHARED_BYTES = (
    'extern "C" long static_shared_bytes() { return __stop_cuda_shared - __start_cuda_shared; }'
)
# CUDA's own way to ask for shared memory of a size that the launch decides.
EXTERN_SHARED = re.compile(
    r"\bextern\s+__shared__\s+(?:__align__\s*\(\s*\w+\s*\)\s*)?"
    r"((?:(?!extern\b)[\w:\s])+?)\s*\b(\w+)\s*\[\s*\]\s*;"
)


def functions_of(rung: Rung) -> tuple[str, ...]:
    """Return the CUDA functions of its passes, each once."""
    return tuple(dict.fromkeys(each.function for each in rung.passes if not each.library))


def knobs_of(rung: Rung, job: Job) -> Knobs:
    """Return the macros that fit the rung to the job."""
    return tuple(sorted(rung.defines(job).items()))


def generated(
    rung: Rung, sets: Iterable[Knobs], written: Callable[[str], str] = lambda text: text
) -> str:
    """Return C++ with the rung's whole text for each set of knobs, in namespaces of their own.

    written  makes of a part's text what is to be compiled, line by line
    """
    parts = (_one(rung, number, knobs, written) for number, knobs in enumerate(sets))
    return "\n".join(('#include "cuda_cpu.h"', *parts, STATIC_SHARED_BYTES)) + "\n"


def _one(rung: Rung, number: int, knobs: Knobs, written: Callable[[str], str]) -> str:
    # extern "C" looks through namespaces, so the passes must have names of their own.
    passes = [(name, f"{name}_{number}") for name in functions_of(rung)]
    lines = [f"#define {name} {value}" for name, value in (*knobs, *passes)]
    # Without a name, so that nothing in it is ever shared between libraries.
    own = (f"using cuda_cpu::words::{name};" for name in ("printf", "malloc", "clock", "clock64"))
    lines.append(f"namespace rung_{number} {{ namespace {{ {' '.join(own)}")
    lines += [written(with_words(_guarded(rung))), f'#line 1 "{GENERATED}"']
    # What follows is ours, whatever words the text has for itself.
    lines += [*(f"#undef {name}" for name in defined_macros(rung.source)), "} }"]
    lines += [f"#undef {name}" for name, _ in (*knobs, *passes)]
    for name, unique in passes:
        lines += [
            f'extern "C" const char* launch_{number}_{name}(const cuda_cpu::Launch* how, '
            f"void** arguments) {{ return cuda_cpu::launch(*how, rung_{number}::{unique}, "
            "arguments); }",
            f'extern "C" const char* signature_{number}_{name}() '
            f"{{ return cuda_cpu::signature(rung_{number}::{unique}); }}",
        ]
    for name in example_of(rung.weights).constants:
        lines.append(f'extern "C" void* {name}_{number}() {{ return &rung_{number}::{name}; }}')
    return "\n".join(lines)


def _guarded(rung: Rung) -> str:
    """Return the rung's whole text; a user kernel's own part knows nothing of this compiler's."""
    if not is_own(rung.key):
        return rung.text
    headers, line, _ = rung.text.removesuffix(rung.source).rpartition("#line ")
    strict = "#define IS_STRICT\n" if rung.is_strict else ""
    guard = f'#line 1 "{GENERATED}"\n{strict}#include "user_text.h"\n'
    return f"{headers}{guard}{line}{rung.text[len(headers) + len(line) :]}"


def with_words(text: str) -> str:
    """Return `text` with what no macro can say, on the same lines."""

    def replaced(found: re.Match[str]) -> str:
        lines = "\n" * found[0].count("\n")
        before = text[: found.start()].rpartition("\n#line ")[2]  # of the same file
        is_inside = before.count("{") > before.count("}")
        word = "DYNAMIC_SHARED" if is_inside else "DYNAMIC_SHARED_FOR_ALL"
        return f"{word}({found[1]}, {found[2]});{lines}"

    return EXTERN_SHARED.sub(replaced, text)
