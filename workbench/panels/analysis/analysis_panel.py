"""Numbers and curves of before and after: how alike they are, their values, and a line of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QHBoxLayout,
    QLabel,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from workbench.base.numbers import MISSING, in_digits
from workbench.base.plain_text import Label, tip_text
from workbench.imaging.histograms import NAMES, Histogram
from workbench.imaging.line_profile import Line, along, distances, in_words
from workbench.imaging.similarity import Likeness
from workbench.panels.analysis.curves import Curve, CurvesChart
from workbench.panels.analysis.histogram_table import as_share, as_table, in_decibels
from workbench.panels.compare.mode_bar import ORIGINAL
from workbench.widgets.docks import Dock
from workbench.widgets.eliding_box import ElidingBox
from workbench.widgets.tile import MUTED, ValueTile, scaled_font
from workbench.widgets.upright_area import UprightArea

LINES = {"row": "Row at the pointer", "column": "Column at the pointer", "line": "Drawn line"}
ALL = "all channels"
SSIM_TIP = (
    "Structural similarity (Wang, Bovik, Sheikh, Simoncelli 2004): 1 is alike.\n"
    "Windows of 11×11 pixels, Gaussian with σ = 1.5, wholly inside the picture; K₁ = 0.01, "
    "K₂ = 0.03;\nthe mean over all windows and over the colour channels."
)
SSIM_NOTE = "SSIM: Wang et al. 2004, Gaussian window 11×11, σ = 1.5"
NO_SSIM = "The picture is smaller than SSIM's window of 11×11."
PSNR_TIP = (
    "Peak signal-to-noise ratio: 10 · log₁₀(full intensity² / mean squared difference).\n"
    "More is more alike; 40 dB is hard to see."
)
MAX_TIP = "The largest difference of any sample, in the picture's own units."
LINE_TIP = "What is drawn below; Shift and a drag over a picture draws a line of your own."


class AnalysisPanel(UprightArea):
    """The panel of analysis, which shows what it is given and computes nothing.

    Signals:
        against_wanted(index): compare with 0 the original, else the pinned result.
        line_kind_wanted(kind): one of LINES.
        seen(): it came on screen, so what it shows has to be up to date.
    """

    DOCK = Dock(
        "Analysis",
        setting="analysis",
        is_hidden=True,
        menu="&View",
        text="Anal&ysis",
        keys=("H",),
        tip="Histogram, line profile, PSNR, SSIM and largest error of before and after.",
    )

    against_wanted = Signal(int)
    line_kind_wanted = Signal(str)
    seen = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("analysis")
        self.setAccessibleName("Analysis of before and after")
        self._histograms: tuple[tuple[Histogram, ...], ...] = ()
        self._other = "before"
        inside = QWidget()
        self._column = QVBoxLayout(inside)
        self._column.setContentsMargins(6, 4, 6, 8)
        self._build_likeness()
        self._build_histogram()
        self._build_profile()
        self.setWidget(inside)
        self.show_nothing()

    # -- what to show

    def show_pins(self, names: Sequence[str], against: int) -> None:
        """Offer the original and these pinned results to compare with, `against` chosen."""
        with QSignalBlocker(self._against):
            self._against.clear()
            self._against.addItems([ORIGINAL, *names])
            self._against.setCurrentIndex(against)

    def show_nothing(self) -> None:
        """Clear all numbers and curves."""
        self._histograms = ()
        for tile in (self._psnr, self._ssim, self._largest):
            tile.show_value(MISSING)
        self._table.setText("")
        self._histogram.show_curves((), "", str, str)
        self.show_profile(None, None, None, "before")

    def show_likeness(self, found: Likeness) -> None:
        """Show PSNR in dB, SSIM, and the largest difference in the picture's units."""
        self._psnr.show_value(in_decibels(found.psnr_db))
        self._ssim.show_value(MISSING if found.ssim is None else as_share(found.ssim))
        self._largest.show_value(in_digits(found.largest))
        note = SSIM_NOTE if found.ssim is not None else NO_SSIM
        self._likeness_note.setText(f"Full intensity: {in_digits(found.full)}. {note}")

    def show_histograms(self, found: tuple[tuple[Histogram, ...], ...], other: str) -> None:
        """Draw the histograms of `other`, then those after the filter, and list their numbers."""
        self._histograms, self._other = found, other
        names = [histogram.channel for histogram in found[-1]]
        if names != [self._channel.itemText(i) for i in range(1, self._channel.count())]:
            with QSignalBlocker(self._channel):
                self._channel.clear()
                self._channel.addItems([ALL, *names])
        self._table.setText(as_table(found, other))
        self._draw_histogram()

    def show_profile(
        self,
        line: Line | None,
        before: NDArray[Any] | None,
        after: NDArray[Any] | None,
        other: str,
    ) -> None:
        """Draw the samples of both pictures, (H, W, C), along `line`."""
        if line is None or before is None or after is None:
            self._where.setText("Point at a picture, or draw a line over it with Shift and a drag.")
            self._profile.show_curves((), "", str, str)
            return
        pair = along(before, line), along(after, line)
        names = NAMES[before.shape[2]]
        xs = distances(before, line)
        curves = [
            Curve(name, bool(is_after), xs, samples[:, channel].astype(np.float64))
            for is_after, samples in enumerate(pair)
            for channel, name in enumerate(names)
            if name != "α"
        ]

        def tell(index: int) -> str:
            texts = (
                f"{title}: "
                + "  ".join(
                    f"{name} {in_digits(float(value))}"
                    for name, value in zip(names, samples[index], strict=True)
                )
                for title, samples in zip((other, "after"), pair, strict=True)
            )
            return "\n".join((f"{in_digits(float(xs[index]))} pixels along the line", *texts))

        words = in_words(line)
        self._where.setText(f"{words.capitalize()}; dashed: {other}, solid: after")
        self._profile.show_curves(curves, f"Values along {words}.", tell, in_digits)

    def show_line_kind(self, kind: str) -> None:
        """Choose one of LINES: where the profile is taken."""
        self._line_kind.setCurrentIndex(self._line_kind.findData(kind))

    def choices(self) -> dict[str, Any]:
        """Return what is remembered from one run to the next."""
        return {"log": self._log.isChecked(), "line": self.line_kind}

    def restore(self, data: dict[str, Any]) -> None:
        """Take over what `choices` gave; the defaults replace what makes no sense."""
        self._log.setChecked(data.get("log") is True)
        self.show_line_kind("column" if data.get("line") == "column" else "row")

    @property
    def line_kind(self) -> str:
        """Return the chosen one of LINES."""
        return str(self._line_kind.currentData())

    def showEvent(self, event: Any) -> None:  # noqa: N802
        super().showEvent(event)
        self.seen.emit()

    # -- how it is built

    def _build_likeness(self) -> None:
        self._against = _combo("analysis-against", "Compare with", "What after is compared with")
        self._against.addItem(ORIGINAL)
        self._against.activated.connect(self.against_wanted)
        self._column.addLayout(_row(_label("After compared with"), self._against))
        tiles = QHBoxLayout()
        tiles.setSpacing(4)
        self._psnr = ValueTile("psnr", "PSNR", "88.88 dB", PSNR_TIP, scale=1.05, detail=False)
        self._ssim = ValueTile("ssim", "SSIM", "0.8888", SSIM_TIP, scale=1.05, detail=False)
        self._largest = ValueTile(
            "largest", "Largest error", "0.0001234", MAX_TIP, scale=1.05, detail=False
        )
        for tile in (self._psnr, self._ssim, self._largest):
            tiles.addWidget(tile, 1)
        self._column.addLayout(tiles)
        self._likeness_note = Label(SSIM_NOTE)
        self._likeness_note.setObjectName("likeness-note")
        self._likeness_note.setFont(scaled_font(0.85))
        self._likeness_note.setForegroundRole(MUTED)
        self._likeness_note.setWordWrap(True)
        self._column.addWidget(self._likeness_note)

    def _build_histogram(self) -> None:
        self._channel = _combo("histogram-channel", "Channel", "Whose values are drawn")
        self._channel.addItem(ALL)
        self._channel.activated.connect(self._draw_histogram)
        self._log = QCheckBox("Log")
        self._log.setObjectName("histogram-log")
        self._log.setAccessibleName("Logarithmic counts")
        self._log.setToolTip("Draw the logarithm of the counts: then a few samples are seen, too")
        self._log.toggled.connect(self._draw_histogram)
        self._column.addLayout(_row(_title("Histogram"), self._channel, self._log))
        self._histogram = CurvesChart("The values of a result appear here.", "Histogram")
        self._column.addWidget(self._histogram, 1)
        self._table = Label()
        self._table.setObjectName("histogram-numbers")
        self._table.setAccessibleName("Numbers of the histogram")
        self._table.setTextFormat(Qt.TextFormat.RichText)
        self._table.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse
            | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        self._table.setFont(scaled_font(0.85))
        self._table.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self._table.setWordWrap(True)  # the notes below the numbers
        self._column.addWidget(self._table)

    def _build_profile(self) -> None:
        self._line_kind = _combo("line-kind", "Line", LINE_TIP)
        for kind, title in LINES.items():
            self._line_kind.addItem(title, kind)
        self._line_kind.activated.connect(lambda _: self.line_kind_wanted.emit(self.line_kind))
        self._column.addLayout(_row(_title("Profile"), self._line_kind))
        self._profile = CurvesChart(
            "The values along a line appear here.", "Line profile", across="pixels along the line"
        )
        self._column.addWidget(self._profile, 1)
        self._where = Label()
        self._where.setObjectName("profile-line")
        self._where.setWordWrap(True)
        self._where.setFont(scaled_font(0.85))
        self._where.setForegroundRole(MUTED)
        self._column.addWidget(self._where)

    def _draw_histogram(self) -> None:
        chosen = self._channel.currentText()
        curves = [
            Curve(each.channel, bool(is_after), each.edges, each.counts.astype(np.float64))
            for is_after, picture in enumerate(self._histograms)
            for each in picture
            if each.channel == chosen or (chosen == ALL and each.channel != "α")
        ]
        titles = (self._other, "after")

        def tell(index: int) -> str:
            low, high = curves[0].xs[index : index + 2]
            is_single = high - low == 1 and low % 1 == 0.5
            where = in_digits((low + high) / 2)
            if not is_single:
                where = f"{in_digits(low)} to {in_digits(high)}"
            counts = (
                f"{curve.channel} {titles[curve.is_after]}: {int(curve.ys[index]):,}"
                for curve in curves
            )
            return "\n".join((f"value {where}", *counts))

        summary = "; ".join(
            f"{each.channel} {title} from {in_digits(each.numbers.low)} to "
            f"{in_digits(each.numbers.high)}, mean {in_digits(each.numbers.mean)}"
            for title, picture in zip(titles, self._histograms, strict=False)
            for each in picture
        )
        self._histogram.show_curves(curves, summary, tell, in_digits, is_log=self._log.isChecked())


def _combo(name: str, title: str, tip: str) -> QComboBox:
    combo = ElidingBox()
    combo.setObjectName(name)
    combo.setAccessibleName(title)
    combo.setToolTip(tip_text(tip))
    return combo


def _label(text: str) -> QLabel:
    label = Label(text)
    label.setProperty("muted", True)
    return label


def _title(text: str) -> QLabel:
    label = _label(text)
    label.setStyleSheet("font-weight: 600")
    return label


def _row(*widgets: QWidget) -> QHBoxLayout:
    row = QHBoxLayout()
    for widget in widgets:
        row.addWidget(widget, int(isinstance(widget, QComboBox)))
    return row
