"""A child process that serves requests, seen from both of its ends.

A request is (length, pickle) on its standard input, a reply a line of JSON on its standard output.
It ends with its parent, when its input does.
"""

from __future__ import annotations

import json
import math
import os
import pickle
import queue
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Generator, Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

ROOT = Path(__file__).parents[2]
PROGRAM = (
    "import sys; sys.path[:] = eval(sys.argv[1]); from importlib import import_module; "
    "import_module(sys.argv[2]).main(*sys.argv[3:])"
)
LENGTH = struct.Struct("<I")
LOOK_S = 0.002  # between two looks at whether there is a reply
Reply = dict[str, Any]


class ChildProcess:
    """A process that runs `main` of a module, and serves this one."""

    def __init__(
        self,
        module: str,
        *arguments: str,
        descriptors: Iterable[int] = (),
        environment: Mapping[str, str] | None = None,
        is_final: Callable[[Reply], bool] = lambda _: True,
    ) -> None:
        """Start it, or raise OSError.

        descriptors  that it inherits
        is_final     of a reply: nothing more is under way
        """
        path = [str(ROOT), *(each for each in sys.path if each and each != str(ROOT))]
        self._process = subprocess.Popen(
            [sys.executable, "-c", PROGRAM, repr(path), module, *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            pass_fds=tuple(descriptors),
            env={**os.environ, **(environment or {})},
            creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
            bufsize=0,
        )
        self.has_reply = threading.Event()  # set while nothing is under way
        self._replies: queue.SimpleQueue[Reply | None] = queue.SimpleQueue()
        self._is_final, self._is_ended = is_final, False
        self._is_silent = False  # its output has ended
        # A thread, since no pipe can be polled on every system.
        threading.Thread(target=self._listen, name=module, daemon=True).start()

    @property
    def is_alive(self) -> bool:
        return not self._is_ended and self._process.poll() is None

    @property
    def held_bytes(self) -> int:
        """The memory of this computer that it takes; 0 where that is not known."""
        with suppress(OSError):
            pages = Path(f"/proc/{self._process.pid}/statm").read_text(encoding="ascii").split()[1]
            return int(pages) * os.sysconf("SC_PAGESIZE")
        return 0

    def send(self, request: Any) -> None:
        """Send a request; where the child has ended, the reply will tell."""
        body = pickle.dumps(request)
        self.has_reply.clear()
        assert self._process.stdin is not None
        left = memoryview(LENGTH.pack(len(body)) + body)
        with suppress(OSError, ValueError):
            while left:  # a signal may cut a write short
                left = left[self._process.stdin.write(left) :]
        if self._is_silent:
            self.has_reply.set()

    def replies(self, look_s: float = LOOK_S) -> Generator[None, None, Reply | None]:
        """Return the next line, yielding while there is none; None: the child has ended."""
        while True:
            try:
                return self._replies.get(timeout=look_s)
            except queue.Empty:
                if self._is_silent and self._replies.empty():
                    return None
                yield

    def kill(self) -> None:
        """End it, whatever it does, without waiting."""
        self._is_ended = True
        self._process.kill()
        if self._process.stdin is not None:
            with suppress(OSError):
                self._process.stdin.close()

    def code(self, patience_s: float | None = None) -> int | None:
        """The exit code, after waiting that long at most; None: it has not ended."""
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(patience_s)
        return self._process.returncode

    def _listen(self) -> None:
        assert self._process.stdout is not None
        rest = bytearray()
        with self._process.stdout as stdout:
            while part := stdout.read(1 << 16):
                rest += part  # a line may be long
                *lines, rest = rest.split(b"\n") if b"\n" in part else [rest]
                for each in lines:
                    self._replies.put(line := _parsed(bytes(each)))
                    if self._is_final(line):
                        self.has_reply.set()
        self._is_silent = True
        self._replies.put(None)
        self.has_reply.set()


def _parsed(line: bytes) -> Reply:
    """Parse a line; "garbled" holds one that is no reply, so that waiting for one ends."""
    found = None
    with suppress(ValueError):
        found = json.loads(line)
    return found if isinstance(found, dict) else {"garbled": repr(line[:200])}


def finished(
    process: subprocess.Popen[Any], look_s: float, patience_s: float = math.inf
) -> Generator[None, None, bool]:
    """Yield until a process has ended; return False where that takes longer."""
    until = time.monotonic() + patience_s
    while process.poll() is None:
        if time.monotonic() > until:
            return False
        yield
        with suppress(subprocess.TimeoutExpired):
            process.wait(look_s)
    return True


# ---- In the child. ------------------------------------------------------------------------------


def take_replies(into: IO[bytes] | None = None) -> int:
    """Return standard output, for replies alone: what is printed goes `into` a file, or nowhere."""
    replies = os.dup(1)
    elsewhere = into.fileno() if into else os.open(os.devnull, os.O_WRONLY)
    os.dup2(elsewhere, 1)
    if into:
        os.dup2(elsewhere, 2)
    return replies


def next_request() -> Any:
    """Wait for a request; None: the parent is gone."""
    head = _read(LENGTH.size)
    body = _read(LENGTH.unpack(head)[0]) if head else None
    return None if body is None else pickle.loads(body)


def reply(descriptor: int, words: Mapping[str, Any], before: bytes = b"") -> None:
    """Write a reply, behind `before`."""
    os.write(descriptor, before + json.dumps(words).encode() + b"\n")


def _read(size: int) -> bytes | None:
    found = part = b""
    while len(found) < size and (part := os.read(0, size - len(found))):
        found += part
    return found if len(found) == size else None
