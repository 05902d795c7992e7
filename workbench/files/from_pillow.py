"""Pictures of 8 bits a sample and fewer, in whatever variant: Pillow knows them all."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import ExifTags, Image, ImageFile

from workbench.files import colour_profiles, quiet_libraries
from workbench.files.needs import Need
from workbench.files.picture_errors import ImageFileError, StoppedError
from workbench.files.picture_reader import Decoded, note_first_of

Image.MAX_IMAGE_PIXELS = None  # Pillow's guess at what is too large; ours knows the memory there is

# What we promise, and GIF.  JPEG brings MPO along, which the files of many phones really are.
_FORMATS = ("PNG", "JPEG", "TIFF", "BMP", "DIB", "WEBP", "PPM", "GIF")
BAND_PIXELS = 1 << 22  # taken over at once, since that takes several copies
_STORED_BYTES = {"1": 1, "L": 1, "P": 1}  # of a pixel, inside Pillow; else 4
_MIN_BITS = {"1": 1, "L": 1, "P": 1, "RGB": 15}  # of a pixel in a file; else 8 a band
_MAX_PACKED = {"raw": 1, "zip": 1032}  # bytes to a byte of a file; of deflate, as zlib.net proves
_MAX_GIF = 10_923  # pixels to a byte: a code has three bits or more, and stands for 4,096 at most
_CHANNELS = {"1": 1, "L": 1, "LA": 2, "La": 2, "F": 1, "RGBA": 4, "RGBa": 4}
_DEPTHS = {"1": 1, "L;2": 2, "L;4": 4}  # of grey in a PNG, by the name of how it is packed
_CONVERTED = {  # to another mode, by their own, with a note
    "1": ("L", "1-bit samples became 0 and 255."),
    "P": ("RGB", "Indexed colours expanded to RGB."),
    "PA": ("RGB", "Indexed colours expanded to RGB."),
    "RGB": ("RGBA", "Transparent colour became an alpha channel."),
    "RGBa": ("RGBA", "Premultiplied alpha undone."),
    "La": ("LA", "Premultiplied alpha undone."),
}
Convert = Callable[[Image.Image], Image.Image | NDArray[Any]]  # of a band


@contextmanager
def opened(path: Path, _start: bytes, is_stopped: Callable[[], bool]) -> Iterator[PillowReader]:
    """Give what reads any picture file.  See `Opened`.

    Raises UnidentifiedImageError where it is none.
    """
    with image_in(path, is_stopped) as image:
        yield PillowReader(path, image, is_stopped)


@contextmanager
def image_in(path: Path, is_stopped: Callable[[], bool]) -> Iterator[ImageFile.ImageFile]:
    """Open the file with Pillow, which decodes nothing yet.  Raises UnidentifiedImageError."""
    with Watched(path, is_stopped) as file, Image.open(file, formats=_FORMATS) as image:
        quiet_libraries.fax_error()  # of an earlier file
        _put_marked_grey_right(image)
        yield image


class PillowReader:
    """A `Reader` of the first picture of any file."""

    def __init__(
        self, path: Path, image: ImageFile.ImageFile, is_stopped: Callable[[], bool]
    ) -> None:
        self._path, self._image, self._is_stopped = path, image, is_stopped

    def need(self) -> Need:
        """Memory for the samples, for Pillow's own copy of them, and for inks in between."""
        image = self._image
        pixels, channels = image.width * image.height, _channels_of(image)
        ours = pixels * channels * (4 if image.mode == "F" else 1)
        pillows = pixels * _STORED_BYTES.get(image.mode, 4)
        inks = 4 * pixels if image.mode == "CMYK" else 0
        return Need(
            self._path.name, image.width, image.height, channels, ours, ours + pillows + inks
        )

    def read(self, notes: list[str]) -> Decoded:
        """Read (H, W) or (H, W, C) with C = 2 to 4, of uint8 or float32, of any mode."""
        image = self._image
        _refuse_cut_short(self._path, image)
        note_first_of(self._count(), notes)
        exif = self._exif()
        samples = self._samples(notes)
        if error := quiet_libraries.fax_error():
            raise EOFError(error)
        is_upright = image.format == "TIFF"  # Pillow turns these by itself
        return Decoded(
            samples,
            None if image.mode == "CMYK" else image.info.get("icc_profile"),
            1 if is_upright else int(exif.get(ExifTags.Base.Orientation, 1)),
            lambda: exif,
            image.info.get("xmp"),
        )

    def _exif(self) -> Image.Exif:
        return self._image.getexif()

    def _samples(self, notes: list[str]) -> NDArray[Any]:
        image = self._image
        if image.mode == "CMYK":
            icc = image.info.get("icc_profile", b"")
            return colour_profiles.cmyk_to_rgb(_in_bands(image, lambda band: band), icc, notes)
        frame = _small_frame(image)
        samples = _in_bands(image, _conversion(image, notes))
        return samples if frame is None else _clear_around(samples, frame, notes)

    def _count(self) -> int | None:
        """Pictures in the file, or None where it cannot be read to its end.

        Pillow counts those of a GIF by reading them all, and has lost the first one where that
        fails.
        """
        if self._image.format != "GIF":
            return getattr(self._image, "n_frames", 1)
        with image_in(self._path, self._is_stopped) as counted:
            try:
                return getattr(counted, "n_frames", 1)
            except ImageFileError:  # nobody wants it any more
                raise
            except Exception:  # noqa: BLE001 - damaged files make decoders fail with anything
                return None


def _put_marked_grey_right(image: ImageFile.ImageFile) -> None:
    """Make a grey that is marked as transparent one of 256, before anything is decoded.

    Pillow leaves it as it is in the file, one of 2, 4 or 16.
    """
    if image.mode in ("1", "L") and "transparency" in image.info and image.format == "PNG":
        largest = 2 ** _DEPTHS.get(str(image.tile[0][3]), 8) - 1
        image.info["transparency"] = (int(image.info["transparency"]) & largest) * 255 // largest


def _channels_of(image: Image.Image) -> int:
    """Channels of the samples, by the header alone."""
    if image.mode in ("1", "L", "RGB", "P", "PA") and image.has_transparency_data:
        return 2 if image.mode in ("1", "L") else 4
    channels = _CHANNELS.get(image.mode, 3)
    return channels + (channels in (1, 3) and _small_frame(image) is not None)


def _refuse_cut_short(path: Path, image: ImageFile.ImageFile) -> None:
    """Raise EOFError where the file has no room for all that its header claims."""
    size = path.stat().st_size
    if image.format == "GIF":
        left, top, right, bottom = _small_frame(image) or (0, 0, *image.size)
        is_cut = (right - left) * (bottom - top) > size * _MAX_GIF
    else:
        bits = _MIN_BITS.get(image.mode, 8 * len(image.getbands()))
        most = size * max((_MAX_PACKED.get(tile[0], 0) for tile in image.tile), default=0)
        is_cut = 0 < most < image.width * image.height * bits // 8
    if is_cut:
        raise EOFError(path.name)


def _small_frame(image: Image.Image) -> tuple[int, int, int, int] | None:
    """Left, top, right and bottom of the first frame of a GIF that covers a part of its picture."""
    boxes = [each[1] for each in getattr(image, "tile", ()) if image.format == "GIF" and each[1]]
    return boxes[0] if boxes and boxes[0] != (0, 0, *image.size) else None


def _clear_around(
    samples: NDArray[Any], frame: tuple[int, int, int, int], notes: list[str]
) -> NDArray[Any]:
    """Add an alpha channel that is 0 outside of the frame."""
    notes.append("The first frame is smaller than the picture, which is transparent around it.")
    left, top, right, bottom = frame
    samples = samples.reshape(*samples.shape[:2], -1)
    if samples.shape[2] in (1, 3):
        samples = np.dstack([samples, np.full(samples.shape[:2], 255, np.uint8)])
    inside = np.zeros(samples.shape[:2], bool)
    inside[top:bottom, left:right] = True
    return np.where(inside[..., np.newaxis], samples, np.uint8(0))


def _in_bands(image: Image.Image, convert: Convert) -> NDArray[Any]:
    """Return the samples of what `convert` makes of the image, band by band."""
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
    """The conversion of an image, or of a band of it, to a mode that we have, with its note."""
    mode, is_marked = image.mode, "transparency" in image.info
    if mode in ("1", "L") and is_marked:
        notes.append("Transparent grey became an alpha channel.")
        return _with_clear(int(image.info["transparency"]))
    if mode in ("L", "LA", "RGBA", "F") or (mode == "RGB" and not is_marked):
        return lambda band: band
    wanted, note = _CONVERTED.get(mode, ("RGB", f"Converted from {mode} to RGB."))
    if mode in ("P", "PA") and image.has_transparency_data:
        wanted = "RGBA"
    notes.append(note)
    return lambda band: band.convert(wanted)


def _with_clear(marked: int) -> Convert:
    """The conversion that adds an alpha channel, 0 where the grey is `marked`."""

    def convert(band: Image.Image) -> NDArray[Any]:
        grey = np.asarray(band.convert("L"))
        return np.dstack([grey, np.where(grey == marked, np.uint8(0), np.uint8(255))])

    return convert


class Watched(io.BufferedReader):
    """A binary file to read, which raises StoppedError once `is_stopped` says so.

    Pillow reads as it decodes, some 64 KiB at a time.
    """

    def __init__(self, path: Path, is_stopped: Callable[[], bool]) -> None:
        super().__init__(io.FileIO(path))
        self._is_stopped = is_stopped

    def read(self, size: int | None = -1, /) -> bytes:
        """Read as any binary file does, unless nobody wants it any more."""
        if self._is_stopped():
            raise StoppedError("Reading was cancelled.")
        return super().read(size)
