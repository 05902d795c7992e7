"""g++ with its answers kept, so that no text is compiled twice in a session."""

from __future__ import annotations

import fcntl
import hashlib
import platform
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent
RUNTIME = HERE / "fibers.cpp"
CPU_FACTS = Path("/proc/cpuinfo")
# Without F16C each half is taken apart bit by bit, which is most of what tensor cores' work costs.
HALVES = ("-mf16c",) if CPU_FACTS.is_file() and "f16c" in CPU_FACTS.read_text().split() else ()
COMMON = ("-std=c++20", "-fPIC", "-shared", f"-I{HERE}", *HALVES)


class BuildError(Exception):
    """g++ refuses the text; the message is what it says."""


@dataclass(frozen=True)
class Flavour:
    """A way to build device code.

    flags          for the device code
    runtime_flags  for fibers.cpp: the race detector must not look at the scheduler
    preload        the sanitizers' libraries, which Python itself does not bring
    beside         further files of the runtime
    """

    name: str
    flags: tuple[str, ...]
    runtime_flags: tuple[str, ...]
    preload: tuple[str, ...] = ()
    beside: tuple[Path, ...] = ()

    def environment(self) -> dict[str, str]:
        """The variables under which a Python can load such a library."""
        if not self.preload:
            return {}
        found = (_output("g++", f"-print-file-name={name}.so") for name in self.preload)
        return {
            "LD_PRELOAD": " ".join(found),
            "ASAN_OPTIONS": "detect_leaks=0",  # Python keeps much until it ends
            "UBSAN_OPTIONS": "print_stacktrace=1",
            "TSAN_OPTIONS": "halt_on_error=1",
            "PYTHONMALLOC": "malloc",  # so that ASan knows every object's end
        }


# What runs for a moment is not worth optimising: -O1 takes up to twice as long to compile.
_ADDRESS = (
    *("-Og", "-g1", "-fno-omit-frame-pointer"),
    *("-fsanitize=address,undefined,float-cast-overflow", "-fno-sanitize-recover=all"),
)
PLAIN = Flavour("plain", ("-Og",), ("-O2",))
ADDRESS = Flavour("address", _ADDRESS, _ADDRESS, ("libasan", "libubsan"))
RACES = Flavour(
    "races", ("-Og", "-g1", "-fsanitize=thread"), ("-O2", "-DRACE_DETECTOR"), ("libtsan",)
)
# Nothing optimised, so that what the text says is what is counted; and libtsan is not linked, since
# counting.cpp has all that would be wanted of it.
COUNTING = Flavour(
    "counting",
    ("-O0", "-fsanitize=thread", "-nodefaultlibs", "-DCOUNTING"),
    ("-O2",),
    beside=(HERE / "counting.cpp",),
)
FLAVOURS = {flavour.name: flavour for flavour in (PLAIN, ADDRESS, RACES)}


def why_not() -> str | None:
    """The reason device code cannot run on this computer's CPU; None if it can."""
    if platform.machine() not in ("x86_64", "AMD64") or platform.system() != "Linux":
        return "the fibers are written for Linux on x86-64"
    return None if shutil.which("g++") else "there is no g++"


def build(text: str, flavour: Flavour, cache: Path) -> Path:
    """The shared library that `text` makes with the runtime; BuildError if it does not compile.

    Processes may share `cache`: the first builds, the others wait for it.
    """
    parsed = f"-I{_parsed_header(flavour.flags, cache)}"
    return _library(text, (parsed, *flavour.flags), cache, *runtime(flavour, cache))


def runtime(flavour: Flavour, cache: Path) -> list[Path]:
    """The libraries with which device code is linked."""
    libraries: list[Path] = []
    for file in (RUNTIME, *flavour.beside):
        text = file.read_text(encoding="utf-8")
        libraries.insert(0, _library(text, flavour.runtime_flags, cache, *libraries))
    return libraries


def _library(text: str, flags: tuple[str, ...], cache: Path, *libraries: Path) -> Path:
    from_text = ("-x", "c++", "-", "-x", "none")
    options = (*flags, *COMMON, *from_text, *map(str, libraries))
    return _made(cache / f"lib{_key(text, *flags)}.so", options, text)


def _parsed_header(flags: tuple[str, ...], cache: Path) -> Path:
    """A folder in which g++ finds cuda_cpu.h as it is after parsing: a quarter of a second each."""
    folder = cache / f"headers-{_key(*flags)}"
    folder.mkdir(exist_ok=True)
    _made(
        folder / "cuda_cpu.h.gch", (*flags, *COMMON, "-x", "c++-header", str(HERE / "cuda_cpu.h"))
    )
    return folder


def _key(*words: str) -> str:
    headers = (path.read_text(encoding="utf-8") for path in sorted(HERE.glob("*.h")))
    return hashlib.sha256("\0".join((*words, *headers)).encode()).hexdigest()[:16]


def _made(path: Path, options: tuple[str, ...], text: str = "") -> Path:
    """`path`, made of `text` by g++ with `options` unless it is there."""
    with _lock(path.with_suffix(".lock")):
        if not path.exists():
            part = path.with_suffix(".part")
            command = ("g++", *options, "-o", str(part))
            done = subprocess.run(command, input=text, capture_output=True, text=True)
            if done.returncode != 0:
                raise BuildError(done.stderr)
            part.rename(path)
    return path


@contextmanager
def _lock(path: Path) -> Iterator[None]:
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _output(*command: str) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()
