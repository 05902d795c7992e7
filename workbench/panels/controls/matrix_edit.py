"""Weights typed in by hand: rows of numbers, applied once they make sense."""

from __future__ import annotations

import math

import numpy as np
from PySide6.QtCore import QSignalBlocker, Signal
from PySide6.QtWidgets import QPlainTextEdit, QWidget

from kernels.core.errors import BadJobError
from kernels.filters.custom import parse
from kernels.filters.parameters import MATRIX
from workbench.base import theme
from workbench.base.plain_text import Label, tip_text
from workbench.base.table_text import shortest
from workbench.model.state import Matrix
from workbench.widgets.boxes import VBox
from workbench.widgets.buttons import push_button


class MatrixEdit(QWidget):
    """A matrix as text; while the text is no matrix it says why, and nothing is picked.

    Signals:
        picked(matrix): the text is another matrix now.
        grid_wanted(): the user wants to edit it in a grid.
    """

    picked = Signal(object)
    grid_wanted = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._matrix: Matrix = ()
        self._offset = 0.0
        self._text = QPlainTextEdit()
        self._text.setObjectName("matrix")
        self._text.setAccessibleName(MATRIX.title)
        self._text.setToolTip(
            tip_text(
                f"{MATRIX.tip}\nSpaces, commas or tabs between numbers, "
                "which may be fractions such as 1/9; paste works."
            )
        )
        self._text.setTabChangesFocus(True)
        self._text.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self._text.setFont(theme.fixed_font())
        self._text.setFixedHeight(6 * self._text.fontMetrics().lineSpacing())
        self._text.textChanged.connect(self._read)
        self._objection = Label(name="matrix-objection", wraps=True)
        self._objection.setProperty("objection", True)
        self._objection.hide()
        self._sum = Label(name="matrix-sum", is_muted=True)
        self._sum.setToolTip("How many times as bright an even area of the picture becomes.")
        tip = "The weights editor, with rank and frequency response: Ctrl+E."
        self._grid = push_button("matrix-grid", "Edit in a grid…", tip)
        self._grid.clicked.connect(self.grid_wanted)
        column = VBox(self, 0)
        column.add(self._text, self._objection, self._sum, self._grid)

    def show_matrix(self, matrix: Matrix, offset: float = 0.0) -> None:
        """Show `matrix`, unless the text already says it in the user's own spelling.

        offset  a part of white that is added, which is only shown here
        """
        if offset != self._offset:
            self._offset = offset
            self._sum.setText(_sum_in_words(self._matrix, offset))
        if matrix == self._matrix:
            return
        self._matrix = matrix
        with QSignalBlocker(self._text):
            rows = (" ".join(map(_text, row)) for row in matrix)
            self._text.setPlainText("\n".join(rows))
        self._object("")

    def _read(self) -> None:
        try:
            matrix = parse(self._text.toPlainText())
        except BadJobError as error:
            self._object(str(error))
            return
        is_other, self._matrix = matrix != self._matrix, matrix
        self._object("")
        if is_other:
            self.picked.emit(matrix)

    def _object(self, sentence: str) -> None:
        self._objection.setText(sentence)
        self._objection.setVisible(bool(sentence))
        self._sum.setVisible(not sentence)
        self._sum.setText(_sum_in_words(self._matrix, self._offset))


def _text(value: float) -> str:
    """Return the shortest text of a weight with the same float32 value, in which it is applied."""
    return shortest(float(str(np.float32(value))))


def _sum_in_words(matrix: Matrix, offset: float) -> str:
    """Describe the sum of the weights, and its effect: "sum 16: brightens 16×"."""
    total = round(math.fsum(map(math.fsum, matrix)), 6)  # nine times 0.1111111 is 1
    if offset:
        return f"sum {total:.4g}, offset {offset:.3g} × white".replace("-", "−")
    if total > 1:
        return f"sum {total:.4g}: brightens {total:.4g}×"
    if total == 1:
        return "sum 1: keeps the brightness"
    if total > 0:
        return f"sum {total:.4g}: darkens to {total:.3g} of the brightness"
    if total == 0:
        return "sum 0: flat areas turn black"
    return f"sum {total:.4g}: flat areas fall below black".replace("-", "−")
