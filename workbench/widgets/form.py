"""Labels on the left, what they name on the right, on one line of sight."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFormLayout, QSizePolicy, QWidget

from workbench.base.plain_text import Label


class Form(QFormLayout):
    """A form layout whose labels stand at half the height of their fields."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._labels: list[Label] = []
        self.setLabelAlignment(Qt.AlignmentFlag.AlignVCenter)
        self.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.AllNonFixedFieldsGrow)

    def add(self, text: str, field: QWidget, buddy: QWidget | None = None) -> None:
        """Add a row; Alt and the letter of `text` go to `buddy` if the field is several widgets."""
        label = Label(text)
        label.setBuddy(buddy or field)
        # Qt gives a label its row's whole height only if it wants to grow.
        label.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Expanding)
        self._labels.append(label)
        self.addRow(label, field)

    def set_applies(self, field: QWidget, applies: bool) -> None:
        """Disable a row that does not apply, in its place: what stands below does not move."""
        for part in (field, self.labelForField(field)):
            if part is not None:
                part.setEnabled(applies)

    @property
    def labels(self) -> tuple[Label, ...]:
        """Return the labels, from top to bottom."""
        return tuple(self._labels)


def align(*forms: Form) -> None:
    """Give the labels of all forms one width, so that their fields have one left edge."""
    labels = [label for form in forms for label in form.labels]
    widest = max(label.sizeHint().width() for label in labels)
    for label in labels:
        label.setMinimumWidth(widest)
