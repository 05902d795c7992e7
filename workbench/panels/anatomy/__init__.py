"""Anatomy of a launch: blocks, warps and lanes over the picture, and their numbers in words."""

from workbench.widgets.lazy_panel import Dock

DOCK = Dock(
    "Anatomy",
    "workbench.panels.anatomy.anatomy_panel:AnatomyPane",
    setting="anatomy",
    tip="Blocks, tile and halo, warps and threads of a launch, over the picture.",
)
