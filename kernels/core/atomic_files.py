"""Write a file whole or not at all: beside its target first, then renamed over it.

And open those of the program's own that are no pipe, no device and no link: `regular`.
"""

from __future__ import annotations

import errno
import math
import os
import re
import stat
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from functools import cache, partial
from pathlib import Path
from typing import BinaryIO
from uuid import uuid4

if sys.platform == "win32":
    fcntl = None
else:
    import fcntl

GRACE_S = 60.0  # so long after it was last written, a file of ours may be found to be abandoned
# A folder of more files than that is looked through for them no more often than that: to do it for
# each of a hundred thousand files that are written into one would take longer than writing them.
MANY_FILES = 200
_looked_at: dict[Path, float] = {}  # a folder of many files -> when, by a monotonic clock
_PREFIX, _SUFFIX = ".filter-workbench-", ".part"
_ABANDONED = re.compile(rf"{re.escape(_PREFIX)}[0-9a-f]{{32}}{re.escape(_SUFFIX)}")
_BOOT_ID = Path("/proc/sys/kernel/random/boot_id")  # of a computer, anew each time it starts

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
    errno.EMLINK: "it is a link, where only a file may be; remove it",
    errno.ENXIO: "it is a device or a pipe, where only a file may be; remove it",
    errno.ELOOP: "it is a link that leads back to itself; choose another name",
    errno.EINVAL: "no file can have that name; choose another one",
}


@contextmanager
def replacing(path: Path, *, is_synced: bool = True) -> Iterator[BinaryIO]:
    """Open a binary file that becomes `path` when the block ends, and vanishes when it raises.

    A file that is replaced leaves its permissions to the new one; what programs that were killed
    have left behind in the folder is removed, in one of very many files once in a while.
    A device or a pipe is written to instead: another file in place of /dev/null would harm the
    whole computer.

    is_synced  whether it is on the disk at the end, so that it outlives a power failure, too;
               takes milliseconds

    Raises OSError; `reason()` puts it in words.
    """
    if is_special(path):
        with path.open("wb") as special:
            yield special
        return
    path = _resolved(path)  # a link keeps pointing to the file, rather than being replaced by it
    if path.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    if time.monotonic() - _looked_at.get(path.parent, -math.inf) >= GRACE_S:
        remove_abandoned(path.parent)
    mode = _mode_of(path)
    file = _held_beside(path, 0o666 if mode is None else mode)  # already while it is written
    beside = Path(file.name)
    try:
        with file:
            yield file
            file.flush()
            if is_synced:
                os.fsync(file.fileno())
            if mode is not None:
                with suppress(OSError):  # a file system that knows no permissions
                    beside.chmod(mode)
            if fcntl is None:
                file.close()  # Windows renames nothing that is open; others hold it until then
            beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)


def replace_all(contents: Mapping[Path, bytes]) -> None:
    """Write files, none of which is put in its place before all are on the disk.

    Raises OSError as `replacing` does.
    """
    with ExitStack() as files:
        for path, content in contents.items():
            file = files.enter_context(replacing(path, is_synced=False))
            file.write(content)
            file.flush()
            os.fsync(file.fileno())


def is_special(path: Path) -> bool:
    """Return whether `path` is a device or a pipe, or a link to one."""
    try:
        mode = path.stat().st_mode
    except (OSError, ValueError):
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))


def _mode_of(path: Path) -> int | None:
    """Return the permissions of the file that is to be replaced, which its successor keeps."""
    try:
        return stat.S_IMODE(path.stat().st_mode) & 0o777
    except FileNotFoundError:
        return None


def remove_abandoned(folder: Path) -> None:
    """Remove what killed programs have left in the folder while writing.

    That is files of our own kind of name that nobody holds.  Locks of another computer may not be
    seen here; those of its files that are so new that somebody may be about to write them stay.
    """
    count, ours = 0, f"{_PREFIX}{_boot()}"
    with suppress(OSError), os.scandir(folder) as entries:  # on Windows: of whoever writes one
        for count, entry in enumerate(entries, 1):  # noqa: B007 - it counts them
            if _ABANDONED.fullmatch(entry.name) and entry.is_file(follow_symlinks=False):
                is_ours = bool(_boot()) and entry.name.startswith(ours)
                is_old = is_ours or time.time() - entry.stat().st_mtime > GRACE_S
                if is_old:
                    _remove_unless_held(Path(entry.path))
    if count > MANY_FILES:
        _looked_at[folder] = time.monotonic()


@cache
def _boot() -> str:
    """Return hexadecimal digits that only processes have which see each other's locks; or none."""
    try:
        return _BOOT_ID.read_text()[:8]
    except OSError:
        return ""


def _held_beside(path: Path, permissions: int) -> BinaryIO:
    """Open a new file beside `path`, shown to others as being written until it is closed."""
    opener = partial(os.open, mode=permissions)
    while True:
        name = f"{_PREFIX}{_boot()}{uuid4().hex[len(_boot()) :]}{_SUFFIX}"
        file = open(path.parent / name, "x+b", opener=opener)  # noqa: SIM115 - the caller closes it
        if _is_first_to_hold(file):
            return file
        file.close()  # another thread took it for abandoned before it was held
        Path(file.name).unlink(missing_ok=True)


def _is_first_to_hold(file: BinaryIO) -> bool:
    try:
        if fcntl is not None:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:  # a file system that knows no locks
        return True
    return os.path.lexists(file.name)


def _remove_unless_held(path: Path) -> None:
    """Remove the file unless a program writes it.  Raises OSError where that cannot be known."""
    if fcntl is None:
        path.unlink()  # such systems do not let go of a file that is open
        return
    with path.open("rb") as file, suppress(BlockingIOError):
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        path.unlink()  # while it is held: its writer, if it had just made it, makes another one


def _resolved(path: Path) -> Path:
    """Return `path` without links.

    Raises OSError for a loop of them, and for what cannot be a name.
    """
    try:
        resolved = Path(os.path.realpath(path))
    except ValueError as error:  # a NUL is in it
        raise OSError(errno.EINVAL, os.strerror(errno.EINVAL), str(path)) from error
    if resolved.is_symlink():
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(path))
    return resolved


def regular(path: str, flags: int) -> int:
    """Open a regular file: an `opener` for `open` that waits for no pipe and follows no link.

    Raises OSError for anything else.
    """
    if os.path.islink(path):  # noqa: PTH114 - where the flag is not known, or says ELOOP
        raise OSError(errno.EMLINK, "it is a link", path)
    extra = ("O_NOFOLLOW", "O_NONBLOCK", "O_CLOEXEC")
    descriptor = os.open(path, flags | sum(getattr(os, each, 0) for each in extra), 0o666)
    mode = os.fstat(descriptor).st_mode
    if stat.S_ISREG(mode) or stat.S_ISDIR(mode):  # a folder is refused by `open` itself
        return descriptor
    os.close(descriptor)
    raise OSError(errno.ENXIO, "it is a device or a pipe", path)


def reason(error: OSError) -> str:
    """Return why a file could not be written and what to do: the second half of a sentence."""
    if error.errno is None:  # NumPy's, which counts bytes but does not tell the cause
        return "not all of it could be written; free some space or choose another folder"
    return _WHAT_TO_DO.get(error.errno, f"{error.strerror}; choose another folder")
