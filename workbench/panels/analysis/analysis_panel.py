"""Numbers and curves of before and after: how alike they are, their values, and a line of them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtWidgets import QCheckBox, QComboBox, QLabel, QSizePolicy, QWidget

from workbench.base.numbers import MISSING, in_digits
from workbench.base.plain_text import Label
from workbench.imaging.analyses import (
    NAMES,
    Histogram,
    Line,
    Similarity,
    along,
    distances,
    in_words,
)
from workbench.panels.analysis.curves import (
    Curve,
    CurvesChart,
    as_share,
    as_table,
    ceiling_of,
    in_decibels,
)
from workbench.panels.compare.bars import ORIGINAL
from workbench.widgets.boxes import HBox, UprightArea, VBox
from workbench.widgets.drop_down import ElidingBox
from workbench.widgets.folding import FoldedSection, GivingWay
from workbench.widgets.lazy_panel import MARGINS
from workbench.widgets.tile import ValueTile, scaled_font, words_label

FIRST = (
    "Open a picture to see its histogram, the values along a line, and how much the filter "
    "changes it."
)
LINES = {"row": "Row at the pointer", "column": "Column at the pointer", "line": "Drawn line"}
ALL = "all channels"
SSIM_TIP = (
    "Structural similarity (Wang, Bovik, Sheikh, Simoncelli 2004); 1: identical.\n"
    "Gaussian windows of 11×11 pixels, σ = 1.5, wholly inside the picture; K₁ = 0.01, "
    "K₂ = 0.03;\nmean over all windows and colour channels."
)
SSIM_NOTE = "SSIM: Wang et al. 2004, Gaussian window 11×11, σ = 1.5"
NO_SSIM = "The picture is smaller than SSIM's window of 11×11."
PSNR_TIP = (
    "Peak signal-to-noise ratio: 10 · log₁₀(full intensity² / mean squared difference).\n"
    "Higher is more alike; from 40 dB on a difference is hard to see."
)
MAX_TIP = "The largest difference of any sample, in the picture's units."
NUMBERS_TIP = "Least and largest value, percentiles and mean of each channel, before and after."
LINE_TIP = "Which line the profile follows; Shift and a drag over the picture draws one."


class AnalysisPanel(UprightArea):
    """The panel of analysis, which computes nothing itself.

    Signals:
        against_wanted(index): compare with 0 the original, else the pinned result.
        line_kind_wanted(kind): one of LINES.
        seen(): it came on screen and has to be up to date.
    """

    against_wanted = Signal(int)
    line_kind_wanted = Signal(str)
    seen = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("analysis")
        self.setAccessibleName("Analysis of before and after")
        self._histograms: tuple[tuple[Histogram, ...], ...] = ()
        self._other = "before"
        inside, self._sections = QWidget(), QWidget()
        self._first = words_label("analysis-first")
        self._first.setText(FIRST)
        whole = VBox(inside, MARGINS)
        whole.add((self._first, 0, Qt.AlignmentFlag.AlignTop), (self._sections, 1))
        self._column = VBox(self._sections, 0)
        self._build_similarity()
        self._build_histogram()
        self._build_profile()
        self.show_nothing()
        self.show_picture(False)
        self.setWidget(inside)  # last: what changes inside a panel is laid out again
        GivingWay(self, (self._numbers, self._similarity_note, self._where), usual=2)

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
        self._cut.hide()
        self._histogram.show_curves((), "", str, str)
        self.show_profile(None, None, None, "before")

    def show_picture(self, is_there: bool) -> None:
        """Show numbers and curves, or without a picture the first hint."""
        self._first.setVisible(not is_there)
        self._sections.setVisible(is_there)

    def show_similarity(self, found: Similarity) -> None:
        """Show PSNR in dB, SSIM, and the largest difference in the picture's units."""
        self._psnr.show_value(in_decibels(found.psnr_db))
        self._ssim.show_value(MISSING if found.ssim is None else as_share(found.ssim))
        self._largest.show_value(in_digits(found.largest))
        note = SSIM_NOTE if found.ssim is not None else NO_SSIM
        self._similarity_note.setText(f"Full intensity: {in_digits(found.full)}. {note}")

    def show_histograms(self, found: tuple[tuple[Histogram, ...], ...], other: str) -> None:
        """Draw and list the histograms of `other` and of the result."""
        self._histograms, self._other = found, other
        names = [histogram.channel for histogram in found[-1]]
        if names != [self._channel.itemText(i) for i in range(1, self._channel.count())]:
            with QSignalBlocker(self._channel):
                self._channel.clear()
                self._channel.addItems([ALL, *names])
        self._table.setText(as_table(found, other))
        self._draw_histogram()

    def show_profile(
        self, line: Line | None, before: NDArray[Any] | None, after: NDArray[Any] | None, other: str
    ) -> None:
        """Draw the samples of both pictures, (H, W, C), along `line`."""
        if line is None or before is None or after is None:
            self._where.setText("Point at the picture, or draw a line over it: Shift and a drag.")
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
        """Choices to remember for the next start."""
        return {"log": self._log.isChecked(), "line": self.line_kind}

    def restore(self, data: dict[str, Any]) -> None:
        """Restore `choices`, with defaults for invalid ones."""
        self._log.setChecked(data.get("log") is True)
        self.show_line_kind("column" if data.get("line") == "column" else "row")

    @property
    def line_kind(self) -> str:
        """The chosen one of LINES."""
        return str(self._line_kind.currentData())

    def showEvent(self, event: Any) -> None:  # noqa: N802
        super().showEvent(event)
        self.seen.emit()

    # -- how it is built

    def _build_similarity(self) -> None:
        self._against = ElidingBox(
            "analysis-against", "Compare with", "What the result is compared with"
        )
        self._against.addItem(ORIGINAL)
        self._against.activated.connect(self.against_wanted)
        self._column.addLayout(_row(_title("Compare with"), self._against))
        tiles = HBox(spacing=4)
        self._psnr = ValueTile("psnr", "PSNR", "88.88 dB", PSNR_TIP, scale=1.05, detail=False)
        self._ssim = ValueTile("ssim", "SSIM", "0.8888", SSIM_TIP, scale=1.05, detail=False)
        self._largest = ValueTile(
            "largest", "Largest error", "0.0001234", MAX_TIP, scale=1.05, detail=False
        )
        tiles.add((self._psnr, 1), (self._ssim, 1), (self._largest, 1))
        self._column.addLayout(tiles)
        self._similarity_note = Label(
            SSIM_NOTE, name="similarity-note", font=scaled_font(0.85), is_muted=True, wraps=True
        )
        self._column.addWidget(self._similarity_note)

    def _build_histogram(self) -> None:
        self._channel = ElidingBox("histogram-channel", "Channel", "Which channel is drawn")
        self._channel.addItem(ALL)
        self._channel.activated.connect(self._draw_histogram)
        self._log = QCheckBox("Log")
        self._log.setObjectName("histogram-log")
        self._log.setAccessibleName("Logarithmic counts")
        self._log.setToolTip("Logarithmic counts: rare values become visible")
        self._log.toggled.connect(self._draw_histogram)
        self._column.addLayout(_row(_title("Histogram"), self._channel, self._log))
        self._histogram = CurvesChart("The histogram appears with the result.", "Histogram")
        self._column.addWidget(self._histogram, 1)
        self._cut = words_label("histogram-cut", 0.85, is_muted=True)
        self._column.addWidget(self._cut)
        self._table = Label(name="histogram-numbers", font=scaled_font(0.85))
        self._table.setAccessibleName("Numbers of the histogram")
        self._table.setTextFormat(Qt.TextFormat.RichText)
        self._table.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse
            | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        self._table.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self._table.setWordWrap(True)  # the notes below the numbers
        self._numbers = FoldedSection("histogram-fold", NUMBERS_TIP, "Numbers", self._table)
        self._column.addWidget(self._numbers)

    def _build_profile(self) -> None:
        self._line_kind = ElidingBox("line-kind", "Line", LINE_TIP)
        for kind, title in LINES.items():
            self._line_kind.addItem(title, kind)
        self._line_kind.activated.connect(lambda _: self.line_kind_wanted.emit(self.line_kind))
        self._column.addLayout(_row(_title("Profile"), self._line_kind))
        self._profile = CurvesChart(
            "Point at the picture to see a line of it.",
            "Line profile",
            across="pixels along the line",
        )
        self._column.addWidget(self._profile, 1)
        self._where = Label(name="profile-line", font=scaled_font(0.85), is_muted=True, wraps=True)
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
            middle, ends = in_digits((low + high) / 2), f"{in_digits(low)} to {in_digits(high)}"
            where = middle if is_single else ends
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
        ceiling = math.inf if self._log.isChecked() else ceiling_of(curves)
        self._show_cut(curves, ceiling)
        self._histogram.show_curves(
            curves, summary, tell, in_digits, is_log=self._log.isChecked(), ceiling=ceiling
        )

    def _show_cut(self, curves: Sequence[Curve], ceiling: float) -> None:
        cut = [
            (float(y), float(sum(curve.xs[n : n + 2]) / 2))
            for curve in curves
            for n, y in enumerate(curve.ys)
            if y > ceiling
        ]
        self._cut.setVisible(bool(cut))
        if cut:
            count, value = max(cut)
            columns = "1 column is" if len(cut) == 1 else f"{len(cut)} columns are"
            self._cut.setText(
                f"{columns} cut off; the tallest, at {in_digits(value)}, counts {count:,.0f}. "
                "Log shows all."
            )


def _title(text: str) -> QLabel:
    label = Label(text)
    label.setProperty("heading", True)
    return label


def _row(*widgets: QWidget) -> HBox:
    row = HBox()
    for widget in widgets:
        row.addWidget(widget, int(isinstance(widget, QComboBox)))
    return row
