"""Decode any picture file to (H, W, C) of one of our pixel types, and say what was converted."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import tifffile
from numpy.typing import NDArray
from PIL import Image, ImageFile, UnidentifiedImageError

from workbench.files import (
    colour_profiles,
    from_bmp,
    from_opencv,
    from_pillow,
    from_tiff,
    needs,
    png,
    quiet_libraries,
)
from workbench.files import exif as exif_of
from workbench.files.picture_errors import ImageFileError
from workbench.files.watched import Watched

quiet_libraries.hush()
Image.MAX_IMAGE_PIXELS = None  # Pillow's guess at what is too large; ours knows the memory there is

# What we promise, and GIF.  JPEG brings MPO along, which the files of many phones really are.
_PILLOW_FORMATS = ("PNG", "JPEG", "TIFF", "BMP", "DIB", "WEBP", "PPM", "GIF")


def decode(
    path: Path, ask: bool, is_stopped: Callable[[], bool]
) -> tuple[NDArray[Any], list[str], bytes | None]:
    """The samples, (H, W, C) and C-contiguous, one sentence for each conversion made, and the EXIF
    that is kept, if any.

    ask, is_stopped  as `image_files.load` has them
    Raises ImageFileError.
    """
    notes: list[str] = []
    with quiet_libraries.without_warnings(), _failures_in_words(path.name):
        samples, exif = _decode(path, notes, ask, is_stopped)
        if samples.ndim == 2:
            samples = samples[:, :, np.newaxis]
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
    if start.startswith(from_tiff.SIGNATURES) and (found := _tiff(path, notes, ask)) is not None:
        return found
    if (header := from_bmp.header_of(path.name, start)) is not None:
        needs.check(from_bmp.need_of(path, header), ask=ask)
        return from_bmp.samples_of(path, header, notes), None
    with Watched(path, is_stopped) as file, Image.open(file, formats=_PILLOW_FORMATS) as image:
        quiet_libraries.fax_error()  # of an earlier file
        from_pillow.put_marked_grey_right(image)
        is_deep = from_opencv.largest_sample(path, start) > 255
        need = (
            from_opencv.need_of(path, start, *image.size)
            if is_deep
            else from_pillow.need_of(path, image)
        )
        needs.check(need, ask=ask)
        from_pillow.refuse_cut_short(path, image)
        _note_first_of(_count(path, image, is_stopped), notes)
        exif = _exif(path, image, is_deep)
        samples = (
            from_opencv.samples_of(path, start, notes)
            if is_deep
            else from_pillow.samples_of(image, notes)
        )
        if error := quiet_libraries.fax_error():
            raise EOFError(error)
        samples = _to_srgb(samples, image.info.get("icc_profile"), image.mode, notes)
        if image.format != "TIFF":  # which Pillow turns by itself
            samples = _upright(samples, int(exif.get(from_tiff.ORIENTATION_TAG, 1)), notes)
        return samples, _kept(lambda: exif, samples, notes)


def _tiff(path: Path, notes: list[str], ask: bool) -> tuple[NDArray[Any], bytes | None] | None:
    """The samples of a TIFF file and its EXIF; None where Pillow is the one to read it."""
    with tifffile.TiffFile(path) as tiff:
        page = tiff.pages.first
        from_tiff.refuse_odd(path, page)
        if not from_tiff.is_for_us(page):
            return None
        needs.check(from_tiff.need_of(path, page), ask=ask)
        _note_first_of(len(tiff.pages), notes)
        icc = page.tags.valueof(from_tiff.ICC_PROFILE_TAG)
        orientation = page.tags.valueof(from_tiff.ORIENTATION_TAG, 1)
        samples = from_tiff.samples_of(page, notes)
        mode = "CMYK" if page.photometric == tifffile.PHOTOMETRIC.SEPARATED else ""
        samples = _upright(_to_srgb(samples, icc, mode, notes), orientation, notes)
        return samples, _kept(lambda: exif_of.of_tiff(path, page), samples, notes)


def _exif(path: Path, image: Image.Image, is_deep: bool) -> Image.Exif:
    """As it is in the file.  For a PNG without one Pillow decodes all pixels to be sure."""
    return Image.Exif() if is_deep and not png.holds(path, b"eXIf") else image.getexif()


def _kept(read: Callable[[], Image.Exif], samples: NDArray[Any], notes: list[str]) -> bytes | None:
    """What is kept of EXIF beside samples that are upright."""
    try:
        return exif_of.kept(read(), samples.shape[1], samples.shape[0])
    except Exception:  # noqa: BLE001 - damaged files make decoders fail with anything
        notes.append("The EXIF data in the file are damaged and are not kept.")
        return None


def _count(path: Path, image: ImageFile.ImageFile, is_stopped: Callable[[], bool]) -> int | None:
    """How many pictures the file holds; None where it cannot be read to its end.

    Pillow counts those of a GIF by reading them all, and has lost the first one where that fails.
    """
    if image.format != "GIF":
        return getattr(image, "n_frames", 1)
    with Watched(path, is_stopped) as file, Image.open(file, formats=("GIF",)) as counted:
        try:
            return getattr(counted, "n_frames", 1)
        except ImageFileError:  # nobody wants it any more
            raise
        except Exception:  # noqa: BLE001 - damaged files make decoders fail with anything
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


def _note_first_of(count: int | None, notes: list[str]) -> None:
    if count is None:
        notes.append("The file is damaged behind its first picture, which is shown.")
    elif count > 1:
        notes.append(f"The file holds {count} pictures; the first is shown.")


def _to_srgb(samples: NDArray[Any], icc: bytes | None, mode: str, notes: list[str]) -> NDArray[Any]:
    """The samples in sRGB where the file came with another profile; CMYK's was used already."""
    if icc is None or mode == "CMYK":
        return samples
    if samples.ndim == 2:
        samples = samples[:, :, np.newaxis]
    return colour_profiles.to_srgb(samples, icc, notes)


def _upright(samples: NDArray[Any], orientation: int, notes: list[str]) -> NDArray[Any]:
    """Turned and mirrored as EXIF's orientation, 1 to 8, asks for."""
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
