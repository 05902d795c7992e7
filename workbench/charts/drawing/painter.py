"""Drawing of a figure onto a page: dots, bars, maps and tables, by a QPainter."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QBrush, QColor, QFont, QFontMetricsF, QPainter, QPen

from workbench.base.theme import Colors
from workbench.charts.data.figure import Bar, Bars, Figure, Grid, Plot, Tile
from workbench.charts.drawing import marks
from workbench.charts.drawing.drawn_dots import draw_plot
from workbench.charts.drawing.plotting import (
    EDGE_PX,
    Drawn,
    Frame,
    Range,
    Spot,
    cut,
    draw_upwards,
    magnified,
    widest,
    wrapped,
)

COMPACT_ROW = 1.35  # heights of a letter, of a bar that has its name beside it
GAP = 0.03  # of a tile, left free around it
MIN_TEXT_PX = 8
PALE_SHARE = 0.45  # of the background in what is not known to be right
VERDICT_SHARES = {"good": 0.78, "bad": 0.55, "missing": 0.86, "refused": 0.86}
MAX_TILE, MAX_TABLE_TILE = 9.0, 4.5  # heights of a letter: higher ones say no more
NAME_SHARE = 0.42  # of the width, at most
TURNED_MOST = 12  # heights of a letter, of a name that is written upwards
TURNED_TILE = 5  # heights of a letter: in narrower tiles names are written upwards


def draw(
    p: QPainter,
    page: QRectF,
    figure: Figure,
    colors: Colors,
    font: QFont,
    view: tuple[Range, Range] | None = None,
) -> Drawn:
    """Draw a figure into the box `page`.

    font  of labels; ticks are a little smaller
    view  the places to zoom to, where the figure is a Plot; None: all
    """
    frame = Frame(p, page, colors, font)
    match figure.body:
        case Plot():
            return Drawn(draw_plot(frame, figure.body, view), frame)
        case Bars():
            return Drawn(_draw_bars(frame, figure.body))
        case Grid():
            return Drawn(_draw_grid(frame, figure.body))
    return Drawn(())


def least_px(figure: Figure, wide_px: float, font: QFont) -> float:
    """The height below which a figure cannot be read."""
    row = QFontMetricsF(font).height()
    match figure.body:
        case Bars():
            return _rows(figure.body, wide_px) * row + 4 * row
        case Grid():
            return _least_grid_px(figure.body, wide_px, font)
    return 14 * row


def most_px(figure: Figure, font: QFont) -> float:
    """The height above which a figure gains nothing."""
    match figure.body:
        case Bars(names_beside=True):
            row = QFontMetricsF(font).height()
            return COMPACT_ROW * _rows(figure.body, 0.0) * row + 4 * row
        case Grid():
            tiles_px = _largest_tile_px(figure.body, font) * len(figure.body.rows)
            return max(tiles_px + 6 * font.pixelSize(), least_px(figure, 0.0, font))
    return math.inf


# -- maps and tables: tiles in a colour-blind-safe scale, with their words


def _draw_grid(frame: Frame, body: Grid) -> list[Spot]:
    """Draw tiles in a grid, with the names of columns below and of rows at the left."""
    metrics, letter = QFontMetricsF(frame.small), frame.font.pixelSize()
    rows = [cut(row, metrics, NAME_SHARE * frame.page.width()) for row in body.rows]
    row_px = widest(rows, metrics) + 10
    tile_px = (frame.page.width() - row_px - 2 * EDGE_PX) / max(len(body.columns), 1)
    names, lines = wrapped(body.columns, metrics, tile_px - 6), 1.0
    if is_turned := not names:
        names = [cut(name, metrics, TURNED_MOST * letter) for name in body.columns]
        lines = widest(names, metrics) / metrics.height()
    else:
        lines = max(len(name.splitlines()) for name in names)
    above, below = _captions(body)
    frame.make_room(above, below, lines)
    frame.begin_at(row_px)
    high_px = min(frame.plot.height() / max(len(rows), 1), _largest_tile_px(body, frame.font))
    frame.plot.setTop(frame.plot.bottom() - high_px * len(rows))  # what is left is free above
    frame.x, frame.y = (-0.5, len(names) - 0.5), (len(rows) - 0.5, -0.5)
    text = frame.colors.text
    frame.draw_left([(float(number), name) for number, name in enumerate(rows)], color=text)
    columns = [(float(number), name) for number, name in enumerate(names)]
    frame.draw_below(columns, color=text, is_turned=is_turned)
    frame.draw_captions(above, below)
    size = frame.plot.width() / max(len(names), 1), high_px
    ends, how = _ends(body), _writing(frame.font, body, size)
    return [
        _draw_tile(frame, tile, _fill(tile, body, ends, frame.colors), how) for tile in body.tiles
    ]


def _least_grid_px(body: Grid, wide_px: float, font: QFont) -> float:
    """The height below which rows, or the names below them, cannot be read."""
    metrics, small = QFontMetricsF(font), QFont(font)
    small.setPixelSize(MIN_TEXT_PX)
    row_px, below = 1.4 * metrics.height(), 2 * metrics.height()
    tile_px = (1 - NAME_SHARE) * wide_px / max(len(body.columns), 1)
    if tile_px < TURNED_TILE * font.pixelSize():
        below = min(widest(body.columns, metrics), TURNED_MOST * font.pixelSize())
    words_px = widest([tile.words[0] for tile in body.tiles], QFontMetricsF(small)) + 8
    if body.scale is not None and tile_px < words_px:  # they are written upwards
        row_px = max(row_px, words_px)
    return row_px * len(body.rows) + below + 4 * metrics.height()


def _largest_tile_px(body: Grid, font: QFont) -> float:
    """The largest height of a tile: a table's need no more than its text."""
    return font.pixelSize() * (MAX_TABLE_TILE if body.scale is None else MAX_TILE)


def _captions(body: Grid) -> tuple[str, str]:
    """The meaning of the colours with the ends of their scale, and those of columns and rows."""
    above = below = ""
    if body.scale is not None:
        low, high = map(body.scale.words, _ends(body))
        ends = f"light {low} to dark {high}"
        if body.more_is_better:
            ends = f"dark {low} to light {high}"
        above = f"{body.scale.label} · {ends}"
    if body.column_label:
        row_label = f"{body.row_label[:1].lower()}{body.row_label[1:]}"
        below = f"{body.column_label}, across; {row_label}, down"
    return above, below


def _ends(body: Grid) -> Range:
    values = [tile.value for tile in body.tiles if tile.value]
    return (min(values), max(values)) if values else (1.0, 1.0)


def _fill(tile: Tile, body: Grid, ends: Range, colors: Colors) -> QColor:
    if tile.verdict:
        tint = {"good": colors.good, "bad": colors.bad}.get(tile.verdict, colors.muted)
        return marks.mixed(QColor(tint), colors.panel, VERDICT_SHARES[tile.verdict])
    assert tile.value is not None
    share, (low, high) = 0.5, ends
    if high > low and body.scale and body.scale.is_log:
        share = math.log(tile.value / low) / math.log(high / low)
    elif high > low:
        share = (tile.value - low) / (high - low)
    fill = marks.cividis(share if body.more_is_better else 1 - share)
    return marks.mixed(fill, colors.panel, PALE_SHARE) if tile.is_pale else fill


class Writing(NamedTuple):
    """The way words are written in all tiles."""

    font: QFont
    is_turned: bool = False  # upwards, where tiles are higher than wide
    is_short: bool = False  # only their verdicts


def _draw_tile(frame: Frame, tile: Tile, fill: QColor, how: Writing | None) -> Spot:
    """Draw a box, the outline of the best, a dot in the one in use, and its words."""
    p, colors, column, row = frame.p, frame.colors, tile.column, tile.row
    box = QRectF(frame.at(column - 0.5, row - 0.5), frame.at(column + 0.5, row + 0.5))
    hatched = QBrush(QColor(colors.border), Qt.BrushStyle.BDiagPattern)
    p.fillRect(_inside(box, GAP), hatched if tile.verdict == "refused" else QBrush(fill))
    p.setBrush(fill)
    for color, width in ((colors.text, 5.0), (colors.panel, 1.6)) if tile.is_best else ():
        p.setPen(QPen(QColor(color), width))
        p.drawRect(_inside(box, 1.6 * GAP))
    if tile.is_current:
        corner = frame.at(column + 0.38, row - 0.32)
        marks.draw_shape(p, "circle", [corner], 8, QPen(QColor("black")), QColor("white"))
    if how is not None:
        p.setFont(how.font)
        p.setPen(QColor(colors.text) if tile.verdict == "bad" else marks.text_on(fill))
        _write_tile(p, tile, how, box)
    return Spot(box.center(), tile.text, tile.cell, box)


def _inside(box: QRectF, share: float) -> QRectF:
    across, down = share * box.width(), share * box.height()
    return box.adjusted(across, down, -across, -down)


def _write_tile(p: QPainter, tile: Tile, how: Writing, box: QRectF) -> None:
    """Write the lines of a tile that fit, around its middle."""
    metrics = QFontMetricsF(how.font)
    if how.is_turned:
        draw_upwards(p, tile.words[0], box.center(), 0.5)
        return
    lines = [line for line in tile.words if metrics.horizontalAdvance(line) + 4 <= box.width()]
    lines = lines[: max(1, int((box.height() - 2) / metrics.height()))]
    if how.is_short:
        lines = [_mark(tile)]
    top = box.center().y() - len(lines) * metrics.height() / 2 + metrics.ascent()
    for number, line in enumerate(lines):
        left = box.center().x() - metrics.horizontalAdvance(line) / 2
        p.drawText(QPointF(left, top + number * metrics.height()), line)


def _writing(font: QFont, body: Grid, size: tuple[float, float]) -> Writing | None:
    """Choose how every tile says the most that all can; None: nothing could be read."""
    whole, short = [tile.words[0] for tile in body.tiles], [_mark(tile) for tile in body.tiles]
    if level := _fitting(font, whole, *size):
        return Writing(level)
    if turned := _fitting(font, whole, *size[::-1]):
        return Writing(turned, is_turned=True)
    level = _fitting(font, short, *size)
    return Writing(level, is_short=True) if level else None


def _mark(tile: Tile) -> str:
    """The least that a tile may say: its verdict, or all of its first line."""
    return tile.words[0].partition(" ")[0] if tile.verdict else tile.words[0]


def _fitting(font: QFont, words: Sequence[str], wide: float, high: float) -> QFont | None:
    """The largest font in which all words fit; None: there is none."""
    for px in range(round(1.15 * font.pixelSize()), MIN_TEXT_PX - 1, -1):
        small = QFont(font)
        small.setPixelSize(px)
        metrics = QFontMetricsF(small)
        if widest(words, metrics) + 6 <= wide and metrics.height() <= high:
            return small
    return None


# -- bars: from left to right by their names, with their quartiles; on a logarithmic axis, which has
# no zero for a bar to begin at, markers over a thin line

MAX_BAR_PX, MAX_ROW_PX = 26.0, 48.0
NARROW_PX = 520  # in a wider plot the names of bars stand beside them
BAR_NAME_SHARE = 0.44  # of the width, at most
MIN_LENGTH = 0.35  # of the width that bars have, however long the words at their ends
MARKER_PX = 9.0
TICK_SLACK = 1e-9
PART_SHARE = 0.75  # of the background in a paler bar
LOG_ROOM = 0.06  # of the range, below the smallest on a logarithmic axis
MIN_DECADES = 0.3  # of a logarithmic axis, however near to each other its values are
SPACE = "\u2002\u2009"  # between a bar and its words


def _rows(body: Bars, wide_px: float) -> float:
    """Count the rows of bars, including the gaps between groups."""
    return sum(len(g.bars) + _has_names_above(body, wide_px) + 0.5 for g in body.groups)


def _has_names_above(body: Bars, wide_px: float) -> bool:
    return wide_px < NARROW_PX and not body.names_beside


def _draw_bars(frame: Frame, body: Bars) -> list[Spot]:
    """Draw each group as a block of rows; in a narrow plot its name stands in a row above them."""
    color, wide = frame.colors.text, frame.page.width()
    start, end = _bar_ends(body)
    is_narrow, rows = _has_names_above(body, wide), _rows(body, wide)
    frame.make_room(body.axis.label, "")
    tall = max(frame.plot.height(), 40.0)
    row_px = min(MAX_ROW_PX * magnified(frame.font), tall / max(rows, 1))
    small = QFont(frame.font)  # as large as `font`, unless a row is too low for that
    small.setPixelSize(max(MIN_TEXT_PX, min(small.pixelSize(), int(0.78 * row_px))))
    metrics = QFontMetricsF(small)
    most = wide * (1.0 if is_narrow else BAR_NAME_SHARE) - 2 * EDGE_PX
    names = [cut(group.label, metrics, most) for group in body.groups]
    name_px = 0.0 if is_narrow else widest(names, metrics) + 10
    wide -= name_px + 2 * EDGE_PX
    frame.begin_at(name_px)
    frame.x = start, start + _length(body, start, end, metrics, wide)
    frame.y = tall / row_px, 0.0  # rows go down
    frame.draw_below(frame.ticks_below(body.axis, (start, end + TICK_SLACK)))
    frame.draw_captions(body.axis.label, "")
    half = min(0.36 * row_px, 0.5 * MAX_BAR_PX * magnified(frame.font))
    spots, at = [], 0.25
    for group, name in zip(body.groups, names, strict=True):
        if is_narrow:
            _write(frame.p, name, frame.at(start, at + 0.55), small, color)
            at += 1
        else:
            frame.draw_left([(at + len(group.bars) / 2, name)], small, color)
        for number, bar in enumerate(group.bars):
            spots.append(_draw_bar(frame, body, bar, at + number + 0.5, half))
            words = bar.words
            if not bar.value:
                words = cut(words, metrics, wide - 3 * small.pixelSize())
            _write_beside(frame, body, bar, words, at + number + 0.5, small)
        at += len(group.bars) + 0.5
    return spots


def _bar_ends(body: Bars) -> Range:
    """Where bars begin, 0 or below the smallest on a logarithmic axis; and the largest end."""
    ends = [end for bar in body.bars if bar.value for end in (bar.low, bar.high)]
    if not ends:
        return 0.0, 1.0
    if not body.axis.is_log:
        return 0.0, max(*ends, *(body.axis.ends or ()))
    low, high = math.log10(min(ends)), math.log10(max(ends))
    spare = max(0.0, MIN_DECADES - (high - low)) / 2
    low, high = low - spare, high + spare
    return low - LOG_ROOM * (high - low), high


def _length(body: Bars, start: float, end: float, metrics: QFontMetricsF, wide_px: float) -> float:
    """The part of the axis in sight: every bar has room for the words at its end."""
    shares = [1.0]
    for bar in body.bars:
        share = (body.axis.place(bar.high) - start) / (end - start) if bar.value else 0.0
        room = wide_px - metrics.horizontalAdvance(bar.words) - 22
        shares.append(share * wide_px / max(room, MIN_LENGTH * wide_px))
    return (end - start) * max(shares)


def _draw_bar(frame: Frame, body: Bars, bar: Bar, row: float, half: float) -> Spot:
    """Draw a bar, or a marker on a thin line, by which its name is found; and its whisker."""
    p, colors, factor, axis = frame.p, frame.colors, magnified(frame.font), body.axis
    begin = end = frame.at(frame.x[0], row)
    right, style = frame.plot.right(), bar.entry.style
    box = QRectF(begin.x(), begin.y() - half, right - begin.x(), 2 * half)
    if bar.value:
        end, outline = frame.at(axis.place(bar.value), row), QPen(QColor(colors.text), 2)
        if axis.is_log:
            p.setPen(QColor(colors.grid))
            p.drawLine(begin, QPointF(right, begin.y()))
        else:
            share = PART_SHARE if bar.is_part else marks.BAR_SHARE
            p.setBrush(marks.mixed(marks.color_of(style, colors), colors.panel, share))
            p.setPen(outline if bar.is_best else Qt.PenStyle.NoPen)
            p.drawRect(QRectF(box.topLeft(), QPointF(end.x(), box.bottom())))
        if bar.high > bar.low:
            p.setPen(QPen(QColor(colors.text), 1.4))
            p.drawLine(*(frame.at(axis.place(each), row) for each in (bar.low, bar.high)))
        if axis.is_log and bar.is_best:
            marks.draw_shape(p, "circle", [end], marks.RING_PX * factor, outline, None)
        if axis.is_log or style.marker is not None:  # a paler one is half filled
            is_half = style.is_half or (axis.is_log and bar.is_part)
            marks.draw_marker(p, replace(style, is_half=is_half), colors, [end], MARKER_PX * factor)
    # It is pointed at anywhere beside its base line, or only near a bare marker.
    return Spot(end, bar.text, bar.cell, None if axis.is_log else box)


def _write_beside(frame: Frame, body: Bars, bar: Bar, words: str, row: float, font: QFont) -> None:
    """Write a bar's value, or why it has none, on a ground without the grid."""
    metrics, colors = QFontMetricsF(font), frame.colors
    at = frame.at(body.axis.place(bar.high) if bar.value else frame.x[0], row)
    at += QPointF(metrics.horizontalAdvance(SPACE), 0)
    high, color = metrics.height(), colors.text
    back = QRectF(at.x(), at.y() - high / 2, metrics.horizontalAdvance(words), high)
    frame.p.fillRect(back, QColor(colors.panel))
    if not bar.value:
        color = colors.bad if words.startswith("✗") else colors.muted
    _write(frame.p, words, at, font, color)


def _write(p: QPainter, text: str, at: QPointF, font: QFont, color: str) -> None:
    metrics = QFontMetricsF(font)
    p.setFont(font)
    p.setPen(QColor(color))
    p.drawText(at + QPointF(0, (metrics.ascent() - metrics.descent()) / 2), text)
