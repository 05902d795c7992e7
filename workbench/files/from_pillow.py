"""Pictures of 8 bits a sample and fewer, in whatever variant: Pillow knows them all."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageFile

from workbench.files import colour_profiles
from workbench.files.needs import Need

BAND_PIXELS = 1 << 22  # taken over at once, since that takes several copies
_STORED_BYTES = {"1": 1, "L": 1, "P": 1}  # of a pixel, inside Pillow; else 4
_LEAST_BITS = {"1": 1, "L": 1, "P": 1, "RGB": 15}  # of a pixel in a file; else 8 a band
_MOST_PACKED = {"raw": 1, "zip": 1032}  # bytes to a byte of a file; of deflate, as zlib.net proves
_MOST_GIF = 10_923  # pixels to a byte: a code has three bits or more, and stands for 4,096 at most
_CHANNELS = {"1": 1, "L": 1, "LA": 2, "La": 2, "F": 1, "RGBA": 4, "RGBa": 4}
_ALPHA_ADDED = {"L": "LA", "RGB": "RGBA"}
Convert = Callable[[Image.Image], Image.Image]


def channels_of(image: Image.Image) -> int:
    """How many channels `samples_of` will give; looks at the header alone."""
    if image.mode in ("L", "RGB", "P", "PA") and image.has_transparency_data:
        return 2 if image.mode == "L" else 4
    return _CHANNELS.get(image.mode, 3)


def need_of(path: Path, image: Image.Image) -> Need:
    """The samples, and Pillow's own copy of them for as long as they are taken over."""
    pixels, channels = image.width * image.height, channels_of(image)
    ours = pixels * channels * (4 if image.mode == "F" else 1)
    pillows = pixels * _STORED_BYTES.get(image.mode, 4)
    return Need(path.name, image.width, image.height, channels, ours, ours + pillows)


def refuse_cut_short(path: Path, image: ImageFile.ImageFile) -> None:
    """Raise EOFError where the samples cannot all be in the file, before memory is taken for all
    that its header claims."""
    size = path.stat().st_size
    if image.format == "GIF":
        is_cut = _frame_pixels(image) > size * _MOST_GIF
    else:
        bits = _LEAST_BITS.get(image.mode, 8 * len(image.getbands()))
        most = size * max((_MOST_PACKED.get(tile[0], 0) for tile in image.tile), default=0)
        is_cut = 0 < most < image.width * image.height * bits // 8
    if is_cut:
        raise EOFError(path.name)


def _frame_pixels(image: ImageFile.ImageFile) -> int:
    """Of the first frame of a GIF, which may be smaller than the picture."""
    boxes = [tile[1] for tile in image.tile if tile[1] is not None]
    return max(((right - left) * (bottom - top) for left, top, right, bottom in boxes), default=0)


def samples_of(image: Image.Image, notes: list[str]) -> NDArray[Any]:
    """(H, W) or (H, W, C) with C = 2 to 4, of whatever Pillow's mode is; uint8, or float32."""
    convert = _conversion(image, notes)
    rows = max(BAND_PIXELS // image.width, 1)
    first = np.asarray(convert(_band(image, 0, rows)))
    if rows >= image.height:
        return first
    samples = np.empty((image.height, *first.shape[1:]), first.dtype)
    samples[:rows] = first
    for top in range(rows, image.height, rows):
        samples[top : top + rows] = np.asarray(convert(_band(image, top, rows)))
    return samples


def _band(image: Image.Image, top: int, rows: int) -> Image.Image:
    if top == 0 and rows >= image.height:
        return image
    return image.crop((0, top, image.width, min(top + rows, image.height)))


def _conversion(image: Image.Image, notes: list[str]) -> Convert:
    """What makes samples of an image, or of a band of it, that we have; noted where it changes
    any."""
    mode = image.mode
    if mode == "CMYK":
        return colour_profiles.cmyk_to_rgb(image.info.get("icc_profile", b""), notes)
    if mode in ("P", "PA"):
        notes.append("The palette was replaced by the colours it stands for.")
        return _to("RGBA" if image.has_transparency_data else "RGB")
    if mode == "1":
        notes.append("Black and white, one bit a pixel, became 0 and 255.")
        return _to("L")
    if mode in _ALPHA_ADDED and "transparency" in image.info:
        notes.append("The colour marked as transparent became an alpha channel.")
        return _to(_ALPHA_ADDED[mode])
    if mode in ("L", "LA", "RGB", "RGBA", "F"):
        return lambda band: band
    with_alpha = mode in ("RGBa", "La")
    wanted = {"RGBa": "RGBA", "La": "LA"}.get(mode, "RGB")
    what = "Colours multiplied by their alpha" if with_alpha else f"{mode} colours"
    notes.append(f"{what} were converted to {wanted}.")
    return _to(wanted)


def _to(mode: str) -> Convert:
    return lambda band: band.convert(mode)
