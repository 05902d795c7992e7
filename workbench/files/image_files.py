"""Load and save pictures, and find the next one in a folder."""

from __future__ import annotations

import os
import re
import stat
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from workbench.files import whole_files
from workbench.state import Picture

EXTENSIONS = (
    ".png",
    ".jpg",
    ".jpeg",
    ".tif",
    ".tiff",
    ".bmp",
    ".webp",
    ".pnm",
    ".pgm",
    ".ppm",
    ".pbm",
)
OPEN_FILTER = f"Pictures ({' '.join(f'*{extension}' for extension in EXTENSIONS)});;All files (*)"
SAVE_FILTER = (
    "PNG (*.png);;TIFF (*.tif *.tiff);;JPEG (*.jpg *.jpeg);;WebP (*.webp);;"
    "BMP (*.bmp);;PNM (*.pnm *.pgm *.ppm)"
)

_NUMBERS = re.compile(r"([0-9]+)")


class ImageFileError(Exception):
    """A picture could not be read or written.  str(error) is one sentence for the user."""


def load(path: str | Path) -> Picture:
    """Read a picture by its content, whatever its extension; safe on any thread.

    returns  samples as the workbench wants them; `notes` say what was converted on the way
    raises   ImageFileError
    """
    path = Path(path).absolute()
    _check_readable(path)
    from workbench.files import (
        image_decoders,  # Pillow, OpenCV and tifffile: not before they are needed
    )

    samples, notes = image_decoders.decode(path)
    return Picture(path.name, samples, path, tuple(notes))


def save(path: str | Path, samples: NDArray[Any]) -> None:
    """Write samples, (H, W, C) of any pixel type, in the format that the extension names.

    Raises ImageFileError, and then leaves the folder as it was.
    """
    path = Path(path).absolute()
    from workbench.files import image_encoders

    write = image_encoders.writer_for(path, samples)
    try:
        with whole_files.replacing(path) as file:
            write(file, samples)
    except OSError as error:
        raise ImageFileError(f"Cannot save {path.name}: {whole_files.reason(error)}.") from error


def neighbours(path: str | Path) -> tuple[Path | None, Path | None]:
    """The pictures before and after `path` in its folder, as a person sorts names.

    returns  (previous, next); None at either end.  `path` itself need not exist any more.
    raises   ImageFileError when the folder cannot be read
    """
    path = Path(path).absolute()
    here = _natural_key(path.name)
    try:
        with os.scandir(path.parent) as entries:
            names = [
                entry.name
                for entry in entries
                if entry.name.lower().endswith(EXTENSIONS) and entry.is_file()
            ]
    except OSError as error:
        raise ImageFileError(
            f"Cannot look into {path.parent}: {error.strerror}; open a picture elsewhere."
        ) from error
    keys = [_natural_key(name) for name in names]
    previous = max((key for key in keys if key < here), default=None)
    following = min((key for key in keys if key > here), default=None)
    return (
        path.parent / previous[1] if previous else None,
        path.parent / following[1] if following else None,
    )


def _check_readable(path: Path) -> None:
    """Refuse what is no readable file before any decoder sees it (a pipe would block for ever)."""
    try:
        status = path.stat()
        if stat.S_ISDIR(status.st_mode):
            raise ImageFileError(f"{path.name} is a folder; choose a picture inside it.")
        if not stat.S_ISREG(status.st_mode):
            raise ImageFileError(f"{path.name} is a device, not a file; choose a picture file.")
        path.open("rb").close()
    except PermissionError as error:
        raise ImageFileError(
            f"Reading {path.name} is not allowed; change its permissions or choose another file."
        ) from error
    except (FileNotFoundError, NotADirectoryError, ValueError) as error:
        raise ImageFileError(
            f"There is no file {path.name} in {path.parent}; check the name."
        ) from error
    except OSError as error:
        raise ImageFileError(
            f"Cannot open {path.name}: {error.strerror}; choose another file."
        ) from error
    if status.st_size == 0:
        raise ImageFileError(f"{path.name} is empty (0 bytes); get it again from its source.")


def _natural_key(name: str) -> tuple[list[Any], str]:
    """Digits compare as numbers: img2 comes before img10.  Text and numbers take turns."""
    parts: list[Any] = _NUMBERS.split(name.casefold())
    parts[1::2] = map(int, parts[1::2])
    return parts, name
