"""The buttons of what runs in the background: start, pause or resume, cancel, close."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from workbench.base.plain_text import tip_text
from workbench.widgets.boxes import HBox
from workbench.widgets.buttons import push_button

Phase = Literal["choosing", "running", "paused", "stopping"]
VERBS = {"start": "&Start", "resume": "Res&ume", "pause": "Pa&use"}


class RunButtons(QWidget):
    """A row of three buttons, of which the first has the one verb that makes sense now.

    Signals:
        start_wanted(), pause_wanted(), resume_wanted(), stop_wanted(), close_wanted():
            what the user wants.
    """

    start_wanted = Signal()
    pause_wanted = Signal()
    resume_wanted = Signal()
    stop_wanted = Signal()
    close_wanted = Signal()

    def __init__(self, name: str, tips: Mapping[str, str]) -> None:
        """Make them for choosing.

        name  before those of the buttons: "folder" makes "folder-start"
        tips  for "start", "resume" and "pause"
        """
        super().__init__()
        self.phase: Phase = "choosing"
        self._tips = tips
        self._start = push_button(f"{name}-start", VERBS["start"], tips["start"])
        self._stop = push_button(f"{name}-stop", "Canc&el", "Stop; it can be resumed")
        close = push_button(f"{name}-close", "&Close", "Close this; what runs continues")
        self._start.setDefault(True)
        for each in (self._stop, close):
            each.setAutoDefault(False)
        self._start.clicked.connect(self._act)
        self._stop.clicked.connect(self.stop_wanted)
        close.clicked.connect(self.close_wanted)
        HBox(self, 0, 8).add(1, self._start, self._stop, close)

    def show_phase(self, phase: Phase, *, can_start: bool, resumes: bool) -> None:
        """Offer what can be done now.

        can_start  whether there is something to do, before it runs
        resumes    whether that was begun before
        """
        self.phase = phase
        is_choosing = phase == "choosing"
        first = "resume" if resumes else "start"
        verb = {"choosing": first, "paused": "resume"}.get(phase, "pause")
        self._start.setText(VERBS[verb])
        self._start.setToolTip(tip_text(self._tips[verb]))
        self._start.setEnabled(can_start if is_choosing else phase != "stopping")
        self._stop.setEnabled(phase in ("running", "paused"))

    def _act(self) -> None:
        wanted = {"choosing": self.start_wanted, "paused": self.resume_wanted}
        wanted.get(self.phase, self.pause_wanted).emit()
