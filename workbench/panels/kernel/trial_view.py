"""The findings of a trial: the first error, the verdict, what it costs, and the answer itself."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QCheckBox, QProgressBar, QWidget

from workbench.base.plain_text import tip_text
from workbench.base.throttle import Throttle
from workbench.panels.kernel.answer_pair import AnswerPair
from workbench.panels.kernel.facts_card import FactRow, FactsCard
from workbench.widgets.boxes import Flow, UprightArea, VBox
from workbench.widgets.buttons import push_button
from workbench.widgets.tile import words_label

SPACING_PX = 6
PROGRESS_AFTER_MS = 1000  # what is there sooner needs no bar
BY_LINE_TIP = (
    "Show before each line's number how many bytes it loads and stores for each sample that is "
    "computed; its tooltip says of what"
)
STEP_TIP = (
    "Walk through a block line by line, forwards and back: its lanes, variables and shared memory "
    "(Alt+F8). A click on the picture chooses the pixel whose block it is"
)
CODE_TIP = (
    "See the instructions that the text becomes: each line and its instructions point at each "
    "other (Ctrl+F6)"
)
FIND_TIP = "Run it on a small part on the CPU, under checks of bounds, races and barriers"


class TrialView(QWidget):
    """Sentences, buttons, two pictures, and tables of what was built and counted.

    pictures  the part that was tried, and the answer

    Signals:
        find_wanted(): the bug is to be searched for.
        steps_wanted(): a block is to be stepped through.
        code_wanted(): the instructions are to be shown.
        cancel_wanted(): what is under way is to stop.
        line_wanted(line): the user wants to see this line of the source.
        counts_wanted(is_so): the counts are to stand beside the lines, or not.
    """

    find_wanted = Signal()
    steps_wanted = Signal()
    code_wanted = Signal()
    cancel_wanted = Signal()
    line_wanted = Signal(int)
    counts_wanted = Signal(bool)

    def __init__(self) -> None:
        super().__init__()
        self._line = 0
        self._problem = words_label("kernel-problem")
        self._problem.setProperty("objection", True)
        self._go = push_button(
            "kernel-go-to-line", "Go to line", "Put the cursor where it is wrong"
        )
        self._go.clicked.connect(lambda: self.line_wanted.emit(self._line))
        self._status = words_label("kernel-status", 0.95, is_muted=True)
        self._verdict = words_label("kernel-verdict", 1.05)
        self._find = push_button("kernel-find-bug", "Find the bug", FIND_TIP)
        self._find.clicked.connect(self.find_wanted)
        self._through = push_button("kernel-step-through", "Step", STEP_TIP, "Step through")
        self._through.clicked.connect(self.steps_wanted)
        self._instructions = push_button("kernel-show-code", "PTX/SASS", CODE_TIP)
        self._instructions.clicked.connect(self.code_wanted)
        self._cancel = push_button("kernel-cancel", "Cancel", "Stop what is under way")
        self._cancel.clicked.connect(self.cancel_wanted)
        self._bar = QProgressBar()
        self._bar.setObjectName("kernel-progress")
        self._bar.setAccessibleName("Trying the kernel")
        self._bar.setRange(0, 0)  # nobody knows how long a kernel runs
        self._bar.setTextVisible(False)
        self._waiting = Throttle(PROGRESS_AFTER_MS, self._show_bar, self)
        self.pictures = AnswerPair()
        self._build, self._counts = FactsCard("kernel-build"), FactsCard("kernel-count")
        self._by_line = QCheckBox("Beside the lines")
        self._by_line.setObjectName("kernel-counts-by-line")
        self._by_line.setToolTip(tip_text(BY_LINE_TIP))
        self._by_line.toggled.connect(self.counts_wanted)
        self._lay_out()
        self.show_idle()
        self.show_nothing()

    def show_nothing(self) -> None:
        """Show no finding: no text was tried yet."""
        self.show_problem("")
        self.show_verdict("")
        self.show_build(())
        self.show_counts(())
        self.pictures.show_pictures(None, None)
        self.pictures.show_pixel(None)

    def show_under_way(self, sentence: str) -> None:
        """Say what is under way; after a second it has a bar, and can be cancelled."""
        self._status.setText(sentence)
        self._status.show()
        self._waiting.ask()

    def show_idle(self, sentence: str = "") -> None:
        """Say that nothing is under way, and what there is to say besides."""
        self._waiting.stop()
        self._bar.hide()
        self._cancel.hide()
        self._status.setText(sentence)
        self._status.setVisible(bool(sentence))

    def show_problem(self, sentence: str, line: int = 0) -> None:
        """Say what is wrong, and offer to go to its line; empty: nothing is."""
        self._line = line
        self._problem.setText(sentence)
        self._problem.setVisible(bool(sentence))
        self._go.setText(f"Go to line {line}")
        self._go.setVisible(line > 0)

    def show_verdict(self, words: str) -> None:
        """Show whether the answer is right, in words."""
        self._verdict.setText(words)
        self._verdict.setVisible(bool(words))

    def show_build(self, rows: Sequence[FactRow]) -> None:
        """Show what the GPU's compiler made of the text; nothing hides the table."""
        self._build.show_rows(rows)

    def show_counts(self, rows: Sequence[FactRow]) -> None:
        """Show what was counted; nothing hides the table."""
        self._counts.show_rows(rows)

    @property
    def is_by_line(self) -> bool:
        """Return whether the counts are to stand beside the lines."""
        return self._by_line.isChecked()

    def choose_by_line(self, is_so: bool) -> None:
        """Have the counts stand beside the lines, or not."""
        self._by_line.setChecked(is_so)

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802
        super().resizeEvent(event)
        self.pictures.take_room(event.size())

    def _show_bar(self) -> None:
        self._bar.show()
        self._cancel.show()

    def _lay_out(self) -> None:
        buttons = Flow(SPACING_PX)
        for each in (self._find, self._through, self._instructions, self._go, self._cancel):
            buttons.addWidget(each)
        buttons.setContentsMargins(0, 0, 0, 0)
        self._counts.column.add((self._by_line, 0, Qt.AlignmentFlag.AlignLeft))
        inside = QWidget()
        VBox(inside, (0, 4, 0, 0), 6).add(
            *(self._problem, buttons, self._status, self._bar, self._verdict),
            *(self._build, self.pictures, self._counts, 1),
        )
        VBox(self, 0).add(UprightArea(inside))
