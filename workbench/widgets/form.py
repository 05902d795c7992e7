"""Labels on the left, what they name on the right, on one line of sight."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFormLayout, QSizePolicy, QWidget

from workbench.base.plain_text import Label


class Form(QFormLayout):
    """A form layout whose labels stand at half the height of their fields."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setLabelAlignment(Qt.AlignmentFlag.AlignVCenter)
        self.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.AllNonFixedFieldsGrow)

    def add(self, text: str, field: QWidget, buddy: QWidget | None = None) -> None:
        """Add a row; Alt and the letter of `text` go to `buddy` if the field is several widgets."""
        label = Label(text)
        label.setBuddy(buddy or field)
        # Qt gives a label its row's whole height only if it wants to grow.
        label.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Expanding)
        self.addRow(label, field)
