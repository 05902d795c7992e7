"""PTX or SASS beside the source: the cursor's line and its instructions point at each other."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from functools import partial

from PySide6.QtCore import QEvent, QSignalBlocker, Signal
from PySide6.QtGui import QTextCursor
from PySide6.QtWidgets import QPlainTextEdit, QWidget

from kernels.cuda.nvrtc import Kind, Row, kind_of, numbered
from workbench.base import theme
from workbench.panels.kernel.code_editor import FOUND_ALPHA, CodeEditor, extra, whole_line
from workbench.panels.kernel.trying import Trying
from workbench.session.kernel_code import resources_in_words
from workbench.session.kernel_trial import (
    CodeReader,
    KernelCode,
    KernelText,
    Refused,
)
from workbench.session.tasks import AnalysisThread
from workbench.widgets.boxes import Flow, HBox, VBox
from workbench.widgets.buttons import check_segment, make_button, make_segments
from workbench.widgets.code_view import CodeColours, make_listing
from workbench.widgets.tile import words_label


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


MAX_COLOURED = 150_000  # characters; beyond, colouring would be felt at every pause in typing


class CodeListing(QPlainTextEdit):
    """A text that can be walked through by mouse and keys.

    chosen  the rows that are highlighted

    Signals:
        row_picked(row): the user put the cursor into this row, from 0.
    """

    row_picked = Signal(int)

    def __init__(self) -> None:
        super().__init__()
        self.chosen: Sequence[int] = ()
        self.setObjectName("kernel-code")
        self.setAccessibleName("Instructions")
        make_listing(self)
        self._colours = CodeColours(self.document(), theme.colors(self.palette()))
        self.cursorPositionChanged.connect(self._emit_row)

    def show_rows(self, texts: Sequence[str]) -> None:
        """Show these rows, none of them highlighted."""
        row, left = self.textCursor().blockNumber(), self.verticalScrollBar().value()
        self.chosen = ()
        self._colours.choose(None, theme.colors(self.palette()))  # so each line is coloured once
        with QSignalBlocker(self):
            self.setPlainText("\n".join(texts))
            block = self.document().findBlockByNumber(min(row, len(texts) - 1))
            self.setTextCursor(QTextCursor(block))
        self._colour()
        self.verticalScrollBar().setValue(left)

    def choose_rows(self, rows: Sequence[int], *, is_followed: bool) -> None:
        """Highlight these rows; is_followed: bring the first of them into view, if none is."""
        self.chosen = rows
        self._show_chosen()
        bar = self.verticalScrollBar()  # it counts in rows
        in_view = range(bar.value(), bar.value() + bar.pageStep())
        if is_followed and rows and not any(row in in_view for row in rows):
            bar.setValue(rows[0] - bar.pageStep() // 3)

    def changeEvent(self, event: QEvent) -> None:  # noqa: N802
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange and hasattr(self, "_colours"):
            self._colour()
            self._show_chosen()

    def _emit_row(self) -> None:
        if self.hasFocus():
            self.row_picked.emit(self.textCursor().blockNumber())

    def _colour(self) -> None:
        is_coloured = self.document().characterCount() <= MAX_COLOURED
        self._colours.choose("assembly" if is_coloured else None, theme.colors(self.palette()))

    def _show_chosen(self) -> None:
        how = whole_line(theme.colors(self.palette()).accent, FOUND_ALPHA)
        cursors = (QTextCursor(self.document().findBlockByNumber(row)) for row in self.chosen)
        self.setExtraSelections([extra(cursor, how) for cursor in cursors])


KINDS: dict[str, Kind] = {"kernel-ptx": "ptx", "kernel-sass": "sass"}
SEGMENTS = (
    ("kernel-ptx", "PTX", "The compiler's intermediate code, for any GPU"),
    ("kernel-sass", "SASS", "The instructions of the GPU itself"),
)
NOTHING = (
    "Nothing is compiled yet: that takes a picture, and of a file from elsewhere a click on Run it."
)
OUTDATED = "Below is the last text that compiled."
COMPILING = "Compiling…"
NAME = "code"  # of the task on the thread


class MachineCodeView(QWidget):
    """The instructions of the text that is tried, compiled while they are shown.

    Signals:
        left(): the user closed it.
    """

    left = Signal()

    def __init__(self, trying: Trying, editor: CodeEditor) -> None:
        super().__init__()
        self.setObjectName("kernel-machine-code")
        self._editor = editor
        self._asked: KernelText | None = None
        self._read: tuple[KernelText, Kind] | None = None  # the one shown, or under way
        self._code: KernelCode | None = None
        self._rows: dict[int, list[int]] = {}  # of each line of the source
        self._is_on = False
        self.is_settled = True  # nothing is under way
        self._reader, self._thread = CodeReader(), AnalysisThread(self)
        self._kinds = make_segments(SEGMENTS, lambda _: self._compile())
        check_segment(self._kinds, "kernel-ptx")
        close = make_button("kernel-code-close", "Close", "Back to the answer (Ctrl+F6)")
        close.clicked.connect(self.left)
        self._caption = words_label("kernel-code-caption", 0.9, is_muted=True)
        self._problem = words_label("kernel-code-problem")
        self._problem.setProperty("objection", True)
        self._of_line = words_label("kernel-code-line", 0.95)
        self._listing = CodeListing()
        self._listing.row_picked.connect(self._pick)
        kinds = QWidget()
        HBox(kinds, 0, 0).add(*self._kinds.values())
        VBox(self, (0, 4, 0, 0), 6).add(
            *(Flow(4, kinds, close), self._caption, self._problem, self._of_line),
            (self._listing, 1),
        )
        self._show_nothing()
        trying.asked_for.connect(self._take_text)
        editor.cursorPositionChanged.connect(self._follow_cursor)

    @property
    def kind(self) -> Kind:
        """The kind of instructions that is chosen."""
        return next(kind for name, kind in KINDS.items() if self._kinds[name].isChecked())

    def choose(self, kind: object) -> None:
        """Choose a remembered kind; an unknown one changes nothing."""
        for name, known in KINDS.items():
            if known == kind:
                check_segment(self._kinds, name)

    def switch(self, is_on: bool) -> None:
        """Compile the texts that are tried, or no longer."""
        self._is_on = is_on
        if is_on:
            self._follow_cursor()
            self._compile()
        else:
            self._cancel()

    def close_thread(self) -> None:
        """Cancel the work, and wait for the thread to end."""
        self._thread.close()

    # -- compiling

    def _take_text(self, asked: KernelText | None) -> None:
        """Follow the text that is tried; None: another one begins."""
        self._asked = asked
        if asked is None:
            self._cancel()
            self._show_nothing()
        self._compile()

    def _cancel(self) -> None:
        self._thread.cancel(NAME)
        self._read, self.is_settled = None, True

    def _compile(self) -> None:
        """Compile the newest text, if it is shown and was not compiled so before."""
        if not self._is_on or self._asked is None:
            return
        request = self._asked, self.kind
        if request != self._read:
            self._read, self.is_settled = request, False
            self._caption.setText(COMPILING)  # the instructions before stay until it ends
            reading = partial(self._reader.reading, *request)
            self._thread.ask(NAME, reading, self._take, self._show_problem, on_end=self._end)

    def _take(self, found: KernelCode | Refused) -> None:
        if isinstance(found, Refused):
            self._show_problem(found.sentence)
            return
        self._code = found
        self._show_problem("")
        self._caption.setText(f"sm_{found.architecture} · {resources_in_words(found.compiled)}")
        self._listing.show_rows([numbered(row, found.rung.file) for row in found.rows])
        self._rows = {}
        for at, row in enumerate(found.rows):
            for line in row.lines_in(found.rung.file):
                self._rows.setdefault(line, []).append(at)
        self._follow_cursor()

    def _end(self, is_complete: bool) -> None:
        self.is_settled = True
        if not is_complete:
            self._read = None

    def _show_problem(self, sentence: str) -> None:
        self._caption.setText(OUTDATED if self._code is not None else NOTHING)
        self._problem.show_or_hide(sentence)

    def _show_nothing(self) -> None:
        self._code = None
        self._show_problem("")
        self._of_line.clear()
        self._listing.show_rows(())

    # -- lines and instructions

    def _follow_cursor(self) -> None:
        """Highlight the instructions of the cursor's line."""
        if self._is_on and self._code is not None:
            line = self._editor.textCursor().blockNumber() + 1
            rows = self._rows.get(line, [])
            self._listing.choose_rows(rows, is_followed=not self._listing.hasFocus())
            self._of_line.setText(line_words((self._code.rows[at] for at in rows), line))

    def _pick(self, at: int) -> None:
        """Go to the line that an instruction comes from."""
        if self._code is None or at >= len(self._code.rows):
            return
        row, file = self._code.rows[at], self._code.rung.file
        if line := row.line_in(file):
            self._editor.show_step(line)
        if words := row_words(row, file):
            self._of_line.setText(f"{words} {self._of_line.text() if line else ''}".strip())
