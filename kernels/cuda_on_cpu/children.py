"""Children that run user kernels, so that nothing these do reaches this process.

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
from kernels.core.job import Job
from kernels.cuda_on_cpu.shim import Order, Shim
from kernels.rungs.rung import Rung

LOOK_S = 0.02
ENDING_S = 2.0
END = "end"  # instead of a request: of what runs
# A process that has threads cannot fork.
ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}


@dataclass(frozen=True, slots=True)
class Request:
    """One run, but for its picture's samples.

    seconds    of the CPU's time that it may take
    blank      the job with a picture of one pixel, in place of one of `shape`
    is_repeated  two launches come before, of which no variable of the text is reset: on another
               picture, and on this one
    at         pass, row and sample: the block of the pass that stores there is stepped through;
               is_sought: it is looked for by a run of its own, else it is that which should
    rows       (first, end) to write; None: all
    cross      chooses a column and a row of blocks, which run alone; 0: all
    at_page_begin  the arrays begin with a page of memory; else they end with one
    is_guarded  to touch what lies beside them is a fault
    """

    shim: type[Shim]
    library: str
    seconds: float
    rung: Rung
    blank: Job
    shape: tuple[int, int, int]
    order: int = Order.FORWARD
    seed: int = 0
    is_repeated: bool = False
    at: tuple[int, int, int] | None = None
    is_sought: bool = True
    rows: tuple[int, int] | None = None
    cross: int = 0
    at_page_begin: bool = False
    is_guarded: bool = True
    is_unconfined: bool = False


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

    def running(self, request: Request) -> Generator[None, None, dict[str, Any]]:
        """Run it; return the reply, with its exit code as "ended".

        Closing the generator ends the run.
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
        """End it, with whatever it runs."""
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
            if child.memory >= 0 and child.process.is_alive and not _idle:
                _idle.append(child)
            else:
                child.end()


def end_children() -> None:
    """End those that wait."""
    with _lock:
        while _idle:
            _idle.pop().end()


atexit.register(end_children)
