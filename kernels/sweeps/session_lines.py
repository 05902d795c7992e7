"""The lines of a session file: a header, then one record a line, each a JSON object.

    {"format": "Filter Workbench session", "version": 1, "program": …, "started": …, "machine": …,
     "plan": …, "shipped": …}
    {"cell": …, "outcome": …, "at": …}

What was measured keeps six significant digits, since no clock is finer; a cell keeps all, since
it is recognised by them.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, replace
from typing import Any

from kernels.core.errors import SessionFileError
from kernels.core.plain_data import NotPlainError, from_plain, to_plain
from kernels.core.timing import Timing
from kernels.sweeps.cell import Cell
from kernels.sweeps.plan import Plan
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
