"""The panel of settings: what the toolbar has no room for."""

from __future__ import annotations

from PySide6.QtCore import QEvent, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QWidget

from kernels.core.device import Device, NoDevice
from workbench.base import theme
from workbench.model.state import State
from workbench.panels.controls.display_controls import DisplayControls
from workbench.panels.controls.filter_controls import FilterControls
from workbench.panels.controls.implementation_box import Availability
from workbench.panels.controls.run_controls import RunControls
from workbench.panels.controls.weights_controls import WeightsControls
from workbench.widgets.boxes import UprightArea, VBox, align
from workbench.widgets.folding import FoldedSection
from workbench.widgets.lazy_panel import MARGINS

DISPLAY_TIP = "How pictures are shown; filters and saved files never change with it."
# From these heights on there is room for a sentence about the implementation, and for the display's
# part to be open.  They go by no content: what stands here keeps its place whatever is chosen.
SENTENCE_PX, DISPLAY_PX = 745, 640


class ControlPanel(UprightArea):
    """The panel that shows a `State` and says what the user wants; it decides nothing.

    Signals:
        wanted(name, value): the user picked `value` for State field `name`.
        auto_levels_wanted(): the display's levels are to span what is shown.
    """

    wanted = Signal(str, object)
    auto_levels_wanted = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.filter = FilterControls()
        self.run = RunControls()
        self._display = DisplayControls()
        self.weights = WeightsControls()
        self._groups = (self.filter, self.run, self._display, self.weights)
        self._display.auto_levels_wanted.connect(self.auto_levels_wanted)
        column = QWidget()
        column.setObjectName("controls")
        rows = VBox(column, MARGINS)
        for group in self._groups:
            group.wanted.connect(self.wanted)
        self._fold = FoldedSection("controls-fold-display", DISPLAY_TIP, "Display", self._display)
        rows.add(self.filter, self.run, self._fold, self.weights)
        rows.addStretch(1)
        self.setWidget(column)
        self._align()

    def show_implementations(self, availability: Availability) -> None:
        """Take these implementations, each with the reason it cannot run the job, or None."""
        self.run.show_implementations(availability)

    def show_device(self, device: Device | NoDevice) -> None:
        """Offer several GPUs where there are some."""
        self.run.show_device(device)

    def changeEvent(self, event: QEvent) -> None:  # noqa: N802
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange and self.widget() is not None:
            self._align()
            self._give_way()

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802
        super().resizeEvent(event)
        self._give_way()

    def _give_way(self) -> None:
        self.run.about.setVisible(self.height() >= theme.in_letters(SENTENCE_PX))
        self._fold.show_room(self.height() >= theme.in_letters(DISPLAY_PX))

    def _align(self) -> None:
        align(self.filter.form, self.run.form, self._display.form)

    def show_levels(self, levels: tuple[float, float] | None) -> None:
        """Show the levels that were found by fitting the newest result."""
        self._display.show_levels(levels)

    def show_state(self, state: State) -> None:
        """Show `state` in every group."""
        for group in self._groups:
            group.show_state(state)
