"""Write a file whole or not at all: beside its target first, then renamed over it."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO
from uuid import uuid4

_WHAT_TO_DO = {
    errno.ENOSPC: "the disk is full; free some space or choose another folder",
    errno.EDQUOT: "your quota is used up; free some space or choose another folder",
    errno.EFBIG: "the file would be larger than allowed here; choose another folder",
    errno.EACCES: "writing there is not allowed; choose another folder",
    errno.EPERM: "writing there is not allowed; choose another folder",
    errno.EROFS: "the folder is on a read-only disk; choose another folder",
    errno.ENOENT: "its folder does not exist; choose another folder",
    errno.ENOTDIR: "its folder is not a folder; choose another one",
    errno.EISDIR: "a folder has that name; choose another name",
    errno.ENAMETOOLONG: "the name is too long; choose a shorter one",
    errno.ELOOP: "it is a link that leads back to itself; choose another name",
    errno.EINVAL: "no file can have that name; choose another one",
}


@contextmanager
def replacing(path: Path) -> Iterator[BinaryIO]:
    """An open binary file that becomes `path` when the block ends, and vanishes when it raises.

    Raises OSError; `reason()` puts it in words.
    """
    path = _resolved(path)  # a link keeps pointing to the file, rather than being replaced by it
    if path.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    beside = path.parent / f".{uuid4().hex}.part"
    try:
        with beside.open("xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)


def _resolved(path: Path) -> Path:
    """`path` without links.  Raises OSError for a loop of them, and for what is no name."""
    try:
        resolved = Path(os.path.realpath(path))
    except ValueError as error:  # a NUL is in it
        raise OSError(errno.EINVAL, os.strerror(errno.EINVAL), str(path)) from error
    if resolved.is_symlink():
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(path))
    return resolved


def reason(error: OSError) -> str:
    """Why a file could not be written and what to do: the second half of a sentence."""
    if error.errno is None:  # NumPy's, which counts bytes but does not tell the cause
        return "not all of it could be written; free some space or choose another folder"
    return _WHAT_TO_DO.get(error.errno, f"{error.strerror}; choose another folder")
