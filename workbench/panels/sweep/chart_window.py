"""A window of its own for the panel's chart: on a projector, or beside the pictures."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QCloseEvent, QKeySequence, QShortcut
from PySide6.QtWidgets import QWidget

from workbench.base import theme
from workbench.widgets.boxes import UprightArea, VBox

KEYS = ("F9", "Esc")
SIZE = (1100, 760)


class ChartWindow(QWidget):
    """The window that holds the chart while it is open, and gives it back when it closes.

    Signals:
        left(chart): here it is.
    """

    left = Signal(object)

    def __init__(self, chart: QWidget, parent: QWidget) -> None:
        super().__init__(parent, Qt.WindowType.Window)
        self.setObjectName("chart-window")
        self.setWindowTitle("Chart")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.resize(theme.window_size(*SIZE))
        self._chart = chart
        self._area = UprightArea(chart)  # with large letters the legend alone may fill the window
        column = VBox(self, (12, 8, 12, 8))
        column.addWidget(self._area)
        for key in KEYS:
            QShortcut(QKeySequence(key), self, self.close)

    def closeEvent(self, event: QCloseEvent) -> None:  # noqa: N802
        self._area.takeWidget()
        self.left.emit(self._chart)
        super().closeEvent(event)
