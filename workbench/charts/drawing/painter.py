"""Drawing of a figure into a pyqtgraph plot, maps and tables here.  Imports pyqtgraph."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import pyqtgraph as pg
from PySide6.QtCore import Qt
from PySide6.QtGui import QBrush, QColor, QFont, QFontMetricsF

from workbench.base.theme import Colors
from workbench.charts.data.figure import Bars, Drawn, Figure, Grid, Plot, Spot, Tile
from workbench.charts.drawing import drawn_bars, drawn_dots
from workbench.charts.drawing.marks import Labels, Markers, PlotLabel, cividis, mixed, text_on
from workbench.charts.drawing.plotting import (
    EDGE_PX,
    apply_theme,
    cut,
    emptied,
    make_room,
    scaled,
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


def draw(plot: Any, figure: Figure, colors: Colors, font: QFont) -> Drawn:
    """Draw everything anew into `plot`, which has its size already.

    font  of labels; ticks are a little smaller
    """
    emptied(plot)
    apply_theme(plot, colors, scaled(font, 0.92))
    match figure.body:
        case Plot():
            return drawn_dots.draw(plot, figure.body, colors, font)
        case Bars():
            return drawn_bars.draw(plot, figure.body, colors, font)
        case Grid():
            return _draw_grid(plot, figure.body, colors, font)
    return Drawn([], (0.0, 1.0), (0.0, 1.0))


def least_px(figure: Figure, wide_px: float, font: QFont) -> float:
    """The height below which a figure cannot be read."""
    row = QFontMetricsF(font).height()
    match figure.body:
        case Bars():
            return drawn_bars.rows(figure.body, wide_px) * row + 4 * row
        case Grid():
            return _least_grid_px(figure.body, wide_px, font)
    return 14 * row


def most_px(figure: Figure, font: QFont) -> float:
    """The height above which a figure gains nothing."""
    match figure.body:
        case Bars(names_beside=True):
            row = QFontMetricsF(font).height()
            return COMPACT_ROW * drawn_bars.rows(figure.body, 0.0) * row + 4 * row
        case Grid():
            tiles_px = _largest_tile_px(figure.body, font) * len(figure.body.rows)
            return max(tiles_px + 6 * font.pixelSize(), least_px(figure, 0.0, font))
    return math.inf


# -- maps and tables: tiles in a colour-blind-safe scale, with their words


class Writing(NamedTuple):
    """The way words are written in all tiles."""

    font: QFont
    is_turned: bool = False  # upwards, where tiles are higher than wide
    is_short: bool = False  # only their verdicts


def _draw_grid(plot: Any, body: Grid, colors: Colors, font: QFont) -> Drawn:
    """Draw tiles in a grid, with the names of columns below and of rows at the left."""
    left, bottom = plot.getAxis("left"), plot.getAxis("bottom")
    metrics = QFontMetricsF(left.font)
    rows = [cut(row, metrics, NAME_SHARE * plot.width()) for row in body.rows]
    row_px = widest(rows, metrics) + 10
    tile_px = (plot.width() - row_px - 2 * EDGE_PX) / max(len(body.columns), 1)
    columns = wrapped(body.columns, metrics, tile_px - 6)
    is_turned = not columns
    columns = columns or [cut(c, metrics, TURNED_MOST * font.pixelSize()) for c in body.columns]
    left.show_scale(fixed=[(-float(i), name) for i, name in enumerate(rows)], has_grid=False)
    fixed = [(float(i), name) for i, name in enumerate(columns)]
    bottom.show_scale(fixed=fixed, has_grid=False, is_turned=is_turned)
    left.text_color = bottom.text_color = QColor(colors.text)
    x = (-0.5, len(columns) - 0.5)
    plot.setXRange(*x, padding=0)
    make_room(plot, _captions(body), colors, font, row_px)
    box = plot.getViewBox().boundingRect()
    high_px = min(box.height() / max(len(rows), 1), _largest_tile_px(body, font))
    y = (0.5 - len(rows), box.height() / high_px - len(rows) + 0.5)  # what is left is free above
    plot.setYRange(*y, padding=0)
    size = box.width() / max(len(columns), 1), high_px
    ends = _ends(body)
    fills = [_fill(tile, body, ends, colors) for tile in body.tiles]
    _draw_tiles(plot, body, fills, size, colors, font)
    return Drawn([_spot(tile) for tile in body.tiles], x, y)


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


def _ends(body: Grid) -> tuple[float, float]:
    values = [tile.value for tile in body.tiles if tile.value]
    return (min(values), max(values)) if values else (1.0, 1.0)


def _fill(tile: Tile, body: Grid, ends: tuple[float, float], colors: Colors) -> QColor:
    if tile.verdict:
        tint = {"good": colors.good, "bad": colors.bad}.get(tile.verdict, colors.muted)
        return mixed(QColor(tint), colors.panel, VERDICT_SHARES[tile.verdict])
    assert tile.value is not None
    share, (low, high) = 0.5, ends
    if high > low and body.scale and body.scale.is_log:
        share = math.log(tile.value / low) / math.log(high / low)
    elif high > low:
        share = (tile.value - low) / (high - low)
    fill = cividis(share if body.more_is_better else 1 - share)
    return mixed(fill, colors.panel, PALE_SHARE) if tile.is_pale else fill


def _draw_tiles(
    plot: Any,
    body: Grid,
    fills: Sequence[QColor],
    size: tuple[float, float],
    colors: Colors,
    font: QFont,
) -> None:
    """Draw boxes, outlines of the best, a dot in the one in use, and words."""
    pairs = [*zip(body.tiles, fills, strict=True)]
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
        plot.addItem(Markers(xs, ys, size=8, pen=pg.mkPen("k"), brush=pg.mkBrush("w")))
    if how := _writing(font, body, size):
        labels = [label for pair in pairs for label in _labels(*pair, how, size, colors)]
        plot.addItem(Labels(labels))


def _box(tile: Tile, half: float) -> dict[str, float]:
    """The sides of a tile, `half` away from its middle, by their names in pyqtgraph."""
    x, y = tile.column, -tile.row
    return {"x0": x - half, "x1": x + half, "y0": y - half, "y1": y + half}


def _spot(tile: Tile) -> Spot:
    box = _box(tile, 0.5)
    place = float(tile.column), -float(tile.row)
    return Spot(*place, tile.text, tile.cell, (box["x0"], box["y0"], box["x1"], box["y1"]))


def _labels(
    tile: Tile, fill: QColor, how: Writing, size: tuple[float, float], colors: Colors
) -> list[PlotLabel]:
    """The lines of a tile that fit, around its middle."""
    color = colors.text if tile.verdict == "bad" else text_on(fill).name()
    metrics = QFontMetricsF(how.font)
    lines = [line for line in tile.words if metrics.horizontalAdvance(line) + 4 <= size[0]]
    lines = lines[: max(1, int((size[1] - 2) / metrics.height()))]
    if how.is_turned or how.is_short:
        lines = [_mark(tile) if how.is_short else tile.words[0]]
    place, first = (float(tile.column), -float(tile.row)), -(len(lines) - 1) / 2
    return [
        PlotLabel(*place, line, how.font, color, down=first + at, is_turned=how.is_turned)
        for at, line in enumerate(lines)
    ]


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
