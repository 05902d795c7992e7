"""From samples to what is painted, on the worker thread: levels, transparency, and a pyramid."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PySide6.QtGui import QImage

Bytes = NDArray[np.uint8]

SMALLEST_LEVEL = 512  # a picture this small is cheap to scale in any way
NAN_BGRA = (255, 0, 255, 255)  # magenta: no picture is likely to have it, nobody overlooks it
CHECKER_GREYS = (0x90, 0xB0)  # what shows through where alpha lets it
CHECKER_PX = 8


@dataclass(frozen=True, slots=True, eq=False)
class Display:
    """What a view paints; immutable, so it may cross threads.

    images  Format_RGB32, the picture first, then each half as wide and high as the one before
            (rounded up), averaged by area, until both sides are at most SMALLEST_LEVEL.  Qt owns
            their memory.
    """

    images: tuple[QImage, ...]

    @property
    def size(self) -> tuple[int, int]:
        """Width and height of the picture in pixels."""
        return self.images[0].width(), self.images[0].height()


def to_display(samples: NDArray[Any], levels: tuple[float, float] | None = None) -> Display:
    """Make `samples` ready to paint.

    samples  (H, W, C) uint8, uint16 or float32, C-contiguous, C = 1 to 4; may be read-only.  The
             last of 2 or 4 channels is alpha: it is shown over a neutral checkerboard.
    levels   sample values shown as black and white, low < high; None: 0 and the type's white

    NaN is shown in magenta, infinities as black and white.  Raises ValueError where the levels
    are not in order, MemoryError where the picture does not fit.
    """
    low, high = levels or (0.0, _white(samples.dtype))
    if not low < high:
        raise ValueError(f"the level of black, {low}, must be below that of white, {high}")
    colours = samples.shape[2] - (samples.shape[2] in (2, 4))
    colour = samples if colours == samples.shape[2] else np.ascontiguousarray(samples[..., :colours])
    image, bgra = _blank(samples.shape[1], samples.shape[0])
    _to_bgra(_to_8_bits(colour, low, high), bgra)
    if colour.dtype.kind == "f":
        _mark_nan(colour, bgra)
    if colour is not samples:
        _blend_over_checkerboard(bgra, samples[..., -1])
    return Display((image, *_smaller(bgra)))


def _white(dtype: np.dtype[Any]) -> float:
    return float(np.iinfo(dtype).max) if dtype.kind == "u" else 1.0


def _blank(width: int, height: int) -> tuple[QImage, Bytes]:
    """An image whose memory belongs to Qt, and that memory as (H, W, 4) bytes: B, G, R, 255."""
    image = QImage(width, height, QImage.Format.Format_RGB32)
    if image.isNull():
        raise MemoryError(f"no memory to show {width} × {height} pixels")
    rows = np.frombuffer(image.bits(), np.uint8).reshape(height, image.bytesPerLine())
    return image, rows[:, : 4 * width].reshape(height, width, 4)


def _to_8_bits(colour: NDArray[Any], low: float, high: float) -> Bytes:
    """Map low..high to 0..255, rounded and saturated; NaN becomes 0."""
    if colour.dtype == np.uint8 and (low, high) == (0.0, 255.0):
        return colour
    import cv2  # here: the window paints before anything heavy is imported

    flat = colour.reshape(colour.shape[0], -1)  # one channel: OpenCV's scalars then mean them all
    if colour.dtype.kind == "f":
        span = high - low
        flat = cv2.threshold(flat, high, 0, cv2.THRESH_TRUNC)[1]  # or infinity would turn black
    else:
        span = max(high - low, 1.0)
    scale = 255.0 / span
    mapped = cv2.addWeighted(flat, scale, flat, 0.0, -low * scale, dtype=cv2.CV_8U)
    return np.asarray(mapped, np.uint8).reshape(colour.shape)


def _to_bgra(colour: Bytes, bgra: Bytes) -> None:
    import cv2

    grey = colour.shape[2] == 1
    cv2.cvtColor(colour, cv2.COLOR_GRAY2BGRA if grey else cv2.COLOR_RGB2BGRA, dst=bgra)


def _mark_nan(colour: NDArray[np.float32], bgra: Bytes) -> None:
    if np.isnan(np.min(colour)):  # one quick pass where, as nearly always, there is none
        bgra[np.isnan(colour).any(axis=2)] = NAN_BGRA


def _blend_over_checkerboard(bgra: Bytes, alpha: NDArray[Any]) -> None:
    import cv2

    opacity = np.clip(np.nan_to_num(alpha.astype(np.float32) / _white(alpha.dtype)), 0.0, 1.0)
    if opacity.min() < 1.0:
        cv2.blendLinear(bgra, _checkerboard(*alpha.shape), opacity, 1.0 - opacity, dst=bgra)


def _checkerboard(height: int, width: int) -> Bytes:
    ys, xs = np.arange(height) // CHECKER_PX, np.arange(width) // CHECKER_PX
    board = np.full((height, width, 4), 255, np.uint8)
    board[..., :3] = np.array(CHECKER_GREYS, np.uint8)[(ys[:, None] + xs) % 2, None]
    return board


def _smaller(bgra: Bytes) -> list[QImage]:
    import cv2

    images = []
    height, width = bgra.shape[:2]
    while max(width, height) > SMALLEST_LEVEL:
        width, height = (width + 1) // 2, (height + 1) // 2
        image, half = _blank(width, height)
        cv2.resize(bgra, (width, height), dst=half, interpolation=cv2.INTER_AREA)
        images.append(image)
        bgra = half
    return images
