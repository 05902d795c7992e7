"""The layer of numbers that a view paints over a picture whose pixels are large enough."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtGui import QFontMetrics, QImage, QPainter
from PySide6.QtWidgets import QWidget

from workbench.base import theme
from workbench.imaging.cell_values import (
    ALPHABET,
    FAINT,
    MARGIN,
    CellRequest,
    Cells,
    Digits,
    Region,
    columns_of,
)
from workbench.imaging.display import Display
from workbench.panels.compare.view_transform import Size, ViewTransform

MIN_PX = 40  # side of a picture's pixel on the screen, device-independent
SIZES_PX = range(15, 5, -1)  # font sizes of the digits, largest first
ROOM = 0.84  # share of a cell for its text, which leaves a gap between cells


class CellLayer:
    """The layer of numbers that fits a view, and a request for another when it does not."""

    def __init__(self, view: QWidget) -> None:
        self._view: Any = view  # a PictureView, whose module imports this one
        self._samples: NDArray[Any] | None = None
        self._display: Display | None = None
        self._cells: Cells | None = None
        self._asked: CellRequest | None = None

    def show_samples(self, samples: NDArray[Any] | None, display: Display | None) -> None:
        """Take samples, (H, W, C), and how they are displayed; None: no numbers."""
        if samples is not self._samples or display is not self._display:
            self._samples, self._display = samples, display
            self._cells = self._asked = None
            self._view.update()

    def paint(self, painter: QPainter, transform: ViewTransform, view: Size) -> None:
        """Paint the numbers, in device pixels, and request others where these do not fit."""
        samples, ratio = self._samples, self._view.devicePixelRatioF()
        if samples is None or self._display is None or transform.scale < MIN_PX * ratio:
            return
        height, width = samples.shape[:2]
        left, top, right, bottom = transform.visible(view)
        region = (
            max(math.floor(left), 0),
            max(math.floor(top), 0),
            min(math.ceil(right), width),
            min(math.ceil(bottom), height),
        )
        digits = digits_for(math.floor(transform.scale), samples.shape[2], str(samples.dtype))
        if digits is None or region[0] >= region[2] or region[1] >= region[3]:
            return
        cells = self._cells
        if cells is not None and cells.asked.scale == transform.scale:
            at = QPoint(*transform.origin(view)) + QPoint(*cells.corner)
            painter.save()
            whole = _readable(cells, transform, view)
            painter.setClipRect(whole, Qt.ClipOperation.IntersectClip)
            painter.drawImage(at, cells.image)
            painter.restore()
            if _holds(cells.asked.region, region):
                return
        self._ask(samples, self._display, region, transform.scale, digits)

    def _ask(
        self, samples: NDArray[Any], display: Display, region: Region, scale: float, digits: Digits
    ) -> None:
        asked = self._asked
        if asked is not None and asked.scale == scale and _holds(asked.region, region):
            return
        height, width = samples.shape[:2]
        around = (
            max(region[0] - MARGIN, 0),
            max(region[1] - MARGIN, 0),
            min(region[2] + MARGIN, width),
            min(region[3] + MARGIN, height),
        )
        self._asked = CellRequest(samples, display.pixels[0], around, scale, digits)
        self._view.cells_wanted.emit(self._asked, self._take)

    def _take(self, cells: Cells) -> None:
        if cells.asked is self._asked:
            self._cells = cells
            self._view.update()


@lru_cache(maxsize=32)
def digits_for(side: int, channels: int, pixel_type: str) -> Digits | None:
    """The largest digits that fit a cell of `side` pixels; None where none fit."""
    font, wide = theme.fixed_font(), columns_of(channels, pixel_type)
    for size in SIZES_PX:
        font.setPixelSize(size)
        metrics = QFontMetrics(font)
        width, height = metrics.horizontalAdvance("0"), metrics.ascent() + 1
        if channels * height <= ROOM * side and wide * width <= ROOM * side:
            break
    else:
        return None
    image = QImage(width * len(ALPHABET), height, QImage.Format.Format_Grayscale8)
    image.fill(Qt.GlobalColor.black)
    painter = QPainter(image)
    painter.setFont(font)
    painter.setPen(Qt.GlobalColor.white)
    for index, character in enumerate(ALPHABET):
        painter.setOpacity(FAINT if character in "RGBα" else 1.0)
        painter.drawText(index * width, metrics.ascent(), character)
    painter.end()
    rows = np.frombuffer(image.constBits(), np.uint8).reshape(height, image.bytesPerLine())
    drawn = rows[:, : width * len(ALPHABET)].reshape(height, len(ALPHABET), width)
    return Digits(np.ascontiguousarray(drawn.transpose(1, 0, 2)))


def _readable(cells: Cells, transform: ViewTransform, view: Size) -> QRect:
    """The part of the view with whole numbers: of 124, cut off at its edge, 12 would be left."""
    _, height, width = cells.asked.digits.shapes.shape
    samples = cells.asked.samples
    channels = samples.shape[2]
    texts = (columns_of(channels, str(samples.dtype)) * width, channels * height)
    spans = [
        _whole(origin, transform.scale, text, extent)
        for origin, text, extent in zip(transform.origin(view), texts, view, strict=True)
    ]
    (left, right), (top, bottom) = spans
    return QRect(left, top, right - left, bottom - top)


def _whole(origin: int, scale: float, text: int, extent: int) -> tuple[int, int]:
    """The span of the cells whose centred text is seen as a whole."""
    gap = (math.floor(scale) - text) // 2
    first = math.ceil((-gap - origin) / scale)
    last = math.floor((extent - gap - text - origin) / scale)
    return origin + math.floor(first * scale), origin + math.floor((last + 1) * scale)


def _holds(outer: Region, inner: Region) -> bool:
    is_before = outer[0] <= inner[0] and outer[1] <= inner[1]
    return is_before and outer[2] >= inner[2] and outer[3] >= inner[3]
