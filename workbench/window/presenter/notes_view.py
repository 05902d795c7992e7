"""The speaker's notes: beneath the picture, or in a small window of their own."""

from __future__ import annotations

from typing import Literal

from PySide6.QtCore import Qt, QTime, QTimer
from PySide6.QtGui import QFont
from PySide6.QtWidgets import QWidget

from workbench.base import theme
from workbench.base.plain_text import Label
from workbench.widgets.boxes import UprightArea, VBox

NotesPlace = Literal["off", "beneath", "window"]
PLACES: tuple[NotesPlace, ...] = ("off", "beneath", "window")
NONE = "No note for this step."
SIZE_PX = (620, 420)
FACTOR = 1.5  # of the letters in the window


class NotesWindow(QWidget):
    """A window for the speaker's own screen: the note, what comes next, and the time gone by."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent, Qt.WindowType.Window)
        self.setObjectName("stage-notes-window")
        self.setWindowTitle("Speaker's notes")
        self.resize(theme.window_size(*SIZE_PX))
        self._began = QTime.currentTime()
        self._clock, self._note, self._next = Label(), Label(), Label()
        for label, name in (
            (self._clock, "notes-clock"),
            (self._note, "notes-text"),
            (self._next, "notes-next"),
        ):
            label.setObjectName(name)
            label.setWordWrap(True)
            font = QFont(label.font())
            font.setPointSizeF(font.pointSizeF() * FACTOR)
            label.setFont(font)
        self._note.setAlignment(Qt.AlignmentFlag.AlignTop)
        self._note.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._next.setProperty("muted", True)
        column = VBox(self, (16, 12, 16, 12))
        column.add(self._clock, (UprightArea(self._note), 1), self._next)
        ticking = QTimer(self, interval=1000)
        ticking.timeout.connect(self._tick)
        ticking.start()
        self._count = ""

    def show_note(self, note: str, count: str, following: str) -> None:
        """Show a step's note, its number as "3 of 20", and the name of the next one."""
        self._note.setText(note or NONE)
        self._next.setText(f"Next: {following}" if following else "This is the last step.")
        self._count = count
        self._tick()

    def _tick(self) -> None:
        gone = self._began.secsTo(QTime.currentTime())
        self._clock.setText(f"{self._count}   ·   {gone // 60}:{gone % 60:02}")
