"""A scroll area that only goes up and down."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, QSize, Qt
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QFrame, QScrollArea, QWidget


class UprightArea(QScrollArea):
    """A scroll area as wide as what it holds and the scroll bar: sideways nothing is lost."""

    def __init__(self, inside: QWidget | None = None) -> None:
        """Make an area that scrolls up and down.

        inside  what it holds; None: it is set later
        """
        super().__init__()
        self._narrowest = 0
        if inside is not None:
            self.setWidget(inside)
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)

    def minimumSizeHint(self) -> QSize:  # noqa: N802
        bar = self.verticalScrollBar().sizeHint().width()
        inside = self.widget()
        width = bar if inside is None else bar + inside.minimumSizeHint().width()
        return QSize(width, super().minimumSizeHint().height())

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802
        inside = self.widget()
        if watched is inside and event.type() == QEvent.Type.LayoutRequest:
            # Else Qt would take the height that its sentences need where they are narrow.
            layout = inside.layout()
            inside.setMinimumHeight(1 if layout is not None and layout.hasHeightForWidth() else 0)
            self._ask_for_room()  # Qt only looks at the scroll bars again
        return super().eventFilter(watched, event)

    def _ask_for_room(self) -> None:
        """Ask for another width only where it is needed: the whole window is laid out for that."""
        if (narrowest := self.minimumSizeHint().width()) != self._narrowest:
            self._narrowest = narrowest
            self.updateGeometry()

    def showEvent(self, event: QShowEvent) -> None:  # noqa: N802
        super().showEvent(event)
        self.updateGeometry()  # only now the fonts and margins of the style are known
