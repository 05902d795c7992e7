"""The left panel: the groups of controls, one below the other."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QVBoxLayout, QWidget

from workbench.model.state import State
from workbench.panels.controls.display_controls import DisplayControls
from workbench.panels.controls.filter_controls import FilterControls
from workbench.panels.controls.run_controls import Availability, RunControls
from workbench.widgets.actions import Action
from workbench.widgets.docks import Dock
from workbench.widgets.upright_area import UprightArea

MENU = "&Run"


class ControlPanel(UprightArea):
    """The panel that shows a `State` and says what the user wants; it decides nothing.

    Signals:
        wanted(name, value): the user picked `value` for State field `name`.
        stretch_wanted(): the display's levels are to span the picture's own values.
    """

    DOCK = Dock("Controls", "left")

    wanted = Signal(str, object)
    stretch_wanted = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.filter = FilterControls()
        self.run = RunControls()
        self._display = DisplayControls()
        self._groups = (self.filter, self.run, self._display)
        self._display.stretch_wanted.connect(self.stretch_wanted)
        column = QWidget()
        column.setObjectName("controls")
        rows = QVBoxLayout(column)
        rows.setContentsMargins(6, 0, 0, 8)  # the scroll bar is at the right
        for group in self._groups:
            group.wanted.connect(self.wanted)
            rows.addWidget(group)
        rows.addStretch(1)
        self.setWidget(column)

    def actions_of_menu(self) -> list[Action]:
        """Return the menu's actions, by which keys step through the choices."""
        run, weights = self.run, self.filter
        return [
            Action(
                *(MENU, "Next &implementation", partial(run.step_implementation, 1), ("I",)),
                "What it runs on: the next that can; the answer stays, the time changes.",
                separator=True,
            ),
            Action(
                *(MENU, "Previous implementation", partial(run.step_implementation, -1)),
                ("Shift+I",),
                "What it runs on: the one before that can.",
            ),
            Action(
                *(MENU, "&Larger kernel", partial(weights.step_size, 1), ("]",)),
                "The next size of the weights: more neighbours count, and it takes longer.",
            ),
            Action(
                *(MENU, "&Smaller kernel", partial(weights.step_size, -1), ("[",)),
                "The size before: fewer neighbours count, and it takes less long.",
            ),
            Action(
                *(MENU, "Next &block shape", partial(run.step_block, 1), (".",)),
                "Another shape of the CUDA blocks: the answer stays, the time changes.",
            ),
            Action(
                *(MENU, "Previous block shape", partial(run.step_block, -1), (",",)),
                "The shape before.",
            ),
        ]

    def show_implementations(self, availability: Availability) -> None:
        """Offer these implementations, each with the reason it cannot run, or None."""
        self.run.show_implementations(availability)

    def show_state(self, state: State) -> None:
        """Show `state` in every group."""
        for group in self._groups:
            group.show_state(state)
