"""The list of words that what is typed could become, each with what it means."""

from __future__ import annotations

import re
from collections.abc import Mapping

from PySide6.QtCore import QEvent, QObject, QRect, Qt
from PySide6.QtGui import QKeyEvent, QTextCursor
from PySide6.QtWidgets import QListWidget, QListWidgetItem

from kernels.rungs.cuda_text import without_comments
from workbench.base.plain_text import tip_text
from workbench.panels.kernel.code_editor import CodeEditor
from workbench.panels.kernel.kernel_words import KNOWN

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
        if not isinstance(event, QKeyEvent):
            return super().eventFilter(watched, event)
        is_escape = self._list.isVisible() and event.key() == Qt.Key.Key_Escape
        if event.type() == QEvent.Type.ShortcutOverride and is_escape:
            event.accept()  # the list's, not the window's
            return True
        if event.type() == QEvent.Type.KeyPress:
            if self._list.isVisible() and self._press(event):
                return True
            self._is_typing = bool(event.text()) and event.text().isprintable()
        return super().eventFilter(watched, event)

    def _press(self, event: QKeyEvent) -> bool:
        """Do what a key does in the list; return whether it was one of the list's."""
        if event.modifiers() not in (
            Qt.KeyboardModifier.NoModifier,
            Qt.KeyboardModifier.KeypadModifier,
        ):
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
        """Offer words while letters are typed; what is loaded or pasted offers none."""
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
        """Return the words that begin so, those of the same case first.

        The one that is being typed is none of them.
        """
        own = dict.fromkeys(self._words_elsewhere(), OWN)
        found = {**own, **KNOWN}
        fitting = [word for word in found if word.lower().startswith(begun.lower())]
        fitting.sort(key=lambda word: (not word.startswith(begun), word.casefold(), word))
        return {word: found[word] for word in fitting}

    def _words_elsewhere(self) -> set[str]:
        """Return the words of the code, without the one at the cursor."""
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
        word = str(item.data(WORD_ROLE))
        self._list.hide()
        cursor = self._editor.textCursor()
        cursor.movePosition(
            QTextCursor.MoveOperation.Left, QTextCursor.MoveMode.KeepAnchor, len(self._begun())
        )
        cursor.insertText(word)
        self._editor.setTextCursor(cursor)
