"""The chosen implementation: its idea, its place on the ladder, its source, PTX and SASS."""

from workbench.widgets.lazy_panel import Dock

DOCK = Dock(
    "Implementation",
    "workbench.panels.rung.rung_panel:RungPane",
    setting="rung",
    keys=("Ctrl+L",),
    tip="The chosen implementation: its idea, place on the ladder, source, PTX and SASS.",
)
