"""The panel of settings, and the tool bar's controls."""

from workbench.widgets.lazy_panel import Dock

DOCK = Dock(
    "Settings",
    "workbench.panels.controls.controls_panel:ControlPanel",
    "left",
    tip="What the toolbar has no room for: border, pixels, display.",
)
