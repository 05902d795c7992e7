"""A dialog to name, order and remove the steps to present."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeySequence
from PySide6.QtWidgets import (
    QDialog,
    QDialogButtonBox,
    QHBoxLayout,
    QListWidget,
    QListWidgetItem,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from workbench.base import theme
from workbench.base.plain_text import Label, tip_text
from workbench.window.presenter.talk_steps import MAX_LETTERS, TalkStep

NONE = (
    "There are none yet, so F5 presents the ladder on the open picture.\n"
    "Ctrl+Shift+F5 remembers the picture and what it is filtered with as a step."
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
        self._hint = Label()
        self._hint.setObjectName("steps-hint")
        self._hint.setProperty("muted", True)
        self._hint.setWordWrap(True)
        close = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        close.rejected.connect(self.reject)
        side = QVBoxLayout()
        for button in (self._up, self._down, self._remove, self._clear):
            side.addWidget(button)
        side.addStretch(1)
        row = QHBoxLayout()
        row.addWidget(self._list, 1)
        row.addLayout(side)
        column = QVBoxLayout(self)
        column.setContentsMargins(16, 16, 16, 12)
        column.addLayout(row)
        column.addWidget(self._hint)
        column.addWidget(close)
        self.resize(theme.window_size(520, 380))
        self._show_able()

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
    button = QPushButton(text)
    button.setObjectName(name)
    button.setAutoDefault(False)
    plain = text.replace("&", "")
    button.setToolTip(tip_text(f"{plain} ({key})" if key else plain))
    if key:
        button.setShortcut(QKeySequence(key))
    button.clicked.connect(lambda: do())
    return button
