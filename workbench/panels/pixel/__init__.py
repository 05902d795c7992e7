"""The computation of one output sample, as a table and on the picture."""

from workbench.widgets.lazy_panel import Dock

DOCK = Dock(
    "Pixel",
    "workbench.panels.pixel.pixel_panel:PixelPane",
    tip="One pixel of the result: its neighbours, the weights and their sum.",
)
