"""Analysis of before and after, computed off the GUI thread: similarity, histogram, profile."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QEvent, QPointF, QRectF, QSignalBlocker, Qt
from PySide6.QtGui import QColor, QPainter, QPen
from PySide6.QtWidgets import QCheckBox, QComboBox, QSizePolicy, QWidget

from kernels.core.job import Region
from workbench.base.background import Throttle
from workbench.base.numbers import MISSING, in_digits
from workbench.base.paths import asset_table
from workbench.base.plain_text import Label
from workbench.imaging import analyses
from workbench.model import intents
from workbench.model.state import State
from workbench.panels.analysis import curves as charts
from workbench.panels.compare.compare_view import CompareView
from workbench.panels.compare.inspection import Inspection
from workbench.panels.compare.wipe_view import pin_name
from workbench.session.live import Live
from workbench.session.store import Store
from workbench.session.tasks import AnalysisThread
from workbench.widgets.boxes import HBox, UprightArea, VBox
from workbench.widgets.buttons import described
from workbench.widgets.drop_down import ElidingBox
from workbench.widgets.folding import FoldedSection, OffStage
from workbench.widgets.lazy_panel import MARGINS
from workbench.widgets.message_bar import MessageBar
from workbench.widgets.tile import ElidedLabel, ValueTile, scaled_font, words_label
from workbench.widgets.watch import Watch

REDRAW_MS = 60  # a profile follows the pointer, but does not hold it up
HISTOGRAM, SIMILARITY = "histogram", "similarity"
Pair = tuple[NDArray[Any], NDArray[Any]]

FIRST = (
    "Open a picture to see its histogram, the values along a line, and how much the filter "
    "changes it."
)
LINES = {"row": "Row at the pointer", "column": "Column at the pointer", "line": "Drawn line"}
ALL = "all channels"
TIPS = asset_table("tips.toml")["analysis"]
SSIM_NOTE = "SSIM: Wang et al. 2004, Gaussian window 11×11, σ = 1.5"
OF_PART = "Of the part {}: {:,} pixels."
NUMBERS_PX = 600  # the least height at which the table of numbers is open by itself


class AnalysisPanel(UprightArea):
    """The panel of analysis; it draws the profile's line on the picture, too."""

    def __init__(
        self,
        store: Store,
        live: Live,
        inspection: Inspection,
        compare: CompareView,
        steps: AnalysisThread,
        messages: MessageBar,
    ) -> None:
        super().__init__()
        described(self, "analysis", "Analysis of before and after")
        self._store, self._live, self._inspection = store, live, inspection
        self._compare, self._steps = compare, steps
        self._inform = partial(messages.show_message, "info")
        self._of: tuple[Pair, Region | None] | None = None  # shown, or under way
        self._point: tuple[int, int] | None = None
        self._drawn: analyses.Line | None = None
        self._histograms: tuple[tuple[analyses.Histogram, ...], ...] = ()
        self._titles = "before", "after"
        self._later = Throttle(REDRAW_MS, self._draw_profile, self)
        inside, self._sections = QWidget(), QWidget()
        self._first = words_label("analysis-first")
        self._first.setText(FIRST)
        VBox(inside, MARGINS).add((self._first, 0, Qt.AlignmentFlag.AlignTop), (self._sections, 1))
        self._column = VBox(self._sections, 0)
        self._build_similarity()
        self._build_histogram()
        self._line_kind = ElidingBox("line-kind", "Line", TIPS["line"])
        for kind, title in LINES.items():
            self._line_kind.add(title, kind)
        self._line_kind.activated.connect(self._follow_line)
        across = "pixels along the line"
        empty = "Point at the picture to see a line of it."
        self._profile = charts.CurvesChart(empty, "Line profile", across=across)
        self._where = Label(name="profile-line", font=scaled_font(0.85), is_muted=True, wraps=True)
        self._column.add(_head("Profile", self._line_kind), (self._profile, 1), self._where)
        self._show_nothing()
        self.setWidget(inside)  # last: what changes inside a panel is laid out again
        self._numbers.follow(self, NUMBERS_PX)
        OffStage(self, self._numbers, self._similarity_note, self._where)
        store.changed.connect(self._follow)
        live.settled.connect(self._analyse)
        Watch(self, QEvent.Type.Show).seen.connect(self._analyse)
        inspection.pins_changed.connect(self._show_pins)
        compare.hovered.connect(self._point_at)
        compare.drawn.connect(self._draw_line)
        compare.add_overlay(self._paint_line)
        self._show_pins()

    def choices(self) -> dict[str, Any]:
        return {"log": self._log.isChecked(), "line": self._line_kind.currentData()}

    def restore(self, data: dict[str, Any]) -> None:
        self._log.setChecked(data.get("log") is True)
        self._line_kind.show_data("column" if data.get("line") == "column" else "row")

    # -- what is computed

    def _follow(self, old: State, new: State) -> None:
        samples = [state.picture and state.picture.samples for state in (old, new)]
        if samples[0] is not samples[1]:
            for name in (HISTOGRAM, SIMILARITY):
                self._steps.cancel(name)
            self._of = self._point = self._drawn = None
            self._show_nothing()

    def _pair(self) -> Pair | None:
        if (found := self._live.of_view) is None:
            return None
        picture, result, _ = found
        return self._inspection.other(picture)[0], result.picture

    def _analyse(self, _result: object = None) -> None:
        pair, picture = self._pair(), self._store.state.picture
        if not self.isVisible() or pair is None or picture is None:
            return
        part, (of, of_part) = intents.part_of(self._store.state), self._of or (None, None)
        if of is None or part != of_part or any(a is not b for a, b in zip(pair, of, strict=True)):
            self._of = pair, part
            self._titles = self._inspection.other(picture)[1]
            said = "" if part is None else OF_PART.format(part, part.width * part.height)
            self._part.show_or_hide(said)
            if part is not None:
                pair = part.of(pair[0]), part.of(pair[1])
            similarity = partial(analyses.comparing, *pair, picture.white)
            for name, make, show in (
                (HISTOGRAM, partial(analyses.counting, pair), self._show_histograms),
                (SIMILARITY, similarity, self._show_similarity),
            ):
                self._steps.ask(name, make, show, self._inform)
        self._later.start()

    # -- what is shown

    def _show_pins(self) -> None:
        pins = enumerate(self._inspection.pins, 1)
        names = [f"{pin_name(number)} · {pin.caption.splitlines()[0]}" for number, pin in pins]
        with QSignalBlocker(self._against):
            self._against.clear()
            self._against.addItems([self._compare.before_name, *names])
            self._against.setCurrentIndex(self._inspection.against)
        self._analyse()

    def _show_nothing(self) -> None:
        self._histograms = ()
        for tile in (self._psnr, self._ssim, self._largest):
            tile.show_value(MISSING)
        self._table.setText("")
        self._part.hide()
        self._cut.show_text("")
        self._histogram.show_curves((), "", str, str)
        self._show_no_line()
        is_there = self._store.state.picture is not None
        self._first.setVisible(not is_there)
        self._sections.setVisible(is_there)

    def _show_similarity(self, found: analyses.Similarity) -> None:
        self._psnr.show_value(charts.in_format(found.psnr_db, "{:.2f} dB"))
        ssim = MISSING if found.ssim is None else charts.in_format(found.ssim, "{:.4f}")
        self._ssim.show_value(ssim)
        self._largest.show_value(in_digits(found.largest))
        note = SSIM_NOTE if found.ssim is not None else "It is smaller than SSIM's window of 11×11."
        self._similarity_note.setText(f"Full intensity: {in_digits(found.full)}. {note}")

    def _show_histograms(self, found: tuple[tuple[analyses.Histogram, ...], ...]) -> None:
        self._histograms = found
        names = [histogram.channel for histogram in found[-1]]
        if names != [self._channel.itemText(i) for i in range(1, self._channel.count())]:
            with QSignalBlocker(self._channel):
                self._channel.clear()
                self._channel.addItems([ALL, *names])
        self._table.setText(charts.as_table(found, self._titles))
        self._draw_histogram()

    def _draw_histogram(self) -> None:
        chosen = self._channel.currentText()
        curves = [
            charts.Curve(each.channel, bool(is_after), each.edges, each.counts.astype(np.float64))
            for is_after, picture in enumerate(self._histograms)
            for each in picture
            if each.channel == chosen or (chosen == ALL and each.channel != "α")
        ]

        def tell(index: int) -> str:
            low, high = curves[0].xs[index : index + 2]
            is_single = high - low == 1 and low % 1 == 0.5
            middle, ends = in_digits((low + high) / 2), f"{in_digits(low)} to {in_digits(high)}"
            counts = (
                f"{curve.channel} {self._titles[curve.is_after]}: {int(curve.ys[index]):,}"
                for curve in curves
            )
            return "\n".join((f"value {middle if is_single else ends}", *counts))

        summary = "; ".join(
            f"{each.channel} {title} from {in_digits(each.numbers.low)} to "
            f"{in_digits(each.numbers.high)}, mean {in_digits(each.numbers.mean)}"
            for title, picture in zip(self._titles, self._histograms, strict=False)
            for each in picture
        )
        is_log = self._log.isChecked()
        ceiling = math.inf if is_log else charts.ceiling_of(curves)
        cut = [y for curve in curves for y in curve.ys.tolist() if y > ceiling]
        columns = "column" if len(cut) == 1 else "columns"
        words = f"{len(cut)} {columns} cut off, up to {max(cut, default=0):,.0f}"
        self._cut.show_text(words if cut else "")
        self._histogram.show_curves(
            curves, summary, tell, in_digits, is_log=is_log, ceiling=ceiling
        )

    # -- the line

    def _point_at(self, point: tuple[int, int] | None) -> None:
        if point is not None and self.isVisible() and self._line_kind.currentData() != "line":
            self._point = point
            self._later.ask()

    def _draw_line(self, line: analyses.Line, _is_done: bool) -> None:
        self._drawn = line
        self._line_kind.show_data("line")
        self._follow_line()

    def _follow_line(self) -> None:
        self._compare.repaint_overlays()
        self._later.ask()

    def _line(self, samples: NDArray[Any]) -> analyses.Line | None:
        height, width = samples.shape[:2]
        kind = self._line_kind.currentData()
        if kind == "line":
            return self._drawn
        x, y = self._point or (width // 2, height // 2)
        if x >= width or y >= height:
            return None
        return ((0, y), (width - 1, y)) if kind == "row" else ((x, 0), (x, height - 1))

    def _draw_profile(self) -> None:
        pair = self._pair()
        if pair is None or not self.isVisible():
            return
        if (line := self._line(pair[0])) is None:
            self._show_no_line()
            return
        values = [analyses.along(samples, line) for samples in pair]
        names, xs = analyses.NAMES[pair[0].shape[2]], analyses.distances(pair[0], line)
        curves = [
            charts.Curve(name, bool(is_after), xs, samples[:, channel].astype(np.float64))
            for is_after, samples in enumerate(values)
            for channel, name in enumerate(names)
            if name != "α"
        ]

        def tell(index: int) -> str:
            lines = [f"{in_digits(float(xs[index]))} pixels along the line"]
            for title, samples in zip(self._titles, values, strict=True):
                pairs = zip(names, samples[index], strict=True)
                written = (f"{name} {in_digits(float(value))}" for name, value in pairs)
                lines.append(f"{title}: {'  '.join(written)}")
            return "\n".join(lines)

        words, (other, after) = analyses.in_words(line), self._titles
        self._where.setText(f"{words.capitalize()}; dashed: {other}, solid: {after}")
        self._profile.show_curves(curves, f"Values along {words}.", tell, in_digits)

    def _show_no_line(self) -> None:
        self._where.setText("Point at the picture, or draw a line over it: Shift and a drag.")
        self._profile.show_curves((), "", str, str)

    def _paint_line(self, painter: QPainter, _visible: QRectF, scale: float) -> None:
        is_shown = self._line_kind.currentData() == "line" and self.isVisible()
        if self._drawn is None or not is_shown:
            return
        start, end = (QPointF(x + 0.5, y + 0.5) for x, y in self._drawn)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        for color, width in (("#000000", 4.0), ("#ffffff", 1.5)):
            painter.setPen(QPen(QColor(color), width / scale))
            painter.drawLine(start, end)
            for point in (start, end):
                painter.drawEllipse(point, 4 / scale, 4 / scale)

    # -- how it is built

    def _build_similarity(self) -> None:
        tip = "What the result is compared with"
        self._against = ElidingBox("analysis-against", "Compare with", tip)
        self._against.activated.connect(self._inspection.set_against)
        self._psnr, self._ssim, self._largest = (
            ValueTile(name, title, widest, tip, scale=1.05, detail=False)
            for name, title, widest, tip in (
                ("psnr", "PSNR", "88.88 dB", TIPS["psnr"]),
                ("ssim", "SSIM", "0.8888", TIPS["ssim"]),
                ("largest", "Largest error", "0.0001234", TIPS["largest"]),
            )
        )
        tiles = HBox(spacing=4).add((self._psnr, 1), (self._ssim, 1), (self._largest, 1))
        self._similarity_note = Label(
            f"Full intensity: {MISSING}. {SSIM_NOTE}",
            name="similarity-note",
            font=scaled_font(0.85),
            is_muted=True,
            wraps=True,
        )
        self._part = words_label("analysis-part", 0.9)
        head = _head("Compare with", self._against)
        self._column.add(self._part, head, tiles, self._similarity_note)

    def _build_histogram(self) -> None:
        self._channel = ElidingBox("histogram-channel", "Channel", "Which channel is drawn")
        self._channel.addItem(ALL)
        self._channel.activated.connect(self._draw_histogram)
        tip = "Logarithmic counts: rare values become visible, and no column is cut off"
        self._log = described(QCheckBox("Log"), "histogram-log", "Logarithmic counts", tip)
        self._log.toggled.connect(self._draw_histogram)
        self._histogram = charts.CurvesChart("The histogram appears with the result.", "Histogram")
        self._cut = ElidedLabel(0.85, "histogram-cut")
        self._table = Label(name="histogram-numbers", font=scaled_font(0.85), wraps=True)
        self._table.setAccessibleName("Numbers of the histogram")
        self._table.setTextFormat(Qt.TextFormat.RichText)
        self._table.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse
            | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        self._table.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        beside = self._cut, 1  # where it takes no room from the charts
        fold = "histogram-fold", TIPS["numbers"], "Numbers"
        self._numbers = FoldedSection(*fold, self._table, beside)
        head = _head("Histogram", self._channel, self._log)
        self._column.add(head, (self._histogram, 1), self._numbers)


def _head(title: str, *widgets: QWidget) -> HBox:
    label = Label(title)
    label.setProperty("heading", True)
    return HBox().add(label, *((each, int(isinstance(each, QComboBox))) for each in widgets))
