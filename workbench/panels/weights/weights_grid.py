"""The grid to type weights into."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QModelIndex, QPersistentModelIndex, QRect, Qt, Signal
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
    QHeaderView,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTableView,
    QWidget,
)

from workbench.base import theme
from workbench.panels.weights.weights_cells import INVALID, CellsModel
from workbench.panels.weights.weights_draft import WeightsDraft
from workbench.widgets.tile import scaled_font

Index = QModelIndex | QPersistentModelIndex
Hint = QAbstractItemDelegate.EndEditHint
MAX_CELL_PX = 180
MARK_PX = 7
MANY = 9  # cells across; above this the digits are smaller


class WeightsGrid(QTableView):
    """A square of cells to type weights into, used like a spreadsheet.

    Arrows and Tab move, typing replaces, F2 edits, Enter goes down, Delete writes 0; Ctrl+C and
    Ctrl+V copy and paste. Tab behind the last cell, and Ctrl+Tab anywhere, lead out of it.

    Signals:
        typed(cells, text): `text` is wanted in all `cells`, each (row, column).
        copy_wanted(cells): the user wants these on the clipboard.
        paste_wanted(): the clipboard's text is wanted, where cells are selected.
    """

    typed = Signal(object, str)
    copy_wanted = Signal(object)
    paste_wanted = Signal()

    def __init__(self, drawing: WeightsDraft) -> None:
        super().__init__()
        self.setObjectName("weights-grid")
        self.setAccessibleName("Weights")
        self.setAccessibleDescription(
            "A number a cell; the middle one stands on the pixel itself. Ctrl+Tab leads out of it."
        )
        self._cells = CellsModel(drawing)
        self._cells.typed.connect(lambda y, x, text: self.typed.emit([(y, x)], text))
        self.setModel(self._cells)
        self.setItemDelegate(_CellPainter(self))
        self.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setWordWrap(False)
        self.setCornerButtonEnabled(False)
        for name, header in (
            ("Pixels to the right", self.horizontalHeader()),
            ("Pixels down", self.verticalHeader()),
        ):
            header.setAccessibleName(name)
            header.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
            header.setMinimumSectionSize(16)
            header.setDefaultAlignment(Qt.AlignmentFlag.AlignCenter)
            header.setHighlightSections(True)
        self._cells.modelReset.connect(self._fit)

    def show_drawing(self, drawing: WeightsDraft) -> None:
        """Show a drawing; the current cell stays as far from the middle as it was."""
        at, before = self.currentIndex(), self._cells.rowCount() // 2
        # Where the size changes it stays as far from the middle as it was.
        down, right = (at.row() - before, at.column() - before) if at.isValid() else (0, 0)
        self._cells.show_drawing(drawing)
        if not self.currentIndex().isValid():
            middle, last = drawing.size // 2, drawing.size - 1
            y, x = (min(max(middle + by, 0), last) for by in (down, right))
            self.setCurrentIndex(self._cells.index(y, x))
            self._centre()

    @property
    def selected(self) -> list[tuple[int, int]]:
        """Return (row, column) of the selected cells, in reading order."""
        return sorted((each.row(), each.column()) for each in self.selectedIndexes())

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802
        if self.state() == QAbstractItemView.State.EditingState:
            super().keyPressEvent(event)  # a key that the cell's editor has not used
            return
        if event.key() in (Qt.Key.Key_Tab, Qt.Key.Key_Backtab) and _has_control(event):
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

    def changeEvent(self, event: QEvent) -> None:  # noqa: N802
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange:  # the tints belong to the theme
            self._cells.show_drawing(self._cells.drawing)

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
        """Scroll so that there is as much to see on either side of the current cell."""
        self.updateGeometries()  # else the scroll bars keep their old range
        self.scrollTo(self.currentIndex(), QAbstractItemView.ScrollHint.PositionAtCenter)

    def _fit(self) -> None:
        """Set a size of cells that fills the room and can be read; none is higher than wide."""
        size = self._cells.rowCount()
        self.setFont(scaled_font(0.85 if size > MANY else 1.0))
        least = QFontMetrics(self.font()).horizontalAdvance("−2.2e−5") + 8
        room = self.viewport().size()
        across = min(max(room.width() // size, least), MAX_CELL_PX)
        down = min(max(room.height() // size, least * 2 // 3), across)
        self.horizontalHeader().setDefaultSectionSize(across)
        self.verticalHeader().setDefaultSectionSize(down)


def _has_control(event: QKeyEvent) -> bool:
    return bool(event.modifiers() & Qt.KeyboardModifier.ControlModifier)


class _CellPainter(QStyledItemDelegate):
    """The painter of cells, which outlines the middle and marks the corner of invalid ones."""

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
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
            painter.setPen(QPen(QColor(colours.bad), 2))
            painter.drawRect(rect.adjusted(1, 1, -2, -2))
            painter.fillRect(rect.right() - MARK_PX, rect.top(), MARK_PX, MARK_PX, colours.bad)
        painter.restore()
