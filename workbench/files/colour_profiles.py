"""Convert samples from the colour profile their file came with to sRGB."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageCms
from PySide6.QtGui import QColorSpace, QImage

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
    if space == srgb:
        return samples
    if not space.isValid() or samples.dtype.kind == "f":
        notes.append(f"The colour profile “{name}” was not applied.")
        return samples
    notes.append(f"Colours were converted from the profile “{name}” to sRGB.")
    return _converted(samples, space, srgb)


def cmyk_to_rgb(image: Image.Image, notes: list[str]) -> Image.Image:
    """An RGB picture of a CMYK one, by the profile in the file where there is a sound one."""
    icc = image.info.get("icc_profile", b"")
    name = _name_of(icc)
    if name is None:
        notes.append("CMYK was converted to RGB.")
        return image.convert("RGB")
    notes.append(f"CMYK was converted to RGB by the profile “{name}”.")
    profile = ImageCms.ImageCmsProfile(io.BytesIO(icc))
    converted = ImageCms.profileToProfile(
        image, profile, ImageCms.createProfile("sRGB"), outputMode="RGB"
    )
    assert converted is not None  # it is None only when converting in place
    return converted


def _name_of(icc: bytes) -> str | None:
    """The profile's own name, or None where it is no profile: Qt would complain on stderr."""
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
