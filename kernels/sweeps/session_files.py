"""Sessions on disk: append-only JSON Lines, a line for each part of a cell that was measured.

A process that is killed loses the line it was writing and no other, and a computer without power
what was measured in its last second; who goes on with the file begins behind its last whole line.
See `kernels.sweeps.session_lines` for what a line holds.
"""

from __future__ import annotations

import gzip
import os
import time
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import fields, replace
from io import FileIO
from pathlib import Path
from time import monotonic
from types import TracebackType
from typing import Self

from kernels.core.errors import SessionFileError
from kernels.core.locks import lock
from kernels.sweeps.cell import Cell
from kernels.sweeps.plan import Plan
from kernels.sweeps.plan_files import KEYS
from kernels.sweeps.record import Machine, Record, Session
from kernels.sweeps.session_lines import header_line, record_line
from kernels.sweeps.session_scan import open_to_read, refusals, scan, why

NAME = "session.jsonl"
UNSYNCED_S = 1.0  # a cell's parts come by the hundred a second, and a disk takes its time
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
        file = FileIO(path, "r+")
    try:
        _hold(file, path)
        with open_to_read(path) as reading:
            if isinstance(reading, gzip.GzipFile):
                raise SessionFileError(f"{path} is compressed; unpack it to go on with it.")
            found = scan(reading, path)
        _refuse_another(found.session, machine, plan, path)
        opened = SessionFile(
            file, path, found.whole, (record.cell for record in found.session.records)
        )
        with refusals(path, "written"):
            file.truncate(found.whole)
            if not found.ends_with_newline:
                opened._write(b"\n")
    except BaseException:
        file.close()
        raise
    remarks = (*found.session.remarks, *_other_software(found.session.machine, machine))
    return replace(found.session, is_recorded=False, remarks=remarks), opened


class SessionFile:
    """A session being written.  Made by `create` or `resume`; one process at a time.

    path   of the file
    cells  that it holds already
    """

    def __init__(self, file: FileIO, path: Path, end: int, cells: Iterable[Cell] = ()) -> None:
        self._file, self.path, self._end, self._cells = file, path, end, set(cells)
        self._synced_at = monotonic()

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
            file = FileIO(path, "x")
        made = cls(file, path, 0)
        try:
            _hold(file, path)
            with refusals(path, "written"):
                made._write(header_line(session))
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
        if not self._is_in_its_place():
            raise SessionFileError(
                f"The file {self.path} was deleted or moved while it was being written."
            )
        is_due = record.is_complete or monotonic() - self._synced_at > UNSYNCED_S
        try:
            self._write(record_line(record), sync=is_due)
        except OSError as error:
            with suppress(OSError):
                self._file.truncate(self._end)
            raise SessionFileError(
                f"A measurement could not be written ({why(error)}); the {self.cell_count} before "
                f"it are kept in {self.path}."
            ) from error
        self._cells.add(record.cell)

    @property
    def cell_count(self) -> int:
        """Return how many cells it holds."""
        return len(self._cells)

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

    def _is_in_its_place(self) -> bool:
        """Return whether the file still has its name.

        Where it can be deleted while it is open, one would write into nothing.
        """
        try:
            return os.path.samestat(os.fstat(self._file.fileno()), self.path.stat())
        except OSError:
            return False

    def _write(self, line: bytes, *, sync: bool = True) -> None:
        """Write all of `line` behind the last whole one; sync: down to the disk."""
        left = memoryview(line)
        self._file.seek(self._end)
        while left:
            left = left[self._file.write(left) :]
        if sync:
            os.fsync(self._file.fileno())
            self._synced_at = monotonic()
        self._end += len(line)


def _existing(path: Path) -> Path:
    with refusals(path, "opened"):
        path = session_path(path)
        if not path.exists():
            raise SessionFileError(f"There is no session {path}.")
    return path


def _hold(file: FileIO, path: Path) -> None:
    if not lock(file.fileno()):
        raise SessionFileError(f"Another process is writing to {path}.")


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
            KEYS[each.name]
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
