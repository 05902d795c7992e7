"""The menu beside a chart's kind: copying, saving, and how its values are shown."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Signal
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMenu, QToolButton

from workbench.base.plain_text import tip_text
from workbench.charts.data.figure import Bars, Choices, Figure, Plot
from workbench.widgets.file_dialogs import ask_save_path

SAVE_SVG = "Save as &SVG…", "As lines and letters, for print."
LOG = "&Logarithmic scale", "Equal steps for equal factors, or for equal differences."
PUBLISHED = (
    "P&ublished numbers, in grey",
    "What the authors of this plan's table measured, on their machine, in grey.",
)
SHOW_ALL = "Show &all, unpin", "Every line as it was at first."


class ChartMenu(QToolButton):
    """A button that opens what else can be done with a chart.

    Signals:
        copy_wanted(): copy the chart to the clipboard.
        save_wanted(path): save it; the suffix gives the format.
        log_wanted(is_log), published_wanted(is_shown): show it in this way.
        all_wanted(): hide nothing and pin nothing.
    """

    copy_wanted = Signal()
    save_wanted = Signal(object)
    log_wanted = Signal(bool)
    published_wanted = Signal(bool)
    all_wanted = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("chart-menu")
        self.setText("⋯")
        self.setAccessibleName("More for this chart")
        self.setToolTip("Copy, save as PNG or SVG, logarithmic scale")
        self.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self._title = ""
        menu = QMenu(self)
        self._exports = (
            menu.addAction("&Copy the chart"),
            menu.addAction("Save as &PNG…", lambda: self._save("png")),
            menu.addAction(SAVE_SVG[0], lambda: self._save("svg")),
        )
        self._exports[0].triggered.connect(self.copy_wanted)
        menu.addSeparator()
        self._log = menu.addAction(LOG[0])
        self._published = QAction(PUBLISHED[0], self)  # a box beside has it here
        for action in (self._log, self._published):
            action.setCheckable(True)
        self._log.triggered.connect(self.log_wanted)
        self._published.triggered.connect(self.published_wanted)
        self._all = menu.addAction(SHOW_ALL[0])
        self._all.triggered.connect(self.all_wanted)
        for action, tip in (
            (self._exports[0], "With its title and its words."),
            (self._exports[1], "With the settings and the plan inside."),
            (self._exports[2], SAVE_SVG[1]),
            (self._log, LOG[1]),
            (self._published, PUBLISHED[1]),
            (self._all, SHOW_ALL[1]),
        ):
            action.setToolTip(tip_text(tip))
        menu.setToolTipsVisible(True)
        self.setMenu(menu)

    @property
    def others(self) -> list[QAction]:
        """Return the actions that the window's menus lack: all but copying and saving as PNG."""
        return [self._exports[-1], self._log, self._published, self._all]

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
