"""Helpers of the source: words that complete what is typed, and a row that finds text."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from functools import cache

from PySide6.QtCore import QEvent, QStringListModel, Qt
from PySide6.QtGui import QKeyEvent, QTextCursor
from PySide6.QtWidgets import QCompleter, QLineEdit, QListView, QWidget

from kernels.core.plain_data import table_beside
from kernels.rungs.cuda_text import LADDER, without_comments
from workbench.base.plain_text import Label
from workbench.panels.kernel.code_editor import CodeEditor
from workbench.panels.kernel.typing_aids import KEEP, Move
from workbench.widgets.boxes import HBox
from workbench.widgets.buttons import described, make_button
from workbench.widgets.keyboard import is_escape

CUDA: dict[str, str] = table_beside(__file__)
# A definition of the prelude: its name, a function's parameters, and what follows.
DEFINITION = re.compile(
    r"(?:#define|struct|using|enum|(?:template <[\w ,]+> )?constexpr \w+"
    r"|__device__ __forceinline__ [\w* ]*[ *]) ?(\w+)(\([^()]*\))?([^{\\]*)"
)
ENUM = re.compile(r"enum \w+ \{ (.*) \}")


@cache
def known_words() -> dict[str, str]:
    """The words of CUDA and of the prelude, each with its meaning."""
    found, remark = dict(CUDA), ""
    for line in (LADDER / "prelude.cuh").read_text(encoding="utf-8").split("\n"):
        code, _, note = line.partition("//")
        if not code:
            remark = remark or note.strip()
        elif made := DEFINITION.match(code):
            name, takes, rest = made.groups()
            said = (note or remark.partition("  ")[0] or rest).strip(" ;=")
            found.setdefault(name, f"{takes or ''} {said}".strip())
        if names := ENUM.match(line):
            found |= dict.fromkeys(names[1].split(", "), "a border")
        if not line.startswith(("//", "template")):
            remark = ""
    return found


MAX_ROWS = 8  # in view at once
LIST_EM = 36  # width of the list, in letters
WORD = re.compile(r"[A-Za-z_]\w*")
BEFORE_CURSOR = re.compile(r"[A-Za-z_]\w*\Z")


class Completion(QCompleter):
    """Completions of the word before the cursor; Enter or Tab takes one, Esc closes the list."""

    def __init__(self, editor: CodeEditor) -> None:
        super().__init__(editor, maxVisibleItems=MAX_ROWS)
        self._editor, self._words, self._list = editor, QStringListModel(self), QListView()
        self.setModel(self._words)
        self.setPopup(self._list)
        self.setWidget(editor)
        self.setCaseSensitivity(Qt.CaseSensitivity.CaseInsensitive)
        described(self._list, "kernel-words", "Words that complete this one")
        self.activated.connect(self._take)
        editor.completions = self._list
        editor.completion_wanted.connect(self._offer)

    def _offer(self, min_letters: int) -> None:
        """Offer the words that begin so; min_letters: 0: also where nothing is typed yet."""
        cursor = self._editor.textCursor()
        begun = BEFORE_CURSOR.search(cursor.block().text()[: cursor.positionInBlock()])
        prefix = begun[0] if begun else ""
        is_whole = bool(min_letters) and prefix in known_words()
        if len(prefix) < min_letters or is_whole:
            self._list.hide()
            return
        # Words of the code and all known but the one being typed; the same case first.
        code = Counter(WORD.findall(without_comments(self._editor.toPlainText())))
        own = [word for word, count in code.items() if len(word) > len(prefix) or count > 1]
        found = {**dict.fromkeys(own, "in this kernel"), **known_words()}
        found.pop(prefix, None)
        words = sorted(found, key=lambda word: (not word.startswith(prefix), word.casefold()))
        self._words.setStringList([f"{word}  {found[word]}" for word in words])
        self.setCompletionPrefix(prefix)
        if not self.completionCount():
            self._list.hide()
            return
        self._list.setFont(self._editor.font())
        self._list.setCurrentIndex(self.completionModel().index(0, 0))
        place = self._editor.cursorRect().translated(self._editor.viewport().pos())
        place.setWidth(LIST_EM * self._editor.fontMetrics().horizontalAdvance("x"))
        self.complete(place)

    def _take(self, line: str) -> None:
        word, _, _ = line.partition(" ")
        cursor = self._editor.textCursor()
        cursor.movePosition(Move.Left, KEEP, len(self.completionPrefix()))
        cursor.insertText(word)
        self._editor.setTextCursor(cursor)


LINE_SIGN = ":"
MAX_FOUND = 2000
BEFORE = "Find the one before"


class _Field(QLineEdit):
    """A field whose Esc is the row's, not the window's."""

    def event(self, event: QEvent) -> bool:
        if is_escape(event, QEvent.Type.ShortcutOverride):
            event.accept()
            return True
        return super().event(event)


class FindRow(QWidget):
    """A field with a count; hidden until it is asked for. The source gets the keyboard back."""

    def __init__(self, editor: CodeEditor) -> None:
        super().__init__()
        self._editor = editor
        tip = "Enter finds the next, Shift+Enter the one before; :23 is line 23"
        self._field = described(_Field(), "kernel-find", "Find in the kernel, or :line", tip)
        self._field.setPlaceholderText("Find, or :line")
        self._field.textEdited.connect(lambda _: self._seek(0))
        self._count = Label(name="kernel-find-count")
        before = make_button("kernel-find-before", "▲", "The one before (Shift+Enter)", BEFORE)
        behind = make_button("kernel-find-next", "▼", "The next one (Enter)", "Find the next one")
        before.clicked.connect(lambda: self._seek(-1))
        behind.clicked.connect(lambda: self._seek(1))
        HBox(self, 0, 4).add((self._field, 1), self._count, before, behind)
        self.hide()

    def ask_text(self) -> None:
        """Ask for a text to find; a selected word is proposed."""
        chosen = self._editor.textCursor().selectedText()
        self._open(chosen if chosen and "\u2029" not in chosen else self._sought)

    def ask_line(self) -> None:
        self._open(LINE_SIGN)
        self._field.deselect()

    def find_again(self, step: int) -> None:
        """Go to the next (1) or the previous (-1) place of the last text; ask for one at first."""
        if self._sought:
            self.show()
            self._seek(step)
        else:
            self.ask_text()

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802
        if event.key() == Qt.Key.Key_Escape:
            self._editor.show_found(())
            self._close()
        elif event.key() not in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            super().keyPressEvent(event)
        elif self._field.text().startswith(LINE_SIGN):
            self._seek(0)
            self._close()
        else:
            self._seek(-1 if event.modifiers() & Qt.KeyboardModifier.ShiftModifier else 1)

    @property
    def _sought(self) -> str:
        text = self._field.text()
        return "" if text.startswith(LINE_SIGN) else text

    def _open(self, text: str) -> None:
        self.show()
        self._field.setText(text)
        self._field.setFocus()
        self._field.selectAll()
        self._seek(0)

    def _close(self) -> None:
        self.hide()
        self._editor.setFocus()

    def _seek(self, step: int) -> None:
        """Highlight all places, and go to the next (1), the one before (-1) or the nearest."""
        document = self._editor.document()
        found: list[QTextCursor] = []
        cursor = document.find(self._sought, 0)  # none for an empty text
        while not cursor.isNull() and len(found) < MAX_FOUND:
            found.append(cursor)
            cursor = document.find(self._sought, cursor)
        self._editor.show_found(found)
        line = self._field.text().removeprefix(LINE_SIGN).strip()
        if not self._sought and line.isdecimal():
            self._editor.go_to_line(int(line[:9]))
        self._count.setText("none" if self._sought else "")
        if found:
            starts = [each.selectionStart() for each in found]
            at = bisect_left(starts, self._editor.textCursor().selectionStart() + (step > 0))
            at = (at - (step < 0)) % len(starts)
            self._editor.setTextCursor(found[at])
            self._count.setText(f"{at + 1} of {len(starts)}")
