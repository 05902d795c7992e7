"""The panel of settings, and the tool bar's controls."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.widgets.lazy_panel import Dock, LazyPanel

if TYPE_CHECKING:
    from workbench.panels.controls.controls_panel import ControlPanel

DOCK = Dock("Settings", "left", tip="What the toolbar has no room for: border, pixels, display.")


def lazy_panel() -> LazyPanel[ControlPanel]:
    """Declare the panel of settings."""

    def make() -> ControlPanel:
        from workbench.panels.controls.controls_panel import ControlPanel

        return ControlPanel()

    return LazyPanel(DOCK, make)
