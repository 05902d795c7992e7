"""Something that floats in a lower corner of a view."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent
from PySide6.QtWidgets import QFrame, QWidget

from workbench.base import theme
from workbench.widgets.boxes import HBox
from workbench.widgets.panel_area import uncovered_part

EDGE = 8  # px from the view's edges
AROUND = 4  # px of a card around what is on it


class Floating(QFrame):
    """A frame over the view that is its parent, as large as its content; moves nothing there."""

    def __init__(
        self,
        over: QWidget,
        content: QWidget,
        side: Qt.AlignmentFlag = Qt.AlignmentFlag.AlignRight,
        *,
        is_opaque: bool = False,
    ) -> None:
        """Put `content` into the lower left or right corner of `over`, hidden at first.

        Where a drawer covers a part of `over`, it is the corner of the rest.

        is_opaque  on a card of its own, where it has gaps
        """
        super().__init__(over)
        self._over, self._side = over, side
        # Else all of it would be painted anew with whatever moves below.
        self.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent, is_opaque)
        row = HBox(self)
        around = AROUND if is_opaque else 0
        row.setContentsMargins(around, around, around, around)
        row.addWidget(content)
        over.installEventFilter(self)
        self.hide()

    def event(self, event: QEvent) -> bool:
        if event.type() in (QEvent.Type.LayoutRequest, QEvent.Type.Show):
            self.place()
        return super().event(event)

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802
        if self.testAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent):
            painter = QPainter(self)
            painter.fillRect(event.rect(), QColor(theme.colors(self.palette()).panel))

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802
        if event.type() == QEvent.Type.Resize:
            self.place()
        return super().eventFilter(watched, event)

    def place(self) -> None:
        """Take the corner that there is now."""
        room = uncovered_part(self._over)
        size = self.sizeHint().boundedTo(self._over.size())
        is_left = self._side == Qt.AlignmentFlag.AlignLeft
        left = room.left() + EDGE if is_left else room.right() + 1 - size.width() - EDGE
        self.setGeometry(
            left, self._over.height() - size.height() - EDGE, size.width(), size.height()
        )
