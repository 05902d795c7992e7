"""A file that only grows, a line at a time, and loses nothing but the line that was being written.

A process that is killed leaves a part of that at most, and a computer without power what was put
there in the last second; who goes on with the file begins behind its last whole line.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from io import FileIO
from pathlib import Path
from time import monotonic
from types import TracebackType
from typing import BinaryIO, Self

from kernels.core.atomic_files import regular
from kernels.core.locks import lock

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
