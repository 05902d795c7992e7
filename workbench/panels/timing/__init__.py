"""The panels on time: how long a run took, how fast that is, and how the last runs compare."""

from workbench.widgets.lazy_panel import Dock

DOCK = Dock(
    "Timing",
    "workbench.panels.timing.timing_panel:TimingPanel",
    keys=("T",),
    tip="All figures of time: transfers, compiling, throughput, and the last runs.",
)
