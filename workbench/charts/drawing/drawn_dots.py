"""Dots with their quartiles, the lines that join them and their names, and guides."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import accumulate
from typing import NamedTuple

from PySide6.QtCore import QPointF, QRectF, QSizeF
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPen

from workbench.charts.data.figure import Axis, Dot, Guide, Plot, Series, SeriesStyle
from workbench.charts.drawing import marks
from workbench.charts.drawing.plotting import (
    GAP_PX,
    WRAP,
    Frame,
    Range,
    Spot,
    cut,
    magnified,
    scaled,
    widest,
)

MARKER_PX, PINNED_PX, WRONG_PX = 9.0, 12.0, 13.0
LINE, PINNED_LINE, WHISKER, GUIDE = 2.0, 3.2, 1.6, 1.4
WRONG_SHARE = 0.03  # of the plot's height, at which a wrong one has its cross
HEADROOM = 1.4  # times the height of a guide on a logarithmic axis
BESIDE = 0.2  # of a guide's name: how far it stands from the guide's first point
AXIS_PX = 80  # about as much as an axis with its caption takes
ROOM_PX = 14.0  # between the outermost marks and the plot's edge
MAX_SHARE = 0.46  # of the plot's width, taken by names
MAX_ROOM = 0.6  # of the plot's width, right of the last value
NARROW_PX = 300.0  # a narrower plot has names of what was measured alone
SAMPLE_PX, NAME_GAP_PX, NAME_EDGE_PX = 16.0, 10.0, 4.0  # of a name: its marker, room on both sides
THREAD_SHARE = 0.5  # of the background in the thread from a line's end to its name
NEAR_PX = 2.0  # a name so near to its end needs no thread to it
IN_BRACKETS = re.compile(r" (?=[^()]*\))")  # a space that stays in its line
BRACKETS = re.compile(r" \([^()]*\)$")


class LineName(NamedTuple):
    """A name and where its line ends, in places."""

    x: float
    y: float
    name: str
    style: SeriesStyle


def draw_plot(frame: Frame, body: Plot, view: tuple[Range, Range] | None) -> list[Spot]:
    """Draw a curve, its quartiles and its markers for each series, over guides.

    view  the places that the user zoomed to; None: all
    """
    metrics, page = QFontMetricsF(frame.small), frame.page
    frame.x = _range([*_xs(body)], body.x, page.width() - AXIS_PX)
    frame.y = _range([*_ys(body)], body.y, page.height() - AXIS_PX)
    texts = [text for _, text in body.x.ticks]
    wide = widest(texts, metrics) + NAME_GAP_PX
    is_turned = body.x.turns and wide * len(texts) > page.width() - AXIS_PX
    lines = max((len(text.splitlines()) for text in texts), default=1)
    frame.make_room(
        body.y.label,
        body.x.label,
        widest(texts, metrics) / metrics.height() if is_turned else lines,
    )
    frame.begin_at(widest([t for _, t in frame.ticks_left(body.y)], metrics) + GAP_PX + 2)
    small, names, column = scaled(frame.font, 0.9), _names_of(body), 0.0
    last = max((name.x for name in names), default=0.0)
    if names:
        around = SAMPLE_PX + NAME_GAP_PX + NAME_EDGE_PX
        column = widest([each.name for each in names], QFontMetricsF(small))
        column = min(column + 1, MAX_SHARE * frame.plot.width() - around)
        share = min((around + column) / max(frame.plot.width(), 1.0), MAX_ROOM)
        low, high = frame.x
        frame.x = low, max(high, low + (last - low) / (1 - share))
    frame.x, frame.y = view or (frame.x, frame.y)
    frame.draw_left(frame.ticks_left(body.y))
    frame.draw_below(frame.ticks_below(body.x), is_turned=is_turned)
    frame.draw_captions(body.y.label, body.x.label)
    frame.p.setClipRect(frame.plot)
    for guide in body.guides:
        frame.p.setPen(QPen(QColor(frame.colors.muted), GUIDE))
        frame.p.drawPolyline(_ends_of(guide, frame, body))
    spots = [spot for series in body.series for spot in _draw_series(frame, series, body)]
    _draw_names(frame, _fitting(names, small, frame.plot, column), last, column, small)
    for guide in body.guides:
        _name_guide(frame, guide, body)
    frame.p.setClipping(False)
    spots.sort(key=lambda spot: spot.cell is None)  # what can be picked comes first
    return spots


def _xs(body: Plot) -> Iterable[float]:
    yield from (dot.x for series in body.series for dot in series.dots)
    yield from body.x.ends or ()
    yield from (x for guide in body.guides for x, _ in guide.points)


def _ys(body: Plot) -> Iterable[float]:
    """All values upwards that have to be in sight."""
    dots = [dot for series in body.series for dot in series.dots if not dot.is_wrong]
    yield from (end for dot in dots for end in (dot.low, dot.high))
    yield from body.y.ends or ()
    yield from (y for guide in body.guides for _, y in guide.points)
    if body.y.is_log:  # the name of a guide has its place over it
        yield from (HEADROOM * guide.points[-1][1] for guide in body.guides if guide.label)
    else:
        yield 0.0


def _range(values: Sequence[float], axis: Axis, size_px: float) -> Range:
    """The range of values, with a marker's room around it."""
    places = [axis.place(value) for value in values if value > 0 or not axis.is_log] or [0.0]
    low, high = min(places), max(places)
    if high - low < 1e-9:
        low, high = (low - 0.5, high + 0.5) if axis.is_log or axis.ticks else (0.0, high or 1.0)
    room = ROOM_PX * (high - low) / max(size_px - 2 * ROOM_PX, 40)
    return (low if low == 0.0 and not axis.ticks and not axis.is_log else low - room), high + room


def _at(frame: Frame, body: Plot, x: float, y: float) -> QPointF:
    return frame.at(body.x.place(x), body.y.place(y))


def _draw_series(frame: Frame, series: Series, body: Plot) -> list[Spot]:
    p, colors, factor = frame.p, frame.colors, magnified(frame.font)
    style, is_pinned = series.entry.style, series.entry.is_pinned
    right = [dot for dot in series.dots if not dot.is_wrong]
    wrong = [dot for dot in series.dots if dot.is_wrong]
    places = [_at(frame, body, dot.x, dot.y) for dot in right]
    if series.joined and len(right) > 1:
        p.setPen(marks.pen_of(style, colors, factor * (PINNED_LINE if is_pinned else LINE)))
        p.drawPolyline(places)
    p.setPen(QPen(marks.color_of(style, colors), WHISKER * factor))
    for dot in right:
        if dot.high > dot.low:
            p.drawLine(*(_at(frame, body, dot.x, end) for end in (dot.low, dot.high)))
    marks.draw_marker(p, style, colors, places, factor * (PINNED_PX if is_pinned else MARKER_PX))
    best = [at for at, dot in zip(places, right, strict=True) if dot.is_best]
    marks.draw_shape(p, "circle", best, marks.RING_PX * factor, QPen(QColor(colors.text), 2), None)
    # A cross at the bottom: a wrong one has a place, but no value.
    bottom = frame.plot.bottom() - WRONG_SHARE * frame.plot.height()
    crosses = [QPointF(frame.at(body.x.place(dot.x), 0.0).x(), bottom) for dot in wrong]
    marks.draw_shape(p, "cross", crosses, WRONG_PX, QPen(QColor(colors.panel)), QColor(colors.bad))
    return [*map(_spot, places, right), *map(_spot, crosses, wrong)]


def _spot(at: QPointF, dot: Dot) -> Spot:
    return Spot(at, dot.text, dot.cell)


def _ends_of(guide: Guide, frame: Frame, body: Plot) -> list[QPointF]:
    """The pixels of a guide; a level one goes from edge to edge."""
    places = [_at(frame, body, *point) for point in guide.points]
    if len(places) == 2 and places[0].y() == places[1].y():
        places = [QPointF(x, places[0].y()) for x in (frame.plot.left(), frame.plot.right())]
    return places


def _name_guide(frame: Frame, guide: Guide, body: Plot) -> None:
    """Write a guide's name over its last point or beside its first."""
    if not guide.label:
        return
    metrics, ends = QFontMetricsF(frame.font), _ends_of(guide, frame, body)
    end = ends[0 if guide.is_at_start else -1]
    left_px, right_px = end.x() - frame.plot.left(), frame.plot.right() - end.x()
    room_px = (right_px if guide.is_at_start else left_px) / (1 + BESIDE)
    # The machine's name is cut where there is no room for all of it, the number never.
    name, colon, number = guide.label.rpartition(": ")
    text = cut(name, metrics, room_px - metrics.horizontalAdvance(colon + number)) + colon + number
    wide, high = metrics.horizontalAdvance(text), metrics.height()
    away = (
        QPointF(BESIDE * wide, -0.4 * high) if guide.is_at_start else QPointF(-wide, -1.05 * high)
    )
    frame.p.setFont(frame.font)
    frame.p.setPen(QColor(frame.colors.muted))
    frame.p.drawText(end + away + QPointF(0, metrics.ascent()), text)


# -- names at the ends of lines


def _names_of(body: Plot) -> list[LineName]:
    """The name of each line at the last of its points."""
    found = []
    for series in body.series:
        dots = [dot for dot in series.dots if not dot.is_wrong]
        if series.name and dots:
            end = max(dots, key=lambda dot: dot.x)
            place = body.x.place(end.x), body.y.place(end.y)
            found.append(LineName(*place, series.name, series.entry.style))
    return found


def _fitting(names: Sequence[LineName], font: QFont, plot: QRectF, column: float) -> list[LineName]:
    """The names that fit below each other, if need be without brackets; published ones last."""
    own = [name for name in names if name.style.standing != "published"]
    others = [name for name in names if name not in own and plot.width() >= NARROW_PX]
    for pattern, instead in ((IN_BRACKETS, "\u00a0"), (BRACKETS, "")):
        tried = [each._replace(name=pattern.sub(instead, each.name)) for each in (*own, *others)]
        ends = [*accumulate(_high_px(each.name, font, column) for each in tried)]
        if not own or ends[len(own) - 1] <= plot.height():
            break
    return [each for each, end in zip(tried, ends, strict=True) if end <= plot.height()]


def _high_px(name: str, font: QFont, column: float) -> float:
    return QFontMetricsF(font).boundingRect(QRectF(0, 0, column, 1e6), WRAP, name).height()


def spread(wanted: Sequence[tuple[float, float]], low: float, high: float) -> list[float]:
    """The middles of boxes of (middle, height), moved so that none is over another."""
    tops: list[float] = []
    least = low
    for middle, tall in wanted:
        tops.append(max(least, middle - tall / 2))
        least = tops[-1] + tall
    limit = high
    for at in reversed(range(len(tops))):
        limit = tops[at] = min(tops[at], limit - wanted[at][1])
    return [top + tall / 2 for top, (_, tall) in zip(tops, wanted, strict=True)]


def _draw_names(
    frame: Frame, names: Sequence[LineName], x: float, column: float, font: QFont
) -> None:
    """Write names right of `x`, each with its marker and a thread to its line."""
    p, colors, plot = frame.p, frame.colors, frame.plot
    left = frame.at(x, 0.0).x() + NAME_GAP_PX
    ends = sorted(((frame.at(each.x, each.y), each) for each in names), key=lambda e: e[0].y())
    wanted = [(end.y(), _high_px(name.name, font, column)) for end, name in ends]
    middles = spread(wanted, plot.top(), plot.bottom())
    for (end, name), middle, (_, high) in zip(ends, middles, wanted, strict=True):
        at, style = QPointF(left, middle), name.style
        p.setPen(marks.mixed(marks.color_of(style, colors), colors.panel, THREAD_SHARE))
        if abs(end.y() - middle) > NEAR_PX or left - end.x() > NAME_GAP_PX + 1:
            p.drawLine(end, at)
        box = QRectF(QPointF(left, middle - high / 2), QSizeF(plot.right() - left + 1, high))
        p.fillRect(box, QColor(colors.panel))  # the grid ends where the names begin
        marks.draw_marker(p, style, colors, [at + QPointF(SAMPLE_PX / 2 - 1, 0)])
        p.setFont(font)
        p.setPen(QColor(colors.muted if style.is_pale else colors.text))
        words = QRectF(box.topLeft() + QPointF(SAMPLE_PX, 0), QSizeF(column, high))
        p.drawText(words, WRAP, name.name)
