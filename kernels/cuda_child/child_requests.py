"""The protocol between this process and a child that owns a GPU.

A request is compiled, or run once; the child decides nothing.  It reports

ready     first of all: "device", the facts of the GPU, or "reason", why there is none
phase     what begins; each has a deadline but "waiting", which is "for" its turn on the device
done      the end of a request, with what it found
error     the end of it as well: the class of an expected failure, its "sentence", "log", "status"
bug       a traceback: a bug of ours, never to be taken for the kernel's

Pictures lie in shared memory, first the picture, then the output, both (H, W, C).
"""

from __future__ import annotations

import mmap
import os
import re
import signal
import sys
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import count
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from kernels.core.device import Device, NoDevice
from kernels.core.device_turns import present_purpose
from kernels.core.errors import KernelError
from kernels.core.job import Job
from kernels.core.timing import Cache
from kernels.rungs.rung import Rung

Phase = Literal["starting", "compiling", "waiting", "preparing", "launching", "fetching"]


@dataclass(frozen=True, slots=True)
class Request:
    """One request."""

    what: Literal["compile", "run"]  # a run compiles where that was not done
    rung: Rung
    blank: Job  # with a picture of one pixel, in place of one of `shape`
    shape: tuple[int, int, int]
    rows: tuple[int, int] | None = None  # (first, end) to write; None: all
    turn: int = 0  # of the two poisons that the output is filled with
    cache: Cache = "cold"
    memory: tuple[str, int] = ("", 0)  # handle and size of what is shared
    purpose: str = ""

    @classmethod
    def of(cls, what: Literal["compile", "run"], rung: Rung, job: Job, **fields: Any) -> Request:
        """Make a request of a job, whose picture does not travel with it."""
        height, width, channels = job.picture.shape
        blank = replace(job, picture=np.zeros((1, 1, channels), job.picture.dtype))
        shape = (height, width, channels)
        return cls(what, rung, blank, shape, purpose=present_purpose(), **fields)

    def job(self, picture: NDArray[Any]) -> Job:
        """The job on its picture."""
        return replace(self.blank, picture=picture)

    @property
    def picture_bytes(self) -> int:
        """The size of its picture, and of the output."""
        height, width, channels = self.shape
        return height * width * channels * self.blank.picture.itemsize


def device_of(facts: dict[str, Any]) -> Device | NoDevice:
    """The device whose facts were reported."""
    return NoDevice(**facts) if "reason" in facts else Device(**with_tuples(facts))


def with_tuples(fields: dict[str, Any]) -> dict[str, Any]:
    """Restore a tuple for each list: JSON has no tuples."""
    return {name: tuple(each) if isinstance(each, list) else each for name, each in fields.items()}


_tags = count(1)


class SharedBytes:
    """Memory that grows on request; a child finds it again by its `handle`.

    On Linux that is the number of a file in memory, which the child inherits; on Windows a name.
    """

    def __init__(self) -> None:
        self.descriptors = () if sys.platform == "win32" else (os.memfd_create("cuda-child"),)
        self.handle = "".join(map(str, self.descriptors))
        self._map: mmap.mmap | None = None  # it goes with the last array in it
        self.size = 0

    def array(self, size: int) -> NDArray[np.uint8]:
        """Its first `size` bytes; their contents may be lost."""
        if self._map is None or size > self.size:
            self._map = None
            if sys.platform == "win32":
                self.handle = f"filter-workbench-{os.getpid()}-{next(_tags)}"
            else:
                os.ftruncate(int(self.handle), size)
            self._map, self.size = mapped(self.handle, size), size
        return np.frombuffer(self._map, np.uint8, size)

    def close(self) -> None:
        """Give the memory back; where somebody still looks at an array in it, with that one."""
        self._map = None
        for each in self.descriptors:
            os.close(each)
        self.descriptors = ()


@lru_cache(maxsize=1)  # mapped once, not for each run
def shared_bytes(handle: str, size: int) -> NDArray[np.uint8]:
    """All of the memory that has this handle and size, as a child sees it."""
    return np.frombuffer(mapped(handle, size), np.uint8)


def mapped(handle: str, size: int) -> mmap.mmap:
    """Map the memory that has this handle, here or in the child."""
    if sys.platform == "win32":
        return mmap.mmap(-1, size, tagname=handle)
    return mmap.mmap(int(handle), size)


# What ended CUDA in the child, by the begin of its name without "cudaError" or "CUDA_ERROR_".
FAILURES = {
    "illegaladdress": "A thread accessed memory outside of all arrays",
    "misalignedaddress": "A thread accessed numbers at an address that is not a multiple of their "
    "size",
    "illegalinstruction": "A thread came to a trap, or to an instruction that this GPU lacks",
    "hardwarestackerror": "A thread has used up its stack: does a function call itself without "
    "end?",
    "launchtimeout": "The kernel took longer than this computer lets one run: a loop that does not "
    "end?",
    "launchfail": "The kernel failed: perhaps a thread came to a trap, or used up its stack",
    "": "The kernel ended all work on the GPU in its process",
}
ASSERTION = re.compile(
    r"^(?:.*[/\\])?([^/\\\n]+):(\d+): .*?block: \[(\d+),(\d+),\d+\], thread: \[(\d+),(\d+),\d+\] "
    r"Assertion `(.*)` failed",
    re.M,
)
RUNNING_ON = (
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


def too_long(phase: Phase, seconds: float) -> RunEndedError:
    """The error for a phase that was not over at its deadline."""
    time = in_seconds(seconds)
    if phase == "launching":
        return RunEndedError(RUNNING_ON.format(time=time))
    return child_failed(phase, f"was still at work after {time}")


def child_failed(phase: Phase, what: str) -> RunEndedError:
    """The error for what a child did in a phase."""
    if phase == "compiling":
        return RunEndedError(f"The compiler {what}.")
    return RunEndedError(f"The process that runs kernels on the GPU {what} while {phase}.")


def how_it_ended(code: int | None) -> str:
    """Describe how a process ended by itself; code: None is not known yet."""
    if code is None:
        return "ended"
    if code == -getattr(signal, "SIGKILL", 9):
        return "was killed (perhaps for want of memory)"
    if code >= 0:
        return f"ended (exit code {code})"
    known = {each.value: each.name for each in signal.Signals}
    return f"crashed ({known.get(-code, f'signal {-code}')})"


def failed(rung: Rung, said: dict[str, Any]) -> RunEndedError:
    """The error for a failure that a child reports."""
    if said["error"] == "DeviceLostError":
        return _lost(rung, str(said.get("status", "")), str(said.get("printed", "")))
    if said["error"] == "CompileFailedError" and (log := str(said["log"])):
        from kernels.cuda_on_cpu.compile_errors import as_gnu, first_error  # with a parser

        return RunEndedError(*first_error(as_gnu(rung, log), rung), log)
    return RunEndedError(str(said["sentence"]))


def _lost(rung: Rung, name: str, printed: str) -> RunEndedError:
    """The error for what ended CUDA, by its name there."""
    key = name.lower().replace("_", "").removeprefix("cudaerror")
    if key == "assert" and (found := ASSERTION.search(printed)):
        file, line, block_x, block_y, x, y, what = found.groups()
        is_own = file == rung.file
        return RunEndedError(
            f"{'Line' if is_own else f'{file}, line'} {line}: thread ({x}, {y}) of block "
            f"({block_x}, {block_y}) finds an assertion that does not hold: {what}.",
            int(line) if is_own else None,
        )
    words = next(words for begin, words in FAILURES.items() if key.startswith(begin))
    return RunEndedError(words if words.endswith("?") else f"{words} ({name}).")


def in_seconds(seconds: float) -> str:
    """A deadline in words."""
    return f"{seconds:.2g} s" if seconds < 10 else f"{seconds:,.0f} s"
