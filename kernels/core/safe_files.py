"""Files that survive a crash: replaced whole, locked, append-only; and the cache's folder."""

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
from io import FileIO
from pathlib import Path
from time import monotonic
from typing import BinaryIO, NamedTuple, Self
from uuid import uuid4

GRACE_S = 60.0  # a file of ours that was not written for so long may be abandoned
# A folder of more files is searched for abandoned ones only once in GRACE_S: doing it for each of
# a hundred thousand files that are written into one would take longer than writing them.
MANY_FILES = 200
_searched_at: dict[Path, float] = {}  # a folder of many files -> when, by a monotonic clock
_PREFIX, _SUFFIX = ".filter-workbench-", ".part"
_ABANDONED = re.compile(rf"{re.escape(_PREFIX)}[0-9a-f]{{32}}{re.escape(_SUFFIX)}")
_BOOT_ID = Path("/proc/sys/kernel/random/boot_id")  # of a computer, anew each time it starts
LOOK_S = 0.01  # between two tries to lock a file that another process holds

_WHAT_TO_DO = {
    errno.ENOSPC: "the disk is full; free some space or choose another folder",
    errno.EDQUOT: "your quota is used up; free some space or choose another folder",
    errno.EFBIG: "no file can be so large there; choose another folder",
    errno.ENOENT: "its folder does not exist; choose another folder",
    errno.ENOTDIR: "its folder is not a folder; choose another one",
    errno.EISDIR: "a folder has that name; choose another name",
    errno.EEXIST: "a file has that name by now; move it, or choose another name",
    errno.ENXIO: "it is a pipe that nobody reads, a socket or a device; choose another name",
}

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl
FAR = 0x7FFF_0000  # Windows keeps others from reading what is locked: a byte far behind any end


def lock(file_number: int, *, shared: bool = False) -> bool:
    """Lock the open file; False if another process has it, unless both share it."""
    try:
        if sys.platform == "win32":
            os.lseek(file_number, FAR, os.SEEK_SET)
            msvcrt.locking(file_number, msvcrt.LK_NBLCK, 1)
        else:
            fcntl.flock(file_number, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
    except OSError as error:
        # On a file system without locks nobody can be kept out.
        return sys.platform != "win32" and not isinstance(error, BlockingIOError)
    return True


def unlock(file_number: int) -> None:
    with suppress(OSError):  # it was not locked
        if sys.platform == "win32":
            os.lseek(file_number, FAR, os.SEEK_SET)
            msvcrt.locking(file_number, msvcrt.LK_UNLCK, 1)
        else:
            fcntl.flock(file_number, fcntl.LOCK_UN)


def hold(path: Path) -> BinaryIO | None:
    """Open and lock `path`, a file of no other use; None if another process has it.

    Raises OSError where there can be no such file.
    """
    file = open(path, "ab", opener=regular)  # noqa: SIM115 - locked until it is closed
    if lock(file.fileno()):
        return file
    file.close()
    return None


@contextmanager
def holding(path: Path, patience_s: float) -> Iterator[bool]:
    """Lock `path`, a file of no other use, which is made and stays, while the block runs.

    Yields False if another process kept it for longer than `patience_s`.
    Raises OSError where there can be no such file.
    """
    until = monotonic() + patience_s
    with open(path, "ab", opener=regular) as file:
        while not (is_held := lock(file.fileno())) and monotonic() < until:
            time.sleep(LOOK_S)
        yield is_held


@contextmanager
def replacing(path: Path, *, is_synced: bool = True, keeps: bool = False) -> Iterator[BinaryIO]:
    """Open a binary file that becomes `path` when the block ends, and vanishes when it raises.

    A file that is replaced leaves its permissions to the new one; files that killed programs left
    in the folder are removed.  A device or a pipe is written to instead: another file in place of
    /dev/null would harm the whole computer.

    is_synced  be on the disk at the end, to outlive a power failure; takes milliseconds
    keeps      as `put_in_place` has it

    Raises OSError; `reason()` puts it in words.
    """
    if is_special(path):
        with open(path, "wb", opener=_soon) as special:
            yield special
        return
    if not keeps:
        path = _resolved(path)  # a link keeps pointing to the file, rather than being replaced
    if path.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    if monotonic() - _searched_at.get(path.parent, -math.inf) >= GRACE_S:
        remove_abandoned(path.parent)
    mode = stat.S_IMODE(path.stat().st_mode) & 0o777 if path.exists() else None
    file = _locked_beside(path, 0o666 if mode is None else mode)  # already while it is written
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
            if sys.platform == "win32":
                file.close()  # Windows renames no open file; others lock it until then
            put_in_place(beside, path, keeps=keeps)
    finally:
        beside.unlink(missing_ok=True)


def put_in_place(made: Path, path: Path, *, keeps: bool) -> None:
    """Give the file `made` the name `path`, in the same folder.

    keeps  leave alone what has that name, however short a time, and raise FileExistsError

    Raises OSError.
    """
    if keeps:
        try:
            os.link(made, path)  # which, unlike a rename, never replaces
        except FileExistsError:
            raise
        except OSError:  # a file system without hard links
            path.open("xb").close()  # from here on the name is ours
        else:
            made.unlink()
            return
    made.replace(path)


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
    """True if `path` is a device or a pipe, or a link to one."""
    with suppress(OSError, ValueError):
        mode = path.stat().st_mode
        return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))
    return False


def remove_abandoned(folder: Path) -> None:
    """Remove files that killed programs left in the folder while writing.

    They have our kind of name and nobody locks them.  Locks of another computer may not be seen
    here; those of its files that are so new that somebody may be about to write them stay.
    """
    count = 0
    with suppress(OSError), os.scandir(folder) as entries:  # on Windows: of whoever writes one
        for count, entry in enumerate(entries, 1):  # noqa: B007 - it counts them
            if _ABANDONED.fullmatch(entry.name) and entry.is_file(follow_symlinks=False):
                is_ours = _boot() and entry.name.startswith(f"{_PREFIX}{_boot()}")
                if is_ours or time.time() - entry.stat().st_mtime > GRACE_S:
                    _remove_unlocked(Path(entry.path))
    if count > MANY_FILES:
        _searched_at[folder] = monotonic()


def _remove_unlocked(path: Path) -> None:
    if sys.platform == "win32":  # which keeps an open file
        path.unlink()
        return
    with path.open("rb") as file:
        if lock(file.fileno()):
            path.unlink()  # its writer, if it just made it, makes another one


@cache
def _boot() -> str:
    """Hexadecimal digits shared by the processes that see each other's locks; "" if unknown."""
    with suppress(OSError):
        return _BOOT_ID.read_text()[:8]
    return ""


def _locked_beside(path: Path, permissions: int) -> BinaryIO:
    opener = partial(os.open, mode=permissions)
    while True:
        name = f"{_PREFIX}{_boot()}{uuid4().hex[len(_boot()) :]}{_SUFFIX}"
        file = open(path.parent / name, "x+b", opener=opener)  # noqa: SIM115 - the caller closes it
        if sys.platform == "win32" or (lock(file.fileno()) and os.path.lexists(file.name)):
            return file
        file.close()  # another thread took it for abandoned before it was locked
        Path(file.name).unlink(missing_ok=True)


def _resolved(path: Path) -> Path:
    """Resolve links; OSError for a loop of them and for an impossible name."""
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
    if stat.S_ISREG(mode) or stat.S_ISDIR(mode):  # `open` itself rejects a folder
        return descriptor
    os.close(descriptor)
    raise OSError(errno.ENXIO, "it is a device or a pipe", path)


PIPE_PATIENCE_S = 2.0


def _soon(path: str, flags: int) -> int:
    """Open for writing.  Raises OSError where a pipe gets no reader within PIPE_PATIENCE_S."""
    end = monotonic() + PIPE_PATIENCE_S
    while True:
        try:
            descriptor = os.open(path, flags | getattr(os, "O_NONBLOCK", 0))
            break
        except OSError as error:
            if error.errno != errno.ENXIO or monotonic() > end:
                raise
        time.sleep(0.05)
    if sys.platform != "win32":
        os.set_blocking(descriptor, True)
    return descriptor


def reason(error: OSError) -> str:
    """Cause of a failed write and its remedy: the second half of a sentence."""
    if error.errno is None:  # a library's, which does not tell the cause
        return "not all of it could be written; free some space or choose another folder"
    made = error.filename if error.errno == errno.ENOENT else None
    if isinstance(made, str) and Path(made).parent.is_dir():  # such as /proc
        return "no file can be made in its folder; choose another folder"
    return _WHAT_TO_DO.get(error.errno, f"{error.strerror}; choose another name or folder")


MAX_LINE = 4 << 20  # bytes; a record with thousands of samples has a tenth of it
UNSYNCED_S = 1.0  # lines come by the thousand a second, and a disk takes its time


class LogLine(NamedTuple):
    """One line of a file; of one longer than any record `text` is the beginning."""

    text: bytes
    length: int
    is_whole: bool  # it has its newline


def lines_in(file: BinaryIO) -> Iterator[LogLine]:
    """Yield line by line, however long one is.  Raises OSError as reading the file does."""
    while text := file.readline(MAX_LINE):
        part, length = text, len(text)
        while len(part) == MAX_LINE and not part.endswith(b"\n"):
            part = file.readline(MAX_LINE)
            length += len(part)
        yield LogLine(text, length, (part or text).endswith(b"\n"))


def whole_lines(path: Path) -> Iterator[LogLine]:
    """Yield the lines of a log, but one that was being written.

    Raises OSError, also for a link, a pipe and a device.
    """
    with open(path, "rb", opener=regular) as file:
        yield from (line for line in lines_in(file) if line.is_whole)


class AppendLog:
    """Append-only line log; a crash loses at most the last line."""

    def __init__(self, path: Path, mode: str) -> None:
        """Open the file; `mode` as in FileIO.  Raises OSError, as for a link or a pipe."""
        self.path = path
        self._file = FileIO(path, mode, opener=regular)
        self._end = 0
        self._synced_at = monotonic()

    def hold(self) -> bool:
        """Lock the file until it is closed; False if another process has it."""
        return lock(self._file.fileno())

    def go_on_behind(self, end: int) -> None:
        """Drop all but the first `end` bytes, and append there.  Raises OSError."""
        self._file.truncate(end)
        self._end = end

    def put(self, line: bytes, *, sync: bool = False) -> None:
        """Append a line.

        The system has it then; the disk has it with the first line that comes a second later, or
        when the file is closed.

        sync  have it on the disk now

        Raises OSError, as on a full disk; the file then holds the lines before.
        """
        try:
            self._file.seek(self._end)
            left = memoryview(line)
            while left:
                left = left[self._file.write(left) :]
            if sync or monotonic() - self._synced_at > UNSYNCED_S:
                os.fsync(self._file.fileno())
                self._synced_at = monotonic()
        except OSError:
            with suppress(OSError):
                self._file.truncate(self._end)
            raise
        self._end += len(line)

    def is_in_its_place(self) -> bool:
        """False if the file was deleted or renamed: one would write into nothing."""
        with suppress(OSError):
            return os.path.samestat(os.fstat(self._file.fileno()), self.path.stat())
        return False

    def close(self) -> None:
        """Write everything to the disk and close the file."""
        with suppress(OSError, ValueError):  # a full disk, which was said; closed already
            os.fsync(self._file.fileno())
        self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


FOLDER_VARIABLE = "FILTER_WORKBENCH_CACHE"


def cache_folder() -> Path:
    """The user's cache folder, or the one that FILTER_WORKBENCH_CACHE names."""
    folder = os.environ.get(FOLDER_VARIABLE)
    if not folder:
        from platformdirs import user_cache_dir

        folder = user_cache_dir("filter-workbench", appauthor=False)
    return Path(folder)
