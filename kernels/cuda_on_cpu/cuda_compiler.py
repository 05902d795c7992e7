"""CUDA's own compiler beside the C++ compiler: what it refuses is broken, whatever runs here.

NVRTC needs no GPU.  Where it is not installed, a verdict says so.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Generator, Iterator, Sequence
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import Any

from tree_sitter import Node

from kernels.core.errors import FIRST_ERROR
from kernels.core.job import Job
from kernels.core.version import how_to_add
from kernels.cuda.nvrtc import CompilerEndedError, compiler_for, options_for
from kernels.cuda_on_cpu.building import TOO_LONG
from kernels.cuda_on_cpu.step_points import parser
from kernels.rungs.cuda_text import (
    kernels_in,
    without_comments,
    without_decorations,
    without_literals,
)
from kernels.rungs.rung import Rung

NOT_SEEN = "not seen by CUDA's compiler"
ARCHITECTURE = 90  # sm_90, or what the rung needs at least
# Unoptimised it takes a tenth of the time, and refuses the same, or a little more; a text that was
# assembled for one job is only read for others.
QUICK = "--device-debug"
READ_ONLY = "--fdevice-syntax-only"
TELLING = "--ptxas-options=-v"  # its words on registers take the place of errors
MAX_SECONDS = 30  # of the CPU's time
# As they are said, for `compile_errors.GAVE_UP`.
LATE = TOO_LONG
CRASHED = "CUDA's compiler: internal compiler error"
PTXAS = re.compile(r"^ptxas (?:.*; )?(?:error|fatal)\s*:\s*(?!Ptx assembly aborted)(.+?)\.?$", re.M)
IN_SHORT = (
    (
        re.compile(r"(A function without execution space annotations).*"),
        r"\1 is considered a host function",
    ),
    (
        re.compile(r"A namespace scope (variable without memory space annotations).*"),
        r"A \1 is considered a host variable",
    ),
)
NOWHERE = re.compile(r"Unresolved extern (?:function|variable) '(?:_Z(\d+))?(\w+)'")
AT_END = re.compile(r"^At end of source: (?:catastrophic )?error(?: #[\w-]+)?: (.+?)\.?$", re.M)
ASM = re.compile(r"\basm\b")
CHOOSES = re.compile(r"(?:#|%:)(?![ \t]*pragma\b)|\btemplate\b|\bauto\b")  # code by a number


def why_not_seen() -> str | None:
    """The words for a verdict without CUDA's compiler; None: it is there."""
    if compiler_for(ARCHITECTURE) is not None:
        return None
    return f"{NOT_SEEN}, which needs no GPU: {how_to_add('nvidia-cuda-nvrtc')}"


def cuda_errors(rung: Rung, jobs: Sequence[Job], cache: Path) -> Generator[None, None, str]:
    """Compile with CUDA's compiler; return its errors, a line each, as g++ writes them.

    One process serves all jobs, up to the first with errors.  Closing the generator ends it.  Its
    logs are kept in `cache`.
    """
    if not jobs:
        return ""
    architecture = max(ARCHITECTURE, 10 * rung.capability[0] + rung.capability[1])
    compiler = compiler_for(architecture)
    if errors := _host_asm(rung):
        return errors
    if compiler is None:
        return ""
    asked = compiler.version, rung.text
    assembled = _kept(cache, *asked)
    is_short = not CHOOSES.search(without_literals(rung.source))
    wanted: dict[Path, list[list[str]]] = {}
    for job in jobs:
        options = [*options_for(rung, job, architecture), *compiler.without_cache]
        options.remove(TELLING)
        # Without directives, macros that are numbers choose no other code.
        chosen = (one for one in options if one.startswith("-DSAMPLE=") or one[:2] != "-D")
        kept = _kept(cache, *asked, list(chosen) if is_short else options)
        try:
            if log := str(json.loads(kept.read_bytes())):
                return _as_gnu(rung, log)
        except (OSError, ValueError):
            quick = READ_ONLY if wanted or assembled.exists() else QUICK
            wanted.setdefault(kept, [[*options, quick], options])
    logs, steps = [""], [*wanted.values()]
    try:
        replies = (yield from compiler.replies(rung.text, steps, (), MAX_SECONDS)) if steps else []
        logs = ["" if each["is_taken"] else str(each["log"]) for each in replies] or logs
    except CompilerEndedError as error:
        logs = [LATE if error.code is None else CRASHED]
    else:
        with suppress(OSError):
            for kept, log in zip(wanted, logs, strict=False):  # up to the first with errors
                kept.write_text(json.dumps(log), encoding="utf-8")
                assembled.touch()
    return _as_gnu(rung, logs[-1])


def _kept(cache: Path, *asked: Any) -> Path:
    key = hashlib.sha256(json.dumps(asked).encode()).hexdigest()[:16]
    return cache / f"nvrtc-{key}.json"


def _as_gnu(rung: Rung, log: str) -> str:
    """Write the places in a log as g++ does."""
    if not log or log in (LATE, CRASHED):
        return log
    found = [(each[1], int(each[2]), each[3]) for each in FIRST_ERROR.finditer(log)]
    last = rung.source.rstrip().count("\n") + 1
    found += [(rung.file, last, each[1]) for each in AT_END.finditer(log)]
    if not found:
        said = [each[1] for each in PTXAS.finditer(log)] or ["CUDA's compiler refuses the kernel"]
        # It names no line: that with asm, or of the kernel.
        code = without_literals(rung.source)
        asm = ASM.search(code)
        line = next(iter(kernels_in(code).values()), 1)
        line = code.count("\n", 0, asm.start()) + 1 if asm else line
        found = [(rung.file, line, each) for each in said]
    return "\n".join(f"{file}:{line}: error: {_short(said)}" for file, line, said in found)


def _short(said: str) -> str:
    for pattern, words in IN_SHORT:
        said = pattern.sub(words, said)
    if mangled := NOWHERE.fullmatch(said):
        name = mangled[2][: int(mangled[1])] if mangled[1] else mangled[2]
        return f"declared and called, but defined nowhere: {name}"
    return said


@lru_cache(64)  # called for every job of a check
def _host_asm(rung: Rung) -> str:
    """The errors for asm outside of functions, which NVRTC passes over and nvcc does not."""
    code = without_decorations(without_comments(rung.source)).encode()
    lines = _asm_outside(parser().parse(code).root_node)
    what = "asm outside of functions is no device code"
    return "\n".join(f"{rung.file}:{line}: error: {what}" for line in lines)


def _asm_outside(node: Node) -> Iterator[int]:
    if node.type == "gnu_asm_expression":
        yield node.start_point[0] + 1
    elif node.type != "function_definition":
        for child in node.children:
            yield from _asm_outside(child)
