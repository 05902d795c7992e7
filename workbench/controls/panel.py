"""The left panel: the groups of controls, one below the other."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QFrame, QScrollArea, QVBoxLayout, QWidget

from workbench.controls.display_controls import DisplayControls
from workbench.controls.filter_controls import FilterControls
from workbench.controls.run_controls import Availability, RunControls
from workbench.state import State


class ControlPanel(QScrollArea):
    """Shows a `State`; says what the user wants.  Decides nothing.

    Signals:
        wanted(name, value): the user picked `value` for State field `name`.
        stretch_wanted(): the display's levels are to span the picture's own values.
    """

    wanted = Signal(str, object)
    stretch_wanted = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.filter = FilterControls()
        self.run = RunControls()
        self._display = DisplayControls()
        self._groups = (self.filter, self.run, self._display)
        self._display.stretch_wanted.connect(self.stretch_wanted)
        column = self._column = QWidget()
        column.setObjectName("controls")
        rows = QVBoxLayout(column)
        rows.setContentsMargins(6, 0, 0, 8)  # to the right stands the scroll bar
        for group in self._groups:
            group.wanted.connect(self.wanted)
            rows.addWidget(group)
        rows.addStretch(1)
        self.setWidget(column)
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)

    def minimumSizeHint(self) -> QSize:  # noqa: N802
        """As wide as the controls and the scroll bar beside them: sideways nothing scrolls."""
        bar = self.verticalScrollBar().sizeHint().width()
        width = self._column.minimumSizeHint().width() + bar
        return QSize(width, super().minimumSizeHint().height())

    def showEvent(self, event: QShowEvent) -> None:  # noqa: N802
        super().showEvent(event)
        self.updateGeometry()  # only now the fonts and margins of the style are known

    def show_implementations(self, availability: Availability) -> None:
        self.run.show_implementations(availability)

    def show_state(self, state: State) -> None:
        for group in self._groups:
            group.show_state(state)
