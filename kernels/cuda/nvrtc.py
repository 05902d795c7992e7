"""NVIDIA's runtime compiler through ctypes: compiles rungs on computers without a GPU, too.

Programs that run are compiled by CuPy (`launch`); this is for registers, and for PTX and SASS in
rows, each instruction with its lines of source.
"""

from __future__ import annotations

import binascii
import ctypes
import importlib.util
import json
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Generator, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Literal

from kernels.core.child_process import finished
from kernels.core.errors import CompileFailedError
from kernels.core.job import Job
from kernels.core.version import FROZEN, how_to_add, kind
from kernels.cuda import nvrtc_calls
from kernels.cuda.nvrtc_calls import compiled, opened
from kernels.rungs.rung import Rung

# In the packages of CUDA 13 and CUDA 12, which may both be there: a folder each.
IN_PACKAGES = ("cu13/lib/libnvrtc.so.13", "cuda_nvrtc/lib/libnvrtc.so.12")
ON_THE_SYSTEM = ("libnvrtc.so.13", "libnvrtc.so.12")
if sys.platform == "win32":
    IN_PACKAGES = ("cu13/bin/x86_64/nvrtc64_130_0.dll", "cuda_nvrtc/bin/nvrtc64_120_0.dll")
    ON_THE_SYSTEM = ("nvrtc64_130_0.dll", "nvrtc64_120_0.dll")
WITHOUT_A_COMPILER = (
    "There is no PTX to show: NVIDIA's compiler NVRTC is not installed here. It needs no GPU: {}."
)
LINES = "-lineinfo"
OUTPUTS = ("PTX", "CUBIN")
CACHING_SINCE = (12, 9)
SCRIPT = nvrtc_calls.__file__  # run in a process of its own
LOOK_S = 0.01
PATIENCE_S = 60.0  # for that process: busy computers take long


@dataclass(frozen=True, slots=True, order=True)
class Resources:
    """The resources of one CUDA function, as ptxas tells: per thread; static bytes per block."""

    function: str
    registers: int
    spill_bytes: int
    shared_bytes: int


@dataclass(frozen=True, slots=True)
class Compiled:
    """The compiler's output: PTX as text, its log, with ptxas's words, and the machine code."""

    ptx: str
    log: str
    cubin: bytes = field(default=b"", repr=False)

    @property
    def resources(self) -> tuple[Resources, ...]:
        """The resources of each function, in the order of their names."""
        parts = re.split(r"Compiling entry function '(\w+)'", self.log)[1:]
        return tuple(sorted(map(_resources, parts[::2], parts[1::2])))


class CompilerEndedError(Exception):
    """NVRTC's process ended without a reply, with that exit code; None: it took too long."""

    def __init__(self, code: int | None) -> None:
        super().__init__(code)
        self.code = code


@dataclass(frozen=True, slots=True, eq=False)
class Compiler:
    """One NVRTC: where it is, its version, and the architectures that it knows, 90 for sm_90."""

    library: ctypes.CDLL = field(repr=False)
    place: str
    version: tuple[int, int]
    architectures: tuple[int, ...]

    @property
    def path(self) -> str:
        """File of the library; its bare name where the system's loader found it."""
        return self.library._name

    def compile(self, text: str, options: Sequence[str]) -> Compiled:
        """Compile `text`; raise CompileFailedError with the log where that fails.

        Takes 50 ms, or seconds for large weights unrolled; the interpreter is free meanwhile.
        """
        given = (*options, *self.without_cache)
        return _compiled(*compiled(self.library, text, given, OUTPUTS))

    def compiling_apart(self, text: str, options: Sequence[str]) -> Generator[None, None, Compiled]:
        """Compile likewise in a process of its own, which a text may crash.

        Raises CompileFailedError and CompilerEndedError; closing the generator ends it.
        """
        given = (*options, *self.without_cache)
        (reply,) = yield from self.replies(text, [[given]], OUTPUTS, int(PATIENCE_S))
        made = {each: binascii.a2b_base64(reply[each]) for each in OUTPUTS if each in reply}
        return _compiled(reply["is_taken"], reply["log"], made)

    def replies(
        self,
        text: str,
        wanted: Sequence[Sequence[Sequence[str]]],
        outputs: Sequence[str],
        cpu_seconds: int,
    ) -> Generator[None, None, list[dict[str, Any]]]:
        """Compile in a process of its own with several sets of options, up to what has errors.

        wanted  for each compilation the options to try, in this order
        Raises CompilerEndedError where it gives no reply; closing the generator ends it.
        """
        with tempfile.TemporaryFile() as request, tempfile.TemporaryFile() as reply:
            request.write(json.dumps([self.place, text, wanted, outputs, cpu_seconds]).encode())
            request.seek(0)
            # Without Python's own packages it is ready in 50 ms; a frozen program has no file.
            how = ("-m", nvrtc_calls.__name__) if kind() == FROZEN else ("-I", "-S", SCRIPT)
            process = subprocess.Popen(
                [sys.executable, *how],
                stdin=request,
                stdout=reply,
                stderr=subprocess.DEVNULL,
                creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
            )
            try:
                if not (yield from finished(process, LOOK_S, PATIENCE_S)):
                    raise CompilerEndedError(None)
            finally:
                process.kill()
                process.wait()
            reply.seek(0)
            try:
                found: list[dict[str, Any]] = json.loads(reply.read())
            except ValueError:
                raise CompilerEndedError(process.returncode) from None
            return found

    @property
    def without_cache(self) -> tuple[str, ...]:
        """Return the option against the driver's cache: what comes from there has no log.

        (Seen with NVRTC 13 on an H200: the second time nothing tells of registers and spills.)
        """
        return ("--no-cache",) if self.version >= CACHING_SINCE else ()


@cache
def compilers() -> tuple[Compiler, ...]:
    """Every NVRTC that is installed, newest first."""
    found: list[Compiler] = []
    for place in map(str, _places()):
        with suppress(OSError):
            found.append(_compiler(opened(place), place))
    return tuple(found)


def compiler_for(architecture: int) -> Compiler | None:
    """The newest one that compiles for `architecture`, 90 for sm_90; None if none does."""
    return next((each for each in compilers() if architecture in each.architectures), None)


def compile_rung(rung: Rung, job: Job, architecture: int, *, with_lines: bool = False) -> Compiled:
    """Compile `rung` for `job` as CuPy would.  Raises CompileFailedError.

    with_lines  have the output name the source's lines; the instructions are the same
    """
    options = [*options_for(rung, job, architecture), *([LINES] if with_lines else ())]
    return compiler_here(architecture).compile(rung.text, options)


def compiler_here(architecture: int) -> Compiler:
    """The newest one that compiles for `architecture`; CompileFailedError where there is none."""
    compiler = compiler_for(architecture)
    if compiler is None:
        reason = f"No compiler for sm_{architecture} is installed here."
        how = how_to_add("nvidia-cuda-nvrtc")
        raise CompileFailedError(reason if compilers() else WITHOUT_A_COMPILER.format(how))
    return compiler


def options_for(rung: Rung, job: Job, architecture: int) -> list[str]:
    """The options that CuPy compiles with; ptxas is to tell of registers and spills."""
    defines = (f"-D{name}={value}" for name, value in rung.defines(job).items())
    target = f"--gpu-architecture={rung.architecture or f'sm_{architecture}'}"
    return [target, "-std=c++17", "-ftz=true", "--ptxas-options=-v", *defines]


def _compiled(is_taken: bool, log: str, made: dict[str, bytes]) -> Compiled:
    if not is_taken:
        raise CompileFailedError.from_log("The kernel did not compile", log)
    ptx = made["PTX"].partition(b"\0")[0].decode(errors="replace")
    return Compiled(ptx, log, made["CUBIN"])


def _places() -> Iterator[Path | str]:
    spec = importlib.util.find_spec("nvidia")
    folders = spec.submodule_search_locations or () if spec else ()
    for in_package, on_the_system in zip(IN_PACKAGES, ON_THE_SYSTEM, strict=True):
        paths = (Path(folder) / in_package for folder in folders)
        yield next((path for path in paths if path.is_file()), on_the_system)


def _compiler(library: ctypes.CDLL, place: str) -> Compiler:
    major, minor, count = ctypes.c_int(), ctypes.c_int(), ctypes.c_int()
    library.nvrtcVersion(ctypes.byref(major), ctypes.byref(minor))
    library.nvrtcGetNumSupportedArchs(ctypes.byref(count))
    known = (ctypes.c_int * count.value)()
    library.nvrtcGetSupportedArchs(known)
    return Compiler(library, place, (major.value, minor.value), tuple(known))


def _resources(function: str, words: str) -> Resources:
    patterns = (r"Used (\d+) registers", r"(\d+) bytes spill", r"(\d+) bytes smem")
    return Resources(function, *(sum(map(int, re.findall(each, words))) for each in patterns))


DISASSEMBLERS = ("cu*/bin/nvdisasm", "cu*/bin/nvdisasm.exe")  # a folder for each CUDA
DISASSEMBLING = ("--print-line-info-inline", "--print-code")
DISASSEMBLER_S = 30.0
WITHOUT_IT = (
    "There is no SASS to show: NVIDIA's disassembler (5 MB) is not installed here. "
    "It needs no GPU: {}."
)


@cache
def the_program() -> Path | None:
    """The disassembler: the package's, or the one on the PATH; None: there is none."""
    spec = importlib.util.find_spec("nvidia")
    for folder in spec.submodule_search_locations or () if spec else ():
        for pattern in DISASSEMBLERS:
            if found := sorted(Path(folder).glob(pattern)):
                return found[-1]
    on_path = shutil.which("nvdisasm")
    return Path(on_path) if on_path else None


Kind = Literal["ptx", "sass"]

FILE = re.compile(r'^\s*\.file\s+(\d+)\s+"(.*)"', re.MULTILINE)
LOC = re.compile(r"\s*\.loc\s+(\d+) (\d+) (\d+)(?:.*inlined_at (\d+) (\d+) (\d+))?")
PTX_OPCODE = re.compile(r"\s*\{?\s*(?:@!?%\w+\s+)?([a-z][\w.:]*)\b.*;")
PTX_COMMENT = re.compile(r"\s*//.*")
PTX_END = re.compile(r"\s*\.(?:file|section)\b")  # behind the code stand tables for debuggers
SASS_PLACE = re.compile(r'\s*//## File "(.*?)", line (\d+)( inlined at )?')
SASS_ROW = re.compile(r"\s*/\*[0-9a-f]{4,}\*/\s+((?:@!?U?P\w+\s+)?([A-Z][\w.]*).*?)\s*;?\s*$")
SASS_LABEL = re.compile(r"(?!\.text)[.\w$]+:$")
PADDING = "NOP"  # fills a function's end
INDENT = "    "
NUMBER_WIDTH = 5


@dataclass(frozen=True, slots=True)
class Place:
    """A line, from 1, of a file, whose name is without its folders."""

    file: str
    line: int


@dataclass(frozen=True, slots=True)
class Row:
    """A row of a listing, with its line, and those of calls in line."""

    text: str
    opcode: str = ""  # of an instruction
    places: tuple[Place, ...] = ()

    def line_in(self, file: str) -> int:
        """The innermost line of `file` that it comes from; 0: none."""
        return next((each.line for each in self.places if each.file == file), 0)

    def lines_in(self, file: str) -> set[int]:
        """All lines of `file` that it comes from, also by way of what they call."""
        return {each.line for each in self.places if each.file == file}


Listing = tuple[Row, ...]


def numbered(row: Row, file: str) -> str:
    """A row's text behind the line of `file` that it comes from, if any."""
    return f"{row.line_in(file) or '':>{NUMBER_WIDTH}}  {row.text}".rstrip()


def listing_of(compiled: Compiled, kind: Kind) -> Listing:
    """The compiler's output as rows.

    It names lines if it was compiled with them.  Raises CompileFailedError where there is no
    disassembler, or it cannot read this.
    """
    if kind == "ptx":
        return ptx_listing(compiled.ptx)
    program = the_program()
    if program is None:
        raise CompileFailedError(WITHOUT_IT.format(how_to_add("nvidia-cuda-nvdisasm")))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "kernel.cubin"
        path.write_bytes(compiled.cubin)
        try:
            ran = subprocess.run(
                [program, *DISASSEMBLING, path],
                capture_output=True,
                timeout=DISASSEMBLER_S,
                creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise CompileFailedError(f"nvdisasm does not run: {error}.") from error
    if ran.returncode != 0:
        said = " ".join(ran.stderr.decode(errors="replace").split())
        raise CompileFailedError(f"The disassembler refuses the machine code: {said}")
    return sass_listing(ran.stdout.decode(errors="replace"))


def ptx_listing(ptx: str) -> Listing:
    """PTX without what is for debuggers alone."""
    files = {number: _bare(name) for number, name in FILE.findall(ptx)}
    calls: dict[tuple[str, ...], tuple[str, ...]] = {}  # a place in line → where it was called
    places: tuple[Place, ...] = ()
    rows: list[Row] = []
    for line in ptx.splitlines():
        if PTX_END.match(line):
            break
        if found := LOC.match(line):
            here, caller = found.groups()[:3], found.groups()[3:]
            calls[here] = here if caller[0] is None else caller
            places = tuple(_chain(here, calls, files))
        elif line.strip() and not PTX_COMMENT.fullmatch(line):
            opcode = PTX_OPCODE.match(line)
            text = f"{INDENT if line[0].isspace() else ''}{' '.join(line.split())}"
            rows.append(Row(text, opcode[1], places) if opcode else Row(text))
    return tuple(rows)


def sass_listing(disassembly: str) -> Listing:
    """The code of what `nvdisasm -gi` wrote: its functions, labels and instructions."""
    places: list[Place] = []
    goes_on = False  # the next place is where this one was called
    rows: list[Row] = []
    for line in disassembly.splitlines():
        if found := SASS_PLACE.match(line):
            places = places if goes_on else []
            places.append(Place(_bare(found[1]), int(found[2])))
            goes_on = found[3] is not None
            continue
        goes_on = False
        if (row := SASS_ROW.match(line)) and row[2] != PADDING:
            rows.append(Row(f"{INDENT}{row[1]}", row[2], tuple(places)))
        elif SASS_LABEL.match(line):
            rows.append(Row(line))
            places = places if line.startswith(".") else []  # else a function begins
    while rows and not rows[-1].opcode:  # the label behind the last function
        rows.pop()
    return tuple(rows)


def _chain(
    here: tuple[str, ...], calls: dict[tuple[str, ...], tuple[str, ...]], files: dict[str, str]
) -> Iterator[Place]:
    """Yield a place and, for a function in line, those of its calls."""
    seen: set[tuple[str, ...]] = set()
    while here not in seen:
        seen.add(here)
        if here[1] != "0" and here[0] in files:
            yield Place(files[here[0]], int(here[1]))
        here = calls.get(here, here)


def _bare(path: str) -> str:
    return re.split(r"[/\\]", path)[-1]


# PTX has one instruction for all kinds of memory.
OF_MEMORY = ("ld", "st", "atom", "red")
SPACES = ("global", "shared", "const", "local", "param")


def kind_of(opcode: str) -> str:
    """The kind of an instruction: LDG of LDG.E.U8, ld.global of ld.global.nc.u8."""
    parts = opcode.split(".")
    spaces = SPACES if parts[0] in OF_MEMORY else ()
    space = next((each for each in parts if each in spaces), "")
    return f"{parts[0]}.{space}" if space else parts[0]
