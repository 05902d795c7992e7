"""The card with the sum, the implementation's value and their difference, one below the other."""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QGridLayout, QLabel, QSizePolicy

from workbench.base import theme
from workbench.base.plain_text import Label

ROWS = (
    *("sum", "offset", "together", "gx", "gy", "length"),
    *("rounded", "value", "difference", "tolerance"),
)


class NumbersCard(QFrame):
    """The card with a heading and a value for each of `ROWS` that there is."""

    def __init__(self) -> None:
        super().__init__()
        self.setProperty("card", True)
        grid = QGridLayout(self)
        grid.setContentsMargins(9, 6, 9, 6)
        grid.setHorizontalSpacing(10)
        grid.setVerticalSpacing(2)
        grid.setColumnStretch(1, 1)
        self._labels = {name: _labels(name) for name in ROWS}
        for row, parts in enumerate(self._labels.values()):
            for column, part in enumerate(parts):
                grid.addWidget(part, row, column, Qt.AlignmentFlag.AlignTop)
                part.hide()

    def show_numbers(self, shown: Mapping[str, tuple[str, str]]) -> None:
        """Show these numbers, and hide all others.

        shown  heading and value by name, one of ROWS
        """
        for name, (title, value) in self._labels.items():
            heading, text = shown.get(name, ("", ""))
            if (title.text(), value.text()) == (heading, text):
                continue
            title.setText(heading)
            value.setText(text)
            value.setAccessibleName(f"{heading}: {text}")
            title.setVisible(bool(heading))
            value.setVisible(bool(heading))


def _labels(name: str) -> tuple[QLabel, QLabel]:
    title, value = Label(), Label()
    title.setProperty("muted", True)
    value.setObjectName(f"pixel-{name}")
    value.setFont(theme.numbers_font())
    value.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
    value.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
    value.setWordWrap(True)
    value.setMinimumWidth(value.fontMetrics().horizontalAdvance("−12345.678901"))
    return title, value
