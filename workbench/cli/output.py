"""What commands print and write: failures, JSON, progress, files, standard output."""

from __future__ import annotations

import json
import math
import os
import re
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

if TYPE_CHECKING:
    from kernels.core.timing import Comparison

FAILED, USAGE, INTERRUPTED = 1, 2, 130
STREAM = "-"  # standard input or output, as a file's name


class CommandError(Exception):
    """An expected failure of a command; str(error) is one sentence for the user."""

    def __init__(self, sentence: str, exit_code: int = FAILED) -> None:
        super().__init__(sentence)
        self.exit_code = exit_code


def complain(sentence: object) -> None:
    """Print a failure on stderr; names in it cannot move the cursor."""
    from kernels.core.plain_data import without_controls

    print(without_controls(f"workbench: {sentence}"), file=sys.stderr)


def json_of(found: Any, indent: int | None = None) -> str:
    """Format as JSON in ASCII, one line without `indent`; infinities and NaN become null."""
    return json.dumps(_finite(found), indent=indent, allow_nan=False)


def ratio_data(found: Comparison | None) -> dict[str, Any]:
    """Describe a ratio with its interval, None of too few samples, and its verdict."""
    if found is None:
        return dict.fromkeys(("ratio", "low", "high", "verdict"))
    low, high = found.interval or (None, None)
    return {"ratio": found.ratio, "low": low, "high": high, "verdict": found.verdict}


def _finite(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {str(key): _finite(each) for key, each in value.items()}
    return [_finite(each) for each in value] if isinstance(value, list | tuple) else value


@contextmanager
def printed_apart(wanted: bool) -> Iterator[Callable[[Callable[[], dict[str, Any]]], None]]:
    """Send everything that is printed within this to stderr, where a document is wanted.

    Gives a function that prints the document made by its argument; a no-op where none is wanted.
    """
    stdout = sys.stdout
    if not wanted:
        yield lambda _: None
        return
    with redirect_stdout(sys.stderr):
        yield lambda make: print(json_of(make()), file=stdout, flush=True)


class ProgressLine:
    """Progress on stderr, nothing twice; `anywhere`: also where that is no terminal."""

    def __init__(self, anywhere: bool = False) -> None:
        self._anywhere = anywhere
        self._said = ""

    def say(self, doing: str) -> None:
        """Show `doing` in place of the last; "" before lines of another kind."""
        from kernels.core.plain_data import without_controls

        is_terminal, doing = sys.stderr.isatty(), without_controls(doing)  # it names files
        if not is_terminal:
            doing = re.sub(r"[:,] \d+[ \u202f]?%$", "", doing)
        if doing == self._said:
            return
        self._said = doing
        if is_terminal:
            width = shutil.get_terminal_size().columns - 1  # a line that wraps could not be cleared
            print(f"\r\x1b[K{doing[:width]}", end="", file=sys.stderr, flush=True)
        elif self._anywhere and doing:
            print(doing, file=sys.stderr, flush=True)


say = ProgressLine().say


def refuse_unwritable(*paths: Path | None) -> None:
    """Raise CommandError for files that cannot be written, before an hour of measuring."""
    from kernels.core.safe_files import is_special
    from workbench.base.disk import disk_in_words

    for path in paths:
        if path is None or is_special(path):
            continue
        with disk_in_words(CommandError, f"Cannot write {path}"):
            is_new = not path.exists()
            path.open("ab").close()
            if is_new:
                path.unlink()


def write_whole(path: Path, text: str) -> None:
    """Write `text` as UTF-8.  Raises CommandError."""
    from kernels.core.safe_files import replacing
    from workbench.base.disk import disk_in_words

    with disk_in_words(CommandError, f"Cannot write {path}"), replacing(path) as file:
        file.write(text.encode())


def read_names() -> list[Path]:
    """Read the names on standard input: one per line, or each ended by NUL."""
    refuse_terminal(sys.stdin, "reads a list of pictures from standard input")
    text = sys.stdin.buffer.read()
    names = text.split(b"\0") if b"\0" in text else text.replace(b"\r\n", b"\n").split(b"\n")
    return [Path(os.fsdecode(name)) for name in names if name]


def refuse_terminal(stream: TextIO, what: str) -> None:
    """Raise CommandError where - stands for a terminal."""
    if stream.isatty():
        raise CommandError(f"- {what}, which is a terminal here; pipe it.", USAGE)
