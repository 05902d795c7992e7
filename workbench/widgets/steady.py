"""Keep the window from being laid out anew whenever a text changes."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QSize
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QWidget


class Steady(QWidget):
    """A holder of one widget that asks for other room only where that needs it.

    Each text set in a label has all layouts above it done again, up to the window's own, which
    takes a millisecond: too long while a slider is dragged.
    """

    def __init__(self, inside: QWidget) -> None:
        super().__init__()
        inside.setParent(self)
        self._inside = inside
        self._asked = self.sizeHint(), self.minimumSizeHint()

    def sizeHint(self) -> QSize:  # noqa: N802
        return self._inside.sizeHint()

    def minimumSizeHint(self) -> QSize:  # noqa: N802
        return self._inside.minimumSizeHint()

    def resizeEvent(self, _event: QResizeEvent) -> None:  # noqa: N802
        self._inside.resize(self.size())

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.LayoutRequest:
            needed = self.sizeHint(), self.minimumSizeHint()
            if needed != self._asked:
                self._asked = needed
                self.updateGeometry()
        return super().event(event)
