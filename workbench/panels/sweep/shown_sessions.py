"""Sessions on the screen: the one measured here, and those from files."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtGui import QIcon
from PySide6.QtWidgets import QFrame, QScrollArea, QWidget

from kernels.sweeps.estimate import place_in
from kernels.sweeps.plan import Cell
from kernels.sweeps.record import Record, Session
from kernels.sweeps.session_files import read_session
from workbench.base import theme
from workbench.base.background import Background
from workbench.base.paths import asset
from workbench.base.plain_text import tip_text
from workbench.session.session_store import can_grow
from workbench.widgets.boxes import HBox, VBox
from workbench.widgets.buttons import tab_button
from workbench.widgets.tile import ElidedLabel


@dataclass(frozen=True, slots=True)
class ShownSession:
    """A session with its file, and a number of its own."""

    number: int
    session: Session
    path: Path | None

    @property
    def missing(self) -> int:
        """Number of cells in its plan without all their rounds."""
        done = {each.cell for each in self.session.records if each.is_complete}
        return len(set(self._cells) - done)

    @property
    def place(self) -> str:
        """How far it is, such as "7 of 15"."""
        return place_in(self._cells, self.session.records, self.session.plan.sampling)

    @property
    def _cells(self) -> tuple[Cell, ...]:
        from workbench.charts.data.points import planned  # a start reads no session

        return planned(self.session)


class Sessions(QObject):
    """The sessions that are shown; files are read in the background."""

    changed = Signal()  # what is shown is another, or more
    failed = Signal(str)  # (sentence): a file is not shown, and why
    remarked = Signal(str)  # (sentence): a remark on one that is

    def __init__(self, reading: Background, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._reading = reading
        self._shown: list[ShownSession] = []
        self._live: ShownSession | None = None  # as it began
        self._records: dict[Cell, Record] = {}  # of the live session, the newest of each cell
        self._last_number = 0

    @property
    def shown(self) -> tuple[ShownSession, ...]:
        live = self.live
        return (*([live] if live else []), *self._shown)

    @property
    def measured(self) -> int:
        own = self._live is not None and bool(self._records)
        return own + sum(bool(each.session.records) for each in self._shown)

    @property
    def is_empty(self) -> bool:
        return self._live is None and not self._shown

    @property
    def live(self) -> ShownSession | None:
        """The session measured last, or now, in this window; None: there is none."""
        if self._live is None:
            return None
        session = replace(self._live.session, records=tuple(self._records.values()))
        return replace(self._live, session=session)

    def sessions(self) -> tuple[Session, ...]:
        return tuple(each.session for each in self.shown)

    # -- measured here

    def begin(self, session: Session, path: Path | None) -> None:
        """Show `session` as the live one; the one before stays if it has no file."""
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
        self.changed.emit()

    def lose_file(self) -> None:
        """Forget the live session's file, which cannot be written any more."""
        if self._live is not None:
            self._live = replace(self._live, path=None)
            self.changed.emit()

    # -- read from files

    def open(self, path: Path) -> None:
        """Show the session in `path`, a file or a folder; once only."""
        if any(each.path == path for each in self.shown):
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
        """Remove this one; its file stays."""
        if self._live is not None and self._live.number == number:
            self._live, self._records = None, {}
        self._shown = [each for each in self._shown if each.number != number]
        self.changed.emit()

    def _new(self, session: Session, path: Path | None) -> ShownSession:
        self._last_number += 1
        return ShownSession(self._last_number, session, path)


CLOSE_PX, ROW_PX, GAP_PX = 24, 36, 2
ROWS_SEEN = 3.6  # a piece of a row shows that there are more


class SessionList(QScrollArea):
    """The list of sessions, hidden while there is only a complete one measured here."""

    def __init__(self, resume: Callable[[Path], object], close: Callable[[int], object]) -> None:
        """Make the list.

        resume  called with the path of a session, to measure the rest of it
        close   called with the number of a session, to remove it
        """
        super().__init__()
        self.setObjectName("session-list")
        self._resume, self._close = resume, close
        self._keys: list[tuple[int, int, bool]] = []
        self._rows: list[QWidget] = []
        inside = QWidget()
        self._column = VBox(inside, 0, GAP_PX)
        self.setWidget(inside)
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.hide()

    def show_sessions(
        self, shown: Sequence[ShownSession], here: Sequence[bool], *, is_running: bool
    ) -> None:
        """List these sessions.

        here        which of them are of this machine: no others can be resumed
        is_running  the first is being measured: it cannot be closed, and none can be resumed
        """
        rests = [
            each.missing if is_here and not is_running and can_grow(each.path) else 0
            for each, is_here in zip(shown, here, strict=True)
        ]
        lines = [
            (each, rest, is_running and number == 0)
            for number, (each, rest) in enumerate(zip(shown, rests, strict=True))
        ]
        keys = [(each.number, rest, is_now) for each, rest, is_now in lines]
        if keys != self._keys:
            self._keys = keys
            for row in self._rows:
                self._column.removeWidget(row)
                row.deleteLater()
            self._rows = [self._row(*line) for line in lines]
            self._column.add(*self._rows)
            seen = min(len(lines), ROWS_SEEN)
            self.setFixedHeight(int(seen * (theme.in_letters(ROW_PX) + GAP_PX)))
        has_more = any(rests) or any(each.session.is_recorded for each in shown)
        self.setVisible(len(shown) > 1 or has_more)

    def _row(self, shown: ShownSession, rest: int, is_measured_now: bool) -> QWidget:
        """Make a row of words and buttons; `rest`: number of missing cells."""
        session, number, path = shown.session, shown.number, shown.path
        began = f"{datetime.fromtimestamp(session.started):%Y-%m-%d %H:%M}"
        name = f"{session.machine.name}, {session.origin}" if session.origin else "measured here"
        title, where = session.plan.title, f"{name} · {began}"
        row = QWidget()
        row.setFixedHeight(theme.in_letters(ROW_PX))
        row.setToolTip(tip_text(_tip_of(shown, rest)))
        layout, words = HBox(row, 0, 4), VBox(spacing=0)
        for text, scale in ((title, 0.9), (where, 0.85)):
            label = ElidedLabel(scale)
            label.show_text(text)
            label.setAccessibleName(text)
            words.addWidget(label)
        layout.addLayout(words, 1)
        if rest and path is not None:
            tip, spoken = f"Measure the rest of {rest:,} cells, into the same file", "Resume"
            button = tab_button(f"resume-{number}", spoken, tip, f"{spoken} {title}, {where}")
            button.setProperty("chip", True)
            button.clicked.connect(lambda: self._resume(path))
            layout.addWidget(button)
        if not is_measured_now:
            tip = "Remove it from here; its file stays"
            close = tab_button(f"close-{number}", "", tip, f"Close {title}, {where}", "flat")
            close.setFixedSize(CLOSE_PX, CLOSE_PX)
            close.setIcon(QIcon(str(asset("icons/close.svg"))))
            close.clicked.connect(lambda: self._close(number))
            layout.addWidget(close)
        return row


def _tip_of(shown: ShownSession, rest: int) -> str:
    session, machine = shown.session, shown.session.machine
    facts = (
        f"{session.plan.title}: {len(session.records)} measurements",
        f"{rest} are missing or were left before their last round" if rest else "",
        f"on {machine.name} with {machine.cpu}" if machine.gpu else "",
        str(shown.path or "kept in no file"),
        *session.remarks,
    )
    return "\n".join(filter(None, facts))
