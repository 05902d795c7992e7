"""A picture from standard input and one to standard output: both are `-` on the command line."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from workbench.cli.command_error import USAGE, CommandError

NAME = "-"


def read_stdin(path: Path) -> None:
    """Write all of standard input to `path`: pictures are read by seeking, which a pipe cannot."""
    if sys.stdin.isatty():
        raise CommandError(
            "- reads a picture from standard input, which is a terminal here; pipe one.", USAGE
        )
    with path.open("wb") as file:
        shutil.copyfileobj(sys.stdin.buffer, file)


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
