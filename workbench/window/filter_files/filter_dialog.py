"""Dialog "Filter files": form, names, progress, failures and the buttons of a run."""

from __future__ import annotations

from typing import Literal

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QDialog, QLineEdit, QWidget

from workbench.base import theme
from workbench.base.plain_text import tip_text
from workbench.widgets.boxes import HBox, VBox
from workbench.widgets.buttons import push_button
from workbench.widgets.tile import words_label
from workbench.window.filter_files.filter_choice import FilterPlan
from workbench.window.filter_files.filter_form import FilterForm
from workbench.window.filter_files.filter_pages import FilterPages

SIZE = (760, 640)
Phase = Literal["choosing", "running", "paused", "stopping"]
VERBS = {"start": "&Start", "resume": "Res&ume", "pause": "Pa&use"}
TIPS = {
    "start": "Filter all of it",
    "resume": "Do the rest; what failed is tried again",
    "pause": "Begin nothing else until it is resumed",
}


class FilterDialog(QDialog):
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
        self.setWindowTitle("Filter files")
        self._plan: FilterPlan | None = None
        self._filter = words_label("folder-filter", 1.1)
        self._filter.setToolTip("As it is set in the window; change it there")
        self._note = words_label("folder-note", is_muted=True)
        self.form, self.pages = FilterForm(), FilterPages()
        self._sentence = words_label("folder-sentence")
        self._command = QLineEdit()
        self._make_command()
        self._buttons = _RunButtons()
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
        """State of the run."""
        return self._buttons.phase

    def show_filter(self, words: str, note: str) -> None:
        """Show the filter of all pictures, and a note on negative results."""
        self._filter.setText(words)
        self._note.setText(note)
        self._note.setVisible(bool(note))

    def show_command(self, text: str) -> None:
        """Show the equivalent command."""
        self._command.setText(text)
        self._command.setCursorPosition(0)
        self._command.setToolTip(tip_text(text))

    def show_plan(self, plan: FilterPlan | None, sentence: str = "") -> None:
        """Show the files of a plan.

        sentence  in place of the plan's words, such as why there is no plan
        """
        self._plan = plan
        self.pages.show_plan(plan)
        if plan is not None and plan.known is not None:
            self.pages.show_failures(plan.failed)
        self.say(sentence if sentence or plan is None else plan_words(plan))
        self.show_phase(self.phase)

    def show_phase(self, phase: Phase) -> None:
        """Enable the form and the buttons that make sense now."""
        self.form.setEnabled(phase == "choosing")
        resumes = self._plan is not None and self._plan.known is not None
        self._buttons.show_phase(phase, can_start=self._plan is not None, resumes=resumes)

    def say(self, sentence: str) -> None:
        """Show a sentence on the whole run."""
        self._sentence.setText(sentence)

    def bring_forward(self) -> None:
        """Show the dialog in front of the window."""
        self.setWindowState(self.windowState() & ~Qt.WindowState.WindowMinimized)
        self.show()
        self.raise_()
        self.activateWindow()


def plan_words(plan: FilterPlan) -> str:
    """Format the number of pictures, and how many a stopped run has finished."""
    words = f"{plan.count:,} picture{'' if plan.count == 1 else 's'}."
    if plan.is_file and plan.known is not None:
        words = "A run that was stopped has finished some rows."
    elif plan.known is not None:
        words = f"{words} A run that was stopped is done with {plan.known:,} of them."
    return " ".join((words, *plan.warnings))


class _RunButtons(QWidget):
    """Start, pause or resume; cancel; close."""

    start_wanted = Signal()
    pause_wanted = Signal()
    resume_wanted = Signal()
    stop_wanted = Signal()
    close_wanted = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.phase: Phase = "choosing"
        self._start = push_button("folder-start", VERBS["start"], TIPS["start"])
        self._stop = push_button("folder-stop", "Canc&el", "Stop; it can be resumed")
        close = push_button("folder-close", "&Close", "Close this; what runs continues")
        self._start.setDefault(True)
        for each in (self._stop, close):
            each.setAutoDefault(False)
        self._start.clicked.connect(self._act)
        self._stop.clicked.connect(self.stop_wanted)
        close.clicked.connect(self.close_wanted)
        HBox(self, 0, 8).add(1, self._start, self._stop, close)

    def show_phase(self, phase: Phase, *, can_start: bool, resumes: bool) -> None:
        """Enable the buttons of a phase.

        can_start  there is a plan
        resumes    it was begun before
        """
        self.phase = phase
        is_choosing = phase == "choosing"
        first = "resume" if resumes else "start"
        verb = {"choosing": first, "paused": "resume"}.get(phase, "pause")
        self._start.setText(VERBS[verb])
        self._start.setToolTip(tip_text(TIPS[verb]))
        self._start.setEnabled(can_start if is_choosing else phase != "stopping")
        self._stop.setEnabled(phase in ("running", "paused"))

    def _act(self) -> None:
        wanted = {"choosing": self.start_wanted, "paused": self.resume_wanted}
        wanted.get(self.phase, self.pause_wanted).emit()
