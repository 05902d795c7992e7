"""Words of the program that started a batch: pause, resume and stop, a line each."""

from __future__ import annotations

import os
from threading import Condition, Thread
from time import monotonic

from workbench.cli.stopping import TerminatedError

PAUSE, RESUME, STOP = "pause", "resume", "stop"
_CHUNK_BYTES = 4096


class RemoteControl:
    """A listener to lines on a file descriptor; where these end, nobody wants more: that is a stop.

    descriptor  such as that of standard input; None: nobody says anything
    """

    def __init__(self, descriptor: int | None) -> None:
        self._news = Condition()
        self._paused_at: float | None = None
        self._paused_s, self._is_stopped, self._is_stop_told = 0.0, False, False
        if descriptor is not None:
            Thread(target=self._listen, args=(descriptor,), daemon=True).start()

    def clock(self) -> float:
        """Return seconds that stand still while it is paused."""
        with self._news:
            now = monotonic() if self._paused_at is None else self._paused_at
            return now - self._paused_s

    def obey(self) -> None:
        """Wait while it is paused.  Raises TerminatedError once it is stopped."""
        with self._news:
            self._news.wait_for(lambda: self._is_stopped or self._paused_at is None)
            self._is_stop_told = self._is_stopped
            if self._is_stopped:
                raise TerminatedError

    def rest(self) -> None:
        """Raise TerminatedError when it is stopped, unless that was raised before."""
        with self._news:
            is_news = self._is_stopped and not self._is_stop_told
            self._is_stop_told = self._is_stopped
        if is_news:
            raise TerminatedError

    def is_paused(self) -> bool:
        """Return whether it is paused."""
        with self._news:
            return self._paused_at is not None

    def _listen(self, descriptor: int) -> None:
        """Take every line, without a buffer, whose lock the end of the process would wait for."""
        rest = b""
        while chunk := os.read(descriptor, _CHUNK_BYTES):
            *lines, rest = (rest + chunk).split(b"\n")
            for line in lines:
                self._take(line.decode(errors="replace").strip())
        self._take(STOP)

    def _take(self, word: str) -> None:
        with self._news:
            if word == PAUSE and self._paused_at is None:
                self._paused_at = monotonic()
            elif word in (RESUME, STOP) and self._paused_at is not None:
                self._paused_s += monotonic() - self._paused_at
                self._paused_at = None
            self._is_stopped = self._is_stopped or word == STOP
            self._news.notify_all()
