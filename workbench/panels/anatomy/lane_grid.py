"""The lanes of a warp as cells in rows: a number, a short text and a colour each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from PySide6.QtCore import QEvent, QRect, QSize, Qt, Signal
from PySide6.QtGui import QColor, QKeyEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QFrame, QHeaderView, QSizePolicy, QTableWidget, QTableWidgetItem

from kernels.anatomy.transactions import LANES
from workbench.base import theme
from workbench.base.plain_text import tip_text
from workbench.widgets.keyboard import ARROWS
from workbench.widgets.tile import scaled_font

LEAST_WIDTH_PX = 256
MARK = "!"  # seen without its colour, too


class LaneCell(NamedTuple):
    """The cell of one lane."""

    text: str  # below the lane's number
    tip: str
    color: int | None = None  # an index into the theme's series; None: the lane takes no part
    is_marked: bool = False  # drawn as bad, with a mark
    exists: bool = True  # the block has such a thread


class LaneGrid(QTableWidget):
    """Rows of lanes, one of them framed.

    cells  those shown

    Signals:
        picked(lane): the user clicked a lane.
        stepped(across, down, is_shifted): an arrow key was pressed, perhaps with Shift.
    """

    picked = Signal(int)
    stepped = Signal(int, int, bool)

    def __init__(self, name: str, title: str, hint: str, columns: int, text_scale: float) -> None:
        """Make an empty grid; text_scale: size of the cells' texts, of the usual letters."""
        super().__init__(LANES // columns, columns)
        self.setObjectName(name)
        self.setAccessibleName(title)
        self.setToolTip(hint)
        self.cells: Sequence[LaneCell] = ()
        self._lane = 0
        self._items = [QTableWidgetItem() for _ in range(LANES)]
        for lane, item in enumerate(self._items):
            item.setTextAlignment(Qt.AlignmentFlag.AlignCenter)
            self.setItem(*divmod(lane, columns), item)
        self.cellClicked.connect(lambda row, column: self.picked.emit(row * columns + column))
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setEditTriggers(QTableWidget.EditTrigger.NoEditTriggers)
        self.setSelectionMode(QTableWidget.SelectionMode.NoSelection)
        self.setTabKeyNavigation(False)
        self.setWordWrap(False)
        self.setTextElideMode(Qt.TextElideMode.ElideNone)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        for header in (self.horizontalHeader(), self.verticalHeader()):
            header.hide()
            header.setMinimumSectionSize(1)
            header.setSectionResizeMode(QHeaderView.ResizeMode.Stretch)
        self.setFont(scaled_font(text_scale))

    def show_cells(self, cells: Sequence[LaneCell], lane: int, description: str) -> None:
        """Show these cells, with a frame around `lane`."""
        self.cells, self._lane = cells, lane
        self.setAccessibleDescription(description)
        colors = theme.colors(self.palette())
        for number, (item, cell) in enumerate(zip(self._items, cells, strict=False)):
            fill = QColor(colors.surface)
            if cell.color is not None:
                fill = QColor(colors.bad if cell.is_marked else colors.series[cell.color])
                fill.setAlpha(90 if cell.is_marked else 70)
            mark = MARK if cell.is_marked else ""
            item.setText(f"{number}\n{cell.text}{mark}" if cell.exists else "")
            item.setToolTip(tip_text(cell.tip))
            item.setBackground(fill)
        self.viewport().update()

    def sizeHint(self) -> QSize:  # noqa: N802
        return QSize(LEAST_WIDTH_PX, self.rowCount() * (2 * self.fontMetrics().height() + 4))

    def minimumSizeHint(self) -> QSize:  # noqa: N802
        return self.sizeHint()

    def cell(self, lane: int) -> QRect:
        """The box in which a lane is painted, in the viewport."""
        return self.visualItemRect(self._items[lane])

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802
        super().paintEvent(event)
        painter, colors = QPainter(self.viewport()), theme.colors(self.palette())
        painter.setPen(QPen(QColor(colors.text), 2))
        painter.drawRect(self.cell(self._lane).adjusted(1, 1, -2, -2))

    def changeEvent(self, event: QEvent) -> None:  # noqa: N802
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange and hasattr(self, "_items"):
            self.show_cells(self.cells, self._lane, self.accessibleDescription())

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802
        if (step := ARROWS.get(event.key())) is None:
            event.ignore()  # others are the panel's
            return
        is_shifted = bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
        self.stepped.emit(*step, is_shifted)
