"""The panel with numbers and curves of the pictures before and after the filter."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.widgets.lazy_panel import Dock, LazyPanel

if TYPE_CHECKING:
    from workbench.panels.analysis.analysis_panel import AnalysisPanel

DOCK = Dock(
    "Analysis",
    setting="analysis",
    keys=("H",),
    tip="Histogram, line profile, PSNR, SSIM and largest error of before and after.",
)


def lazy_panel() -> LazyPanel[AnalysisPanel]:
    """Declare the panel of analysis."""

    def make() -> AnalysisPanel:
        from workbench.panels.analysis.analysis_panel import AnalysisPanel

        return AnalysisPanel()

    return LazyPanel(DOCK, make)
