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
    """Return the gallery, which begins with what `settings` remember and keeps them up to date."""

    def make() -> Gallery:
        from workbench.panels.gallery.gallery_settings import make_gallery

        return make_gallery(settings)

    return LazyPanel(DOCK, make)
