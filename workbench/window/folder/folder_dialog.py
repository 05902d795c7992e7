"""The dialog of File ▸ Filter a folder…: it shows what will be done, and what is being done."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QDialog, QLineEdit, QWidget

from workbench.base import theme
from workbench.base.plain_text import tip_text
from workbench.widgets.boxes import HBox, VBox
from workbench.widgets.buttons import push_button
from workbench.widgets.sentence_label import words_label
from workbench.window.folder.batch_pages import BatchPages
from workbench.window.folder.folder_choice import FolderPlan
from workbench.window.folder.folder_form import FolderForm
from workbench.window.folder.run_buttons import Phase, RunButtons

SIZE = (760, 640)
TIPS = {
    "start": "Filter all of these pictures",
    "resume": "Do the rest; what failed is tried again",
    "pause": "Begin no other picture until it is resumed",
}


class FolderDialog(QDialog):
    """A dialog that leaves the window usable beside it; closing it stops nothing.

    form, pages  the choices, and what comes of them

    Signals:
        start_wanted(), pause_wanted(), resume_wanted(), stop_wanted(), copy_wanted():
            what the user wants.
    """

    start_wanted = Signal()
    pause_wanted = Signal()
    resume_wanted = Signal()
    stop_wanted = Signal()
    copy_wanted = Signal()

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("folder-dialog")
        self.setWindowTitle("Filter a folder")
        self._plan: FolderPlan | None = None
        self._filter = words_label("folder-filter", 1.1)
        self._filter.setToolTip("As it is set in the window; change it there")
        self._note = words_label("folder-note", is_muted=True)
        self.form, self.pages = FolderForm(), BatchPages()
        self._sentence = words_label("folder-sentence")
        self._command = QLineEdit()
        self._make_command()
        self._buttons = RunButtons("folder", TIPS)
        self._buttons.start_wanted.connect(self.start_wanted)
        self._buttons.pause_wanted.connect(self.pause_wanted)
        self._buttons.resume_wanted.connect(self.resume_wanted)
        self._buttons.stop_wanted.connect(self.stop_wanted)
        self._buttons.close_wanted.connect(self.reject)
        self._arrange()
        self.resize(theme.window_size(*SIZE))
        self.show_phase("choosing")

    def _make_command(self) -> None:
        self._command.setObjectName("folder-command")
        self._command.setAccessibleName("The same as a command")
        self._command.setReadOnly(True)
        self._command.setFont(theme.fixed_font())

    def _arrange(self) -> None:
        copy = push_button("folder-copy", "C&opy", "Copy the command that does the same")
        copy.setAutoDefault(False)
        copy.clicked.connect(self.copy_wanted)
        command = HBox(spacing=8)
        command.add((self._command, 1), copy)
        self._sentence.setMinimumHeight(2 * self._sentence.fontMetrics().lineSpacing())
        self._sentence.setAlignment(Qt.AlignmentFlag.AlignTop)
        column = VBox(self, (20, 16, 20, 14), 10)
        column.add(self._filter, self._note, self.form, (self.pages, 1), command)
        column.add(self._sentence, self._buttons)

    @property
    def phase(self) -> Phase:
        """Return what it is doing."""
        return self._buttons.phase

    def show_filter(self, words: str, note: str) -> None:
        """Show what every picture will be filtered with, and what becomes of it in files."""
        self._filter.setText(words)
        self._note.setText(note)
        self._note.setVisible(bool(note))

    def show_command(self, text: str) -> None:
        """Show the command that does the same."""
        self._command.setText(text)
        self._command.setCursorPosition(0)
        self._command.setToolTip(tip_text(text))

    def show_plan(self, plan: FolderPlan | None, sentence: str = "") -> None:
        """Show what would be done.

        sentence  why nothing can be, or what else is to be said in place of the plan's words
        """
        self._plan = plan
        self.pages.show_plan(plan)
        if plan is not None and plan.known is not None:
            self.pages.show_failures(plan.failed)
        self.say(sentence if sentence or plan is None else plan_words(plan))
        self.show_phase(self.phase)

    def show_phase(self, phase: Phase) -> None:
        """Offer what can be done now, each by one verb."""
        self.form.setEnabled(phase == "choosing")
        resumes = self._plan is not None and self._plan.known is not None
        self._buttons.show_phase(phase, can_start=self._plan is not None, resumes=resumes)

    def say(self, sentence: str) -> None:
        """Say what is to be said of it all."""
        self._sentence.setText(sentence)

    def bring_forward(self) -> None:
        """Show it, in front of the window."""
        self.setWindowState(self.windowState() & ~Qt.WindowState.WindowMinimized)
        self.show()
        self.raise_()
        self.activateWindow()


def plan_words(plan: FolderPlan) -> str:
    """Return how many pictures there are, and what the last run has left."""
    words = f"{plan.count:,} picture{'' if plan.count == 1 else 's'}."
    if plan.known is not None:
        words = f"{words} A run that was stopped is done with {plan.known:,} of them."
    return " ".join((words, *plan.warnings))
