"""Let a command that is told to end by SIGTERM end as with Ctrl+C: with its closing words."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

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
