"""Pictures to choose from: a folder's, the Kodak set, and those made by code."""

from workbench.widgets.lazy_panel import Dock

DOCK = Dock(
    "Gallery",
    "workbench.panels.gallery.gallery:Gallery",
    tip="Kodak pictures and pictures made by code.",
)
