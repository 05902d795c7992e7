"""A session file read line by line, however it was left or what became of it since."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import BinaryIO, cast

from kernels.core.errors import SessionFileError
from kernels.core.growing_file import MAX_LINE, LogLine, lines_in
from kernels.core.plain_data import NotPlainError
from kernels.sweeps.cell import Cell
from kernels.sweeps.record import Record, Session
from kernels.sweeps.session_lines import record_of, session_of

GZIP = b"\x1f\x8b"
MAX_REMARKS = 5


@dataclass(frozen=True, slots=True)
class ScannedFile:
    """A session as it stands in a file.

    whole  bytes up to the end of the last line that is not cut off
    """

    session: Session
    whole: int
    ends_with_newline: bool


def scan(file: BinaryIO, path: Path) -> ScannedFile:
    """Read everything a file holds, from its beginning. Raises SessionFileError."""
    try:
        first = file.readline(MAX_LINE)
        _refuse_foreign(first, path)
        session = session_of(first, str(path))
        return _with_records(session, file, len(first), first.endswith(b"\n"))
    except (OSError, EOFError, zlib.error) as error:
        raise SessionFileError(f"{path} cannot be read ({why(error)}).") from error


def _with_records(session: Session, file: BinaryIO, whole: int, is_whole: bool) -> ScannedFile:
    """Read what follows a header of `whole` bytes."""
    records: dict[Cell, Record] = {}
    remarks = _Remarks()
    for number, line in enumerate(_lines(file, remarks), start=2):
        try:
            record = record_of(line.text)
        except NotPlainError as error:
            if not line.is_whole:
                remarks.add("Its last line was cut off in mid-writing and is left out.")
                break
            remarks.add(f"Its line {number} is left out: {error}.")
        else:
            records[record.cell] = record  # the last one counts, where the first one stood
        whole += line.length
        is_whole = line.is_whole
    read = replace(session, records=tuple(records.values()), remarks=remarks.all())
    return ScannedFile(read, whole, is_whole)


class _Remarks:
    """The first few sentences, and how many more there would be.

    Lines may be wrong by the million.
    """

    def __init__(self) -> None:
        self._first: list[str] = []
        self._more = 0

    def add(self, sentence: str) -> None:
        if len(self._first) < MAX_REMARKS:
            self._first.append(sentence)
        else:
            self._more += 1

    def all(self) -> tuple[str, ...]:
        more = f"So it is with {self._more:,} line{'s' * (self._more != 1)} more."
        return (*self._first, more) if self._more else tuple(self._first)


def _lines(file: BinaryIO, remarks: _Remarks) -> Iterator[LogLine]:
    """Yield line by line; compressed data may break off."""
    try:
        yield from lines_in(file)
    except (gzip.BadGzipFile, EOFError, zlib.error):
        remarks.add("Its compressed data break off, and what follows is left out.")


@contextmanager
def open_to_read(path: Path) -> Iterator[BinaryIO]:
    """Open the file's plain bytes, unpacked where it is compressed."""
    with refusals(path, "opened"):
        if not path.is_file():  # a folder, or a pipe that might never end
            raise SessionFileError(f"{path} is not a file.")
        file = path.open("rb")
    with file:
        packed = file.read(len(GZIP)) == GZIP
        file.seek(0)
        yield cast(BinaryIO, gzip.GzipFile(fileobj=file)) if packed else file


@contextmanager
def refusals(path: Path, done: str) -> Iterator[None]:
    """Raise what the operating system refuses as SessionFileError, in words.

    done: "opened" or "written".
    """
    try:
        yield
    except OSError as error:
        raise SessionFileError(f"{path} cannot be {done} ({why(error)}).") from error


def _refuse_foreign(first: bytes, path: Path) -> None:
    if not first:
        raise SessionFileError(f"{path} is empty: it holds no session.")
    if path.suffix.lower() == ".csv" and not first.startswith(b"{"):
        raise SessionFileError(
            f"{path} is a table, which holds only part of what was measured; open the session's "
            ".jsonl file instead."
        )


def why(error: Exception) -> str:
    """Return the operating system's few words."""
    return getattr(error, "strerror", None) or str(error) or type(error).__name__
