"""Marks of charts: the colour, marker and dash of a series, and the scale of maps."""

from __future__ import annotations

from collections.abc import Iterable

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPen, QPolygonF

from workbench.base.theme import Colors
from workbench.charts.data.figure import LegendLine, SeriesStyle

# LOOKS of them, as many as a theme has colours; how much larger each is drawn to look as large.
MARKERS = ("circle", "square", "up", "diamond", "star", "down", "right", "plus", "left")
MARKER_FACTORS = (1.0, 0.95, 1.15, 1.25, 1.45, 1.15, 1.15, 1.4, 1.15)
PLUS = ((-0.5, -0.1), (-0.1, -0.1), (-0.1, -0.5), (0.1, -0.5), (0.1, -0.1), (0.5, -0.1))
STAR = ((0.0, -0.5), (0.1123, -0.1545), (0.4755, -0.1545), (0.1816, 0.059), (0.2939, 0.4045))
# Corners of a shape of size 1; a circle has none.
SHAPES = {
    "square": ((-0.5, -0.5), (-0.5, 0.5), (0.5, 0.5), (0.5, -0.5)),
    "up": ((-0.5, 0.5), (0.0, -0.5), (0.5, 0.5)),
    "down": ((-0.5, -0.5), (0.0, 0.5), (0.5, -0.5)),
    "right": ((-0.5, -0.5), (-0.5, 0.5), (0.5, 0.0)),
    "left": ((0.5, 0.5), (0.5, -0.5), (-0.5, 0.0)),
    "diamond": ((0.0, -0.5), (-0.4, 0.0), (0.0, 0.5), (0.4, 0.0)),
    "plus": (*PLUS, *((-x, -y) for x, y in PLUS)),
    "star": (*STAR, (0.0, 0.191), *((-x, y) for x, y in reversed(STAR[1:]))),
}
SHAPES["cross"] = tuple(((x - y) * 0.5**0.5, (x + y) * 0.5**0.5) for x, y in SHAPES["plus"])
DASHES = {"solid": Qt.PenStyle.SolidLine, "dash": Qt.PenStyle.DashLine, "dot": Qt.PenStyle.DotLine}
FIRST_DASH = {"solid": (8.0, 2.0), "dash": (4.0, 2.0), "dot": (2.0, 2.0)}  # in widths of the line,
DOT = (1.0, 2.0)  # and after it one of these for each session before its own
SAMPLE_MARKER_PX = 9
RING_PX = 15.0  # around the best
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
    """The pen of a series' line."""
    thin = width if style.standing == "live" else 0.75 * width
    pen = QPen(color_of(style, colors), thin, DASHES[style.dash])
    if style.session:
        pen.setDashPattern([*FIRST_DASH[style.dash], *style.session * DOT])
        pen.setCapStyle(Qt.PenCapStyle.FlatCap)  # else dots are longer than the gaps
    return pen


def marker_of(style: SeriesStyle) -> str:
    """The shape of the marker of a series."""
    return MARKERS[(style.marker or 0) % len(MARKERS)]


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
        draw_marker(p, style, colors, [box.center()])


def draw_marker(
    p: QPainter,
    style: SeriesStyle,
    colors: Colors,
    places: Iterable[QPointF],
    px: float = SAMPLE_MARKER_PX,
) -> None:
    """Draw a series' marker around each place: hollow where it was not measured here and now."""
    color = color_of(style, colors)
    if style.standing == "live" and not style.is_half:
        pen, inside = QPen(QColor(colors.panel), 1), color
    else:
        pen = QPen(color, 1.6)
        inside = mixed(color, colors.panel, HALF_SHARE if style.is_half else 1.0)
    px *= MARKER_FACTORS[(style.marker or 0) % len(MARKERS)]
    draw_shape(p, marker_of(style), places, px, pen, inside)


def draw_shape(
    p: QPainter, name: str, places: Iterable[QPointF], px: float, pen: QPen, inside: QColor | None
) -> None:
    """Draw one of SHAPES, or a circle, around each place; `inside` None: an outline."""
    corners = QPolygonF([QPointF(px * x, px * y) for x, y in SHAPES.get(name, ())])
    p.setPen(pen)
    if inside is None:
        p.setBrush(Qt.BrushStyle.NoBrush)
    else:
        p.setBrush(inside)
    for place in places:
        if corners:
            p.drawPolygon(corners.translated(place))
        else:
            p.drawEllipse(place, px / 2, px / 2)


CIVIDIS = (
    "#00224e", "#123570", "#3b496c", "#575d6d", "#707173",
    "#8a8678", "#a59c74", "#c3b369", "#e1cc55", "#fee838",
)  # fmt: skip
ON_LIGHT, ON_DARK = "#10151b", "#f6f7f9"  # text on it,
DARK_ON_LIGHT = 0.48  # by the colour's lightness


def cividis(share: float) -> QColor:
    """The colour of a share from 0, dark blue, to 1, light yellow."""
    at = min(max(share, 0.0), 1.0) * (len(CIVIDIS) - 1)
    below = min(int(at), len(CIVIDIS) - 2)
    return mixed(QColor(CIVIDIS[below]), CIVIDIS[below + 1], at - below)


def text_on(color: QColor) -> QColor:
    """The colour of text: dark on a light colour, light on a dark one."""
    return QColor(ON_LIGHT if color.lightnessF() > DARK_ON_LIGHT else ON_DARK)
