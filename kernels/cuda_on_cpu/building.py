"""Device code as libraries for the CPU, kept in a folder, so that no text is compiled twice."""

from __future__ import annotations

import hashlib
import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Generator
from contextlib import suppress
from pathlib import Path
from typing import IO

from kernels.core.driving import outcome_of
from kernels.core.locks import holding
from kernels.cuda_on_cpu.compiler import Compiler, the_compiler
from kernels.cuda_on_cpu.flavours import HERE, RUNTIME, Flavour

LOOK_S = 0.01  # between two looks at whether the compiler has ended
MAX_SECONDS = 60  # of the CPU's time, for one text
MAX_KILOBYTES = 4 << 20  # of g++; zig's own working space is larger
MAX_BLOCKS = 1 << 18  # of 512 bytes: of a file that it writes
MAX_SAID = 1 << 20  # bytes of what it says, and as many of its last words
# No hard limit of time, of which it would say no more than that it was killed.
LIMITED = """
ulimit -S -t "$0"; ulimit -f "$1"; test "$2" = 0 || ulimit -v "$2"; shift 2; exec "$@"
"""


class BuildError(Exception):
    """The compiler refuses the text; the message is what it says."""


def build(text: str, flavour: Flavour, cache: Path) -> Path:
    """Return the shared library that `text` makes with the runtime.

    Raises BuildError where it does not compile.  Processes may share `cache`: the first builds,
    the others wait for it.
    """
    return outcome_of(building(text, flavour, cache))


def building(text: str, flavour: Flavour, cache: Path) -> Generator[None, None, Path]:
    """Do the same bit by bit: whoever stops driving it ends the compiler."""
    compiler = the_compiler()
    libraries = yield from runtime(compiler, flavour, cache)
    flags = flavour.flags_for(compiler)
    flags = (*(yield from _parsed_header(compiler, flags, cache)), *flags)
    return (yield from _library(compiler, text, flags, cache, libraries))


def warnings(text: str, flavour: Flavour, cache: Path) -> Generator[None, None, str]:
    """Return what the compiler says of variables in `text` that are used without a value."""
    compiler = the_compiler()
    source = cache / f"warned-{_key(compiler, text)}.cpp"
    with holding(source.with_suffix(".lock"), 0.0):  # or somebody else writes the same
        source.write_text(text, encoding="utf-8")
    options = (*compiler.options, *flavour.flags_for(compiler), *compiler.warnings, f"-I{HERE}")
    try:
        # A file that goes with its folder: zig would put one in the place of /dev/null, or of "-".
        return (yield from _compiling(compiler, (*options, "-S", str(source), "-o", "warned.s")))
    finally:
        source.unlink(missing_ok=True)


def runtime(compiler: Compiler, flavour: Flavour, cache: Path) -> Generator[None, None, list[Path]]:
    """Make the libraries with which device code is linked, bit by bit."""
    libraries: list[Path] = []
    for file in (RUNTIME, *flavour.beside):
        text = file.read_text(encoding="utf-8")
        made = yield from _library(compiler, text, flavour.runtime_flags, cache, libraries)
        libraries.insert(0, made)
    return libraries


def _library(
    compiler: Compiler,
    text: str,
    flags: tuple[str, ...],
    cache: Path,
    libraries: list[Path],
) -> Generator[None, None, Path]:
    linked = ("-Wl,--no-as-needed", *map(str, libraries))
    path = cache / f"lib{_key(compiler, text, *flags, *linked)}.so"
    source = path.with_suffix(".cpp")
    options = (*compiler.options, *flags, f"-I{HERE}")
    if compiler.is_gnu:
        steps = [(*options, "-shared", "-x", "c++", str(source), "-x", "none", *linked)]
    else:  # in two steps, or clang would link a detector of races of its own
        kept = str(path.with_suffix(".o"))
        steps = [
            (*options, "-c", str(source), "-o", kept),
            (*compiler.options, "-shared", kept, *linked),
        ]
    return (yield from _made(compiler, path, steps, source, text))


def _parsed_header(
    compiler: Compiler, flags: tuple[str, ...], cache: Path
) -> Generator[None, None, tuple[str, ...]]:
    """Have cuda_cpu.h as g++ has it after parsing: that takes a quarter of a second each time."""
    if not compiler.is_gnu:
        return ()
    folder = cache / f"headers-{_key(compiler, *flags)}"
    folder.mkdir(exist_ok=True)
    header = HERE / "cuda_cpu.h"
    step = (*compiler.options, *flags, "-x", "c++-header", str(header))
    yield from _made(compiler, folder / "cuda_cpu.h.gch", [step])
    return (f"-I{folder}",)


def _key(compiler: Compiler, *words: str) -> str:
    headers = (path.read_text(encoding="utf-8") for path in sorted(HERE.glob("*.h")))
    return hashlib.sha256("\0".join((compiler.key, *words, *headers)).encode()).hexdigest()[:16]


def _made(
    compiler: Compiler,
    path: Path,
    steps: list[tuple[str, ...]],
    source: Path | None = None,
    text: str = "",
) -> Generator[None, None, Path]:
    """Return `path`, made of `text`, which is written to `source`, unless it is there."""
    while True:
        with holding(path.with_suffix(".lock"), 0.0) as is_held:
            if path.exists():
                with suppress(OSError):  # somebody else's
                    os.utime(path)  # what was used last is deleted last
                return path
            if is_held:
                if source is not None:
                    source.write_text(text, encoding="utf-8")
                part = path.with_suffix(".part")
                try:
                    for step in steps:
                        output = () if "-o" in step else ("-o", str(part))
                        yield from _compiling(compiler, (*step, *output))
                    part.rename(path)
                finally:
                    part.unlink(missing_ok=True)  # of a compiler that was killed
                return path
        yield
        time.sleep(LOOK_S)


def _compiling(compiler: Compiler, options: tuple[str, ...]) -> Generator[None, None, str]:
    """Run the compiler, within limits of time and memory; it ends when nobody drives this.

    Returns what it says where it has no error.
    """
    memory = MAX_KILOBYTES if compiler.is_gnu else 0
    # The first time zig compiles its libraries, too.
    seconds = MAX_SECONDS if compiler.is_gnu else 10 * MAX_SECONDS
    limited = ("/bin/sh", "-c", LIMITED, str(seconds), str(MAX_BLOCKS), str(memory))
    scratch = tempfile.TemporaryDirectory(prefix="cuda-on-cpu-", ignore_cleanup_errors=True)
    with scratch as folder, tempfile.TemporaryFile() as said:  # one that is killed leaves files
        process = subprocess.Popen(
            (*limited, *compiler.words, *options),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=said,
            env={**os.environ, "LC_ALL": "C", "TMPDIR": folder},
            cwd=folder,
            start_new_session=True,
        )
        try:
            while process.poll() is None:
                yield
                with suppress(subprocess.TimeoutExpired):
                    process.wait(LOOK_S)
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
        if process.returncode != 0:
            raise BuildError(_words_in(said))
        return _words_in(said)


def _words_in(said: IO[bytes]) -> str:
    """Return the begin and the end of what a compiler said: it may be endless."""
    size = said.seek(0, os.SEEK_END)
    said.seek(0)
    words = said.read(MAX_SAID)
    said.seek(max(size - MAX_SAID, len(words)))
    return (words + said.read()).decode("utf-8", "replace")
