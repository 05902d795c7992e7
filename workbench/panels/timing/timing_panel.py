"""The panel of all figures of time: a tile for each, the verdict, and the last runs."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtGui import QFont, QPaintEvent, QShowEvent
from PySide6.QtWidgets import QFrame, QGridLayout, QWidget

from kernels.core.device import Device, NoDevice
from kernels.core.job import Result
from kernels.core.verdict import Check
from workbench.base.numbers import GAP, MISSING
from workbench.base.plain_text import tip_text
from workbench.panels.timing import timing_tips as tips
from workbench.panels.timing import timing_words as words
from workbench.panels.timing.history_plot import HistoryPlot
from workbench.panels.timing.run_history import RunHistory
from workbench.panels.timing.timing_words import Figure
from workbench.panels.timing.verdict_bar import paint_bar, role_of
from workbench.widgets.boxes import UprightArea, VBox
from workbench.widgets.lazy_panel import MARGINS
from workbench.widgets.tile import TEXT, ValueTile, words_label

GAP_PX = 6
COLUMNS = 2
ONLY_ON_GPU = ("upload", "download", "total", "compile")  # a CPU may have to compile, too

FigureOf = Callable[[Result, Result | None], Figure]  # of a result and the baseline
Tiles = dict[ValueTile, FigureOf]


class TimingPanel(UprightArea):
    """The tiles of the newest Result as it is refined.

    Closed, it only remembers what it was told: the tiles are filled in when it is opened.

    Attributes:
        history: the plot of the last runs.
    """

    def __init__(self, runs: RunHistory) -> None:
        """Show `runs` in the plot below the tiles."""
        super().__init__()
        self.setObjectName("timing-panel")
        self.setAccessibleName("Timing")
        self.history = HistoryPlot(runs)
        self._result: Result | None = None
        self._baseline: Result | None = None
        self._why_empty = self._subject = ""
        self._has_gpu = False
        self._is_stale = True  # the tiles, of an earlier Result
        self._large, self._small = _large(), _small()
        self._verdict = VerdictCard()
        self._lay_out()

    def show_result(self, result: Result, baseline: Result | None, subject: str = "") -> None:
        """Show a result, and its speed-up against `baseline`; None: that is not known yet.

        subject  of what the times are; empty: of the picture
        """
        self._result, self._baseline, self._subject = result, baseline, subject
        self._refresh()

    def show_sentence(self, sentence: str) -> None:
        """Show why there are no figures, and clear all."""
        self._result, self._why_empty = None, sentence
        self._refresh()

    def show_device(self, device: Device | NoDevice | None) -> None:
        """Show tiles that only a GPU gives a value where there is one."""
        self._has_gpu = isinstance(device, Device)
        self._refresh()

    def _lay_out(self) -> None:
        inside = QWidget()
        column = VBox(inside, MARGINS, GAP_PX)
        column.add(*self._large)
        grid = QGridLayout()
        grid.setSpacing(GAP_PX)
        for number, tile in enumerate(self._small):
            grid.addWidget(tile, number // COLUMNS, number % COLUMNS)
        column.add(grid, self._verdict, (self.history, 1))
        self.setWidget(inside)

    def showEvent(self, event: QShowEvent) -> None:  # noqa: N802
        if self._is_stale:
            self._refresh_tiles()
        super().showEvent(event)

    def _refresh(self) -> None:
        self._is_stale = True
        if self.isVisible():
            self._refresh_tiles()

    def _refresh_tiles(self) -> None:
        self._is_stale = False
        result = self._result
        for tile, figure_of in (self._large | self._small).items():
            self._show(tile, figure_of(result, self._baseline) if result else Figure())
        if result is None:
            self._verdict.show_nothing(self._why_empty)
        else:
            self._verdict.show_result(result, self._subject)

    def _show(self, tile: ValueTile, figure: Figure) -> None:
        tile.show_value(
            figure.text, figure.detail, note=figure.note, unsure=figure.unsure, more=figure.more
        )
        is_shown = self._has_gpu or tile.objectName() not in ONLY_ON_GPU or figure.text != MISSING
        tile.setVisible(is_shown)


class VerdictCard(QFrame):
    """The card that says whether the answer is right, and what ran."""

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("verdict-card")
        self.setProperty("card", True)
        self._check: Check | None = None
        self._verdict = words_label("verdict", 1.05)
        font = self._verdict.font()
        font.setWeight(QFont.Weight.DemiBold)
        self._verdict.setFont(font)
        self._ran = words_label("ran", 0.9, is_muted=True)
        layout = VBox(self, (16, 6, 10, 6), 3)
        layout.add(self._verdict, self._ran)

    def show_result(self, result: Result, subject: str) -> None:
        """Show the check's finding, once there is one, and what ran, on what."""
        ran = "  ·  ".join(filter(None, (subject, words.what_ran(result))))
        self._show(words.verdict(result.check)[0], ran, result.check)

    def show_nothing(self, why: str) -> None:
        """Show the sentence why there is nothing to verify."""
        self._show(why, "", None)

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802
        super().paintEvent(event)
        paint_bar(self, self._check, 5, 6)

    def _show(self, text: str, ran: str, check: Check | None) -> None:
        self._check = check
        self._verdict.setText(text)
        self._verdict.setAccessibleName(f"Verdict: {text}")
        self._verdict.setForegroundRole(role_of(check, TEXT))
        self._ran.setText(ran)
        self._ran.setAccessibleName(f"What ran: {ran or 'nothing yet'}")
        self._ran.setVisible(bool(ran))
        self.setToolTip(tip_text(words.verdict_tip(check)))
        self.update()


def _large() -> Tiles:
    def made(name: str, caption: str, widest: str, tip: str) -> ValueTile:
        return ValueTile(name, caption, widest, tip, scale=2.0, detail=True)

    return {
        made("filter-time", "Filter time", f"88.8{GAP}ms", tips.FILTER_TIME): _alone(
            words.filter_time
        ),
        made("speed-up", "Speed-up", "88.8× slower", tips.SPEED_UP): words.speed_up,
    }


def _small() -> Tiles:
    """Return the tiles that stand in columns, row by row."""

    def made(name: str, caption: str, tip: str) -> ValueTile:
        return ValueTile(name, caption, f"8.88{GAP}GB/s", tip, scale=1.2, detail=False)

    return {
        made("throughput", "Throughput", tips.THROUGHPUT): _alone(words.throughput),
        made("bandwidth", "Bandwidth", tips.BANDWIDTH): _alone(words.bandwidth),
        made("upload", "Upload", tips.UPLOAD): _alone(words.upload),
        made("download", "Download", tips.DOWNLOAD): _alone(words.download),
        made("compile", "Compile", tips.COMPILE): _alone(words.compiling),
        made("total", "Total", tips.TOTAL): _alone(words.total),
    }


def _alone(figure_of: Callable[[Result], Figure]) -> FigureOf:
    """Return `figure_of` for a tile that needs no baseline."""
    return lambda result, _: figure_of(result)
