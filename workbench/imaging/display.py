"""Turn samples into what is painted, on the worker thread: levels, transparency, and a pyramid."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PySide6.QtGui import QBrush, QColor, QImage, QPainter

from kernels.pictures.generated import white
from workbench.base import memory
from workbench.base.memory import require_memory
from workbench.imaging.analyses import around_zero
from workbench.imaging.display_mapping import BARE, DisplayMapping, Tone, default_levels, is_compact

Bytes = NDArray[np.uint8]

MIN_LEVEL = 512  # a picture this small is cheap to scale in any way
BAND_PIXELS = 1 << 24  # converted at once, since that takes several copies
NAN_BGR = (255, 0, 255)  # magenta: no picture is likely to have it, nobody overlooks it
BELOW_BGR, ABOVE_BGR = (233, 180, 86), (0, 94, 255)  # of clipped pixels: blue and orange
CHECKER_GREYS = ("#909090", "#b0b0b0")  # what shows through where alpha lets it
CHECKER_PX = 8


@dataclass(frozen=True, slots=True, eq=False)
class Display:
    """A picture ready for a view to paint; immutable, so it may cross threads.

    images  Format_RGB32, or Format_Grayscale8 for large grey ones; the picture first, then each
            half as large as the one before, averaged by area, until both sides are at most
            MIN_LEVEL
    """

    images: tuple[QImage, ...]
    pixels: tuple[Bytes, ...] = field(repr=False)  # the images' memory, which lives as long as this
    levels: tuple[float, float] | None = None  # shown as black and white, before exposure
    tone: Tone = BARE

    @property
    def size(self) -> tuple[int, int]:
        """Width and height of the picture in pixels."""
        return self.images[0].width(), self.images[0].height()


def to_display(
    samples: NDArray[Any],
    levels: tuple[float, float] | None = None,
    opaque: float | None = None,
    tone: Tone = BARE,
) -> Display:
    """Make `samples` ready to paint.

    samples  (H, W, C) of any pixel type, C-contiguous, C = 1 to 4; may be read-only.  The
             last of 2 or 4 channels is alpha: it is shown over a neutral checkerboard.
    levels   sample values shown as black and white, low < high; None: 0 and the type's white
    opaque   the alpha that lets nothing through; None: the type's white
    tone     all but its exposure, which the levels have in them

    NaN is shown in magenta, infinities as black and white.  Raises ValueError where the levels
    are not in order, MemoryError where the picture does not fit.
    """
    low, high = levels or (0.0, white(samples.dtype))
    if not low < high:
        raise ValueError(f"the level of black, {low}, must be below that of white, {high}")
    height, width, channels = samples.shape
    is_grey = not (tone.is_false_colour or tone.marks_clipped)
    if is_grey and is_compact(height, width, channels) and not _has_nan(samples):
        return replace(averaged(_grey(samples, (low, high), tone.gamma)), levels=(low, high))
    require_memory(height * width * 4)
    full = white(samples.dtype) if opaque is None else opaque
    bgra = memory.empty((height, width, 4))
    for rows in _bands(height, width):
        _paint(samples[rows], (low, high), full, tone, bgra[rows])
    return replace(averaged(bgra), levels=(low, high))


def as_display(pixels: tuple[Bytes, ...]) -> Display:
    """A Display of pixels that are fit for the screen already: see `Display.pixels`."""
    formats = {2: QImage.Format.Format_Grayscale8, 3: QImage.Format.Format_RGB32}
    return Display(tuple(_image(each, formats[each.ndim]) for each in pixels), pixels)


def averaged(pixels: Bytes) -> Display:
    """One picture that is fit for the screen, (H, W, 4) or (H, W), and its averages."""
    return as_display((pixels, *_smaller(pixels)))


def _bands(height: int, width: int) -> list[slice]:
    """Bands of whole rows of about BAND_PIXELS; a multiple of the checkerboard's period."""
    period = 2 * CHECKER_PX
    rows = max(BAND_PIXELS // width // period, 1) * period
    return [slice(top, min(top + rows, height)) for top in range(0, height, rows)]


def _has_nan(samples: NDArray[Any]) -> bool:
    return samples.dtype.kind == "f" and bool(np.isnan(np.min(samples)))


def _grey(samples: NDArray[Any], levels: tuple[float, float], gamma: float) -> Bytes:
    """Return (H, W) of grey without NaN; the samples themselves where they can be shown as such."""
    samples = samples[:, :, 0]
    if samples.dtype == np.uint8 and levels == (0.0, 255.0) and gamma == 1:
        return samples
    require_memory(samples.size)
    grey = memory.empty(samples.shape)
    for rows in _bands(*samples.shape):
        grey[rows] = _mapped(samples[rows], levels, gamma)
    return grey


def _paint(
    samples: NDArray[Any], levels: tuple[float, float], opaque: float, tone: Tone, bgra: Bytes
) -> None:
    """Fill `bgra`, (rows, W, 4), with what is shown of these samples."""
    import cv2

    has_alpha = samples.shape[2] in (2, 4)
    colour = np.ascontiguousarray(samples[..., :-1]) if has_alpha else samples
    mapped = _mapped(colour, levels, tone.gamma)
    code = cv2.COLOR_GRAY2BGRA if colour.shape[2] == 1 else cv2.COLOR_RGB2BGRA
    if tone.is_false_colour:
        grey = mapped if colour.shape[2] == 1 else cv2.cvtColor(mapped, cv2.COLOR_RGB2GRAY)
        mapped = np.asarray(cv2.applyColorMap(grey, cv2.COLORMAP_VIRIDIS), np.uint8)
        code = cv2.COLOR_BGR2BGRA
    cv2.cvtColor(mapped, code, dst=bgra)
    if tone.marks_clipped:
        bgra[(colour < levels[0]).any(axis=2), :3] = BELOW_BGR
        bgra[(colour > levels[1]).any(axis=2), :3] = ABOVE_BGR
    if _has_nan(colour):  # one quick pass where there is none
        bgra[np.isnan(colour).any(axis=2), :3] = NAN_BGR
    if has_alpha:
        alpha = np.ascontiguousarray(samples[..., -1:])
        _put_on_checkerboard(bgra, _to_8_bits(alpha, 0.0, opaque))


def _image(bgra: Bytes, format_: QImage.Format) -> QImage:
    height, width = bgra.shape[:2]
    return QImage(bgra.data, width, height, bgra.strides[0], format_)


def _mapped(samples: NDArray[Any], levels: tuple[float, float], gamma: float) -> Bytes:
    """Do as `_to_8_bits` does, with shares of white raised to 1 / gamma."""
    if gamma == 1:
        return _to_8_bits(samples, *levels)
    import cv2

    shares = (samples.astype(np.float32) - levels[0]) / np.float32(levels[1] - levels[0])
    np.nan_to_num(shares, copy=False).clip(0, 1, out=shares)
    flat = shares.reshape(shares.shape[0], -1)
    return _to_8_bits(cv2.pow(flat, 1 / gamma).reshape(shares.shape), 0.0, 1.0)


def _to_8_bits(samples: NDArray[Any], low: float, high: float) -> Bytes:
    """Map low..high to 0..255, rounded and saturated; NaN becomes 0."""
    if samples.dtype == np.uint8 and (low, high) == (0.0, 255.0):
        return samples
    import cv2  # here: the window paints before anything heavy is imported

    if samples.dtype == np.float16:  # which OpenCV only stores
        samples = samples.astype(np.float32)
    flat = samples.reshape(samples.shape[0], -1)  # one channel: OpenCV's scalars then mean them all
    span = high - low
    if samples.dtype.kind == "f":
        flat = cv2.threshold(flat, high, 0, cv2.THRESH_TRUNC)[1]  # or infinity would turn black
    else:
        span = max(span, 1.0)  # no two integers are closer
    scale = 255.0 / span
    mapped = cv2.addWeighted(flat, scale, flat, 0.0, -low * scale, dtype=cv2.CV_8U)
    return np.asarray(mapped, np.uint8).reshape(samples.shape)


def _put_on_checkerboard(bgra: Bytes, alpha: Bytes) -> None:
    if alpha.min() == 255:
        return
    bgra[..., 3:] = alpha
    board = np.empty_like(bgra)
    canvas = _image(board, QImage.Format.Format_RGB32)  # a painter does not keep it alive
    painter = QPainter(canvas)
    painter.fillRect(0, 0, bgra.shape[1], bgra.shape[0], QBrush(_checker_tile()))
    painter.drawImage(0, 0, _image(bgra, QImage.Format.Format_ARGB32))
    painter.end()
    bgra[:] = board


def _checker_tile() -> QImage:
    tile = QImage(2, 2, QImage.Format.Format_RGB32)
    tile.fill(QColor(CHECKER_GREYS[0]))
    for corner in (0, 1):
        tile.setPixelColor(corner, corner, QColor(CHECKER_GREYS[1]))
    return tile.scaled(2 * CHECKER_PX, 2 * CHECKER_PX)


def _smaller(pixels: Bytes) -> list[Bytes]:
    import cv2

    levels = []
    height, width = pixels.shape[:2]
    while max(width, height) > MIN_LEVEL:
        width, height = (width + 1) // 2, (height + 1) // 2
        half = np.empty((height, width, *pixels.shape[2:]), np.uint8)
        cv2.resize(pixels, (width, height), dst=half, interpolation=cv2.INTER_AREA)
        levels.append(half)
        pixels = half
    return levels


def show(samples: NDArray[Any], look: DisplayMapping) -> Display:
    """Make `samples`, (H, W, C) of any pixel type, ready to paint; they stay as they are.

    Raises ValueError and MemoryError as `to_display`.
    """
    full = white(samples.dtype) if look.full is None else look.full
    levels = look.levels or default_levels(look.negative_display, full)
    if levels is None:
        levels = around_zero(samples, look.negative_display) or (-1.0, 1.0)
    if look.negative_display == "absolute":
        samples = np.abs(samples)
    is_centred = look.negative_display in ("offset", "scaled")
    tone = replace(look.tone, gamma=1.0) if is_centred else look.tone  # zero stays the middle
    exposed = tone.exposed(levels, is_centred)
    return replace(to_display(samples, exposed, full, tone), levels=levels, tone=tone)
