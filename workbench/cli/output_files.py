"""Files that commands write beside what they print, each whole or not at all."""

from __future__ import annotations

from pathlib import Path

from kernels.core.atomic_files import is_special, reason, replacing
from workbench.cli.command_error import CommandError


def refuse_unwritable(*paths: Path | None) -> None:
    """Refuse what cannot be written now, rather than after an hour of measuring.

    What is there stays as it is.  Raises CommandError.
    """
    for path in paths:
        if path is None or is_special(path):
            continue
        is_new = not path.exists()
        try:
            path.open("ab").close()
            if is_new:
                path.unlink()
        except OSError as error:
            raise _failure(path, error) from error


def write_whole(path: Path, text: str) -> None:
    """Write `text` as UTF-8.  Raises CommandError."""
    try:
        with replacing(path) as file:
            file.write(text.encode())
    except OSError as error:
        raise _failure(path, error) from error


def _failure(path: Path, error: OSError) -> CommandError:
    return CommandError(f"Cannot write {path}: {reason(error)}.")
