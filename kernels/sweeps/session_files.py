"""Sessions on disk: append-only JSON Lines, a line for each part of a cell that was measured.

The first line is a `SessionHeader`, each other one a `Record`; of one cell the last one counts.
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
from kernels.core.safe_files import MAX_LINE, AppendLog, lines_in, reason
from kernels.core.timing import Timing
from kernels.sweeps.plan import Cell, Plan
from kernels.sweeps.plan_keys import KEYS
from kernels.sweeps.record import Machine, Measurement, Record, Session

FORMAT = "Filter Workbench session"
# 1 had no rounds, and no word for shipped sessions; 2 no user kernels, 3 no lists of steps.
VERSION = 4
PROGRAM = "Filter Workbench"  # its name among a machine's software
DIGITS = 6
END_OF_TIME_S = 1e11  # later than calendars go
RENAMED_CEILINGS = {"l2_gb_s": "l2_read_gb_s"}  # version 1's; it was a read then, too
GZIP = b"\x1f\x8b"
NAME = "session.jsonl"
SUFFIXES = (".jsonl", ".jsonl.gz")


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionHeader:
    """The first line: a session without its records, and the program that wrote it."""

    format: str
    version: int
    program: str = ""
    started: float
    machine: Machine
    plan: Plan
    shipped: bool = False


def header_line(session: Session) -> bytes:
    """The first line, which holds all of `session` but its records."""
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
    outcome = to_plain(record.outcome, DIGITS)
    return _line({"cell": to_plain(record.cell), "outcome": outcome, "at": round(record.at, 3)})


def session_of(line: bytes, name: str) -> Session:
    """Parse a file's first line as a session without records.

    Raises SessionFileError, which calls the file `name`.
    """
    data = None
    with suppress(NotPlainError):
        data = _data(line)
    if type(data) is not dict or data.get("format") != FORMAT:
        raise SessionFileError(
            f"{name} is not a session of measurements: its first line is not a session's."
        )
    version = data.get("version")
    if type(version) is not int or version < 1:
        raise SessionFileError(f"{name} cannot be read: its header has no version.")
    if version > VERSION:
        raise SessionFileError(
            f"{name} was written by a newer Filter Workbench (version {version} of its format); "
            f"this one reads versions 1 to {VERSION}."
        )
    try:
        header = from_plain(SessionHeader, data)
        if not 0 <= header.started < END_OF_TIME_S:
            raise NotPlainError("is not a time", "started")
    except NotPlainError as error:
        raise SessionFileError(f"{name} cannot be read: in line 1 {error}.") from None
    ceilings = {RENAMED_CEILINGS.get(n, n): each for n, each in header.machine.ceilings.items()}
    machine = replace(header.machine, ceilings=ceilings)
    return Session(
        header.plan, machine, header.started, is_recorded=True, is_shipped=header.shipped
    )


def _record_of(line: bytes) -> Record:
    """Parse one record.  Raises NotPlainError, also for values that cannot have been measured."""
    record = from_plain(Record, _data(line))
    cell, outcome = record.cell, record.outcome
    threads = cell.block_xy or (1, 1)
    if min(cell.width, cell.height, cell.channels, cell.ksize, cell.count, *threads) < 1:
        raise NotPlainError("its cell has no size")
    if not 0 <= record.at < END_OF_TIME_S:
        raise NotPlainError("at is not a time")
    if isinstance(outcome, Measurement):
        transfers = outcome.transfers.timings if outcome.transfers else ()
        if not all(map(_is_duration, (outcome.kernel, *outcome.steps, *transfers))):
            raise NotPlainError("its samples are not durations")
    return record


def _is_duration(timing: Timing) -> bool:
    samples = timing.samples_ms
    if not samples or not all(math.isfinite(each) and each >= 0 for each in samples):
        return False
    if timing.rounds and (min(timing.rounds) < 1 or sum(timing.rounds) != len(samples)):
        return False
    return sorted(samples)[len(samples) // 2] > 0  # or else the median is 0


def _line(data: dict[str, Any]) -> bytes:
    text = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text.encode("utf-8", "backslashreplace") + b"\n"


def _data(line: bytes) -> Any:
    try:
        return json.loads(line)
    except (ValueError, RecursionError):  # Unicode's and JSON's errors are ValueErrors
        raise NotPlainError("it is not JSON") from None


def read_heading(path: Path) -> Session:
    """Read the session in a file without its records, quickly.  Raises SessionFileError."""
    with _opened(path) as file:
        return session_of(file.readline(MAX_LINE), str(path))


def read_session(path: Path) -> Session:
    """Read a file's session, marked as recorded; `path` as in `session_path`.

    Of a cell that was measured twice the last record counts.  Lines that cannot be understood are
    left out, and `remarks` say so.  Raises SessionFileError where it is no session of this version.
    """
    path = _existing(path)
    with _opened(path) as file:
        return _read(file, path)[0]


def _read(file: BinaryIO, path: Path) -> tuple[Session, int, bool]:
    """Read a whole file; with the bytes of its whole lines, and True if a newline ends them."""
    first = file.readline(MAX_LINE)
    if not first:
        raise SessionFileError(f"{path} is empty: it holds no session.")
    if path.suffix.lower() == ".csv" and not first.startswith(b"{"):
        raise SessionFileError(
            f"{path} is a table, which holds only part of what was measured; open the "
            "session's .jsonl file instead."
        )
    session, whole, is_whole = session_of(first, str(path)), len(first), first.endswith(b"\n")
    records: dict[Cell, Record] = {}
    remarks: list[str] = []
    left_out = 0
    try:
        for number, line in enumerate(lines_in(file), start=2):
            try:
                record = _record_of(line.text)
            except NotPlainError as error:
                if not line.is_whole:
                    remarks.append("Its last line was cut off in mid-writing and is left out.")
                    break
                left_out += 1
                if left_out == 1:
                    remarks.append(f"Its line {number} is left out: {error}.")
            else:
                records[record.cell] = record  # the last one counts, where the first one stood
            whole += line.length
            is_whole = line.is_whole
    except (gzip.BadGzipFile, EOFError, zlib.error):
        remarks.append("Its compressed data break off, and what follows is left out.")
    if left_out > 1:
        remarks.append(f"So it is with {left_out - 1:,} more lines.")
    read = replace(session, records=tuple(records.values()), remarks=tuple(remarks))
    return read, whole, is_whole


@contextmanager
def _opened(path: Path) -> Iterator[BinaryIO]:
    with _refusals(path, "read"):
        if not path.is_file():  # a folder, or a pipe that might never end
            raise SessionFileError(f"{path} is not a file.")
        with path.open("rb") as file:
            packed = file.read(len(GZIP)) == GZIP
            file.seek(0)
            yield cast(BinaryIO, gzip.GzipFile(fileobj=file)) if packed else file


@contextmanager
def _refusals(path: Path, done: str) -> Iterator[None]:
    """Raise errors of the file as SessionFileError; done: "read", "written" or "made"."""
    try:
        yield
    except (OSError, EOFError, zlib.error) as error:
        advice = reason(error) if done == "made" and isinstance(error, OSError) else None
        why = advice or getattr(error, "strerror", None) or str(error) or type(error).__name__
        raise SessionFileError(f"{path} cannot be {done} ({why}).") from error


def session_path(path: Path) -> Path:
    """The session's file: `path`, or session.jsonl (or .jsonl.gz) in that folder."""
    if path.is_file() or (path.name.endswith(SUFFIXES) and not path.is_dir()):
        return path
    plain, packed = path / NAME, path / f"{NAME}.gz"
    return packed if packed.is_file() and not plain.exists() else plain


def _existing(path: Path) -> Path:
    with _refusals(path, "read"):
        path = session_path(path)
        if not path.exists():
            raise SessionFileError(f"There is no session {path}.")
    return path


class SessionFile(AppendLog):
    """A session being written.  Made by `create` or `resume`; one process at a time."""

    def __init__(self, path: Path, mode: str) -> None:
        """Open the file and lock it; SessionFileError where another process writes to it."""
        super().__init__(path, mode)
        self.cells: set[Cell] = set()  # that it holds
        if not self.hold():
            self.close()
            raise SessionFileError(f"Another process is writing to {path}.")

    @classmethod
    def create(
        cls, path: Path, plan: Plan, machine: Machine, started: float | None = None
    ) -> SessionFile:
        """Begin a file, and its folder where there is none; `path` as in `session_path`.

        started  seconds since 1970 in UTC; None: now
        Raises SessionFileError where there is a file already, or it cannot be written.
        """
        path = path if path.name.endswith(SUFFIXES[0]) else path / NAME
        session = Session(plan, machine, time.time() if started is None else started)
        with _refusals(path.parent, "made"):
            path.parent.mkdir(parents=True, exist_ok=True)
        with _refusals(path, "written"):
            if path.exists():
                raise SessionFileError(
                    f"{path} is there already; resume it, or choose another folder."
                )
            made = cls(path, "x")
            try:
                made.put(header_line(session), sync=True)
            except OSError:
                made.close()
                path.unlink(missing_ok=True)
                raise
        return made

    def append(self, record: Record) -> None:
        """Append a record; the disk has it a second later, or when the cell is complete.

        Raises SessionFileError, as on a full disk; the file then holds the records before.
        """
        if not self.is_in_its_place():
            raise SessionFileError(
                f"The file {self.path} was deleted or moved while it was being written."
            )
        try:
            self.put(record_line(record), sync=record.is_complete)
        except OSError as error:
            raise SessionFileError(
                f"A measurement could not be written ({error.strerror or error}); the "
                f"{len(self.cells)} before it are kept in {self.path}."
            ) from error
        self.cells.add(record.cell)


def resume(path: Path, machine: Machine, plan: Plan | None = None) -> tuple[Session, SessionFile]:
    """Resume a session on the machine it was begun on.

    Returns the session, no longer marked as recorded, and the file to append to, without a line
    that a killed process left unfinished.

    plan  about to be measured; None: the session's own
    Raises SessionFileError where it belongs to another machine or plan, or is being written to.
    """
    path = _existing(path)
    with _refusals(path, "written"):
        opened = SessionFile(path, "r+")
        try:
            with _opened(path) as reading:
                if isinstance(reading, gzip.GzipFile):
                    raise SessionFileError(f"{path} is compressed; unpack it to resume it.")
                session, whole, ends_with_newline = _read(reading, path)
            _refuse_another(session, machine, plan, path)
            opened.cells.update(record.cell for record in session.records)
            opened.go_on_behind(whole)
            if not ends_with_newline:
                opened.put(b"\n", sync=True)
        except BaseException:
            opened.close()
            raise
    then, now, remarks = session.machine.software, machine.software, session.remarks
    # Other versions are accepted, since a session of days outlives an update.
    differ = [
        f"{name} {then.get(name, 'none')}, now {now.get(name, 'none')}"
        for name in sorted(then.keys() | now.keys())
        if then.get(name) != now.get(name)
    ]
    if differ:
        remarks = (*remarks, f"It was begun with other software: {'; '.join(differ)}.")
    return replace(session, is_recorded=False, remarks=remarks), opened


def _refuse_another(session: Session, machine: Machine, plan: Plan | None, path: Path) -> None:
    """Raise SessionFileError where machine or plan differ: measurements of two are two sessions."""
    theirs = session.machine
    if (theirs.cpu, theirs.gpu) != (machine.cpu, machine.gpu):
        there, here = (f"{each.gpu or 'no GPU'} with {each.cpu}" for each in (theirs, machine))
        raise SessionFileError(
            f"{path} was measured on {there}, and this computer has {here}; measure into another "
            "folder."
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
