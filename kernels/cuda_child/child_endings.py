"""Sentences for how a run in a child ended, with the line where CUDA names one."""

from __future__ import annotations

import re
import signal
from typing import Any

from kernels.core.errors import KernelError
from kernels.cuda_child.child_requests import Phase
from kernels.rungs.rung import Rung

# What ended CUDA in the child, by its name without "cudaError" or "CUDA_ERROR_".
FAILURES = {
    "illegaladdress": "A thread accessed memory outside of all arrays",
    "misalignedaddress": "A thread accessed numbers at an address that is not a multiple of their "
    "size",
    "invalidaddressspace": "A thread accessed memory as if it were of another kind",
    "invalidpc": "A thread jumped to where there is no code",
    "illegalinstruction": "A thread came to a trap, or to an instruction that this GPU lacks",
    "hardwarestackerror": "A thread has used up its stack: does a function call itself without "
    "end?",
    "launchtimeout": "The kernel took longer than this computer lets one run: a loop that does not "
    "end?",
    "assert": "A thread found an assertion that does not hold",
    "launchfailure": "The kernel failed: perhaps a thread came to a trap, or used up its stack",
    "launchfailed": "The kernel failed: perhaps a thread came to a trap, or used up its stack",
}
ASSERTION = re.compile(
    r"^(?:.*[/\\])?([^/\\\n]+):(\d+): .*?block: \[(\d+),(\d+),\d+\], thread: \[(\d+),(\d+),\d+\] "
    r"Assertion `(.*)` failed",
    re.M,
)
DOING: dict[Phase, str] = {
    "starting": "as it started",
    "compiling": "in the compiler",
    "preparing": "before the kernel ran",
    "launching": "as the kernel ran",
    "fetching": "after the kernel ran",
}
TOO_LONG: dict[Phase, str] = {
    "starting": "The process that runs kernels on the GPU was not ready after {time}.",
    "compiling": "The compiler was still at work after {time}: the text takes too long.",
    "preparing": "Bringing the picture to the GPU took more than {time}.",
    "launching": "The kernel was still running after {time}: a loop that does not end, or threads "
    "that wait for one another?",
    "fetching": "Fetching the answer from the GPU took more than {time}.",
}

MAY_HAVE_FAILED = (
    "The kernel was still running after {time}: a loop that does not end, threads that wait for "
    "one another, or a fault that the GPU has not reported yet?"
)


class RunEndedError(KernelError):
    """A run came to no end that is any good.

    line  of the rung's file; None: not known
    log   of the compiler
    """

    def __init__(self, sentence: str, line: int | None = None, log: str = "") -> None:
        super().__init__(sentence)
        self.line, self.log = line, log


def too_long(phase: Phase, seconds: float, *, may_have_failed: bool = False) -> RunEndedError:
    """The error for a phase that was not over at its deadline.

    may_have_failed  the GPU may have had no time to report a fault
    """
    words = MAY_HAVE_FAILED if may_have_failed else TOO_LONG[phase]
    return RunEndedError(words.format(time=in_seconds(seconds)))


def too_much_memory(phase: Phase, most: int) -> RunEndedError:
    """The error for a child that took more memory of this computer than it may."""
    whose = "The compiler" if phase == "compiling" else "The process that runs the kernel"
    return RunEndedError(f"{whose} took more than {most / (1 << 30):.3g} GiB of memory.")


def died(phase: Phase, code: int | None) -> RunEndedError:
    """The error for a child that ended by itself; code: None is not known yet."""
    who = "The compiler" if phase == "compiling" else "The process that runs kernels on the GPU"
    how = how_it_ended(code)
    when = "" if phase == "compiling" else f"{',' * (',' in how)} {DOING[phase]}"
    return RunEndedError(f"{who} {how}{when}.")


def how_it_ended(code: int | None) -> str:
    """Describe how a process ended by itself; code: None is not known yet."""
    if code is None:
        return "ended"
    if code == -getattr(signal, "SIGKILL", 9):
        return "was killed, perhaps for want of memory"
    if code >= 0:
        return f"ended (exit code {code})"
    known = {each.value: each.name for each in signal.Signals}
    return f"crashed ({known.get(-code, f'signal {-code}')})"


def failed(rung: Rung, said: dict[str, Any]) -> RunEndedError:
    """The error for a failure that a child reports."""
    name = str(said.get("status", ""))
    key = re.sub(r"^(cudaerror|cudaerror_|cuda_error_)", "", name.lower()).replace("_", "")
    if said["error"] == "DeviceLostError" and key in FAILURES:
        if key == "assert" and (found := ASSERTION.search(str(said.get("printed", "")))):
            file, line, block_x, block_y, x, y, what = found.groups()
            is_own = file == rung.file
            return RunEndedError(
                f"{f'Line {line}' if is_own else f'{file}, line {line}'}: thread ({x}, {y}) of "
                f"block ({block_x}, {block_y}) finds an assertion that does not hold: {what}.",
                int(line) if is_own else None,
            )
        ending = "" if FAILURES[key].endswith("?") else f" ({name})."
        return RunEndedError(f"{FAILURES[key]}{ending}")
    if said["error"] == "DeviceLostError":
        return RunEndedError(f"The kernel ended all work on the GPU in its process ({name}).")
    if said["error"] == "CompileFailedError":
        from kernels.cuda_on_cpu.compile_errors import as_gnu, first_error  # with a parser

        if log := str(said["log"]):
            return RunEndedError(*first_error(as_gnu(rung, log), rung), log)
    return RunEndedError(str(said["sentence"]))


def in_seconds(seconds: float) -> str:
    """A deadline in words."""
    return f"{seconds:.2g} s" if seconds < 10 else f"{seconds:,.0f} s"
