"""Device code as libraries for the CPU, kept in a folder, so that no text is compiled twice."""

from __future__ import annotations

import atexit
import hashlib
import os
import shutil
import tempfile
import time
from collections.abc import Generator, Iterator
from contextlib import contextmanager, suppress
from functools import cache as cached
from pathlib import Path

from kernels.core.safe_files import cache_folder, holding
from kernels.cuda_on_cpu.children import Compilation, borrowed_child
from kernels.cuda_on_cpu.compiler import (
    HERE,
    RUNTIME,
    RUNTIME_FLAGS,
    Compiler,
    Flavour,
    the_compiler,
)
from kernels.cuda_on_cpu.elf import why_not_text

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


def warnings(text: str, flavour: Flavour, cache: Path) -> Generator[None, None, str]:
    """Compile `text`; return the warnings of variables that are used without a value."""
    compiler = the_compiler()
    options = (*compiler.options, *flavour.flags_for(compiler), *compiler.warnings, f"-I{HERE}")
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
        with _working_on(path) as folder:
            if folder and not path.exists():
                (folder / SOURCE).write_text(text, encoding="utf-8")
                for step in steps:
                    output = () if "-o" in step else ("-o", MADE)
                    said = yield from _compiling(compiler, (*step, *output), folder, seconds)
                if not (folder / MADE).exists():
                    (folder / MADE).write_text(said, encoding="utf-8")
                (folder / MADE).rename(path)
                return path
        yield
        time.sleep(LOOK_S)
    with suppress(OSError):  # somebody else's
        os.utime(path)  # what was used last is deleted last
    return path


@contextmanager
def _working_on(path: Path) -> Iterator[Path | None]:
    """Lend a temporary folder to make `path` in; None: somebody else does."""
    with holding(path.with_suffix(".lock"), 0.0) as is_held:
        if not is_held:
            yield None
            return
        folder = path.with_suffix(WORK).absolute()
        shutil.rmtree(folder, ignore_errors=True)  # of a process that was killed
        folder.mkdir()
        try:
            yield folder
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
