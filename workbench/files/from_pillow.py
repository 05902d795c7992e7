"""Pictures that Pillow opens: it knows them all, and what it lacks or does slowly others read.

Libraries tell stderr what is wrong with a file: the one sentence for the user is enough.
"""

from __future__ import annotations

import ctypes
import io
import logging
import re
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cached_property
from math import prod
from pathlib import Path
from typing import Any

import imagecodecs
import numpy as np
from numpy.typing import NDArray
from PIL import ExifTags, Image, ImageFile, _imaging

from kernels.core.plain_data import table_beside
from workbench.files import colour_profiles, png
from workbench.files.needs import Need
from workbench.files.picture_errors import ImageFileError, StoppedError


@dataclass(frozen=True, slots=True)
class Decoded:
    """The content of a file, and what is still to be done with it."""

    samples: NDArray[Any]  # (H, W) or (H, W, C)
    icc: bytes | None = None  # the colour profile that they are to be converted from, if any
    orientation: int = 1  # of EXIF, 1 to 8
    exif: Callable[[], Image.Exif] = Image.Exif  # raises whatever Pillow does
    xmp: bytes | str | None = None  # the XMP packet, if any, as it is in the file
    colours: str = ""  # what is converted from, where `icc` was made of that


def note_first_of(count: int | None, notes: list[str]) -> None:
    """Note that a file holds more than the picture that is shown; count: None where unknown."""
    if count is None:
        notes.append("The file is damaged after its first picture, which is shown.")
    elif count > 1:
        notes.append(f"The file holds {count} pictures; the first is shown.")


_Handler = ctypes.CFUNCTYPE(None, ctypes.c_char_p, ctypes.c_char_p, ctypes.c_void_p)
_fax_errors = threading.local()  # what Pillow's libtiff said in this thread of faxes


def _on_message(module: bytes, words: bytes, _arguments: int) -> None:
    if module.startswith(b"Fax"):
        _fax_errors.last = words.decode(errors="replace")


_handler = _Handler(_on_message)  # as long as the process lives


def fax_error() -> str | None:
    """The last error in a fax that this thread has decoded since the last call, or None.

    libtiff leaves out what it cannot decode, and goes on.
    """
    last: str | None = getattr(_fax_errors, "last", None)
    _fax_errors.last = None
    return last


def hush() -> None:
    """Keep libraries quiet from now on; what fails still raises, or gives nothing."""
    for name in ("PIL", "tifffile", "imagecodecs"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
    warnings.filterwarnings("ignore", module=r"PIL\.")
    # Pillow's libtiff; where it is built in, its names are not to be had.
    with suppress(AttributeError, OSError):
        pillows = ctypes.CDLL(_imaging.__file__)
        pillows.TIFFSetErrorHandler(_handler)
        pillows.TIFFSetWarningHandler(None)


Image.MAX_IMAGE_PIXELS = None  # Pillow's guess at what is too large; ours knows the memory there is

# What we promise, and GIF.  JPEG brings MPO along, which the files of many phones really are.
_FORMATS = ("PNG", "JPEG", "TIFF", "BMP", "DIB", "WEBP", "PPM", "GIF", "AVIF", "JPEG2000")
WORD_BYTES = 64  # of a sample that is text, beside its number
BAND_PIXELS = 1 << 22  # taken over at once, since that takes several copies
_STORED_BYTES = {"1": 1, "L": 1, "P": 1}  # of a pixel, inside Pillow; else 4
_MIN_BITS = {"1": 1, "L": 1, "P": 1, "RGB": 15}  # of a pixel in a file; else 8 a band
_MAX_PACKED = {"raw": 1, "zip": 1032}  # bytes to a byte of a file; of deflate, as zlib.net proves
_MAX_GIF = 10_923  # pixels to a byte: a code has three bits or more, and stands for 4,096 at most
_CHANNELS = {"1": 1, "L": 1, "LA": 2, "La": 2, "F": 1, "RGBA": 4, "RGBa": 4}
_DEPTHS = {"1": 1, "L;2": 2, "L;4": 4}  # of grey in a PNG, by the name of how it is packed
_CONVERTED: dict[str, list[str]] = table_beside(__file__)
Convert = Callable[[Image.Image], Image.Image | NDArray[Any]]  # of a band
MAX_PIXELS = 1 << 24  # of 8 bits, whose decoding need not be stopped: half a second
_PNG_COLOURS = (0, 2, 4, 6)  # colour types of a PNG, but for palettes
_PLAIN_END = [b"IDAT", b"IEND"]  # of a PNG with nothing behind its samples
# Pillow makes something of these that a PNG's samples alone do not say.
_NOT_PLAIN = frozenset((b"tRNS", b"acTL"))
JPEG_SIGNATURE, JPEG_END = b"\xff\xd8\xff", b"\xff\xd9"
_SPACES = {"L": "GRAYSCALE", "RGB": "RGB"}  # of what is decoded of a JPEG, by Pillow's mode


@contextmanager
def image_in(path: Path, is_stopped: Callable[[], bool]) -> Iterator[ImageFile.ImageFile]:
    """Open the file with Pillow, which decodes nothing yet.  Raises UnidentifiedImageError."""
    formats = (*_FORMATS, "HEIF") if "HEIF" in Image.OPEN else _FORMATS
    with Watched(path, is_stopped) as file, Image.open(file, formats=formats) as image:
        fax_error()  # of an earlier file
        _put_marked_grey_right(image)
        yield image


def need_heif(name: str) -> None:
    """Make Pillow read and write HEIC.  Raises ImageFileError where that is not installed."""
    try:
        import pillow_heif
    except ImportError as error:
        raise ImageFileError(
            f"{name}: HEIC takes the extra “heic”; install pillow-heif, or use JPEG or PNG."
        ) from error
    pillow_heif.register_heif_opener()


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


class PillowReader:
    """A reader of the first picture of any file.

    Pillow reads the header, the profile and EXIF data of all; the samples of a PNG, a JPEG or a
    deep PNM others decode, in less time, or because Pillow would cut 16 bits off.
    """

    def __init__(
        self, path: Path, image: ImageFile.ImageFile, start: bytes, is_stopped: Callable[[], bool]
    ) -> None:
        """Take an open picture; `start` is how its file begins."""
        self._path, self._image, self._is_stopped = path, image, is_stopped
        is_png = start.startswith(png.SIGNATURE) and start[25] in _PNG_COLOURS
        # The largest sample value that a PNM's header allows, as Pillow tells its decoder.
        words = image.tile[0][3] if image.format == "PPM" else None
        most = int(words[1]) if isinstance(words, tuple) else 0
        self._largest = 65535 if words == "I;16B" else most
        self._is_deep = self._largest > 255 or (is_png and start[24] == 16)
        is_jpeg = start.startswith(JPEG_SIGNATURE) and image.mode in _SPACES
        is_small = image.width * image.height <= MAX_PIXELS
        self._is_quick = is_small and (is_jpeg or (is_png and start[24] == 8))

    def need(self) -> Need:
        """Memory for the samples, and for what is held while they are decoded."""
        image = self._image
        pixels, channels = image.width * image.height, _channels_of(image)
        if self._is_deep:  # a colour marked as transparent is not counted
            channels = len(image.getbands())
            ours = 2 * pixels * channels
            held = self._path.stat().st_size + (2 if self._largest else 1) * ours
            if image.tile[0][0] == "ppm_plain":  # each sample is a word before it is a number
                held += WORD_BYTES * pixels * channels
        else:
            ours = pixels * channels * (4 if image.mode == "F" else 1)
            inks = 4 * pixels if image.mode == "CMYK" else 0
            held = ours + pixels * _STORED_BYTES.get(image.mode, 4) + inks
        return Need(self._path.name, image.width, image.height, channels, ours, held)

    def read(self, notes: list[str]) -> Decoded:
        """Read (H, W) or (H, W, C) with C = 2 to 4, of uint8, uint16 or float32, of any mode."""
        image = self._image
        _refuse_cut_short(self._path, image)
        note_first_of(self._count(), notes)
        exif = self._exif()
        samples = self._samples(notes)
        if error := fax_error():
            raise EOFError(error)
        is_upright = image.format == "TIFF"  # Pillow turns these by itself
        return Decoded(
            samples,
            None if image.mode == "CMYK" else image.info.get("icc_profile"),
            1 if is_upright else int(exif.get(ExifTags.Base.Orientation, 1)),
            lambda: exif,
            image.info.get("xmp"),
        )

    @cached_property
    def _data(self) -> bytes:
        """The whole file; nothing where it is left to Pillow, which can be stopped."""
        return self._path.read_bytes() if self._is_quick or self._is_deep else b""

    @cached_property
    def _kinds(self) -> list[bytes]:
        return [each.kind for each in png.chunks(io.BytesIO(self._data))]

    def _exif(self) -> Image.Exif:
        """Read the EXIF, for which Pillow would decode all pixels of a PNG to be sure."""
        if self._kinds[-2:] == _PLAIN_END or (self._is_deep and b"eXIf" not in self._kinds):
            return Image.Image.getexif(self._image)
        return self._image.getexif()

    def _samples(self, notes: list[str]) -> NDArray[Any]:
        image = self._image
        if self._is_deep and self._largest:
            return _deep_pnm(image, self._data, self._largest, notes)
        if self._is_deep:
            deep: NDArray[Any] = imagecodecs.png_decode(self._data)
            if deep[0].size > image.width * len(image.getbands()):
                notes.append("Transparent colour became an alpha channel.")
            return deep
        if (quick := self._quickly()) is not None:
            return quick
        if image.mode == "CMYK":
            icc = image.info.get("icc_profile", b"")
            return colour_profiles.cmyk_to_rgb(_in_bands(image, lambda band: band), icc, notes)
        frame = _small_frame(image)
        samples = _in_bands(image, _conversion(image, notes))
        return samples if frame is None else _clear_around(samples, frame, notes)

    def _quickly(self) -> NDArray[Any] | None:
        """Decode a plain PNG or JPEG; None: of others, and of a damaged one, Pillow knows more."""
        image, data = self._image, self._data
        with suppress(Exception):
            if self._kinds[-2:] == _PLAIN_END and not _NOT_PLAIN.intersection(self._kinds):
                found: NDArray[Any] = imagecodecs.png_decode(data)
                return found
            if data.startswith(JPEG_SIGNATURE) and data.endswith(JPEG_END):  # else it is cut off
                found = imagecodecs.jpeg8_decode(data, outcolorspace=_SPACES[image.mode])
                return found if found.shape[:2] == (image.height, image.width) else None
        return None

    def _count(self) -> int | None:
        """Pictures in the file, or None where it cannot be read to its end.

        Pillow counts those of a GIF by reading them all, and may lose the first one.
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
    """Make a grey marked as transparent one of 256, which Pillow leaves one of 2, 4 or 16."""
    if image.mode in ("1", "L") and "transparency" in image.info and image.format == "PNG":
        largest = 2 ** _DEPTHS.get(str(image.tile[0][3]), 8) - 1
        image.info["transparency"] = (int(image.info["transparency"]) & largest) * 255 // largest


def _channels_of(image: Image.Image) -> int:
    if image.mode in ("1", "L", "RGB", "P", "PA") and image.has_transparency_data:
        return 2 if image.mode in ("1", "L") else 4
    channels = _CHANNELS.get(image.mode, 3)
    return channels + (channels in (1, 3) and _small_frame(image) is not None)


def _refuse_cut_short(path: Path, image: ImageFile.ImageFile) -> None:
    """Raise EOFError where the file has no room for all that its header claims."""
    size = path.stat().st_size
    if image.format in ("AVIF", "HEIF", "JPEG2000"):  # whose decoders refuse by themselves
        return
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
    notes.append("The first frame is smaller than the picture, which is transparent around it.")
    left, top, right, bottom = frame
    samples = samples.reshape(*samples.shape[:2], -1)
    if samples.shape[2] in (1, 3):
        samples = np.dstack([samples, np.full(samples.shape[:2], 255, np.uint8)])
    inside = np.zeros(samples.shape[:2], bool)
    inside[top:bottom, left:right] = True
    return np.where(inside[..., np.newaxis], samples, np.uint8(0))


def _in_bands(image: Image.Image, convert: Convert) -> NDArray[Any]:
    width, height = image.size
    rows = max(BAND_PIXELS // width, 1)
    if rows >= height:
        return np.asarray(convert(image))
    samples: NDArray[Any] | None = None
    for top in range(0, height, rows):
        band = np.asarray(convert(image.crop((0, top, width, min(top + rows, height)))))
        if samples is None:
            samples = np.empty((height, *band.shape[1:]), band.dtype)
        samples[top : top + rows] = band
    assert samples is not None
    return samples


def _conversion(image: Image.Image, notes: list[str]) -> Convert:
    """The conversion of an image, or of a band of it, to a mode that we have, with its note."""
    mode, is_marked = image.mode, "transparency" in image.info
    if mode in ("1", "L") and is_marked:
        notes.append("Transparent grey became an alpha channel.")
        marked = int(image.info["transparency"])

        def with_clear(band: Image.Image) -> NDArray[Any]:
            grey = np.asarray(band.convert("L"))
            return np.dstack([grey, np.where(grey == marked, np.uint8(0), np.uint8(255))])

        return with_clear
    if mode in ("L", "LA", "RGBA", "F") or (mode == "RGB" and not is_marked):
        return lambda band: band
    wanted, note = _CONVERTED.get(mode, ("RGB", f"Converted from {mode} to RGB."))
    if mode in ("P", "PA") and image.has_transparency_data:
        wanted = "RGBA"
    notes.append(note)
    return lambda band: band.convert(wanted)


def _deep_pnm(
    image: ImageFile.ImageFile, data: bytes, largest: int, notes: list[str]
) -> NDArray[np.uint16]:
    """Decode a PNM of more than 8 bits a sample.  Raises ValueError where it is cut short."""
    shape, start = (image.height, image.width, len(image.getbands())), image.tile[0][2]
    if data[:2] in (b"P2", b"P3"):
        words = re.sub(rb"#[^\n]*", b" ", data[start:]).split()
        stored: NDArray[Any] = np.array(words[: prod(shape)]).astype(np.int64)
    else:
        stored = np.frombuffer(data[start : start + 2 * prod(shape)], ">u2")
    samples = stored.reshape(shape)
    if samples.min() < 0 or samples.max() > largest:
        raise ValueError("a sample is out of its range")
    samples = samples.astype(np.uint16)
    if largest == 65535:
        return samples
    notes.append(f"Samples scaled from 0–{largest} to 0–65535.")
    table = np.rint(np.arange(65536) * (65535 / largest)).clip(0, 65535).astype(np.uint16)
    spread: NDArray[np.uint16] = table[samples]
    return spread
