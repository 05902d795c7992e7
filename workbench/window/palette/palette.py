"""The palette: a line to type in, and below it the actions that it finds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from PySide6.QtCore import (
    QAbstractTableModel,
    QEvent,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    QSize,
    QSortFilterProxyModel,
    Qt,
    QTimer,
)
from PySide6.QtGui import QColor, QKeyEvent
from PySide6.QtWidgets import QDialog, QHeaderView, QLineEdit, QTreeView, QWidget

from workbench.base import theme
from workbench.base.plain_text import Label, tip_text
from workbench.widgets.boxes import VBox
from workbench.window.palette.entries import PaletteEntry, Rank, ranks_of

WIDTH_PX = 720
ROWS, ROW_PX = 10, 34
MOVES = {Qt.Key.Key_Up: -1, Qt.Key.Key_Down: 1, Qt.Key.Key_PageUp: -8, Qt.Key.Key_PageDown: 8}
Index = QModelIndex | QPersistentModelIndex


class Palette(QDialog):
    """A dialog to find an action: type, choose with the arrow keys, do it with Enter."""

    def __init__(self, entries: Sequence[PaletteEntry], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setObjectName("palette")
        self.setWindowTitle("All actions")
        self._found = _Found(entries, self)
        self._line = QLineEdit()
        self._line.setObjectName("palette-line")
        self._line.setAccessibleName("Find an action")
        self._line.setPlaceholderText("Type what you want to do")
        self._line.setClearButtonEnabled(True)
        self._line.textChanged.connect(self._find)
        self._line.installEventFilter(self)
        self._list = QTreeView()
        self._list.setObjectName("palette-list")
        self._list.setAccessibleName("Actions found")
        self._list.setModel(self._found)
        self._list.setRootIsDecorated(False)
        self._list.setUniformRowHeights(True)
        self._list.setHeaderHidden(True)
        self._list.header().setStretchLastSection(False)
        self._list.header().setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        self._list.header().setSectionResizeMode(1, QHeaderView.ResizeMode.ResizeToContents)
        self._list.setFocusPolicy(Qt.FocusPolicy.NoFocus)  # the line keeps the keyboard
        self._list.clicked.connect(self._do)
        self._list.selectionModel().currentChanged.connect(self._describe)
        self._about = Label(name="palette-about", is_muted=True, wraps=True)
        self._about.setMinimumHeight(2 * self._about.fontMetrics().lineSpacing())
        self._about.setAlignment(Qt.AlignmentFlag.AlignTop)
        column = VBox(self, (14, 14, 14, 10))
        column.add(self._line, self._list, self._about)
        self._list.ensurePolished()  # its frame is that of the theme
        self._list.setMinimumHeight(ROWS * theme.in_letters(ROW_PX) + 2 * self._list.frameWidth())
        self.resize(theme.window_size(WIDTH_PX, 0).width(), self.minimumSizeHint().height())
        self._find("")

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802
        """Pass keys that are for the list on from the line to it."""
        if event.type() == QEvent.Type.KeyPress and isinstance(event, QKeyEvent):
            key = Qt.Key(event.key())
            if key in MOVES:
                self._move(MOVES[key])
                return True
            if key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
                self._do(self._list.currentIndex())
                return True
        return super().eventFilter(watched, event)

    def _find(self, query: str) -> None:
        self._found.find(query)
        if self._found.rowCount():
            self._list.setCurrentIndex(self._found.index(0, 0))
            self._list.scrollToTop()
        else:
            self._about.setText(f"Nothing is called “{query.strip()}”.")

    def _move(self, steps: int) -> None:
        """Choose another entry; a single step wraps around at either end, a page does not."""
        count, now = self._found.rowCount(), self._list.currentIndex().row()
        if count:
            row = (now + steps) % count if abs(steps) == 1 else min(max(now + steps, 0), count - 1)
            self._list.setCurrentIndex(self._found.index(row, 0))

    def _describe(self, index: QModelIndex) -> None:
        entry = self._found.entry(index)
        if entry is not None:
            self._about.setText(entry.reason or entry.tip)
            keys = f", {entry.keys}" if entry.keys else ""
            self._line.setAccessibleDescription(f"{entry.name}, {entry.where}{keys}")

    def _do(self, index: QModelIndex) -> None:
        """Close the palette, then do what was chosen, which may open something itself."""
        entry = self._found.entry(index)
        if entry is None or entry.reason:
            return
        self.accept()
        QTimer.singleShot(0, entry.do)


class _Actions(QAbstractTableModel):
    """Entries with their names in one column, and their menus and keys in the other."""

    def __init__(self, entries: Sequence[PaletteEntry], parent: QObject) -> None:
        super().__init__(parent)
        self.entries = entries

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: N802, B008
        return 0 if parent.isValid() else len(self.entries)

    def columnCount(self, _parent: Index = QModelIndex()) -> int:  # noqa: N802, B008
        return 2

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        entry, is_name = self.entries[index.row()], index.column() == 0
        match role:
            case Qt.ItemDataRole.DisplayRole if is_name:
                return f"✓ {entry.name}" if entry.is_on else entry.name
            case Qt.ItemDataRole.DisplayRole:
                return f"{entry.where}    {entry.keys}" if entry.keys else entry.where
            case Qt.ItemDataRole.TextAlignmentRole if not is_name:
                return Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
            case Qt.ItemDataRole.ForegroundRole if entry.reason or not is_name:
                return QColor(theme.colors().muted)
            case Qt.ItemDataRole.SizeHintRole:
                return QSize(0, theme.in_letters(ROW_PX)) if is_name else None
            case Qt.ItemDataRole.ToolTipRole:
                return tip_text(entry.reason or entry.tip) or None
            case Qt.ItemDataRole.AccessibleTextRole:
                return f"{entry.name}, {entry.where}"
        return None


class _Found(QSortFilterProxyModel):
    """The entries that a query finds, the best first."""

    def __init__(self, entries: Sequence[PaletteEntry], parent: QObject) -> None:
        super().__init__(parent)
        self._entries = entries
        self._ranks: list[Rank | None] = ranks_of(entries, "")
        self.setSourceModel(_Actions(entries, self))
        self.sort(0)

    def find(self, query: str) -> None:
        """Show what `query` finds; without words everything, in order."""
        self._ranks = ranks_of(self._entries, query)
        self.invalidate()

    def entry(self, index: QModelIndex) -> PaletteEntry | None:
        return self._entries[self.mapToSource(index).row()] if index.isValid() else None

    def filterAcceptsRow(self, row: int, _parent: Index) -> bool:  # noqa: N802
        return self._ranks[row] is not None

    def lessThan(self, left: Index, right: Index) -> bool:  # noqa: N802
        keys = [(self._ranks[each.row()] or (), each.row()) for each in (left, right)]
        return keys[0] < keys[1]
