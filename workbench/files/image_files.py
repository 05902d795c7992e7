"""Load and save pictures."""

from __future__ import annotations

import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from kernels.core import atomic_files
from workbench.files.picture_errors import ImageFileError
from workbench.model.state import Picture

EXTENSIONS = (
    ".png",
    ".jpg",
    ".jpeg",
    ".tif",
    ".tiff",
    ".bmp",
    ".webp",
    ".gif",
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


def load(
    path: str | Path, *, ask: bool = False, is_stopped: Callable[[], bool] = lambda: False
) -> Picture:
    """Read a picture by its content, whatever its extension; safe on any thread.

    ask         raise LargePictureError, before any memory is taken, where the user is to be asked
    is_stopped  is asked now and then; True: StoppedError is raised there
    returns     samples as the workbench wants them; `notes` say what was converted on the way
    raises      ImageFileError
    """
    path = Path(path).absolute()
    _check_readable(path)
    from workbench.files import (
        image_decoders,  # Pillow and tifffile: not before they are needed
    )

    samples, notes, exif = image_decoders.decode(path, ask, is_stopped)
    return Picture(path.name, samples, path, tuple(notes), exif=exif)


def save(
    path: str | Path,
    samples: NDArray[Any],
    quality: int | None = None,
    exif: bytes | None = None,
) -> None:
    """Write samples, (H, W, C) of any pixel type, in the format that the extension names.

    quality  1 to 100, of JPEG and WebP; None: a JPEG of high quality, a WebP without any loss
    exif     as `Picture.exif` has it; left out where the format cannot hold it
    Raises ImageFileError, and then leaves the folder as it was.
    """
    path = Path(path).absolute()
    from workbench.files import image_encoders

    write = image_encoders.writer_for(path, samples)
    if exif is not None and not image_encoders.format_of(path).holds_exif(exif):
        exif = None
    try:
        with atomic_files.replacing(path) as file:
            write(file, samples, quality, exif)
    except OSError as error:
        raise ImageFileError(f"Cannot save {path.name}: {atomic_files.reason(error)}.") from error


def _check_readable(path: Path) -> None:
    """Refuse what is no readable file before any decoder sees it (a pipe would block for ever)."""
    try:
        status = path.stat()
        if stat.S_ISDIR(status.st_mode):
            raise ImageFileError(f"{path.name or path} is a folder; choose a picture inside it.")
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
