"""Drawing of a figure into a pyqtgraph plot: bars, maps and tables here.  Imports pyqtgraph."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from itertools import accumulate
from typing import Any, NamedTuple

import pyqtgraph as pg
from PySide6.QtCore import Qt
from PySide6.QtGui import QBrush, QColor, QFont, QFontMetricsF

from workbench.base.theme import Colors
from workbench.charts.data.figure import Bar, Bars, Drawn, Figure, Grid, Plot, Spot, Tile
from workbench.charts.drawing import drawn_dots, marks, plotting

COMPACT_ROW = 1.35  # heights of a letter, of a bar that has its name beside it
GAP = 0.03  # of a tile, left free around it
MIN_TEXT_PX = 8
ON_LIGHT, ON_DARK = "#10151b", "#f6f7f9"  # text on a colour of a map,
DARK_ON_LIGHT = 0.48  # by its lightness
PALE_SHARE = 0.45  # of the background in what is not known to be right
VERDICT_SHARES = {"good": 0.78, "bad": 0.55, "missing": 0.86, "refused": 0.86}
MAX_TILE, MAX_TABLE_TILE = 9.0, 4.5  # heights of a letter: higher ones say no more
NAME_SHARE = 0.42  # of the width, at most
TURNED_MOST = 12  # heights of a letter, of a name that is written upwards


def draw(plot: Any, figure: Figure, colors: Colors, font: QFont) -> Drawn:
    """Draw everything anew into `plot`, which has its size already.

    font  of labels; ticks are a little smaller
    """
    plotting.emptied(plot)
    plotting.apply_theme(plot, colors, plotting.scaled(font, 0.92))
    match figure.body:
        case Plot():
            return drawn_dots.draw(plot, figure.body, colors, font)
        case Bars():
            return _draw_bars(plot, figure.body, colors, font)
        case Grid():
            return _draw_grid(plot, figure.body, colors, font)
    return Drawn([], (0.0, 1.0), (0.0, 1.0))


def least_px(figure: Figure, wide_px: float, font: QFont) -> float:
    """The height below which a figure cannot be read."""
    row = QFontMetricsF(font).height()
    match figure.body:
        case Bars():
            return _rows(figure.body, wide_px) * row + 4 * row
        case Grid():
            return _least_grid_px(figure.body, wide_px, font)
    return 14 * row


def most_px(figure: Figure, wide_px: float, font: QFont) -> float:
    """The height above which a figure gains nothing."""
    match figure.body:
        case Bars(names_beside=True):
            row = QFontMetricsF(font).height()
            return COMPACT_ROW * _rows(figure.body, 0.0) * row + 4 * row
        case Grid():
            tiles_px = _largest_tile_px(figure.body, font) * len(figure.body.rows)
            around_px = (3 + 3 * _has_labels(figure.body)) * font.pixelSize()
            return max(tiles_px + around_px, least_px(figure, wide_px, font))
    return math.inf


# -- maps and tables: tiles in a colour-blind-safe scale, with their words


Size = tuple[float, float]  # of a tile in pixels


class Writing(NamedTuple):
    """The way words are written in all tiles."""

    font: QFont
    is_turned: bool = False  # upwards, where tiles are higher than wide
    is_short: bool = False  # only their verdicts


def _draw_grid(plot: Any, body: Grid, colors: Colors, font: QFont) -> Drawn:
    left, bottom = plot.getAxis("left"), plot.getAxis("bottom")
    metrics = QFontMetricsF(left.font)
    rows = [plotting.cut(row, metrics, NAME_SHARE * plot.width()) for row in body.rows]
    row_px = plotting.widest(rows, metrics) + 10
    tile_px = (plot.width() - row_px - 2 * plotting.EDGE_PX) / max(len(body.columns), 1)
    columns = plotting.wrapped(body.columns, metrics, tile_px - 6)
    is_turned = not columns
    most_px = TURNED_MOST * font.pixelSize()
    columns = columns or [plotting.cut(each, metrics, most_px) for each in body.columns]
    left.show_scale(fixed=[(-float(i), name) for i, name in enumerate(rows)], has_grid=False)
    fixed = [(float(i), name) for i, name in enumerate(columns)]
    bottom.show_scale(fixed=fixed, has_grid=False, is_turned=is_turned)
    left.text_color = bottom.text_color = QColor(colors.text)
    x = (-0.5, len(columns) - 0.5)
    plot.setXRange(*x, padding=0)
    above = below = ""
    if body.scale is not None:
        low, high = map(body.scale.words, _ends(body))
        first, last = ("dark", "light") if body.more_is_better else ("light", "dark")
        above = f"{body.scale.label} · {first} {low}, {last} {high}"
    if body.column_label:
        row_label = f"{body.row_label[:1].lower()}{body.row_label[1:]}"
        below = f"{body.column_label}, across; {row_label}, down"
    plotting.make_room(plot, (above, below), colors, font, row_px)
    box = plot.getViewBox().boundingRect()
    high_px = min(box.height() / max(len(rows), 1), _largest_tile_px(body, font))
    y = (0.5 - len(rows), box.height() / high_px - len(rows) + 0.5)  # what is left is free above
    plot.setYRange(*y, padding=0)
    _draw_tiles(plot, body, (box.width() / max(len(columns), 1), high_px), colors, font)
    return Drawn([_spot(tile) for tile in body.tiles], x, y)


def _least_grid_px(body: Grid, wide_px: float, font: QFont) -> float:
    """The height below which rows, or the names below them, cannot be read."""
    metrics, small = QFontMetricsF(font), QFont(font)
    small.setPixelSize(MIN_TEXT_PX)
    row_px, below = 1.4 * metrics.height(), 2 * metrics.height()
    tile_px = (1 - NAME_SHARE) * wide_px / max(len(body.columns), 1)
    if not plotting.wrapped(body.columns, metrics, tile_px - 6):
        below = min(plotting.widest(body.columns, metrics), TURNED_MOST * font.pixelSize())
    words_px = plotting.widest([tile.words[0] for tile in body.tiles], QFontMetricsF(small)) + 8
    if body.scale is not None and tile_px < words_px:  # they are written upwards
        row_px = max(row_px, words_px)
    return row_px * len(body.rows) + below + (1 + 3 * _has_labels(body)) * metrics.height()


def _has_labels(body: Grid) -> bool:
    return body.scale is not None or bool(body.column_label)


def _largest_tile_px(body: Grid, font: QFont) -> float:
    return font.pixelSize() * (MAX_TABLE_TILE if body.scale is None else MAX_TILE)


def _ends(body: Grid) -> tuple[float, float]:
    values = [tile.value for tile in body.tiles if tile.value] or [1.0]
    return min(values), max(values)


def _fill(tile: Tile, body: Grid, ends: tuple[float, float], colors: Colors) -> QColor:
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


def _draw_tiles(plot: Any, body: Grid, size: Size, colors: Colors, font: QFont) -> None:
    ends = _ends(body)
    pairs = [(tile, _fill(tile, body, ends, colors)) for tile in body.tiles]
    if pairs:
        boxes = [_box(tile, 0.5 - GAP) for tile in body.tiles]
        hatched = QBrush(QColor(colors.border), Qt.BrushStyle.BDiagPattern)
        brushes = [hatched if t.verdict == "refused" else pg.mkBrush(fill) for t, fill in pairs]
        sides = {side: [box[side] for box in boxes] for side in boxes[0]}
        plot.addItem(pg.BarGraphItem(**sides, brushes=brushes, pen=pg.mkPen(None)))
    for tile, fill in pairs:
        for color, width in ((colors.text, 5), (colors.panel, 1.6)) if tile.is_best else ():
            look = {"brush": pg.mkBrush(fill), "pen": pg.mkPen(color, width=width)}
            plot.addItem(pg.BarGraphItem(**_box(tile, 0.5 - 1.6 * GAP), **look))
    if at := [(tile.column + 0.38, 0.32 - tile.row) for tile in body.tiles if tile.is_current]:
        xs, ys = zip(*at, strict=True)
        plot.addItem(marks.Markers(xs, ys, size=8, pen=pg.mkPen("k"), brush=pg.mkBrush("w")))
    if how := _writing(font, body, size):
        labels = [label for pair in pairs for label in _labels(*pair, how, size, colors)]
        plot.addItem(marks.Labels(labels))


def _box(tile: Tile, half: float) -> dict[str, float]:
    x, y = tile.column, -tile.row
    return {"x0": x - half, "x1": x + half, "y0": y - half, "y1": y + half}


def _spot(tile: Tile) -> Spot:
    x, y = float(tile.column), -float(tile.row)
    return Spot(x, y, tile.text, tile.cell, (x - 0.5, y - 0.5, x + 0.5, y + 0.5))


def _labels(
    tile: Tile, fill: QColor, how: Writing, size: Size, colors: Colors
) -> list[marks.PlotLabel]:
    color = ON_LIGHT if fill.lightnessF() > DARK_ON_LIGHT else ON_DARK
    color = colors.text if tile.verdict == "bad" else color
    metrics = QFontMetricsF(how.font)
    lines = [line for line in tile.words if metrics.horizontalAdvance(line) + 4 <= size[0]]
    lines = lines[: max(1, int((size[1] - 2) / metrics.height()))]
    if how.is_turned or how.is_short:
        lines = [_mark(tile) if how.is_short else tile.words[0]]
    place, first = (float(tile.column), -float(tile.row)), -(len(lines) - 1) / 2
    return [
        marks.PlotLabel(*place, line, how.font, color, down=first + at, is_turned=how.is_turned)
        for at, line in enumerate(lines)
    ]


def _writing(font: QFont, body: Grid, size: Size) -> Writing | None:
    """Choose how every tile says the most that all can; None: nothing could be read."""
    whole, short = [tile.words[0] for tile in body.tiles], [_mark(tile) for tile in body.tiles]
    if level := _fitting(font, whole, *size):
        return Writing(level)
    if level := _fitting(font, whole, *size[::-1]):
        return Writing(level, is_turned=True)
    level = _fitting(font, short, *size)
    return Writing(level, is_short=True) if level else None


def _mark(tile: Tile) -> str:
    return tile.words[0].partition(" ")[0] if tile.verdict else tile.words[0]


def _fitting(font: QFont, words: Sequence[str], wide: float, high: float) -> QFont | None:
    """The largest font in which all words fit; None: there is none."""
    for px in range(round(1.15 * font.pixelSize()), MIN_TEXT_PX - 1, -1):
        small = QFont(font)
        small.setPixelSize(px)
        metrics = QFontMetricsF(small)
        if plotting.widest(words, metrics) + 6 <= wide and metrics.height() <= high:
            return small
    return None


# -- bars: from left to right by their names, with their quartiles; on a logarithmic axis, which has
# no zero for a bar to begin at, markers over a thin line

MAX_BAR_PX, MAX_ROW_PX = 26.0, 48.0
NARROW_PX = 520  # in a wider plot the names of bars stand beside them
BAR_NAME_SHARE = 0.44  # of the width, at most
MIN_LENGTH = 0.2  # of the width that bars have, however long the words at their ends
MARKER_PX = 9.0
TICK_SLACK = 1e-9
PART_SHARE = 0.75  # of the background in a paler bar
LOG_ROOM = 0.06  # of the range, below the smallest on a logarithmic axis
MIN_DECADES = 0.3  # of a logarithmic axis, however near to each other its values are
Row = tuple[Bar, float]  # with the middle of its row


def _rows(body: Bars, wide_px: float) -> float:
    return sum(len(g.bars) + _has_names_above(body, wide_px) + 0.5 for g in body.groups)


def _has_names_above(body: Bars, wide_px: float) -> bool:
    return wide_px < NARROW_PX and not body.names_beside


def _draw_bars(plot: Any, body: Bars, colors: Colors, font: QFont) -> Drawn:
    """Draw each group as a block of rows; in a narrow plot its name stands in a row above them."""
    start, end = _bar_ends(body)
    left, bottom = plot.getAxis("left"), plot.getAxis("bottom")
    bottom.show_scale(body.axis.words, is_log=body.axis.is_log, ends=(start, end + TICK_SLACK))
    left.show_scale(fixed=(), has_grid=False)
    is_narrow = _has_names_above(body, plot.width())
    captions = (body.axis.label, "")
    plot.setXRange(start, end, padding=0)
    plotting.make_room(plot, captions, colors, font)
    tall = max(plot.getViewBox().boundingRect().height(), 40.0)
    row_px = min(MAX_ROW_PX * plotting.magnified(font), tall / max(_rows(body, plot.width()), 1))
    small = QFont(font)  # as large as `font`, unless a row is too low for that
    small.setPixelSize(max(MIN_TEXT_PX, min(font.pixelSize(), int(0.78 * row_px))))
    metrics = QFontMetricsF(small)
    most = plot.width() * (1.0 if is_narrow else BAR_NAME_SHARE) - 2 * plotting.EDGE_PX
    names = [plotting.cut(group.label, metrics, most) for group in body.groups]
    name_px = 0.0 if is_narrow else plotting.widest(names, metrics) + 10
    wide = plot.width() - name_px - 2 * plotting.EDGE_PX
    x, y = (start, start + _length(body, start, end, metrics, wide)), (-tall / row_px, 0.0)
    plot.setXRange(*x, padding=0)
    plot.setYRange(*y, padding=0)
    placed, labels, ticks = list[Row](), list[marks.PlotLabel](), list[tuple[float, str]]()
    at = 0.25
    for group, name in zip(body.groups, names, strict=True):
        if is_narrow:
            place = start, -(at + 0.55)
            labels.append(marks.PlotLabel(*place, name, small, colors.text, (0.0, 0.5)))
            at += 1
        else:
            ticks.append((-(at + len(group.bars) / 2), name))
        placed += [(bar, -(at + number + 0.5)) for number, bar in enumerate(group.bars)]
        at += len(group.bars) + 0.5
    left.fixed, left.font, left.text_color = ticks, small, QColor(colors.text)
    plotting.make_room(plot, captions, colors, font, name_px)
    half = min(0.36, 0.5 * MAX_BAR_PX * plotting.magnified(font) / row_px)
    _draw_marks(plot, body, placed, half, colors, font)
    labels += [_words_of(body, *row, start, colors, small, wide) for row in placed]
    plot.addItem(marks.Labels(labels))
    return Drawn([_bar_spot(body, *row, half, start) for row in placed], x, y)


def _bar_ends(body: Bars) -> tuple[float, float]:
    """Where bars begin, 0 or below the smallest on a logarithmic axis; and the largest end."""
    ends = [end for bar in body.bars if bar.value for end in (bar.low, bar.end)]
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
        share = (body.axis.place(bar.end) - start) / (end - start) if bar.value else 0.0
        room = wide_px - metrics.horizontalAdvance(bar.words) - 22
        shares.append(share * wide_px / max(room, MIN_LENGTH * wide_px))
    return (end - start) * max(shares)


def _words_of(
    body: Bars, bar: Bar, y: float, start: float, colors: Colors, font: QFont, wide_px: float
) -> marks.PlotLabel:
    """The label of a bar: its value, or why it has none, cut to fit."""
    x, color, words = start, colors.text, bar.words
    if bar.value:
        x = body.axis.place(bar.end)
    else:
        color = colors.bad if words.startswith("✗") else colors.muted
        words = plotting.cut(words, QFontMetricsF(font), wide_px - 3 * font.pixelSize())
    words = f"\u2002\u2009{words}"
    return marks.PlotLabel(x, y, words, font, color, (0.0, 0.5), back=colors.panel)


def _draw_marks(
    plot: Any, body: Bars, placed: Sequence[Row], half: float, colors: Colors, font: QFont
) -> None:
    place, is_log = body.axis.place, body.axis.is_log

    def pairs(those: Sequence[Row], along: Sequence[float], pen: Any) -> None:
        line = along, [y for _, y in those for _ in range(2)]
        plot.addItem(pg.PlotCurveItem(*line, connect="pairs", pen=pen))

    valued = [row for row in placed if row[0].value]
    values, ys = [place(bar.value or 0.0) for bar, _ in valued], [y for _, y in valued]
    outline, factor = pg.mkPen(colors.text, width=2), plotting.magnified(font)
    if valued and is_log:  # a thin line along each row, by which names are found
        pairs(valued, len(valued) * plot.getViewBox().viewRange()[0], pg.mkPen(colors.grid))
    elif valued:
        box = {"x0": _bar_ends(body)[0], "x1": values, "y": ys, "height": 2 * half}
        fills = [pg.mkBrush(None if b.pieces else _bar_fill(b, colors)) for b, _ in valued]
        thin, bare = pg.mkPen(colors.text, width=1.2), pg.mkPen(None)
        pens = [outline if b.is_best else thin if b.pieces else bare for b, _ in valued]
        _draw_pieces(plot, valued, half, colors, font)
        plot.addItem(pg.BarGraphItem(**box, brushes=fills, pens=pens))
    if ranges := [row for row in valued if row[0].high > row[0].low and not row[0].pieces]:
        whiskers = [place(end) for bar, _ in ranges for end in (bar.low, bar.high)]
        pairs(ranges, whiskers, pg.mkPen(colors.text, width=1.4))
    if is_log and (best := [n for n, (bar, _) in enumerate(valued) if bar.is_best]):
        ring = {**marks.RING, "size": marks.RING["size"] * factor, "pen": outline}
        plot.addItem(marks.Markers([values[n] for n in best], [ys[n] for n in best], **ring))
    has_marker = [is_log or bar.entry.style.marker is not None for bar, _ in valued]
    if marked := [n for n, is_marked in enumerate(has_marker) if is_marked]:
        looks = [_look(valued[n][0], is_log, colors, MARKER_PX * factor) for n in marked]
        look = {name: [each[name] for each in looks] for name in looks[0]}
        plot.addItem(marks.Markers([values[n] for n in marked], [ys[n] for n in marked], **look))


def _draw_pieces(plot: Any, rows: Sequence[Row], half: float, colors: Colors, font: QFont) -> None:
    """Draw what bars are made of, dark and pale in turn, each with its name where that fits."""
    box, metrics = plot.getViewBox(), QFontMetricsF(font)
    (low, high), wide_px, labels = box.viewRange()[0], box.boundingRect().width(), []
    for bar, y in rows:
        ends = list(accumulate((value for _, value in bar.pieces), initial=0.0))
        for at, (name, value) in enumerate(bar.pieces):
            fill = pg.mkBrush(_bar_fill(replace(bar, is_part=at % 2 == 1), colors))
            sides = {"x0": [ends[at]], "x1": [ends[at + 1]], "y": [y], "height": 2 * half}
            plot.addItem(pg.BarGraphItem(**sides, brush=fill, pen=pg.mkPen(None)))
            room_px = value / (high - low) * wide_px - 6
            if metrics.horizontalAdvance(name[:2]) < room_px:
                text = plotting.cut(name, metrics, room_px)
                labels.append(marks.PlotLabel(ends[at] + value / 2, y, text, font, colors.text))
    plot.addItem(marks.Labels(labels))


def _look(bar: Bar, is_log: bool, colors: Colors, px: float) -> dict[str, Any]:
    style = bar.entry.style
    is_half = style.is_half or (is_log and bar.is_part)
    return marks.marker_style(replace(style, is_half=is_half, marker=style.marker or 0), colors, px)


def _bar_fill(bar: Bar, colors: Colors) -> QColor:
    share = PART_SHARE if bar.is_part else marks.BAR_SHARE
    return marks.mixed(marks.color_of(bar.entry.style, colors), colors.panel, share)


def _bar_spot(body: Bars, bar: Bar, y: float, half: float, start: float) -> Spot:
    """A bar's spot: anywhere beside its base line, or only near a bare marker."""
    x = body.axis.place(bar.value) if bar.value else start
    box = None if body.axis.is_log else (start, y - half, math.inf, y + half)
    return Spot(x, y, bar.text, bar.cell, box)
