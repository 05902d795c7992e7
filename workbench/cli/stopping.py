"""Ctrl+C, SIGTERM and lines on standard input, by which a command is paused or stopped."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from threading import Condition, Thread
from time import monotonic
from types import FrameType
from typing import Any

PAUSE, RESUME, STOP = "pause", "resume", "stop"
_CHUNK_BYTES = 4096
STOPPING = b"\nStopping after the pictures under way; Ctrl+C again does not wait for them.\n"
TERMINATED = 143  # as a shell has it: 128 and the signal's number


class TerminatedError(KeyboardInterrupt):
    """SIGTERM: a KeyboardInterrupt, since everything that ends well with that does here."""

    exit_code = TERMINATED


@contextmanager
def ended_by_sigterm() -> Iterator[None]:
    """Raise TerminatedError, once, when SIGTERM comes within this; only in the main thread."""

    def end(_number: int, _frame: FrameType | None) -> None:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)  # the closing words are on their way
        raise TerminatedError

    before = signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


class HeldBack:
    """Ctrl+C and SIGTERM held back within this, to be raised where nothing is half done.

    A second one is raised at once.  Only in the main thread.
    """

    def __init__(self) -> None:
        self._came: KeyboardInterrupt | None = None
        self._is_pending = False
        self._before: dict[int, Any] = {}

    def rest(self) -> None:
        """Raise the pending one, once."""
        is_pending, self._is_pending = self._is_pending, False
        if is_pending and self._came is not None:
            raise self._came

    def __enter__(self) -> None:
        for number in (signal.SIGINT, signal.SIGTERM):
            self._before[number] = signal.signal(number, self._hold)

    def __exit__(self, *_: object) -> None:
        for number, before in self._before.items():
            signal.signal(number, before)

    def _hold(self, number: int, _frame: FrameType | None) -> None:
        came = TerminatedError() if number == signal.SIGTERM else KeyboardInterrupt()
        if self._came is not None:
            raise came
        self._came, self._is_pending = came, True
        if number == signal.SIGINT:
            with suppress(OSError):
                os.write(2, STOPPING)  # printing is not allowed in the midst of printing


class RemoteControl:
    """A listener to the lines of a file descriptor, whose end means stop.

    descriptor  such as that of standard input; None: no control
    """

    def __init__(self, descriptor: int | None) -> None:
        self._news = Condition()
        self._paused_at: float | None = None
        self._paused_s, self._is_stopped, self._is_raised = 0.0, False, False
        if descriptor is not None:
            Thread(target=self._listen, args=(descriptor,), daemon=True).start()

    def clock(self) -> float:
        """Seconds that stand still while it is paused."""
        with self._news:
            return (monotonic() if self._paused_at is None else self._paused_at) - self._paused_s

    def is_paused(self) -> bool:
        with self._news:
            return self._paused_at is not None

    def obey(self) -> None:
        """Wait while it is paused.  Raises TerminatedError once it is stopped."""
        with self._news:
            self._news.wait_for(lambda: self._is_stopped or self._paused_at is None)
            self._is_raised = self._is_stopped
            if self._is_stopped:
                raise TerminatedError

    def rest(self) -> None:
        """Raise TerminatedError when it is stopped, unless that was raised before."""
        with self._news:
            is_news = self._is_stopped and not self._is_raised
            self._is_raised = self._is_stopped
        if is_news:
            raise TerminatedError

    def _listen(self, descriptor: int) -> None:
        """Read lines without a buffer, whose lock the end of the process would wait for."""
        rest = b""
        while chunk := os.read(descriptor, _CHUNK_BYTES):
            *lines, rest = (rest + chunk).split(b"\n")
            for line in lines:
                self._follow(line.decode(errors="replace").strip())
        self._follow(STOP)

    def _follow(self, word: str) -> None:
        with self._news:
            if word == PAUSE and self._paused_at is None:
                self._paused_at = monotonic()
            elif word in (RESUME, STOP) and self._paused_at is not None:
                self._paused_s += monotonic() - self._paused_at
                self._paused_at = None
            self._is_stopped = self._is_stopped or word == STOP
            self._news.notify_all()
