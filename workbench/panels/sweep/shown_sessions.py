"""The sessions that are shown: the one measured here, and those read from files beside it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from kernels.sweeps.cell import Cell
from kernels.sweeps.record import Record, Session
from kernels.sweeps.session_files import read_session
from workbench.base.background import Background


@dataclass(frozen=True, slots=True)
class ShownSession:
    """A session, where it is kept, and a number that is its own while it is shown."""

    number: int
    session: Session
    path: Path | None

    @property
    def missing(self) -> int:
        """Return how many cells of its plan were not measured, or not in all rounds."""
        from workbench.charts.data.points import planned  # a start reads no session

        done = {each.cell for each in self.session.records if each.is_complete}
        return len(set(planned(self.session)) - done)


class Sessions(QObject):
    """The sessions that are shown; files are read in the background.

    Signals:
        changed(): what is shown is another, or more.
        failed(sentence): why a file is not shown.
        remarked(sentence): what has to be known of one that is.
    """

    changed = Signal()
    failed = Signal(str)
    remarked = Signal(str)

    def __init__(self, reading: Background, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._reading = reading
        self._shown: list[ShownSession] = []
        self._live: ShownSession | None = None
        self._records: dict[Cell, Record] = {}  # of the live session, the newest of each cell
        self._is_behind = False  # `_live` lacks some of `_records`
        self._last_number = 0

    @property
    def shown(self) -> tuple[ShownSession, ...]:
        """Return the sessions that are shown, the live one first."""
        self._catch_up()
        return (*([self._live] if self._live else []), *self._shown)

    @property
    def measured(self) -> int:
        """Return how many of the sessions that are shown have measurements."""
        own = self._live is not None and bool(self._records)
        return own + sum(bool(each.session.records) for each in self._shown)

    @property
    def is_empty(self) -> bool:
        """Return whether no session is shown."""
        return self._live is None and not self._shown

    @property
    def live(self) -> ShownSession | None:
        """Return what was measured last in this window, or is being measured; None: nothing."""
        self._catch_up()
        return self._live

    def sessions(self) -> tuple[Session, ...]:
        """Return the sessions alone, for a chart or a report."""
        return tuple(each.session for each in self.shown)

    # -- measured here

    def begin(self, session: Session, path: Path | None) -> None:
        """Show `session`, which is being measured from now on, as the live one.

        The one before is in its file; without a file it stays until somebody closes it.
        """
        before = self.live
        if before is not None and before.path is None and before.session.records:
            self._shown.insert(0, before)
        self._shown = [each for each in self._shown if path is None or each.path != path]
        self._live = self._new(replace(session, is_recorded=False), path)
        self._records = {record.cell: record for record in session.records}
        self.changed.emit()

    def add(self, record: Record) -> None:
        """Add a record to the live session, or replace that of the same cell."""
        self._records[record.cell] = record
        self._is_behind = True
        self.changed.emit()

    def lose_file(self) -> None:
        """Forget the live session's file, which takes no more: now it is kept here alone."""
        if (live := self.live) is not None:
            self._live = replace(live, path=None)
            self.changed.emit()

    def _catch_up(self) -> None:
        """Add new records to the live session: a tuple for each look, not for each record."""
        live = self._live
        if live is not None and self._is_behind:
            session = replace(live.session, records=tuple(self._records.values()))
            self._live = replace(live, session=session)
        self._is_behind = False

    # -- read from files

    def open(self, path: Path) -> None:
        """Show the session in `path`, a file or a folder; once only."""
        known = next((each for each in self.shown if each.path == path), None)
        if known is not None:
            self.changed.emit()
            return

        def show(session: Session) -> None:
            if not any(each.path == path for each in self._shown):
                self._shown.append(self._new(replace(session, is_recorded=True), path))
                self.changed.emit()
                if session.remarks:
                    self.remarked.emit(f"{path.name}: {' '.join(session.remarks)}")

        self._reading.run(
            partial(read_session, path), show, lambda error: self.failed.emit(str(error))
        )

    def close(self, number: int) -> None:
        """Show this one no longer; its file stays."""
        if self._live is not None and self._live.number == number:
            self._live, self._records = None, {}
        self._shown = [each for each in self._shown if each.number != number]
        self.changed.emit()

    def _new(self, session: Session, path: Path | None) -> ShownSession:
        self._last_number += 1
        return ShownSession(self._last_number, session, path)
