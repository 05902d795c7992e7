"""Pictures to and from the clipboard, and from what is dragged and dropped."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from uuid import uuid4

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QMimeData, QUrl
from PySide6.QtGui import QColorSpace, QGuiApplication, QImage, QPixelFormat, QPixmap

from workbench.base.disk import disk_in_words
from workbench.files import image_files
from workbench.files.picture_errors import ImageFileError
from workbench.imaging.pictures import ONE_PAGE, Picture

Found = bytes | QImage | NDArray[Any]  # an encoded picture, an image, or samples

NAME = "Pasted picture"
NOTHING = "The clipboard holds no picture; copy one first."
ADDRESS = (
    "The clipboard holds an address, not a picture: save what is there to a file and open that, or "
    "copy the picture itself."
)
MAX_FILES = 10_000  # of a list; the rest is ignored
_MAX_PATH = 4096  # characters; no file has a longer one
# Formats in which other programs offer pictures, lossless first; our decoders read them exactly,
# while Qt drops what it does not know and shows half of a truncated file.
_ENCODED = ("image/png", "image/tiff", "image/webp", "image/bmp", "image/jpeg")
_Format = QImage.Format
_GREY8, _GREY16 = _Format.Format_Grayscale8, _Format.Format_Grayscale16
_RGBA8, _RGBA16 = _Format.Format_RGBA8888, _Format.Format_RGBA64
# Formats that we copy, by channels; of floats others get what is on the screen.
_FORMATS = {
    "uint8": (_GREY8, _RGBA8, _Format.Format_RGB888, _RGBA8),
    "uint16": (_GREY16, _RGBA16, _Format.Format_RGBX64, _RGBA16),
}
_FLOATING = QPixelFormat.TypeInterpretation.FloatingPoint
# Samples that this program has put on the clipboard, of any pixel type, by the mark
# that the image there carries.  (Qt would own a QMimeData that held them, and free it at the end,
# when Python is gone.)
_MARK = "filter-workbench-samples"
_QT_IMAGE = "application/x-qt-image"
_copied: dict[str, NDArray[Any]] = {}


def copy(samples: NDArray[Any] | None, image: QImage) -> None:
    """Put an image on the clipboard; pasting it in this program gives `samples`, if any."""
    _copied.clear()
    if samples is not None:
        mark = uuid4().hex
        image.setText(_MARK, mark)
        _copied[mark] = samples
    QGuiApplication.clipboard().setImage(image)


def forget_what_is_gone() -> None:
    """Free the copied samples once something else is on the clipboard, without reading that."""
    clipboard = QGuiApplication.clipboard()
    content = clipboard.mimeData()
    is_ours = content is not None and content.formats() == [_QT_IMAGE]  # others name theirs, too
    if not is_ours and not (clipboard.ownsClipboard() and content.hasImage()):
        _copied.clear()


def files_in(content: QMimeData | None) -> list[Path]:
    """Files on this computer that `content` names."""
    if content is None:
        return []
    local = (url.toLocalFile() for url in content.urls() if url.isLocalFile())
    if files := [Path(name) for name in islice(local, MAX_FILES)]:
        return files
    return [] if _has_image(content) or not content.hasText() else _named_in(content.text())


def holds_picture(content: QMimeData | None) -> bool:
    return content is not None and (_has_image(content) or bool(files_in(content)))


def image_in(content: QMimeData | None) -> Found:
    """Picture in `content` for `picture_in`; on the GUI thread.  Raises ImageFileError."""
    if content is None or not _has_image(content):
        raise ImageFileError(ADDRESS if content is not None and content.urls() else NOTHING)
    image = content.imageData() if _copied else None
    if isinstance(image, QImage) and (samples := _copied.get(image.text(_MARK))) is not None:
        return samples
    for kind in _ENCODED:
        if content.hasFormat(kind) and (encoded := bytes(content.data(kind).data())):
            return encoded
    image = content.imageData()
    if isinstance(image, QPixmap):
        image = image.toImage()
    if not isinstance(image, QImage) or image.isNull():
        raise ImageFileError(
            "The picture on the clipboard is damaged, or of a kind this program does not read; "
            "copy it again."
        )
    return image


def picture_in(found: Found, **how: Any) -> Picture:
    """Make `found` a Picture; on any thread.  Raises ImageFileError.

    how  as `image_files.load` has it
    """
    if isinstance(found, bytes):
        return _decoded(found, **how)
    if not isinstance(found, QImage):
        return Picture(NAME, found)
    notes: list[str] = []
    return Picture(NAME, to_samples(found, notes), notes=tuple(notes))


def _decoded(encoded: bytes, **how: Any) -> Picture:
    """Decode a picture by way of a file, like everything that is opened."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / NAME
        with disk_in_words(ImageFileError, "The picture cannot be pasted"):
            path.write_bytes(encoded)
        return replace(image_files.load(path, **how), path=None, page=ONE_PAGE)


def _has_image(content: QMimeData) -> bool:
    return content.hasImage() or any(map(content.hasFormat, _ENCODED))


def _named_in(text: str) -> list[Path]:
    words = text.strip().strip("\"'")
    if not words or len(words) > _MAX_PATH or not words.isprintable():
        return []
    url = QUrl(words)
    path = Path(url.toLocalFile() if url.isLocalFile() else words)
    return [path] if path.is_absolute() else []


def to_samples(image: QImage, notes: list[str]) -> NDArray[Any]:
    """Samples of an image in sRGB, (H, W, 1, 3 or 4).

    notes  gets a sentence where colours were converted
    Raises ImageFileError for an image without pixels, and where memory runs out.
    """
    if image.isNull():
        raise ImageFileError(NOTHING)
    image = _in_srgb(image, notes)
    has_alpha = image.hasAlphaChannel()
    is_grey = image.isGrayscale() and not has_alpha
    if image.pixelFormat().typeInterpretation() == _FLOATING:
        pixel_type, format_ = "float32", _Format.Format_RGBA32FPx4
    elif image.depth() > 32 or image.format() == _GREY16:
        pixel_type, format_ = "uint16", _GREY16 if is_grey else _RGBA16
    else:
        pixel_type, format_ = "uint8", _GREY8 if is_grey else _RGBA8
    dtype = np.dtype(pixel_type)
    held = 1 if format_ in (_GREY8, _GREY16) else 4
    image = image.convertToFormat(format_)
    if image.isNull():
        raise ImageFileError("There is too little memory to paste the picture; copy a smaller one.")
    rows = np.frombuffer(image.constBits(), np.uint8).reshape(image.height(), image.bytesPerLine())
    used = rows[:, : image.width() * held * dtype.itemsize].view(dtype)
    samples = used.reshape(image.height(), image.width(), held)
    return samples[..., : 1 if is_grey else 3 + has_alpha].copy()


def to_image(samples: NDArray[Any], shown: QImage) -> QImage:
    """Make an image for other programs: exact samples if they are integers, else as shown.

    samples  (H, W, C) with C = 1 to 4
    shown    the same picture as it is on the screen
    Raises MemoryError.
    """
    if samples.dtype.kind != "u":
        return shown.copy()
    height, width, channels = samples.shape
    format_ = _FORMATS[str(samples.dtype)][channels - 1]
    if channels == 2:
        samples = np.ascontiguousarray(samples[..., [0, 0, 0, 1]])
    elif channels == 3 and samples.dtype == np.uint16:
        samples = np.pad(samples, ((0, 0), (0, 0), (0, 1)), constant_values=65535)
    image = QImage(samples.data, width, height, samples.strides[0], format_).copy()
    if image.isNull():
        raise MemoryError(f"no memory for an image of {width} × {height}")
    return image


def _in_srgb(image: QImage, notes: list[str]) -> QImage:
    space, srgb = image.colorSpace(), QColorSpace(QColorSpace.NamedColorSpace.SRgb)
    is_grey = space.colorModel() == QColorSpace.ColorModel.Gray  # Qt's own, with sRGB's curve
    if is_grey or not space.isValid() or space == srgb:
        return image
    converted = image.convertedToColorSpace(srgb)
    if converted.isNull():
        return image
    notes.append("Converted from the picture's own colour space to sRGB.")
    return converted
