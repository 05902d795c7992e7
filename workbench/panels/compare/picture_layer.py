"""A picture as a view paints it: its pixels, a part at full resolution, numbers in large pixels."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

from numpy.typing import NDArray
from PySide6.QtCore import QPoint, QRect, QRectF, Qt
from PySide6.QtGui import QImage, QPainter
from PySide6.QtWidgets import QWidget

from workbench.imaging.cell_values import CellRequest, font_for, text_size
from workbench.imaging.display import Display
from workbench.panels.compare.view_transform import Patch, Size, ViewTransform

MIN_PX = 40  # side of a picture's pixel on the screen, device-independent
MARGIN = 2  # pixels around what is in view, so that a small pan needs nothing new


class Shown(NamedTuple):
    """A picture to show."""

    display: Display | None = None
    caption: str = ""
    samples: NDArray[Any] | None = None  # (H, W, C): the values for the cells of large pixels
    patch: Patch | None = None  # a part at full resolution

    def is_same(self, other: Shown) -> bool:
        """Compare arrays and displays by identity."""
        is_same = self.display is other.display and self.caption == other.caption
        return is_same and self.samples is other.samples and self.patch is other.patch


class PictureLayer:
    """A picture with its caption; numbers that fit the view are requested from it."""

    def __init__(self, view: QWidget) -> None:
        self._view: Any = view  # a PictureView, whose module imports this one
        self.shown = Shown()
        self._cells: tuple[CellRequest, QImage] | None = None
        self._asked: CellRequest | None = None

    def paint(
        self,
        painter: QPainter,
        transform: ViewTransform,
        view: Size,
        parts: Sequence[QRect],
        has_numbers: bool,
    ) -> None:
        """Paint all of it, in device pixels."""
        display, _, samples, patch = self.shown
        if display is None:
            return
        draw(painter, display, transform, view, parts)
        if patch is not None:
            transform, display, samples = patch.transform(transform), patch.display, patch.samples
            draw(painter, display, transform, view)
        is_large = transform.scale >= MIN_PX * self._view.devicePixelRatioF()
        if has_numbers and samples is not None and is_large:
            self._paint_numbers(painter, samples, display, transform, view)

    def _paint_numbers(
        self,
        painter: QPainter,
        samples: NDArray[Any],
        display: Display,
        transform: ViewTransform,
        view: Size,
    ) -> None:
        """Paint the numbers, and request others where these do not fit."""
        left, top, right, bottom = transform.visible(view)
        whole = QRect(0, 0, samples.shape[1], samples.shape[0])
        region = QRectF(left, top, right - left, bottom - top).toAlignedRect().intersected(whole)
        font = font_for(math.floor(transform.scale), samples)
        if font is None or region.isEmpty():
            return
        cells, asked = self._cells, self._asked
        if cells is not None and _fits(cells[0], samples, display, transform.scale):
            painter.save()
            readable = _readable(cells[0], transform, view)
            painter.setClipRect(readable, Qt.ClipOperation.IntersectClip)
            at = QPoint(*transform.origin(view)) + cells[1].offset()
            painter.drawImage(at, cells[1])
            painter.restore()
        is_asked = asked is not None and _fits(asked, samples, display, transform.scale)
        if asked is None or not (is_asked and asked.region.contains(region)):
            around = region.adjusted(-MARGIN, -MARGIN, MARGIN, MARGIN).intersected(whole)
            pixels, scale = display.pixels[0], transform.scale
            self._asked = CellRequest(samples, pixels, around, scale, font)
            self._view.cells_wanted.emit(self._asked, partial(self._take, self._asked))

    def _take(self, asked: CellRequest, image: QImage) -> None:
        if asked is self._asked:
            self._cells = asked, image
            self._view.update()


def draw(
    painter: QPainter,
    display: Display,
    transform: ViewTransform,
    view: Size,
    parts: Sequence[QRect] = (),
) -> None:
    """Draw the part of `display` that is visible in a view of `view` device pixels.

    parts  to draw one by one, in device pixels: Qt takes longer for a region that is no rectangle
    """
    scale = transform.scale
    # The smallest image with about one pixel for each device pixel.
    level = min(max(int(math.log2(1 / scale) + 0.25), 0), len(display.images) - 1)
    image = display.images[level]
    across, down = display.size[0] / image.width(), display.size[1] / image.height()
    left, top, right, bottom = transform.visible(view)
    corner = QPoint(math.floor(left / across) - 1, math.floor(top / down) - 1)
    beyond = QPoint(math.ceil(right / across) + 1, math.ceil(bottom / down) + 1)
    visible = QRect(corner, beyond).intersected(image.rect())
    for part in parts or (QRect(0, 0, *view),):
        painter.save()
        painter.setClipRect(part, Qt.ClipOperation.IntersectClip)
        painter.translate(*transform.origin(view))
        painter.scale(scale * across, scale * down)
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform, scale < 1)
        painter.drawImage(visible.topLeft(), image, visible)
        painter.restore()


def _readable(asked: CellRequest, transform: ViewTransform, view: Size) -> QRect:
    """The part of the view with whole numbers: of 124, cut off at its edge, 12 would be left."""
    texts = text_size(asked.font, asked.samples)
    spans = []
    for origin, text, extent in zip(transform.origin(view), texts, view, strict=True):
        gap = (math.floor(transform.scale) - text) // 2
        first = math.ceil((-gap - origin) / transform.scale)
        last = math.floor((extent - gap - text - origin) / transform.scale)
        spans.append([origin + math.floor(n * transform.scale) for n in (first, last + 1)])
    (left, right), (top, bottom) = spans
    return QRect(left, top, right - left, bottom - top)


def _fits(asked: CellRequest, samples: NDArray[Any], display: Display, scale: float) -> bool:
    is_same = asked.samples is samples and asked.pixels is display.pixels[0]
    return is_same and asked.scale == scale
