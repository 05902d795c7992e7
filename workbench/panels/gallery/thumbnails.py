"""Small pictures for the walls of the gallery; made off the GUI thread."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QImage

from workbench.files import image_files
from workbench.files.picture_errors import ImageFileError
from workbench.imaging.display import Display, to_display
from workbench.widgets.tile_list import THUMBNAIL

MAX_FILE_BYTES = 1 << 27  # of a picture that is decoded for a thumbnail alone
Size = tuple[int, int]


def thumbnail(make: Callable[[], NDArray[Any]], device_pixel_ratio: float) -> tuple[QImage, str]:
    """Return a small picture of the samples made, and a caption such as "768×512 RGB uint8"."""
    samples = make()
    height, width = samples.shape[:2]
    return _small(to_display(samples), device_pixel_ratio), _caption(width, height, samples)


def thumbnail_of_file(path: Path, device_pixel_ratio: float) -> tuple[QImage, str]:
    """Return a small picture of a file and its caption, as `thumbnail` does.

    Raises ImageFileError, also for what would take too much memory for so little.
    """
    if path.stat().st_size > MAX_FILE_BYTES:
        raise ImageFileError(f"{path.name} is too large for a thumbnail.")
    if (found := _reduced_jpeg(path, device_pixel_ratio)) is None:
        return thumbnail(lambda: image_files.load(path, ask=True).samples, device_pixel_ratio)
    samples, (width, height) = found
    caption = _caption(width, height, samples)
    return _small(to_display(samples), device_pixel_ratio), caption


def _fills(width: int, height: int, box: QSize) -> bool:
    return width >= box.width() or height >= box.height()


def _reduced_jpeg(path: Path, device_pixel_ratio: float) -> tuple[NDArray[Any], Size] | None:
    """Return a JPEG decoded at a part of its size, a tenth of the work, and its whole size."""
    from PIL import ExifTags, Image, ImageOps  # which a start without a gallery does not need

    least = (THUMBNAIL.toSizeF() * device_pixel_ratio).toSize()
    try:
        with Image.open(path, formats=("JPEG",)) as image:
            if image.mode not in ("L", "RGB"):
                return None
            turned = image.getexif().get(ExifTags.Base.Orientation, 1) in range(5, 9)
            size = image.size[::-1] if turned else image.size
            image.draft(image.mode, (least.width(), least.height()))
            upright = ImageOps.exif_transpose(image)
            samples = np.asarray(upright)
    except Exception:  # noqa: BLE001 - damaged files make decoders fail with anything
        return None
    return np.ascontiguousarray(np.atleast_3d(samples)), size


def _caption(width: int, height: int, samples: NDArray[Any]) -> str:
    colour = ("grey", "grey + alpha", "RGB", "RGBA")[samples.shape[2] - 1]
    return f"{width}×{height} {colour} {samples.dtype}"


def _small(display: Display, device_pixel_ratio: float) -> QImage:
    """Return the picture scaled to fit a tile; tiny ones are enlarged with sharp pixels."""
    box = (THUMBNAIL.toSizeF() * device_pixel_ratio).toSize()
    large_enough = [image for image in display.images if _covers(image, box)]
    image = large_enough[-1] if large_enough else display.images[0]
    smooth, sharp = (
        Qt.TransformationMode.SmoothTransformation,
        Qt.TransformationMode.FastTransformation,
    )
    mode = smooth if large_enough else sharp
    small = image.scaled(box, Qt.AspectRatioMode.KeepAspectRatio, mode)
    small.setDevicePixelRatio(device_pixel_ratio)
    return small


def _covers(image: QImage, box: QSize) -> bool:
    return _fills(image.width(), image.height(), box)
