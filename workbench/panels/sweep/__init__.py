"""The side panel of sweeps: what to measure, how it goes, and the sessions that are shown."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.widgets.lazy_panel import Dock, LazyPanel

if TYPE_CHECKING:
    from workbench.panels.sweep.shown_sessions import Sessions
    from workbench.panels.sweep.sweep_panel import SweepPanel
    from workbench.session.store import Store
    from workbench.session.worker import Worker

DOCK = Dock("Sweep", setting="sweep", tip="Many measurements as a plan, and their charts.")


def lazy_panel(sessions: Sessions, store: Store, worker: Worker) -> LazyPanel[SweepPanel]:
    """Make the panel of sweeps when it is first shown."""

    def make() -> SweepPanel:
        from workbench.panels.sweep.sweep_panel import SweepPanel

        return SweepPanel(sessions, store, worker)

    return LazyPanel(DOCK, make)
