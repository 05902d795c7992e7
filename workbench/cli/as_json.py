"""The documents that commands print for programs to read: `--json`."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout
from typing import Any


def text_of(found: Any, indent: int | None = None) -> str:
    """Return JSON in ASCII, the same in every terminal and file; one line without `indent`.

    Numbers that JSON does not have, infinities and NaN, become null.
    """
    return json.dumps(_plain(found), indent=indent, allow_nan=False)


@contextmanager
def printed_apart(wanted: bool) -> Iterator[Callable[[Callable[[], dict[str, Any]]], None]]:
    """Send everything that is printed within this to stderr, where a document is wanted.

    Gives what prints the document that it is told how to make; it does nothing where none is.
    """
    stdout = sys.stdout
    if not wanted:
        yield lambda _: None
        return
    with redirect_stdout(sys.stderr):
        yield lambda make: print(text_of(make()), file=stdout, flush=True)


def _plain(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {str(key): _plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    if value is None or isinstance(value, str | bool | int):
        return value
    raise TypeError(f"{type(value).__name__} has no JSON")
