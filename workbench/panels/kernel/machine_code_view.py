"""PTX or SASS beside the source: the cursor's line and its instructions point at each other."""

from __future__ import annotations

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QWidget

from kernels.cuda.listings import Kind, numbered
from workbench.panels.kernel.code_listing import CodeListing
from workbench.panels.kernel.code_words import caption_words, line_words, row_words
from workbench.session.kernel_code import KernelCode
from workbench.widgets.boxes import Flow, HBox, VBox
from workbench.widgets.buttons import check_segment, make_button, make_segments
from workbench.widgets.tile import words_label

SPACING_PX = 4
KINDS: dict[str, Kind] = {"kernel-ptx": "ptx", "kernel-sass": "sass"}
NOTHING = (
    "Nothing is compiled yet: that takes a picture, and of a file from elsewhere a click on Run it."
)
OUTDATED = "Below is the last text that compiled."


class MachineCodeView(QWidget):
    """Buttons for what is shown, sentences on it, and the instructions.

    Signals:
        wanted(): another kind is chosen.
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
        self._close = make_button("kernel-code-close", "Close", "Back to the answer (Ctrl+F6)")
        self._close.clicked.connect(self.left)
        self._caption = words_label("kernel-code-caption", 0.9, is_muted=True)
        self._problem = words_label("kernel-code-problem")
        self._problem.setProperty("objection", True)
        self._of_line = words_label("kernel-code-line", 0.95)
        self._listing = CodeListing()
        self._listing.row_picked.connect(self._pick)
        self._lay_out()
        self.show_nothing()

    @property
    def kind(self) -> Kind:
        """Return which instructions are to be shown."""
        return next(kind for name, kind in KINDS.items() if self._kinds[name].isChecked())

    def choose(self, kind: object) -> None:
        """Choose a kind as it was remembered; what makes no sense changes nothing."""
        for name, known in KINDS.items():
            if known == kind:
                check_segment(self._kinds, name)

    def show_nothing(self) -> None:
        """Show that nothing is compiled yet."""
        self._code = None
        self._caption.setText(NOTHING)
        for label in (self._problem, self._of_line):
            label.hide()
        self._listing.show_rows(())

    def show_under_way(self, sentence: str) -> None:
        """Say what is under way; what is shown stays until it is over."""
        self._caption.setText(sentence)

    def show_problem(self, sentence: str) -> None:
        """Say why there are no instructions of the text."""
        self._caption.setText(OUTDATED if self._code is not None else "")
        self._problem.setText(sentence)
        self._problem.setVisible(bool(sentence))

    def show_code(self, code: KernelCode) -> None:
        """Show instructions."""
        self._code = code
        self._problem.hide()
        self._caption.setText(caption_words(code))
        self._listing.show_rows([numbered(row, code.rung.file) for row in code.rows])
        self._rows = _rows_by_line(code)
        self.show_line(self._line)

    def show_line(self, line: int) -> None:
        """Set off the instructions of a line of the source, from 1."""
        self._line = line
        if self._code is None:
            return
        rows = self._rows.get(line, [])
        self._listing.choose_rows(rows, is_followed=not self._listing.hasFocus())
        self._say(line_words((self._code.rows[at] for at in rows), line))

    def _say(self, words: str) -> None:
        self._of_line.setText(words)
        self._of_line.show()

    @Slot(int)
    def _pick(self, at: int) -> None:
        """Point at the line that an instruction comes from."""
        if self._code is None or at >= len(self._code.rows):
            return
        row, file = self._code.rows[at], self._code.rung.file
        if line := row.line_in(file):
            self.line_picked.emit(line)
        if words := row_words(row, file):
            self._say(" ".join(filter(None, (words, self._of_line.text() if line else ""))))

    def _lay_out(self) -> None:
        kinds = QWidget()
        HBox(kinds, 0, 0).add(*self._kinds.values())
        flow = Flow(SPACING_PX)
        for part in (kinds, self._close):
            flow.addWidget(part)
        flow.setContentsMargins(0, 0, 0, 0)
        column = VBox(self, (0, 4, 0, 0), 6)
        column.addLayout(flow)
        column.add(
            *(self._caption, self._problem, self._of_line),
            (self._listing, 1),
        )


def _rows_by_line(code: KernelCode) -> dict[int, list[int]]:
    found: dict[int, list[int]] = {}
    for at, row in enumerate(code.rows):
        for line in row.lines_in(code.rung.file):
            found.setdefault(line, []).append(at)
    return found
