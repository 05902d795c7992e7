"""From the colour profile a file came with to sRGB, and the profile that says so in a new file."""

from __future__ import annotations

import io
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageCms
from PySide6.QtCore import QLoggingCategory, QPointF
from PySide6.QtGui import QColorSpace, QImage

BAND_SAMPLES = 1 << 24  # converted at once: Qt needs several copies of what it converts

# Of a damaged profile the picture's notes say enough; Qt would write several lines to stderr.
QLoggingCategory.setFilterRules("qt.gui.icc.warning=false")

_D65 = QPointF(0.3127, 0.3290)
_Format = QImage.Format
_FORMATS = {
    ("uint8", 1): _Format.Format_Grayscale8,
    ("uint8", 4): _Format.Format_RGBA8888,
    ("uint16", 1): _Format.Format_Grayscale16,
    ("uint16", 4): _Format.Format_RGBA64,
}


def to_srgb(samples: NDArray[Any], icc: bytes, notes: list[str]) -> NDArray[Any]:
    """Samples, (H, W) or (H, W, C), in sRGB; alpha and the number of bits stay as they are.

    notes  gets a sentence where anything was done, or could not be
    """
    name = _name_of(icc)
    if name is None:
        notes.append("The colour profile in the file is damaged and was ignored.")
        return samples
    space, srgb = QColorSpace.fromIccProfile(icc), QColorSpace(QColorSpace.NamedColorSpace.SRgb)
    if space == srgb or _is_srgb_grey(space):
        return samples
    if not space.isValid() or samples.dtype.kind == "f":
        notes.append(f"The colour profile “{name}” was not applied.")
        return samples
    notes.append(f"Colours were converted from the profile “{name}” to sRGB.")
    converted = np.empty_like(samples)
    rows = max(BAND_SAMPLES // samples[0].size, 1)
    for top in range(0, len(samples), rows):
        converted[top : top + rows] = _converted(samples[top : top + rows], space, srgb)
    return converted


@cache
def profile_for(channels: int) -> bytes:
    """The ICC profile of what we save: sRGB, or for 1 or 2 channels a grey with sRGB's curve."""
    if channels >= 3:
        return bytes(QColorSpace(QColorSpace.NamedColorSpace.SRgb).iccProfile().data())
    grey = QColorSpace(_D65, QColorSpace.TransferFunction.SRgb)
    grey.setDescription("Grey with the curve of sRGB")
    return bytes(grey.iccProfile().data())


def _is_srgb_grey(space: QColorSpace) -> bool:
    """Grey has no colour to convert: with sRGB's curve its samples are what they are in sRGB."""
    is_grey = space.colorModel() == QColorSpace.ColorModel.Gray
    return is_grey and space.transferFunction() == QColorSpace.TransferFunction.SRgb


def cmyk_to_rgb(icc: bytes, notes: list[str]) -> Callable[[Image.Image], Image.Image]:
    """What makes an RGB picture of a CMYK one, by the file's own profile where that is sound."""
    name = _name_of(icc)
    if name is None:
        notes.append("CMYK was converted to RGB.")
        return lambda image: image.convert("RGB")
    notes.append(f"CMYK was converted to RGB by the profile “{name}”.")
    by_profile = ImageCms.buildTransform(
        ImageCms.ImageCmsProfile(io.BytesIO(icc)), ImageCms.createProfile("sRGB"), "CMYK", "RGB"
    )

    def convert(image: Image.Image) -> Image.Image:
        converted = ImageCms.applyTransform(image, by_profile)
        assert converted is not None  # it is None only when converting in place
        return converted

    return convert


def _name_of(icc: bytes) -> str | None:
    """The profile's own name, or None where it is no profile."""
    try:
        profile = ImageCms.ImageCmsProfile(io.BytesIO(icc))
        return ImageCms.getProfileDescription(profile).strip() or "unnamed"
    except (OSError, ImageCms.PyCMSError):
        return None


def _converted(samples: NDArray[Any], space: QColorSpace, srgb: QColorSpace) -> NDArray[Any]:
    channels = samples.shape[2] if samples.ndim == 3 else 1
    if channels in (1, 2):
        grey = samples.reshape(*samples.shape[:2], channels)[:, :, 0]
        grey = _by_qt(grey, _FORMATS[str(samples.dtype), 1], space, srgb)[:, :, 0]
        return grey if channels == 1 else np.dstack([grey, samples[:, :, 1]])
    opaque = np.full((*samples.shape[:2], 1), np.iinfo(samples.dtype).max, samples.dtype)
    four = samples if channels == 4 else np.dstack([samples, opaque])
    return _by_qt(four, _FORMATS[str(samples.dtype), 4], space, srgb)[:, :, :channels]


def _by_qt(
    samples: NDArray[Any], qt_format: QImage.Format, space: QColorSpace, srgb: QColorSpace
) -> NDArray[Any]:
    """(H, W, C) of what Qt's colour management makes of samples in one of _FORMATS."""
    samples = np.ascontiguousarray(samples)
    height, width = samples.shape[:2]
    image = QImage(samples.data, width, height, samples.strides[0], qt_format)
    image.setColorSpace(space)
    image = image.convertedToColorSpace(srgb)
    rows = np.frombuffer(image.constBits(), samples.dtype).reshape(height, -1)
    channels = samples.size // (height * width)
    return rows[:, : width * channels].reshape(height, width, channels).copy()
