"""The children of this process that own a GPU: what they are sent, how they end, and two of them.

A request is compiled, or run once; a child decides nothing.  It reports

ready     first of all: "device", the facts of the GPU, or "reason", why there is none
phase     what begins; each has a deadline but "waiting", which is "for" its turn on the device
done      the end of a request, with what it found
error     the end of it as well: the class of an expected failure, its "sentence", "log", "status"
bug       a traceback: a bug of ours, never to be taken for the kernel's

Pictures lie in shared memory, first the picture, then the output, both (H, W, C).

One child is at work, and one stands by, both warm.  None is started before the first run.  One
takes a second or two to start: Python, CuPy and a context of CUDA.  So when one has to be ended,
another is ready already.
"""

from __future__ import annotations

import atexit
import mmap
import os
import re
import signal
import sys
import threading
import time
from collections.abc import Callable, Generator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cache, lru_cache
from itertools import count
from math import inf
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from kernels.core.child_process import ChildProcess, Reply
from kernels.core.device import Device, NoDevice
from kernels.core.device_turns import present_purpose, run_with_progress
from kernels.core.errors import DeviceLostError, KernelError
from kernels.core.job import Job
from kernels.core.plain_data import table_beside
from kernels.core.timing import Cache
from kernels.rungs.rung import Rung

Phase = Literal["starting", "compiling", "waiting", "preparing", "launching", "fetching"]
MAIN = "kernels.cuda_child.child_main"
CUDA = f"{MAIN}:CudaDevice"
ENDING_S = 0.3  # in which a process that has closed its pipe ends, as a rule
# After its deadline a kernel gets that long for the GPU to report a fault, which may take a second,
# and several where others use the GPU or the driver has more GPUs to look after.  Not where a
# display hangs on the GPU, which stands still meanwhile.
FAULT_S = 6.0
# Times the picture's size that a run may hold here: picture and output, shared and laid out.
COPIES = 14
LEFT_AT_WORK_S = 0.5  # longer than what nobody waits for any more takes as a rule
# CuPy never unloads a program, so what each has declared __device__ stays in the GPU's memory.
MAX_COMPILED = 200
SECONDS: dict[Phase, float] = {"starting": 60, "compiling": 20, "preparing": 30, "fetching": 30}
LEAVING_S = 2.0  # at the end of this process, for children to be gone


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
        blank = job.but(picture=np.zeros((1, 1, channels), job.picture.dtype))
        shape = (height, width, channels)
        return cls(what, rung, blank, shape, purpose=present_purpose(), **fields)

    def job(self, picture: NDArray[Any]) -> Job:
        return replace(self.blank, picture=picture)

    @property
    def picture_bytes(self) -> int:
        """The size of its picture, and of the output."""
        height, width, channels = self.shape
        return height * width * channels * self.blank.picture.itemsize


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
            self.handle = "-1"  # whatever comes to have its number is not ours
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


FAILURES = table_beside(__file__)
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
    time = in_seconds(seconds)
    if phase == "launching":
        return RunEndedError(RUNNING_ON.format(time=time))
    return child_failed(phase, f"was still at work after {time}")


def child_failed(phase: Phase, what: str) -> RunEndedError:
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
    return f"{seconds:.2g} s" if seconds < 10 else f"{seconds:,.0f} s"


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of a child: seconds of each phase, and bytes of this computer's memory."""

    seconds: dict[Phase, float] = field(default_factory=lambda: SECONDS)
    held_bytes: int = 8 << 30  # besides those of the pictures that it runs on


class GpuWorker:
    """One process that runs kernels, and the memory that it shares with us.

    It starts by itself, while nobody waits.  Once its process has ended it is of no use any more.

    maker       "module:function" that makes its device, of a number
    compiled    how many times it compiled
    waits       for whom, where it waits for its turn on the device; "" where it does not
    """

    def __init__(self, maker: str = CUDA, index: int = 0, limits: Limits | None = None) -> None:
        self.facts: Device | NoDevice | None = None
        self.device_bytes = self.compiled = 0
        self._limits = limits or Limits()
        self._most_bytes = self._limits.held_bytes
        self._owes = True  # that it is ready
        self._launch_s = 0.0
        try:
            self._memory = SharedBytes()
            try:
                self.process = ChildProcess(
                    *(MAIN, maker, str(index)),
                    descriptors=self._memory.descriptors,
                    is_final=lambda line: "phase" not in line,
                )
            except OSError:
                self._memory.close()
                raise
        except OSError as error:  # too many files or processes
            why = error.strerror or type(error).__name__
            words = f"The process that runs kernels on the GPU could not be started: {why}."
            raise RunEndedError(words) from error
        self._begin("starting")

    def ready(self) -> Generator[None, None, None]:
        """Wait until it is done with whatever it was sent before.

        Raises RunEndedError, as `serving` does.
        """
        if self._owes:
            yield from self._reply()
        if not self.process.is_alive:  # ended by somebody else
            raise RunEndedError("The process that runs kernels on the GPU was ended.")

    def serving(
        self, request: Request, launch_s: float = 0.0, once_sent: Callable[[], None] = lambda: None
    ) -> Generator[None, None, Reply]:
        """Send a request, wait, and return the reply.  Raises RunEndedError.

        Closing the generator leaves the child at work for a while; the next request waits for it.
        A child that waits for its turn to run a kernel is ended at once.

        launch_s   seconds that the kernel may run
        once_sent  work to do meanwhile
        """
        yield from self.ready()
        self._launch_s, self._owes = launch_s, True
        self.compiled += request.what == "compile"
        self._most_bytes = self._limits.held_bytes + COPIES * request.picture_bytes
        self._begin("preparing")
        self.process.send(request)
        once_sent()
        try:
            said = yield from self._reply()
        except GeneratorExit:
            if self.waits:
                self.end()  # or its kernel runs when the turn comes, and nobody ends it
            elif launch_s and not self.process.has_reply.is_set():
                threading.Thread(target=self._end_late, daemon=True).start()
            raise
        if "error" in said:
            raise failed(request.rung, said)
        if said.get("ms", 0) > 1e3 * launch_s:
            raise too_long("launching", launch_s)
        return said

    def running(
        self, request: Request, picture: NDArray[Any], launch_s: float
    ) -> Generator[None, None, tuple[Reply, NDArray[Any]]]:
        """Run a kernel on a picture; return the reply, and the output, (H, W, C)."""
        yield from self.ready()  # nobody else looks at the memory then
        size = picture.nbytes
        memory = self._memory.array(2 * size)
        memory[:size] = picture.reshape(-1).view(np.uint8)
        place = (self._memory.handle, self._memory.size)
        said = yield from self.serving(replace(request, memory=place), launch_s)
        return said, memory[size:].copy().view(picture.dtype).reshape(picture.shape)

    def end(self) -> None:
        """End it, whatever it does, without waiting: a GPU may take its time to let go of it."""
        self.process.kill()
        self._memory.close()

    def _end_late(self) -> None:
        if not self.process.has_reply.wait(LEFT_AT_WORK_S):
            self.end()

    def _reply(self) -> Generator[None, None, Reply]:
        said: Reply | None = {"phase": self._phase}
        while said is not None and "phase" in said:
            said = yield from run_with_progress(self.process.replies(), self._enforce_limits)
            if said is not None and "phase" in said:
                self._begin(said["phase"], str(said.get("for", "")))
        if said is None:
            self.end()
            raise child_failed(self._phase, how_it_ended(self.process.code(ENDING_S)))
        if "garbled" in said:
            self.end()
            raise RuntimeError(f"A child said what is no reply: {said['garbled']}")
        self._owes = False
        has_failed_to_start = "bug" in said and self.facts is None
        if has_failed_to_start or said.get("error") == DeviceLostError.__name__:
            self.end()
        if "bug" in said:
            raise RuntimeError(f"A run in a child failed:\n{said['bug']}")
        if "ready" in said:
            facts = said["device"]
            self.facts = NoDevice(**facts) if "reason" in facts else Device(**with_tuples(facts))
        self.device_bytes = int(said.get("device_bytes", self.device_bytes))
        return said

    def _enforce_limits(self) -> None:
        if time.monotonic() > self._until:
            self.end()
            raise too_long(self._phase, self._limit_s)
        if self.process.held_bytes > self._most_bytes:
            self.end()
            took = f"took more than {self._most_bytes / (1 << 30):.3g} GiB of memory"
            raise child_failed(self._phase, took)

    def _begin(self, phase: Phase, waits: str = "") -> None:
        limits = {**self._limits.seconds, "launching": self._launch_s, "waiting": inf}
        self._phase, self._limit_s, self.waits = phase, limits[phase], waits
        self._until = time.monotonic() + self._limit_s
        has_display = isinstance(self.facts, Device) and self.facts.watchdog
        if phase == "launching" and not has_display:
            self._until += FAULT_S


@dataclass(frozen=True, slots=True)
class Held:
    """The memory of children, in bytes: of this computer, and of the GPU, in arrays.

    CUDA's contexts take some hundred MB of the GPU's memory besides, each.
    """

    children: int
    host_bytes: int
    device_bytes: int


class WorkerPool:
    """Children of one device; may be used from several threads.

    maker, index, limits  of each, see `GpuWorker`
    """

    def __init__(self, maker: str = CUDA, index: int = 0, limits: Limits | None = None) -> None:
        self._made_with = maker, index, limits
        self._lock = threading.Lock()
        self._waiting: list[GpuWorker] = []  # the last one is taken first
        self._out: list[GpuWorker] = []
        self._ended: list[GpuWorker] = []  # not gone yet

    def taking(self) -> Generator[None, None, GpuWorker]:
        """Take a child that is ready; it has to be given back.  Raises RunEndedError.

        One that was left at work is waited for.
        """
        while True:
            with self._lock:
                self._drop_ended()
                child = self._waiting.pop() if self._waiting else GpuWorker(*self._made_with)
                self._out.append(child)
            is_new, is_taken = child.facts is None, False
            try:
                yield from child.ready()
                is_taken = True
                return child
            except RunEndedError:
                if is_new:
                    raise
            finally:
                if not is_taken:
                    self.give_back(child)

    def give_back(self, child: GpuWorker) -> None:
        """Keep a child for who takes one next, unless it has ended, or has had many texts."""
        with self._lock:
            self._out.remove(child)
            if child.compiled >= MAX_COMPILED and self._waiting:
                child.end()
            self._waiting.append(child)
            self._drop_ended()

    def keep_spare(self) -> None:
        """Have one stand by, in case that the one at work has to be ended."""
        with self._lock:
            self._drop_ended()
            if not self._waiting:
                with suppress(RunEndedError):  # who takes one will be told, if it is still so
                    self._waiting.append(GpuWorker(*self._made_with))

    def held(self) -> Held:
        with self._lock:
            self._drop_ended()
            all_of_them = (*self._waiting, *self._out)
            return Held(
                len(all_of_them),
                sum(each.process.held_bytes for each in all_of_them),
                sum(each.device_bytes for each in all_of_them),
            )

    def end(self, patience_s: float = LEAVING_S) -> None:
        """End all of them, and wait for that for a while; the next run starts one again."""
        with self._lock:
            for each in (*self._waiting, *self._out):
                each.end()
            self._drop_ended(patience_s)

    def _drop_ended(self, patience_s: float = 0) -> None:
        for each in [each for each in self._waiting if not each.process.is_alive]:
            self._waiting.remove(each)
            each.end()
            self._ended.append(each)
        self._ended = [each for each in self._ended if each.process.code(patience_s) is None]


@cache
def cuda_children(index: int) -> WorkerPool:
    """The children of a GPU, shared by all callers."""
    children = WorkerPool(CUDA, index)
    atexit.register(children.end)
    return children
