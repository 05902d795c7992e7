"""PTX or SASS beside the source: the cursor's line and its instructions point at each other."""

from __future__ import annotations

from typing import cast

from PySide6.QtCore import QSignalBlocker, Signal, Slot
from PySide6.QtWidgets import QWidget

from kernels.cuda.listings import Kind, numbered
from workbench.base.plain_text import tip_text
from workbench.panels.kernel.code_listing import CodeListing
from workbench.panels.kernel.code_words import (
    caption_words,
    changes_words,
    line_words,
    row_words,
)
from workbench.session.kernel_code import Against, KernelCode
from workbench.widgets.boxes import HBox, VBox
from workbench.widgets.buttons import check_segment, make_button, make_segments
from workbench.widgets.drop_down import DropDown
from workbench.widgets.flow_layout import Flow
from workbench.widgets.sentence_label import words_label

SPACING_PX = 4
KINDS: dict[str, Kind] = {"kernel-ptx": "ptx", "kernel-sass": "sass"}
AGAINST: tuple[tuple[str, Against], ...] = (
    ("Against last save", "saved"),
    ("Against its rung", "rung"),
    ("Not compared", "nothing"),
)
AGAINST_TIP = (
    "What the instructions are compared with: rows with + are new, those with − are gone and have "
    "the line that they had there. Other registers and labels are no difference"
)
NOTHING = (
    "Nothing is compiled yet: that takes a picture, and of a file from elsewhere a click on Run it."
)
OUTDATED = "Below is the last text that compiled."


class MachineCodeView(QWidget):
    """Buttons for what is shown, sentences on it, and the instructions.

    Signals:
        wanted(): another kind, or another comparison, is chosen.
        line_picked(line): an instruction of this line of the source, from 1, was pointed at.
        left(): the user is done with it.
    """

    wanted = Signal()
    line_picked = Signal(int)
    left = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("kernel-machine-code")
        self._code: KernelCode | None = None
        self._line = 0
        self._rows: dict[int, list[int]] = {}  # of each line of the source
        self._kinds = make_segments(
            (
                ("kernel-ptx", "PTX", "The compiler's intermediate code, for any GPU"),
                ("kernel-sass", "SASS", "The instructions of the GPU itself"),
            ),
            lambda _: self.wanted.emit(),
        )
        check_segment(self._kinds, "kernel-ptx")
        self._against = DropDown("kernel-code-against", "Compare with")
        self._against.setToolTip(tip_text(AGAINST_TIP))
        self._against.setMinimumContentsLength(max(len(text) for text, _ in AGAINST))
        for text, key in AGAINST:
            self._against.addItem(text, key)
        self._against.activated.connect(lambda _: self.wanted.emit())
        self._close = make_button("kernel-code-close", "Close", "Back to the answer (Ctrl+F6)")
        self._close.clicked.connect(self.left)
        self._caption = words_label("kernel-code-caption", 0.9, is_muted=True)
        self._problem = words_label("kernel-code-problem")
        self._problem.setProperty("objection", True)
        self._changes = words_label("kernel-code-changes")
        self._of_line = words_label("kernel-code-line", 0.95)
        self._listing = CodeListing()
        self._listing.row_picked.connect(self._pick)
        self._lay_out()
        self.show_nothing()

    @property
    def kind(self) -> Kind:
        """Return which instructions are to be shown."""
        return next(kind for name, kind in KINDS.items() if self._kinds[name].isChecked())

    @property
    def against(self) -> Against:
        """Return what they are to be compared with."""
        return cast(Against, self._against.currentData())

    def choose(self, kind: object, against: object) -> None:
        """Choose both, as they were remembered; what makes no sense changes nothing."""
        for name, known in KINDS.items():
            if known == kind:
                check_segment(self._kinds, name)
        with QSignalBlocker(self._against):
            self._against.setCurrentIndex(max(self._against.findData(against), 0))

    def show_nothing(self) -> None:
        """Show that nothing is compiled yet."""
        self._code = None
        self._caption.setText(NOTHING)
        for label in (self._problem, self._changes, self._of_line):
            label.hide()
        self._listing.show_rows((), ())

    def show_under_way(self, sentence: str) -> None:
        """Say what is under way; what is shown stays until it is over."""
        self._caption.setText(sentence)

    def show_problem(self, sentence: str) -> None:
        """Say why there are no instructions of the text."""
        self._caption.setText(OUTDATED if self._code is not None else "")
        self._problem.setText(sentence)
        self._problem.setVisible(bool(sentence))

    def show_code(self, code: KernelCode) -> None:
        """Show instructions, and what they differ in."""
        self._code = code
        self._problem.hide()
        self._caption.setText(caption_words(code))
        words = code.remark
        if code.changes is not None:
            words = changes_words(code.changes, code.other)
        self._changes.setText(words)
        self._changes.setVisible(bool(words))
        is_compared = code.changes is not None
        self._listing.show_rows(
            [
                f"{mark} {numbered(row, code.rung.file)}"
                if is_compared
                else numbered(row, code.rung.file)
                for mark, row in code.rows
            ],
            [mark for mark, _ in code.rows],
        )
        self._rows = _rows_by_line(code)
        self.show_line(self._line)

    def show_line(self, line: int) -> None:
        """Set off the instructions of a line of the source, from 1."""
        self._line = line
        if self._code is None:
            return
        rows = self._rows.get(line, [])
        self._listing.choose_rows(rows, is_followed=not self._listing.hasFocus())
        self._say(line_words((self._code.rows[at][1] for at in rows), line))

    def _say(self, words: str) -> None:
        self._of_line.setText(words)
        self._of_line.show()

    @Slot(int)
    def _pick(self, at: int) -> None:
        """Point at the line that an instruction comes from; what is gone comes from none."""
        if self._code is None or at >= len(self._code.rows):
            return
        mark, row = self._code.rows[at]
        file = self._code.rung.file
        line = 0 if mark == "−" else row.line_in(file)
        if line:
            self.line_picked.emit(line)
        if words := row_words(row, file):
            self._say(" ".join(filter(None, (words, self._of_line.text() if line else ""))))

    def _lay_out(self) -> None:
        kinds = QWidget()
        HBox(kinds, 0, 0).add(*self._kinds.values())
        flow = Flow(SPACING_PX)
        for part in (kinds, self._against, self._close):
            flow.addWidget(part)
        flow.setContentsMargins(0, 0, 0, 0)
        column = VBox(self, (0, 4, 0, 0), 6)
        column.addLayout(flow)
        column.add(
            *(self._caption, self._problem, self._changes, self._of_line),
            (self._listing, 1),
        )


def _rows_by_line(code: KernelCode) -> dict[int, list[int]]:
    found: dict[int, list[int]] = {}
    for at, (mark, row) in enumerate(code.rows):
        for line in row.lines_in(code.rung.file) if mark != "−" else ():
            found.setdefault(line, []).append(at)
    return found
