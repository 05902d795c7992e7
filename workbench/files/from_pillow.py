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
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from math import prod
from pathlib import Path
from typing import Any, Protocol

import imagecodecs
import numpy as np
from numpy.typing import NDArray
from PIL import ExifTags, Image, ImageFile, _imaging

from workbench.files import colour_profiles, png
from workbench.files.needs import Need
from workbench.files.picture_errors import ImageFileError, StoppedError


@dataclass(frozen=True, slots=True)
class Decoded:
    """The content of a file, and what is still to be done with it.

    exif         reads the EXIF data; raises whatever Pillow does where they are damaged
    """

    samples: NDArray[Any]  # (H, W) or (H, W, C)
    icc: bytes | None = None  # the colour profile that they are to be converted from, if any
    orientation: int = 1  # of EXIF, 1 to 8
    exif: Callable[[], Image.Exif] = Image.Exif
    xmp: bytes | str | None = None  # the XMP packet, if any, as it is in the file


class Reader(Protocol):
    """A picture file that is open, of a kind that one library reads."""

    def need(self) -> Need:
        """The memory that it takes, by its header alone.

        Raises ImageFileError where nothing here reads its kind, EOFError where it is cut short.
        """

    def read(self, notes: list[str]) -> Decoded:
        """Decode the first picture of the file.

        notes  gets a sentence for each conversion made
        Raises whatever the library does where the file is damaged, EOFError where it is cut short.
        """


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
    # Pillow's libtiff; where it is built in, its names are not to be had.
    with suppress(AttributeError, OSError):
        pillows = ctypes.CDLL(_imaging.__file__)
        pillows.TIFFSetErrorHandler(_handler)
        pillows.TIFFSetWarningHandler(None)


_lock = threading.Lock()
_until_the_last = ExitStack()
_users = 0


@contextmanager
def without_warnings() -> Iterator[None]:
    """Ignore Python's warnings while anybody is in here: several threads may be at once.

    `warnings.catch_warnings` alone changes the whole process, and so knows one thread only.
    """
    global _users
    with _lock:
        _users += 1
        if _users == 1:
            _until_the_last.enter_context(warnings.catch_warnings())
            warnings.simplefilter("ignore")
    try:
        yield
    finally:
        with _lock:
            _users -= 1
            if not _users:
                _until_the_last.close()


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
def image_in(path: Path, is_stopped: Callable[[], bool]) -> Iterator[ImageFile.ImageFile]:
    """Open the file with Pillow, which decodes nothing yet.  Raises UnidentifiedImageError."""
    with Watched(path, is_stopped) as file, Image.open(file, formats=_FORMATS) as image:
        fax_error()  # of an earlier file
        _put_marked_grey_right(image)
        yield image


class PillowReader:
    """A `Reader` of the first picture of any file."""

    def __init__(
        self, path: Path, image: ImageFile.ImageFile, start: bytes, is_stopped: Callable[[], bool]
    ) -> None:
        self._path, self._image, self._start, self._is_stopped = path, image, start, is_stopped

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


# -- PNG, JPEG and PNM, in one go or in their own depth


MAX_PIXELS = 1 << 24  # of 8 bits, whose decoding need not be stopped: half a second
_COLOUR_TYPES = {0: 1, 2: 3, 4: 2, 6: 4}  # by colour type, of all but palettes
# Pillow makes something of these that samples of 8 bits alone do not say.
_NOT_PLAIN = frozenset((b"tRNS", b"acTL"))


class PngReader(PillowReader):
    """A `Reader` of PNG files without a palette: Pillow reads header, profile and EXIF data.

    Pillow would cut 16 bits off.
    """

    @cached_property
    def _is_deep(self) -> bool:
        return self._start[24] == 16

    @cached_property
    def _channels(self) -> int:
        return _COLOUR_TYPES[self._start[25]]

    def need(self) -> Need:
        """Memory for the file, and for its samples; a colour marked as transparent not counted."""
        if not self._is_deep:
            return super().need()
        width, height = self._image.size
        ours = 2 * self._channels * width * height
        held = self._path.stat().st_size + ours
        return Need(self._path.name, width, height, self._channels, ours, held)

    def _exif(self) -> Image.Exif:
        """Read the EXIF, for which Pillow would decode all pixels to be sure."""
        is_in_front = self._kinds[-2:] == [b"IDAT", b"IEND"]
        return Image.Image.getexif(self._image) if is_in_front else super()._exif()

    def _samples(self, notes: list[str]) -> NDArray[Any]:
        is_plain = self._data and not _NOT_PLAIN.intersection(self._kinds)
        if not (is_plain or self._is_deep):
            return super()._samples(notes)
        try:
            samples: NDArray[Any] = imagecodecs.png_decode(self._data)
        except Exception:
            if self._is_deep:
                raise
            return super()._samples(notes)  # where Pillow says what is wrong
        if samples[:1].size // samples.shape[1] > self._channels:
            notes.append("Transparent colour became an alpha channel.")
        return samples

    @cached_property
    def _data(self) -> bytes:
        """The whole file; nothing where it is left to Pillow, which can be stopped."""
        is_large = self._image.width * self._image.height > MAX_PIXELS
        return self._path.read_bytes() if self._is_deep or not is_large else b""

    @cached_property
    def _kinds(self) -> list[bytes]:
        return [
            kind for kind, _ in groupby(each.kind for each in png.chunks(io.BytesIO(self._data)))
        ]


JPEG_SIGNATURE, JPEG_END = b"\xff\xd8\xff", b"\xff\xd9"
_SPACES = {"L": "GRAYSCALE", "RGB": "RGB"}  # of what is decoded, by Pillow's mode


class PlainJpegReader(PillowReader):
    """A `Reader` of JPEG files: Pillow reads header, profile and EXIF data."""

    def _samples(self, notes: list[str]) -> NDArray[Any]:
        image = self._image
        space = _SPACES.get(image.mode)
        is_small = space is not None and image.width * image.height <= MAX_PIXELS
        data = self._path.read_bytes() if is_small else b""
        if data.endswith(JPEG_END):  # else it is cut off, and Pillow says so
            with suppress(Exception):  # of a damaged file Pillow says what is wrong
                samples: NDArray[Any] = imagecodecs.jpeg8_decode(data, outcolorspace=space)
                if samples.shape[:2] == (image.height, image.width):
                    return samples
        return super()._samples(notes)


class DeepPnmReader(PillowReader):
    """A `Reader` of PNM files of more than 8 bits a sample, of which Pillow reads the header."""

    def need(self) -> Need:
        """Memory for the file, for its samples, and for a copy."""
        width, height = self._image.size
        channels = len(self._image.getbands())
        ours = 2 * channels * width * height
        held = self._path.stat().st_size + 2 * ours
        return Need(self._path.name, width, height, channels, ours, held)

    def _samples(self, notes: list[str]) -> NDArray[np.uint16]:
        samples, largest = self._stored(), _largest_sample(self._image)
        if samples.min() < 0 or samples.max() > largest:
            raise ValueError(self._path.name)
        samples = samples.astype(np.uint16)
        if largest == 65535:
            return samples
        notes.append(f"Samples scaled from 0–{largest} to 0–65535.")
        table = np.rint(np.arange(65536) * (65535 / largest)).clip(0, 65535).astype(np.uint16)
        spread: NDArray[np.uint16] = table[samples]
        return spread

    def _stored(self) -> NDArray[Any]:
        """Samples as they are in the file, (H, W, C).  Raises EOFError where it is cut short."""
        image, data = self._image, self._path.read_bytes()
        shape = image.height, image.width, len(image.getbands())
        start = image.tile[0][2]
        if self._start[:2] in (b"P2", b"P3"):
            words = re.sub(rb"#[^\n]*", b" ", data[start:])
            stored: NDArray[Any] = np.fromstring(words.decode("ascii"), np.int64, sep=" ")
        else:
            stored = np.frombuffer(data, ">u2", min(prod(shape), (len(data) - start) // 2), start)
        if stored.size < prod(shape):
            raise EOFError(self._path.name)
        return stored[: prod(shape)].reshape(shape)


def _largest_sample(image: ImageFile.ImageFile) -> int:
    """The largest sample value that a PNM's header allows, as Pillow tells its decoder."""
    words = image.tile[0][3]
    return 65535 if words == "I;16B" else int(words[1]) if isinstance(words, tuple) else 0


def reader_of(
    path: Path, image: ImageFile.ImageFile, start: bytes, is_stopped: Callable[[], bool]
) -> PillowReader:
    """The reader of an open picture; `start` is how its file begins."""
    kind: type[PillowReader] = PillowReader
    if start.startswith(png.SIGNATURE) and start[24] in (8, 16) and start[25] in _COLOUR_TYPES:
        kind = PngReader
    elif start.startswith(JPEG_SIGNATURE):
        kind = PlainJpegReader
    elif image.format == "PPM" and _largest_sample(image) > 255:
        kind = DeepPnmReader
    return kind(path, image, start, is_stopped)
