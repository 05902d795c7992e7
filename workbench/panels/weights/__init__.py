"""The weights editor: a grid to type in, the properties of its numbers, and named weights."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.widgets.lazy_panel import Dock, LazyPanel

if TYPE_CHECKING:
    from workbench.panels.weights.weights_editor import WeightsEditor
    from workbench.session.store import Store

DOCK = Dock(
    "Weights",
    menu="&Edit",
    text="Wei&ghts",
    keys=("Ctrl+E",),
    tip="Edit a filter's weights by hand, or paste them; see rank and frequency response.",
)


def lazy_panel(store: Store) -> LazyPanel[WeightsEditor]:
    """Return the panel of weights; `store` is read for the state, never written to."""

    def make() -> WeightsEditor:
        from workbench.panels.weights.weights_editor import WeightsEditor

        return WeightsEditor(store)

    return LazyPanel(DOCK, make)
