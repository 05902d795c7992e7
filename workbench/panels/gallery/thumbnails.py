"""Thumbnails for the gallery, made off the GUI thread."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtGui import QImage, QPixmap

from workbench.base.background import Background
from workbench.files import image_files
from workbench.files.picture_errors import ImageFileError
from workbench.imaging.display import Display, to_display
from workbench.widgets.tile_list import THUMBNAIL

MAX_FILE_BYTES = 1 << 27  # of a picture that is decoded for a thumbnail alone
Size = tuple[int, int]


def thumbnail(make: Callable[[], NDArray[Any]], device_pixel_ratio: float) -> tuple[QImage, str]:
    """Make a small picture of the samples, and a caption such as "768×512 RGB uint8"."""
    samples = make()
    height, width = samples.shape[:2]
    return _small(to_display(samples), device_pixel_ratio), _caption(width, height, samples)


def thumbnail_of_file(path: Path, device_pixel_ratio: float) -> tuple[QImage, str]:
    """Make a small picture of a file, and its caption, as `thumbnail` does.

    Raises ImageFileError, also for a file too large for this purpose.
    """
    if path.stat().st_size > MAX_FILE_BYTES:
        raise ImageFileError(f"{path.name} is too large for a thumbnail.")
    if (found := _reduced_jpeg(path, device_pixel_ratio)) is None:
        return thumbnail(lambda: image_files.load(path, ask=True).samples, device_pixel_ratio)
    samples, (width, height) = found
    caption = _caption(width, height, samples)
    return _small(to_display(samples), device_pixel_ratio), caption


def _reduced_jpeg(path: Path, device_pixel_ratio: float) -> tuple[NDArray[Any], Size] | None:
    """Decode a JPEG at a part of its size, a tenth of the work; give its whole size as well."""
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
    """Scale the picture to fit a tile; enlarge tiny ones with sharp pixels."""
    box = (THUMBNAIL.toSizeF() * device_pixel_ratio).toSize()
    large_enough = [
        image
        for image in display.images
        if image.width() >= box.width() or image.height() >= box.height()
    ]
    image = large_enough[-1] if large_enough else display.images[0]
    ways = Qt.TransformationMode
    mode = ways.SmoothTransformation if large_enough else ways.FastTransformation
    small = image.scaled(box, Qt.AspectRatioMode.KeepAspectRatio, mode)
    small.setDevicePixelRatio(device_pixel_ratio)
    return small


MAX_THUMBNAILS = 300  # kept; at 200 % they take 66 MB
MAX_WAITING = 60  # those seen longest ago are asked for again when they are seen again
NO_THUMBNAIL = "no thumbnail"

_Made = tuple[QPixmap | None, str]


class LazyThumbnails(QObject):
    """Thumbnails requested by views as they paint, the latest request first.

    Signals:
        made(path, row): there is one, or making it failed.
    """

    made = Signal(object, int)

    def __init__(self, device_pixel_ratio: Callable[[], float], parent: QObject) -> None:
        super().__init__(parent)
        self._ratio = device_pixel_ratio
        self._made: OrderedDict[Path, _Made] = OrderedDict()
        self._waiting: OrderedDict[Path, int] = OrderedDict()  # the rows that were painted
        self._making: tuple[Path, int] | None = None  # the file and the row of a thumbnail
        self._background = Background((ImageFileError, OSError), self)

    def close_threads(self) -> None:
        """Wait for the thread to end."""
        self._background.close()

    def pixmap(self, path: Path, row: int) -> QPixmap | None:
        """The thumbnail of the file in that row; or None, and one is being made."""
        if path in self._made:
            self._made.move_to_end(path)
            return self._made[path][0]
        if self._making is not None and self._making[0] == path:
            return None  # it is painted once more meanwhile
        self._waiting[path] = row
        self._waiting.move_to_end(path)
        while len(self._waiting) > MAX_WAITING:
            self._waiting.popitem(last=False)
        self._make_next()
        return None

    def caption(self, path: Path) -> str:
        """The caption of a file; empty until its thumbnail is made."""
        return self._made.get(path, (None, ""))[1]

    def forget_waiting(self) -> None:
        """Drop all requests, as other files are listed now."""
        self._waiting.clear()

    def _make_next(self) -> None:
        if self._making is not None or not self._waiting:
            return
        self._making = self._waiting.popitem()
        self._background.run(
            partial(thumbnail_of_file, self._making[0], self._ratio()),
            lambda made: self._take(QPixmap.fromImage(made[0]), made[1]),
            lambda _: self._take(None, NO_THUMBNAIL),  # opening it says why
            lambda: self._take(None, NO_THUMBNAIL),
        )

    def _take(self, pixmap: QPixmap | None, caption: str) -> None:
        assert self._making is not None
        (path, row), self._making = self._making, None
        self._made[path] = (pixmap, caption)
        while len(self._made) > MAX_THUMBNAILS:
            self._made.popitem(last=False)
        self.made.emit(path, row)
        self._make_next()
