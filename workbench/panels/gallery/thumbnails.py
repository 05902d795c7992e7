"""Thumbnails for the gallery, made off the GUI thread."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QModelIndex, QObject, QPersistentModelIndex, QStringListModel, Qt, Signal
from PySide6.QtGui import QImage, QPixmap

from workbench.base.background import Background
from workbench.base.plain_text import tip_text
from workbench.files import image_files
from workbench.files.picture_errors import ImageFileError
from workbench.imaging.display import Display, to_display
from workbench.panels.gallery import wall
from workbench.panels.gallery.wall import THUMBNAIL

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
_Index = QModelIndex | QPersistentModelIndex


class LazyThumbnails(QObject):
    """Thumbnails requested by views as they paint, the latest request first.

    Signals:
        made(key, row): there is one, or making it failed.
    """

    made = Signal(object, int)

    def __init__(
        self,
        device_pixel_ratio: Callable[[], float],
        parent: QObject,
        make: Callable[[Any, float], tuple[QImage, str]] = thumbnail_of_file,
    ) -> None:
        """Make thumbnails of files by their paths, or of whatever keys `make` takes."""
        super().__init__(parent)
        self._ratio, self._make = device_pixel_ratio, make
        self._made: OrderedDict[Any, _Made] = OrderedDict()
        self._waiting: OrderedDict[Any, int] = OrderedDict()  # the rows that were painted
        self._making: tuple[Any, int] | None = None  # the key and the row of a thumbnail
        self._background = Background((ImageFileError, OSError), self)

    def close_threads(self) -> None:
        """Wait for the thread to end."""
        self._background.close()

    def pixmap(self, key: Any, row: int) -> QPixmap | None:
        """The thumbnail of the tile in that row; or None, and one is being made."""
        if key in self._made:
            self._made.move_to_end(key)
            return self._made[key][0]
        if self._making is not None and self._making[0] == key:
            return None  # it is painted once more meanwhile
        self._waiting[key] = row
        self._waiting.move_to_end(key)
        while len(self._waiting) > MAX_WAITING:
            self._waiting.popitem(last=False)
        self._make_next()
        return None

    def caption(self, key: Any) -> str:
        """The caption of a tile; empty until its thumbnail is made."""
        return self._made.get(key, (None, ""))[1]

    def forget_waiting(self) -> None:
        """Drop all requests, as other tiles are listed now."""
        self._waiting.clear()

    def _make_next(self) -> None:
        if self._making is not None or not self._waiting:
            return
        self._making = self._waiting.popitem()
        self._background.run(
            partial(self._make, self._making[0], self._ratio()),
            lambda made: self._take(QPixmap.fromImage(made[0]), made[1]),
            lambda _: self._take(None, NO_THUMBNAIL),  # opening it says why
            lambda: self._take(None, NO_THUMBNAIL),
        )

    def _take(self, pixmap: QPixmap | None, caption: str) -> None:
        assert self._making is not None
        (key, row), self._making = self._making, None
        self._made[key] = (pixmap, caption)
        while len(self._made) > MAX_THUMBNAILS:
            self._made.popitem(last=False)
        self.made.emit(key, row)
        self._make_next()


class TileModel(QStringListModel):
    """Tiles by their titles, a row each; what is painted gets a thumbnail.

    Qt counts and lays out the titles by itself: a folder may hold a hundred thousand.
    """

    def __init__(self, thumbnails: LazyThumbnails) -> None:
        super().__init__(thumbnails)  # a view does not keep it
        self._thumbnails = thumbnails
        self._key_of: Callable[[int], Any] = int
        self._hint_of: Callable[[Any], str] = str
        thumbnails.made.connect(self._update)

    def show_tiles(
        self,
        titles: Sequence[str],
        key_of: Callable[[int], Any],
        hint_of: Callable[[Any], str] = str,
    ) -> None:
        """List other tiles; thumbnails are kept.

        key_of   returns what stands for the tile of a row, as a file's path
        hint_of  returns the tooltip of a key
        """
        self._key_of, self._hint_of = key_of, hint_of
        self._thumbnails.forget_waiting()
        self.setStringList(list(titles))

    def data(self, index: _Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """Data of a tile; a request for its picture has one made."""
        if not index.isValid() or role == Qt.ItemDataRole.DisplayRole:
            return super().data(index, role)
        key = self._key_of(index.row())
        match role:
            case wall.KEY:
                return key
            case Qt.ItemDataRole.ToolTipRole:
                return tip_text(self._hint_of(key))
            case Qt.ItemDataRole.DecorationRole:  # it is being painted
                return self._thumbnails.pixmap(key, index.row())
            case wall.CAPTION:
                return self._thumbnails.caption(key)
            case Qt.ItemDataRole.AccessibleTextRole:
                return ", ".join(filter(None, (index.data(), self._thumbnails.caption(key))))
        return None

    def _update(self, key: Any, row: int) -> None:
        if row < self.rowCount() and self._key_of(row) == key:
            index = self.index(row, 0)
            self.dataChanged.emit(index, index)
