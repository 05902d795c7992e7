"""Updates of the analysis panel, computed off the GUI thread while it is visible."""

from __future__ import annotations

from functools import partial
from typing import Any

from numpy.typing import NDArray
from PySide6.QtCore import QObject, QPointF, QRectF, Signal
from PySide6.QtGui import QColor, QPainter, QPen

from workbench.base.background import Throttle
from workbench.imaging.analyses import Line, column, comparing, counting, row
from workbench.model.state import State
from workbench.panels.analysis.analysis_panel import AnalysisPanel
from workbench.panels.compare.compare_view import CompareView
from workbench.panels.compare.inspection import Inspection
from workbench.panels.compare.wipe_view import pin_name
from workbench.session.live import Live
from workbench.session.store import Store
from workbench.session.tasks import AnalysisThread

REDRAW_MS = 60  # a profile follows the pointer, but does not hold it up
HISTOGRAM, SIMILARITY = "histogram", "similarity"
Pair = tuple[NDArray[Any], NDArray[Any]]


class AnalysisController(QObject):
    """Links results and panel, and draws the line on the picture.

    `message` emits why something is missing.
    """

    message = Signal(str)

    def __init__(
        self,
        store: Store,
        live: Live,
        inspection: Inspection,
        compare: CompareView,
        panel: AnalysisPanel,
        steps: AnalysisThread,
    ) -> None:
        super().__init__(panel)
        self._store, self._live, self._inspection = store, live, inspection
        self._compare, self._panel, self._steps = compare, panel, steps
        self._of: Pair | None = None  # shown, or under way
        self._point: tuple[int, int] | None = None
        self._drawn: Line | None = None
        self._later = Throttle(REDRAW_MS, self._draw_profile, self)
        store.changed.connect(self._forget)
        live.settled.connect(lambda _: self._analyse())
        inspection.pins_changed.connect(self._show_pins)
        panel.against_wanted.connect(inspection.set_against)
        panel.line_kind_wanted.connect(lambda _: self._follow_line())
        panel.seen.connect(self._analyse)
        compare.hovered.connect(self._point_at)
        compare.drawn.connect(self._draw_line)
        compare.add_overlay(self._paint_line)
        self._show_pins()

    def _pair(self) -> Pair | None:
        """The samples compared with, and those of the result."""
        if (found := self._live.of_view) is None:
            return None
        picture, result, _ = found
        return self._inspection.other(picture)[0], result.picture

    def _other_name(self) -> str:
        picture = self._store.state.picture
        return "before" if picture is None else self._inspection.other(picture)[1]

    def _show_pins(self) -> None:
        pins = enumerate(self._inspection.pins, 1)
        names = [f"{pin_name(number)} · {pin.caption.splitlines()[0]}" for number, pin in pins]
        self._panel.show_pins(names, self._inspection.against)
        self._analyse()

    def _analyse(self) -> None:
        if not self._panel.isVisible():
            return
        self._panel.show_picture(self._store.state.picture is not None)
        pair, picture = self._pair(), self._store.state.picture
        if pair is None or picture is None:
            return
        if self._of is None or any(a is not b for a, b in zip(pair, self._of, strict=True)):
            self._of = pair
            name = self._other_name()
            self._steps.ask(
                HISTOGRAM,
                partial(counting, pair),
                lambda found: self._panel.show_histograms(found, name),
                self.message.emit,
            )
            similarity = partial(comparing, *pair, picture.white)
            self._steps.ask(SIMILARITY, similarity, self._panel.show_similarity, self.message.emit)
        self._later.start()

    def _forget(self, old: State, new: State) -> None:
        """Drop results and requests when another picture is opened."""
        samples = [state.picture and state.picture.samples for state in (old, new)]
        if samples[0] is not samples[1]:
            for name in (HISTOGRAM, SIMILARITY):
                self._steps.cancel(name)
            self._of = self._point = self._drawn = None
            self._panel.show_nothing()
        self._panel.show_picture(new.picture is not None)

    # -- the line

    def _point_at(self, point: tuple[int, int] | None) -> None:
        if point is not None and self._panel.isVisible() and self._panel.line_kind != "line":
            self._point = point
            self._later.ask()

    def _draw_line(self, line: Line, _is_done: bool) -> None:
        self._drawn = line
        self._panel.show_line_kind("line")
        self._follow_line()

    def _follow_line(self) -> None:
        self._compare.repaint_overlays()
        self._later.ask()

    def _line(self, samples: NDArray[Any]) -> Line | None:
        height, width = samples.shape[:2]
        if self._panel.line_kind == "line":
            return self._drawn
        x, y = self._point or (width // 2, height // 2)
        if x >= width or y >= height:
            return None
        return row(samples, y) if self._panel.line_kind == "row" else column(samples, x)

    def _draw_profile(self) -> None:
        pair = self._pair()
        if pair is not None and self._panel.isVisible():
            self._panel.show_profile(self._line(pair[0]), *pair, self._other_name())

    def _paint_line(self, painter: QPainter, _visible: QRectF, scale: float) -> None:
        if self._drawn is None or self._panel.line_kind != "line" or not self._panel.isVisible():
            return
        start, end = (QPointF(x + 0.5, y + 0.5) for x, y in self._drawn)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        for color, width in (("#000000", 4.0), ("#ffffff", 1.5)):
            painter.setPen(QPen(QColor(color), width / scale))
            painter.drawLine(start, end)
            for point in (start, end):
                painter.drawEllipse(point, 4 / scale, 4 / scale)
