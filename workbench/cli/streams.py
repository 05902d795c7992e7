"""Standard input and output, as pictures or a list of them: both are `-` on the command line."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

from workbench.cli.command_error import USAGE, CommandError

NAME = "-"


def read_names() -> list[Path]:
    """Return the names that standard input lists: a line each, or with a NUL behind each."""
    _refuse_terminal("a list of pictures")
    text = sys.stdin.buffer.read()
    between = b"\0" if b"\0" in text else b"\n"
    names = (name if between == b"\0" else name.rstrip(b"\r") for name in text.split(between))
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
    """Write what is in `path` to standard output."""
    try:
        with path.open("rb") as file:
            shutil.copyfileobj(file, sys.stdout.buffer)
        sys.stdout.buffer.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        raise CommandError(f"Cannot write to standard output: {error.strerror}.") from error
