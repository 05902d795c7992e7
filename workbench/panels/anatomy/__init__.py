"""Anatomy of a launch: blocks, warps and lanes over the picture, and their numbers in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.widgets.lazy_panel import Dock, LazyPanel

if TYPE_CHECKING:
    from workbench.panels.anatomy.anatomy_panel import AnatomyPane
    from workbench.session.analysis_thread import AnalysisThread
    from workbench.session.store import Store
    from workbench.session.worker import Worker

DOCK = Dock(
    "Anatomy",
    setting="anatomy",
    tip="Blocks, tile and halo, warps and threads of a launch, over the picture.",
)


def lazy_panel(store: Store, worker: Worker, counts: AnalysisThread) -> LazyPanel[AnatomyPane]:
    """Return the panel about a launch; it takes what AnatomyPane takes."""

    def make() -> AnatomyPane:
        from workbench.panels.anatomy.anatomy_panel import AnatomyPane

        return AnatomyPane(store, worker, counts)

    return LazyPanel(DOCK, make)
