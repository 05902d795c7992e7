"""A drop-down list that may have headings."""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, Qt
from PySide6.QtGui import QFont, QStandardItem
from PySide6.QtWidgets import QAbstractItemView, QComboBox, QListView

from workbench.widgets.eliding_box import ElidingBox

Move = QAbstractItemView.CursorAction
_UP, _DOWN = (Move.MoveHome, Move.MovePageUp), (Move.MoveEnd, Move.MovePageDown)


class DropDown(ElidingBox):
    """A list that shows all its entries at once; keys pass those that cannot be chosen."""

    def __init__(self, name: str, title: str) -> None:
        super().__init__(name, title)
        self.setMaxVisibleItems(40)
        self.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.setView(_Entries(self))

    def entries(self) -> list[str]:
        """Return the entries that can be chosen, as they read."""
        return [self.itemText(number) for number in range(self.count())]


def heading_item(title: str, font: QFont) -> QStandardItem:
    """Return an entry that cannot be chosen, in bold letters of the list's `font`."""
    heading = QStandardItem(title)
    heading.setFlags(Qt.ItemFlag.NoItemFlags)
    bold = QFont(font)
    bold.setBold(True)
    heading.setFont(bold)
    return heading


class _Entries(QListView):
    """A list view whose Home and End lead to an entry that can be chosen.

    Qt stops short of a heading.
    """

    def moveCursor(  # noqa: N802
        self, action: QAbstractItemView.CursorAction, modifiers: Qt.KeyboardModifier
    ) -> QModelIndex:
        found = super().moveCursor(action, modifiers)
        if action not in (*_UP, *_DOWN) or found.flags() & Qt.ItemFlag.ItemIsEnabled:
            return found
        rows = [self.model().index(row, 0) for row in range(self.model().rowCount())]
        able = [each for each in rows if each.flags() & Qt.ItemFlag.ItemIsEnabled]
        if not able:
            return found
        return able[0] if action in _UP else able[-1]
