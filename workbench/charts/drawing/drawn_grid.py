"""Draws a heat map or a table: tiles in a colour-blind-safe scale, with what they say in words."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import pyqtgraph as pg
from PySide6.QtCore import Qt
from PySide6.QtGui import QBrush, QColor, QFont, QFontMetricsF

from workbench.base.theme import Colors
from workbench.charts.data.figure import Axis, Drawn, Grid, Spot, Tile
from workbench.charts.drawing.marks import Labels, Markers, PlotLabel, cividis, mixed, text_on
from workbench.charts.drawing.plotting import EDGE_PX, make_room, wrapped

GAP = 0.03  # of a tile, left free around it
MIN_TEXT_PX = 8
PALE_SHARE = 0.45  # of the background in what is not known to be right
MAX_TILE, MAX_TABLE_TILE = 9.0, 4.5  # heights of a letter: higher ones say no more
NAME_SHARE = 0.42  # of the width, at most
TURNED_MOST = 12  # heights of a letter, of a name that is written upwards
TURNED_TILE = 5  # heights of a letter: in narrower tiles names are written upwards


class Writing(NamedTuple):
    """The way words are written in all tiles.

    is_turned  upwards, where tiles are higher than wide
    is_short   only their verdicts
    """

    font: QFont
    is_turned: bool = False
    is_short: bool = False


def draw(plot: Any, body: Grid, colors: Colors, font: QFont) -> Drawn:
    """Draw tiles in a grid, with the names of columns below and of rows at the left."""
    left, bottom = plot.getAxis("left"), plot.getAxis("bottom")
    for axis in (left, bottom):
        axis.has_grid, axis.is_log, axis.is_turned = False, False, False
        axis.text_color = QColor(colors.text)
    metrics = QFontMetricsF(left.font)
    most = NAME_SHARE * plot.width()
    rows = [metrics.elidedText(r, Qt.TextElideMode.ElideRight, most) for r in body.rows]
    row_px = max((metrics.horizontalAdvance(name) for name in rows), default=0) + 10
    tile_px = (plot.width() - row_px - 2 * EDGE_PX) / max(len(body.columns), 1)
    columns = wrapped(body.columns, metrics, tile_px - 6)
    bottom.is_turned = not columns
    if not columns:
        most = TURNED_MOST * font.pixelSize()
        columns = [metrics.elidedText(c, Qt.TextElideMode.ElideRight, most) for c in body.columns]
    left.fixed = [(-float(i), name) for i, name in enumerate(rows)]
    bottom.fixed = [(float(i), name) for i, name in enumerate(columns)]
    x = (-0.5, len(columns) - 0.5)
    plot.setXRange(*x, padding=0)
    make_room(plot, (_caption(body), _below(body)), colors, font, row_px)
    box = plot.getViewBox().boundingRect()
    tile_high = min(box.height() / max(len(rows), 1), largest_tile_px(body, font))
    top = box.height() / tile_high - len(rows) + 0.5  # what is left over stays free above
    y = (0.5 - len(rows), top)
    plot.setYRange(*y, padding=0)
    size = box.width() / max(len(columns), 1), tile_high
    low, high = _ends(body)
    how = _writing(font, body, size)
    fills = [_fill(tile, body, colors, low, high) for tile in body.tiles]
    _draw_tiles(plot, body.tiles, fills, colors)
    _draw_outlines(plot, body.tiles, fills, colors)
    _draw_current(plot, body.tiles)
    if how is not None:
        labels = [
            label
            for tile, fill in zip(body.tiles, fills, strict=True)
            for label in _labels(tile, fill, how, size, colors)
        ]
        plot.addItem(Labels(labels))
    return Drawn([_spot(tile) for tile in body.tiles], x, y)


def least_px(body: Grid, wide_px: float, font: QFont) -> float:
    """Return the height below which rows, or the names below them, cannot be read."""
    metrics = QFontMetricsF(font)
    below = 2 * metrics.height()
    tile_px = (1 - NAME_SHARE) * wide_px / max(len(body.columns), 1)
    if tile_px < TURNED_TILE * font.pixelSize():
        widest = max((metrics.horizontalAdvance(name) for name in body.columns), default=0)
        below = min(widest, TURNED_MOST * font.pixelSize())
    return 1.4 * metrics.height() * len(body.rows) + below + 4 * metrics.height()


def largest_tile_px(body: Grid, font: QFont) -> float:
    """Return the largest height of a tile: a table's need no more than its text."""
    return font.pixelSize() * (MAX_TABLE_TILE if body.scale is None else MAX_TILE)


def _spot(tile: Tile) -> Spot:
    x, y = float(tile.column), -float(tile.row)
    return Spot(x, y, tile.text, tile.cell, (x - 0.5, y - 0.5, x + 0.5, y + 0.5))


def _caption(body: Grid) -> str:
    """Describe the colours and the ends of their scale."""
    if body.scale is None:
        return ""
    low, high = _ends(body)
    words = body.scale.words
    ends = f"dark {words(low)} to light {words(high)}"
    if not body.more_is_better:
        ends = f"light {words(low)} to dark {words(high)}"
    return f"{body.scale.label} · {ends}"


def _below(body: Grid) -> str:
    if not body.column_label:
        return ""
    return f"{body.column_label}, across; {body.row_label[:1].lower()}{body.row_label[1:]}, down"


def _ends(body: Grid) -> tuple[float, float]:
    values = [tile.value for tile in body.tiles if tile.value]
    return (min(values), max(values)) if values else (1.0, 1.0)


def _fill(tile: Tile, body: Grid, colors: Colors, low: float, high: float) -> QColor:
    tints = {"good": colors.good, "bad": colors.bad}
    if tile.verdict:
        share = {"good": 0.78, "bad": 0.55}.get(tile.verdict, 0.86)
        return mixed(QColor(tints.get(tile.verdict, colors.muted)), colors.panel, share)
    assert tile.value is not None
    share = _share(tile.value, low, high, body.scale)
    fill = cividis(share if body.more_is_better else 1 - share)
    return mixed(fill, colors.panel, PALE_SHARE) if tile.is_pale else fill


def _share(value: float, low: float, high: float, scale: Axis | None) -> float:
    if high <= low:
        return 0.5
    if scale and scale.is_log:
        return math.log(value / low) / math.log(high / low)
    return (value - low) / (high - low)


def _draw_tiles(plot: Any, tiles: Sequence[Tile], fills: Sequence[QColor], colors: Colors) -> None:
    if tiles:
        boxes = [_box(tile, 0.5 - GAP) for tile in tiles]
        sides = {side: [box[side] for box in boxes] for side in boxes[0]}
        hatched = QBrush(QColor(colors.border), Qt.BrushStyle.BDiagPattern)
        brushes = [
            hatched if tile.verdict == "refused" else pg.mkBrush(fill)
            for tile, fill in zip(tiles, fills, strict=True)
        ]
        plot.addItem(pg.BarGraphItem(**sides, brushes=brushes, pen=pg.mkPen(None)))


def _box(tile: Tile, half: float) -> dict[str, float]:
    """Return the sides of a tile, `half` away from its middle, by their names in pyqtgraph."""
    x, y = tile.column, -tile.row
    return {"x0": x - half, "x1": x + half, "y0": y - half, "y1": y + half}


def _draw_outlines(
    plot: Any, tiles: Sequence[Tile], fills: Sequence[QColor], colors: Colors
) -> None:
    """Draw outlines around the best tiles, dark and light, to show on every colour."""
    for tile, fill in zip(tiles, fills, strict=True):
        if tile.is_best:
            sides = _box(tile, 0.5 - 1.6 * GAP)
            for color, width in ((colors.text, 5), (colors.panel, 1.6)):
                pen = pg.mkPen(color, width=width)
                plot.addItem(pg.BarGraphItem(**sides, brush=pg.mkBrush(fill), pen=pen))


def _draw_current(plot: Any, tiles: Sequence[Tile]) -> None:
    """Put a dot into the upper right corner of the tile that is in use."""
    at = [(tile.column + 0.38, 0.32 - tile.row) for tile in tiles if tile.is_current]
    if at:
        x, y = zip(*at, strict=True)
        plot.addItem(Markers(x=x, y=y, size=8, pen=pg.mkPen("k"), brush=pg.mkBrush("w")))


def _labels(
    tile: Tile, fill: QColor, how: Writing, size: tuple[float, float], colors: Colors
) -> list[PlotLabel]:
    """Return the lines of a tile that fit, around its middle."""
    color = text_on(fill).name()
    if tile.verdict == "bad":
        color = colors.text
    metrics = QFontMetricsF(how.font)
    lines = [line for line in tile.words if metrics.horizontalAdvance(line) + 4 <= size[0]]
    lines = lines[: max(1, int((size[1] - 2) / metrics.height()))]
    if how.is_turned:
        lines = [tile.words[0]]
    elif how.is_short:
        lines = [_mark(tile)]
    first = -(len(lines) - 1) / 2
    x, y = float(tile.column), -float(tile.row)
    return [
        PlotLabel(x, y, line, how.font, color, down=first + number, is_turned=how.is_turned)
        for number, line in enumerate(lines)
    ]


def _writing(font: QFont, body: Grid, size: tuple[float, float]) -> Writing | None:
    """Choose how every tile says the most that all can; None: nothing could be read."""
    whole, short = [tile.words[0] for tile in body.tiles], [_mark(tile) for tile in body.tiles]
    if level := _fitting(font, whole, *size):
        return Writing(level)
    if turned := _fitting(font, whole, size[1], size[0]):
        return Writing(turned, is_turned=True)
    if level := _fitting(font, short, *size):
        return Writing(level, is_short=True)
    return None


def _mark(tile: Tile) -> str:
    """Return the least that a tile may say: its verdict, or all of its first line."""
    return tile.words[0].partition(" ")[0] if tile.verdict else tile.words[0]


def _fitting(font: QFont, words: list[str], wide: float, high: float) -> QFont | None:
    """Return the largest font in which all words fit; None: there is none."""
    for px in range(round(1.15 * font.pixelSize()), MIN_TEXT_PX - 1, -1):
        small = QFont(font)
        small.setPixelSize(px)
        metrics = QFontMetricsF(small)
        widest = max((metrics.horizontalAdvance(word) for word in words), default=0)
        if widest + 6 <= wide and metrics.height() <= high:
            return small
    return None
