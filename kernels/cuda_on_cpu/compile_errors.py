"""What compilers object to, on the lines of the file that its author sees.

CUDA's own compiler stands beside the C++ compiler: what it refuses is broken, whatever runs here.
NVRTC needs no GPU.  Where it is not installed, a verdict says so.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Generator, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from tree_sitter import Node

from kernels.core.errors import FIRST_ERROR
from kernels.core.job import Job
from kernels.core.plain_data import table_beside
from kernels.core.version import how_to_add
from kernels.cuda.nvrtc import CompilerEndedError, compiler_for, options_for
from kernels.cuda_on_cpu.compiler import HERE, REFUSED, SYSTEM, TOO_LONG
from kernels.cuda_on_cpu.device_code import GENERATED, parser
from kernels.rungs import cuda_text
from kernels.rungs.rung import Rung

PLACE = re.compile(r"<([^<>]*):(\d+)>")
MESSAGE = re.compile(r"^(.*?):(\d+):(?:(\d+):)? (fatal error|[eE]rror|[wW]arning|note): (.*)$")
CAME_FROM = re.compile(
    r"^(?:In file included from |\s+from |)(.*?):(\d+):(?:(\d+):)?\s+required from"
)
LACKING = "The CPU runtime lacks it; a GPU takes it."
_WORDS = table_beside(__file__)
IN_WORDS = tuple((re.compile(pattern), plain) for pattern, plain in _WORDS["in_words"].items())
GAVE_UP = {TOO_LONG: "the text takes too long", **_WORDS["gave_up"]}
# Of CUDA, and not of the CPU runtime, where no CUDA compiler is there to say so.
OF_CUDA = re.compile(
    r'poisoned "(?:__)?asm(?:__)?"|'
    r"['‘](?:tex\w+|surf\w+|cuda\w+|__[a-z]\w*|cooperative_groups|nvcuda)['’] "
    r"(?:was not declared|has not been declared|does not name)"
)
OWN_NAMES = re.compile(
    r"\brung_[0-9a-f]{12}::|\{anonymous\}::|\(anonymous namespace\)::|(?<=\w)_[0-9a-f]{12}\b"
)
INCLUDED = re.compile(r"^(?:In file included |\s+)from (.*?):(\d+)[:,]")
FOREIGN = "a file that is not the kernel's own is included, or one that is not there"


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One complaint of the compiler; lines and columns are counted from 1."""

    file: str  # the rung's own as a rule; "prelude.cuh" or a header where it is about those
    line: int
    column: int  # 0: not known
    is_error: bool  # else a warning
    text: str


def diagnostics_of(log: str, rung: Rung) -> tuple[Diagnostic, ...]:
    """Parse a compiler's log, each error on the rung's own line wherever there is one.

    An error in a file that is neither the rung's, ours nor the system's is not shown: it would
    quote it.
    """
    known = {rung.file, GENERATED, *(each.name for each in cuda_text.header_parts(rung.includes))}
    included = 0  # the line of the rung's file that includes what is complained of
    found: list[Diagnostic] = []
    own: tuple[int, int] | None = None  # that an error in a header was reached from
    for text in log.splitlines():
        if (from_there := CAME_FROM.match(text)) and from_there[1] == rung.file:
            own = own or (int(from_there[2]), int(from_there[3] or 0))
        if (inside := INCLUDED.match(text)) and inside[1] == rung.file:
            included = int(inside[2])
        if not (told := MESSAGE.match(text)) or told[4] == "note":
            continue
        file, line, column = told[1], int(told[2]), int(told[3] or 0)
        if file not in known and not _is_of_system(file):
            found.append(Diagnostic(rung.file, included or 1, 0, True, FOREIGN))
            continue
        if file != rung.file and own is not None:
            file, (line, column) = rung.file, own
        elif file == GENERATED:
            file, line, column = rung.file, rung.source.rstrip().count("\n") + 1, 0
        words = told[5]
        for pattern, plain in IN_WORDS:
            words = pattern.sub(plain, words)
        words = OWN_NAMES.sub("", words)
        if (
            file == rung.file
            and (meant := cuda_text.line_without_end(rung.source, line, words)) != line
        ):
            line, column = meant, 0
        found.append(Diagnostic(file, line, column, told[4].lower() != "warning", words))
        own = None
    return tuple(dict.fromkeys(found))


@lru_cache(maxsize=64)
def _is_of_system(file: str) -> bool:
    if file.startswith("<"):  # "<built-in>"
        return True
    return any(Path(file).resolve().is_relative_to(each) for each in (*SYSTEM, HERE))


def with_lacking(log: str, *, is_taken: bool) -> str:
    """Add LACKING to a log where CUDA takes what the CPU runtime does not.

    is_taken  whether CUDA's compiler was asked, and takes the text
    """
    has_given_up = log.startswith(REFUSED) or _why_it_gave_up(log)
    is_lacking = not has_given_up and (is_taken or OF_CUDA.search(log))
    return f"{log}\n{LACKING}" if is_lacking else log


def _why_it_gave_up(log: str) -> str:
    return next((what for died, what in GAVE_UP.items() if re.search(died, log)), "")


def first_error(log: str, rung: Rung) -> tuple[str, int | None]:
    """The sentence for a source that does not compile, and the line of the rung's file."""
    if log.startswith(REFUSED):
        return log.removeprefix(REFUSED), None
    if what := _why_it_gave_up(log):
        return f"The compiler gave up: {what}.", None
    found = [each for each in diagnostics_of(log, rung) if each.is_error]
    if not found:
        return "The compiler refused the text without saying why.", None
    first = next((each for each in found if each.file == rung.file), found[0])
    is_own = first.file == rung.file
    end = "" if first.text.endswith(("?", "!", ".")) else "."  # some are questions
    words = f"{'Line' if is_own else f'{first.file}, line'} {first.line}: {first.text}{end}"
    more = cuda_text.hint_for(first.text), LACKING if LACKING in log else ""
    return " ".join(filter(None, (words, *more))), first.line if is_own else None


def with_line(message: str, file: str) -> tuple[str, int | None]:
    """Word the places in a message of the runtime; return it, and the first line in `file`.

    "<test.cu:7>: 3 of the ..." begins with "Line 7: 3 of the ..." then.
    """
    lines = [int(line) for name, line in PLACE.findall(message) if name == file]

    def in_words(found: re.Match[str]) -> str:
        word = "Line" if found.start() == 0 else "line"
        return f"{word} {found[2]}" if found[1] == file else f"{found[1]}, line {found[2]}"

    return PLACE.sub(in_words, message), lines[0] if lines else None


NOT_SEEN = "not seen by CUDA's compiler"
ARCHITECTURE = 90  # sm_90, or what the rung needs at least
# Unoptimised it takes a tenth of the time, and refuses the same, or a little more.
QUICK = "--device-debug"
TELLING = "--ptxas-options=-v"  # its words on registers take the place of errors
MAX_SECONDS = 30  # of the CPU's time
CRASHED = "CUDA's compiler: internal compiler error"  # as GAVE_UP knows it
PTXAS = re.compile(r"^ptxas (?:.*; )?(?:error|fatal)\s*:\s*(?!Ptx assembly aborted)(.+?)\.?$", re.M)
OF_HOST = re.compile(r"(?<=without execution space annotations) \(__host__.*")
NOWHERE = re.compile(r"Unresolved extern (?:function|variable) '(?:_Z(\d+))?(\w+)'")
AT_END = re.compile(r"^At end of source: (?:catastrophic )?error(?: #[\w-]+)?: (.+?)\.?$", re.M)
# NVRTC 13 has no word for too much shared memory.
UNSAID = (
    "CUDA's compiler refuses the kernel without saying why: do its arrays declared __shared__ take "
    "more than 48 KiB?"
)
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
    errors = "".join(_of_host(rung, is_seen=compiler is not None))
    if errors or compiler is None:
        return errors
    is_short = not CHOOSES.search(cuda_text.without_literals(rung.source))
    wanted: dict[Path, list[list[str]]] = {}
    for job in jobs:
        options = [*options_for(rung, job, architecture), *compiler.without_cache]
        options.remove(TELLING)
        # Without directives, macros that are numbers choose no other code.
        chosen = [one for one in options if one.startswith("-DSAMPLE=") or one[:2] != "-D"]
        asked = compiler.version, rung.text, chosen if is_short else options
        key = hashlib.sha256(json.dumps(asked).encode()).hexdigest()[:16]
        kept = cache / f"nvrtc-{key}.json"
        try:
            if log := str(json.loads(kept.read_bytes())):
                return as_gnu(rung, log)
        except (OSError, ValueError):
            wanted.setdefault(kept, [[*options, QUICK], options])
    if not wanted:
        return ""
    try:
        steps = [*wanted.values()]
        replies = yield from compiler.replies(rung.text, steps, (), MAX_SECONDS)
    except CompilerEndedError as error:
        return TOO_LONG if error.code is None else CRASHED
    logs = ["" if each["is_taken"] else str(each["log"]) for each in replies]
    with suppress(OSError):
        for kept, log in zip(wanted, logs, strict=False):  # up to the first with errors
            kept.write_text(json.dumps(log), encoding="utf-8")
    return as_gnu(rung, logs[-1])


def as_gnu(rung: Rung, log: str) -> str:
    """Write the places in a log of CUDA's compiler as g++ does."""
    if not log or log in (TOO_LONG, CRASHED):
        return log
    found = [(each[1], int(each[2]), each[3]) for each in FIRST_ERROR.finditer(log)]
    last = rung.source.rstrip().count("\n") + 1
    found += [(rung.file, last, each[1]) for each in AT_END.finditer(log)]
    if not found:
        said = [each[1] for each in PTXAS.finditer(log)] or [UNSAID]
        # It names no line: that with asm, or of the kernel.
        code = cuda_text.without_literals(rung.source)
        asm = ASM.search(code)
        line = next(iter(cuda_text.kernels_in(code).values()), 1)
        line = code.count("\n", 0, asm.start()) + 1 if asm else line
        found = [(rung.file, line, each) for each in said]
    return "\n".join(f"{file}:{line}: error: {_short(said)}" for file, line, said in found)


def _short(said: str) -> str:
    if mangled := NOWHERE.fullmatch(said):
        name = mangled[2][: int(mangled[1])] if mangled[1] else mangled[2]
        return f"declared and called, but defined nowhere: {name}"
    return OF_HOST.sub("", said)


SPACES = {f"__{name}__" for name in ("device", "global", "host", "constant", "shared", "managed")}
HOST_ASM = "asm outside of functions is no device code"
MACRO = re.compile(r"^[ \t]*#[ \t]*define[ \t]+(\w+)((?:\\\n|[^\n])*)", re.M)


def _of_host(rung: Rung, *, is_seen: bool) -> Iterator[str]:
    """Yield errors for asm outside of functions, which NVRTC passes over and nvcc does not.

    is_seen  by CUDA's compiler; else also for functions and variables that are not the device's
    """
    code = cuda_text.without_decorations(cuda_text.without_comments(rung.source)).encode()
    known = {*SPACES}  # with macros that have one of them, or brackets: what these make is unknown
    for name, made in MACRO.findall(rung.text):
        known |= {name} if "(" in made or SPACES & {*made.split()} else set()
    nodes = [parser().parse(code).root_node]
    while nodes:
        node = nodes.pop()
        if node.type not in ("function_definition", "compound_statement", "ERROR"):
            nodes += reversed(node.children)
        is_asm = node.type == "gnu_asm_expression"
        if what := HOST_ASM if is_asm else "" if is_seen else _why_of_host(node, known):
            yield f"{rung.file}:{node.start_point[0] + 1}: error: {what}\n"


def _why_of_host(node: Node, known: set[str]) -> str:
    """What CUDA's compiler says of a declaration with none of these words; empty: nothing."""
    body, declared = node.child_by_field_name("body"), node.child_by_field_name("declarator")
    end = body.start_byte - node.start_byte if body else None
    head = (node.text or b"")[:end].decode()
    words = {*re.findall(r"\w+", head)}
    is_function = node.type == "function_definition" and body is not None  # not `= default`
    if node.type in ("declaration", "field_declaration") and declared is not None:
        is_function = declared.type == "function_declarator" and "(*" not in head
    if is_function and not words & known:
        return "A function without execution space annotations is considered a host function"
    if is_function or node.type != "declaration" or words & {*known, "const", "constexpr"}:
        return ""
    return "A variable without memory space annotations is considered a host variable"
