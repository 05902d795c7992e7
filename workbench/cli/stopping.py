"""Let a command that is told to end by SIGTERM end as with Ctrl+C: with its closing words."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType, TracebackType
from typing import Any

TERMINATED = 143  # as a shell has it: 128 and the signal's number


class TerminatedError(KeyboardInterrupt):
    """SIGTERM came: a KeyboardInterrupt, since everything that ends well with that does here."""

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
    """Ctrl+C and SIGTERM held back within this, to come where nothing is half done.

    A second one comes at once.  Only in the main thread.
    """

    def __init__(self) -> None:
        self._pending: KeyboardInterrupt | None = None
        self._before: dict[int, Any] = {}

    def rest(self) -> None:
        """Raise what has come meanwhile, once."""
        pending, self._pending = self._pending, None
        if pending is not None:
            raise pending

    def __enter__(self) -> None:
        for number in (signal.SIGINT, signal.SIGTERM):
            self._before[number] = signal.signal(number, self._hold)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for number, before in self._before.items():
            signal.signal(number, before)

    def _hold(self, number: int, _frame: FrameType | None) -> None:
        came = TerminatedError() if number == signal.SIGTERM else KeyboardInterrupt()
        if self._pending is not None:
            raise came
        self._pending = came
