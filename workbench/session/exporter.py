"""Export of results and screenshots to files and to the clipboard."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QBuffer, QIODevice, QObject, Signal
from PySide6.QtGui import QGuiApplication, QImage

from kernels.core import plain_data, safe_files
from kernels.core.job import Result
from workbench.base.background import Background
from workbench.base.disk import disk_in_words
from workbench.files import image_files, png
from workbench.files.picture_errors import ImageFileError
from workbench.imaging.display_mapping import with_file_white
from workbench.imaging.pictures import NO_METADATA, Picture
from workbench.session import clipboard

PREFIX = png.SETTINGS_KEYWORD.encode() + png.PLAIN_UTF8  # of the settings in their chunk
VERSION = 1
SHOWS, FILTERED = "shows", "filtered"  # the setting that tells a picture from a window
_MAX_TEXT = 1 << 25  # bytes; the settings take a few hundred, many large weights some millions


def save_png(
    path: str | Path, image: QImage | NDArray[np.uint8 | np.uint16], settings: dict[str, Any]
) -> None:
    """Write a PNG that carries `settings`; whole, or not at all.

    image     a QImage, or (H, W, C) uint8 or uint16 with C = 1 to 4; 16 bits stay 16 bits
    settings  anything JSON can hold; tuples come back as lists
    raises    ImageFileError
    """
    path = Path(path).absolute()
    buffer = io.BytesIO()
    if isinstance(image, QImage):
        inside = QBuffer()
        inside.open(QIODevice.OpenModeFlag.WriteOnly)
        if image.isNull() or not image.save(inside, "PNG"):  # type: ignore[call-overload]
            raise ImageFileError(f"Cannot save {path.name}: there is no picture to save yet.")
        buffer.write(inside.data().data())
    else:
        from workbench.files import image_encoders

        write = image_encoders.writer_for(path.with_suffix(".png"), image)
        write(buffer, image, None, NO_METADATA)
    text = json.dumps({"version": VERSION, "settings": settings}, allow_nan=False)
    chunks = [(b"iTXt", PREFIX + text.encode())]
    _replace(path, b"".join(png.parts_with(buffer.getvalue(), chunks)))


def _replace(path: Path, content: bytes) -> None:
    """Write a file whole or not at all.  Raises ImageFileError."""
    saving = disk_in_words(ImageFileError, f"Cannot save {path.name}")
    with saving, safe_files.replacing(path) as file:
        file.write(content)


def read_settings(path: str | Path) -> dict[str, Any] | None:
    """Read the settings inside a PNG; None without any.  Raises ImageFileError."""
    path = Path(path).absolute()
    try:
        with path.open("rb") as file:
            for found in png.chunks(file):
                if found.kind == b"iTXt" and file.read(len(PREFIX)) == PREFIX:
                    is_sound = found.length <= _MAX_TEXT
                    return _settings(png.read_chunk(file, found) if is_sound else None, path.name)
    except OSError as error:
        raise ImageFileError(
            f"Cannot read {path.name}: {error.strerror}; choose another file."
        ) from error
    return None


def _settings(text: bytes | None, name: str) -> dict[str, Any]:
    """Settings in a chunk; None: it is damaged."""
    try:
        document = plain_data.parse_json((text or b"").removeprefix(PREFIX))
        version, settings = int(document["version"]), {**document["settings"]}
    except (ValueError, KeyError, TypeError) as error:
        raise ImageFileError(
            f"The settings inside {name} are damaged; open it as a picture and set them by hand."
        ) from error
    if version > VERSION:
        raise ImageFileError(
            f"The settings inside {name} were written by a newer version of this program; "
            "update it to restore them."
        )
    return settings


Settings = dict[str, Any]
MakeImage = Callable[[], QImage]  # takes a while, and is called off the GUI thread


class Exporter(QObject):
    """A writer in the background that is given everything whole, so that nothing changes meanwhile.

    Signals:
        saved(path, part, size): the file is there, whole, so many bytes; part as of save_result.
        failed(sentence): why it is not; nothing was left behind.
        copied(what): the clipboard holds it.
    """

    saved = Signal(object, str, object)
    failed = Signal(str)
    copied = Signal(str)

    def __init__(self, background: Background, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._background = background
        QGuiApplication.clipboard().dataChanged.connect(clipboard.forget_what_is_gone)

    def save_result(
        self,
        path: Path,
        picture: Picture,
        result: Result,
        quality: int | None = None,
        *,
        reduce: bool = False,
        part: str = "",
    ) -> None:
        """Save the filtered picture at full resolution, as a picture like any other.

        picture  the one that was filtered
        quality  as `image_files.save` has it
        reduce   change what the format cannot hold, rather than refuse it
        part     all it has of several pages or steps, in words
        """

        def write() -> None:
            from workbench.files.image_encoders import reduced  # imports imagecodecs

            samples = with_file_white(result.picture, picture.samples)
            samples = reduced(path, samples) if reduce else samples
            image_files.save(path, samples, quality, picture.metadata)

        self._write(path, write, part)

    def save_screenshot(
        self, path: Path, image: QImage | MakeImage | NDArray[Any], settings: Settings
    ) -> None:
        """Save a screenshot as PNG with the settings inside.

        image  an image, a function that makes one, or (H, W, C) samples of 8 or 16 bits
        """
        path = path if path.suffix.lower() == ".png" else path.with_name(f"{path.name}.png")
        self._write(path, lambda: save_png(path, image() if callable(image) else image, settings))

    def save_text(self, path: Path, text: str) -> None:
        self._write(path, lambda: _replace(path, text.encode()))

    def copy_result(self, picture: Picture, result: Result, shown: QImage, part: str) -> None:
        """Copy the filtered picture to the clipboard.

        Pasting in this program gives its very samples; floats that were made of whole numbers are
        scaled as in a float file, where white is 1.

        picture  the one that was filtered
        shown    how the result is on the screen
        """

        def make() -> tuple[NDArray[Any], QImage]:
            samples = with_file_white(result.picture, picture.samples)
            return samples, clipboard.to_image(samples, shown)

        self._copy(make, f"the result{part}")

    def copy_image(self, image: QImage | MakeImage, what: str) -> None:
        """Copy an image, or what a function makes, to the clipboard.

        what  its name in the message
        """

        self._copy(lambda: (None, image() if callable(image) else image), what)

    def _copy(self, make: Callable[[], tuple[NDArray[Any] | None, QImage]], what: str) -> None:
        def copy(made: tuple[NDArray[Any] | None, QImage]) -> None:
            clipboard.copy(*made)
            self.copied.emit(what)

        self._background.run(make, copy, self._fail)

    def _write(self, path: Path, write: Callable[[], None], part: str = "") -> None:
        def write_and_look() -> int:
            write()
            return path.stat().st_size

        self._background.run(write_and_look, partial(self.saved.emit, path, part), self._fail)

    def _fail(self, error: Exception) -> None:
        self.failed.emit(str(error))


IN_NAMES = str.maketrans(" ", "-", ",")
MAX_LETTERS = 120  # of a proposed name, behind the picture's


def suggested_name(picture: Picture, result: Result) -> str:
    """File name to propose, without extension: "kodim05 gaussian-blur 5x5 unverified"."""
    page = f"-{picture.page.number}" if picture.page.count > 1 else ""
    words = " ".join(
        f"{each.title.lower().translate(IN_NAMES)} {each.filter.ksize}x{each.filter.ksize}"
        for each in result.job.steps
        if not each.is_length
    )
    unverified = " unverified" * result.is_wrong
    return f"{Path(picture.name).stem}{page} {words[:MAX_LETTERS].rstrip()}{unverified}"
