"""The sink of all bugs: whatever thread meets one reports it here, and the window shows it."""

from __future__ import annotations

import traceback

from PySide6.QtCore import QObject, Signal


class _Bugs(QObject):
    """Sink.

    Signals:
        met(sentence, details): a bug, with its traceback.
    """

    met = Signal(str, str)


bugs = _Bugs()


def report(error: BaseException) -> None:
    """Report an exception that nothing expects, from inside its handler."""
    bugs.met.emit(f"{type(error).__name__}: {error}", traceback.format_exc())
