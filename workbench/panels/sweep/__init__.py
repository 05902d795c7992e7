"""The side panel of sweeps: what to measure, how it goes, and the sessions that are shown."""

from workbench.widgets.lazy_panel import Dock

DOCK = Dock(
    "Sweep",
    "workbench.panels.sweep.sweep_panel:SweepPanel",
    setting="sweep",
    tip="Many measurements as a plan, and their charts.",
)
