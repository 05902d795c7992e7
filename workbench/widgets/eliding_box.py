"""A combo box for entries of any length."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QPaintEvent, QPalette, QWheelEvent
from PySide6.QtWidgets import QComboBox, QStyle, QStyleOptionComboBox, QStylePainter, QWidget

from workbench.base.plain_text import tip_text
from workbench.widgets.wheel import ignore_wheel, no_wheel_focus

PADDING_PX = 2


class ElidingBox(QComboBox):
    """A combo box that cuts a long entry with an ellipsis; Qt would cut through a letter.

    The wheel changes it only while it has the focus.
    """

    def __init__(self, name: str, title: str, tip: str = "", parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName(name)
        self.setAccessibleName(title)
        self.setToolTip(tip_text(tip))
        no_wheel_focus(self)

    def wheelEvent(self, event: QWheelEvent) -> None:  # noqa: N802
        if not ignore_wheel(self, event):
            super().wheelEvent(event)

    @property
    def whole_px(self) -> int:
        """Return the width at which the present entry is whole."""
        option = QStyleOptionComboBox()
        self.initStyleOption(option)
        around = self.width() - self._field_px(option) + PADDING_PX
        return around + self.fontMetrics().horizontalAdvance(option.currentText)

    def paintEvent(self, _event: QPaintEvent) -> None:  # noqa: N802
        option = QStyleOptionComboBox()
        self.initStyleOption(option)
        if self.currentIndex() < 0 and self.placeholderText():
            option.currentText = self.placeholderText()
            faint = self.palette().brush(QPalette.ColorRole.PlaceholderText)
            option.palette.setBrush(QPalette.ColorRole.ButtonText, faint)
        option.currentText = self.fontMetrics().elidedText(
            option.currentText, Qt.TextElideMode.ElideRight, self._field_px(option) - PADDING_PX
        )
        painter = QStylePainter(self)
        painter.drawComplexControl(QStyle.ComplexControl.CC_ComboBox, option)
        painter.drawControl(QStyle.ControlElement.CE_ComboBoxLabel, option)

    def _field_px(self, option: QStyleOptionComboBox) -> int:
        kind, field = QStyle.ComplexControl.CC_ComboBox, QStyle.SubControl.SC_ComboBoxEditField
        return self.style().subControlRect(kind, option, field, self).width()
