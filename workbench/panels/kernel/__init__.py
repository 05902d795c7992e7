"""A kernel of the user's own: written, tried on the picture, and searched for its bug."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.widgets.lazy_panel import Dock, LazyPanel

if TYPE_CHECKING:
    from workbench.model.rung_times import RungTimes
    from workbench.panels.kernel.kernel_pane import KernelPane
    from workbench.session.analysis_thread import StepQueue
    from workbench.session.store import Store

DOCK = Dock(
    "Kernel",
    setting="kernel",
    keys=("Ctrl+U",),
    tip="A CUDA kernel of your own: write it, and see what it does to the picture.",
    width_px=568,  # 60 letters of its source
)


def lazy_panel(store: Store, times: RungTimes, trials: StepQueue) -> LazyPanel[KernelPane]:
    """Return the panel of kernels; it takes what KernelPane takes."""

    def make() -> KernelPane:
        from workbench.panels.kernel.kernel_pane import KernelPane

        return KernelPane(store, times, trials)

    return LazyPanel(DOCK, make)
