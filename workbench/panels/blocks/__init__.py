"""Block shapes side by side, live: they take turns on the present job, and their times settle."""

from workbench.widgets.lazy_panel import Dock

DOCK = Dock(
    "Blocks",
    "workbench.panels.blocks.blocks_panel:BlocksPanel",
    setting="blocks",
    tip="Block shapes timed in turn on this picture; without a GPU, as an H200 took them.",
)
