"""Drop-down lists: long entries are elided, headings cannot be chosen."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QFont, QPaintEvent, QPalette, QStandardItem
from PySide6.QtWidgets import QComboBox, QStyle, QStyleOptionComboBox, QStylePainter

from workbench.base.plain_text import tip_text
from workbench.widgets.buttons import allow, described
from workbench.widgets.keyboard import WheelAfterFocus

PADDING_PX = 2


class ElidingBox(WheelAfterFocus, QComboBox):
    """A combo box that cuts a long entry with an ellipsis; Qt would cut through a letter."""

    def __init__(self, name: str, title: str, tip: str = "") -> None:
        super().__init__()
        described(self, name, title, tip)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)  # not by the wheel

    def add(self, text: str, data: object = None, tip: str = "") -> None:
        self.addItem(text, data)
        if tip:
            self.setItemData(self.count() - 1, tip_text(tip), Qt.ItemDataRole.ToolTipRole)

    def show_why_not(self, data: object, reason: str, tip: str) -> None:
        """Grey out the entry with this data, with the reason as its tip; offer it without one."""
        model: Any = self.model()
        allow(model.item(self.findData(data)), reason, tip)

    def show_data(self, data: Any) -> None:
        """Select the entry with this data; `activated` is not emitted."""
        self.setCurrentIndex(self.findData(data))

    def paintEvent(self, _event: QPaintEvent) -> None:  # noqa: N802
        option = QStyleOptionComboBox()
        self.initStyleOption(option)
        if self.currentIndex() < 0 and self.placeholderText():
            option.currentText = self.placeholderText()
            faint = self.palette().brush(QPalette.ColorRole.PlaceholderText)
            option.palette.setBrush(QPalette.ColorRole.ButtonText, faint)
        kind, field = QStyle.ComplexControl.CC_ComboBox, QStyle.SubControl.SC_ComboBoxEditField
        room = self.style().subControlRect(kind, option, field, self).width() - PADDING_PX
        option.currentText = self.fontMetrics().elidedText(
            option.currentText, Qt.TextElideMode.ElideRight, room
        )
        painter = QStylePainter(self)
        painter.drawComplexControl(kind, option)
        painter.drawControl(QStyle.ControlElement.CE_ComboBoxLabel, option)


class DropDown(ElidingBox):
    """A list that shows all its entries at once; arrow keys pass those that cannot be chosen."""

    def __init__(self, name: str, title: str, tip: str = "") -> None:
        super().__init__(name, title, tip)
        self.setMaxVisibleItems(40)
        self.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)

    def entries(self) -> list[str]:
        return [self.itemText(row) for row in range(self.count())]

    def show_entries(self, entries: Mapping[str, object]) -> None:
        """List these titles with their data, unless they are there already."""
        if self.entries() != list(entries):
            self.clear()
            for title, data in entries.items():
                self.addItem(title, data)


def heading_item(title: str, font: QFont) -> QStandardItem:
    """An entry that cannot be chosen, in bold letters of the list's `font`."""
    heading = QStandardItem(title)
    heading.setFlags(Qt.ItemFlag.NoItemFlags)
    bold = QFont(font)
    bold.setBold(True)
    heading.setFont(bold)
    return heading


STYLE_PADDING_PX = 10  # of the style sheet, which Qt's hint leaves out


class ToolList(DropDown):
    """A list as wide as its longest entry.

    least  the share of that which it keeps where room is short, whatever is chosen, so that nothing
           beside it moves; 0: as much as the present entry takes
    """

    least = 0.0

    def __init__(self, name: str, title: str, tip: str = "") -> None:
        super().__init__(name, title, tip)
        self.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
        self.currentIndexChanged.connect(self.updateGeometry)

    def sizeHint(self) -> QSize:  # noqa: N802
        return super().sizeHint() + QSize(STYLE_PADDING_PX, 0)

    def minimumSizeHint(self) -> QSize:  # noqa: N802
        if self.least:
            return QSize(round(self.least * self.sizeHint().width()), self.sizeHint().height())
        full, width_of = ToolList.sizeHint(self), self.fontMetrics().horizontalAdvance
        longest = max(map(width_of, self.entries()), default=0)
        return QSize(full.width() - longest + width_of(self.currentText()), full.height())
