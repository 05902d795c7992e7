"""The keys, on one page."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeySequence
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QGridLayout, QLabel, QVBoxLayout, QWidget

from workbench.actions import Action

ELSEWHERE = (
    ("Wheel, + and −", "Zoom at the pointer"),
    ("Drag, arrow keys", "Move the picture"),
    ("Double click", "Fit, or one pixel for one"),
    ("Space, held", "Show the original"),
    ("Alt+Down", "In a sweep's line: choose its values"),
    ("Click on a point", "In a chart: show what was measured"),
    ("Ctrl+Wheel", "In a chart: look closer; a double click shows all"),
    ("P, right click", "In a chart's legend: pin a line to compare with"),
)


class ShortcutsDialog(QDialog):
    """Lists every action that has a key, and what the mouse does in pictures and charts."""

    def __init__(self, actions: list[Action], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle("Keyboard shortcuts")
        grid = QGridLayout()
        grid.setHorizontalSpacing(24)
        rows = [(_keys(each), _name(each)) for each in actions if each.keys]
        rows += ELSEWHERE
        half = -(-len(rows) // 2)
        for number, (keys, name) in enumerate(rows):
            column = 2 * (number // half)
            label = QLabel(keys)
            label.setAlignment(Qt.AlignmentFlag.AlignRight)
            label.setProperty("muted", True)
            grid.addWidget(label, number % half, column)
            grid.addWidget(QLabel(name), number % half, column + 1)
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        buttons.rejected.connect(self.reject)
        column_of_rows = QVBoxLayout(self)
        column_of_rows.setContentsMargins(24, 24, 24, 16)
        column_of_rows.setSpacing(16)
        column_of_rows.addLayout(grid)
        column_of_rows.addWidget(buttons)


def _keys(action: Action) -> str:
    native = QKeySequence.SequenceFormat.NativeText
    return " or ".join(QKeySequence(key).toString(native) for key in action.keys)


def _name(action: Action) -> str:
    """With the submenu's name, without which "Window" says little."""
    path = [*action.menu.split("/")[1:], action.text]
    return ": ".join(path).replace("&", "").removesuffix("…")
