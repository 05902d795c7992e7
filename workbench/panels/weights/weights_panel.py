"""The Weights panel, whose editor follows the filter and changes it beside the picture."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtGui import QFocusEvent, QShowEvent
from PySide6.QtWidgets import QWidget

from kernels import filters
from kernels.core.errors import KernelError
from workbench.model import intents
from workbench.model.state import State
from workbench.panels.weights.named_weights import WeightsLibrary
from workbench.panels.weights.weights_editor import WeightsEditor
from workbench.session.store import Store
from workbench.widgets.boxes import VBox


class WeightsPanel(QWidget):
    """The panel of the weights editor.

    Attributes:
        editor: what is seen of it.

    Signals:
        picked(matrix, offset): these weights are wanted, and this part of white added.
    """

    picked = Signal(object, float)

    def __init__(self, store: Store) -> None:
        """Make the panel.

        store  read for the state, never written to
        """
        super().__init__()
        self.setObjectName("weights-panel")
        self._store = store
        self.editor = WeightsEditor(WeightsLibrary(), self)
        self.editor.picked.connect(self.picked)
        column = VBox(self, 0)
        column.addWidget(self.editor)
        self._follow(store.state)

    def show_state(self, state: State) -> None:
        """Show the weights of the filter, while the panel is seen."""
        if self.isVisible():
            self._follow(state)

    def close_thread(self) -> None:
        """Wait for the thread of the named weights to end."""
        self.editor.close_thread()

    @property
    def entrance(self) -> QWidget:
        """Return what has the keyboard where the panel is opened by its key: the cells."""
        return self.editor

    def focusInEvent(self, event: QFocusEvent) -> None:  # noqa: N802
        self.editor.setFocus(event.reason())

    def showEvent(self, event: QShowEvent) -> None:  # noqa: N802
        super().showEvent(event)
        self._follow(self._store.state)

    def _follow(self, state: State) -> None:
        try:
            weights = intents.weights_for(state)
        except KernelError:
            return  # the window says why there are none
        chosen = filters.get(state.filter)
        offset = state.offset if intents.has_parameter(chosen, "matrix") else 0.0
        self.editor.show_weights(weights, offset, chosen.title)
