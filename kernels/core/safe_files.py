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
from dataclasses import dataclass
from functools import cache, partial
from io import FileIO
from pathlib import Path
from time import monotonic
from types import TracebackType
from typing import BinaryIO, Self
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


LOOK_S = 0.01  # between two tries to hold what another process holds

if sys.platform == "win32":
    import msvcrt
    import os

    # Windows keeps others from what is locked: a byte far behind any file's end is nobody's.
    FAR = 0x7FFF_0000

    def lock(file_number: int, *, shared: bool = False) -> bool:  # noqa: ARG001 - not here
        """Hold the open file until `unlock`, or it is closed; False where another process does."""
        os.lseek(file_number, FAR, os.SEEK_SET)
        try:
            msvcrt.locking(file_number, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

    def unlock(file_number: int) -> None:
        """Hold the open file no more."""
        os.lseek(file_number, FAR, os.SEEK_SET)
        with suppress(OSError):  # it was not held
            msvcrt.locking(file_number, msvcrt.LK_UNLCK, 1)

else:
    import fcntl

    def lock(file_number: int, *, shared: bool = False) -> bool:
        """Hold the open file until `unlock`, or it is closed; False where another process does.

        shared  beside others that hold it so
        """
        try:
            fcntl.flock(file_number, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        except OSError:  # a file system without locks: then nobody can be kept out
            return True
        return True

    def unlock(file_number: int) -> None:
        """Hold the open file no more."""
        with suppress(OSError):  # as above
            fcntl.flock(file_number, fcntl.LOCK_UN)


def hold(path: Path) -> BinaryIO | None:
    """Open and hold `path`, a file of no other use; None where another process holds it.

    Raises OSError where there can be no such file.
    """
    file = open(path, "ab", opener=regular)  # noqa: SIM115 - it is held until it is closed
    if lock(file.fileno()):
        return file
    file.close()
    return None


@contextmanager
def holding(path: Path, patience_s: float) -> Iterator[bool]:
    """Hold `path`, a file of no other use, which is made and stays, while the block runs.

    Gives whether it is held: not where another process kept it for longer than `patience_s`.
    Raises OSError where there can be no such file.
    """
    until = time.monotonic() + patience_s
    with open(path, "ab", opener=regular) as file:
        while not (is_held := lock(file.fileno())) and time.monotonic() < until:
            time.sleep(LOOK_S)
        yield is_held


MAX_LINE = 4 << 20  # bytes; a record with thousands of samples has a tenth of it
UNSYNCED_S = 1.0  # lines come by the thousand a second, and a disk takes its time


@dataclass(frozen=True, slots=True)
class LogLine:
    """One line of a file.

    text: its beginning, where it is longer than any record; is_whole: it has its newline.
    """

    text: bytes
    length: int
    is_whole: bool


def lines_in(file: BinaryIO) -> Iterator[LogLine]:
    """Yield line by line, however long one is.  Raises what reading the file raises."""
    while text := file.readline(MAX_LINE):
        part, length = text, len(text)
        while len(part) == MAX_LINE and not part.endswith(b"\n"):
            part = file.readline(MAX_LINE)
            length += len(part)
        yield LogLine(text, length, (part or text).endswith(b"\n"))


def whole_lines(path: Path) -> Iterator[LogLine]:
    """Yield the lines of a file of the program's own, but the one that was being written.

    Raises OSError, also for a link, a pipe and a device.
    """
    with open(path, "rb", opener=regular) as file:
        yield from (line for line in lines_in(file) if line.is_whole)


class GrowingFile:
    """A file open for putting lines behind all others; one process at a time, where it is held.

    path  of the file
    """

    def __init__(self, path: Path, mode: str) -> None:
        """Open the file; `mode` as in FileIO.  Raises OSError, as for a link or a pipe."""
        self.path = path
        self._file = FileIO(path, mode, opener=regular)
        self._end = 0
        self._synced_at = monotonic()

    def hold(self) -> bool:
        """Keep other processes from it until it is closed; False where one of them does."""
        return lock(self._file.fileno())

    def go_on_behind(self, end: int) -> None:
        """Drop what stands behind the first `end` bytes, and go on there.  Raises OSError."""
        self._file.truncate(end)
        self._end = end

    def put(self, line: bytes, *, sync: bool = False) -> None:
        """Put a line behind all others.

        It is with the system then, and on the disk soon: at the latest with the first line that
        comes a second later, or when the file is closed.

        sync  have it on the disk now

        Raises OSError, as on a full disk; the file then holds what it held before.
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
        """Return whether the file still has its name.

        Where it can be deleted while it is open, one would write into nothing.
        """
        try:
            return os.path.samestat(os.fstat(self._file.fileno()), self.path.stat())
        except OSError:
            return False

    def close(self) -> None:
        """Let go of the file; everything is on the disk then."""
        with suppress(OSError, ValueError):  # a full disk, which was said; closed already
            os.fsync(self._file.fileno())
        self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


FOLDER_VARIABLE = "FILTER_WORKBENCH_CACHE"


def cache_folder() -> Path:
    """Return the user's cache folder, or the one that FILTER_WORKBENCH_CACHE names."""
    folder = os.environ.get(FOLDER_VARIABLE)
    if not folder:
        from platformdirs import user_cache_dir

        folder = user_cache_dir("filter-workbench", appauthor=False)
    return Path(folder)
