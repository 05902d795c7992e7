"""The weights editor: a grid to type in, the properties of its numbers, and named weights."""

from workbench.widgets.lazy_panel import Dock

DOCK = Dock(
    "Weights",
    "workbench.panels.weights.weights_editor:WeightsEditor",
    tip="Edit a filter's weights by hand, or paste them; see rank and frequency response.",
)
