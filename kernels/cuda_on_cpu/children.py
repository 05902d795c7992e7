"""Children: processes that run other people's kernels, so that nothing these do reaches us.

A child is started when it is first needed, and kept, as it takes a third of a second.
"""

from __future__ import annotations

import atexit
import json
import os
import pickle
import select
import subprocess
import sys
import threading
import time
from collections.abc import Generator, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from kernels.core.job import Job
from kernels.cuda_on_cpu.shared_run import END, LENGTH, Request, SharedRun

ROOT = Path(__file__).parents[2]
PROGRAM = (
    "import sys; sys.path[:] = eval(sys.argv[1]); "
    "from kernels.cuda_on_cpu.child import main; main(int(sys.argv[2]))"
)
LOOK_S = 0.02
ENDING_S = 2.0


class Child:
    """One such process, and the memory that its runs share with us."""

    def __init__(self) -> None:
        self.memory = os.memfd_create("cuda-on-cpu")
        try:
            self._process = self._started()
        except OSError:  # too many processes, or too little memory
            os.close(self.memory)
            raise
        self._said = b""
        self._is_ready = False

    def _started(self) -> subprocess.Popen[bytes]:
        path = [str(ROOT), *(each for each in sys.path if each and each != str(ROOT))]
        return subprocess.Popen(
            [sys.executable, "-c", PROGRAM, repr(path), str(self.memory)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            pass_fds=(self.memory,),
            # Whoever has threads cannot fork.
            env={**os.environ, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"},
            bufsize=0,
        )

    @property
    def is_alive(self) -> bool:
        """Return whether it may be asked for a run."""
        return self._process.poll() is None

    @property
    def held_bytes(self) -> int:
        """Return the memory that it takes while it waits."""
        try:
            pages = Path(f"/proc/{self._process.pid}/statm").read_text(encoding="ascii").split()[1]
        except OSError:
            return 0
        return int(pages) * os.sysconf("SC_PAGESIZE")

    def running(self, request: Request) -> Generator[None, None, dict[str, Any]]:
        """Run it; return all that was said of it, "ended" with its exit code at least.

        Whoever stops driving this ends the run.
        """
        if not self._is_ready:
            self._is_ready = "ready" in (yield from self._next())
        try:
            self._ask(request)
            found = yield from self._next()
        except BaseException:  # nobody drives this any more, or Ctrl+C
            self._end_run()
            raise
        if "bug" in found:
            raise RuntimeError(f"A run on the CPU failed:\n{found['bug']}")
        return found

    def shared(self, job: Job, **how: Any) -> SharedRun:
        """Return memory for a run of the job, blank; how: arguments of `SharedRun`."""
        return SharedRun(self.memory, job, is_new=True, **how)

    def end(self) -> None:
        """End it, with whatever it runs."""
        if self.memory < 0:
            return
        self._process.kill()  # what it runs dies with it
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                pipe.close()
        os.close(self.memory)
        self.memory = -1

    def _end_run(self) -> None:
        """End what runs; or the whole child, if that does not answer."""
        self._ask(END)
        until = time.monotonic() + ENDING_S
        for _ in self._next():
            if time.monotonic() > until:
                self.end()
                break

    def _ask(self, request: Request | str) -> None:
        body = pickle.dumps(request)
        assert self._process.stdin is not None
        with suppress(OSError):  # it has ended: the answer will say so
            self._process.stdin.write(LENGTH.pack(len(body)) + body)

    def _next(self) -> Generator[None, None, dict[str, Any]]:
        """Return the next line that it says; that it has ended itself, where it has."""
        assert self._process.stdout is not None
        while b"\n" not in self._said:
            yield
            if select.select([self._process.stdout], [], [], LOOK_S)[0]:
                part = os.read(self._process.stdout.fileno(), 1 << 16)
                if not part:
                    return {"ended": self._process.wait()}
                self._said += part
        line, _, self._said = self._said.partition(b"\n")
        try:
            said: dict[str, Any] = json.loads(line)
        except ValueError:  # what is broken says nothing more that can be relied on
            self._process.kill()
            return {"ended": self._process.wait()}
        return said


_idle: list[Child] = []
_lock = threading.Lock()


@contextmanager
def borrowed_child() -> Iterator[Child]:
    """Give a child that nobody else uses; it is kept for the next one while it lives."""
    with _lock:
        while _idle and not _idle[-1].is_alive:
            _idle.pop().end()
        child = _idle.pop() if _idle else Child()
    try:
        yield child
    finally:
        with _lock:
            if child.memory >= 0 and child.is_alive and not _idle:
                _idle.append(child)
            else:
                child.end()


def end_children() -> None:
    """End those that wait."""
    with _lock:
        while _idle:
            _idle.pop().end()


def held_bytes() -> int:
    """Return the memory that waiting children take."""
    with _lock:
        return sum(child.held_bytes for child in _idle)


atexit.register(end_children)
