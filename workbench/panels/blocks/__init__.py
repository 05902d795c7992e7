"""Block shapes side by side, live: they take turns on the present job, and their times settle."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from workbench.widgets.actions import Action
from workbench.widgets.docks import Docks
from workbench.widgets.lazy_panel import Dock, LazyPanel

if TYPE_CHECKING:
    from workbench.panels.blocks.blocks_panel import BlocksPanel

DOCK = Dock("Blocks", setting="blocks", tip="Block shapes timed in turn on this picture.")


def action(docks: Docks) -> Action:
    """The menu's action that opens the panel."""
    return Action(
        *("&View", "&Block shapes, live", partial(docks.enter, DOCK.title), ("Ctrl+K",)),
        "Run block shapes in turn on the present job and see their times settle; "
        "without a GPU see how an H200 took them.",
    )


def lazy_panel() -> LazyPanel[BlocksPanel]:
    """Make the panel of block shapes when it is first shown."""

    def make() -> BlocksPanel:
        from workbench.panels.blocks.blocks_panel import BlocksPanel

        return BlocksPanel()

    return LazyPanel(DOCK, make)
