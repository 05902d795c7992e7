"""A picture as a view paints it: its pixels, a part at full resolution, numbers in large pixels."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

from numpy.typing import NDArray
from PySide6.QtCore import QPoint, QRect, QRectF, Qt
from PySide6.QtGui import QImage, QPainter
from PySide6.QtWidgets import QWidget

from workbench.imaging.cell_values import CellRequest, font_for, text_size
from workbench.imaging.display import Display
from workbench.imaging.pictures import Region

Size = tuple[int, int]
Point = tuple[float, float]

MIN_SCALE, MAX_SCALE = LIMITS = 0.01, 128.0
_STEPS_PER_DOUBLING = 2


@dataclass(frozen=True, slots=True)
class ViewTransform:
    """A map between picture and view of any size, shared by linked views."""

    scale: float  # device pixels per picture pixel
    centre: Point  # the point of the picture, in its pixels, at the middle of the view

    def origin(self, view: Size) -> tuple[int, int]:
        """The picture's top left corner in the view, on a whole device pixel: 1:1 is exact."""
        return tuple(  # type: ignore[return-value]
            round(extent / 2 - at * self.scale)
            for extent, at in zip(view, self.centre, strict=True)
        )

    def to_view(self, point: Point, view: Size) -> Point:
        """Map a point of the picture into the view."""
        left, top = self.origin(view)
        return left + point[0] * self.scale, top + point[1] * self.scale

    def to_picture(self, point: Point, view: Size) -> Point:
        """Map a place in the view to a point of the picture."""
        left, top = self.origin(view)
        return (point[0] - left) / self.scale, (point[1] - top) / self.scale

    def visible(self, view: Size) -> tuple[float, float, float, float]:
        """Left, top, right, bottom of the view, in pixels of the picture."""
        return *self.to_picture((0, 0), view), *self.to_picture(view, view)

    def zoomed_at(
        self, point: Point, factor: float, view: Size, limits: tuple[float, float] = LIMITS
    ) -> ViewTransform:
        """Scale by `factor`, within limits, around `point` of the view."""
        scale = min(max(self.scale * factor, limits[0]), limits[1])
        shift = 1 / self.scale - 1 / scale
        x, y = self.centre
        centre = x + (point[0] - view[0] / 2) * shift, y + (point[1] - view[1] / 2) * shift
        return ViewTransform(scale, centre)

    def stepped(self, direction: int, limits: tuple[float, float] = LIMITS) -> ViewTransform:
        """Step to the next larger (direction 1) or smaller (-1) round scale, such as 100 %."""
        steps = _STEPS_PER_DOUBLING * math.log2(self.scale) * direction
        scale = 2 ** (direction * (math.floor(steps + 1e-6) + 1) / _STEPS_PER_DOUBLING)
        return replace(self, scale=min(max(scale, limits[0]), limits[1]))

    def panned(self, dx: float, dy: float) -> ViewTransform:
        """Move the picture by (dx, dy) device pixels."""
        x, y = self.centre
        return replace(self, centre=(x - dx / self.scale, y - dy / self.scale))

    def showing(self, area: tuple[float, float, float, float], view: Size) -> ViewTransform:
        """Move as little as shows `area`: left, top, right, bottom; or its middle if too large."""
        centre = []
        for at, low, high, extent in zip(self.centre, area[:2], area[2:], view, strict=True):
            half = extent / self.scale / 2
            fits = high - low <= 2 * half
            centre.append(min(max(at, high - half), low + half) if fits else (low + high) / 2)
        return replace(self, centre=(centre[0], centre[1]))

    def kept_within(self, picture: Size) -> ViewTransform:
        """Keep the view's middle on the picture, which thus stays in sight."""
        x, y = self.centre
        return replace(self, centre=(min(max(x, 0.0), picture[0]), min(max(y, 0.0), picture[1])))

    def carried(self, old: Size, new: Size) -> ViewTransform:
        """Keep relative place and scale for a picture of another size."""
        x, y = (at / was * is_ for at, was, is_ in zip(self.centre, old, new, strict=True))
        return replace(self, centre=(x, y))


def fit(picture: Size, view: Size) -> ViewTransform:
    """Show the whole picture, as large as the view allows."""
    scale = min(view[0] / picture[0], view[1] / picture[1])
    return ViewTransform(min(max(scale, 1e-6), MAX_SCALE), (picture[0] / 2, picture[1] / 2))


def places_across(count: int, room: Size, picture: Size, gap: int) -> int:
    """Choose how many of `count` views stand in a row of `room`, for the largest pictures."""

    def scale(across: int) -> float:
        down = -(-count // across)
        width = (room[0] - gap * (across - 1)) / across
        height = (room[1] - gap * (down - 1)) / down
        return min(width / picture[0], height / picture[1])

    return max(range(count, 0, -1), key=scale, default=1)


@dataclass(frozen=True, slots=True, eq=False)
class Patch:
    """A region at full resolution: samples, (H, W, C), and display."""

    region: Region
    step: float  # its pixels, across and down, for one of the copy
    samples: NDArray[Any]
    display: Display
    caption: str = ""  # of the view; empty: it keeps its own

    def transform(self, of_copy: ViewTransform) -> ViewTransform:
        """The transform of the patch where `of_copy` shows the copy."""
        x, y = of_copy.centre
        corner = self.region.columns[0], self.region.rows[0]
        centre = x * self.step - corner[0], y * self.step - corner[1]
        return ViewTransform(of_copy.scale / self.step, centre)

    def pixel_at(self, at: Point) -> tuple[int, int] | None:
        """Find the whole picture's pixel (x, y) at a point of the copy; None beside the patch."""
        x, y = (int(each * self.step) for each in at)
        (top, bottom), (left, right) = self.region.rows, self.region.columns
        return (x, y) if left <= x < right and top <= y < bottom else None

    def values(self, pixel: tuple[int, int]) -> NDArray[Any]:
        """Samples, (C,), of a pixel (x, y) of the whole picture."""
        x, y = pixel[0] - self.region.columns[0], pixel[1] - self.region.rows[0]
        found: NDArray[Any] = self.samples[y, x]
        return found


MIN_PX = 40  # side of a picture's pixel on the screen, device-independent
MARGIN = 2  # pixels around what is in view, so that a small pan needs nothing new


class Shown(NamedTuple):
    """A picture to show."""

    display: Display | None = None
    caption: str = ""
    samples: NDArray[Any] | None = None  # (H, W, C), for the cells of large pixels
    patch: Patch | None = None  # a part at full resolution

    @property
    def label(self) -> str:
        """The caption, and how bright it is shown where that is not as usual."""
        tone = str(self.display.tone) if self.display is not None else ""
        return " · ".join(filter(None, (self.caption, tone)))

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

    def show(self, shown: Shown) -> bool:
        """Show this from the next `paint` on; False: it is shown already."""
        before, self.shown = self.shown, shown
        if not shown._replace(caption=before.caption).is_same(before):
            self._cells = self._asked = None  # they hold the former samples
        return not shown.is_same(before)

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

    parts  rectangles to draw one by one, in device pixels; none: all at once.  Qt takes a quarter
           longer for a region that is no rectangle.
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
