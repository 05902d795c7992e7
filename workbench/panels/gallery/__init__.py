"""Pictures to choose from: a folder's, the Kodak set, and those made by code."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.widgets.lazy_panel import Dock, LazyPanel

if TYPE_CHECKING:
    from workbench.base.settings import Settings
    from workbench.panels.gallery.gallery import Gallery

DOCK = Dock(
    "Gallery",
    menu="&File",
    text="&Gallery",
    keys=("Ctrl+G",),
    tip="Kodak pictures and pictures made by code.",
)


def lazy_panel(settings: Settings) -> LazyPanel[Gallery]:
    """Declare the gallery, whose folder and mirror `settings` remember."""

    def make() -> Gallery:
        from workbench.panels.gallery.gallery import make_gallery

        return make_gallery(settings)

    return LazyPanel(DOCK, make)
