"""Tell whether two names are of one file: by links, or by case where that does not matter."""

from __future__ import annotations

from pathlib import Path


def identity(path: Path) -> tuple[int, int] | str:
    """Return a value that is equal for two names of one file; the path where there is no file."""
    try:
        status = path.stat()
    except (OSError, ValueError):  # there is none, it is a loop of links, or no name at all
        return str(path.absolute())
    return status.st_dev, status.st_ino
