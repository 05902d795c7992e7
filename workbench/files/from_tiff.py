"""TIFF files of whole bytes a sample, grey or RGB or CMYK, in their own depth; by tifffile."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import tifffile
from numpy.typing import NDArray

from kernels.job import PIXEL_TYPES
from workbench.files import from_opencv
from workbench.files.image_files import ImageFileError
from workbench.files.needs import Need

SIGNATURES = (b"II*\0", b"MM\0*", b"II+\0", b"MM\0+")
ORIENTATION_TAG, ICC_PROFILE_TAG = 274, 34675
BAND_SAMPLES = 1 << 22  # worked on at once, since that takes several copies
_SPREAD = ("uint8", "uint16", "int8", "int16", "float16")  # what float32 holds without rounding
_GREY_OR_RGB = (
    tifffile.PHOTOMETRIC.MINISWHITE,
    tifffile.PHOTOMETRIC.MINISBLACK,
    tifffile.PHOTOMETRIC.RGB,
)
_ASSOCIATED, _UNASSOCIATED = 1, 2  # of the tag ExtraSamples


def is_for_us(page: tifffile.TiffPage) -> bool:
    """Whether Pillow would cut off what the page holds, or take several times its memory for it."""
    if page.dtype is None:
        return False
    is_deep = page.bitspersample > 8 or page.sampleformat != 1
    is_plain = page.compression == 1 and page.bitspersample == 8
    return is_deep or (is_plain and page.photometric in _GREY_OR_RGB)


def channels_of(page: tifffile.TiffPage) -> int:
    """How many of the page's channels will be shown."""
    if page.photometric == tifffile.PHOTOMETRIC.SEPARATED:
        return 3
    colours = 3 if page.photometric == tifffile.PHOTOMETRIC.RGB else 1
    return colours + (page.samplesperpixel == colours + 1)


def need_of(path: Path, page: tifffile.TiffPage) -> Need:
    """At most what is in the file, and, where that is changed and not in place, what it becomes."""
    assert page.dtype is not None  # or it is not for us
    pixels, channels = page.imagewidth * page.imagelength, channels_of(page)
    made = pixels * channels * min(page.dtype.itemsize, 4)
    is_kept = channels == page.samplesperpixel and str(page.dtype) in PIXEL_TYPES
    is_planar = page.samplesperpixel > 1 and page.planarconfig == tifffile.PLANARCONFIG.SEPARATE
    held = pixels * page.samplesperpixel * page.dtype.itemsize
    held += 0 if is_kept and not is_planar else made
    held += 0 if page.compression == 1 else path.stat().st_size
    return Need(path.name, page.imagewidth, page.imagelength, channels, made, held)


def refuse_odd(path: Path, page: tifffile.TiffPage) -> None:
    """Raise ImageFileError where it is of a kind that nothing here reads, EOFError where it is cut
    short."""
    ends = map(sum, zip(page.dataoffsets, page.databytecounts, strict=True))
    if not page.dataoffsets or max(ends) > path.stat().st_size:
        raise EOFError(path.name)
    is_known = page.photometric in (*_GREY_OR_RGB, tifffile.PHOTOMETRIC.SEPARATED)
    is_packed = page.bitspersample % 8 != 0
    dtype = np.dtype(page.dtype)
    if not is_known or is_packed or dtype.kind not in "uif":
        kind = tifffile.PHOTOMETRIC(page.photometric).name
        held = f"{page.bitspersample} bits a sample" if is_packed else str(dtype)
        raise ImageFileError(
            f"{path.name} is a TIFF of a kind this program does not read ({kind}, {held}); "
            "save it as RGB or grey with another program."
        )


def samples_of(path: Path, page: tifffile.TiffPage, notes: list[str]) -> NDArray[Any]:
    """(H, W) or (H, W, C) of one of PIXEL_TYPES, native byte order, alpha not multiplied in."""
    samples = _as_stored(path, page)
    samples = _colours(samples, page.photometric, notes)
    samples = _without_extra(samples, page, notes)
    return _to_pixel_type(samples, notes)


def _as_stored(path: Path, page: tifffile.TiffPage) -> NDArray[Any]:
    try:
        samples = page.asarray()
    except ValueError:  # a compression that tifffile alone cannot undo, such as LZW
        return from_opencv.read(path)
    if page.axes.startswith("Z"):
        samples = samples[0]
    if page.axes.endswith("SYX"):
        samples = np.moveaxis(samples, 0, -1)
    return samples.astype(samples.dtype.newbyteorder("="), copy=False)


def _colours(samples: NDArray[Any], photometric: int, notes: list[str]) -> NDArray[Any]:
    """Grey or RGB, and whatever channels follow."""
    white = np.iinfo(samples.dtype).max if samples.dtype.kind in "ui" else 1.0
    if photometric == tifffile.PHOTOMETRIC.MINISWHITE:
        notes.append("Zero stood for white and was turned round.")
        grey = samples if samples.ndim == 2 else samples[:, :, 0]
        np.subtract(np.asarray(white, samples.dtype), grey, out=grey)
    elif photometric == tifffile.PHOTOMETRIC.SEPARATED and samples.shape[2:] == (4,):
        notes.append("CMYK was converted to RGB.")
        rgb = np.empty((*samples.shape[:2], 3), samples.dtype)
        for rows in _bands(samples):
            light = 1 - samples[rows].astype(np.float64) / white
            mixed = light[:, :, :3] * light[:, :, 3:] * white
            rgb[rows] = mixed if samples.dtype.kind == "f" else np.rint(mixed)
        return rgb
    return samples


def _without_extra(
    samples: NDArray[Any], page: tifffile.TiffPage, notes: list[str]
) -> NDArray[Any]:
    """At most one channel behind the colours: alpha, not multiplied in."""
    held = samples.shape[2] if samples.ndim == 3 else 1
    kept = channels_of(page)
    if held > kept:
        names = {1: "first is", 3: "first three are"}
        notes.append(f"Of {held} channels the {names[kept]} shown.")
        return samples[:, :, :kept] if samples.ndim == 3 else samples
    if kept not in (2, 4):
        return samples
    meaning = page.extrasamples[0] if page.extrasamples else _UNASSOCIATED
    if meaning == _ASSOCIATED:
        notes.append("Colours multiplied by their alpha were divided by it.")
        for rows in _bands(samples):
            samples[rows, :, :-1] = _divided(samples[rows])
    elif meaning != _UNASSOCIATED:
        notes.append("The last channel, which the file does not explain, was taken as alpha.")
    return samples


def _divided(samples: NDArray[Any]) -> NDArray[Any]:
    """The colours, (rows, W, C - 1), divided by the alpha that comes last; 0 where that is 0."""
    is_integer = samples.dtype.kind in "ui"
    white = np.iinfo(samples.dtype).max if is_integer else 1.0
    alpha = samples[..., -1:].astype(np.float64)
    colours = samples[..., :-1] * np.divide(white, alpha, out=np.zeros_like(alpha), where=alpha > 0)
    return np.rint(colours).clip(0, white) if is_integer else colours


def _to_pixel_type(samples: NDArray[Any], notes: list[str]) -> NDArray[Any]:
    if str(samples.dtype) in PIXEL_TYPES:
        return samples
    with np.errstate(over="ignore"):
        as_float = samples.astype(np.float32)
    if str(samples.dtype) in _SPREAD:
        kept = "with their values unchanged"
    else:
        kept = "rounded where that holds fewer digits"
    beyond = np.isinf(as_float).sum() - (
        np.isinf(samples).sum() if samples.dtype.kind == "f" else 0
    )
    too_large = f"; {beyond:,} of them are too large for it and infinite" if beyond else ""
    notes.append(f"Samples of type {samples.dtype} became float32, {kept}{too_large}.")
    return as_float


def _bands(samples: NDArray[Any]) -> list[slice]:
    """Whole rows of about BAND_SAMPLES."""
    rows = max(BAND_SAMPLES // samples[0].size, 1)
    return [slice(top, top + rows) for top in range(0, len(samples), rows)]
