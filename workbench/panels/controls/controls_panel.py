"""The panel of settings, and the row of the toolbar for what everybody does."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import QEvent, Signal
from PySide6.QtWidgets import QWidget

from workbench.model.state import State
from workbench.panels.controls.display_controls import DisplayControls
from workbench.panels.controls.filter_controls import FilterControls
from workbench.panels.controls.implementation_box import Availability
from workbench.panels.controls.run_controls import RunControls
from workbench.panels.controls.tool_row import ToolRow
from workbench.panels.controls.weights_controls import WeightsControls
from workbench.widgets.actions import Action
from workbench.widgets.boxes import VBox
from workbench.widgets.form import align
from workbench.widgets.panel_frame import MARGINS
from workbench.widgets.upright_area import UprightArea

MENU = "&Run"


class ControlPanel(UprightArea):
    """The panel that shows a `State` and says what the user wants; it decides nothing.

    Attributes:
        tool_row: filter, size, implementation and block, which the window puts into its toolbar.

    Signals:
        wanted(name, value): the user picked `value` for State field `name`.
        auto_levels_wanted(): the display's levels are to span what is shown.
    """

    wanted = Signal(str, object)
    auto_levels_wanted = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.tool_row = ToolRow()
        self.filter = FilterControls()
        self.run = RunControls()
        self._display = DisplayControls()
        self.weights = WeightsControls()
        self._groups = (self.filter, self.run, self._display, self.weights)
        self.tool_row.wanted.connect(self.wanted)
        self._display.auto_levels_wanted.connect(self.auto_levels_wanted)
        column = QWidget()
        column.setObjectName("controls")
        rows = VBox(column, MARGINS)
        for group in self._groups:
            group.wanted.connect(self.wanted)
            rows.addWidget(group)
        rows.addStretch(1)
        self.setWidget(column)
        self._align()

    def actions_of_menu(self) -> list[Action]:
        """Return the menu's actions, by which keys step through the choices."""
        row, size = self.tool_row, self.tool_row.size_picker
        return [
            Action(
                *(MENU, "Next &implementation", partial(row.step_implementation, 1), ("I",)),
                "What it runs on: the next that can; the answer stays, the time changes.",
                separator=True,
            ),
            Action(
                *(MENU, "Previous implementation", partial(row.step_implementation, -1)),
                ("Shift+I",),
                "What it runs on: the one before that can.",
            ),
            Action(
                *(MENU, "&Larger kernel", partial(size.step, 1), ("]",)),
                "The next size of the weights: more neighbours count, and it takes longer.",
            ),
            Action(
                *(MENU, "&Smaller kernel", partial(size.step, -1), ("[",)),
                "The size before: fewer neighbours count, and it takes less long.",
            ),
            Action(
                *(MENU, "Next &block shape", partial(row.step_block, 1), (".",)),
                "Another shape of the CUDA blocks: the answer stays, the time changes.",
                why_not=row.why_no_block,
            ),
            Action(
                *(MENU, "Previous block shape", partial(row.step_block, -1), (",",)),
                "The shape before.",
                why_not=row.why_no_block,
            ),
        ]

    def show_implementations(self, availability: Availability) -> None:
        """Offer these implementations, each with the reason it cannot run, or None."""
        self.tool_row.show_implementations(availability)
        self.run.show_implementations(availability)

    def show_own_kernel(self, name: str) -> None:
        """List the kernel that the user works on beside the implementations."""
        self.tool_row.show_own_kernel(name)

    def changeEvent(self, event: QEvent) -> None:  # noqa: N802
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange and self.widget() is not None:
            self._align()

    def _align(self) -> None:
        align(self.filter.form, self.run.form, self._display.form)

    def show_levels(self, levels: tuple[float, float] | None) -> None:
        """Show the levels that were found by fitting the newest result."""
        self._display.show_levels(levels)

    def show_state(self, state: State) -> None:
        """Show `state` in every group and in the toolbar."""
        for group in (self.tool_row, *self._groups):
            group.show_state(state)
