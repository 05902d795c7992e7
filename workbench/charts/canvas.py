"""A canvas whose plot is made after the window's first paint, when pyqtgraph is imported."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from PySide6.QtCore import QEvent, QPoint, QPointF, Qt, QTimer, Signal, Slot
from PySide6.QtGui import (
    QColor,
    QFocusEvent,
    QKeyEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QResizeEvent,
    QShowEvent,
)
from PySide6.QtWidgets import QScrollArea, QSizePolicy, QStackedLayout, QToolTip, QWidget

from workbench.base import theme
from workbench.base.plain_text import Label, tip_text
from workbench.charts.data.chart_spots import Drawn, Spot
from workbench.charts.plot_import import plot_import
from workbench.widgets.letters import factor_of
from workbench.widgets.tile import scaled_font

NEAR_PX = 18
RING_PX, MARK_PX = 17, 24
RING_OF_FOCUS_PX = 2
STEPS = {Qt.Key.Key_Left: -1, Qt.Key.Key_Up: -1, Qt.Key.Key_Right: 1, Qt.Key.Key_Down: 1}


class Canvas(QWidget):
    """A widget that shows `empty` until there is a plot and something to draw.

    The arrow keys go from spot to spot and tell what is there; Enter picks one.  Ctrl and the
    wheel, or a drag, zoom in where that makes sense; a double click or Esc shows everything again.

    plot  a pyqtgraph PlotWidget; None until after the first paint

    Signals:
        ready(): draw now: the plot was made, or its theme or size changed.
        picked(cell): the user wants this Cell, by a click or by Enter.

    What was picked is marked where somebody says so: see `show_marked`.
    """

    ready = Signal()
    picked = Signal(object)

    def __init__(self, empty: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.plot: Any = None
        self._created: Any = None  # a plot that nobody has seen yet
        self._awaits_plot = False
        self._summary = ""
        self.spots: Sequence[Spot] = ()
        self._at: int | None = None  # the spot that the arrow keys are on
        self._ring: Any = None
        self._marked: Any = None  # what was picked last, until it is taken back
        self._mark: Any = None
        self._home: Drawn | None = None
        self._drawn_factor = 1.0  # of the letters of the panel around it
        self._is_closer = False
        self._empty = Label(empty, is_muted=True, wraps=True)
        self._empty.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._stack = QStackedLayout(self)
        # Margins of the widget, since a stacked layout ignores its own.
        self.setContentsMargins(*4 * (RING_OF_FOCUS_PX,))
        self._stack.addWidget(self._empty)

    def show_summary(self, summary: str) -> None:
        """Tell a screen reader what there is to see."""
        self._summary = summary
        self.setAccessibleDescription(summary)

    def show_empty(self, text: str) -> None:
        """Show why nothing is drawn."""
        self._empty.setText(text)
        self.show_spots(())

    def show_spots(self, spots: Sequence[Spot]) -> None:
        """Take the spots to point at; without any, the text for an empty canvas is shown."""
        self.spots = spots
        self._at = None
        self._stack.setCurrentWidget(self.plot if spots and self.plot else self._empty)

    def show_plot(self) -> None:
        """Show the plot before drawing, since a hidden plot is not laid out."""
        self._stack.setCurrentWidget(self.plot)
        self._place_plot()

    def show_drawn(self, drawn: Drawn) -> None:
        """Take what was drawn; a range that the user zoomed to stays in sight."""
        before = self._at
        self.show_spots(drawn.spots)
        self._home = drawn
        self.plot.setMouseEnabled(x=drawn.can_zoom, y=drawn.can_zoom)
        if self._is_closer and not drawn.can_zoom:
            self._is_closer = False
        self._ring = self._mark = None  # they were cleared with everything else
        self._draw_mark()
        if before is not None and before < len(drawn.spots):
            self._go_to(before, tell=False)

    def show_marked(self, cell: object) -> None:
        """Mark the spots that lead to this cell, until another is marked; None: no longer any."""
        self._marked = cell
        if self.plot is not None:
            self._draw_mark()

    @property
    def closer_range(self) -> tuple[tuple[float, float], tuple[float, float]] | None:
        """Return the ranges of x and y that the user zoomed to; None if all is shown."""
        if not self._is_closer:
            return None
        x, y = self.plot.getViewBox().viewRange()
        return (x[0], x[1]), (y[0], y[1])

    @Slot()
    def make_plot(self) -> None:
        """Make the plot now if there is none yet."""
        if self.plot is not None:
            return
        self._create_plot()
        self.plot, self._created = self._created, None
        self.plot.scene().sigMouseMoved.connect(self._on_pointer_moved)
        self.plot.scene().sigMouseClicked.connect(self._click)
        self.plot.getViewBox().sigRangeChangedManually.connect(self._looked_closer)
        self.plot.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Ignored)
        self._stack.addWidget(self.plot)
        self._place_plot()
        self._dress()

    def _create_plot(self) -> None:
        if self._created is None:
            from workbench.charts.drawing import plotting

            self._created = plotting.PlotView(self)

    def spot_at(self, position: QPointF) -> Spot | None:
        """Return the bar or tile at a position in pixels of the plot, or a mark near it."""
        if not self.spots:
            return None
        box = self.plot.getViewBox()
        place = box.mapSceneToView(position)
        for spot in self.spots:
            if spot.box and _holds(spot.box, place):
                return spot
        places = ((box.mapViewToScene(QPointF(s.x, s.y)) - position, s) for s in self.spots)
        away, nearest = min(
            ((math.hypot(offset.x(), offset.y()), spot) for offset, spot in places),
            key=lambda pair: pair[0],
        )
        return nearest if away <= NEAR_PX and not nearest.box else None

    def show_all(self) -> None:
        """Zoom out until everything is in sight."""
        self._is_closer = False
        if self._home is not None:
            self.plot.setXRange(*self._home.x, padding=0)
            self.plot.setYRange(*self._home.y, padding=0)

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802
        key = Qt.Key(event.key())
        if key in STEPS and self.spots:
            self._go_to(self._after(key), tell=True)
        elif (
            key in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space) and self._at is not None
        ):
            self._pick(self.spots[self._at])
        elif key == Qt.Key.Key_Escape and self._is_closer:
            self.show_all()
        else:
            super().keyPressEvent(event)

    def _after(self, key: Qt.Key) -> int:
        """Return the index of the spot that an arrow key leads to.

        Among tiles, up and down lead to the one above or below; else a key leads to the next spot
        or the previous one.
        """
        if self._at is None:
            return 0 if STEPS[key] > 0 else len(self.spots) - 1
        if (here := self.spots[self._at].box) and key in (Qt.Key.Key_Up, Qt.Key.Key_Down):
            boxes = ((number, each.box) for number, each in enumerate(self.spots) if each.box)
            away = [(abs(box[0] - here[0]), STEPS[key] * (here[1] - box[1]), n) for n, box in boxes]
            if ahead := [each for each in away if each[1] > 0]:
                return min(ahead)[2]
        return (self._at + STEPS[key]) % len(self.spots)

    def focusInEvent(self, event: QFocusEvent) -> None:  # noqa: N802
        super().focusInEvent(event)
        self.update()

    def focusOutEvent(self, event: QFocusEvent) -> None:  # noqa: N802
        super().focusOutEvent(event)
        QToolTip.hideText()
        self._drop_ring()
        self._at = None
        self.setAccessibleDescription(self._summary)
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802
        super().paintEvent(event)
        if self.hasFocus():
            painter = QPainter(self)
            painter.setPen(QPen(QColor(theme.colors().accent), 2))
            painter.drawRect(self.rect().adjusted(1, 1, -1, -1))
            painter.end()
        if self.plot is None and not self._awaits_plot:
            self._awaits_plot = True
            self._ask_for_plot()

    @Slot()
    def _ask_for_plot(self) -> None:
        """Have the plot made in a later turn, when pyqtgraph is imported."""
        if plot_import.is_over:
            plot_import.turns.add(self, self.begin_plot)
        else:
            plot_import.ended.connect(self._ask_for_plot)
            plot_import.begin()

    def begin_plot(self) -> None:
        """Make the plot, and have it put in its place and drawn in the next turn."""
        if self.plot is None:
            self._awaits_plot = False  # if that fails, the next paint asks again
            self._create_plot()
            self._awaits_plot = True
            plot_import.turns.add(self, self.make_plot)

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802
        super().resizeEvent(event)
        if self.plot is not None:
            self._place_plot()  # the layout would place it only while it is shown
            self.ready.emit()

    def showEvent(self, event: QShowEvent) -> None:  # noqa: N802
        super().showEvent(event)
        QTimer.singleShot(0, self, self._draw_again)

    @Slot()
    def _draw_again(self) -> None:
        """Draw again after being hidden, since nothing is laid out while it is hidden."""
        if self.plot is not None:
            self.ready.emit()

    def changeEvent(self, event: QEvent) -> None:  # noqa: N802
        super().changeEvent(event)
        kinds = QEvent.Type.PaletteChange, QEvent.Type.StyleChange  # in a scroll area the latter
        is_larger = event.type() == QEvent.Type.FontChange and factor_of(self) != self._drawn_factor
        if (event.type() in kinds or is_larger) and self.plot is not None:
            self._dress()

    def _place_plot(self) -> None:
        self.plot.setGeometry(self.contentsRect())

    def _dress(self) -> None:
        from workbench.charts.drawing import plotting

        self._drawn_factor = factor_of(self)
        plotting.apply_theme(self.plot, theme.colors(), scaled_font(0.85 * self._drawn_factor))
        self.ready.emit()

    def _go_to(self, index: int, *, tell: bool) -> None:
        """Put a ring around a spot, and say what is there if `tell`."""
        import pyqtgraph as pg

        from workbench.charts.drawing.markers import Markers

        self._at = index
        spot = self.spots[index]
        self._drop_ring()
        pen = pg.mkPen(theme.colors().accent, width=3)
        self._ring = Markers(
            x=[spot.x], y=[spot.y], symbol="o", size=RING_PX, pen=pen, brush=None, useCache=False
        )
        self.plot.addItem(self._ring)
        if tell:
            self.setAccessibleDescription(spot.text)
            at = self.plot.getViewBox().mapViewToScene(QPointF(spot.x, spot.y))
            self._bring_into_sight(at.toPoint())
            self._say(spot, at)

    def _draw_mark(self) -> None:
        import pyqtgraph as pg

        from workbench.charts.drawing.markers import Markers
        from workbench.charts.drawing.plotting import without

        if self._mark is not None:
            without(self.plot, self._mark)
            self._mark = None
        spots = [each for each in self.spots if each.cell == self._marked is not None]
        said = "".join(f" Marked: {each.text.splitlines()[0]}." for each in spots[:1])
        self.setAccessibleDescription(f"{self._summary}{said}")
        if spots:
            pen, places = (
                pg.mkPen(theme.colors().text, width=2.5),
                [[s.x for s in spots], [s.y for s in spots]],
            )
            self._mark = Markers(
                *places, symbol="o", size=MARK_PX, pen=pen, brush=None, useCache=False
            )
            self.plot.addItem(self._mark)

    def _bring_into_sight(self, at: QPoint) -> None:
        """Scroll to a place in the plot, where the canvas is in a scroll area."""
        inside = self.parentWidget()
        area = inside.parentWidget() if inside is not None else None
        if isinstance(area, QScrollArea):
            area.ensureVisible(at.x(), at.y(), 0, 2 * NEAR_PX)

    def _drop_ring(self) -> None:
        if self._ring is not None:
            from workbench.charts.drawing import plotting

            plotting.without(self.plot, self._ring)
            self._ring = None

    @Slot(object)
    def _on_pointer_moved(self, position: QPointF) -> None:
        spot = self.spot_at(position)
        if spot is None:
            QToolTip.hideText()
            self.plot.unsetCursor()
            return
        self.plot.setCursor(_cursor(spot))
        self._say(spot, position)

    def _say(self, spot: Spot, position: QPointF) -> None:
        beside = self.plot.mapToGlobal(position.toPoint() + QPoint(12, 12))
        QToolTip.showText(beside, tip_text(spot.text), self.plot)

    @Slot(object)
    def _click(self, event: Any) -> None:
        if event.double():
            self.show_all()
            return
        spot = self.spot_at(event.scenePos())
        if spot is not None:
            self._pick(spot)

    def _pick(self, spot: Spot) -> None:
        if spot.cell is not None:
            self.picked.emit(spot.cell)

    @Slot()
    def _looked_closer(self) -> None:
        self._is_closer = True


def _holds(box: tuple[float, float, float, float], place: QPointF) -> bool:
    left, low, right, high = box
    return left <= place.x() <= right and low <= place.y() <= high


def _cursor(spot: Spot) -> Qt.CursorShape:
    """Return a hand where a click leads to a cell, else an arrow."""
    leads = spot.cell is not None
    return Qt.CursorShape.PointingHandCursor if leads else Qt.CursorShape.ArrowCursor


def make_plots(root: QWidget) -> None:
    """Make the plots of all canvases on the screen in `root`, for a picture that is taken now."""
    for each in root.findChildren(Canvas):
        if each.isVisible():
            each.make_plot()
