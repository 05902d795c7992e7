"""The painting of a launch over the picture: blocks, a tile, warps, a thread, and the legend."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from PySide6.QtCore import QRect, QRectF, Qt
from PySide6.QtGui import QBrush, QColor, QImage, QPainter

from kernels.anatomy.launch_shapes import Rect
from kernels.anatomy.record import Part
from kernels.anatomy.transactions import LANES
from workbench.panels.anatomy.subject import Look, Marks
from workbench.widgets.chips import hairline, outline

NARROWEST = 8.0  # device pixels between two lines of the grid; closer ones would hide the picture
TOO_CLOSE = "Zoom in to see the grid of blocks."
LEAST_PX = 5  # size of a thread's samples on the screen
# On pictures, which may have any colour; Okabe and Ito's blue, orange and yellow.
HALO, TILE = QColor(86, 180, 233), QColor(0, 114, 178)
WARPS = (QColor(230, 159, 0, 95), QColor(86, 180, 233, 95))
LOADED, SHARED = QColor(230, 159, 0, 150), QColor(0, 158, 115, 120)
THREAD = QColor(240, 228, 66)
WARP = QColor("#ffffff")
PART_TITLES: dict[Part, str] = {"load": "1 Load", "share": "2 Share", "compute": "3 Compute"}
FILLED, OUTLINED, DASHED = "■", "□", "⬚"  # signs of the legend, in the colours of the painting


def paint_look(
    painter: QPainter, visible: QRectF, scale: float, look: Look, marks: Marks | None
) -> None:
    """Paint blocks, tile and halo over a picture, and what one part of the launch touches.

    painter  in pixels of the picture, see `picture_view.Overlay`
    marks    None: threads are not drawn
    """
    part, shape = None if marks is None else marks.part, look.subject.shape
    _paint_grid(painter, visible, scale, look)
    if marks is not None and marks.is_shared:
        _fill(painter, SHARED, [shape.with_halo(look.block)], look)
    if part == "compute":
        _paint_warps(painter, scale, look)
    paint_tile(painter, _area(look.tile, look), _area(shape.with_halo(look.block), look))
    if marks is None:
        return
    if part == "load":
        _fill(painter, LOADED, [rect for _, rect in marks.lanes], look)
        _paint_thread(painter, scale, look, [rect for n, rect in marks.lanes if n == look.lane])
    if part == "compute":
        if marks.tap is not None:
            _fill(painter, THREAD, [marks.tap], look)
        outline(
            painter, [_area(each, look) for each in marks.reads], THREAD, style=Qt.PenStyle.DashLine
        )
        _paint_thread(painter, scale, look, look.rects_of(look.thread or 0))


def legend_words(look: Look, marks: Marks | None, scale: float) -> str:
    """The parts that `paint_look` paints, each behind its sign, as a line of rich text."""
    entries = {"Tile: computed by the block": _sign(OUTLINED, TILE, "#ffffff")}
    if look.subject.shape.halo != (0, 0):
        entries["Halo: read as well"] = _sign(DASHED, HALO)
    marks = marks or Marks("share")  # of which nothing is painted
    if marks.part == "load" and marks.lanes:
        entries["Loaded by this warp"] = _sign(FILLED, LOADED)
        entries["Loaded by this lane"] = _sign(OUTLINED, THREAD)
    if marks.is_shared:
        entries["In shared memory"] = _sign(FILLED, SHARED)
    if marks.part == "compute":
        entries["Warps, in two colours"] = "".join(_sign(FILLED, color) for color in WARPS)
        entries["This warp"] = _sign(OUTLINED, WARP)
        entries["This thread"] = _sign(OUTLINED, THREAD)
        if marks.reads:
            entries["Read by it"] = _sign(DASHED, THREAD)
    parts = [f"{sign}&nbsp;{words.replace(' ', '&nbsp;')}" for words, sign in entries.items()]
    return "&nbsp; ".join(parts) + f"<br>{TOO_CLOSE}" * (not _has_grid(look, scale))


def _has_grid(look: Look, scale: float) -> bool:
    across, down = look.subject.shape.covers
    return min(across / look.subject.channels, down) * scale >= NARROWEST


def _sign(sign: str, color: QColor, under: str = "transparent") -> str:
    return f'<span style="color:{color.name()}; background:{under}">{sign}</span>'


def block_area(look: Look) -> QRectF:
    """The pixels of the block shown, with its halo."""
    shape = look.subject.shape
    return _area(shape.with_halo(look.block).clipped(shape.picture), look)


def warp_runs(look: Look, warp: int) -> list[Rect]:
    """The samples of a warp's lanes as rectangles: runs of samples, equal rows joined."""
    return look.record.rects(warp * LANES, (warp + 1) * LANES) if look.record else []


def _area(rect: Rect, look: Look) -> QRectF:
    """Samples and rows as pixels: a block may end inside one."""
    channels = look.subject.channels
    return QRectF(rect.left / channels, rect.top, rect.width / channels, rect.height)


def _paint_grid(painter: QPainter, visible: QRectF, scale: float, look: Look) -> None:
    shape = look.subject.shape
    area = visible.intersected(_area(shape.picture, look))
    across, down = shape.covers[0] / look.subject.channels, shape.covers[1]
    if not _has_grid(look, scale):
        return
    columns, rows = (
        [
            round((n * step - origin) * scale)
            for n in range(math.ceil(begin / step), math.floor(end / step) + 1)
        ]
        for begin, end, step, origin in (
            (area.left(), area.right(), across, visible.left()),
            (area.top(), area.bottom(), down, visible.top()),
        )
    )
    painter.save()
    painter.scale(1 / scale, 1 / scale)
    painter.translate(visible.topLeft() * scale)
    area = QRectF((area.topLeft() - visible.topLeft()) * scale, area.size() * scale)
    paint_hairlines(painter, area.toRect(), columns, rows)
    painter.restore()


def paint_tile(painter: QPainter, tile: QRectF, halo: QRectF) -> None:
    """Paint a tile and the halo around it, in pixels of the picture."""
    if halo != tile:
        faint = QColor(HALO)
        faint.setAlpha(60)
        painter.setBrush(faint)
        painter.setPen(hairline(HALO, 2, Qt.PenStyle.DashLine))
        painter.drawRect(halo)
    outline(painter, [tile], TILE, 2.0, "#ffffff")


def _paint_warps(painter: QPainter, scale: float, look: Look) -> None:
    for warp in range(look.subject.shape.warps):
        _fill(painter, WARPS[warp % 2], warp_runs(look, warp), look)
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.setPen(hairline(WARP, 1.5))
    for area in (_area(each, look) for each in warp_runs(look, look.warp)):
        if min(area.width(), area.height()) * scale >= 3:
            painter.drawRect(area)


def _paint_thread(painter: QPainter, scale: float, look: Look, rects: list[Rect]) -> None:
    made = []
    for area in (_area(each, look) for each in rects):
        wider, taller = (
            max(LEAST_PX / scale - side, 0) / 2 for side in (area.width(), area.height())
        )
        made.append(area.adjusted(-wider, -taller, wider, taller))
    outline(painter, made, THREAD)


def _fill(painter: QPainter, color: QColor, rects: Sequence[Rect], look: Look) -> None:
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(color)
    painter.drawRects([_area(each, look) for each in rects])


# -- many lines, painted in a millisecond

STRENGTH = 115  # of 255: 45 %
DARK, LIGHT = QColor(0, 0, 0, STRENGTH), QColor(255, 255, 255, STRENGTH)
PREMULTIPLIED_DARK = STRENGTH << 24
PREMULTIPLIED_LIGHT = STRENGTH * 0x01010101
PATTERN_ROWS = 16  # painted again and again: one row alone would take Qt longer


def paint_hairlines(
    painter: QPainter, area: QRect, columns: Sequence[int], rows: Sequence[int]
) -> None:
    """Paint lines one pixel dark and one light, through all of `area`.

    painter  in device pixels
    columns  x of the upright lines' light pixels; the dark ones are to the left of them
    rows     y of the level lines' light pixels; the dark ones are above them

    Qt's rasteriser takes an upright line pixel by pixel, so that those are painted all at once, as
    the texture of one rectangle.
    """
    if area.isEmpty():
        return
    pattern = np.zeros((PATTERN_ROWS, area.width()), np.uint32)
    light = np.asarray(columns, np.int64) - area.left()
    for places, color in ((light - 1, PREMULTIPLIED_DARK), (light, PREMULTIPLIED_LIGHT)):
        pattern[:, places[(places >= 0) & (places < area.width())]] = color
    form = QImage.Format.Format_ARGB32_Premultiplied
    texture = QImage(pattern.data, area.width(), PATTERN_ROWS, form).copy()
    painter.save()
    painter.setClipRect(area)
    painter.translate(area.topLeft())
    painter.fillRect(QRect(0, 0, area.width(), area.height()), QBrush(texture))
    for y in rows:
        painter.fillRect(0, y - area.top() - 1, area.width(), 1, DARK)
        painter.fillRect(0, y - area.top(), area.width(), 1, LIGHT)
    painter.restore()
