"""Marks in a plot: the colour, marker and dash of a series, labels, and the scale of maps.

Imports pyqtgraph: import it when drawing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import pyqtgraph as pg
from pyqtgraph.graphicsItems.ScatterPlotItem import drawSymbol
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter, QPen

from workbench.base.theme import Colors
from workbench.charts.data.figure import LegendLine, SeriesStyle

# LOOKS of them, as many as a theme has colours; how much larger each is drawn to look as large.
MARKERS = ("o", "s", "t1", "d", "star", "t", "t2", "+", "t3")
MARKER_FACTORS = (1.0, 0.95, 1.15, 1.25, 1.45, 1.15, 1.15, 1.4, 1.15)
WRONG_MARKER = "x"
DASHES = {"solid": Qt.PenStyle.SolidLine, "dash": Qt.PenStyle.DashLine, "dot": Qt.PenStyle.DotLine}
FIRST_DASH = {"solid": (8.0, 2.0), "dash": (4.0, 2.0), "dot": (2.0, 2.0)}  # in widths of the line,
DOT = (1.0, 2.0)  # and after it one of these for each session before its own
SAMPLE_MARKER_PX = 9
RING: dict[str, Any] = {"symbol": "o", "size": 15.0, "brush": None}  # around the best
# Shares of the background in a colour: of recorded series beside live ones, of what is not pinned,
# of publications by turns, of bars, on which their markers show, and of half-filled markers.
FAINT_SHARE, PALE_SHARE, BAR_SHARE, HALF_SHARE = 0.3, 0.65, 0.45, 0.5
PUBLISHED_SHARES = (0.35, 0.0)


def color_of(style: SeriesStyle, colors: Colors) -> QColor:
    """The colour of a series, greyer or paler where its style says so."""
    if style.standing == "published":
        color, share = colors.muted, PUBLISHED_SHARES[style.session % len(PUBLISHED_SHARES)]
    else:
        color = colors.series[style.color % len(colors.series)]
        share = FAINT_SHARE if style.is_faint else 0.0
    return mixed(QColor(color), colors.panel, PALE_SHARE if style.is_pale else share)


def pen_of(style: SeriesStyle, colors: Colors, width: float = 2.0) -> QPen:
    thin = width if style.standing == "live" else 0.75 * width
    pen: QPen = pg.mkPen(color_of(style, colors), width=thin, style=DASHES[style.dash])
    if style.session:
        pen.setDashPattern([*FIRST_DASH[style.dash], *style.session * DOT])
        pen.setCapStyle(Qt.PenCapStyle.FlatCap)  # else dots are longer than the gaps
    return pen


def marker_of(style: SeriesStyle) -> str:
    """pyqtgraph's name of the marker of a series."""
    return MARKERS[(style.marker or 0) % len(MARKERS)]


def marker_style(
    style: SeriesStyle, colors: Colors, px: float = SAMPLE_MARKER_PX
) -> dict[str, Any]:
    """A scatter plot's arguments for one marker: hollow where it was not measured here and now."""
    color = color_of(style, colors)
    size = px * MARKER_FACTORS[(style.marker or 0) % len(MARKERS)]
    if style.standing == "live" and not style.is_half:
        pen, inside = pg.mkPen(colors.panel, width=1), color
    else:
        pen = pg.mkPen(color, width=1.6)
        inside = mixed(color, colors.panel, HALF_SHARE if style.is_half else 1.0)
    return {"symbol": marker_of(style), "size": size, "pen": pen, "brush": pg.mkBrush(inside)}


def mixed(color: QColor, other: str | QColor, share: float) -> QColor:
    """`color` with a share of another in it."""
    one, two = color, QColor(other)
    pairs = ((one.redF(), two.redF()), (one.greenF(), two.greenF()), (one.blueF(), two.blueF()))
    return QColor.fromRgbF(*((1 - share) * a + share * b for a, b in pairs))


def draw_sample(p: QPainter, entry: LegendLine, colors: Colors, box: QRectF) -> None:
    """Draw what a chart has of a series, as in a legend: line, marker or bar."""
    p.setRenderHint(QPainter.RenderHint.Antialiasing)
    middle, style = box.center().y(), entry.style
    if entry.sample == "line":
        p.setPen(pen_of(style, colors))
        p.drawLine(QPointF(box.left(), middle), QPointF(box.right(), middle))
    elif entry.sample == "bar":
        wide, high = 0.8 * box.width(), 0.55 * box.height()
        bar = QRectF(box.center().x() - wide / 2, middle - high / 2, wide, high)
        p.fillRect(bar, mixed(color_of(style, colors), colors.panel, BAR_SHARE))
    is_plain = entry.sample == "line" and style.standing == "published"  # it has several markers
    if style.marker is not None and not is_plain:
        draw_marker(p, style, colors, box.center())


def draw_marker(p: QPainter, style: SeriesStyle, colors: Colors, at: QPointF) -> None:
    """Draw a series' marker around a point, as large as in a legend."""
    p.save()
    p.translate(at)
    drawSymbol(p, *marker_style(style, colors).values())
    p.restore()


class Markers(pg.ScatterPlotItem):  # type: ignore[misc]  # pyqtgraph has no types
    """A scatter plot without clicks.

    For each click pyqtgraph's own makes an object that is held by an array which the object holds.
    Python's garbage collector cannot see through NumPy's arrays, so that memory would leak.
    """

    def __init__(self, x: Any, y: Any, **look: Any) -> None:
        super().__init__(x=x, y=y, useCache=False, **look)

    def mouseClickEvent(self, event: Any) -> None:  # noqa: N802
        event.ignore()


class PlotLabel(NamedTuple):
    """A line of text at a place in the plot's coordinates.

    anchor     which point of the text is there: 0, 0 is its upper left, 1, 1 its lower right
    down       by how many of its own heights it is shifted down
    is_turned  written upwards, around its middle
    back       the colour behind it, where a grid would run through it; "": none
    """

    x: float
    y: float
    text: str
    font: QFont
    color: str
    anchor: tuple[float, float] = (0.5, 0.5)
    down: float = 0.0
    is_turned: bool = False
    back: str = ""


class OverPlot(pg.GraphicsObject):  # type: ignore[misc]  # pyqtgraph has no types
    """An item that covers whatever the plot shows, and is painted anew when that changes."""

    def boundingRect(self) -> QRectF:  # noqa: N802
        return QRectF(self.viewRect()) if self.getViewBox() is not None else QRectF()

    def viewRangeChanged(self) -> None:  # noqa: N802
        self.prepareGeometryChange()
        self.update()


class Labels(OverPlot):
    """An item that paints its `labels` over all items added before it."""

    def __init__(self, labels: Sequence[PlotLabel]) -> None:
        super().__init__()
        self.labels = labels
        self.setZValue(5)

    def paint(self, p: QPainter, *_: Any) -> None:
        """Paint all labels at their places, in device pixels."""
        to_device = p.transform()
        p.save()
        p.resetTransform()
        for label in self.labels:
            self._paint_label(p, label, to_device.map(QPointF(label.x, label.y)))
        p.restore()

    def _paint_label(self, p: QPainter, label: PlotLabel, at: QPointF) -> None:
        metrics = QFontMetricsF(label.font)
        wide, high = metrics.horizontalAdvance(label.text), metrics.height()
        left = at.x() - label.anchor[0] * wide
        top = at.y() - (label.anchor[1] - label.down) * high
        if label.back:
            indent = wide - metrics.horizontalAdvance(label.text.lstrip())
            p.fillRect(QRectF(left + indent, top, wide - indent, high), QColor(label.back))
        p.setFont(label.font)
        p.setPen(QColor(label.color))
        if label.is_turned:
            p.translate(at)
            p.rotate(-90)
            left, top = -wide / 2, -high / 2
        p.drawText(QPointF(left, top + metrics.ascent()), label.text)
        p.resetTransform()


def cividis(share: float) -> QColor:
    """The colour of a share from 0, dark blue, to 1, light yellow."""
    color: QColor = pg.colormap.get("cividis").mapToQColor(share)
    return color
