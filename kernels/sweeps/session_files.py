"""Sessions on disk: append-only JSON Lines, a line for each part of a cell that was measured.

See `kernels.sweeps.session_lines` for what a line holds.
"""

from __future__ import annotations

import gzip
import time
from contextlib import suppress
from dataclasses import fields, replace
from pathlib import Path

from kernels.core.errors import SessionFileError
from kernels.core.growing_file import GrowingFile
from kernels.sweeps.cell import Cell
from kernels.sweeps.plan import Plan
from kernels.sweeps.plan_files import KEYS
from kernels.sweeps.record import Machine, Record, Session
from kernels.sweeps.session_lines import header_line, record_line
from kernels.sweeps.session_scan import open_to_read, refusals, scan, why

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
