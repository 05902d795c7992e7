"""The C++ compiler for device code on the CPU, and the libraries that it makes, which are kept."""

from __future__ import annotations

import atexit
import hashlib
import importlib.util
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Generator
from contextlib import suppress
from dataclasses import dataclass
from functools import cache as cached
from pathlib import Path

from kernels.core.safe_files import cache_folder, holding
from kernels.cuda_on_cpu import confinement
from kernels.cuda_on_cpu.children import Compilation, borrowed_child
from kernels.cuda_on_cpu.elf import why_not_text

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
    found = _found()
    assert isinstance(found, Compiler), found
    return found


def _found() -> Compiler | str:
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


@cached
def _version(path: str) -> str:
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

LOOK_S = 0.01  # between two looks at whether the compiler has ended
MAX_SECONDS = 30  # for one text, by the clock
OWN_SECONDS = 600  # for the runtime, which is known to compile
MAX_BYTES = 4 << 30  # of memory, for g++; zig's own working space is larger
MAX_WRITTEN = 128 << 20  # bytes of a file that it writes
RLIMIT_FSIZE, RLIMIT_CORE, RLIMIT_AS = 1, 4, 9  # as on Linux
SOURCE, MADE = "text.cpp", "made"  # in the folder, with this suffix, that the compiler works in
WORK = ".work"
TOO_LONG = "the compiler takes too long"
REFUSED = "refused: "  # before a sentence of ours
MAX_KEPT_BYTES = 200 << 20  # of the cache, parsed headers and all
MIN_ROOM = 1 << 16  # bytes, which a full disk has not


class BuildError(Exception):
    """The compiler refuses the text; the message is what it says."""


def building(text: str, flavour: Flavour, cache: Path) -> Generator[None, None, Path]:
    """Build the shared library of `text` and the runtime; closing the generator ends the compiler.

    Raises BuildError.  Processes may share `cache`: the first builds, the others wait for it.
    """
    compiler = the_compiler()
    libraries = yield from runtime(compiler, flavour, cache)
    flags = flavour.flags_for(compiler)
    flags = (*(yield from _parsed_header(compiler, flags, cache)), *flags)
    made = yield from _library(compiler, text, flags, cache, libraries, MAX_SECONDS)
    if compiler.is_zig:  # which links parts of C++'s library into each, with all that these define
        return made
    if reason := why_not_text(made, libraries, is_watched="-fsanitize=thread" in flavour.flags):
        raise BuildError(f"{REFUSED}{reason}")
    return made


def runtime_of(library: Path) -> list[Path]:
    """Libraries that one was linked with, the runtime itself last: its name lists them."""
    keys = library.name.removeprefix("lib").removesuffix(".so").split(".")
    return [library.with_name(f"lib{'.'.join(keys[at:])}.so") for at in range(1, len(keys))]


def warnings(text: str, cache: Path) -> Generator[None, None, str]:
    """Compile `text`; return the warnings of variables that are used without a value."""
    compiler = the_compiler()
    options = (*compiler.options, *WARNED.flags_for(compiler), *compiler.warnings, f"-I{HERE}")
    path = cache / f"warned-{_key(compiler, text, *options)}.txt"
    steps = [(*options, "-S", SOURCE, "-o", "warned.s")]
    made = yield from _made(compiler, path, steps, text, MAX_SECONDS)
    return made.read_text(encoding="utf-8")


def runtime(compiler: Compiler, flavour: Flavour, cache: Path) -> Generator[None, None, list[Path]]:
    """Make the libraries with which device code is linked, bit by bit."""
    libraries: list[Path] = []
    for file in (RUNTIME, *flavour.beside):
        text = file.read_text(encoding="utf-8")
        made = yield from _library(compiler, text, RUNTIME_FLAGS, cache, libraries, OWN_SECONDS)
        libraries.insert(0, made)
    return libraries


def _library(
    compiler: Compiler,
    text: str,
    flags: tuple[str, ...],
    cache: Path,
    libraries: list[Path],
    seconds: float,
) -> Generator[None, None, Path]:
    linked = ("-Wl,--no-as-needed", *map(str, libraries))
    # By the names of what it was linked with it is known what to load before it.
    beside = "".join(f".{each.name.removeprefix('lib').split('.')[0]}" for each in libraries)
    path = cache / f"lib{_key(compiler, text, *flags, *linked)}{beside}.so"
    options = (*compiler.options, *flags, f"-I{HERE}")
    if compiler.is_gnu:
        steps = [(*options, "-shared", "-x", "c++", SOURCE, "-x", "none", *linked)]
    else:  # in two steps, or clang would link a detector of races of its own
        steps = [
            (*options, "-c", SOURCE, "-o", "kept.o"),
            (*compiler.options, "-shared", "kept.o", *linked),
        ]
    return (yield from _made(compiler, path, steps, text, seconds))


def _parsed_header(
    compiler: Compiler, flags: tuple[str, ...], cache: Path
) -> Generator[None, None, tuple[str, ...]]:
    """Parse cuda_cpu.h ahead for g++: that takes a quarter of a second each time."""
    if not compiler.is_gnu:
        return ()
    folder = cache / f"headers-{_key(compiler, *flags)}"
    folder.mkdir(exist_ok=True)
    header = HERE / "cuda_cpu.h"
    step = (*compiler.options, *flags, "-x", "c++-header", str(header))
    yield from _made(compiler, folder / "cuda_cpu.h.gch", [step])
    return (f"-I{folder}",)


def _key(compiler: Compiler, *words: str) -> str:
    all_words = *compiler.words, compiler.version, *words, _headers()
    return hashlib.sha256("\0".join(all_words).encode()).hexdigest()[:16]


@cached
def _headers() -> str:
    return "\0".join(path.read_text(encoding="utf-8") for path in sorted(HERE.glob("*.h")))


def _made(
    compiler: Compiler,
    path: Path,
    steps: list[tuple[str, ...]],
    text: str = "",
    seconds: float = OWN_SECONDS,
) -> Generator[None, None, Path]:
    """Make `path` of `text`, which is SOURCE to the steps, unless it is there.

    Where the steps leave no MADE it is what they say.
    """
    while not path.exists():
        with holding(path.with_suffix(".lock"), 0.0) as is_ours:
            if is_ours and not path.exists():
                yield from _making(compiler, path, steps, text, seconds)
                return path
        yield
        time.sleep(LOOK_S)
    with suppress(OSError):  # somebody else's
        os.utime(path)  # what was used last is deleted last
    return path


def _making(
    compiler: Compiler, path: Path, steps: list[tuple[str, ...]], text: str, seconds: float
) -> Generator[None, None, None]:
    folder = path.with_suffix(WORK).absolute()
    shutil.rmtree(folder, ignore_errors=True)  # of a process that was killed
    folder.mkdir()
    try:
        (folder / SOURCE).write_text(text, encoding="utf-8")
        for step in steps:
            output = () if "-o" in step else ("-o", MADE)
            said = yield from _compiling(compiler, (*step, *output), folder, seconds)
        if not (folder / MADE).exists():
            (folder / MADE).write_text(said, encoding="utf-8")
        (folder / MADE).rename(path)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _compiling(
    compiler: Compiler, options: tuple[str, ...], folder: Path, seconds: float
) -> Generator[None, None, str]:
    """Run the compiler in a folder, within limits; closing the generator ends it.

    Returns its messages where it has no error.
    """
    named = [each.removeprefix("-I") for each in options if each.startswith(("/", "-I"))]
    memory = [(RLIMIT_AS, MAX_BYTES)] if compiler.is_gnu else []
    order = Compilation(
        (*compiler.words, *options),
        str(folder),
        readable=(*compiler.readable, str(HERE), *named) if compiler.readable else (),
        # The first time zig compiles its libraries, too.
        seconds=max(40 * MAX_SECONDS, seconds) if compiler.is_zig else seconds,
        limits=((RLIMIT_FSIZE, MAX_WRITTEN), (RLIMIT_CORE, 0), *memory),
    )
    with borrowed_child() as child:
        reply = yield from child.serving(order)
    if reply["ended"] != 0:
        raise BuildError(TOO_LONG if reply.get("late") else reply.get("said", ""))
    return str(reply["said"])


def default_cache() -> Path:
    """The folder of compiled texts; those that were not used for long are deleted.

    Where nothing can be kept, as on a full disk, it is one that goes with this process.
    """
    # By one name, however it is reached: libraries are linked, and so remembered, by their paths.
    folder = (cache_folder() / "cuda-on-cpu").resolve()
    try:
        return _tidied(folder)
    except OSError:
        return _passing()


@cached
def _tidied(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryFile(dir=folder) as file:
        file.write(bytes(MIN_ROOM))
    files = []
    for path in (*folder.glob("*"), *folder.glob("*/*")):
        with suppress(OSError):  # another process has just removed it
            if path.suffix == WORK:
                with holding(path.with_suffix(".lock"), 0.0) as is_free:
                    if is_free:  # its process was killed
                        shutil.rmtree(path, ignore_errors=True)
            elif path.is_file():
                files.append((path, path.stat()))
    kept = 0
    for path, facts in sorted(files, key=lambda each: -each[1].st_mtime):
        kept += facts.st_size
        if kept > MAX_KEPT_BYTES and path.suffix != ".lock":  # which somebody may hold
            path.unlink(missing_ok=True)
    return folder


@cached
def _passing() -> Path:
    folder = tempfile.mkdtemp(prefix="cuda-on-cpu-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return Path(folder).resolve()
