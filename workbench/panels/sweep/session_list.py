"""The list of shown sessions, a line for each: resume one, or close it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from functools import partial

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QIcon
from PySide6.QtWidgets import QFrame, QScrollArea, QWidget

from workbench.base import theme
from workbench.base.assets_path import asset
from workbench.base.plain_text import tip_text
from workbench.panels.sweep.shown_sessions import ShownSession
from workbench.session.session_store import can_grow
from workbench.widgets.boxes import HBox, VBox
from workbench.widgets.buttons import tab_button
from workbench.widgets.tile import ElidedLabel

CLOSE_PX, ROW_PX, GAP_PX = 24, 36, 2
ROWS_SEEN = 3.6  # a piece of a row shows that there are more


class SessionList(QScrollArea):
    """The list of sessions, hidden while there is only a complete one measured here.

    Signals:
        resume_wanted(path): the rest of this one is to be measured.
        close_wanted(number): this one is to be shown no longer.
    """

    resume_wanted = Signal(object)
    close_wanted = Signal(int)

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("session-list")
        self._known: list[tuple[int, int, bool]] = []
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
        lines = [
            _SessionLine(
                each,
                is_measured_now=is_running and number == 0,
                can_resume=is_here and not is_running,
            )
            for number, (each, is_here) in enumerate(zip(shown, here, strict=True))
        ]
        if [each.key for each in lines] != self._known:
            self._known = [each.key for each in lines]
            for row in self._rows:
                self._column.removeWidget(row)
                row.deleteLater()
            self._rows = [self._row(line) for line in lines]
            self._column.add(*self._rows)
            seen = min(len(lines), ROWS_SEEN)
            self.setFixedHeight(int(seen * (theme.in_letters(ROW_PX) + GAP_PX)))
        is_of_interest = len(lines) > 1 or any(not each.is_live or each.rest for each in lines)
        self.setVisible(is_of_interest)

    def _row(self, line: _SessionLine) -> QWidget:
        row = QWidget()
        row.setFixedHeight(theme.in_letters(ROW_PX))
        row.setToolTip(tip_text(line.tip))
        layout = HBox(row, 0, 4)
        layout.addLayout(_words(line), 1)
        if line.rest and line.path is not None:
            tip = f"Measure the rest of {line.rest:,} cells, into the same file"
            button = tab_button(f"resume-{line.number}", "Resume", tip, f"Resume {line.text}")
            button.setProperty("chip", True)
            button.clicked.connect(partial(self.resume_wanted.emit, line.path))
            layout.addWidget(button)
        if not line.is_measured_now:
            tip = "Show it no longer; its file stays"
            close = tab_button(f"close-{line.number}", "", tip, f"Close {line.text}")
            close.setProperty("flat", True)
            close.setFixedSize(CLOSE_PX, CLOSE_PX)
            close.setIcon(QIcon(str(asset("icons/close.svg"))))
            close.clicked.connect(partial(self.close_wanted.emit, line.number))
            layout.addWidget(close)
        return row


def _words(line: _SessionLine) -> VBox:
    """Lay out what was measured, and below it where and when, each on a line of its own."""
    both = VBox(spacing=0)
    for text, scale in ((line.title, 0.9), (line.where, 0.85)):
        label = ElidedLabel(scale)
        label.show_text(text)
        label.setAccessibleName(text)
        both.addWidget(label)
    return both


class _SessionLine:
    """The words and buttons of one session's line."""

    def __init__(self, shown: ShownSession, *, is_measured_now: bool, can_resume: bool) -> None:
        session = shown.session
        self.number, self.path, self.is_measured_now = shown.number, shown.path, is_measured_now
        self.is_live = not session.is_recorded
        self.rest = shown.missing if can_resume and can_grow(shown.path) else 0
        began = datetime.fromtimestamp(session.started)
        name = f"{session.machine.name}, {session.origin}" if session.origin else "measured here"
        self.title, self.where = session.plan.title, f"{name} · {began:%Y-%m-%d %H:%M}"
        self.text = f"{self.title}, {self.where}"
        facts = (
            f"{len(session.records)} measurements, begun on {began:%Y-%m-%d at %H:%M}",
            f"{self.rest} are missing or were left before their last round" if self.rest else "",
            f"on {session.machine.name} with {session.machine.cpu}" if session.machine.gpu else "",
            str(shown.path or "kept in no file"),
            *session.remarks,
        )
        self.tip = "\n".join([session.plan.title, *(fact for fact in facts if fact)])

    @property
    def key(self) -> tuple[int, int, bool]:
        """Return all that the look of the session's row depends on."""
        return self.number, self.rest, self.is_measured_now
