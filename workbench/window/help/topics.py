"""The help's page about each part of the window, which "What's this" opens."""

from __future__ import annotations

from PySide6.QtWidgets import QWidget

from kernels.rungs.own_kernels import is_own
from workbench.charts.chart_view import ChartView
from workbench.model.state import State
from workbench.panels.compare.compare_view import CompareView
from workbench.widgets.tile import ValueTile

START = "start"
# By the names of widgets; the nearest one around the widget counts.
TOPICS = {
    "Settings": "filters",
    "tool-row": "filters",
    "filter": "filters",
    "border": "filters#Borders",
    "pixel-type": "numbers#Pixel types",
    "matrix": "mode/weights",
    "Weights": "mode/weights",
    "cache": "numbers#L2 cache",
    "block-picker": "numbers#Block shape",
    "negative-display": "numbers#Negative values",
    "baseline": "numbers#Speed-up",
    "verdict-card": "numbers#Verdict",
    "status-line": "numbers",
    "line-verdict": "numbers#Verdict",
    "history-plot": "numbers#History",
    "Timing": "numbers",
    "Sweep": "mode/sweep",
    "Implementation": "mode/ladder",
    "Blocks": "mode/blocks",
    "Gallery": "files",
    "Kernel": "mode/kernel",
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
RUNG = "implementation"  # its page depends on the choice
VIEWS = {
    "result": "mode/result",
    "side": "mode/side",
    "wipe": "mode/wipe",
    "difference": "mode/difference",
    "mismatch": "mode/mismatch",
}


def topic_of(widget: QWidget | None, state: State) -> str:
    """Return the page about `widget`, with "#section" where there is one."""
    while widget is not None:
        if isinstance(widget, ValueTile):
            return f"numbers#{widget.caption}"
        name = widget.objectName()
        if name == RUNG and is_own(state.implementation):
            return "mode/kernel"
        if name == RUNG:
            return f"rung/{state.implementation}"
        if isinstance(widget, ChartView):
            figure = widget.figure
            return f"chart/{figure.kind}" if figure and figure.kind else "charts"
        if isinstance(widget, CompareView):
            return VIEWS[state.view_mode]
        if name in TOPICS:
            return TOPICS[name]
        widget = widget.parentWidget()
    return START
