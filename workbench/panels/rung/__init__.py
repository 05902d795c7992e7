"""The chosen implementation: its idea, its place on the ladder, its source, PTX and SASS."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.widgets.lazy_panel import Dock, LazyPanel

if TYPE_CHECKING:
    from workbench.base.background import Background
    from workbench.model.rung_times import RungTimes
    from workbench.panels.rung.rung_panel import RungPane
    from workbench.session.store import Store
    from workbench.session.worker import Worker

DOCK = Dock(
    "Implementation",
    setting="rung",
    keys=("Ctrl+L",),
    tip="The chosen implementation: its idea, place on the ladder, source, PTX and SASS.",
)


def lazy_panel(
    store: Store, worker: Worker, times: RungTimes, background: Background
) -> LazyPanel[RungPane]:
    """Make the panel about the implementation when it is first shown."""

    def make() -> RungPane:
        from workbench.panels.rung.rung_panel import RungPane

        return RungPane(store, worker, times, background)

    return LazyPanel(DOCK, make)
