"""CUDA's own compiler beside the C++ compiler: what it refuses is broken, whatever runs here.

NVRTC needs no GPU.  Where it is not installed, the text itself is looked at for what g++ takes and
CUDA does not.
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
from kernels.cuda.nvrtc import Compiler, CompilerEndedError, compiler_for, options_for
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
HOST_FUNCTION = "A function without execution space annotations is considered a host function"
HOST_VARIABLE = "A variable without memory space annotations is considered a host variable"
IN_SHORT = (
    (re.compile(r"A function without execution space annotations.*"), HOST_FUNCTION),
    (re.compile(r"A namespace scope variable without memory space annotations.*"), HOST_VARIABLE),
)
NOWHERE = re.compile(r"Unresolved extern (?:function|variable) '(?:_Z(\d+))?(\w+)'")
AT_END = re.compile(r"^At end of source: (?:catastrophic )?error(?: #[\w-]+)?: (.+?)\.?$", re.M)
ASM = re.compile(r"\basm\b")
SPACES = r"__(?:device|global|host|constant|shared|managed)__"
COMPUTED = re.compile(r"\bgoto\s*\*")
CHOOSES = re.compile(r"(?:#|%:)(?![ \t]*pragma\b)|\btemplate\b|\bauto\b")  # code by a number
MACRO = re.compile(r"^[ \t]*#[ \t]*define[ \t]+(\w+)(\(?)((?:\\\n|[^\n])*)", re.M)
DECLARATIONS = ("function_definition", "declaration", "field_declaration", "expression_statement")
SCOPES = (
    *("template_declaration", "namespace_definition", "linkage_specification", "declaration_list"),
    *("struct_specifier", "class_specifier", "union_specifier", "field_declaration_list"),
    *("preproc_if", "preproc_ifdef", "preproc_else", "preproc_elif"),
)


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
    architecture = max(ARCHITECTURE, 10 * rung.capability[0] + rung.capability[1])
    compiler = compiler_for(architecture)
    found = [*_host_asm(rung), *(_by_text(rung) if compiler is None else ())]
    if found or compiler is None:
        return "\n".join(f"{rung.file}:{line}: error: {what}" for line, what in found)
    asked = compiler.version, rung.text
    assembled = _kept(cache, *asked)
    is_short = not CHOOSES.search(without_literals(rung.source))
    wanted: dict[Path, list[list[str]]] = {}
    for job in jobs:
        options = [*options_for(rung, job, architecture), *compiler.without_cache]
        options.remove(TELLING)
        kept = _kept(cache, *asked, _of_type(options) if is_short else options)
        try:
            if log := str(json.loads(kept.read_bytes())):
                return _as_gnu(rung, log)
        except (OSError, ValueError):
            quick = READ_ONLY if wanted or assembled.exists() else QUICK
            wanted.setdefault(kept, [[*options, quick], options])
    logs = (yield from _logs_of(compiler, rung.text, [*wanted.values()])) if wanted else [""]
    if logs[-1] not in (LATE, CRASHED):
        with suppress(OSError):
            for kept, log in zip(wanted, logs, strict=False):  # up to the first with errors
                kept.write_text(json.dumps(log), encoding="utf-8")
                assembled.touch()
    return _as_gnu(rung, logs[-1])


def _kept(cache: Path, *asked: Any) -> Path:
    key = hashlib.sha256(json.dumps(asked).encode()).hexdigest()[:16]
    return cache / f"nvrtc-{key}.json"


def _of_type(options: list[str]) -> list[str]:
    """Leave out macros that are numbers: without directives they choose no other code."""
    return [each for each in options if not each.startswith("-D") or each.startswith("-DSAMPLE=")]


def _logs_of(
    compiler: Compiler, text: str, wanted: list[list[list[str]]]
) -> Generator[None, None, list[str]]:
    """Compile up to what has errors; return the logs, empty for what has none."""
    try:
        replies = yield from compiler.replies(text, wanted, (), MAX_SECONDS)
    except CompilerEndedError as error:
        return [LATE if error.code is None else CRASHED]
    return ["" if each["is_taken"] else str(each["log"]) for each in replies]


def _as_gnu(rung: Rung, log: str) -> str:
    """Write the places in a log as g++ does."""
    if not log or log in (LATE, CRASHED):
        return log
    found = [(each[1], int(each[2]), each[3]) for each in FIRST_ERROR.finditer(log)]
    last = rung.source.rstrip().count("\n") + 1
    found += [(rung.file, last, each[1]) for each in AT_END.finditer(log)]
    if not found:
        said = [each[1] for each in PTXAS.finditer(log)] or ["CUDA's compiler refuses the kernel"]
        found = [(rung.file, _of_assembler(rung), each) for each in said]
    return "\n".join(f"{file}:{line}: error: {_short(said)}" for file, line, said in found)


def _of_assembler(rung: Rung) -> int:
    """The line that an assembler means, which names none: with asm, or of the kernel."""
    code = without_literals(rung.source)
    if asm := ASM.search(code):
        return code.count("\n", 0, asm.start()) + 1
    return next(iter(kernels_in(code).values()), 1)


def _short(said: str) -> str:
    for pattern, words in IN_SHORT:
        said = pattern.sub(words, said)
    if mangled := NOWHERE.fullmatch(said):
        name = mangled[2][: int(mangled[1])] if mangled[1] else mangled[2]
        return f"declared and called, but defined nowhere: {name}"
    return said


@lru_cache(64)  # called for every job of a check
def _host_asm(rung: Rung) -> tuple[tuple[int, str], ...]:
    """Find lines with asm outside of functions, which NVRTC passes over and nvcc does not."""
    said = "asm outside of functions is no device code"
    return tuple(
        (node.start_point[0] + 1, said)
        for node, _ in _declared(parser().parse(_code_of(rung)).root_node)
        if any(child.type == "gnu_asm_expression" for child in node.children)
    )


def _code_of(rung: Rung) -> bytes:
    return without_decorations(without_comments(rung.source)).encode()


def _by_text(rung: Rung) -> Iterator[tuple[int, str]]:
    """Yield lines that CUDA's compiler rejects and g++ takes, with its words."""
    code = without_literals(rung.source)
    for found in COMPUTED.finditer(code):
        yield code.count("\n", 0, found.start()) + 1, "expected an expression"
    macros = MACRO.findall(code)
    spaces = "|".join((SPACES, *(name for name, _, body in macros if re.search(SPACES, body))))
    written = {name for name, is_function, body in macros if is_function or "(" in body}
    text = _code_of(rung)
    for node, begin in _declared(parser().parse(text).root_node):
        body = node.child_by_field_name("body")
        head = text[begin : body.start_byte if body else node.end_byte].decode()
        if re.search(rf"\b(?:{spaces})\b", head) or written & set(re.findall(r"\w+", head)):
            continue
        line = node.start_point[0] + 1
        if node.type == "function_definition":
            if body is not None and body.type == "compound_statement":
                yield line, HOST_FUNCTION
        elif _is_function(node):
            yield line, HOST_FUNCTION
        elif node.type == "declaration" and not re.search(r"\b(?:const|constexpr)\b", head):
            yield line, HOST_VARIABLE


def _declared(node: Node) -> Iterator[tuple[Node, int]]:
    """Yield the declarations outside of functions, and where the node before each ends."""
    begin = node.start_byte
    for child in node.children:
        if child.type in DECLARATIONS:
            yield child, begin
        for inner in (child, child.child_by_field_name("type")):
            if inner is not None and inner.type in SCOPES:
                yield from _declared(inner)
        if child.is_named and child.type != "ERROR":
            begin = child.end_byte


def _is_function(node: Node) -> bool:
    found = node.child_by_field_name("declarator")
    return found is not None and found.type == "function_declarator"
