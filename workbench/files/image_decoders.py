"""Decode any picture file to (H, W, C) of one of our pixel types, and say what was converted."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image, UnidentifiedImageError

from workbench.files import (
    colour_profiles,
    deep_pictures,
    from_bmp,
    from_pillow,
    from_tiff,
    needs,
    quiet_libraries,
)
from workbench.files import exif as exif_of
from workbench.files.picture_errors import ImageFileError
from workbench.files.picture_reader import Opened

quiet_libraries.hush()
# The first that gives a reader reads the file; the last always does, or says that it is no picture.
READERS: tuple[Opened, ...] = (
    from_tiff.opened,
    from_bmp.opened,
    deep_pictures.opened,
    from_pillow.opened,
)


def decode(
    path: Path, ask: bool, is_stopped: Callable[[], bool]
) -> tuple[NDArray[Any], list[str], bytes | None]:
    """Return the samples, the conversions that were made, and the EXIF that is kept, if any.

    Samples are (H, W, C) and C-contiguous, conversions one sentence each.

    ask, is_stopped  as `image_files.load` has them
    Raises ImageFileError.
    """
    notes: list[str] = []
    with quiet_libraries.without_warnings(), _failures_in_words(path.name):
        samples, exif = _decode(path, notes, ask, is_stopped)
        if samples.ndim != 3 or 0 in samples.shape or samples.shape[2] > 4:
            raise ValueError(f"decoded to {samples.shape}")
        samples = np.ascontiguousarray(samples)
        _note_infinite(samples, notes)
    return samples, notes, exif


@contextmanager
def _failures_in_words(name: str) -> Iterator[None]:
    try:
        yield
    except ImageFileError:
        raise
    except UnidentifiedImageError as error:
        raise ImageFileError(
            f"{name} is not a picture this program can read; "
            "choose a PNG, JPEG, TIFF, BMP, WebP, GIF or PNM file."
        ) from error
    except MemoryError as error:
        raise ImageFileError(
            f"There is too little memory to open {name}; close other programs or choose a smaller "
            "picture."
        ) from error
    except EOFError as error:
        raise ImageFileError(
            f"{name} is damaged or cut short, so it is not shown; get it again from its source."
        ) from error
    except Exception as error:  # damaged files make decoders fail with anything
        raise ImageFileError(
            f"{name} cannot be read: it is damaged or cut short, or of a kind that this program "
            "does not know; get it again from its source, or save it as PNG or TIFF with another "
            "program."
        ) from error


def _decode(
    path: Path, notes: list[str], ask: bool, is_stopped: Callable[[], bool]
) -> tuple[NDArray[Any], bytes | None]:
    with path.open("rb") as file:
        start = file.read(4096)
    with ExitStack() as files:
        readers = (files.enter_context(opened(path, start, is_stopped)) for opened in READERS)
        reader = next(each for each in readers if each is not None)
        needs.check(reader.need(), ask=ask)
        decoded = reader.read(notes)
        samples = decoded.samples
        if samples.ndim == 2:
            samples = samples[:, :, np.newaxis]
        if decoded.icc is not None:
            samples = colour_profiles.to_srgb(samples, decoded.icc, notes)
        samples = _upright(samples, decoded.orientation, notes)
        return samples, _kept(decoded.exif, samples, notes)


def _kept(read: Callable[[], Image.Exif], samples: NDArray[Any], notes: list[str]) -> bytes | None:
    """Return what is kept of EXIF beside samples that are upright."""
    try:
        return exif_of.portable(read(), samples.shape[1], samples.shape[0])
    except Exception:  # noqa: BLE001 - damaged files make decoders fail with anything
        notes.append("The EXIF data in the file are damaged and are not kept.")
        return None


def _note_infinite(samples: NDArray[Any], notes: list[str]) -> None:
    if samples.dtype.kind != "f":
        return
    count = sum(row.size - np.count_nonzero(np.isfinite(row)) for row in samples)
    if count:
        notes.append(
            f"{count:,} of its samples are infinite or NaN: filters spread NaN around them, since "
            "an infinity times a weight of 0 is NaN."
        )


def _upright(samples: NDArray[Any], orientation: int, notes: list[str]) -> NDArray[Any]:
    """Turn and mirror the samples as EXIF's orientation, 1 to 8, asks for."""
    if orientation not in range(2, 9):
        return samples
    notes.append("The picture was turned upright, as its EXIF orientation says.")
    if orientation >= 5:
        samples = samples.swapaxes(0, 1)
    if orientation in (3, 4, 7, 8):
        samples = samples[::-1]
    if orientation in (2, 3, 6, 7):
        samples = samples[:, ::-1]
    return samples
