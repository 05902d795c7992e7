"""The C++ compiler for device code on the CPU, and the flavours that it builds."""

from __future__ import annotations

import importlib.util
import platform
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from kernels.cuda_on_cpu import confinement

CPU_FACTS = Path("/proc/cpuinfo")
# Without F16C each half is taken apart bit by bit, which is most of what tensor cores' work costs.
HALVES = ("-mf16c",) if CPU_FACTS.is_file() and "f16c" in CPU_FACTS.read_text().split() else ()
# Where compilers are, and what they load: nothing of a user's.
SYSTEM = (
    *("/usr", "/bin", "/lib", "/lib32", "/lib64", "/opt", "/nix/store", "/gnu/store"),
    *("/etc/ld.so.cache", "/etc/alternatives", "/dev/urandom"),
)
MIN_GNU, MIN_CLANG = 12, 15  # the first that know _Float16
HOW_TO_GET_ONE = (
    f"install g++ {MIN_GNU} or newer (on Debian and Ubuntu: apt install g++), or `pip install "
    "ziglang`, which brings clang"
)


@dataclass(frozen=True, slots=True)
class Compiler:
    """A C++ compiler."""

    words: tuple[str, ...]  # the command to begin with
    is_gnu: bool  # else it is clang, also as zig's
    version: str

    def __str__(self) -> str:
        name = "g++" if self.is_gnu else "zig's clang" if self.is_zig else "clang++"
        return f"{name} {self.version}"

    @property
    def is_zig(self) -> bool:
        """True for zig's clang, which Python runs."""
        return len(self.words) > 1

    @property
    def readable(self) -> tuple[str, ...]:
        """The folders with its own files; none: they are not known, as in a home."""
        own = Path(self.words[0]).resolve()
        is_known = not self.is_zig and any(own.is_relative_to(each) for each in SYSTEM)
        return SYSTEM if is_known else ()

    @property
    def warnings(self) -> tuple[str, ...]:
        """The options for warnings of variables that are used without a value."""
        if self.is_gnu:
            return ("-Wuninitialized", "-Wmaybe-uninitialized")
        return ("-Wuninitialized", "-Wsometimes-uninitialized", "-Wconditional-uninitialized")

    @property
    def options(self) -> tuple[str, ...]:
        """The options for any text."""
        # Hooks of accesses are called for each, and directly; hooks of calls are not wanted.
        gnu = ("-fno-plt", "--param=tsan-instrument-func-entry-exit=0")
        # zig would have undefined behaviour trap, unasked.
        own = gnu if self.is_gnu else ("-fno-sanitize=undefined", "-Wno-everything")
        return ("-std=c++20", "-fPIC", *HALVES, *own)


def why_not() -> str | None:
    """Explain why device code cannot run on this computer's CPU; None if it can."""
    if platform.system() != "Linux" or platform.machine() not in ("x86_64", "AMD64"):
        return (
            "Running CUDA on the CPU works on Linux on x86-64 alone; on "
            f"{platform.system()} with {platform.machine()} it needs an NVIDIA GPU."
        )
    found = _found()
    return found if isinstance(found, str) else confinement.why_not()


def the_compiler() -> Compiler:
    """The compiler to use, where `why_not` is None."""
    found = _found()
    assert isinstance(found, Compiler), found
    return found


def _found() -> Compiler | str:
    """The first of g++, clang++ and zig's clang that is new enough; else why there is none."""
    for word, is_gnu, least in (("g++", True, MIN_GNU), ("clang++", False, MIN_CLANG)):
        path = shutil.which(word)
        version = _version(path) if path else ""
        if path and int(version.split(".")[0] or 0) >= least:
            return Compiler((path,), is_gnu, version)
    if importlib.util.find_spec("ziglang"):
        from importlib.metadata import version as version_of  # with all of email

        words = (sys.executable, "-m", "ziglang", "c++")
        return Compiler(words, False, version_of("ziglang"))
    return f"Running CUDA on the CPU takes a C++ compiler: {HOW_TO_GET_ONE}, and try again."


@cache
def _version(path: str) -> str:
    """Its version, "12.2.0"; empty where it does not run."""
    try:
        done = subprocess.run(
            [path, "-dumpfullversion", "-dumpversion"], capture_output=True, text=True, timeout=20
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    said = done.stdout.strip()
    return said if done.returncode == 0 and re.fullmatch(r"\d+(\.\d+)*", said) else ""


HERE = Path(__file__).parent
RUNTIME = HERE / "fibers.cpp"
# For fibers.cpp and those beside it: what looks at accesses must not look at these.
RUNTIME_FLAGS = ("-O2", "-fno-omit-frame-pointer")


@dataclass(frozen=True)
class Flavour:
    """A way to build device code."""

    flags: tuple[str, ...]
    beside: tuple[Path, ...] = ()  # further files of the runtime
    gnu_flags: tuple[str, ...] = ()  # where g++ compiles it: others do not know them

    def flags_for(self, compiler: Compiler) -> tuple[str, ...]:
        """The flags for the device code of this compiler."""
        return (*self.flags, *(self.gnu_flags if compiler.is_gnu else ()))


# Not C++'s libraries, with which the runtime is linked: to look for them once more takes 40 ms.
# Lines by address, in a form that elf.py reads, and each function with a frame of its own.
_ALL = (
    *("-nodefaultlibs", "-g1", "-gdwarf-4", "-gz=none", "-fno-optimize-sibling-calls"),
    *("-fno-omit-frame-pointer", "-mno-omit-leaf-frame-pointer", "-O0"),
)
# Hooks called at each access, for which accesses.h stands in for libtsan.  Nothing is optimised, so
# that what the text says is what is counted.
_WATCHED = (*_ALL, "-fsanitize=thread", "-DWATCHED")
_RECORDER = (HERE / "recorder.cpp",)
# An array in shared memory is of floats that have to be made, once, and by one thread here.
COUNTING = Flavour((*_WATCHED, "-DCOUNTING", "-fno-threadsafe-statics"), _RECORDER)
# Likewise, but for operations: the float that counts them does not know all that one can do.
ACCESSES = Flavour(_WATCHED, _RECORDER)
# What a local variable holds that nobody gave a value: never zeros by luck.
_UNSET = "-ftrivial-auto-var-init=pattern"
# As a user's file is run: quick to compile, and a crash names its line.  It looks for what a GPU
# does not forgive, and this CPU does: see the end of report.cpp.
_TRIED = (*_ALL, "-fno-inline", "-fsanitize=alignment,return,bounds")
# Else g++ takes a variable without a value for one that has whatever value suits it; from 13 on
# constants that come together do as well.
_NO_LUCKY_VALUES = ("-fno-tree-fre", "-fno-tree-ccp")
_TRIED_BY_GNU = (
    "-Og",  # with which clang would make one call of two, and one access of several
    *_NO_LUCKY_VALUES,
    # The object of a pointer within one function; without optimisation it is unknown.
    "-fsanitize=object-size",
    # Nor may it write a call twice: threads at one barrier are told apart by the calls to it.
    "-fno-thread-jumps",
)
_REPORT = (HERE / "report.cpp",)
TRIED = Flavour((*_TRIED, _UNSET), _REPORT, _TRIED_BY_GNU)
# The same with zeros there: where its answer is another one, that depends on such a variable.
ZEROED = Flavour((*_TRIED, "-ftrivial-auto-var-init=zero"), _REPORT, _TRIED_BY_GNU)
# Compiled to be warned of them alone; less optimised, g++ does not see how values go.
WARNED = Flavour(("-O1",), gnu_flags=_NO_LUCKY_VALUES)
# Every step of one block written down, with what is loaded and stored at it.
STEPPED = Flavour(_WATCHED, (*_REPORT, *_RECORDER))
# Likewise, but each vector is loaded and stored as a whole.
RECORDED = Flavour((*_WATCHED, "-DRECORDING"), STEPPED.beside)
# Every access looked at before it is done, and every index of an array whose length the text tells.
CHECKED = Flavour((*_WATCHED, "-fsanitize=bounds", _UNSET), (*_REPORT, HERE / "checking.cpp"))
