"""A rung compiled to be looked at, in a process of its own: a text may crash a compiler.

Unlike the children that run kernels it needs no GPU, and it ends when it is done.
"""

from __future__ import annotations

import base64
import json
import subprocess
import sys
import time
from collections.abc import Generator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from kernels.core.errors import CompileFailedError
from kernels.core.job import Job
from kernels.cuda.nvrtc import LINES, Compiled, compile_text, options_for
from kernels.cuda_child.child_endings import died, failed, too_long
from kernels.rungs.rung import Rung

ROOT = Path(__file__).parents[2]
PROGRAM = (
    "import sys; sys.path[:] = eval(sys.argv[1]); "
    "from kernels.cuda_child.compile_apart import main; main()"
)
LOOK_S = 0.02
PATIENCE_S = 60.0


@dataclass(frozen=True, slots=True)
class Compilation:
    """A text to compile; equal ones give the same output."""

    text: str
    options: tuple[str, ...]
    architecture: int


def compilation_of(rung: Rung, job: Job, architecture: int) -> Compilation:
    """Return the compilation of a rung for a job, whose output names the source's lines."""
    return Compilation(rung.text, (*options_for(rung, job, architecture), LINES), architecture)


def compiling_apart(rung: Rung, asked: Compilation) -> Generator[None, None, Compiled]:
    """Compile; whoever stops driving this ends the compiler.

    rung  whose text it is, for the sentences
    Raises RunEndedError.
    """
    path = [str(ROOT), *(each for each in sys.path if each and each != str(ROOT))]
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, repr(path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
    )
    try:
        request = json.dumps([asked.text, asked.options, asked.architecture])
        said = yield from _answer(process, request.encode())
    finally:
        process.kill()
        process.communicate()
    if said is None:
        raise died("compiling", process.returncode)
    if "error" in said:
        raise failed(rung, said)
    return Compiled(said["ptx"], said["log"], base64.b64decode(said["cubin"]))


def _answer(
    process: subprocess.Popen[bytes], request: bytes
) -> Generator[None, None, dict[str, str] | None]:
    """Return what it says; None: it ended without a word."""
    until = time.monotonic() + PATIENCE_S
    rest: bytes | None = request  # it may be given once
    while time.monotonic() < until:
        try:
            answer, _ = process.communicate(rest, timeout=LOOK_S)
        except subprocess.TimeoutExpired:
            rest = None
            yield
            continue
        with suppress(ValueError):
            found: dict[str, str] = json.loads(answer)
            return found
        return None
    raise too_long("compiling", PATIENCE_S)


def main() -> None:
    """Compile what standard input asks for, and say what came of it."""
    text, options, architecture = json.load(sys.stdin)
    try:
        made = compile_text(text, options, architecture)
    except CompileFailedError as error:
        said = {"error": "CompileFailedError", "sentence": str(error), "log": error.log}
    else:
        code = base64.b64encode(made.cubin).decode()
        said = {"ptx": made.ptx, "log": made.log, "cubin": code}
    sys.stdout.write(json.dumps(said))
