"""The weights of the filter "Custom weights", as text."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QGroupBox

from kernels import filters
from workbench.model.intents import has_parameter
from workbench.model.state import State
from workbench.panels.controls.matrix_edit import MatrixEdit
from workbench.widgets.boxes import VBox


class WeightsControls(QGroupBox):
    """The last of the settings, so that nothing moves where a filter has no use for them.

    Signals:
        wanted(name, value): the user typed other weights, `value`, for State field "matrix".
        grid_wanted(): the user wants to edit the weights in a grid.
    """

    wanted = Signal(str, object)
    grid_wanted = Signal()

    def __init__(self) -> None:
        super().__init__("Custom weights")
        self._matrix = MatrixEdit()
        self._matrix.picked.connect(lambda matrix: self.wanted.emit("matrix", matrix))
        self._matrix.grid_wanted.connect(self.grid_wanted)
        rows = VBox(self)
        rows.addWidget(self._matrix)

    def show_state(self, state: State) -> None:
        """Show the weights where the filter is made of them."""
        self._matrix.show_matrix(state.matrix, state.offset)
        self.setVisible(has_parameter(filters.get(state.filter), "matrix"))
