"""PTX or SASS beside the source: the cursor's line and its instructions point at each other."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from PySide6.QtCore import QEvent, QObject, QSignalBlocker, Signal, Slot
from PySide6.QtGui import QTextCursor
from PySide6.QtWidgets import QPlainTextEdit, QWidget

from kernels.cuda.listings import Kind, Row, kind_of, numbered
from workbench.base import theme
from workbench.panels.kernel.code_editor import FOUND_ALPHA, CodeEditor, extra, whole_line
from workbench.panels.kernel.trying import Trying
from workbench.session.kernel_code import resources_in_words
from workbench.session.kernel_file import KernelFile
from workbench.session.kernel_trial import (
    CodeReader,
    CodeRequest,
    KernelCode,
    KernelText,
    Refused,
)
from workbench.session.tasks import AnalysisThread
from workbench.widgets.boxes import Flow, HBox, VBox
from workbench.widgets.buttons import check_segment, make_button, make_segments
from workbench.widgets.code_view import CodeColours, make_listing
from workbench.widgets.tile import words_label

MAX_KINDS = 10  # that a sentence lists


def line_words(rows: Iterable[Row], line: int) -> str:
    """Count the instructions of a line of the source, which are `rows`, by kind."""
    kinds = Counter(kind_of(row.opcode) for row in rows)
    if not kinds:
        return f"Line {line}: no instructions."
    most = [f"{count} {kind}" for kind, count in kinds.most_common(MAX_KINDS)]
    more = [f"{len(kinds) - MAX_KINDS} kinds more"] if len(kinds) > MAX_KINDS else []
    count = f"{kinds.total():,} instruction{'' if kinds.total() == 1 else 's'}"
    return f"Line {line}: {count}: {', '.join([*most, *more])}."


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

    Signals:
        row_picked(row): the user put the cursor into this row, from 0.
    """

    row_picked = Signal(int)

    chosen: Sequence[int] = ()  # the rows that are set off

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("kernel-code")
        self.setAccessibleName("Instructions")
        make_listing(self)
        self._colours = CodeColours(self.document(), theme.colors(self.palette()))
        self.cursorPositionChanged.connect(self._tell)

    def show_rows(self, texts: Sequence[str]) -> None:
        """Show these rows, none of them set off."""
        row, left = self.textCursor().blockNumber(), self.verticalScrollBar().value()
        text = "\n".join(texts)
        self.chosen = ()
        self._colours.choose(None, theme.colors(self.palette()))  # so each line is coloured once
        with QSignalBlocker(self):
            self.setPlainText(text)
            block = self.document().findBlockByNumber(min(row, len(texts) - 1))
            self.setTextCursor(QTextCursor(block))
        self._colour()
        self.verticalScrollBar().setValue(left)

    def choose_rows(self, rows: Sequence[int], *, is_followed: bool) -> None:
        """Set these rows off; is_followed: bring the first of them into view, if none is."""
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

    @Slot()
    def _tell(self) -> None:
        if self.hasFocus():
            self.row_picked.emit(self.textCursor().blockNumber())

    def _colour(self) -> None:
        is_coloured = self.document().characterCount() <= MAX_COLOURED
        self._colours.choose("assembly" if is_coloured else None, theme.colors(self.palette()))

    def _show_chosen(self) -> None:
        how, document = (
            whole_line(theme.colors(self.palette()).accent, FOUND_ALPHA),
            self.document(),
        )
        cursors = (QTextCursor(document.findBlockByNumber(row)) for row in self.chosen)
        self.setExtraSelections([extra(cursor, how) for cursor in cursors])


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
        """Return the kind of instructions that is chosen."""
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
        """Name the work under way; the instructions stay until it ends."""
        self._caption.setText(sentence)

    def show_problem(self, sentence: str) -> None:
        """Give the reason why the text has no instructions."""
        self._caption.setText(OUTDATED if self._code is not None else "")
        self._problem.setText(sentence)
        self._problem.setVisible(bool(sentence))

    def show_code(self, code: KernelCode) -> None:
        """Show instructions."""
        self._code = code
        self._problem.hide()
        takes = resources_in_words(code.compiled)
        self._caption.setText(f"sm_{code.architecture} · {takes}")
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
        VBox(self, (0, 4, 0, 0), 6).add(
            *(Flow(4, kinds, self._close), self._caption, self._problem, self._of_line),
            (self._listing, 1),
        )


def _rows_by_line(code: KernelCode) -> dict[int, list[int]]:
    found: dict[int, list[int]] = {}
    for at, row in enumerate(code.rows):
        for line in row.lines_in(code.rung.file):
            found.setdefault(line, []).append(at)
    return found


NAME = "code"
COMPILING = "Compiling…"


class ReadingCode(QObject):
    """A service that compiles what is tried, too, while its instructions are looked at."""

    def __init__(
        self,
        trying: Trying,
        file: KernelFile,
        editor: CodeEditor,
        view: MachineCodeView,
        parent: QObject,
    ) -> None:
        super().__init__(parent)
        self._editor, self._view = editor, view
        self._asked: KernelText | None = None
        self._read: CodeRequest | None = None  # what is shown, or under way
        self._is_on = self._is_under_way = False
        self._reader = CodeReader()
        self._thread = AnalysisThread(self)
        self._thread.dropped.connect(lambda _: self._end(""))
        trying.asked_for.connect(self._ask)
        file.began.connect(self._begin_another)
        view.wanted.connect(self._go_on)
        editor.cursorPositionChanged.connect(self._follow_cursor)

    @property
    def is_settled(self) -> bool:
        """Return True while nothing is under way."""
        return not self._is_under_way

    def switch(self, is_on: bool) -> None:
        """Compile what is tried from now on, or no longer."""
        self._is_on = is_on
        if is_on:
            self._follow_cursor()
            self._go_on()
        else:
            self._thread.cancel(NAME)
            self._read, self._is_under_way = None, False

    def close(self) -> None:
        """Stop what is under way, and wait for the thread to end."""
        self._thread.close()

    @Slot(object)
    def _ask(self, asked: KernelText) -> None:
        self._asked = asked
        self._go_on()

    @Slot(str)
    def _begin_another(self, text: str) -> None:
        if self._asked is not None and self._asked.text != text:  # it waits for a click
            self._asked = self._read = None
            self._thread.cancel(NAME)
            self._is_under_way = False
            self._view.show_nothing()
        self._go_on()

    @Slot()
    def _go_on(self) -> None:
        """Compile the newest text, if that is looked at and was not compiled so before."""
        asked, view = self._asked, self._view
        if not self._is_on or asked is None:
            return
        request = CodeRequest(asked, view.kind)
        if request == self._read:
            return
        self._read, self._is_under_way = request, True
        view.show_under_way(COMPILING)
        self._thread.ask(NAME, lambda: self._reader.reading(request), self._take, self._end)

    def _take(self, found: KernelCode | Refused) -> None:
        self._is_under_way = False
        if isinstance(found, Refused):
            self._view.show_problem(found.sentence)
        else:
            self._view.show_code(found)

    def _end(self, sentence: str) -> None:
        self._is_under_way, self._read = False, None
        self._view.show_problem(sentence)

    @Slot()
    def _follow_cursor(self) -> None:
        if self._is_on:
            self._view.show_line(self._editor.textCursor().blockNumber() + 1)
