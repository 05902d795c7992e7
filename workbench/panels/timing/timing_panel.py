"""Timing panel: a tile per figure, the verdict, and the last runs."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import QEvent
from PySide6.QtGui import QFont
from PySide6.QtWidgets import QFrame, QGridLayout, QWidget

from kernels.core.device import Device, NoDevice
from kernels.core.verdict import Check
from workbench.base.numbers import GAP, MISSING
from workbench.base.plain_text import tip_text
from workbench.panels.timing import timing_words as words
from workbench.panels.timing.history_plot import HistoryPlot, RunHistory
from workbench.panels.timing.status_line import Newest, VerdictBar, role_of
from workbench.widgets.boxes import HBox, UprightArea, VBox
from workbench.widgets.buttons import described
from workbench.widgets.lazy_panel import MARGINS
from workbench.widgets.tile import TEXT, ValueTile, scaled_font, words_label
from workbench.widgets.watch import Watch

GAP_PX = 6
COLUMNS = 2
ONLY_ON_GPU = ("upload", "download", "total", "compile")  # a CPU may have to compile, too

# Below the large tile of filter time and that of the speed-up, in columns, row by row.
SMALL = (
    ("throughput", "Throughput", words.throughput),
    ("bandwidth", "Bandwidth", words.bandwidth),
    ("upload", "Upload", words.upload),
    ("download", "Download", words.download),
    ("compile", "Compile", words.compiling),
    ("total", "Total", words.total),
)


class TimingPanel(UprightArea):
    """The tiles of the newest Result, filled in once the panel is open.

    history  the plot of the last runs
    """

    def __init__(self, runs: RunHistory) -> None:
        super().__init__()
        described(self, "timing-panel", "Timing")
        self.history = HistoryPlot(runs)
        self._newest = Newest()
        Watch(self, QEvent.Type.Show).seen.connect(self._refresh)
        self._has_gpu = False
        large = partial(ValueTile, scale=2.0, detail=True)
        self._filter_time = large(
            "filter-time", "Filter time", f"88.8{GAP}ms", words.TIPS["filter-time"]
        )
        self._speed_up = large("speed-up", "Speed-up", "88.8× slower", words.TIPS["speed-up"])
        self._small = [
            ValueTile(name, caption, f"8.88{GAP}GB/s", words.TIPS[name], scale=1.2, detail=False)
            for name, caption, _ in SMALL
        ]
        self._verdict = VerdictCard()
        inside = QWidget()
        column = VBox(inside, MARGINS, GAP_PX).add(self._filter_time, self._speed_up)
        grid = QGridLayout()
        grid.setSpacing(GAP_PX)
        for number, tile in enumerate(self._small):
            grid.addWidget(tile, number // COLUMNS, number % COLUMNS)
        column.add(grid, self._verdict, (self.history, 1))
        self.setWidget(inside)

    def show_times(self, newest: Newest) -> None:
        self._newest = newest
        self._refresh()

    def show_device(self, device: Device | NoDevice | None) -> None:
        """Show the tiles that need a GPU if there is one."""
        self._has_gpu = isinstance(device, Device)
        self._refresh()

    def _refresh(self) -> None:
        if not self.isVisible():
            return
        result, baseline, subject, why_empty = self._newest
        none = words.Figure()
        self._show(self._filter_time, words.filter_time(result) if result else none)
        self._show(self._speed_up, words.speed_up(result, baseline) if result else none)
        for tile, (*_, figure_of) in zip(self._small, SMALL, strict=True):
            self._show(tile, figure_of(result) if result else none)
        if result is None:
            self._verdict.show_verdict(why_empty, "", None)
        else:
            ran = "  ·  ".join(filter(None, (subject, words.what_ran(result))))
            said, check = words.judged(result)
            self._verdict.show_verdict(said[0], ran, check)

    def _show(self, tile: ValueTile, figure: words.Figure) -> None:
        tile.show_value(
            figure.text, figure.detail, note=figure.note, unsure=figure.unsure, more=figure.more
        )
        is_shown = self._has_gpu or tile.objectName() not in ONLY_ON_GPU or figure.text != MISSING
        tile.setVisible(is_shown)


class VerdictCard(QFrame):
    """The card with the verdict on the output, and with what ran."""

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("verdict-card")
        self.setWhatsThis(words.verdict_tip(None))
        self.setProperty("card", True)
        self._bar = VerdictBar()
        self._verdict = words_label("verdict", 1.05)
        self._verdict.setFont(scaled_font(1.05, QFont.Weight.DemiBold))
        self._ran = words_label("ran", 0.9, is_muted=True)
        column = VBox(spacing=3).add(self._verdict, self._ran)
        HBox(self, (5, 6, 10, 6), 7).add(self._bar, (column, 1))

    def show_verdict(self, text: str, ran: str, check: Check | None) -> None:
        """Show the finding of a check in words, and what ran; without a check, why."""
        self._bar.show_check(check)
        self._verdict.setText(text)
        self._verdict.setAccessibleName(f"Verdict: {text}")
        self._verdict.setForegroundRole(role_of(check, TEXT))
        self._ran.show_or_hide(ran)
        self._ran.setAccessibleName(f"What ran: {ran or 'nothing yet'}")
        self.setToolTip(tip_text(words.verdict_tip(check)))
