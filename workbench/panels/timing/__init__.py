"""The panels on time: how long a run took, how fast that is, and how the last runs compare."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.widgets.lazy_panel import Dock, LazyPanel

if TYPE_CHECKING:
    from workbench.panels.timing.history_plot import RunHistory
    from workbench.panels.timing.timing_panel import TimingPanel

DOCK = Dock(
    "Timing",
    keys=("T",),
    tip="All figures of time: transfers, compiling, throughput, and the last runs.",
)


def lazy_panel(runs: RunHistory) -> LazyPanel[TimingPanel]:
    """Make the panel of all figures of time, which plots `runs`, when it is first shown."""

    def make() -> TimingPanel:
        from workbench.panels.timing.timing_panel import TimingPanel

        return TimingPanel(runs)

    return LazyPanel(DOCK, make)
