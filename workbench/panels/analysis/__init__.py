"""The panel with numbers and curves of the pictures before and after the filter."""

from workbench.widgets.lazy_panel import Dock

DOCK = Dock(
    "Analysis",
    "workbench.panels.analysis.analysis_panel:AnalysisPanel",
    setting="analysis",
    keys=("H",),
    tip="Histogram, line profile, PSNR, SSIM and largest error of before and after.",
)
