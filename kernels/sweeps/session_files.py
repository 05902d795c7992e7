"""Sessions on disk: append-only JSON Lines, a line for each part of a cell that was measured.

See `kernels.sweeps.session_files` for what a line holds.
"""

from __future__ import annotations

import gzip
import json
import math
import time
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, BinaryIO, cast

from kernels.core.errors import SessionFileError
from kernels.core.plain_data import NotPlainError, from_plain, to_plain
from kernels.core.safe_files import MAX_LINE, GrowingFile, LogLine, lines_in
from kernels.core.timing import Timing
from kernels.sweeps.cell import Cell
from kernels.sweeps.plan import Plan
from kernels.sweeps.plan_files import KEYS
from kernels.sweeps.record import Machine, Measurement, Record, Session

FORMAT = "Filter Workbench session"
# 1 had no rounds, and no word for sessions that come with the program; 2 no kernels of the user's.
VERSION = 3
PROGRAM = "Filter Workbench"  # its name among a machine's software
DIGITS = 6
END_OF_TIME_S = 1e11  # later than calendars go
RENAMED_CEILINGS = {"l2_gb_s": "l2_read_gb_s"}  # version 1's; it was a read then, too


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionHeader:
    """The first line: a session without its records, and which program wrote it."""

    format: str
    version: int
    program: str = ""
    started: float
    machine: Machine
    plan: Plan
    shipped: bool = False


def header_line(session: Session) -> bytes:
    """Return the first line, which holds all of `session` but its records."""
    header = SessionHeader(
        format=FORMAT,
        version=VERSION,
        program=session.machine.software.get(PROGRAM, ""),
        started=round(session.started, 3),
        machine=session.machine,
        plan=session.plan,
        shipped=session.is_shipped,
    )
    return _line(to_plain(header))


def record_line(record: Record) -> bytes:
    """Return the line of one record, its newline included."""
    return _line(
        {
            "cell": to_plain(record.cell),
            "outcome": to_plain(record.outcome, DIGITS),
            "at": round(record.at, 3),
        }
    )


def session_of(line: bytes, name: str) -> Session:
    """Return the session, yet without records, that a file's first line begins.

    Raises SessionFileError, in which `name` is what the file is called.
    """
    try:
        data = _data(line)
        if type(data) is not dict or data.get("format") != FORMAT:
            raise NotPlainError("is not a header")
    except NotPlainError:
        raise SessionFileError(
            f"{name} is not a session of measurements: its first line is not a session's."
        ) from None
    _refuse_other_versions(data.get("version"), name)
    try:
        header = from_plain(SessionHeader, data)
        if not 0 <= header.started < END_OF_TIME_S:
            raise NotPlainError("is not a time", "started")
    except NotPlainError as error:
        raise SessionFileError(f"{name} cannot be read: in line 1 {error}.") from None
    machine = _with_present_names(header.machine)
    return Session(
        header.plan, machine, header.started, is_recorded=True, is_shipped=header.shipped
    )


def record_of(line: bytes) -> Record:
    """Return the record of one line. Raises NotPlainError."""
    data = _data(line)
    record = from_plain(Record, data)
    if complaint := _complaint(record):
        raise NotPlainError(complaint)
    return record


def _refuse_other_versions(version: Any, name: str) -> None:
    if type(version) is not int or version < 1:
        raise SessionFileError(f"{name} cannot be read: its header has no version.")
    if version > VERSION:
        raise SessionFileError(
            f"{name} was written by a newer Filter Workbench (version {version} of its format); "
            f"this one reads versions 1 to {VERSION}."
        )


def _with_present_names(machine: Machine) -> Machine:
    """Return the machine with its ceilings as this version calls them."""
    ceilings = {RENAMED_CEILINGS.get(name, name): each for name, each in machine.ceilings.items()}
    return replace(machine, ceilings=ceilings)


def _line(data: dict[str, Any]) -> bytes:
    text = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text.encode("utf-8", "backslashreplace") + b"\n"


def _data(line: bytes) -> Any:
    try:
        return json.loads(line)
    except (ValueError, RecursionError):  # Unicode's and JSON's errors are ValueErrors
        raise NotPlainError("it is not JSON") from None


def _complaint(record: Record) -> str | None:
    """Return what is in a record that no measuring can have given, or None.

    It would be worked with as if it had.
    """
    if not _is_sensible(record.cell):
        return "its cell has no size"
    if not 0 <= record.at < END_OF_TIME_S:
        return "at is not a time"
    if not isinstance(record.outcome, Measurement):
        return None
    transfers = record.outcome.transfers
    timings = [record.outcome.kernel]
    if transfers is not None:
        timings += [transfers.pageable_up, transfers.pageable_down]
        timings += [transfers.pinned_up, transfers.pinned_down]
    return None if all(map(_is_duration, timings)) else "its samples are not durations"


def _is_sensible(cell: Cell) -> bool:
    threads = cell.block_xy or (1, 1)
    return min(cell.width, cell.height, cell.channels, cell.ksize, cell.count, *threads) >= 1


def _is_duration(timing: Timing) -> bool:
    samples = timing.samples_ms
    if not samples or not all(math.isfinite(each) and each >= 0 for each in samples):
        return False
    if timing.rounds and (min(timing.rounds) < 1 or sum(timing.rounds) != len(samples)):
        return False
    return sorted(samples)[len(samples) // 2] > 0  # or else the median is 0


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


NAME = "session.jsonl"
SUFFIXES = (".jsonl", ".jsonl.gz")


def session_path(path: Path) -> Path:
    """Return the file that `path` means.

    That is itself, or session.jsonl in the folder that it is otherwise.

    A folder may hold the file compressed, as session.jsonl.gz.
    """
    if path.is_file() or (path.name.endswith(SUFFIXES) and not path.is_dir()):
        return path
    plain, packed = path / NAME, path / f"{NAME}.gz"
    return packed if packed.is_file() and not plain.exists() else plain


def read_session(path: Path) -> Session:
    """Return what the file holds, marked as recorded; `path` as in `session_path`.

    Of a cell that was measured twice the last record counts.  Lines that cannot be understood are
    left out, and `remarks` say so.  Raises SessionFileError where it is no session of this version.
    """
    path = _existing(path)
    with open_to_read(path) as file:
        return scan(file, path).session


def resume(path: Path, machine: Machine, plan: Plan | None = None) -> tuple[Session, SessionFile]:
    """Go on with a session on the machine it was begun on.

    Returns what it holds, no longer marked as recorded, and the file to append to, free of what
    a killed process left of a line.

    plan  what is about to be measured; None: whatever the session's own is
    Raises SessionFileError where it belongs to another machine or plan, or is being written to.
    """
    path = _existing(path)
    with refusals(path, "opened"):
        opened = SessionFile(path, "r+")
    try:
        _hold(opened)
        with open_to_read(path) as reading:
            if isinstance(reading, gzip.GzipFile):
                raise SessionFileError(f"{path} is compressed; unpack it to resume it.")
            found = scan(reading, path)
        _refuse_another(found.session, machine, plan, path)
        opened.cells.update(record.cell for record in found.session.records)
        with refusals(path, "written"):
            opened.go_on_behind(found.whole)
            if not found.ends_with_newline:
                opened.put(b"\n", sync=True)
    except BaseException:
        opened.close()
        raise
    remarks = (*found.session.remarks, *_other_software(found.session.machine, machine))
    return replace(found.session, is_recorded=False, remarks=remarks), opened


class SessionFile(GrowingFile):
    """A session being written.  Made by `create` or `resume`; one process at a time.

    cells  that it holds
    """

    def __init__(self, path: Path, mode: str) -> None:
        super().__init__(path, mode)
        self.cells: set[Cell] = set()

    @classmethod
    def create(
        cls,
        path: Path,
        plan: Plan,
        machine: Machine,
        started: float | None = None,
        *,
        is_shipped: bool = False,
    ) -> SessionFile:
        """Begin a file, and its folder where there is none; `path` as in `session_path`.

        started     seconds since 1970 in UTC; None: now
        is_shipped  as in Session
        Raises SessionFileError where there is a file already, or it cannot be written.
        """
        path = path if path.name.endswith(SUFFIXES[0]) else path / NAME
        begun = time.time() if started is None else started
        session = Session(plan, machine, begun, is_shipped=is_shipped)
        with refusals(path, "written"):
            path.parent.mkdir(parents=True, exist_ok=True)
            if path.exists():
                raise SessionFileError(
                    f"{path} is there already; resume it, or choose another folder."
                )
            made = cls(path, "x")
        try:
            _hold(made)
            with refusals(path, "written"):
                made.put(header_line(session), sync=True)
        except BaseException:
            made.close()
            with suppress(OSError):
                path.unlink()
            raise
        return made

    def append(self, record: Record) -> None:
        """Put a record behind all others; of one cell the last one counts.

        It is on the disk at the latest a second after, when the cell is complete, or when
        the file is closed.

        Raises SessionFileError where that cannot be done, as on a full disk; the file then holds
        what it held before.
        """
        if not self.is_in_its_place():
            raise SessionFileError(
                f"The file {self.path} was deleted or moved while it was being written."
            )
        try:
            self.put(record_line(record), sync=record.is_complete)
        except OSError as error:
            raise SessionFileError(
                f"A measurement could not be written ({why(error)}); the {self.cell_count} before "
                f"it are kept in {self.path}."
            ) from error
        self.cells.add(record.cell)

    @property
    def cell_count(self) -> int:
        """Return how many cells it holds."""
        return len(self.cells)


def _existing(path: Path) -> Path:
    with refusals(path, "opened"):
        path = session_path(path)
        if not path.exists():
            raise SessionFileError(f"There is no session {path}.")
    return path


def _hold(file: SessionFile) -> None:
    if not file.hold():
        raise SessionFileError(f"Another process is writing to {file.path}.")


def _refuse_another(session: Session, machine: Machine, plan: Plan | None, path: Path) -> None:
    """Raise SessionFileError where machine or plan differ: measurements of two are two sessions."""
    theirs = session.machine
    if (theirs.cpu, theirs.gpu) != (machine.cpu, machine.gpu):
        raise SessionFileError(
            f"{path} was measured on {_hardware(theirs)}, and this computer has "
            f"{_hardware(machine)}; measure into another folder."
        )
    if plan is not None and plan != session.plan:
        differ = [
            KEYS.get(each.name, "text of a kernel")
            for each in fields(Plan)
            if getattr(plan, each.name) != getattr(session.plan, each.name)
        ]
        raise SessionFileError(
            f"{path} was begun for another plan, with another {', '.join(differ)}; resume it with "
            "its own, or choose another folder."
        )


def _other_software(then: Machine, now: Machine) -> list[str]:
    """Return a sentence on software that differs.

    Not refused, since a session of days outlives an update.
    """
    names = sorted(then.software.keys() | now.software.keys())
    differ = [
        f"{name} {then.software.get(name, 'none')}, now {now.software.get(name, 'none')}"
        for name in names
        if then.software.get(name) != now.software.get(name)
    ]
    return [f"It was begun with other software: {'; '.join(differ)}."] if differ else []


def _hardware(machine: Machine) -> str:
    return f"{machine.gpu or 'no GPU'} with {machine.cpu}"
