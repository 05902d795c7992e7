"""A dialog to name, order and remove the steps to present."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtGui import QKeySequence
from PySide6.QtWidgets import (
    QDialog,
    QDialogButtonBox,
    QListWidget,
    QListWidgetItem,
    QPlainTextEdit,
    QPushButton,
    QWidget,
)

from workbench.base import theme
from workbench.base.plain_text import Label, tip_text
from workbench.widgets.boxes import HBox, VBox
from workbench.widgets.buttons import push_button
from workbench.window.talk import MAX_LETTERS, MAX_NOTE, TalkStep

NONE = (
    "There are none yet, so F5 presents the ladder on the open picture.\n"
    "Ctrl+Shift+F5 adds what is seen as a step: picture, settings, view and panel."
)
SOME = "F2 or a double click renames one."


class StepsDialog(QDialog):
    """A dialog to name, order and remove steps; every change counts at once.

    Signals:
        changed(steps): these are the steps now.
    """

    changed = Signal(object)

    def __init__(self, steps: Sequence[TalkStep], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setObjectName("steps-dialog")
        self.setWindowTitle("Steps to present")
        self._list = QListWidget()
        self._list.setObjectName("steps-list")
        self._list.setAccessibleName("Steps to present")
        self._list.setDragDropMode(QListWidget.DragDropMode.InternalMove)
        for step in steps:
            self._list.addItem(_item(step))
        self._list.setCurrentRow(0)
        self._list.itemChanged.connect(lambda _: self._emit_changed())
        self._list.model().rowsMoved.connect(lambda *_: self._emit_changed())
        self._list.currentRowChanged.connect(lambda _: self._show_able())
        self._up = _button("steps-up", "Move &up", "Alt+Up", lambda: self._move(-1))
        self._down = _button("steps-down", "Move &down", "Alt+Down", lambda: self._move(1))
        self._remove = _button("steps-remove", "&Remove", "Del", self._remove_one)
        self._clear = _button("steps-clear", "Remove &all", "", self._remove_all)
        self._note = QPlainTextEdit()
        self._note.setObjectName("steps-note")
        self._note.setAccessibleName("Note for the speaker")
        self._note.setPlaceholderText("Note for the speaker")
        self._note.setToolTip("What to say at this step; F7 on stage shows it")
        self._note.setTabChangesFocus(True)
        self._note.textChanged.connect(self._write_note)
        self._list.currentRowChanged.connect(lambda _: self._show_note())
        self._hint = Label(name="steps-hint", is_muted=True, wraps=True)
        close = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        close.rejected.connect(self.reject)
        side = VBox()
        side.add(self._up, self._down, self._remove, self._clear, 1)
        row = HBox()
        row.add((self._list, 1), side)
        column = VBox(self, (16, 16, 16, 12))
        column.add((row, 2), (self._note, 1), self._hint, close)
        self.resize(theme.window_size(560, 480))
        self._show_able()
        self._show_note()

    @property
    def steps(self) -> tuple[TalkStep, ...]:
        """Return the steps as the list has them now."""
        items = [self._list.item(row) for row in range(self._list.count())]
        return tuple(_step(item) for item in items)

    def _move(self, by: int) -> None:
        row = self._list.currentRow()
        if 0 <= row + by < self._list.count():
            self._list.insertItem(row + by, self._list.takeItem(row))
            self._list.setCurrentRow(row + by)
            self._emit_changed()

    def _remove_one(self) -> None:
        if self._list.currentRow() >= 0:
            self._list.takeItem(self._list.currentRow())
            self._emit_changed()

    def _remove_all(self) -> None:
        self._list.clear()
        self._emit_changed()

    def _show_note(self) -> None:
        item = self._list.currentItem()
        with QSignalBlocker(self._note):
            self._note.setPlainText(_step(item).note if item is not None else "")
        self._note.setEnabled(item is not None)

    def _write_note(self) -> None:
        item = self._list.currentItem()
        if item is not None:
            note = self._note.toPlainText()[:MAX_NOTE]
            with QSignalBlocker(self._list):
                item.setData(Qt.ItemDataRole.UserRole, replace(_step(item), note=note))
            self.changed.emit(self.steps)

    def _emit_changed(self) -> None:
        self._show_able()
        self.changed.emit(self.steps)

    def _show_able(self) -> None:
        row, count = self._list.currentRow(), self._list.count()
        self._up.setEnabled(row > 0)
        self._down.setEnabled(0 <= row < count - 1)
        self._remove.setEnabled(row >= 0)
        self._clear.setEnabled(count > 0)
        self._hint.setText(SOME if count else NONE)


def _item(step: TalkStep) -> QListWidgetItem:
    item = QListWidgetItem(step.name)
    item.setFlags(item.flags() | Qt.ItemFlag.ItemIsEditable)
    item.setData(Qt.ItemDataRole.UserRole, step)
    where = step.picture.name if step.picture else "the picture that is open"
    item.setToolTip(tip_text(f"On {where}"))
    return item


def _step(item: QListWidgetItem) -> TalkStep:
    """Return the step under its present name; without one it keeps the name it had."""
    step: TalkStep = item.data(Qt.ItemDataRole.UserRole)
    return replace(step, name=item.text().strip()[:MAX_LETTERS] or step.name)


def _button(name: str, text: str, key: str, do: Callable[[], None]) -> QPushButton:
    plain = text.replace("&", "")
    button = push_button(name, text, f"{plain} ({key})" if key else plain)
    button.setAutoDefault(False)
    if key:
        button.setShortcut(QKeySequence(key))
    button.clicked.connect(lambda: do())
    return button
