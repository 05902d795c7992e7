"""The dialog of File ▸ Filter to file…: what is being filtered, into what, and how far it is."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QDialog, QLineEdit, QProgressBar, QWidget

from workbench.base import theme
from workbench.base.plain_text import tip_text
from workbench.batch.stage_words import rows_in_words
from workbench.widgets.boxes import HBox, VBox
from workbench.widgets.buttons import push_button
from workbench.widgets.sentence_label import words_label
from workbench.window.folder.run_buttons import Phase, RunButtons

SIZE = (620, 260)
STEPS = 1000  # of the bar
TIPS = {
    "start": "Filter all of the picture into the file",
    "resume": "Do the rest, from the first row that is not finished",
    "pause": "Stand still after the strip that is under way",
}


class FileDialog(QDialog):
    """A dialog that leaves the window usable beside it; closing it stops nothing.

    buttons  tell what the user wants

    Signals:
        copy_wanted(): the command is to be copied.
    """

    copy_wanted = Signal()

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("file-dialog")
        self.setWindowTitle("Filter to file")
        self._filter = words_label("file-filter", 1.1)
        self._names = words_label("file-names")
        self._note = words_label("file-note", is_muted=True)
        self._bar = QProgressBar()
        self._bar.setObjectName("file-progress")
        self._bar.setAccessibleName("Rows that are finished")
        self._bar.setToolTip("Rows of the picture that are finished, and on the disk")
        self._bar.setRange(0, STEPS)
        self._sentence = words_label("file-sentence")
        self._command = QLineEdit()
        self._command.setObjectName("file-command")
        self._command.setAccessibleName("The same as a command")
        self._command.setReadOnly(True)
        self._command.setFont(theme.fixed_font())
        self.buttons = RunButtons("file", TIPS)
        self.buttons.close_wanted.connect(self.reject)
        self._arrange()
        self.resize(theme.window_size(*SIZE))

    def _arrange(self) -> None:
        copy = push_button("file-copy", "C&opy", "Copy the command that does the same")
        copy.setAutoDefault(False)
        copy.clicked.connect(self.copy_wanted)
        command = HBox(spacing=8)
        command.add((self._command, 1), copy)
        self._sentence.setMinimumHeight(2 * self._sentence.fontMetrics().lineSpacing())
        self._sentence.setAlignment(Qt.AlignmentFlag.AlignTop)
        column = VBox(self, (20, 16, 20, 14), 10)
        column.add(self._filter, self._names, self._note, self._bar, self._sentence, 1)
        column.add(command, self.buttons)

    def show_task(self, words: str, names: str, note: str, command: str) -> None:
        """Show what is done: with which filter, from where to where, and by which command.

        note  on what becomes of negative results; empty: there are none
        """
        self._filter.setText(words)
        self._names.setText(names)
        self._note.setText(note)
        self._note.setVisible(bool(note))
        self._command.setText(command)
        self._command.setCursorPosition(0)
        self._command.setToolTip(tip_text(command))
        self._bar.setValue(0)

    def show_rows(self, rows: int, height: int, left_s: float) -> None:
        """Show how many rows are finished, of how many, and how long the rest takes."""
        self._bar.setValue(STEPS * rows // height)
        self.say(f"{rows_in_words(rows, height, left_s)}.")

    def show_phase(self, phase: Phase, *, can_resume: bool = False) -> None:
        """Offer what can be done now."""
        self.buttons.show_phase(phase, can_start=can_resume, resumes=can_resume)

    def say(self, sentence: str) -> None:
        """Say what is to be said of it all."""
        self._sentence.setText(sentence)

    def bring_forward(self) -> None:
        """Show it, in front of the window."""
        self.setWindowState(self.windowState() & ~Qt.WindowState.WindowMinimized)
        self.show()
        self.raise_()
        self.activateWindow()
