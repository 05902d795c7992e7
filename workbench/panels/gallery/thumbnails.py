"""Tiles with thumbnails, which are made off the GUI thread once they are seen."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QModelIndex, QObject, QPersistentModelIndex, QSize, QStringListModel, Qt
from PySide6.QtGui import QIcon, QImage, QPainter, QPixmap

from kernels.pictures.generated import PICTURES
from workbench.base.background import Background
from workbench.base.plain_text import tip_text
from workbench.files import image_files
from workbench.files.picture_errors import ImageFileError
from workbench.imaging.display import to_display
from workbench.imaging.display_mapping import BARE, Tone

THUMBNAIL = QSize(144, 96)  # 3:2, in device-independent pixels
MAX_FILE_BYTES = 1 << 27  # of a picture that is decoded for a thumbnail alone
Size = tuple[int, int]
Key = Path | str  # a file, or the key of a built-in picture


def thumbnail(key: Key, device_pixel_ratio: float) -> tuple[QImage, str]:
    """Make a thumbnail, and a caption such as "768×512 RGB uint8".

    Raises ImageFileError, also for a file too large for this purpose.
    """
    if not isinstance(key, Path):
        return _small(PICTURES[key].make(), None, device_pixel_ratio)
    if key.stat().st_size > MAX_FILE_BYTES:
        raise ImageFileError(f"{key.name} is too large for a thumbnail.")
    if (found := _reduced_jpeg(key, device_pixel_ratio)) is not None:
        return _small(*found, device_pixel_ratio)
    picture = image_files.load(key, ask=True)
    return _small(picture.samples, None, device_pixel_ratio, picture.opening_tone)


def _reduced_jpeg(path: Path, device_pixel_ratio: float) -> tuple[NDArray[Any], Size] | None:
    """Decode a JPEG at reduced size; return its whole size as well."""
    from PIL import ExifTags, Image, ImageOps  # which a start without a gallery does not need

    least = (THUMBNAIL.toSizeF() * device_pixel_ratio).toSize()
    try:
        with Image.open(path, formats=("JPEG",)) as image:
            if image.mode not in ("L", "RGB"):
                return None
            turned = image.getexif().get(ExifTags.Base.Orientation, 1) in range(5, 9)
            size = image.size[::-1] if turned else image.size
            image.draft(image.mode, (least.width(), least.height()))
            samples = np.asarray(ImageOps.exif_transpose(image))
    except Exception:  # noqa: BLE001 - damaged files make decoders fail with anything
        return None
    return np.ascontiguousarray(np.atleast_3d(samples)), size


def _small(
    samples: NDArray[Any], size: Size | None, ratio: float, tone: Tone = BARE
) -> tuple[QImage, str]:
    """Scale samples into the middle of a tile's box; enlarge tiny ones with sharp pixels."""
    box = (THUMBNAIL.toSizeF() * ratio).toSize()
    images = to_display(samples, tone=tone).images
    large_enough = [
        each for each in images if each.width() >= box.width() or each.height() >= box.height()
    ]
    ways = Qt.TransformationMode
    mode = ways.SmoothTransformation if large_enough else ways.FastTransformation
    image = large_enough[-1] if large_enough else images[0]
    small = image.scaled(box, Qt.AspectRatioMode.KeepAspectRatio, mode)
    made = QImage(box, QImage.Format.Format_ARGB32_Premultiplied)
    made.fill(Qt.GlobalColor.transparent)
    painter = QPainter(made)
    left, top = (box.width() - small.width()) // 2, (box.height() - small.height()) // 2
    painter.drawImage(left, top, small)
    painter.end()
    made.setDevicePixelRatio(ratio)
    width, height = size or samples.shape[1::-1]
    colour = ("grey", "grey + alpha", "RGB", "RGBA")[samples.shape[2] - 1]
    return made, f"{width}×{height} {colour} {samples.dtype}"


MAX_THUMBNAILS = 300  # kept; at 200 % they take 66 MB
MAX_WAITING = 60  # those seen longest ago are asked for again when they are seen again
KEY = Qt.ItemDataRole.UserRole
CAPTION = Qt.ItemDataRole.UserRole + 1
Index = QModelIndex | QPersistentModelIndex


class TileModel(QStringListModel):
    """Tiles by their titles, a row each; those painted get a thumbnail, the latest first.

    Qt counts and lays out the titles by itself: a folder may hold a hundred thousand.
    """

    def __init__(self, device_pixel_ratio: Callable[[], float], parent: QObject) -> None:
        super().__init__(parent)
        self._ratio = device_pixel_ratio
        self._key_of: Callable[[int], Key] = str
        self._made: OrderedDict[Key, tuple[QIcon, str]] = OrderedDict()
        self._waiting: OrderedDict[Key, int] = OrderedDict()  # the rows that were painted
        self._making: tuple[Key, int] | None = None
        self._background = Background((ImageFileError, OSError), self)
        blank = QPixmap(THUMBNAIL)
        blank.fill(Qt.GlobalColor.transparent)
        self._blank = QIcon(blank)

    def close_threads(self) -> None:
        self._background.close()

    def show_tiles(self, titles: Sequence[str], key_of: Callable[[int], Key]) -> None:
        """List other tiles; `key_of` returns the key of a row. Thumbnails are kept."""
        self._key_of = key_of
        self._waiting.clear()
        self.setStringList(list(titles))

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """Data of a tile; a request for its picture has one made."""
        if not index.isValid() or role == Qt.ItemDataRole.EditRole:
            return super().data(index, role)
        key, title = self._key_of(index.row()), super().data(index, Qt.ItemDataRole.EditRole)
        icon, caption = self._made.get(key, (self._blank, ""))
        match role:
            case Qt.ItemDataRole.DisplayRole:
                return f"{title}\n{caption or ' '}"  # always two lines
            case Qt.ItemDataRole.AccessibleTextRole:
                return ", ".join(filter(None, (title, caption)))
            case Qt.ItemDataRole.ToolTipRole:
                return tip_text(str(key) if isinstance(key, Path) else PICTURES[key].shows)
            case Qt.ItemDataRole.DecorationRole:  # it is being painted
                if key in self._made:
                    self._made.move_to_end(key)
                elif self._making is None or self._making[0] != key:  # else it is painted once more
                    self._waiting[key] = index.row()
                    self._waiting.move_to_end(key)
                    while len(self._waiting) > MAX_WAITING:
                        self._waiting.popitem(last=False)
                    self._make_next()
                return icon
        return {KEY: key, CAPTION: caption}.get(role)

    def _make_next(self) -> None:
        if self._making is not None or not self._waiting:
            return
        self._making = self._waiting.popitem()
        self._background.run(
            partial(thumbnail, self._making[0], self._ratio()),
            lambda made: self._take(QPixmap.fromImage(made[0]), made[1]),
            lambda _: self._take(None, "no thumbnail"),  # opening it says why
            lambda: self._take(None, "no thumbnail"),
        )

    def _take(self, pixmap: QPixmap | None, caption: str) -> None:
        assert self._making is not None
        (key, row), self._making = self._making, None
        icon = self._blank
        if pixmap is not None:
            icon = QIcon(pixmap)
            icon.addPixmap(pixmap, QIcon.Mode.Selected)  # else Qt tints it
        self._made[key] = icon, caption
        while len(self._made) > MAX_THUMBNAILS:
            self._made.popitem(last=False)
        if row < self.rowCount() and self._key_of(row) == key:
            index = self.index(row, 0)
            self.dataChanged.emit(index, index)
        self._make_next()
