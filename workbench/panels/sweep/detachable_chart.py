"""The sweep's chart, which moves into a window of its own and back."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Slot
from PySide6.QtWidgets import QWidget

from workbench.panels.sweep.sweep_controller import MENU
from workbench.widgets.actions import Action, AddHelp
from workbench.widgets.lazy_panel import LazyPanel

if TYPE_CHECKING:
    from workbench.panels.sweep.chart_window import ChartWindow
    from workbench.panels.sweep.sweep_panel import SweepPanel


class DetachableChart(QObject):
    """The window of the sweep's chart, opened and closed from the panel or the menu."""

    def __init__(self, sweep: LazyPanel[SweepPanel], add_help: AddHelp, parent: QWidget) -> None:
        """Connect the panel's button.

        parent  the chart's window stands beside it
        """
        super().__init__(parent)
        self._sweep, self._add_help, self._parent = sweep, add_help, parent
        self._window: ChartWindow | None = None
        sweep.when_made(lambda panel: panel.large_wanted.connect(self.toggle))

    def actions(self) -> list[Action]:
        """Return the menu's action."""
        return [
            Action(
                *(MENU, "Chart in a &window", self.toggle, ("F9",)),
                "The chart in a window of its own, and back.",
                separator=True,
            )
        ]

    @Slot()
    def toggle(self) -> None:
        """Give the chart a window, or take it back."""
        if self._window is not None:
            self._window.close()
            return
        from workbench.panels.sweep.chart_window import ChartWindow

        sweep = self._sweep.get()
        sweep.chart_place.removeWidget(sweep.chart)
        sweep.show_chart_away(True)
        self._window = ChartWindow(sweep.chart, self._parent)
        self._window.left.connect(self._take_back)
        self._add_help(self._window, "charts")
        sweep.chart.show()
        self._window.show()
        self._window.activateWindow()

    def close(self) -> None:
        """Close the chart's window with the main one."""
        if self._window is not None:
            self._window.close()

    @Slot()
    def _take_back(self) -> None:
        self._window = None
        sweep = self._sweep.get()
        sweep.show_chart_away(False)
        sweep.chart_place.addWidget(sweep.chart)
        sweep.chart.show()
