"""A drop-down list for a toolbar, which does not change its place with what is chosen."""

from __future__ import annotations

from PySide6.QtCore import QSize
from PySide6.QtWidgets import QComboBox

from workbench.widgets.drop_down import DropDown

PADDING_PX = 10  # of the style sheet, which Qt's hint leaves out


class ToolList(DropDown):
    """A list as wide as its longest entry; where room is short, as the present one."""

    def __init__(self, name: str, title: str) -> None:
        super().__init__(name, title)
        self.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
        self.currentIndexChanged.connect(self.updateGeometry)

    def sizeHint(self) -> QSize:  # noqa: N802
        return super().sizeHint() + QSize(PADDING_PX, 0)

    def minimumSizeHint(self) -> QSize:  # noqa: N802
        full, metrics = self.sizeHint(), self.fontMetrics()
        longest = max(map(metrics.horizontalAdvance, self.entries()), default=0)
        spare = longest - metrics.horizontalAdvance(self.currentText())
        return QSize(full.width() - spare, full.height())
