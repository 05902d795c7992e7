"""Say in a sentence what a disk refuses."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from kernels.core.safe_files import reason


@contextmanager
def disk_in_words(kind: type[Exception], failure: str) -> Iterator[None]:
    """Raise a `kind` in place of OSError: `failure`, the cause, and what to do about it."""
    try:
        yield
    except OSError as error:
        raise kind(f"{failure}: {reason(error)}.") from error
