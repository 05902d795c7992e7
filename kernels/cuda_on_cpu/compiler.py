"""The C++ compiler that device code is compiled with for the CPU: which there is, or why none."""

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
    "install g++ (on Debian and Ubuntu: apt install g++), or `pip install ziglang`, which brings "
    "clang"
)


@dataclass(frozen=True, slots=True)
class Compiler:
    """A C++ compiler.

    words   the command to begin with
    is_gnu  whether it is g++; else it is clang, also as zig's
    """

    words: tuple[str, ...]
    is_gnu: bool
    version: str

    def __str__(self) -> str:
        name = "g++" if self.is_gnu else "zig's clang" if self.is_zig else "clang++"
        return f"{name} {self.version}"

    @property
    def key(self) -> str:
        """Return what its output depends on, as one word or several."""
        return " ".join((*self.words, self.version))

    @property
    def is_zig(self) -> bool:
        """Whether it is zig's clang, which Python runs."""
        return len(self.words) > 1

    @property
    def readable(self) -> tuple[str, ...]:
        """Return the folders with its own files; none: they are not known, as one's in a home."""
        own = Path(self.words[0]).resolve()
        is_known = not self.is_zig and any(own.is_relative_to(each) for each in SYSTEM)
        return SYSTEM if is_known else ()

    @property
    def warnings(self) -> tuple[str, ...]:
        """Return the options that have it warn of variables which are used without a value."""
        if self.is_gnu:
            return ("-Wuninitialized", "-Wmaybe-uninitialized")
        return ("-Wuninitialized", "-Wsometimes-uninitialized", "-Wconditional-uninitialized")

    @property
    def options(self) -> tuple[str, ...]:
        """Return what any text is compiled with."""
        # Whoever watches accesses is called for each, and directly; of calls nobody wants to know.
        gnu = ("-fno-plt", "--param=tsan-instrument-func-entry-exit=0")
        # zig would have undefined behaviour trap, unasked.
        own = gnu if self.is_gnu else ("-fno-sanitize=undefined", "-Wno-everything")
        return ("-std=c++20", "-fPIC", *HALVES, *own)


def why_not() -> str | None:
    """Return why device code cannot run on this computer's CPU, and what to do; None if it can."""
    if platform.system() != "Linux" or platform.machine() not in ("x86_64", "AMD64"):
        return (
            "Running CUDA on the CPU works on Linux on x86-64 alone; on "
            f"{platform.system()} with {platform.machine()} it needs an NVIDIA GPU."
        )
    found = _found()
    return found if isinstance(found, str) else confinement.why_not()


def the_compiler() -> Compiler:
    """Return the compiler to use.  To be asked for only where `why_not` has nothing to say."""
    found = _found()
    assert isinstance(found, Compiler), found
    return found


def _found() -> Compiler | str:
    """Return g++, clang++ or zig's clang, the first that is new enough; else why there is none."""
    too_old = ""
    for word, is_gnu, least in (("g++", True, MIN_GNU), ("clang++", False, MIN_CLANG)):
        path = shutil.which(word)
        version = _version(path) if path else ""
        if not path or not version:
            continue
        if int(version.split(".")[0]) >= least:
            return Compiler((path,), is_gnu, version)
        too_old = too_old or f"{word} {version} is too old, it takes {least} or newer: "
    if importlib.util.find_spec("ziglang"):
        from importlib.metadata import version as version_of  # with all of email

        words = (sys.executable, "-m", "ziglang", "c++")
        return Compiler(words, False, version_of("ziglang"))
    return (
        f"Running CUDA on the CPU takes a C++ compiler; {too_old}{HOW_TO_GET_ONE}, and try again."
    )


@cache
def _version(path: str) -> str:
    """Return its version, "12.2.0"; empty where it does not answer."""
    try:
        done = subprocess.run(
            [path, "-dumpfullversion", "-dumpversion"], capture_output=True, text=True, timeout=20
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    said = done.stdout.strip()
    return said if done.returncode == 0 and re.fullmatch(r"\d+(\.\d+)*", said) else ""
