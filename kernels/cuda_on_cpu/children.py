"""Children that compile and run user kernels, so that nothing these do reaches this process.

A child is started when it is first needed, and kept, as it takes a third of a second.
"""

from __future__ import annotations

import atexit
import os
import threading
import time
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from kernels.core.child_process import ChildProcess
from kernels.core.cpu_load import usable_cores

LOOK_S = 0.02
ENDING_S = 2.0
END = "end"  # instead of a request: of what is under way
# A process that has threads cannot fork.
ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}


@dataclass(frozen=True, slots=True)
class Compilation:
    """A request to run a compiler."""

    words: tuple[str, ...]  # the command
    folder: str  # that it may write to, and begins in
    readable: tuple[str, ...]  # files and folders; none: all that its user may
    seconds: float  # that it may take, by the clock
    limits: tuple[tuple[int, int], ...]  # (RLIMIT_..., the most)


class Child:
    """One such process, and the memory that its runs share with us."""

    def __init__(self) -> None:
        self.memory = os.memfd_create("cuda-on-cpu")
        try:
            self.process = ChildProcess(
                *("kernels.cuda_on_cpu.child", str(self.memory)),
                descriptors=(self.memory,),
                environment=ONE_THREAD,
            )
        except OSError:  # too many processes, or too little memory
            os.close(self.memory)
            raise
        self._is_ready = False

    def serving(self, request: Any) -> Generator[None, None, dict[str, Any]]:
        """Send a `Compilation` or a `Request`; return the reply, with its exit code as "ended".

        Closing the generator ends what it does.
        """
        if not self._is_ready:
            self._is_ready = "ready" in (yield from self._reply())
        try:
            self.process.send(request)
            found = yield from self._reply()
        except BaseException:  # nobody drives this any more, or Ctrl+C
            self.process.send(END)
            until = time.monotonic() + ENDING_S
            for _ in self._reply():
                if time.monotonic() > until:
                    self.end()
                    break
            raise
        if "bug" in found:
            raise RuntimeError(f"A run on the CPU failed:\n{found['bug']}")
        return found

    def end(self) -> None:
        if self.memory >= 0:
            self.process.kill()  # what it runs dies with it
            self.process.code()
            os.close(self.memory)
            self.memory = -1

    def _reply(self) -> Generator[None, None, dict[str, Any]]:
        yield
        line = yield from self.process.replies(LOOK_S)
        if line is not None and "garbled" not in line:
            return line
        self.process.kill()  # what is broken says nothing more that can be relied on
        return {"ended": self.process.code()}


_idle: list[Child] = []
_lock = threading.Lock()


@contextmanager
def borrowed_child() -> Iterator[Child]:
    """Lend a child that nobody else uses; it is kept for the next one while it lives."""
    with _lock:
        while _idle and not _idle[-1].process.is_alive:
            _idle.pop().end()
        child = _idle.pop() if _idle else Child()
    try:
        yield child
    finally:
        with _lock:
            if child.memory >= 0 and child.process.is_alive and len(_idle) < usable_cores():
                os.ftruncate(child.memory, 0)  # what runs wrote there would be held until the next
                _idle.append(child)
            else:
                child.end()


@atexit.register
def end_children() -> None:
    with _lock:
        while _idle:
            _idle.pop().end()
