"""Decode any picture file to (H, W, C) of one of our pixel types, and say what was converted."""

from __future__ import annotations

import re
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import tifffile
from numpy.typing import NDArray
from PIL import Image, UnidentifiedImageError

from kernels.job import PIXEL_TYPES
from workbench import numbers
from workbench.files import colour_profiles, png
from workbench.files.image_files import ImageFileError
from workbench.files.memory import memory_available_bytes

Image.MAX_IMAGE_PIXELS = None  # Pillow's guess at what is too large; ours knows the memory there is

# What we promise, and GIF.  JPEG brings MPO along, which the files of many phones really are.
_PILLOW_FORMATS = ("PNG", "JPEG", "TIFF", "BMP", "DIB", "WEBP", "PPM", "GIF")
_TIFF_SIGNATURES = (b"II*\0", b"MM\0*", b"II+\0", b"MM\0+")
_TIFF_COLOURS = (
    tifffile.PHOTOMETRIC.MINISWHITE,
    tifffile.PHOTOMETRIC.MINISBLACK,
    tifffile.PHOTOMETRIC.RGB,
    tifffile.PHOTOMETRIC.SEPARATED,
)
_ORIENTATION_TAG = 0x0112
_ICC_PROFILE_TAG = 34675
_COPIES_HELD = 4  # decoding, the samples, the filtered samples, what is shown of them

_one_at_a_time = threading.Lock()  # warnings.catch_warnings changes the whole process


def decode(path: Path) -> tuple[NDArray[Any], list[str]]:
    """The samples, (H, W, C) and C-contiguous, and one sentence for each conversion made.

    Raises ImageFileError.
    """
    notes: list[str] = []
    with _one_at_a_time, _failures_in_words(path.name):
        samples = _decode(path, notes)
    if samples.ndim == 2:
        samples = samples[:, :, np.newaxis]
    return np.ascontiguousarray(samples), notes


@contextmanager
def _failures_in_words(name: str) -> Iterator[None]:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    except ImageFileError:
        raise
    except UnidentifiedImageError as error:
        raise ImageFileError(
            f"{name} is not a picture this program can read; "
            "choose a PNG, JPEG, TIFF, BMP, WebP or PNM file."
        ) from error
    except MemoryError as error:
        raise ImageFileError(
            f"There is too little memory to open {name}; close other programs or choose a smaller "
            "picture."
        ) from error
    except Exception as error:  # damaged files make decoders fail with anything
        raise _damaged(name) from error


def _damaged(name: str) -> ImageFileError:
    return ImageFileError(
        f"{name} is damaged or cut short, so it is not shown; get it again from its source."
    )


def _decode(path: Path, notes: list[str]) -> NDArray[Any]:
    with path.open("rb") as file:
        start = file.read(4096)
    if start.startswith(_TIFF_SIGNATURES) and (samples := _deep_tiff(path, notes)) is not None:
        return samples
    with Image.open(path, formats=_PILLOW_FORMATS) as image:
        largest = _largest_sample(start)
        is_deep = largest > 255
        bytes_per_pixel = len(image.getbands()) * (2 if is_deep else 1)
        _refuse_if_too_large(path.name, image.width, image.height, bytes_per_pixel)
        _note_first_of(getattr(image, "n_frames", 1), notes)
        orientation = _orientation(path, image, is_deep)
        samples = _deep(path, start, largest, notes) if is_deep else _shallow(image, notes)
        samples = _to_srgb(samples, image.info.get("icc_profile"), image.mode, notes)
        upright = _upright(samples, orientation, notes)
        return samples if image.format == "TIFF" else upright  # Pillow turns a TIFF by itself


def _orientation(path: Path, image: Image.Image, is_deep: bool) -> int:
    """EXIF's orientation, 1 to 8.  For a PNG without one Pillow decodes all pixels to be sure."""
    if is_deep and not png.holds(path, b"eXIf"):
        return 1
    return int(image.getexif().get(_ORIENTATION_TAG, 1))


def _note_first_of(count: int, notes: list[str]) -> None:
    if count > 1:
        notes.append(f"The file holds {count} pictures; the first is shown.")


def _refuse_if_too_large(name: str, width: int, height: int, bytes_per_pixel: int) -> None:
    needed, available = width * height * bytes_per_pixel * _COPIES_HELD, memory_available_bytes()
    if needed > available:
        raise ImageFileError(
            f"{name} says it is {width:,}×{height:,} pixels large; working on it takes about "
            f"{numbers.byte_count(needed)} of memory and {numbers.byte_count(available)} are free: "
            "choose a smaller picture."
        )


# -- 8 bits and fewer: Pillow knows every variant ------------------------------------------------


def _shallow(image: Image.Image, notes: list[str]) -> NDArray[Any]:
    """uint8 samples, (H, W) or (H, W, C) with C = 2 to 4, of whatever Pillow's mode is."""
    if image.mode == "CMYK":
        return np.asarray(colour_profiles.cmyk_to_rgb(image, notes))
    if image.mode in ("P", "PA"):
        notes.append("The palette was replaced by the colours it stands for.")
        return np.asarray(image.convert("RGBA" if image.has_transparency_data else "RGB"))
    if image.mode == "1":
        notes.append("Black and white, one bit a pixel, became 0 and 255.")
        return np.asarray(image.convert("L"))
    if image.mode in ("L", "RGB") and "transparency" in image.info:
        notes.append("The colour marked as transparent became an alpha channel.")
        return np.asarray(image.convert({"L": "LA", "RGB": "RGBA"}[image.mode]))
    if image.mode in ("L", "LA", "RGB", "RGBA"):
        return np.asarray(image)
    with_alpha = image.mode in ("RGBa", "La")
    mode = {"RGBa": "RGBA", "La": "LA"}.get(image.mode, "RGB")
    what = "Colours multiplied by their alpha" if with_alpha else f"{image.mode} colours"
    notes.append(f"{what} were converted to {mode}.")
    return np.asarray(image.convert(mode))


# -- more than 8 bits: Pillow would cut them off ---------------------------------------------------


def _largest_sample(start: bytes) -> int:
    """The largest sample value that the header of a PNG or PNM file allows; 255 for the others."""
    if start.startswith(b"\x89PNG"):
        return 65535 if start[24:25] == b"\x10" else 255
    if re.match(rb"P[2356]\s", start):
        words = re.sub(rb"#[^\n]*", b" ", start).split(maxsplit=4)
        return int(words[3])
    return 255


def _deep(path: Path, start: bytes, largest: int, notes: list[str]) -> NDArray[np.uint16]:
    """uint16 samples of a PNG or PNM file."""
    samples = _by_opencv(path)
    is_png_grey_alpha = start.startswith(b"\x89PNG") and start[25:26] == b"\x04"
    samples = samples[:, :, [0, 3]] if is_png_grey_alpha else samples
    return _stretched(samples, largest, notes)


def _by_opencv(path: Path) -> NDArray[Any]:
    samples = cv2.imdecode(np.fromfile(path, np.uint8), cv2.IMREAD_UNCHANGED)
    if samples is None:
        raise _damaged(path.name)
    if samples.ndim == 2:
        return samples
    return samples[:, :, {3: [2, 1, 0], 4: [2, 1, 0, 3]}[samples.shape[2]]]


def _stretched(samples: NDArray[np.uint16], largest: int, notes: list[str]) -> NDArray[np.uint16]:
    """Samples of 0 to `largest`, spread over all 16 bits so that white is white."""
    if largest == 65535:
        return samples
    notes.append(f"Samples of 0 to {largest} were spread over 0 to 65535.")
    return np.asarray(np.rint(samples * (65535 / largest)).clip(0, 65535), np.uint16)


def _deep_tiff(path: Path, notes: list[str]) -> NDArray[Any] | None:
    """The samples of a TIFF file with more than 8 bits a sample; None for the others."""
    with tifffile.TiffFile(path) as tiff:
        page = tiff.pages.first
        if page.dtype is None or (page.bitspersample <= 8 and page.sampleformat == 1):
            return None
        _refuse_odd_tiff(path, page, page.dtype)
        _note_first_of(len(tiff.pages), notes)
        samples = _tiff_samples(path, page)
        samples = _tiff_colours(samples, page.photometric, notes)
        icc = page.tags.valueof(_ICC_PROFILE_TAG)
        orientation = page.tags.valueof(_ORIENTATION_TAG, 1)
    samples = _to_srgb(_to_pixel_type(samples, notes), icc, "", notes)
    return _upright(samples, orientation, notes)


def _refuse_odd_tiff(path: Path, page: tifffile.TiffPage, dtype: np.dtype[Any]) -> None:
    _refuse_if_too_large(
        path.name, page.imagewidth, page.imagelength, page.samplesperpixel * dtype.itemsize
    )
    ends = map(sum, zip(page.dataoffsets, page.databytecounts, strict=True))
    if max(ends, default=0) > path.stat().st_size:
        raise _damaged(path.name)
    if page.photometric not in _TIFF_COLOURS or dtype.kind not in "uif":
        kind = tifffile.PHOTOMETRIC(page.photometric).name
        raise ImageFileError(
            f"{path.name} is a TIFF of a kind this program does not read ({kind}, {dtype}); "
            "save it as RGB or grey with another program."
        )


def _tiff_samples(path: Path, page: tifffile.TiffPage) -> NDArray[Any]:
    """(H, W) or (H, W, C), native byte order."""
    try:
        samples = page.asarray()
    except ValueError:  # a compression that tifffile alone cannot undo, such as LZW
        return _by_opencv(path)
    if page.axes.startswith("Z"):
        samples = samples[0]
    if page.axes.endswith("SYX"):
        samples = np.moveaxis(samples, 0, -1)
    return samples.astype(samples.dtype.newbyteorder("="), copy=False)


def _tiff_colours(samples: NDArray[Any], photometric: int, notes: list[str]) -> NDArray[Any]:
    """Grey, RGB, or either with alpha."""
    white = np.iinfo(samples.dtype).max if samples.dtype.kind in "ui" else 1.0
    if photometric == tifffile.PHOTOMETRIC.MINISWHITE:
        notes.append("Zero stood for white and was turned round.")
        return (white - samples).astype(samples.dtype)
    if photometric == tifffile.PHOTOMETRIC.SEPARATED and samples.shape[2:] == (4,):
        notes.append("CMYK was converted to RGB.")
        light = 1 - samples.astype(np.float64) / white
        return np.asarray(np.rint(light[:, :, :3] * light[:, :, 3:] * white).astype(samples.dtype))
    if samples.ndim == 3 and samples.shape[2] > 4:
        notes.append(f"Of {samples.shape[2]} channels the first three are shown.")
        return samples[:, :, :3]
    return samples


def _to_pixel_type(samples: NDArray[Any], notes: list[str]) -> NDArray[Any]:
    if str(samples.dtype) in PIXEL_TYPES:
        return samples
    notes.append(f"Samples of type {samples.dtype} became float32, with their values unchanged.")
    return samples.astype(np.float32)


# -- for all ---------------------------------------------------------------------------------------


def _to_srgb(samples: NDArray[Any], icc: bytes | None, mode: str, notes: list[str]) -> NDArray[Any]:
    """The samples in sRGB where the file came with another profile; CMYK's was used already."""
    if icc is None or mode == "CMYK":
        return samples
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
