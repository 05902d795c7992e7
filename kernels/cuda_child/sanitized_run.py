"""One run of a kernel under one of compute-sanitizer's tools, in processes that it may crash."""

from __future__ import annotations

import json
import os
import pickle
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Generator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from kernels.core.errors import CannotRunError, KernelError
from kernels.cuda.compute_sanitizer import Sanitizer
from kernels.cuda_child.child_endings import RunEndedError, failed, in_seconds
from kernels.cuda_child.sanitized_main import ANSWER, ASKED, SAID, WAITING, ToSanitize
from kernels.cuda_child.sanitizer_reports import Report, complaint_of, is_complete, reports_of

Tool = Literal["memcheck", "racecheck", "synccheck", "initcheck"]

ROOT = Path(__file__).parents[2]
PROGRAM = (
    "import sys; sys.path[:] = eval(sys.argv[1]); "
    "from kernels.cuda_child.sanitized_main import main; main(sys.argv[2])"
)
OPTIONS = ("--print-limit", "20", "--padding", str(64 << 10), "--target-processes", "all")
OPTIONS_OF: dict[Tool, tuple[str, ...]] = {"racecheck": ("--racecheck-report", "hazard")}
SHARED_SINCE = 2025, 4
BOTH_SPACES = ("--initcheck-address-space", "all")
BEGIN_S = 120.0  # until the kernel runs: Python, CUDA and the compiler, all watched
RUN_S = 30.0  # for the kernel and the report
LOOK_S = 0.02
MAX_PRINTED = 4 << 20  # bytes that are read


class SanitizerError(KernelError):
    """compute-sanitizer could not do its work, which says nothing of the kernel."""


class StillRunningError(RunEndedError):
    """The kernel was not over at its deadline."""


@dataclass(frozen=True, slots=True, eq=False)
class Sanitized:
    """What came of a run.

    arrays        by name: address and size in bytes
    shared_bytes  of a block
    answer        (H, W, C); None where the run did not come to its end, or it was not asked for
    is_changed    whether the picture is no longer what it was
    """

    reports: tuple[Report, ...]
    arrays: dict[str, tuple[int, int]]
    shared_bytes: int
    answer: NDArray[Any] | None
    is_changed: bool


def sanitized(
    sanitizer: Sanitizer, tool: Tool, asked: ToSanitize
) -> Generator[None, None, Sanitized]:
    """Run it once; whoever stops driving this ends it.

    Raises SanitizerError, RunEndedError where the kernel does not compile or ends badly without a
    report of that, and StillRunningError where it does not end.
    """
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as place:
        folder = Path(place)
        (folder / ASKED).write_bytes(pickle.dumps(asked))
        printed = yield from _printed(_command(sanitizer, tool, folder), folder)
        said = _said(folder)
        if "bug" in said:
            raise RuntimeError(f"A run under compute-sanitizer failed:\n{said['bug']}")
        if said.get("error") == CannotRunError.__name__:
            raise SanitizerError(str(said["sentence"]))
        reports = reports_of(printed)
        if "error" in said and not reports:
            raise failed(asked.rung, said)
        if not is_complete(printed):
            raise SanitizerError(f"{_name(sanitizer, tool)} came to no end: {_why(printed)}.")
        answer = np.load(folder / ANSWER) if (folder / ANSWER).exists() else None
    arrays = {name: (int(at), int(size)) for name, (at, size) in said.get("arrays", {}).items()}
    return Sanitized(
        reports, arrays, int(said.get("shared_bytes", 0)), answer, bool(said.get("changed"))
    )


def _command(sanitizer: Sanitizer, tool: Tool, folder: Path) -> list[str]:
    path = [str(ROOT), *(each for each in sys.path if each and each != str(ROOT))]
    both = BOTH_SPACES if tool == "initcheck" and sanitizer.version >= SHARED_SINCE else ()
    options = ("--tool", tool, *OPTIONS, *OPTIONS_OF.get(tool, ()), *both)
    program = (sys.executable, "-c", PROGRAM, repr(path), str(folder))
    return [str(sanitizer.program), *options, *program]


def _printed(command: list[str], folder: Path) -> Generator[None, None, str]:
    """Return all that it printed, once it has ended."""
    output = folder / "printed"
    with output.open("wb") as file:
        try:
            process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,  # whose end ends what it watches
                stdout=file,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
            )
        except OSError as error:
            why = error.strerror or type(error).__name__
            raise SanitizerError(f"compute-sanitizer could not be started: {why}.") from error
        try:
            yield from _waiting_for(process, folder)
        finally:
            _end(process)
    with output.open("rb") as file:
        return file.read(MAX_PRINTED).decode("utf-8", "replace")


def _waiting_for(process: subprocess.Popen[bytes], folder: Path) -> Generator[None, None, None]:
    until, has_begun = time.monotonic() + BEGIN_S, False
    while process.poll() is None:
        if not has_begun and (folder / SAID).exists():
            until, has_begun = time.monotonic() + RUN_S, True
        elif not has_begun and (folder / WAITING).exists():
            until = time.monotonic() + BEGIN_S  # for its turn, as long as others take theirs
        if time.monotonic() > until and has_begun:
            raise StillRunningError(
                f"Under compute-sanitizer the kernel was still running after {in_seconds(RUN_S)}: "
                "a loop that does not end, or threads that wait for one another?"
            )
        if time.monotonic() > until:
            raise SanitizerError(
                f"compute-sanitizer had not begun to run the kernel after {in_seconds(BEGIN_S)}."
            )
        time.sleep(LOOK_S)
        yield


def _end(process: subprocess.Popen[bytes]) -> None:
    """End it, and what it watches, if they have not ended."""
    if process.poll() is None and os.name == "posix":
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
    process.kill()
    assert process.stdin is not None
    with suppress(OSError):
        process.stdin.close()
    process.wait()


def _said(folder: Path) -> dict[str, Any]:
    try:
        said: dict[str, Any] = json.loads((folder / SAID).read_text(encoding="utf-8"))
    except OSError:
        return {}
    return said


def _name(sanitizer: Sanitizer, tool: Tool) -> str:
    year, number = sanitizer.version
    return f"{tool} of compute-sanitizer {year}.{number}"


def _why(printed: str) -> str:
    return complaint_of(printed).rstrip(".") or "it ended without a word"
