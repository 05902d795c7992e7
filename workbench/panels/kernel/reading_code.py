"""The link between a kernel's text and its instructions: what is compiled when, and shown."""

from __future__ import annotations

from PySide6.QtCore import QObject, Slot

from workbench.panels.kernel.code_editor import CodeEditor
from workbench.panels.kernel.machine_code_view import MachineCodeView
from workbench.panels.kernel.trying import Trying
from workbench.session.analysis_thread import AnalysisThread
from workbench.session.kernel_code import CodeReader, CodeRequest, KernelCode
from workbench.session.kernel_file import KernelFile
from workbench.session.kernel_trial import KernelText, Refused

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
        """Return whether nothing is under way."""
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
