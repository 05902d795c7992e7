"""A card with facts of a kernel: a name, what is found, and a tooltip that says more."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from PySide6.QtWidgets import QFrame, QGridLayout, QLabel

from workbench.base.plain_text import Label, tip_text
from workbench.widgets.boxes import VBox
from workbench.widgets.sentence_label import words_label


class FactRow(NamedTuple):
    """A line of the card: its name, the fact in words, and what a tooltip says of it."""

    name: str
    words: str
    tip: str


class FactsCard(QFrame):
    """Rows of facts; there is no card where there are none.

    column  its parts from top to bottom, the rows first
    """

    def __init__(self, name: str) -> None:
        """Make the card; `name` begins the names of its labels."""
        super().__init__()
        self.setProperty("card", True)
        self._name = name
        self._rows = QGridLayout()
        self._rows.setColumnStretch(1, 1)
        self._rows.setHorizontalSpacing(12)
        self._rows.setVerticalSpacing(2)
        self.column = VBox(self)
        self.column.add(self._rows)

    def show_rows(self, rows: Sequence[FactRow]) -> None:
        """Show these in place of those before."""
        for label in self.findChildren(QLabel):
            self._rows.removeWidget(label)
            label.deleteLater()
        for number, row in enumerate(rows):
            title = Label(row.name, is_muted=True)
            words = words_label(f"{self._name}-{row.name.lower().replace(' ', '-')}")
            words.setText(row.words)
            for column, label in enumerate((title, words)):
                label.setToolTip(tip_text(row.tip))
                self._rows.addWidget(label, number, column)
        self.setVisible(bool(rows))
