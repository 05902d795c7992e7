"""PTX or SASS beside the source: the cursor's line and its instructions point at each other."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from functools import partial

from PySide6.QtCore import QEvent, Signal
from PySide6.QtGui import QTextCursor
from PySide6.QtWidgets import QWidget

from kernels.cuda.nvrtc import Row, kind_of, numbered
from workbench.base import theme
from workbench.panels.kernel.code_editor import FOUND_ALPHA, CodeEditor, extra, whole_line
from workbench.panels.kernel.trying import Trying
from workbench.session.kernel_code import resources_in_words
from workbench.session.kernel_trial import KernelCode, KernelText, Refused, reading_code
from workbench.session.tasks import AnalysisThread
from workbench.widgets.boxes import HBox, VBox
from workbench.widgets.buttons import make_button
from workbench.widgets.code_view import CodeView, SourceText
from workbench.widgets.tile import words_label
from workbench.widgets.watch import Watch


def line_words(rows: Iterable[Row], line: int) -> str:
    """Count the instructions of a line of the source, which are `rows`, by kind."""
    kinds = Counter(kind_of(row.opcode) for row in rows).most_common()
    listed = ", ".join(f"{count} {kind}" for kind, count in kinds)
    return f"Line {line}, instructions: {listed or 'none'}."


def row_words(row: Row, file: str) -> str:
    """Name the header that an instruction comes from; empty: it is of `file`."""
    if not row.places or row.places[0].file == file:
        return ""
    innermost, line = row.places[0], row.line_in(file)
    called = f", called in line {line}" if line else ""
    return f"From {innermost.file}, line {innermost.line}{called}."


KINDS = {"ptx": "PTX", "sass": "SASS"}  # as the settings keep them
TIP = "The compiler's intermediate code, for any GPU, or the instructions of the GPU itself"
NOTHING = (
    "Nothing is compiled yet: that takes a picture, and of a file from elsewhere a click on Run it."
)
NAME = "code"  # of the task on the thread


class MachineCodeView(QWidget):
    """The instructions of the text that is tried, compiled while they are shown."""

    left = Signal()  # the user closed it

    def __init__(self, trying: Trying, editor: CodeEditor) -> None:
        super().__init__()
        self.setObjectName("kernel-machine-code")
        self._editor = editor
        self._asked: KernelText | None = None
        self._read: KernelText | None = None  # the one shown, or under way
        self._code: KernelCode | None = None
        self._rows: Sequence[Row] = ()
        self._rows_of: dict[int, list[int]] = {}  # of each line of the source
        self.chosen: Sequence[int] = ()
        self._is_on = False
        self.is_settled = True  # nothing is under way
        self.analysis = AnalysisThread(self)
        close = make_button("kernel-code-close", "Close", "Back to the output (Ctrl+F6)")
        close.clicked.connect(self.left)
        self._problem = words_label("kernel-code-problem")
        self._problem.setProperty("objection", True)
        self._of_line = words_label("kernel-code-line", 0.95)
        self._view = CodeView("kernel-code", "Instructions", TIP)
        self._view.shown.connect(self._take_rows)
        self._view.edit.cursorPositionChanged.connect(self._pick)
        row = HBox(spacing=8).add((self._of_line, 1), close)
        VBox(self, (0, 4, 0, 0), 6).add(row, self._problem, (self._view, 1))
        self._show_nothing()
        Watch(self, QEvent.Type.PaletteChange).seen.connect(self._highlight)
        trying.asked_for.connect(self._take_text)
        editor.cursorPositionChanged.connect(self._follow_cursor)

    @property
    def kind(self) -> str:
        return next((kind for kind, name in KINDS.items() if name == self._view.chosen), "ptx")

    def choose(self, kind: object) -> None:
        """Choose a remembered kind; an unknown one changes nothing."""
        if isinstance(kind, str) and kind in KINDS:
            self._view.choose(KINDS[kind])

    def switch(self, is_on: bool) -> None:
        """Compile the texts that are tried, or no longer."""
        self._is_on = is_on
        if is_on:
            self._follow_cursor()
            self._compile()
        else:
            self._cancel()

    def _take_text(self, asked: KernelText | None) -> None:
        """Follow the text that is tried; None: another one begins."""
        self._asked = asked
        if asked is None:
            self._cancel()
            self._show_nothing()
        self._compile()

    def _cancel(self) -> None:
        self.analysis.cancel(NAME)
        self._read, self.is_settled = None, True

    def _compile(self) -> None:
        asked = self._asked
        if self._is_on and asked is not None and asked != self._read:
            self._read, self.is_settled = asked, False
            if self._code is None:
                self._view.show_sentence("Compiling…")
            reading = partial(reading_code, asked)
            self.analysis.ask(NAME, reading, self._take, self._show_problem, on_end=self._end)

    def _take(self, found: KernelCode | Refused) -> None:
        if isinstance(found, Refused):
            self._show_problem(found.sentence)
            return
        self._code = found
        self._problem.show_or_hide("")
        caption = f"sm_{found.architecture} · {resources_in_words(found.compiled)}"
        self._view.show_texts(_texts_of(found), caption, keeps_place=True)

    def _end(self, is_complete: bool) -> None:
        self.is_settled = True
        if not is_complete:
            self._read = None
        if self._code is None:
            self._view.show_sentence(NOTHING)

    def _show_problem(self, sentence: str) -> None:
        """Say why a text does not compile; the instructions before stay."""
        self._problem.show_or_hide(sentence)
        if self._code is not None:
            self._view.show_texts(_texts_of(self._code), "Below is the last text that compiled.")

    def _show_nothing(self) -> None:
        self._code, self._rows, self._rows_of = None, (), {}
        self._problem.show_or_hide("")
        self._of_line.clear()
        self._view.show_sentence(NOTHING)

    def _take_rows(self, name: str) -> None:
        assert self._code is not None
        found = self._code.listings[name]
        self._rows = () if isinstance(found, str) else found
        self._rows_of = {}
        for at, row in enumerate(self._rows):
            for line in row.lines_in(self._code.rung.file):
                self._rows_of.setdefault(line, []).append(at)
        self._follow_cursor()

    def _follow_cursor(self) -> None:
        if not self._is_on or self._code is None:
            return
        line = self._editor.textCursor().blockNumber() + 1
        self.chosen = rows = self._rows_of.get(line, [])
        self._highlight()
        bar = self._view.edit.verticalScrollBar()  # it counts in rows
        in_view = range(bar.value(), bar.value() + bar.pageStep())
        if rows and not self._view.edit.hasFocus() and not any(row in in_view for row in rows):
            bar.setValue(rows[0] - bar.pageStep() // 3)
        self._of_line.setText(line_words((self._rows[at] for at in rows), line))

    def _highlight(self) -> None:
        how, document = theme.colors(self.palette()).accent, self._view.edit.document()
        cursors = (QTextCursor(document.findBlockByNumber(row)) for row in self.chosen)
        self._view.edit.setExtraSelections(
            [extra(cursor, whole_line(how, FOUND_ALPHA)) for cursor in cursors]
        )

    def _pick(self) -> None:
        """Go to the line that the instruction under the cursor comes from."""
        at = self._view.edit.textCursor().blockNumber()
        if self._code is None or at >= len(self._rows) or not self._view.edit.hasFocus():
            return
        row, file = self._rows[at], self._code.rung.file
        if line := row.line_in(file):
            self._editor.show_step(line)
        if words := row_words(row, file):
            self._of_line.setText(f"{words} {self._of_line.text() if line else ''}".strip())


def _texts_of(code: KernelCode) -> list[SourceText]:
    texts = []
    for name, rows in code.listings.items():
        lines = (rows,) if isinstance(rows, str) else (numbered(r, code.rung.file) for r in rows)
        texts.append(SourceText(name, "\n".join(lines), "assembly"))
    return texts
