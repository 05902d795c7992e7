"""NVIDIA's runtime compiler through ctypes: compiles rungs on computers without a GPU, too.

Programs that run are compiled by CuPy (`launch`); this is for PTX, machine code and registers.
"""

from __future__ import annotations

import binascii
import ctypes
import importlib.util
import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Generator, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

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
    """NVRTC's process ended without a reply; no code: it took too long."""

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
        """Compile `text`; raise CompileFailedError with the log where that fails."""
        given = (*options, *self.without_cache)
        return _compiled(*compiled(self.library, text, given, OUTPUTS))

    def compiling_apart(self, text: str, options: Sequence[str]) -> Generator[None, None, Compiled]:
        """Compile in a process of its own.  Raises CompileFailedError and CompilerEndedError."""
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
            order = [self.place, text, wanted, outputs, cpu_seconds]
            request.write(json.dumps(order).encode())
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
        """The option against the driver's cache: what comes from there has no log."""
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
    """Compile `rung` for `job` as CuPy would, perhaps with the source's lines."""
    options = options_for(rung, job, architecture)
    return compile_text(rung.text, [*options, *([LINES] if with_lines else ())], architecture)


def compile_text(text: str, options: Sequence[str], architecture: int) -> Compiled:
    """Compile `text`; raise CompileFailedError, also without a compiler for `architecture`."""
    return compiler_here(architecture).compile(text, options)


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
    target = f"--gpu-architecture=sm_{architecture}"
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
