"""The grid to type weights into."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from PySide6.QtCore import (
    QAbstractTableModel,
    QEvent,
    QModelIndex,
    QPersistentModelIndex,
    QRect,
    Qt,
    Signal,
)
from PySide6.QtGui import (
    QColor,
    QFontMetrics,
    QKeyEvent,
    QKeySequence,
    QPainter,
    QPen,
    QResizeEvent,
)
from PySide6.QtWidgets import (
    QAbstractItemDelegate,
    QAbstractItemView,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTableView,
    QWidget,
)

from workbench.base import theme
from workbench.base.plain_text import tip_text
from workbench.base.table_text import compact, in_words, value_of, why_no_value
from workbench.panels.weights.weights_draft import WeightsDraft
from workbench.widgets.buttons import described
from workbench.widgets.letters import factor_of
from workbench.widgets.tile import dress_table, scaled_font
from workbench.widgets.watch import Watch

CellIndex = QModelIndex | QPersistentModelIndex
Role = Qt.ItemDataRole
INVALID = int(Role.UserRole)  # whether the cell is no number
INSTEAD = "{} {}, so nothing is applied; write a number such as 0.25, -1 or 1/9."
MAX_SHOWN, FEW, MANY = 7, 5, 7  # characters; and so few from as many cells across on
STRONGEST = 0.52  # opacity of the largest weight's tint: its digits keep a contrast of 4.5 to 1


class CellsModel(QAbstractTableModel):
    """A table model of a WeightsDraft, its `drawing`, which changes nothing by itself."""

    def __init__(self, drawing: WeightsDraft, write: Callable[[int, int, str], object]) -> None:
        """Show `drawing`; `write` gets row, column and text where the user typed."""
        super().__init__()
        self.drawing, self._write = drawing, write
        self._tints: list[list[QColor | None]] = []
        self._values: list[list[float | None]] = []
        self.show_drawing(drawing)

    def show_drawing(self, drawing: WeightsDraft) -> None:
        """Show a drawing; where the size stays, only rows that differ are updated."""
        old, same_size = self.drawing, drawing.size == self.drawing.size
        if not same_size:
            self.beginResetModel()
        self.drawing = drawing
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

    def rowCount(self, parent: CellIndex = QModelIndex()) -> int:  # noqa: B008, N802
        return 0 if parent.isValid() else self.drawing.size

    def columnCount(self, parent: CellIndex = QModelIndex()) -> int:  # noqa: B008, N802
        return self.rowCount(parent)

    def flags(self, index: CellIndex) -> Qt.ItemFlag:
        return super().flags(index) | Qt.ItemFlag.ItemIsEditable

    def data(self, index: CellIndex, role: int = Role.DisplayRole) -> Any:
        text = self.drawing.cells[index.row()][index.column()]
        value = self._values[index.row()][index.column()]
        match role:
            case Role.DisplayRole:
                return text if value is None else _shown(text, value, self.drawing.size)
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
                divided = "" if self.drawing.divisor == "1" else f" / {self.drawing.divisor}"
                usual = f"{text}{divided}, {self._place(index)}"
                return tip_text(wrong if value is None else usual)
            case Role.AccessibleTextRole:
                wrong = "not a number, " if value is None else ""
                return f"{text or 'empty'}, {wrong}{self._place(index)}"
        return value is None if role == INVALID else None

    def setData(self, index: CellIndex, value: Any, role: int = Role.EditRole) -> bool:  # noqa: N802
        if role != Role.EditRole:
            return False
        if (text := str(value).strip()) != self.drawing.cells[index.row()][index.column()]:
            self._write(index.row(), index.column(), text)
        return True

    def headerData(  # noqa: N802
        self, section: int, orientation: Qt.Orientation, role: int = Role.DisplayRole
    ) -> Any:
        if role == Role.DisplayRole:
            return f"{section - self.drawing.size // 2:+d}".replace("+0", "0").replace("-", "−")
        if role == Role.ToolTipRole:
            across = orientation == Qt.Orientation.Horizontal
            return f"Pixels {'right of' if across else 'below'} the computed pixel."
        return None

    def _place(self, index: CellIndex) -> str:
        middle = self.drawing.size // 2
        right, down = index.column() - middle, index.row() - middle
        across = f"{abs(right)} {'right' if right > 0 else 'left'}" if right else ""
        along = f"{abs(down)} {'down' if down > 0 else 'up'}" if down else ""
        return " and ".join(filter(None, (across, along))) or "on the pixel itself"


def _tint(value: float | None, largest: float, above: str, below: str) -> QColor | None:
    """One colour above zero, another below, stronger with size; None for nothing."""
    if not value:
        return None
    colour = QColor(above if value > 0 else below)
    colour.setAlphaF(STRONGEST * (abs(value) / largest) ** 0.6)
    return colour


def _shown(text: str, value: float, size: int) -> str:
    """A text as it was typed, or two digits of one that is too long: ".0022"."""
    if len(text) <= (FEW if size >= MANY else MAX_SHOWN):
        return text.replace("-", "−")
    return compact(value, 2).replace("0.", ".", 1)


Hint = QAbstractItemDelegate.EndEditHint
MAX_CELL_PX = 180
MAX_HEIGHT_PX = 16_777_215  # Qt's own
MARK_PX = 7
OWN = {
    *(Qt.Key.Key_Delete, Qt.Key.Key_Backspace, Qt.Key.Key_F2, Qt.Key.Key_Space),
    *(Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Home, Qt.Key.Key_End),
    *(Qt.Key.Key_Left, Qt.Key.Key_Right, Qt.Key.Key_Up, Qt.Key.Key_Down),
    *(Qt.Key.Key_PageUp, Qt.Key.Key_PageDown),
}
SCALES = (1.0, 0.85, 0.72, 0.64)  # of the digits: the largest with which all cells can be seen
BESIDE_PX = 4  # around a number in its cell
HEIGHT_PX = 180  # the least
USUAL = 7  # of so many rows all are seen, of more as many as there is room for


class WeightsGrid(QTableView):
    """A square of cells to type weights into, used like a spreadsheet.

    Arrows and Tab move, typing replaces, F2 edits, Enter goes down, Delete writes 0; Ctrl+C and
    Ctrl+V copy and paste. Tab behind the last cell, and Ctrl+Tab anywhere, lead out of it.
    """

    # (cells, text): `text` is wanted in all `cells`, each (row, column).
    typed = Signal(object, str)
    copy_wanted = Signal(object)  # (cells): the user wants these on the clipboard
    paste_wanted = Signal()  # the clipboard's text is wanted, where cells are selected

    def __init__(self, drawing: WeightsDraft) -> None:
        super().__init__()
        described(self, "weights-grid", "Weights")
        self.setAccessibleDescription(
            "One number per cell; the middle one is the pixel's own. Ctrl+Tab leaves the grid."
        )
        self._width = 0
        self._cells = CellsModel(drawing, lambda y, x, text: self.typed.emit([(y, x)], text))
        self.setModel(self._cells)
        self.setItemDelegate(_CellPainter(self))
        dress_table(self, "Pixels to the right", "Pixels down", 16)
        recoloured = Watch(self, QEvent.Type.PaletteChange).seen  # the tints belong to the theme
        recoloured.connect(lambda: self._cells.show_drawing(self._cells.drawing))

    def show_drawing(self, drawing: WeightsDraft) -> None:
        """Show a drawing; the current cell stays as far from the middle as it was."""
        at, before = self.currentIndex(), self._cells.rowCount() // 2
        down, right = (at.row() - before, at.column() - before) if at.isValid() else (0, 0)
        self._cells.show_drawing(drawing)
        self._fit()
        if not self.currentIndex().isValid():
            middle, last = drawing.size // 2, drawing.size - 1
            y, x = (min(max(middle + by, 0), last) for by in (down, right))
            self.setCurrentIndex(self._cells.index(y, x))
            self._centre()

    def stand_in(self, width: int) -> None:
        """Limit the height to the cells' in a column of `width` pixels; 0: no limit."""
        if width != self._width:
            self._width = width
            self.setMinimumHeight(HEIGHT_PX)
            self.setMaximumHeight(MAX_HEIGHT_PX)
            self._fit()

    @property
    def selected(self) -> list[tuple[int, int]]:
        """(Row, column) of the selected cells, in reading order."""
        return sorted((each.row(), each.column()) for each in self.selectedIndexes())

    def event(self, event: QEvent) -> bool:
        """Keep the keys that a spreadsheet has from the window's shortcuts."""
        is_asked = event.type() == QEvent.Type.ShortcutOverride
        if is_asked and isinstance(event, QKeyEvent) and _is_own(event):
            event.accept()
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802
        if self.state() == QAbstractItemView.State.EditingState:
            super().keyPressEvent(event)  # a key that the cell's editor has not used
            return
        has_control = bool(event.modifiers() & Qt.KeyboardModifier.ControlModifier)
        if event.key() in (Qt.Key.Key_Tab, Qt.Key.Key_Backtab) and has_control:
            self._leave(event.key() == Qt.Key.Key_Tab)
        elif event.matches(QKeySequence.StandardKey.Copy):
            self.copy_wanted.emit(self.selected)
        elif event.matches(QKeySequence.StandardKey.Paste):
            self.paste_wanted.emit()
        elif event.key() in (Qt.Key.Key_Delete, Qt.Key.Key_Backspace):
            self.typed.emit(self.selected, "0")
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self._move_down()
        else:
            super().keyPressEvent(event)
            return
        event.accept()

    def focusNextPrevChild(self, forward: bool) -> bool:  # noqa: N802
        at, last = self.currentIndex(), self._cells.rowCount() - 1
        edge = (last, last) if forward else (0, 0)
        if (at.row(), at.column()) == edge:
            return self._leave(forward)
        return super().focusNextPrevChild(forward)

    def closeEditor(self, editor: QWidget, hint: Hint) -> None:  # noqa: N802
        """Move to the cell below after Enter, as in a spreadsheet."""
        super().closeEditor(editor, hint)
        if hint == Hint.SubmitModelCache:
            self._move_down()

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802
        super().resizeEvent(event)
        self._fit()
        self._centre()

    def _leave(self, forward: bool) -> bool:
        self.setTabKeyNavigation(False)
        try:
            return super().focusNextPrevChild(forward)
        finally:
            self.setTabKeyNavigation(True)

    def _move_down(self) -> None:
        at = self.currentIndex()
        below = self._cells.index(at.row() + 1, at.column())
        if below.isValid():
            self.setCurrentIndex(below)

    def _centre(self) -> None:
        self.updateGeometries()  # else the scroll bars keep their old range
        self.scrollTo(self.currentIndex(), QAbstractItemView.ScrollHint.PositionAtCenter)

    def _fit(self) -> None:
        size, room = self._cells.rowCount(), self.maximumViewportSize()
        texts = {self._cells.index(y, x).data() for y in range(size) for x in range(size)}
        least, factor = 0, factor_of(self)
        # Before a number is cut, large letters become no larger than usual.
        for scale in (*(factor * each for each in SCALES), min(factor, 1.0) * SCALES[-1]):
            self.setFont(scaled_font(scale))
            wide = QFontMetrics(self.font()).horizontalAdvance
            least = max(map(wide, texts)) + BESIDE_PX
            if least * size <= room.width():
                break
        across = min(max(room.width() // size, least), MAX_CELL_PX)
        lowest = max(least * 2 // 3, self.verticalHeader().fontMetrics().height())
        down = max(min(room.height() // size, across), lowest)
        self.horizontalHeader().setDefaultSectionSize(across)
        self.verticalHeader().setDefaultSectionSize(down)
        if self._width:
            around = self.horizontalHeader().sizeHint().height() + 2 * self.frameWidth()
            self.setMinimumHeight(max(around + min(size, USUAL) * lowest, HEIGHT_PX))
            self.setMaximumHeight(around + max(min(size * across, self._width), HEIGHT_PX))


def _is_own(event: QKeyEvent) -> bool:
    is_plain = not event.modifiers() & ~(
        Qt.KeyboardModifier.ShiftModifier | Qt.KeyboardModifier.KeypadModifier
    )
    named = (QKeySequence.StandardKey.Copy, QKeySequence.StandardKey.Paste)
    types = event.key() in OWN or (bool(event.text()) and event.text().isprintable())
    return (is_plain and types) or any(event.matches(each) for each in named)


class _CellPainter(QStyledItemDelegate):
    """The painter of cells, which outlines the middle and marks the corner of invalid ones."""

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: CellIndex) -> None:
        super().paint(painter, option, index)
        middle, is_wrong = index.model().rowCount() // 2, index.data(INVALID)
        is_middle = (index.row(), index.column()) == (middle, middle)
        if not (is_middle or is_wrong):
            return
        colours, rect = theme.colors(), QRect(option.rect)
        painter.save()
        if is_middle:
            painter.setPen(QPen(QColor(colours.muted), 1))
            painter.drawRect(rect.adjusted(1, 1, -2, -2))
        if is_wrong:
            painter.fillRect(rect.right() - MARK_PX, rect.top(), MARK_PX, MARK_PX, colours.bad)
        painter.restore()
