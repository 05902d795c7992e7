"""Which page is about which part of the window: what "What's this" opens."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtWidgets import QWidget

from workbench.widgets.tile import ValueTile

if TYPE_CHECKING:
    from workbench.window.main_window import MainWindow

START = "start"
# By the names of widgets; the nearest one around the widget counts.
TOPICS = {
    "Controls": "filters",
    "filter": "filters",
    "border": "filters#Borders",
    "pixel-type": "numbers#Pixel types",
    "matrix": "mode/weights",
    "weights-editor": "mode/weights",
    "cache": "numbers#L2 cache",
    "block-picker": "numbers#Block shape",
    "signed-as": "numbers#Values below zero",
    "baseline": "numbers#Speed-up",
    "verdict-card": "numbers#Verdict",
    "timing-strip": "numbers",
    "History": "numbers#History",
    "Sweep": "mode/sweep",
    "Rung": "mode/ladder",
    "Blocks": "mode/blocks",
    "Gallery": "files",
    "Pixel": "mode/pixel",
    "Anatomy": "mode/anatomy",
    "Analysis": "mode/analysis",
    "divider": "mode/wipe",
    "against": "mode/difference",
    "gain": "mode/difference",
    "next-differing": "mode/mismatch",
    "previous-differing": "mode/mismatch",
    "pin": "mode/pins",
    "device": "gpu",
}
# Those whose page depends on what is chosen.
RUNG, CHART = "implementation", "chart-view"
VIEWS = {"side": "mode/side", "wipe": "mode/wipe", "difference": "mode/difference",
         "mismatch": "mode/mismatch"}  # fmt: skip


def topic_of(window: MainWindow, widget: QWidget | None) -> str:
    """The page, and "#section" where there is one, about `widget`."""
    while widget is not None and widget is not window:
        if isinstance(widget, ValueTile):
            return f"numbers#{widget.caption}"
        name = widget.objectName()
        if name == RUNG:
            return f"rung/{window.store.state.implementation}"
        if name == CHART:
            figure = window.sweep.chart.figure
            return f"chart/{figure.kind}" if figure and figure.kind else "charts"
        if widget is window.compare:
            return VIEWS[window.store.state.view_mode]
        if name in TOPICS:
            return TOPICS[name]
        widget = widget.parentWidget()
    return START
