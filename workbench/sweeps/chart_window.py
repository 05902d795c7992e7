"""A window of its own for the panel's chart: on a projector, or beside the pictures."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QCloseEvent, QKeySequence, QShortcut
from PySide6.QtWidgets import QVBoxLayout, QWidget

KEYS = ("F9", "Esc")
SIZE = (1100, 760)


class ChartWindow(QWidget):
    """Holds the chart while it is open, and gives it back when it closes.

    Signals:
        left(chart): here it is.
    """

    left = Signal(object)

    def __init__(self, chart: QWidget, parent: QWidget) -> None:
        super().__init__(parent, Qt.WindowType.Window)
        self.setObjectName("chart-window")
        self.setWindowTitle("Chart")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.resize(*SIZE)
        self._chart = chart
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(12, 8, 12, 8)
        self._column.addWidget(chart)
        for key in KEYS:
            QShortcut(QKeySequence(key), self, self.close)

    def closeEvent(self, event: QCloseEvent) -> None:  # noqa: N802
        self._column.removeWidget(self._chart)
        self.left.emit(self._chart)
        super().closeEvent(event)
