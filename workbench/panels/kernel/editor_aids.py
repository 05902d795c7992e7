"""Helpers of the source: words that complete what is typed, and a row that finds text."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Mapping

from PySide6.QtCore import QEvent, QObject, QRect, Qt
from PySide6.QtGui import QKeyEvent, QTextCursor
from PySide6.QtWidgets import QLineEdit, QListWidget, QListWidgetItem, QWidget

from kernels.rungs.cuda_text import without_comments
from workbench.base.plain_text import Label, tip_text
from workbench.panels.kernel.code_editor import CodeEditor
from workbench.panels.kernel.typing_aids import KEEP, Move
from workbench.widgets.boxes import HBox
from workbench.widgets.buttons import make_button
from workbench.widgets.keyboard import is_escape

FACTS: Mapping[str, str] = {
    "KSIZE": "the weights are KSIZE × KSIZE",
    "CHANNELS": "samples per pixel, interleaved",
    "HAS_ALPHA": "1: the last channel passes through untouched",
    "SAMPLE": "how a sample is stored: uint8, uint16, float16 or float32",
    "BORDER": "ZERO, CLAMP, REFLECT, MIRROR or WRAP",
    "HAS_OFFSET": "1: OFFSET is added to every weighted sample",
    "OFFSET": "what is added, a float",
    "BLOCK_X": "threads per block along x; x counts samples, not pixels",
    "BLOCK_Y": "threads per block along y",
}
PRELUDE: Mapping[str, str] = {
    "DYNAMIC_SHARED": "(type, name): the shared memory that the launch asked for, as an array",
    "half_to_float": "(bits): the float that these bits of float16 stand for",
    "float_to_half": "(value): the nearest float16, as its bits",
    "float16": "half precision: stored so, never computed with",
    "uint8": "an unsigned char",
    "uint16": "an unsigned short",
    "float32": "a float",
    "sample": "the type of a sample: SAMPLE",
    "IS_SAME": "<A, B>: whether two types are the same",
    "RADIUS": "KSIZE / 2: how many pixels away a neighbour still counts",
    "HALO_X": "RADIUS × CHANNELS: the halo along x, in samples",
    "HALO_Y": "RADIUS: the halo along y, in rows",
    "Border": "the borders there are",
    "ZERO": "a border: samples beyond the edge are 0",
    "CLAMP": "a border: the edge's own sample is repeated",
    "REFLECT": "a border: mirrored, with the edge's sample twice",
    "MIRROR": "a border: mirrored, with the edge's sample once",
    "WRAP": "a border: the other edge follows",
    "OUTSIDE": "what border_index returns where the sample is zero",
    "border_index": "(i, size): where position i is read from, or OUTSIDE",
    "border_sample": "(x, width): the same along a row of interleaved samples",
    "row_of": "(picture, y, pitch): the start of row y; rows are pitch samples apart",
    "read_along": "(row, x, width): sample x of a row, continued beyond its ends",
    "read_sample": "(src, x, y, height, width, pitch): a sample, continued beyond the edges",
    "rounded_to": "<T>(value): rounded half to even, and saturated for integers",
    "to_sample": "(value): rounded to what the picture stores",
    "begin_with_offset": "<COUNT>(sums): each sum begins with the offset",
    "with_offset": "(sum): the sum and the offset, where there is one",
    "is_alpha": "(x): whether sample x is alpha, which passes through",
}
CUDA: Mapping[str, str] = {
    "__global__": "a function that the host launches",
    "__device__": "a function that the GPU calls, or a variable there",
    "__constant__": "constant memory: one value is read by a whole warp at once",
    "__shared__": "memory that the threads of a block share",
    "__restrict__": "a pointer that no other one overlaps",
    "__launch_bounds__": "(threads): the most threads per block that it is launched with",
    "__syncthreads": "(): wait until all threads of the block are here",
    "threadIdx": "the thread within its block: .x, .y",
    "blockIdx": "the block within the grid: .x, .y",
    "blockDim": "threads per block: .x, .y",
    "gridDim": "blocks in the grid: .x, .y",
    "constexpr": "known when it is compiled",
    "unroll": "#pragma unroll: write out the loop that follows",
}
KNOWN: Mapping[str, str] = {**FACTS, **PRELUDE, **CUDA}


MIN_LETTERS = 2  # before the list comes by itself
MAX_ROWS = 8  # in view at once
WORD = re.compile(r"[A-Za-z_]\w*")
BEFORE_CURSOR = re.compile(r"[A-Za-z_]\w*\Z")
OWN = "in this kernel"
LIST_EM = 36  # its width, in letters
TAKING = (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Tab)
MOVING = {
    Qt.Key.Key_Up: -1,
    Qt.Key.Key_Down: 1,
    Qt.Key.Key_PageUp: -MAX_ROWS,
    Qt.Key.Key_PageDown: MAX_ROWS,
}
WORD_ROLE = Qt.ItemDataRole.UserRole


class Completion(QObject):
    """A list over the source, which keeps the keyboard; Enter or Tab takes a word, Esc closes it.

    No window of its own: some systems place and grab those as they like.
    """

    def __init__(self, editor: CodeEditor) -> None:
        super().__init__(editor)
        self._editor = editor
        self._is_typing = False
        self._list = QListWidget(editor)
        self._list.setObjectName("kernel-words")
        self._list.setAccessibleName("Words that complete this one")
        self._list.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._list.setUniformItemSizes(True)
        self._list.itemClicked.connect(self._take)
        self._list.hide()
        editor.installEventFilter(self)
        editor.completion_wanted.connect(lambda: self._offer(0))
        editor.textChanged.connect(self._follow)
        editor.cursorPositionChanged.connect(self._close_elsewhere)
        editor.verticalScrollBar().valueChanged.connect(lambda _: self._list.hide())

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802
        """Give the list its keys while it is there, and note when a letter is typed."""
        if event.type() == QEvent.Type.FocusOut:
            self._list.hide()
        if self._list.isVisible() and is_escape(event, QEvent.Type.ShortcutOverride):
            event.accept()  # the list's, not the window's
            return True
        if event.type() == QEvent.Type.KeyPress and isinstance(event, QKeyEvent):
            if self._list.isVisible() and self._press(event):
                return True
            self._is_typing = bool(event.text()) and event.text().isprintable()
        return super().eventFilter(watched, event)

    def _press(self, event: QKeyEvent) -> bool:
        """Act on a key of the list; False: it is none."""
        if event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier:
            return False
        key, row = Qt.Key(event.key()), self._list.currentRow()
        if key in TAKING:
            self._take(self._list.currentItem())
        elif key == Qt.Key.Key_Escape:
            self._list.hide()
        elif key in MOVING:
            row = min(max(row + MOVING[key], 0), self._list.count() - 1)
            self._list.setCurrentRow(row)
        else:
            return False
        return True

    def _follow(self) -> None:
        """Offer words while letters are typed, not for a text that is loaded or pasted."""
        is_typing, self._is_typing = self._is_typing, False
        if is_typing or self._list.isVisible():
            self._offer(MIN_LETTERS)

    def _close_elsewhere(self) -> None:
        if self._list.isVisible() and not self._begun():
            self._list.hide()

    def _offer(self, min_letters: int) -> None:
        begun = self._begun()
        is_whole = bool(min_letters) and begun in KNOWN
        found = {} if len(begun) < min_letters or is_whole else self._words(begun)
        self._list.setVisible(bool(found))
        if not found:
            return
        self._list.clear()
        for word, meaning in found.items():
            item = QListWidgetItem(f"{word}  {meaning}")
            item.setData(WORD_ROLE, word)
            item.setToolTip(tip_text(f"{word} {meaning}"))
            self._list.addItem(item)
        self._list.setCurrentRow(0)
        self._list.setFont(self._editor.font())
        self._place()

    def _words(self, begun: str) -> Mapping[str, str]:
        """The words that begin so, except the one being typed; the same case first."""
        found = {**dict.fromkeys(self._words_elsewhere(), OWN), **KNOWN}
        fitting = [word for word in found if word.lower().startswith(begun.lower())]
        fitting.sort(key=lambda word: (not word.startswith(begun), word.casefold(), word))
        return {word: found[word] for word in fitting}

    def _words_elsewhere(self) -> set[str]:
        """The words of the code, except the one at the cursor."""
        here = self._editor.textCursor().blockNumber()
        lines = without_comments(self._editor.toPlainText()).split("\n")
        column = self._editor.textCursor().positionInBlock()
        words = {word for n, line in enumerate(lines) if n != here for word in WORD.findall(line)}
        for found in WORD.finditer(lines[here]):
            if not found.start() <= column <= found.end():
                words.add(found[0])
        return {word for word in words if len(word) > MIN_LETTERS}

    def _place(self) -> None:
        """Put the list below the word, or above it where there is more room."""
        rows = min(self._list.count(), MAX_ROWS)
        height = rows * self._list.sizeHintForRow(0) + 2 * self._list.frameWidth()
        inside = self._editor.viewport().geometry()
        line = self._editor.cursorRect().translated(inside.topLeft())
        width = min(LIST_EM * self._editor.fontMetrics().horizontalAdvance("x"), inside.width())
        left = max(min(line.left(), inside.right() - width), inside.left())
        below, above = inside.bottom() - line.bottom(), line.top() - inside.top()
        height = min(height, max(below, above))
        top = line.bottom() + 1 if below >= min(height, above) else line.top() - height
        self._list.setGeometry(QRect(left, top, width, height))
        self._list.raise_()

    def _begun(self) -> str:
        cursor = self._editor.textCursor()
        found = BEFORE_CURSOR.search(cursor.block().text()[: cursor.positionInBlock()])
        return found[0] if found else ""

    def _take(self, item: QListWidgetItem) -> None:
        self._list.hide()
        cursor = self._editor.textCursor()
        cursor.movePosition(Move.Left, KEEP, len(self._begun()))
        cursor.insertText(str(item.data(WORD_ROLE)))
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
        self._field = _Field()
        self._field.setObjectName("kernel-find")
        self._field.setAccessibleName("Find in the kernel, or :line")
        self._field.setPlaceholderText("Find, or :line")
        self._field.setToolTip("Enter finds the next, Shift+Enter the one before; :23 is line 23")
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
        """Ask for a line to go to."""
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
        """Highlight all places, and go to the next (1), the one before (-1) or the nearest.

        Instead of a text, the field may name a line to go to.
        """
        found = self._all()
        self._editor.show_found(found)
        line = self._field.text().removeprefix(LINE_SIGN).strip()
        if not self._sought and line.isdecimal():
            self._editor.go_to_line(int(line[:9]))
        if not found:
            self._count.setText("none" if self._sought else "")
            return
        starts = [each.selectionStart() for each in found]
        at = bisect_left(starts, self._editor.textCursor().selectionStart() + (step > 0))
        at = (at - (step < 0)) % len(starts)
        self._editor.setTextCursor(found[at])
        self._count.setText(f"{at + 1} of {len(starts)}")

    def _all(self) -> list[QTextCursor]:
        found: list[QTextCursor] = []
        cursor = self._editor.document().find(self._sought, 0)  # none for an empty text
        while not cursor.isNull() and len(found) < MAX_FOUND:
            found.append(cursor)
            cursor = self._editor.document().find(self._sought, cursor)
        return found
