"""The children of this process: one at work, and one that stands by, both warm.

None is started before the first run.  One takes a second or two to start: Python, CuPy and a
context of CUDA.  So when one has to be ended, another is ready already.
"""

from __future__ import annotations

import atexit
import json
import os
import pickle
import queue
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Generator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cache
from math import inf
from pathlib import Path
from time import monotonic
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from kernels.core.device import Device, NoDevice
from kernels.core.errors import DeviceLostError
from kernels.cuda_child.child_endings import (
    RunEndedError,
    died,
    failed,
    not_started,
    too_long,
    too_much_memory,
    was_ended,
)
from kernels.cuda_child.child_requests import LENGTH, Asked, Phase, SharedBytes, device_of

ROOT = Path(__file__).parents[2]
PROGRAM = (
    "import sys; sys.path[:] = eval(sys.argv[1]); "
    "from kernels.cuda_child.child_main import main; main(*sys.argv[2:])"
)
CUDA = "kernels.cuda_child.cuda_device:CudaDevice"
ENDING_S = 0.3  # in which a process that has closed its pipe ends, as a rule
# After its deadline a kernel gets so long for the GPU to say that it failed: a fault may be told of
# only a second later, and several where others use the GPU or the driver has more GPUs to look
# after.  Not where a display hangs on the GPU, which stands still meanwhile.
FAULT_S = 6.0
LOOK_S = 0.002  # between two looks at whether it has said something
# Times the picture's size that a run may hold here: picture and answer, shared, laid out twice and
# packed.
COPIES = 14
Line = dict[str, Any] | None  # None: it has ended


@dataclass(frozen=True, slots=True)
class Limits:
    """What a child may take: seconds of each phase, and bytes of this computer's memory.

    held_bytes  besides what the pictures take that it runs on
    """

    seconds: dict[Phase, float] = field(
        default_factory=lambda: {
            "starting": 60.0,
            "compiling": 20.0,
            "preparing": 30.0,
            "fetching": 30.0,
        }
    )
    held_bytes: int = 8 << 30


class WarmChild:
    """One process that runs kernels, and the memory that it shares with us.

    It starts by itself, while nobody waits.  Once `is_usable` is False it is of no use any more.

    maker       "module:function" that makes its device, of a number
    compiled    so many times it was asked to compile a text
    is_overdue  whether a kernel was running at its deadline, and it is still asked why
    waits       for whom, where it waits for its turn on the device; "" where it does not
    """

    def __init__(self, maker: str = CUDA, index: int = 0, limits: Limits | None = None) -> None:
        self.facts: Device | NoDevice | None = None
        self.device_bytes = self.compiled = 0
        self.is_overdue, self.waits = False, ""
        self._limits = limits or Limits()
        self._most_bytes = self._limits.held_bytes
        self._memory, self._process = _started(maker, index)
        self._said: queue.SimpleQueue[Line] = queue.SimpleQueue()
        self._is_at_rest = threading.Event()  # nothing is under way in it, or it has ended
        hearing = (self._process.stdout, self._said, self._is_at_rest)
        threading.Thread(target=_hear, args=hearing, name="cuda-child", daemon=True).start()
        self._owes = True  # that it is ready
        self._is_ended, self._launch_s = False, 0.0
        self._begin("starting")

    @property
    def is_usable(self) -> bool:
        """Return whether it may be asked for something."""
        return not self._is_ended and self._process.poll() is None

    @property
    def is_ready(self) -> bool:
        """Return whether it would do at once what it is asked for."""
        has_started = self.facts is None and not self._said.empty()
        return self.is_usable and (has_started or not self._owes)

    @property
    def held_bytes(self) -> int:
        """Return the memory of this computer that it takes; 0 where that is not known."""
        try:
            pages = Path(f"/proc/{self._process.pid}/statm").read_text(encoding="ascii").split()[1]
        except OSError:
            return 0
        return int(pages) * os.sysconf("SC_PAGESIZE")

    def ready(self) -> Generator[None, None, Device | NoDevice]:
        """Wait until it is done with whatever it was asked before, and return its device.

        Raises RunEndedError, as `asking` does.
        """
        if self._owes:
            yield from self._answer()
        assert self.facts is not None
        return self.facts

    def asking(
        self,
        asked: Asked,
        launch_s: float = 0.0,
        once_asked: Callable[[], None] = lambda: None,
    ) -> Generator[None, None, dict[str, Any]]:
        """Ask for it, wait, and return what it found.

        Raises RunEndedError where that is nothing good; where a deadline was over, or it took too
        much memory, it is ended.  Whoever stops driving this leaves it at work: who asks next
        waits for it, until the deadlines that it has, or ends it.

        launch_s    seconds that the kernel may run
        once_asked  what to do while it is at work
        """
        yield from self.ready()
        if self._is_ended:  # by somebody else
            raise was_ended()
        self._launch_s, self._owes, self.is_overdue = launch_s, True, False
        self.compiled += asked.what == "compile"
        self._most_bytes = self._limits.held_bytes + COPIES * asked.picture_bytes
        self._begin("preparing")
        body = pickle.dumps(asked)
        self._is_at_rest.clear()
        assert self._process.stdin is not None
        with suppress(OSError, ValueError):  # it has ended: the answer will say so
            self._process.stdin.write(LENGTH.pack(len(body)) + body)
        once_asked()
        try:
            said = yield from self._answer()
        except GeneratorExit:
            self._end_late()
            raise
        if "error" in said:
            raise failed(asked.rung, said)
        return said

    def running(
        self,
        asked: Asked,
        picture: NDArray[Any],
        launch_s: float,
        room: NDArray[Any] | None = None,
    ) -> Generator[None, None, tuple[dict[str, Any], NDArray[Any]]]:
        """Run a kernel on a picture; return what was found, and the answer, (H, W, C).

        room  for the answer, like the picture; None: new memory
        """
        yield from self.ready()  # nobody else looks at the memory then
        if self._is_ended:
            raise was_ended()
        size = picture.nbytes
        memory = self._memory.array(2 * size)
        memory[:size] = picture.reshape(-1).view(np.uint8)
        place = (self._memory.handle, self._memory.size)
        said = yield from self.asking(replace(asked, memory=place), launch_s)
        answer = np.empty_like(picture) if room is None else room
        answer.reshape(-1).view(np.uint8)[:] = memory[size : 2 * size]
        return said, answer

    def end(self) -> None:
        """End it, whatever it does, without waiting: a GPU may take its time to let go of it."""
        self._is_ended = True
        self._process.kill()
        if self._process.stdin is not None:
            with suppress(OSError):
                self._process.stdin.close()
        self._memory.close()

    def code(self, patience_s: float = 0.0) -> int | None:
        """Return the exit code, waiting so long for it; None: it still has not ended."""
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(patience_s)
        return self._process.returncode

    def _answer(self) -> Generator[None, None, dict[str, Any]]:
        """Return the line that ends what it was asked."""
        while True:
            try:
                said = self._said.get(timeout=LOOK_S)
            except queue.Empty:
                self._look()
                yield
                continue
            if said is None:
                self.end()
                raise died(self._phase, self.code(ENDING_S))
            if "phase" in said:
                self._begin(said["phase"], str(said.get("for", "")))
                continue
            if "garbled" in said:
                self.end()
                raise RuntimeError(f"A child said what is no reply: {said['garbled']}")
            self._owes = False
            if said.get("error") == DeviceLostError.__name__:
                self.end()
            if "bug" in said:
                if self.facts is None:  # it never started
                    self.end()
                raise RuntimeError(f"A run in a child failed:\n{said['bug']}")
            if "ready" in said:
                self.facts = device_of(said["device"])
            self.device_bytes = int(said.get("device_bytes", self.device_bytes))
            if self.is_overdue and "error" not in said:  # it came to its end, too late
                raise too_long("launching", self._launch_s)
            return said

    def _end_late(self) -> None:
        """End a cancelled kernel that still runs long after its deadline."""
        patience_s = self._launch_s + FAULT_S
        if self._launch_s and not self._is_at_rest.is_set():

            def watch() -> None:
                if not self._is_at_rest.wait(patience_s):
                    self.end()

            threading.Thread(target=watch, name="cuda-child", daemon=True).start()

    def _begin(self, phase: Phase, waits: str = "") -> None:
        limits = {**self._limits.seconds, "launching": self._launch_s, "waiting": inf}
        limit = limits[phase]
        self._phase, self._limit_s, self._until = phase, limit, time.monotonic() + limit
        self.waits = waits

    def _look(self) -> None:
        """End it where it takes too long, or too much memory."""
        if time.monotonic() > self._until:
            self._end_unless_it_fails()
        if self.held_bytes > self._most_bytes:
            self.end()
            raise too_much_memory(self._phase, self._most_bytes)

    def _end_unless_it_fails(self) -> None:
        """End what takes too long; a kernel only once it had time to fail instead."""
        has_display = isinstance(self.facts, Device) and self.facts.watchdog
        if self._phase == "launching" and not self.is_overdue and not has_display:
            self.is_overdue = True
            self._until += FAULT_S
            return
        self.end()
        may_have_failed = self._phase == "launching" and has_display
        raise too_long(self._phase, self._limit_s, may_have_failed=may_have_failed)


def _started(maker: str, index: int) -> tuple[SharedBytes, subprocess.Popen[bytes]]:
    """Start it; raise RunEndedError where there are too many files or processes."""
    memory: SharedBytes | None = None
    try:
        memory = SharedBytes()
        return memory, _process(maker, index, memory.descriptors)
    except OSError as error:
        if memory is not None:
            memory.close()
        raise not_started(error) from error


def _process(maker: str, index: int, descriptors: tuple[int, ...]) -> subprocess.Popen[bytes]:
    path = [str(ROOT), *(each for each in sys.path if each and each != str(ROOT))]
    return subprocess.Popen(
        [sys.executable, "-c", PROGRAM, repr(path), maker, str(index)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        pass_fds=descriptors,
        creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
        bufsize=0,
    )


def _hear(stdout: IO[bytes], said: queue.SimpleQueue[Line], is_at_rest: threading.Event) -> None:
    """Hand on each line, to its end."""
    rest = b""
    with stdout:
        while part := stdout.read(1 << 16):
            *lines, rest = (rest + part).split(b"\n")
            for each in lines:
                said.put(line := _line_of(each))
                if "phase" not in line:
                    is_at_rest.set()
    said.put(None)
    is_at_rest.set()


def _line_of(words: bytes) -> dict[str, Any]:
    """Parse a reply; "garbled" holds what is none, so that waiting for one ends."""
    try:
        found = json.loads(words)
    except ValueError:
        found = None
    return found if isinstance(found, dict) else {"garbled": repr(words[:200])}


LEFT_AT_WORK_S = 0.2  # longer than a run takes, as a rule, that nobody waits for any more
# CuPy never unloads a program, so what each has declared __device__ stays in the GPU's memory.
MAX_COMPILED = 200
LEAVING_S = 2.0  # at the end of this process, for children to be gone


@dataclass(frozen=True, slots=True)
class Held:
    """The memory that children hold, in bytes: of this computer, and of the GPU, in arrays.

    CUDA's contexts take some hundred MB of the GPU's memory besides, each.
    """

    children: int
    host_bytes: int
    device_bytes: int


class WarmChildren:
    """Children of one device; may be used from several threads.

    maker, index, limits  of each, see `WarmChild`
    """

    def __init__(self, maker: str = CUDA, index: int = 0, limits: Limits | None = None) -> None:
        self._maker, self._index, self._limits = maker, index, limits
        self._lock = threading.Lock()
        self._waiting: list[WarmChild] = []  # the last one is taken first
        self._out: list[WarmChild] = []
        self._ended: list[WarmChild] = []  # not gone yet

    def taking(self) -> Generator[None, None, WarmChild]:
        """Return a child that is ready; it has to be given back.

        One that somebody left at work is waited for: a while, where another one is ready, else up
        to its deadlines.  It is replaced where that ends badly.
        Raises RunEndedError where none starts.
        """
        while True:
            child = self._taken()
            is_new = child.facts is None
            try:
                yield from self._waiting_for(child)
            except RunEndedError:
                self.give_back(child)
                if is_new:
                    raise
                continue
            except BaseException:  # nobody drives this any more
                self.give_back(child)
                raise
            if child.is_usable:
                return child
            self.give_back(child)

    def _waiting_for(self, child: WarmChild) -> Generator[None, None, None]:
        """Wait until it is ready; end it where that takes long, and another one is."""
        until = monotonic() + LEFT_AT_WORK_S
        for _ in child.ready():
            if monotonic() > until and self.has_ready:
                child.end()
                return
            yield

    def give_back(self, child: WarmChild) -> None:
        """Keep a child for who takes one next, unless it has ended, or has had many texts."""
        with self._lock:
            self._out.remove(child)
            if child.compiled >= MAX_COMPILED and any(each.is_ready for each in self._waiting):
                child.end()
            self._waiting.append(child)
            self._drop_ended()

    def keep_spare(self) -> None:
        """Have one stand by, in case that the one at work has to be ended."""
        with self._lock:
            self._drop_ended()
            if not self._waiting:
                with suppress(RunEndedError):  # who takes one will be told, if it is still so
                    self._waiting.append(WarmChild(self._maker, self._index, self._limits))

    @property
    def has_ready(self) -> bool:
        """Return whether one stands by that would do at once what it is asked for."""
        with self._lock:
            return any(each.is_ready for each in self._waiting)

    def held(self) -> Held:
        """Return the memory that all of them hold."""
        with self._lock:
            self._reap()
            all_of_them = (*self._waiting, *self._out)
            return Held(
                len(all_of_them),
                sum(each.held_bytes for each in all_of_them),
                sum(each.device_bytes for each in all_of_them),
            )

    def end(self, patience_s: float = LEAVING_S) -> None:
        """End all of them, and wait for that for a while; the next run starts one again."""
        with self._lock:
            for each in (*self._waiting, *self._out):
                each.end()
            self._ended += self._waiting
            self._waiting = []
            gone = [each for each in self._ended if each.code(patience_s) is not None]
            self._ended = [each for each in self._ended if each not in gone]

    def _taken(self) -> WarmChild:
        with self._lock:
            self._drop_ended()
            if not self._waiting:
                self._waiting.append(WarmChild(self._maker, self._index, self._limits))
            child = self._waiting.pop()
            self._out.append(child)
            return child

    def _drop_ended(self) -> None:
        for each in [each for each in self._waiting if not each.is_usable]:
            self._waiting.remove(each)
            each.end()
            self._ended.append(each)
        self._reap()

    def _reap(self) -> None:
        self._ended = [each for each in self._ended if each.code() is None]


@cache
def cuda_children(index: int = 0) -> WarmChildren:
    """Return those of a GPU: the same ones for all that ask."""
    children = WarmChildren(CUDA, index)
    atexit.register(children.end)
    return children
