"""A canvas that draws figures; its plot is made after the window's first paint."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import suppress
from importlib import import_module
from threading import Thread
from time import perf_counter
from typing import Any

from PySide6.QtCore import QEvent, QObject, QPoint, QPointF, Qt, QTimer, Signal
from PySide6.QtGui import (
    QColor,
    QFocusEvent,
    QFontInfo,
    QKeyEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QResizeEvent,
)
from PySide6.QtWidgets import QScrollArea, QSizePolicy, QStackedLayout, QToolTip, QWidget
from shiboken6 import isValid

from workbench.base import theme
from workbench.base.plain_text import Label, tip_text
from workbench.charts.data.figure import Drawn, Figure, Spot
from workbench.widgets.letters import factor_of
from workbench.widgets.tile import scaled_font
from workbench.widgets.watch import Watch

NEAR_PX = 18  # to a mark, that it is pointed at
RINGS = {"keys": (17, "accent", 3.0), "mark": (24, "text", 2.5)}  # size, colour, width of each
RING_OF_FOCUS_PX = 2
STEPS = {Qt.Key.Key_Left: -1, Qt.Key.Key_Up: -1, Qt.Key.Key_Right: 1, Qt.Key.Key_Down: 1}
PICKS = Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space
ALL_HIDDEN = "Everything is hidden; show something by the legend."
MIN_PX, MAX_PX = 200, 16_000  # of the plot's height
# All that pyqtgraph imports; of the first three it asks for every name, the others may be missing.
QT_MODULES = ("QtCore", "QtGui", "QtWidgets", "QtSvg", "QtOpenGL", "QtOpenGLWidgets", "QtTest")
STEP_S = 0.004  # of making types, which takes as long as a frame
Range = tuple[float, float]


class Canvas(QWidget):
    """A widget that shows `empty` until there is a plot and something to draw.

    The arrow keys go from spot to spot and show its text; Enter picks one.  Ctrl and the
    wheel, or a drag, zoom in where that makes sense; a double click or Esc shows everything again.

    plot  a pyqtgraph PlotWidget; None until after the first paint

    Signals:
        ready(): draw now: the plot was made, or its theme or size changed.
        picked(cell): the user wants this Cell, by a click or by Enter; see `show_marked`.
    """

    ready = Signal()
    picked = Signal(object)

    def __init__(self, empty: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.plot: Any = None
        self._awaits_plot = False
        self._summary = ""
        self.spots: Sequence[Spot] = ()
        self._at: int | None = None  # the spot that the arrow keys are on
        self._marked: Any = None  # the cell picked last, until it is taken back
        self._rings: dict[str, Any] = {}  # around the spots of both
        self._home: Drawn | None = None
        self._drawn_factor = 1.0  # of the letters of the panel around it
        self._is_closer = False
        self._empty = Label(empty, is_muted=True, wraps=True)
        self._empty.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._stack = QStackedLayout(self)
        # Margins of the widget, since a stacked layout ignores its own.
        self.setContentsMargins(*4 * (RING_OF_FOCUS_PX,))
        self._stack.addWidget(self._empty)
        shown = Watch(self, QEvent.Type.Show).seen  # nothing is laid out while it is hidden
        shown.connect(lambda: QTimer.singleShot(0, self, self.ready.emit))

    # -- output

    def show_summary(self, summary: str) -> None:
        self._summary = summary
        self.setAccessibleDescription(summary)

    def show_empty(self, text: str) -> None:
        self._empty.setText(text)
        self.show_spots(())

    def show_spots(self, spots: Sequence[Spot]) -> None:
        """Take the spots to point at; without any, the text for an empty canvas is shown."""
        self.spots = spots
        self._at = None
        self._stack.setCurrentWidget(self.plot if spots and self.plot else self._empty)

    def show_drawn(self, drawn: Drawn) -> None:
        """Take the result of drawing; a range that the user zoomed to stays in sight."""
        before = self._at
        self.show_spots(drawn.spots)
        self._home = drawn
        self.plot.setMouseEnabled(x=drawn.can_zoom, y=drawn.can_zoom)
        self._is_closer = self._is_closer and drawn.can_zoom
        self._rings.clear()  # with everything else in the plot
        self._draw_mark()
        if before is not None and before < len(drawn.spots):
            self._at = before
            self._show_ring("keys", [drawn.spots[before]])

    def show_marked(self, cell: object) -> None:
        """Mark the spots that lead to this cell, until another is marked; None: no longer any."""
        self._marked = cell
        if self.plot is not None:
            self._draw_mark()

    # -- the plot

    def make_plot(self) -> None:
        if self.plot is not None:
            return
        from workbench.charts.drawing import plotting

        self.plot = plotting.PlotView(self)
        self.plot.scene().sigMouseMoved.connect(self._on_pointer_moved)
        self.plot.scene().sigMouseClicked.connect(self._click)
        self.plot.getViewBox().sigRangeChangedManually.connect(self._keep_inside)
        self.plot.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Ignored)
        self._stack.addWidget(self.plot)
        self.plot.setGeometry(self.contentsRect())
        self._dress()

    def _dress(self) -> None:
        from workbench.charts.drawing import plotting

        self._drawn_factor = factor_of(self)
        plotting.apply_theme(self.plot, theme.colors(), scaled_font(0.85 * self._drawn_factor))
        self.ready.emit()

    # -- events

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802
        super().paintEvent(event)
        if self.hasFocus():
            painter = QPainter(self)
            painter.setPen(QPen(QColor(theme.colors().accent), 2))
            painter.drawRect(self.rect().adjusted(1, 1, -1, -1))
            painter.end()
        if self.plot is None and not self._awaits_plot:
            self._awaits_plot = True
            plot_import.make_plot(self)

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802
        super().resizeEvent(event)
        if self.plot is not None:
            # The layout would place it only while it is shown.
            self.plot.setGeometry(self.contentsRect())
            self.ready.emit()

    def changeEvent(self, event: QEvent) -> None:  # noqa: N802
        super().changeEvent(event)
        kinds = QEvent.Type.PaletteChange, QEvent.Type.StyleChange  # in a scroll area the latter
        is_larger = event.type() == QEvent.Type.FontChange and factor_of(self) != self._drawn_factor
        if (event.type() in kinds or is_larger) and self.plot is not None:
            self._dress()

    def focusInEvent(self, event: QFocusEvent) -> None:  # noqa: N802
        super().focusInEvent(event)
        self.update()

    def focusOutEvent(self, event: QFocusEvent) -> None:  # noqa: N802
        super().focusOutEvent(event)
        QToolTip.hideText()
        self._show_ring("keys", ())
        self._at = None
        self.setAccessibleDescription(self._summary)
        self.update()

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802
        key = Qt.Key(event.key())
        if key in STEPS and self.spots:
            self._go_to(self._after(key))
        elif key in PICKS and self._at is not None:
            self._pick(self.spots[self._at])
        elif key == Qt.Key.Key_Escape and self._is_closer:
            self._show_all()
        else:
            super().keyPressEvent(event)

    # -- pointing

    def _after(self, key: Qt.Key) -> int:
        """The spot that an arrow key leads to; among tiles up and down keep the column."""
        if self._at is None:
            return 0 if STEPS[key] > 0 else len(self.spots) - 1
        if (here := self.spots[self._at].box) and key in (Qt.Key.Key_Up, Qt.Key.Key_Down):
            boxes = ((number, each.box) for number, each in enumerate(self.spots) if each.box)
            away = [(abs(box[0] - here[0]), STEPS[key] * (here[1] - box[1]), n) for n, box in boxes]
            if ahead := [each for each in away if each[1] > 0]:
                return min(ahead)[2]
        return (self._at + STEPS[key]) % len(self.spots)

    def spot_at(self, position: QPointF) -> Spot | None:
        """The bar or tile at a position in pixels of the plot, or a mark near it."""
        if not self.spots:
            return None
        box = self.plot.getViewBox()
        x, y = box.mapSceneToView(position).toTuple()
        for spot in self.spots:
            match spot.box:
                case left, low, right, high if left <= x <= right and low <= y <= high:
                    return spot
        offsets = [box.mapViewToScene(QPointF(s.x, s.y)) - position for s in self.spots]
        away = [math.hypot(offset.x(), offset.y()) for offset in offsets]
        nearest = self.spots[away.index(min(away))]
        return nearest if min(away) <= NEAR_PX and not nearest.box else None

    def _go_to(self, index: int) -> None:
        self._at = index
        spot = self.spots[index]
        self._show_ring("keys", [spot])
        self.setAccessibleDescription(spot.text)
        at = self.plot.getViewBox().mapViewToScene(QPointF(spot.x, spot.y))
        inside = self.parentWidget()
        if inside is not None and isinstance(area := inside.parentWidget(), QScrollArea):
            area.ensureVisible(at.toPoint().x(), at.toPoint().y(), 0, 2 * NEAR_PX)
        self._say(spot, at)

    def _draw_mark(self) -> None:
        spots = [each for each in self.spots if each.cell == self._marked is not None]
        said = "".join(f" Marked: {each.text.splitlines()[0]}." for each in spots[:1])
        self.setAccessibleDescription(f"{self._summary}{said}")
        self._show_ring("mark", spots)

    def _show_ring(self, name: str, spots: Sequence[Spot]) -> None:
        """Draw circles around spots, in place of those of this name before."""
        if not spots and name not in self._rings:
            return
        from workbench.charts.drawing import marks, plotting

        if (before := self._rings.pop(name, None)) is not None:
            plotting.without(self.plot, before)
        if spots:
            px, color, width = RINGS[name]
            pen = QPen(QColor(getattr(theme.colors(), color)), width)
            pen.setCosmetic(True)
            places = [s.x for s in spots], [s.y for s in spots]
            item = marks.Markers(*places, symbol="o", size=px, pen=pen, brush=None)
            self.plot.addItem(item)
            self._rings[name] = item

    def _on_pointer_moved(self, position: QPointF) -> None:
        spot = self.spot_at(position)
        if spot is None:
            QToolTip.hideText()
            self.plot.unsetCursor()
            return
        shapes = Qt.CursorShape
        self.plot.setCursor(shapes.ArrowCursor if spot.cell is None else shapes.PointingHandCursor)
        self._say(spot, position)

    def _say(self, spot: Spot, position: QPointF) -> None:
        beside = self.plot.mapToGlobal(position.toPoint() + QPoint(12, 12))
        QToolTip.showText(beside, tip_text(spot.text), self.plot)

    def _click(self, event: Any) -> None:
        if event.double():
            self._show_all()
        elif spot := self.spot_at(event.scenePos()):
            self._pick(spot)

    def _pick(self, spot: Spot) -> None:
        if spot.cell is not None:
            self.picked.emit(spot.cell)

    def _show_all(self) -> None:
        self._is_closer = False
        if self._home is not None:
            self._show_range(self._home.x, self._home.y)

    def _keep_inside(self, _axes: object) -> None:
        self._is_closer = True
        if self._home is not None:
            seen = self.plot.getViewBox().viewRange()
            self._show_range(*map(_inside, seen, (self._home.x, self._home.y)))

    def _show_range(self, x: Range, y: Range) -> None:
        self.plot.setXRange(*x, padding=0)
        self.plot.setYRange(*y, padding=0)


def _inside(ends: Range, home: Range) -> Range:
    span = min(ends[1] - ends[0], home[1] - home[0])
    low = min(max(ends[0], home[0]), home[1] - span)
    return low, low + span


class FigureView(Canvas):
    """A canvas for figures of every kind, as high as they need, with fonts that suit its size.

    It draws again whenever its size, theme or figure changes.
    """

    def __init__(self, empty: str, *, fills: bool = False, least_px: int | None = None) -> None:
        """Take the text to show while there is nothing to draw.

        fills     take all the room there is, even where the figure gains nothing by it
        least_px  its minimum height; None: what the figure needs
        """
        super().__init__(empty)
        self._nothing, self._fills, self._least_px = empty, fills, least_px
        self._room_px = 0
        self.figure: Figure | None = None
        self._is_drawing = False
        self.setMinimumHeight(least_px or MIN_PX)
        self.ready.connect(self._draw)
        self.show_summary(empty)

    def show_figure(self, figure: Figure | None) -> None:
        """Show its summary at once, and draw it if there is a plot; ignore an equal figure."""
        if figure != self.figure:
            self.figure = figure
            self.show_summary(figure.summary if figure else self._nothing)
            self._draw()

    def show_room(self, px: int) -> None:
        """Be at least so high."""
        if px != self._room_px:
            self._room_px = px
            self.setMinimumHeight(max(px, self._least_px or MIN_PX))
            self._draw()

    def _draw(self) -> None:
        """Draw, once, whatever the drawing changes about the size."""
        figure = self.figure
        if figure is None or figure.is_empty:
            is_hidden = figure is not None and any(each.is_hidden for each in figure.entries)
            self.show_empty(ALL_HIDDEN if is_hidden else self._nothing)
        elif self.plot is not None and not self._is_drawing:
            self._is_drawing = True
            try:
                self._draw_figure(figure)
            finally:
                self._is_drawing = False

    def _draw_figure(self, figure: Figure) -> None:
        from workbench.charts.drawing.painter import draw, least_px, most_px

        font = scaled_font(0.92)
        px = factor_of(self) * QFontInfo(font).pixelSize()
        font.setPixelSize(round(px))  # as an exported page's is
        least = self._least_px or round(least_px(figure, self.width(), font))
        self.setMinimumHeight(max(self._room_px, least))
        if not self._fills:
            self.setMaximumHeight(round(min(most_px(figure, self.width(), font), MAX_PX)))
        self._stack.setCurrentWidget(self.plot)  # a hidden plot is not laid out
        self.plot.setGeometry(self.contentsRect())
        x, y = self.plot.getViewBox().viewRange()
        self.show_drawn(draw(self.plot, figure, theme.colors(), font))
        if self._is_closer:
            self._show_range(x, y)


def make_plots(root: QWidget) -> None:
    """Make the plots of all canvases on the screen in `root`, for a picture that is taken now."""
    for each in root.findChildren(Canvas):
        if each.isVisible():
            each.make_plot()


class PlotImport(QObject):
    """The one import of pyqtgraph, off the GUI thread: in its 0.4 s nothing would move.

    It begins when a chart is first seen.  Qt's types are made in the GUI thread first: PySide
    makes each when it is first asked for, and where two threads ask at the same time the program
    crashes.  Python waits for the import's thread at the end of the program.
    """

    _ended = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._types, self._thread = _qt_types(), Thread(target=self._import, name="pyqtgraph")
        self._waiting: list[Canvas] = []
        # One that repeats: single shots that are due together are all done in one turn.
        self._timer = QTimer(self)
        self._timer.timeout.connect(self._take_turn)
        self._ended.connect(self._timer.start)

    def make_plot(self, canvas: Canvas) -> None:
        """Have a canvas make its plot, after the import and in a turn of its own: it takes long."""
        self._waiting.append(canvas)
        if not self._thread.is_alive():
            self._timer.start()

    def _take_turn(self) -> None:
        """Make types for STEP_S, and begin the thread after the last; or make a plot."""
        if self._thread.ident is None:
            end = perf_counter() + STEP_S
            if all(perf_counter() < end for _ in self._types):
                self._timer.stop()
                self._thread.start()
        elif not self._waiting:
            self._timer.stop()
        elif isValid(canvas := self._waiting.pop(0)):
            canvas.make_plot()

    def _import(self) -> None:
        with suppress(Exception):  # making a plot says why it failed
            from workbench.charts.drawing import painter  # noqa: F401
        self._ended.emit()


def _qt_types() -> Iterator[object]:
    """Yield all that stands in Qt's modules; a type is made by that, which takes up to 5 ms."""
    for name in QT_MODULES:
        with suppress(ImportError):
            module = import_module(f"PySide6.{name}")
            for each in dir(module):
                yield getattr(module, each, None)  # what is wrong with it the import says


plot_import = PlotImport()
