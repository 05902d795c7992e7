"""Pictures to and from the clipboard."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from PySide6.QtGui import QImage

from workbench.files.image_files import ImageFileError


def to_samples(image: QImage) -> NDArray[Any]:
    """(H, W, 1, 3 or 4) uint8, or uint16 where the image has more than 8 bits a channel.

    Raises ImageFileError for an image without pixels.
    """
    if image.isNull():
        raise ImageFileError("The clipboard holds no picture; copy one first.")
    deep = image.depth() > 32 or image.format() == QImage.Format.Format_Grayscale16
    if image.isGrayscale() and not image.hasAlphaChannel():
        wide, narrow = QImage.Format.Format_Grayscale16, QImage.Format.Format_Grayscale8
        channels = 1
    else:
        wide, narrow = QImage.Format.Format_RGBA64, QImage.Format.Format_RGBA8888
        channels = 4
    has_alpha = image.hasAlphaChannel()
    image = image.convertToFormat(wide if deep else narrow)
    dtype = np.dtype(np.uint16 if deep else np.uint8)
    rows = np.frombuffer(image.constBits(), np.uint8).reshape(image.height(), image.bytesPerLine())
    used = rows[:, : image.width() * channels * dtype.itemsize].copy().view(dtype)
    samples = used.reshape(image.height(), image.width(), channels)
    if channels == 4 and not has_alpha:
        samples = samples[..., :3]
    return np.ascontiguousarray(samples)


def to_image(samples: NDArray[Any], shown: QImage) -> QImage:
    """For the clipboard: the samples themselves where they are 8-bit RGB or grey, else as shown.

    shown  the same picture as it is on the screen
    """
    formats = {1: QImage.Format.Format_Grayscale8, 3: QImage.Format.Format_RGB888}
    format_ = formats.get(samples.shape[2]) if samples.dtype == np.uint8 else None
    if format_ is None:
        return shown.copy()
    height, width = samples.shape[:2]
    return QImage(samples.data, width, height, samples.strides[0], format_).copy()
