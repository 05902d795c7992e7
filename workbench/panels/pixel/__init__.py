"""The computation of one output sample, as a table and on the picture."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.widgets.lazy_panel import Dock, LazyPanel

if TYPE_CHECKING:
    from workbench.panels.pixel.pixel_panel import PixelPane
    from workbench.session.store import Store

DOCK = Dock("Pixel", tip="One pixel of the result: its neighbours, the weights and their sum.")


def lazy_panel(store: Store) -> LazyPanel[PixelPane]:
    """Declare the panel about one pixel."""

    def make() -> PixelPane:
        from workbench.panels.pixel.pixel_panel import PixelPane

        return PixelPane(store)

    return LazyPanel(DOCK, make)
