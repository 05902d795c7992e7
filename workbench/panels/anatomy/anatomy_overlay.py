"""The painting of a launch over the picture: blocks, one tile and its halo, warps, a thread."""

from __future__ import annotations

import math

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QPainter

from kernels.anatomy.launch_shapes import Rect
from kernels.anatomy.transactions import LANES
from workbench.panels.anatomy.hairlines import paint_hairlines
from workbench.panels.anatomy.launch_legend import Entry
from workbench.panels.anatomy.subject import Look, Marks
from workbench.widgets.chips import hairline

NARROWEST = 8.0  # device pixels between two lines of the grid; closer ones would hide the picture
# On pictures, which may have any colour; Okabe and Ito's blue, orange and yellow.
HALO, TILE = QColor(86, 180, 233), QColor(0, 114, 178)
WARPS = (QColor(230, 159, 0, 95), QColor(86, 180, 233, 95))
LOADED, SHARED = QColor(230, 159, 0, 150), QColor(0, 158, 115, 120)
THREAD = QColor(240, 228, 66)
WARP = QColor("#ffffff")


def paint_look(
    painter: QPainter, visible: QRectF, scale: float, look: Look, marks: Marks | None
) -> None:
    """Paint blocks, tile and halo over a picture, and what one part of the launch touches.

    painter  in pixels of the picture, see `picture_view.Overlay`
    marks    None: threads are not drawn
    """
    _paint_grid(painter, visible, scale, look)
    if marks is not None and marks.part == "share" and marks.is_shared:
        _fill(painter, SHARED, [look.subject.shape.with_halo(look.block)], look)
    if marks is not None and marks.part == "compute":
        _paint_warps(painter, scale, look)
    _paint_tile(painter, look)
    if marks is None:
        return
    if marks.part == "load":
        _fill(painter, LOADED, [rect for _, rect in marks.lanes], look)
        own = [rect for lane, rect in marks.lanes if lane == look.lane]
        _paint_marked(painter, scale, look, own)
    if marks.part == "compute":
        _paint_reads(painter, look, marks)
        _paint_thread(painter, scale, look)


def legend_of(look: Look, marks: Marks | None) -> list[Entry]:
    """Return what the legend says of what `paint_look` paints."""
    entries = [Entry("Tile: computed by the block", outline=TILE)]
    if look.subject.shape.halo != (0, 0):
        entries.append(Entry("Halo: read as well", outline=HALO, is_dashed=True))
    if marks is None:
        return entries
    if marks.part == "load" and marks.lanes:
        entries.append(Entry("Loaded by this warp", fill=LOADED))
        entries.append(Entry("Loaded by this lane", outline=THREAD))
    if marks.part == "share" and marks.is_shared:
        entries.append(Entry("In shared memory", fill=SHARED))
    if marks.part == "compute":
        entries.append(Entry("Warps, in two colours", *WARPS))
        entries.append(Entry("This warp", outline=WARP))
        entries.append(Entry("This thread", outline=THREAD))
        if marks.reads:
            entries.append(Entry("What it reads", outline=THREAD, is_dashed=True))
    return entries


def pixels(rect: Rect, channels: int) -> QRectF:
    """Return samples and rows as pixels: a block may end inside one."""
    return QRectF(rect.left / channels, rect.top, rect.width / channels, rect.height)


def block_area(look: Look) -> QRectF:
    """Return the pixels of the block that is looked at, with its halo."""
    shape = look.subject.shape
    return pixels(shape.with_halo(look.block).clipped(shape.picture), look.subject.channels)


def grid_is_drawn(look: Look, scale: float) -> bool:
    """Return whether blocks are far enough apart on the screen."""
    across, down = look.subject.shape.covers
    return min(across / look.subject.channels, down) * scale >= NARROWEST


def warp_runs(look: Look, warp: int) -> list[Rect]:
    """Return what a warp's lanes compute as rectangles: runs of samples, equal rows joined."""
    return look.record.rects(warp * LANES, (warp + 1) * LANES) if look.record else []


def _paint_grid(painter: QPainter, visible: QRectF, scale: float, look: Look) -> None:
    if not grid_is_drawn(look, scale):
        return
    shape, channels = look.subject.shape, look.subject.channels
    picture = pixels(shape.picture, channels)
    area = visible.intersected(picture)
    across, down = shape.covers[0] / channels, shape.covers[1]
    columns = _steps(area.left(), area.right(), across)
    rows = _steps(area.top(), area.bottom(), down)
    painter.save()
    painter.scale(1 / scale, 1 / scale)
    painter.translate(visible.topLeft() * scale)
    paint_hairlines(
        painter,
        QRectF((area.topLeft() - visible.topLeft()) * scale, area.size() * scale).toRect(),
        [round((x - visible.left()) * scale) for x in columns],
        [round((y - visible.top()) * scale) for y in rows],
    )
    painter.restore()


def _steps(begin: float, end: float, step: float) -> list[float]:
    return [n * step for n in range(math.ceil(begin / step), math.floor(end / step) + 1)]


def _paint_tile(painter: QPainter, look: Look) -> None:
    shape, channels = look.subject.shape, look.subject.channels
    if shape.halo != (0, 0):
        faint = QColor(HALO)
        faint.setAlpha(60)
        painter.setBrush(faint)
        painter.setPen(hairline(HALO, 2, Qt.PenStyle.DashLine))
        painter.drawRect(pixels(shape.with_halo(look.block), channels))
    painter.setBrush(Qt.BrushStyle.NoBrush)
    for color, width in ((QColor("#ffffff"), 4.0), (TILE, 2.0)):
        painter.setPen(hairline(color, width))
        painter.drawRect(pixels(look.tile, channels))


def _paint_warps(painter: QPainter, scale: float, look: Look) -> None:
    channels = look.subject.channels
    for warp in range(look.subject.shape.warps):
        painter.setBrush(WARPS[warp % 2])
        painter.setPen(Qt.PenStyle.NoPen)
        painter.drawRects([pixels(run, channels) for run in warp_runs(look, warp)])
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.setPen(hairline(WARP, 1.5))
    for run in warp_runs(look, look.warp):
        if min(run.width / channels, run.height) * scale >= 3:
            painter.drawRect(pixels(run, channels))


def _paint_thread(painter: QPainter, scale: float, look: Look) -> None:
    _paint_marked(painter, scale, look, look.rects_of(look.thread or 0))


def _paint_marked(painter: QPainter, scale: float, look: Look, rects: list[Rect]) -> None:
    """Paint what is of one thread, large enough to be seen."""
    least = 5 / scale
    made = []
    for rect in rects:
        own = pixels(rect, look.subject.channels)
        wider, taller = max(least - own.width(), 0) / 2, max(least - own.height(), 0) / 2
        made.append(own.adjusted(-wider, -taller, wider, taller))
    painter.setBrush(Qt.BrushStyle.NoBrush)
    for color, width in ((QColor("#000000"), 3.5), (THREAD, 1.5)):
        painter.setPen(hairline(color, width))
        painter.drawRects(made)


def _paint_reads(painter: QPainter, look: Look, marks: Marks) -> None:
    """Paint what the thread reads, and the sample of the tap that is looked at."""
    channels = look.subject.channels
    if marks.tap is not None:
        _fill(painter, THREAD, [marks.tap], look)
    painter.setBrush(Qt.BrushStyle.NoBrush)
    for color, width in ((QColor("#000000"), 3.0), (THREAD, 1.5)):
        painter.setPen(hairline(color, width, Qt.PenStyle.DashLine))
        painter.drawRects([pixels(rect, channels) for rect in marks.reads])


def _fill(painter: QPainter, color: QColor, rects: list[Rect], look: Look) -> None:
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(color)
    painter.drawRects([pixels(rect, look.subject.channels) for rect in rects])
