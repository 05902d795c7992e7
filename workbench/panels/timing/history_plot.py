"""A small plot of the filter times of the last runs, with marks where what ran was changed."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from PySide6.QtCore import Qt
from PySide6.QtGui import QFont, QFontMetricsF, QShowEvent
from PySide6.QtWidgets import QFrame

from workbench.base import numbers, theme
from workbench.base.plain_text import Label
from workbench.base.throttle import Throttle
from workbench.charts.canvas import Canvas
from workbench.charts.data.chart_spots import Spot
from workbench.panels.timing.run_history import LAST_RUNS, Run, RunHistory
from workbench.widgets.boxes import VBox
from workbench.widgets.tile import scaled_font

EMPTY = "The next runs appear here."
REDRAW_MS = 200  # often enough to keep up with dragging, seldom enough not to slow it down
LARGE_RANGE = 10.0  # from here on the axis is logarithmic
LABEL_ROWS = 2
MIN_LABEL_PX = 44  # a shorter piece of a name says nothing
LABEL_GAP_PX = 8
MARKER_PX = 9
AXIS_PX = 60  # about the width of the left axis
MIN_WIDTH = 20  # runs; so the first ones are not far apart


class HistoryPlot(QFrame):
    """The plot of the last runs: one point for each job, in the order they ran."""

    def __init__(self, history: RunHistory) -> None:
        """Show the runs of `history`, those from before as well."""
        super().__init__()
        self.setObjectName("history-plot")
        self.setAccessibleName("History of filter times")
        self.setProperty("card", True)
        self._runs = history.runs
        self._canvas = Canvas(EMPTY)
        self._canvas.setObjectName("history-canvas")
        self._canvas.setAccessibleName("Filter times of the last runs")
        self._canvas.ready.connect(self._draw)
        self._later = Throttle(REDRAW_MS, self._draw_if_seen, self)
        caption = Label(
            f"Filter time of the last {LAST_RUNS} runs", font=scaled_font(0.85), is_muted=True
        )
        layout = VBox(self, (10, 6, 10, 6), 2)
        layout.add(caption, (self._canvas, 1))
        self.setMinimumHeight(110)
        history.changed.connect(self._follow)
        self._follow()

    def draw_now(self) -> None:
        """Draw what would be drawn in a moment, for a picture that is taken now."""
        self._canvas.make_plot()
        self._draw()

    def _follow(self) -> None:
        words = _summary(self._runs) if self._runs else EMPTY
        self.setAccessibleDescription(words)
        self._canvas.show_summary(words)
        if self._runs:
            self._later.ask()
        else:
            self._draw()  # also while it is closed: nothing of what was removed stays

    def showEvent(self, event: QShowEvent) -> None:  # noqa: N802
        super().showEvent(event)
        self._later.ask()

    def _draw_if_seen(self) -> None:
        if self.isVisible():
            self._draw()

    def _draw(self) -> None:
        plot = self._canvas.plot
        if plot is None:
            return
        from workbench.charts.drawing.plotting import emptied

        emptied(plot)
        times = [run.median_ms for run in self._runs]
        is_log = bool(times) and max(times) / min(times) > LARGE_RANGE
        axis = plot.getAxis("left")
        axis.in_words, axis.is_log = numbers.duration, is_log
        ys = [math.log10(time) if is_log else time for time in times]
        font = scaled_font(0.8)
        row_px = QFontMetricsF(font).height()
        self._draw_range(plot, ys, is_log, LABEL_ROWS * row_px)
        self._draw_marks(plot, font, row_px)
        self._draw_points(plot, ys)
        pairs = enumerate(zip(ys, self._runs, strict=True))
        self._canvas.show_spots([Spot(x, y, run.in_words) for x, (y, run) in pairs])

    def _draw_range(self, plot: Any, ys: list[float], is_log: bool, top_px: float) -> None:
        """Set ranges: the newest run at the right, markers whole, labels above them."""
        plot.setXRange(-0.5, max(len(ys), MIN_WIDTH) - 0.5, padding=0.01)
        plot.hideAxis("bottom")
        plot.getAxis("left").setWidth(AXIS_PX)
        if ys:
            low, high = min(ys) if is_log else 0.0, max(ys)
            room_px = max(plot.height() - top_px - 3 * MARKER_PX, 20)
            px = max(high - low, 0.01 * abs(high)) / room_px
            axis = plot.getAxis("left")
            axis.lowest, axis.highest = low - MARKER_PX * px, high + MARKER_PX * px
            if not is_log:
                axis.lowest = 0.0
            top = high + (top_px + 1.5 * MARKER_PX) * px
            plot.setYRange(low - 1.5 * MARKER_PX * px, top, padding=0)

    def _draw_points(self, plot: Any, ys: list[float]) -> None:
        """Draw a marker for each run, and a thin line from one to the next."""
        import pyqtgraph as pg

        from workbench.charts.data.legend_entries import style_of_implementation
        from workbench.charts.drawing.markers import Markers
        from workbench.charts.drawing.series_style import WRONG_MARKER, markers_of

        colors = theme.colors(self.palette())
        styles = [style_of_implementation(run.implementation) for run in self._runs]
        how = markers_of(styles, colors, MARKER_PX)
        for index, run in enumerate(self._runs):
            if run.is_wrong:
                cross = (WRONG_MARKER, pg.mkPen(colors.bad), pg.mkBrush(colors.bad))
                how["symbol"][index], how["pen"][index], how["brush"][index] = cross
        xs = range(len(ys))
        plot.plot(xs, ys, pen=pg.mkPen(colors.border, width=1))
        plot.addItem(Markers(x=xs, y=ys, **how))

    def _draw_marks(self, plot: Any, font: QFont, row_px: float) -> None:
        """Draw a line before the first run of an implementation or block shape, and its name."""
        import pyqtgraph as pg

        color = theme.colors(self.palette()).muted
        metrics = QFontMetricsF(font)
        pen = pg.mkPen(color, style=Qt.PenStyle.DotLine)
        marks = _changes(self._runs)
        for (index, name), place in zip(marks, self._label_places(plot, font, marks), strict=True):
            line = pg.InfiniteLine(index - 0.5, pen=pen)
            if place is not None:
                text = metrics.elidedText(name, Qt.TextElideMode.ElideRight, place.width)
                label = pg.InfLineLabel(line, text, color=color, anchors=[(0, 0), (0, 0)])
                label.setPosition(1.0 - place.row * row_px / max(plot.height(), 1))
                label.setFont(font)
            plot.addItem(line)

    def _label_places(
        self, plot: Any, font: QFont, marks: Sequence[tuple[int, str]]
    ) -> list[LabelPlace | None]:
        width = plot.width() - AXIS_PX
        px_per_run = width / max(len(self._runs), MIN_WIDTH)
        metrics = QFontMetricsF(font)
        return label_places(
            [index * px_per_run for index, _ in marks],
            [metrics.horizontalAdvance(name) + 1 for _, name in marks],
            width,
        )


class LabelPlace(NamedTuple):
    """The place of a label right of its line: its row from the top, and its width in px."""

    row: int
    width: float


def label_places(
    starts: Sequence[float], widths: Sequence[float], room: float
) -> list[LabelPlace | None]:
    """Return a place for each label, given in px from left to right; none covers another.

    The newest come first; older ones are cut, or None where not even a piece of them has room:
    pointing at the run tells the same.
    """
    free = [room] * LABEL_ROWS  # in each row, the px at the left without a label yet
    places: list[LabelPlace | None] = []
    for start, width in zip(reversed(starts), reversed(widths), strict=True):
        place = _label_place(start, width, free)
        if place is not None:
            free[place.row] = start
        places.append(place)
    return places[::-1]


def _label_place(start: float, width: float, free: Sequence[float]) -> LabelPlace | None:
    rooms = [end - start - LABEL_GAP_PX for end in free]
    whole = [row for row, px in enumerate(rooms) if px >= width]
    row = whole[0] if whole else rooms.index(max(rooms))
    if rooms[row] >= min(width, MIN_LABEL_PX):
        return LabelPlace(row, min(width, rooms[row]))
    return None


def _changes(runs: Iterable[Run]) -> list[tuple[int, str]]:
    """Return where another implementation or block shape begins, and its name."""
    names = ["", *(run.name for run in runs)]
    return [(i, name) for i, (before, name) in enumerate(pairwise(names)) if name != before]


def _summary(runs: Sequence[Run]) -> str:
    times = [run.median_ms for run in runs]
    return (
        f"{len(runs)} runs, filter times from {numbers.duration(min(times))} to "
        f"{numbers.duration(max(times))}; the last, {runs[-1].name}, took "
        f"{numbers.duration(times[-1])}."
    )
