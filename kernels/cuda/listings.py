"""The compiler's output in rows, each instruction with its lines of source."""

from __future__ import annotations

import importlib.util
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal

from kernels.core.errors import CompileFailedError
from kernels.core.version import how_to_add
from kernels.cuda.nvrtc import Compiled

IN_PACKAGE = ("cu*/bin/nvdisasm", "cu*/bin/nvdisasm.exe")  # a folder for each CUDA
OPTIONS = ("--print-line-info-inline", "--print-code")
PATIENCE_S = 30.0
WITHOUT_IT = (
    "There is no SASS to show: NVIDIA's disassembler (5 MB) is not installed here. "
    "It needs no GPU: {}."
)


def disassembled(cubin: bytes) -> str:
    """Machine code as `nvdisasm -gi` writes it.  Raises CompileFailedError, also without it."""
    program = the_program()
    if program is None:
        raise CompileFailedError(WITHOUT_IT.format(how_to_add("nvidia-cuda-nvdisasm")))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "kernel.cubin"
        path.write_bytes(cubin)
        try:
            ran = subprocess.run(
                [program, *OPTIONS, path],
                capture_output=True,
                timeout=PATIENCE_S,
                creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise CompileFailedError(f"nvdisasm does not run: {error}.") from error
    if ran.returncode != 0:
        said = " ".join(ran.stderr.decode(errors="replace").split())
        raise CompileFailedError(f"The disassembler refuses the machine code: {said}")
    return ran.stdout.decode(errors="replace")


@cache
def the_program() -> Path | None:
    """The disassembler: the package's, or the one on the PATH; None: there is none."""
    spec = importlib.util.find_spec("nvidia")
    for folder in spec.submodule_search_locations or () if spec else ():
        for pattern in IN_PACKAGE:
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
    """The compiler's output as rows.  Raises CompileFailedError, as `disassembled`."""
    if kind == "ptx":
        return ptx_listing(compiled.ptx)
    return sass_listing(disassembled(compiled.cubin))


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
