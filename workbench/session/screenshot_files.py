"""Screenshots that remember how they were made: PNG files with the settings inside."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QBuffer, QIODevice
from PySide6.QtGui import QImage

from kernels.core import atomic_files
from workbench.base import limited_json
from workbench.files import png
from workbench.files.picture_errors import ImageFileError
from workbench.model.metadata import NO_METADATA

KEYWORD = b"filter-workbench"
VERSION = 1
SHOWS, FILTERED = "shows", "filtered"  # the setting that tells a picture from a window
_MAX_TEXT = 1_000_000  # bytes; the settings take a few hundred


def save_png(
    path: str | Path, image: QImage | NDArray[np.uint8 | np.uint16], settings: dict[str, Any]
) -> None:
    """Write a PNG that carries `settings`; whole, or not at all.

    image     a QImage, or (H, W, C) uint8 or uint16 with C = 1 to 4; 16 bits stay 16 bits
    settings  anything JSON can hold; tuples come back as lists
    raises    ImageFileError
    """
    path = Path(path).absolute()
    encoded = _encoded_image(path, image) if isinstance(image, QImage) else _encoded(path, image)
    text = json.dumps({"version": VERSION, "settings": settings}, allow_nan=False)
    whole = png.insert_chunk(encoded, b"iTXt", KEYWORD + png.PLAIN_UTF8 + text.encode())
    try:
        with atomic_files.replacing(path) as file:
            file.write(whole)
    except OSError as error:
        raise ImageFileError(f"Cannot save {path.name}: {atomic_files.reason(error)}.") from error


def read_settings(path: str | Path) -> dict[str, Any] | None:
    """Return the settings inside a PNG, without decoding its pixels; None where there are none.

    Raises ImageFileError when they are damaged or were written by a newer version.
    """
    path = Path(path).absolute()
    try:
        with path.open("rb") as file:
            for found in png.chunks(file):
                data = _our_text(file, found, path.name)
                if data is not None:
                    return _settings(data, path.name)
    except OSError as error:
        raise ImageFileError(
            f"Cannot read {path.name}: {error.strerror}; choose another file."
        ) from error
    return None


def _our_text(file: Any, found: png.Chunk, name: str) -> bytes | None:
    """Return the JSON text if this chunk is ours, else None."""
    prefix = KEYWORD + png.PLAIN_UTF8
    if found.kind != b"iTXt" or file.read(len(prefix)) != prefix:
        return None
    data = png.read_chunk(file, found) if found.length <= _MAX_TEXT else None
    if data is None:
        raise _damaged(name)
    return data.removeprefix(prefix)


def _settings(text: bytes, name: str) -> dict[str, Any]:
    try:
        document = limited_json.parse(text)
        version, settings = document["version"], document["settings"]
        is_sound = isinstance(version, int) and isinstance(settings, dict)
    except (ValueError, KeyError, TypeError) as error:
        raise _damaged(name) from error
    if not is_sound:
        raise _damaged(name)
    if version > VERSION:
        raise ImageFileError(
            f"The settings inside {name} were written by a newer version of this program; "
            "update it to restore them."
        )
    return dict(settings)


def _damaged(name: str) -> ImageFileError:
    return ImageFileError(
        f"The settings inside {name} are damaged; open it as a picture and set them by hand."
    )


def _encoded_image(path: Path, image: QImage) -> bytes:
    buffer = QBuffer()
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    if image.isNull() or not image.save(buffer, "PNG"):  # type: ignore[call-overload]
        raise ImageFileError(f"Cannot save {path.name}: there is no picture to save yet.")
    return bytes(buffer.data().data())


def _encoded(path: Path, samples: NDArray[Any]) -> bytes:
    from workbench.files import image_encoders

    write = image_encoders.writer_for(path.with_suffix(".png"), samples)
    buffer = io.BytesIO()
    write(buffer, samples, None, NO_METADATA)
    return buffer.getvalue()
