"""Decode any picture file to (H, W, C) of one of our pixel types, and say what was converted."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import UnidentifiedImageError

from workbench.files import (
    colour_profiles,
    from_bmp,
    from_pillow,
    from_tiff,
    jpeg,
    needs,
    png,
    pnm,
    quiet_libraries,
)
from workbench.files import exif as exif_of
from workbench.files.picture_errors import ImageFileError
from workbench.files.picture_reader import Decoded, Opened
from workbench.model.state import Metadata

quiet_libraries.hush()
# The first that gives a reader reads the file; the last always does, or says that it is no picture.
READERS: tuple[Opened, ...] = (
    from_tiff.opened,
    from_bmp.opened,
    png.opened,
    pnm.opened,
    jpeg.opened,
    from_pillow.opened,
)


def decode(
    path: Path, ask: bool, is_stopped: Callable[[], bool], max_bytes: int | None = None
) -> tuple[NDArray[Any], list[str], Metadata]:
    """Return the samples, the conversions that were made, and the metadata that are kept.

    Samples are (H, W, C) and C-contiguous, conversions one sentence each.

    ask, is_stopped, max_bytes  as `image_files.load` has them
    Raises ImageFileError.
    """
    notes: list[str] = []
    with quiet_libraries.without_warnings(), failures_in_words(path.name), ExitStack() as files:
        with path.open("rb") as file:
            start = file.read(4096)
        readers = (files.enter_context(opened(path, start, is_stopped)) for opened in READERS)
        reader = next(each for each in readers if each is not None)
        needs.check(reader.need(), ask=ask, max_bytes=max_bytes)
        decoded = reader.read(notes)
        samples = decoded.samples
        if samples.ndim == 2:
            samples = samples[:, :, np.newaxis]
        if decoded.icc is not None:
            samples = colour_profiles.to_srgb(samples, decoded.icc, notes)
        samples = upright(samples, decoded.orientation, notes)
        height, width = samples.shape[:2]
        metadata = kept_of(decoded, height, width, notes)
        if samples.ndim != 3 or 0 in samples.shape or samples.shape[2] > 4:
            raise ValueError(f"decoded to {samples.shape}")
        samples = np.ascontiguousarray(samples)
        _note_infinite(samples, notes)
    return samples, notes, metadata


@contextmanager
def failures_in_words(name: str) -> Iterator[None]:
    """Turn whatever a library raises for a file into an ImageFileError with its name."""
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
            f"{name} is damaged or cut short; get it again from its source."
        ) from error
    except Exception as error:  # damaged files make decoders fail with anything
        raise ImageFileError(
            f"{name} cannot be read: it is damaged or cut short, or of a kind that this program "
            "does not know; get it again from its source, or save it as PNG or TIFF with another "
            "program."
        ) from error


def kept_of(decoded: Decoded, height: int, width: int, notes: list[str]) -> Metadata:
    """Return the metadata that are kept beside a picture of that size, which is upright."""
    exif = _sound("EXIF", lambda: exif_of.portable(decoded.exif(), width, height), notes)
    packet = decoded.xmp
    xmp = _sound("XMP", lambda: exif_of.portable_xmp(packet), notes) if packet else None
    return Metadata(exif, xmp)


def _sound(kind: str, read: Callable[[], bytes | None], notes: list[str]) -> bytes | None:
    """Call `read`; None with a note where that fails."""
    try:
        return read()
    except Exception:  # noqa: BLE001 - damaged files make decoders fail with anything
        notes.append(f"Damaged {kind} data were dropped.")
        return None


def _note_infinite(samples: NDArray[Any], notes: list[str]) -> None:
    if samples.dtype.kind != "f":
        return
    count = sum(row.size - np.count_nonzero(np.isfinite(row)) for row in samples)
    if count:
        notes.append(
            f"{count:,} samples are infinite or NaN; filters spread NaN around them, as an "
            "infinity times a weight of 0 is NaN."
        )


def upright(samples: NDArray[Any], orientation: int, notes: list[str]) -> NDArray[Any]:
    """Turn and mirror the samples as EXIF's orientation, 1 to 8, asks for."""
    if orientation not in range(2, 9):
        return samples
    notes.append("Rotated upright (EXIF).")
    if orientation >= 5:
        samples = samples.swapaxes(0, 1)
    if orientation in (3, 4, 7, 8):
        samples = samples[::-1]
    if orientation in (2, 3, 6, 7):
        samples = samples[:, ::-1]
    return samples
