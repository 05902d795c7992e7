"""A canvas for charts: what is drawn on it can be pointed at, by the pointer and by keys."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from PySide6.QtCore import QEvent, QPoint, QPointF, QRectF, QSizeF, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QFocusEvent,
    QFont,
    QFontInfo,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QPixmap,
    QResizeEvent,
    QWheelEvent,
)
from PySide6.QtWidgets import QScrollArea, QToolTip, QWidget

from workbench.base import theme
from workbench.base.plain_text import tip_text
from workbench.charts.data.figure import Figure
from workbench.charts.drawing.plotting import WRAP, Drawn, Range, Spot
from workbench.widgets.letters import factor_of
from workbench.widgets.tile import scaled_font

NEAR_PX = 18  # to a mark, that it is pointed at
KEYS_RING, MARK_RING = (17, "accent", 3.0), (24, "text", 2.5)  # size, colour, width of a ring
EDGE_PX = 2  # around it, for the focus
DRAG_PX = 4  # a movement that is no click any more
CLOSER = 1.0025  # by so much closer for each of the 120 units of a wheel's step
CLOSEST = 1e-4  # of all there is, that is in sight at least
STEPS = {Qt.Key.Key_Left: -1, Qt.Key.Key_Up: -1, Qt.Key.Key_Right: 1, Qt.Key.Key_Down: 1}
PICKS = Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space
ALL_HIDDEN = "Everything is hidden; show something by the legend."
MIN_PX, MAX_PX = 200, 16_000  # of the plot's height
NOTHING = Drawn(())


class Canvas(QWidget):
    """A widget that shows `empty` until there is something to draw, and then what `draw` draws.

    The arrow keys go from spot to spot and show its text; Enter picks one.

    Signals:
        picked(cell): the user wants this Cell, by a click or by Enter; see `show_marked`.
    """

    picked = Signal(object)

    def __init__(self, empty: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setMouseTracking(True)
        self.empty = empty  # why nothing is drawn
        self._summary = ""
        self._pixmap: QPixmap | None = None  # None: to be drawn
        self._drawn = NOTHING
        self._at: int | None = None  # the spot that the arrow keys are on
        self._marked: Any = None  # the cell picked last, until it is taken back

    def draw(self, p: QPainter, page: QRectF) -> Drawn:
        """Draw everything into the box `page`; nothing drawn shows `empty`."""
        raise NotImplementedError

    def letters(self) -> QFont:
        """The font of labels, as large as the panel around it asks for."""
        font = scaled_font(0.92)
        px = factor_of(self) * QFontInfo(font).pixelSize()
        font.setPixelSize(round(px))  # as an exported page's is
        return font

    # -- output

    def show_summary(self, summary: str) -> None:
        """Describe the contents for a screen reader."""
        self._summary = summary
        self.setAccessibleDescription(summary)

    def redraw(self) -> None:
        """Draw again, at the next paint or when a spot is asked for."""
        self._pixmap = None
        self.update()

    @property
    def drawn(self) -> Drawn:
        """What is drawn now."""
        if self._pixmap is None and not self.size().isEmpty():
            ratio = self.devicePixelRatioF()
            self._pixmap = pixmap = QPixmap((QSizeF(self.size()) * ratio).toSize())
            pixmap.setDevicePixelRatio(ratio)
            pixmap.fill(QColor(theme.colors().panel))
            p = QPainter(pixmap)
            p.setRenderHint(QPainter.RenderHint.Antialiasing)
            try:
                page = QRectF(self.rect()).adjusted(EDGE_PX, EDGE_PX, -EDGE_PX, -EDGE_PX)
                self._drawn = self.draw(p, page)
            finally:
                p.end()
            if self._at is not None and self._at >= len(self.spots):
                self._at = None
            self._tell_marked()
        return self._drawn

    @property
    def spots(self) -> Sequence[Spot]:
        """What can be pointed at."""
        return self.drawn.spots

    def show_marked(self, cell: object) -> None:
        """Mark the spots that lead to this cell, until another is marked; None: no longer any."""
        self._marked = cell
        self._tell_marked()
        self.update()

    def _marks(self) -> list[Spot]:
        return [each for each in self._drawn.spots if each.cell == self._marked is not None]

    def _tell_marked(self) -> None:
        said = "".join(f" Marked: {each.text.splitlines()[0]}." for each in self._marks()[:1])
        self.setAccessibleDescription(f"{self._summary}{said}")

    # -- events

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: ARG002, N802
        colors, spots = theme.colors(), self.spots
        p = QPainter(self)
        p.setRenderHint(QPainter.RenderHint.Antialiasing)
        if spots and self._pixmap is not None:
            from workbench.charts.drawing.marks import draw_shape  # a start draws nothing

            p.drawPixmap(0, 0, self._pixmap)
            at = [spots[self._at]] if self._at is not None and self.hasFocus() else []
            for those, (px, color, width) in ((at, KEYS_RING), (self._marks(), MARK_RING)):
                pen = QPen(QColor(getattr(colors, color)), width)
                draw_shape(p, "circle", [spot.at for spot in those], px, pen, None)
        else:
            p.setPen(QColor(colors.muted))
            p.drawText(self.rect(), Qt.AlignmentFlag.AlignCenter | WRAP, self.empty)
        if self.hasFocus():
            p.setBrush(Qt.BrushStyle.NoBrush)
            p.setPen(QPen(QColor(colors.accent), 2))
            p.drawRect(self.rect().adjusted(1, 1, -1, -1))
        p.end()

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802
        super().resizeEvent(event)
        self.redraw()

    def changeEvent(self, event: QEvent) -> None:  # noqa: N802
        super().changeEvent(event)
        kinds = QEvent.Type.PaletteChange, QEvent.Type.StyleChange, QEvent.Type.FontChange
        if event.type() in kinds:
            self.redraw()

    def focusOutEvent(self, event: QFocusEvent) -> None:  # noqa: N802
        super().focusOutEvent(event)
        QToolTip.hideText()
        self._at = None
        self._tell_marked()

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802
        key = Qt.Key(event.key())
        if key in STEPS and self.spots:
            self._go_to(self._after(key))
        elif key in PICKS and self._at is not None:
            self._pick(self.spots[self._at])
        else:
            super().keyPressEvent(event)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:  # noqa: N802
        spot = self.spot_at(event.position())
        if spot is None:
            QToolTip.hideText()
            self.unsetCursor()
            return
        hand, arrow = Qt.CursorShape.PointingHandCursor, Qt.CursorShape.ArrowCursor
        self.setCursor(arrow if spot.cell is None else hand)
        self._say(spot, event.position())

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:  # noqa: N802
        spot = self.spot_at(event.position())
        if spot is not None and event.button() == Qt.MouseButton.LeftButton:
            self._pick(spot)

    # -- pointing

    def _after(self, key: Qt.Key) -> int:
        """The spot that an arrow key leads to; among tiles up and down keep the column."""
        if self._at is None:
            return 0 if STEPS[key] > 0 else len(self.spots) - 1
        here = self.spots[self._at]
        if here.box is not None and key in (Qt.Key.Key_Up, Qt.Key.Key_Down):
            boxes = ((number, each.box) for number, each in enumerate(self.spots) if each.box)
            offsets = ((number, box.topLeft() - here.box.topLeft()) for number, box in boxes)
            away = [(abs(o.x()), STEPS[key] * o.y(), number) for number, o in offsets]
            if ahead := [each for each in away if each[1] > 0.5]:
                return min(ahead)[2]
        return (self._at + STEPS[key]) % len(self.spots)

    def spot_at(self, position: QPointF) -> Spot | None:
        """The bar or tile at a position, or a mark near it."""
        for spot in self.spots:
            if spot.box is not None and spot.box.contains(position):
                return spot
        marks = [spot for spot in self.spots if spot.box is None]
        away = [math.hypot(*(spot.at - position).toTuple()) for spot in marks]
        return marks[away.index(min(away))] if away and min(away) <= NEAR_PX else None

    def _go_to(self, index: int) -> None:
        """Put a ring around a spot, and show its text."""
        self._at, spot = index, self.spots[index]
        self.update()
        self.setAccessibleDescription(spot.text)
        inside = self.parentWidget()
        area = inside.parentWidget() if inside is not None else None
        if isinstance(area, QScrollArea):
            area.ensureVisible(*spot.at.toPoint().toTuple(), 0, 2 * NEAR_PX)
        self._say(spot, spot.at)

    def _say(self, spot: Spot, position: QPointF) -> None:
        beside = self.mapToGlobal(position.toPoint() + QPoint(12, 12))
        QToolTip.showText(beside, tip_text(spot.text), self)

    def _pick(self, spot: Spot) -> None:
        if spot.cell is not None:
            self.picked.emit(spot.cell)


class FigureView(Canvas):
    """A canvas for figures of every kind, as high as they need, with fonts that suit its size.

    Ctrl and the wheel zoom in where that makes sense, and then a drag moves what is in sight; a
    double click or Esc shows everything again.
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
        self._view: tuple[Range, Range] | None = None  # what the user zoomed to
        self._home: tuple[Range, Range] = ((0.0, 1.0), (0.0, 1.0))  # all there is
        self._grip: QPointF | None = None  # where a drag began
        self._is_dragged = False
        self.setMinimumHeight(least_px or MIN_PX)
        self.show_summary(empty)

    def show_figure(self, figure: Figure | None) -> None:
        """Show a figure and its summary; ignore an equal one."""
        if figure != self.figure:
            self.figure = figure
            self.show_summary(figure.summary if figure else self._nothing)
            is_hidden = figure is not None and any(each.is_hidden for each in figure.entries)
            self.empty = ALL_HIDDEN if is_hidden else self._nothing
            self.redraw()

    def show_room(self, px: int) -> None:
        """Be at least so high."""
        self._room_px = px
        self.redraw()

    def draw(self, p: QPainter, page: QRectF) -> Drawn:
        """Draw the figure."""
        if self.figure is None or self.figure.is_empty:
            return NOTHING
        from workbench.charts.drawing.painter import draw

        drawn = draw(p, page, self.figure, theme.colors(), self.letters(), self._view)
        if drawn.frame is None:
            self._view = None
        elif self._view is None:
            self._home = drawn.frame.x, drawn.frame.y
        return drawn

    def redraw(self) -> None:
        """Be as high as the figure needs, and draw again."""
        least, most, font = self._least_px or MIN_PX, float(MAX_PX), self.letters()
        if self.figure is not None and not self.figure.is_empty:
            from workbench.charts.drawing.painter import least_px, most_px

            least = self._least_px or round(least_px(self.figure, self.width(), font))
            most = most_px(self.figure, font)
        self.setMinimumHeight(max(self._room_px, least))
        if not self._fills:
            self.setMaximumHeight(round(min(most, MAX_PX)))
        super().redraw()

    # -- zooming

    def wheelEvent(self, event: QWheelEvent) -> None:  # noqa: N802
        frame = self.drawn.frame
        if frame is None or not event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            event.ignore()
            return
        event.accept()
        share, least = CLOSER ** -event.angleDelta().y(), CLOSEST * _span(self._home[0])
        places = zip((frame.x, frame.y), frame.place(event.position()), strict=True)
        x, y = ((at + share * (low - at), at + share * (high - at)) for (low, high), at in places)
        if _span(x) >= _span(self._home[0]):
            self._show_all()
        elif _span(x) > least:
            self._zoom(x, y)

    def mousePressEvent(self, event: QMouseEvent) -> None:  # noqa: N802
        super().mousePressEvent(event)
        self._grip, self._is_dragged = event.position(), False
        event.accept()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:  # noqa: N802
        frame, here = self.drawn.frame, event.position()
        if frame is None or self._grip is None or not event.buttons():
            super().mouseMoveEvent(event)
        elif self._is_dragged or (here - self._grip).manhattanLength() > DRAG_PX:
            begin, end = frame.place(self._grip), frame.place(here)
            self._grip, self._is_dragged = here, True
            x, y = map(_moved, (frame.x, frame.y), self._home, begin, end)
            self._zoom(x, y)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:  # noqa: N802
        self._grip = None
        if not self._is_dragged:
            super().mouseReleaseEvent(event)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:  # noqa: ARG002, N802
        self._show_all()

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802
        if event.key() == Qt.Key.Key_Escape and self._view is not None:
            self._show_all()
        else:
            super().keyPressEvent(event)

    def _show_all(self) -> None:
        self._view, self._is_dragged = None, True  # the click has done its work
        self.redraw()

    def _zoom(self, x: Range, y: Range) -> None:
        self._view = x, y
        self.redraw()


def _span(ends: Range) -> float:
    return ends[1] - ends[0]


def _moved(ends: Range, home: Range, begin: float, end: float) -> Range:
    """A range moved by a drag, but not beyond all there is."""
    by = max(min(begin - end, home[1] - ends[1]), home[0] - ends[0])
    return ends[0] + by, ends[1] + by
