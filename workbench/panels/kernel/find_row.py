"""The line below the source that finds words in it, or goes to a line."""

from __future__ import annotations

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtGui import QKeyEvent, QTextCursor
from PySide6.QtWidgets import QLineEdit, QWidget

from workbench.base.plain_text import Label
from workbench.panels.kernel.code_editor import CodeEditor
from workbench.widgets.boxes import HBox
from workbench.widgets.buttons import make_button

LINE_SIGN = ":"
MAX_FOUND = 2000


class _Field(QLineEdit):
    """A field whose Esc is the row's, not the window's."""

    def event(self, event: QEvent) -> bool:
        is_asked = event.type() == QEvent.Type.ShortcutOverride
        if is_asked and isinstance(event, QKeyEvent) and event.key() == Qt.Key.Key_Escape:
            event.accept()
            return True
        return super().event(event)


class FindRow(QWidget):
    """A field with a count; hidden until it is asked for.

    Signals:
        left(): it closed, and the keyboard belongs to the source again.
    """

    left = Signal()

    def __init__(self, editor: CodeEditor) -> None:
        super().__init__()
        self._editor = editor
        self._found: list[QTextCursor] = []
        self._field = _Field()
        self._field.setObjectName("kernel-find")
        self._field.setAccessibleName("Find in the kernel, or :line")
        self._field.setPlaceholderText("Find, or :line")
        self._field.setToolTip("Enter finds the next, Shift+Enter the one before; :23 is line 23")
        self._field.textEdited.connect(lambda _: self._seek(0))
        self._count = Label()
        self._count.setObjectName("kernel-find-count")
        before = make_button("kernel-find-before", "▲", "The one before (Shift+Enter)")
        before.setAccessibleName("Find the one before")
        behind = make_button("kernel-find-next", "▼", "The next one (Enter)")
        behind.setAccessibleName("Find the next one")
        before.clicked.connect(lambda: self._seek(-1))
        behind.clicked.connect(lambda: self._seek(1))
        HBox(self, 0, 4).add((self._field, 1), self._count, before, behind)
        self.hide()

    def ask_text(self) -> None:
        """Ask what to find; a selected word is proposed."""
        chosen = self._editor.textCursor().selectedText()
        self._open(chosen if chosen and "\u2029" not in chosen else self._sought)

    def ask_line(self) -> None:
        """Ask for a line to go to."""
        self._open(LINE_SIGN)
        self._field.deselect()

    def find_next(self) -> None:
        """Go to the next place of what was sought last; ask what to find where there is none."""
        self._again(1)

    def find_before(self) -> None:
        """Go to the place before."""
        self._again(-1)

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802
        if event.key() == Qt.Key.Key_Escape:
            self.hide()
            self._editor.show_found(())
            self.left.emit()
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            is_back = bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
            if self._field.text().startswith(LINE_SIGN):
                self._go_to_line()
                self.hide()
                self.left.emit()
            else:
                self._seek(-1 if is_back else 1)
        else:
            super().keyPressEvent(event)

    def _again(self, step: int) -> None:
        if self._sought:
            self.show()
            self._seek(step)
        else:
            self.ask_text()

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

    def _go_to_line(self) -> None:
        number = self._field.text().removeprefix(LINE_SIGN).strip()
        if number.isdecimal():
            self._editor.go_to_line(int(number[:9]))

    def _seek(self, step: int) -> None:
        """Set off all that is found, and go to the next (1), the one before (-1) or the nearest."""
        self._found = self._all()
        self._editor.show_found(self._found)
        if self._field.text().startswith(LINE_SIGN):
            self._count.setText("")
            self._go_to_line()
            return
        if not self._found:
            self._count.setText("none" if self._sought else "")
            return
        here = self._editor.textCursor().selectionStart()
        starts = [each.selectionStart() for each in self._found]
        if step < 0:
            at = max((n for n, start in enumerate(starts) if start < here), default=len(starts) - 1)
        else:
            behind = here + (1 if step else 0)
            at = min((n for n, start in enumerate(starts) if start >= behind), default=0)
        self._editor.setTextCursor(self._found[at])
        self._count.setText(f"{at + 1} of {len(starts)}")

    def _all(self) -> list[QTextCursor]:
        if not self._sought:
            return []
        document = self._editor.document()
        found: list[QTextCursor] = []
        cursor = document.find(self._sought, 0)
        while not cursor.isNull() and len(found) < MAX_FOUND:
            found.append(cursor)
            cursor = document.find(self._sought, cursor)
        return found
