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
from typing import Any

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


# -- JSON


def json_of(found: Any, indent: int | None = None) -> str:
    """Format as JSON in ASCII, one line without `indent`; infinities and NaN become null."""
    return json.dumps(_finite(found), indent=indent, allow_nan=False)


def _finite(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {str(key): _finite(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(each) for each in value]
    return value


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


# -- progress


def say(doing: str) -> None:
    """Show `doing` on stderr, if it is a terminal, in place of the last; "" clears the line."""
    if sys.stderr.isatty():
        width = shutil.get_terminal_size().columns - 1  # a line that wraps could not be cleared
        print(f"\r\x1b[K{doing[:width]}", end="", file=sys.stderr, flush=True)


class ProgressLine:
    """Progress on stderr, nothing twice.

    anywhere  also where stderr is no terminal: a line each then, without percentages
    """

    def __init__(self, anywhere: bool = False) -> None:
        self._anywhere = anywhere
        self._said = ""

    def say(self, doing: str) -> None:
        """Show `doing`, such as "photo.png: reading"; "" before lines of another kind."""
        from kernels.core.plain_data import without_controls

        is_terminal, doing = sys.stderr.isatty(), without_controls(doing)  # it names files
        if not is_terminal:
            doing = re.sub(r"[:,] \d+[ \u202f]?%$", "", doing)
        if doing == self._said:
            return
        self._said = doing
        if is_terminal:
            say(doing)
        elif self._anywhere and doing:
            print(doing, file=sys.stderr, flush=True)


# -- files, each whole or not at all


def refuse_unwritable(*paths: Path | None) -> None:
    """Raise CommandError for files that cannot be written, before an hour of measuring."""
    from kernels.core.safe_files import is_special

    for path in paths:
        if path is None or is_special(path):
            continue
        with _writing(path):
            is_new = not path.exists()
            path.open("ab").close()
            if is_new:
                path.unlink()


def write_whole(path: Path, text: str) -> None:
    """Write `text` as UTF-8.  Raises CommandError."""
    from kernels.core.safe_files import replacing

    with _writing(path), replacing(path) as file:
        file.write(text.encode())


@contextmanager
def _writing(path: Path) -> Iterator[None]:
    from kernels.core.safe_files import reason

    try:
        yield
    except OSError as error:
        raise CommandError(f"Cannot write {path}: {reason(error)}.") from error


# -- standard input and output, as pictures or a list of them


def read_names() -> list[Path]:
    """Read the names on standard input: one per line, or each ended by NUL."""
    _refuse_terminal("a list of pictures")
    text = sys.stdin.buffer.read()
    if b"\0" in text:
        names = text.split(b"\0")
    else:
        names = [name.rstrip(b"\r") for name in text.split(b"\n")]
    return [Path(os.fsdecode(name)) for name in names if name]


def read_stdin(path: Path) -> None:
    """Write all of standard input to `path`: pictures are read by seeking, which a pipe cannot."""
    _refuse_terminal("a picture")
    with path.open("wb") as file:
        shutil.copyfileobj(sys.stdin.buffer, file)


def _refuse_terminal(what: str) -> None:
    if sys.stdin.isatty():
        raise CommandError(
            f"- reads {what} from standard input, which is a terminal here; pipe one.", USAGE
        )


def refuse_stdout() -> None:
    """Raise CommandError where a picture on standard output would go nowhere good."""
    if sys.__stdout__ is None:
        raise CommandError("- writes a picture to standard output, which is closed here.")
    if sys.stdout.isatty():
        raise CommandError(
            "- writes a picture to standard output, which is a terminal here; pipe it, or name a "
            "file.",
            USAGE,
        )


def write_stdout(path: Path) -> None:
    """Write the content of `path` to standard output."""
    try:
        with path.open("rb") as file:
            shutil.copyfileobj(file, sys.stdout.buffer)
        sys.stdout.buffer.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        raise CommandError(f"Cannot write to standard output: {error.strerror}.") from error
