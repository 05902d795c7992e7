"""A card with facts of a kernel: a name, what is found, and a tooltip that says more."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from PySide6.QtCore import Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFrame, QGridLayout, QLabel

from workbench.base.plain_text import Label, tip_text
from workbench.widgets.boxes import VBox
from workbench.widgets.tile import words_label

TWO_FROM_PX = 400  # from this width on two short facts stand on one line
MAX_SHORT = 22  # letters
TOP = Qt.AlignmentFlag.AlignTop


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
        self._facts: tuple[FactRow, ...] | None = None  # nothing was shown yet
        self._is_wide = False
        self._rows = QGridLayout()
        self._rows.setColumnStretch(1, 1)
        self._rows.setHorizontalSpacing(12)
        self._rows.setVerticalSpacing(2)
        self.column = VBox(self)
        self.column.add(self._rows)

    def show_rows(self, rows: Sequence[FactRow]) -> None:
        """Show these in place of those before, unless they are the same."""
        if tuple(rows) != self._facts:
            self._facts = tuple(rows)
            self._lay_rows(rows)

    def _lay_rows(self, rows: Sequence[FactRow]) -> None:
        for label in self.findChildren(QLabel):
            self._rows.removeWidget(label)
            label.deleteLater()
        for line, (row, *beside) in enumerate(_lines(rows, self._is_wide)):
            self._add(row, line, 0, 1 if beside else 3)
            for other in beside:
                self._add(other, line, 2, 1)
        self._rows.setColumnStretch(3, int(self._is_wide))
        self.setVisible(bool(rows))

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802
        super().resizeEvent(event)
        if (is_wide := event.size().width() >= TWO_FROM_PX) != self._is_wide:
            self._is_wide = is_wide
            self._lay_rows(self._facts or ())

    def _add(self, row: FactRow, line: int, column: int, columns: int) -> None:
        title = Label(row.name, is_muted=True)
        words = words_label(f"{self._name}-{row.name.lower().replace(' ', '-')}")
        words.setText(row.words)
        for label in (title, words):
            label.setToolTip(tip_text(row.tip))
        self._rows.addWidget(title, line, column, TOP)
        self._rows.addWidget(words, line, column + 1, 1, columns)


def _lines(rows: Sequence[FactRow], is_wide: bool) -> list[list[FactRow]]:
    """Return the rows of each line: two, where both are short and the card is wide."""
    lines: list[list[FactRow]] = []
    for row in rows:
        before = lines[-1] if lines else []
        if is_wide and len(before) == 1 and _is_short(before[0]) and _is_short(row):
            before.append(row)
        else:
            lines.append([row])
    return lines


def _is_short(row: FactRow) -> bool:
    return len(row.words) <= MAX_SHORT
