"""The menu beside a chart's kind: copying, saving, and how its values are shown."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Signal
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMenu, QToolButton

from workbench.base.plain_text import tip_text
from workbench.charts.data.figure import Bars, Choices, Figure, Plot
from workbench.widgets.file_dialogs import ask_save_path

COPY = "&Copy the chart", "With its title and its words."
SAVE_PNG = "Save as &PNG…", "With the settings and the plan inside."
SAVE_SVG = "Save as &SVG…", "As lines and letters, for print."
LOG = "&Logarithmic scale", "Equal steps for equal factors, or for equal differences."
PUBLISHED = (
    "P&ublished numbers, in grey",
    "What the authors of this plan's table measured, on their machine, in grey.",
)
SHOW_ALL = "Show &all, unpin", "Every line as it was at first."


class ChartMenu(QToolButton):
    """A button that opens what else can be done with a chart.

    others  the actions that the window's menus lack: all but copying and saving as PNG

    Signals:
        copy_wanted(): copy the chart to the clipboard.
        save_wanted(path): save it; the suffix gives the format.
        chosen(changes): show it in this way, by fields of `Choices`.
    """

    copy_wanted = Signal()
    save_wanted = Signal(object)
    chosen = Signal(object)

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("chart-menu")
        self.setText("⋯")
        self.setAccessibleName("More for this chart")
        self.setToolTip("Copy, save as PNG or SVG, logarithmic scale")
        self.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self._title = ""
        copy, png, svg, self._log, self._published, self._all = (
            self._action(*each) for each in (COPY, SAVE_PNG, SAVE_SVG, LOG, PUBLISHED, SHOW_ALL)
        )
        self._exports = copy, png, svg
        self.others = [svg, self._log, self._published, self._all]
        copy.triggered.connect(self.copy_wanted)
        png.triggered.connect(lambda: self._save("png"))
        svg.triggered.connect(lambda: self._save("svg"))
        for action, field in ((self._log, "is_log"), (self._published, "published")):
            action.setCheckable(True)
            action.triggered.connect(lambda on, name=field: self.chosen.emit({name: on}))
        nothing = {"hidden": frozenset[str](), "pinned": frozenset[str]()}
        self._all.triggered.connect(lambda: self.chosen.emit(nothing))
        menu = QMenu(self)
        menu.addActions(self._exports)
        menu.addSeparator()
        menu.addActions([self._log, self._all])  # a box beside has the published ones here
        menu.setToolTipsVisible(True)
        self.setMenu(menu)

    def _action(self, text: str, tip: str) -> QAction:
        action = QAction(text, self)
        action.setToolTip(tip_text(tip))
        return action

    def show_figure(self, figure: Figure | None, choices: Choices) -> None:
        """Show what can be done with a figure, and how it is shown now."""
        self._title = figure.title if figure else ""
        for action in self._exports:
            action.setEnabled(figure is not None)
        body = figure.body if figure else None
        self._log.setEnabled(isinstance(body, Plot | Bars))
        if isinstance(body, Plot | Bars):
            self._log.setChecked((body.y if isinstance(body, Plot) else body.axis).is_log)
        self._published.setEnabled(bool(figure and figure.has_published))
        self._published.setChecked(choices.published)
        self._all.setEnabled(bool(choices.hidden or choices.pinned))

    def _save(self, suffix: str) -> None:
        proposed = Path(f"{self._title}.{suffix}".replace("/", "-"))
        kind = f"{suffix.upper()} (*.{suffix})"
        if path := ask_save_path(self, "Save the chart", proposed, kind):
            self.save_wanted.emit(path)
