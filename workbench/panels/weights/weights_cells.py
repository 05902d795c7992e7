"""The grid's cells as Qt's views want them: texts, tints by size and sign, objections."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QPersistentModelIndex, Qt, Signal
from PySide6.QtGui import QColor

from workbench.base import theme
from workbench.base.plain_text import tip_text
from workbench.base.table_text import compact, in_words, value_of, why_no_value
from workbench.panels.weights.weights_draft import WeightsDraft

Index = QModelIndex | QPersistentModelIndex
Role = Qt.ItemDataRole
INVALID = int(Role.UserRole)  # whether the cell is no number
INSTEAD = "{} {}, so nothing is applied; write a number such as 0.25, -1 or 1/9."
MAX_SHOWN, FEW, MANY = 7, 5, 7  # characters; and so few from as many cells across on
STRONGEST = 0.52  # opacity of the largest weight's tint: its digits keep a contrast of 4.5 to 1


class CellsModel(QAbstractTableModel):
    """A table model of a WeightsDraft, which changes nothing by itself.

    Signals:
        typed(row, column, text): the user wrote `text` into a cell.
    """

    typed = Signal(int, int, str)

    def __init__(self, drawing: WeightsDraft) -> None:
        super().__init__()
        self._drawing = drawing
        self._tints: list[list[QColor | None]] = []
        self._values: list[list[float | None]] = []
        self.show_drawing(drawing)

    @property
    def drawing(self) -> WeightsDraft:
        """Return the drawing that is shown."""
        return self._drawing

    def show_drawing(self, drawing: WeightsDraft) -> None:
        """Show a drawing; where the size stays, only rows that differ are updated."""
        old, same_size = self._drawing, drawing.size == self._drawing.size
        if not same_size:
            self.beginResetModel()
        self._drawing = drawing
        self._values = [[value_of(text) for text in row] for row in drawing.cells]
        largest = max(abs(value or 0.0) for row in self._values for value in row)
        above, below = theme.colors().series[:2]
        old_tints = self._tints
        self._tints = [[_tint(each, largest, above, below) for each in row] for row in self._values]
        if not same_size:
            self.endResetModel()
            return
        for y, (tints, cells) in enumerate(zip(self._tints, drawing.cells, strict=True)):
            if not old_tints or (tints, cells) != (old_tints[y], old.cells[y]):
                self.dataChanged.emit(self.index(y, 0), self.index(y, drawing.size - 1))

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008, N802
        return 0 if parent.isValid() else self._drawing.size

    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008, N802
        return self.rowCount(parent)

    def flags(self, index: Index) -> Qt.ItemFlag:
        """Return Qt's flags of a cell; each can be edited."""
        return super().flags(index) | Qt.ItemFlag.ItemIsEditable

    def data(self, index: Index, role: int = Role.DisplayRole) -> Any:
        """Return a cell's text, tint, tooltip and so on, as Qt asks for its cells."""
        text = self._drawing.cells[index.row()][index.column()]
        value = self._values[index.row()][index.column()]
        match role:
            case Role.DisplayRole:
                return text if value is None else _shown(text, value, self._drawing.size)
            case Role.EditRole:
                return text
            case Role.TextAlignmentRole:
                return Qt.AlignmentFlag.AlignCenter
            case Role.BackgroundRole:
                return self._tints[index.row()][index.column()]
            case Role.ForegroundRole:
                return QColor(theme.colors().bad) if value is None else None
            case Role.ToolTipRole:
                wrong = INSTEAD.format(in_words(text), why_no_value(text))
                return tip_text(wrong if value is None else self._tip(index, text))
            case Role.AccessibleTextRole:
                wrong = "not a number, " if value is None else ""
                return f"{text or 'empty'}, {wrong}{self._place(index)}"
        return value is None if role == INVALID else None

    def setData(self, index: Index, value: Any, role: int = Role.EditRole) -> bool:  # noqa: N802
        if role != Role.EditRole:
            return False
        if (text := str(value).strip()) != self._drawing.cells[index.row()][index.column()]:
            self.typed.emit(index.row(), index.column(), text)
        return True

    def headerData(  # noqa: N802
        self, section: int, orientation: Qt.Orientation, role: int = Role.DisplayRole
    ) -> Any:
        if role == Role.DisplayRole:
            return f"{section - self._drawing.size // 2:+d}".replace("+0", "0").replace("-", "−")
        if role == Role.ToolTipRole:
            across = orientation == Qt.Orientation.Horizontal
            return f"Pixels {'right of' if across else 'below'} the computed pixel."
        return None

    def _tip(self, index: Index, text: str) -> str:
        divided = "" if self._drawing.divisor == "1" else f" / {self._drawing.divisor}"
        return f"{text}{divided}, {self._place(index)}"

    def _place(self, index: Index) -> str:
        middle = self._drawing.size // 2
        right, down = index.column() - middle, index.row() - middle
        if not right and not down:
            return "on the pixel itself"
        words = []
        if right:
            words.append(f"{abs(right)} {'right' if right > 0 else 'left'}")
        if down:
            words.append(f"{abs(down)} {'down' if down > 0 else 'up'}")
        return " and ".join(words)


def _tint(value: float | None, largest: float, above: str, below: str) -> QColor | None:
    """Return one colour above zero, another below, stronger with size; None for nothing."""
    if not value:
        return None
    colour = QColor(above if value > 0 else below)
    colour.setAlphaF(STRONGEST * (abs(value) / largest) ** 0.6)
    return colour


def _shown(text: str, value: float, size: int) -> str:
    """Return what was typed; two digits of what is too long for a cell: "2.2e−5", ".0022"."""
    if len(text) <= (FEW if size >= MANY else MAX_SHOWN):
        return text.replace("-", "−")
    short = compact(value, 2)
    if size < MANY:
        return short
    short = short.replace("0.", ".", 1)
    return short if len(short) <= FEW else compact(value, 1)
