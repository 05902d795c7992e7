"""Pictures that Pillow opens: it knows them all, and what it lacks or does slowly others read.

Libraries tell stderr what is wrong with a file: the one sentence for the user is enough.
"""

from __future__ import annotations

import ctypes
import io
import logging
import re
import struct
import threading
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import Future, wait
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cached_property, partial
from math import inf, prod
from pathlib import Path
from typing import Any, TypeVar

import imagecodecs
import numpy as np
import simplejpeg
import tifffile
from numpy.typing import NDArray
from PIL import Image, ImageFile, JpegImagePlugin, _imaging
from PIL.GifImagePlugin import GifImageFile

from kernels.core.plain_data import table_beside
from workbench.files import colour_profiles, png
from workbench.files import exif as exif_of
from workbench.files.formats import COMMENT
from workbench.files.needs import Need
from workbench.files.picture_errors import ImageFileError, StoppedError, not_read
from workbench.imaging.pictures import ONE_PAGE, Page, Texts


@dataclass(frozen=True, slots=True)
class Decoded:
    """The content of a file, and what is still to be done with it."""

    samples: NDArray[Any]  # (H, W) or (H, W, C)
    icc: bytes | None = None  # the colour profile that they are to be converted from, if any
    orientation: int = 1  # as `exif.orientation_of` has it
    exif: exif_of.Fields = field(default_factory=dict)
    xmp: bytes | str | None = None  # the XMP packet, if any, as it is in the file
    page: Page = ONE_PAGE
    iptc: bytes | None = None
    resolution: tuple[float, float] | None = None  # in pixels per inch, if not in its EXIF
    colours: str = ""  # what is converted from, where `icc` was made of that
    texts: Texts = ()
    is_linear: bool = False  # as in `Metadata`
    is_upright: bool = False  # the samples are, whatever the orientation is
    lost: tuple[str, ...] = ()  # what else the file says, which no saved one does


def check_page(path: Path, number: int, count: int) -> None:
    """Raise ImageFileError where the file has no such page."""
    if not 1 <= number <= count:
        raise ImageFileError(f"{path.name} has no page {number:,}; its last is page {count:,}.")


def note_more_pnm(path: Path, end: int, notes: list[str]) -> None:
    """Say it where right behind the samples of a PNM or PFM another one begins."""
    with path.open("rb") as file:
        file.seek(end)
        if _PNM.match(file.read(3)):
            notes.append("The file holds several pictures; its first one is shown.")


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


def _take_segment(image: JpegImagePlugin.JpegImageFile, marker: int) -> None:
    """Take a segment beside a JPEG's samples; Pillow refuses the picture where it is too short."""
    try:
        JpegImagePlugin.APP(image, marker)
    except struct.error:
        image.info.setdefault("damaged", []).append(f"APP{marker & 15}")
    image.icclist = [each.ljust(15, b"\1") for each in image.icclist]  # a profile that is none


_HOW: tuple[str, str, Any] = "APP", "", _take_segment
JpegImagePlugin.MARKER |= dict.fromkeys(range(0xFFE0, 0xFFF0), _HOW)
Image.MAX_IMAGE_PIXELS = None  # Pillow's guess at what is too large; ours knows the memory there is

# What we promise, and GIF.  JPEG brings MPO along, which the files of many phones really are.
_FORMATS = ("PNG", "JPEG", "TIFF", "BMP", "DIB", "WEBP", "PPM", "GIF", "AVIF", "JPEG2000")
_PAGED = ("TIFF", "MPO", "HEIF")  # whose pages are pictures of their own; others' are frames
WORD_BYTES = 64  # of a sample that is text, beside its number
BAND_PIXELS = 1 << 22  # taken over at once, since that takes several copies
_STORED_BYTES = {"1": 1, "L": 1, "P": 1}  # of a pixel, inside Pillow; else 4
_MIN_BITS = {"1": 1, "L": 1, "P": 1, "RGB": 15}  # of a pixel in a file; else 8 a band
_MAX_PACKED = {"raw": 1, "zip": 1032}  # bytes to a byte of a file; of deflate, as zlib.net proves
_MAX_GIF = 10_923  # pixels to a byte: a code has three bits or more, and stands for 4,096 at most
_CHANNELS = {"1": 1, "L": 1, "LA": 2, "La": 2, "F": 1, "RGBA": 4, "RGBa": 4}
_DEPTHS = {"1": 1, "L;2": 2, "L;4": 4}  # of grey in a PNG, by the name of how it is packed
_CONVERTED: dict[str, list[str]] = table_beside(__file__)
T = TypeVar("T")
POLL_S = 0.05
IsStopped = Callable[[], bool]  # asked now and then; True: StoppedError is raised there
Convert = Callable[[Image.Image], Image.Image | NDArray[Any]]  # of a band
MAX_PIXELS = 1 << 24  # of 8 bits, whose decoding need not be stopped: half a second
_PNG_COLOURS = (0, 2, 4, 6)  # colour types of a PNG, but for palettes
# Pillow makes something of these that a PNG's samples alone do not say.
_NOT_PLAIN = frozenset((b"tRNS", b"acTL"))
JPEG_START, JPEG_END = b"\xff\xd8", b"\xff\xd9"
_SPACES = {"L": "GRAY", "RGB": "RGB", "CMYK": "CMYK"}  # of a JPEG, by Pillow's mode
_SEGMENT = re.compile(rb"\xff+([^\0\xff])")  # its marker; bytes that are in front are left out
_SCAN, _ALONE, _ASIDE = 0xDA, (1, *range(0xD0, 0xD9)), (*range(0xE0, 0xF0), 0xFE)  # markers
_COLOURS = re.compile(rb"..(JFIF\x00\x01|Adobe.{6}[\x00-\x02])", re.DOTALL)  # what samples mean
_PROCESSES = (0xC0, 0xC1, 0xC2, 0xC3, 0xC9, 0xCA)  # of coding, by the marker of a frame
_FRAMES = (*_PROCESSES, 0xC5, 0xC6, 0xC7, 0xCB, 0xCD, 0xCE, 0xCF, 0xF7)
_DAMAGE = ("Corrupt", "Premature", "Inconsistent")
_MORE_XMP = b"http://ns.adobe.com/xmp/extension/\0"
# Parts of a file that are read, and those that only say how its samples are stored.
_READ = re.compile(
    "IHDR|PLTE|IDAT|IEND|tEXt|[zi]TXt|iCCP|eXIf|pHYs|sRGB|gAMA|cHRM|cICP|tRNS|acTL|f[cd][TA][LT]|sBIT"
    "|hIST|tIME|iDOT|APP0 JFIF|APP1 (Exif|http.*)|APP2 (ICC_PROFILE|MPF)|APP12 Ducky|APP14.*|COM.*"
    "|APP13 (Phot|Adobe_CM).*|NETSCAPE2.0|ANIMEXTS1.0|ICCRGBG1012|XMP DataXMP|VP8.|ALPH|AN(IM|MF)"
    "|ICCP|EXIF|XMP |ftyp|meta|mdat|moov|free|skip|jP  |jp2[hc]|Exif"
)
_WORD = re.compile(r"[^ -~].*", re.DOTALL)  # what follows the name in a segment
BEGIN = 4096  # bytes of a box of pixels in which what they say of themselves ends
_DESCRIBING = (b"Exif", b"xml ", b"brob", b"uuid", b"jp2h", b"colr")  # boxes of which all is told
# Of XMP and EXIF in a JPEG 2000.
IDS = bytes.fromhex("be7acfcb97a942e89c71999491e3afac"), b"JpgTiffExif->JP2"
_LEFT_OVER = re.compile(r".* (\d+) extraneous bytes before marker 0xd9")
_PNM = re.compile(rb"P[1-7Ff]\s")
MAX_FILLING = 16  # different bytes between a scan and the end, which some cameras fill up


@contextmanager
def image_in(
    path: Path, is_stopped: IsStopped, sound: bytes | None = None
) -> Iterator[ImageFile.ImageFile]:
    """Open the file with Pillow, which decodes nothing yet.  Raises UnidentifiedImageError.

    sound  what is read instead of it
    """
    source = Watched(path, is_stopped) if sound is None else io.BytesIO(sound)
    formats = (*_FORMATS, "HEIF") if "HEIF" in Image.OPEN else _FORMATS
    with source as file, Image.open(file, formats=formats) as image:
        fax_error()  # of an earlier file
        if late := sorted(getattr(image, "icclist", ())):  # behind where Pillow looks for it
            parts = b"".join(each[14:] for each in late)
            image.info.setdefault("icc_profile", parts if late[0][13] == len(late) else None)
        if image.info.get("icc_profile", b"") is None:  # a part of it is missing
            image.info["icc_profile"] = b""
        # A grey marked as transparent is one of 256 here, which Pillow leaves one of 2, 4 or 16.
        if image.mode in ("1", "L") and "transparency" in image.info and image.format == "PNG":
            largest = 2 ** _DEPTHS.get(str(image.tile[0][3]), 8) - 1
            image.info["transparency"] = (
                (int(image.info["transparency"]) & largest) * 255 // largest
            )
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

    def __init__(self, path: Path, is_stopped: IsStopped) -> None:
        super().__init__(io.FileIO(path))
        self._is_stopped = is_stopped

    def read(self, size: int | None = -1, /) -> bytes:
        """Read as any binary file does, unless nobody wants it any more."""
        if self._is_stopped():
            raise StoppedError("Reading was cancelled.")
        return super().read(size)


def in_background(work: Callable[[], T]) -> Future[T]:
    """What `work` will return, or raise, on a thread that the program's end does not wait for."""
    found = Future[T]()

    def run() -> None:
        try:
            found.set_result(work())
        except BaseException as error:  # noqa: BLE001 - which is raised by `result`
            found.set_exception(error)

    threading.Thread(target=run, daemon=True).start()
    return found


def unless_stopped(work: Callable[[], T], is_stopped: Callable[[], bool]) -> T:
    """Return what `work` does, or raise StoppedError, without waiting for it, when it should."""
    found = in_background(work)
    while not wait((found,), POLL_S).done:
        if is_stopped():
            raise StoppedError("Reading was cancelled.")
    return found.result()


class PillowReader:
    """A reader of one page of a file that Pillow knows.

    Pillow reads the header and, but of a PNG, BMP or TIFF, the profile and EXIF data; the samples
    of a PNG, JPEG or deep PNM others decode, in less time, or because it would cut 16 bits off.
    """

    def __init__(
        self,
        path: Path,
        image: ImageFile.ImageFile,
        start: bytes,
        is_stopped: IsStopped,
        page: int,
        found: png.Contents | None = None,
    ) -> None:
        """Take an open picture; `start` is how its file begins, `found` of a PNG or BMP."""
        self._path, self._image, self._is_stopped = path, image, is_stopped
        self._page, self._is_damaged, self._found = page, False, found
        self._is_frame = page > 1 and image.format not in _PAGED
        if page > 1 and image.format in _PAGED:
            check_page(path, page, self.count)
            image.seek(page - 1)
        is_png = start.startswith(png.SIGNATURE) and start[25] in _PNG_COLOURS
        # The largest sample value that a PNM's header allows, as Pillow tells its decoder.
        words = image.tile[0][3] if image.format == "PPM" else None
        most = int(words[1]) if isinstance(words, tuple) else 0
        is_plain = words is None or image.tile[0][0] == "ppm_plain"
        self._start = 0 if is_plain else image.tile[0][2]  # of a PNM's samples
        self._largest = 65535 if words == "I;16B" else most
        self._is_deep = self._largest > 255 or (is_png and start[24] == 16)
        is_small = image.width * image.height <= MAX_PIXELS
        self._is_quick = is_small and is_png and start[24] == 8

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
            # A frame is drawn over those before it.
            held = ours + pixels * (_STORED_BYTES.get(image.mode, 4) + 16 * self._is_frame) + inks
        return Need(self._path.name, image.width, image.height, channels, ours, held)

    def read(self, notes: list[str]) -> Decoded:
        """Read (H, W) or (H, W, C) with C = 2 to 4, of uint8, uint16 or float32, of any mode."""
        image = self._image
        _refuse_cut_short(self._path, image)
        if self._is_damaged:
            notes.append(f"The file is damaged behind its page {self.count:,}.")
        samples = self._frame(notes) if self._is_frame else self._samples(notes)
        if self._start:
            row = len(image.getbands()) * image.width
            row = -(-row // 8) if image.mode == "1" else row * (1 + self._is_deep)
            note_more_pnm(self._path, self._start + image.height * row, notes)
        if error := fax_error():
            raise EOFError(error)
        is_tiff = image.format == "TIFF"
        info = self._told()
        if damaged := info.get("damaged") if self._found is None else self._found.damaged:
            notes.append(f"Damaged in the {image.format}, left out: {', '.join(damaged)}.")
        fields = exif_of.fields_in(info.get("exif"), notes)
        if is_tiff:
            with tifffile.TiffFile(self._path) as tiff:
                page: Any = tiff.pages[self._page - 1]
                fields = exif_of.fields_in(tiff, notes, page)
                if "icc_profile" not in info:
                    icc, colours = colour_profiles.of_tiff(page)
                    info = {**info, "icc_profile": icc, "colours": colours}
                if page.compression == tifffile.COMPRESSION.JPEG:
                    tables = (page.jpegtables or JPEG_START + JPEG_END)[:-2]
                    for at, count in zip(page.dataoffsets, page.databytecounts, strict=True):
                        tiff.filehandle.seek(at)
                        _of_jpeg(tables + tiff.filehandle.read(count)[2:] + JPEG_END)
        # Pillow turns a TIFF itself, unless it finds the orientation as a BYTE.
        is_turned = is_tiff and not isinstance(image.getexif().get(_ORIENTATION), bytes)
        has_resolution = self._found is not None or info.get("jfif_unit") in (1, 2)
        has_resolution |= image.format == "JPEG2000"
        return Decoded(
            samples,
            None if image.mode == "CMYK" else info.get("icc_profile"),
            exif_of.orientation_of(fields, info.get("xmp")),
            fields,
            info.get("xmp"),
            Page(self._page, self.count),
            exif_of.iptc_of(fields, notes)
            or exif_of.iptc_in(info.get("iptc") or _resources(image), notes),
            resolution_of(info) if has_resolution else None,
            info.get("colours", ""),
            self._found.texts if self._found else tuple(_comments(image, notes)),
            is_upright=is_turned,
            lost=tuple(self._lost(info)),
        )

    def _told(self) -> dict[Any, Any]:
        """What the file says beside its samples, with its colours as a profile, or in words."""
        info = self._image.info if self._found is None else _interpreted(self._found.info)
        return {**info, **_told_in_gif(self._whole)} if self._image.format == "GIF" else info

    def _lost(self, info: dict[Any, Any]) -> Iterator[str]:
        image = self._image
        if self.count > 1 and image.format not in _PAGED:
            yield "durations of frames and loops"
        is_aspect = info.get("jfif_unit") == 0  # else it is a resolution, if anything
        across, down = info["jfif_density"] if is_aspect else info.get("aspect", (1, 1))
        if across != down and across and down:
            yield "that pixels are not square"
        names = dict.fromkeys(each.strip() for each in self._parts() if not _READ.fullmatch(each))
        if names:
            yield f"what the {image.format} says in {', '.join(names)}"

    def _parts(self) -> Iterator[str]:
        """The names of the chunks, segments, extensions or boxes that the file is made of."""
        yield from (each.decode("latin-1") for each in (self._found.kinds if self._found else ()))
        for name, data in getattr(self._image, "applist", ()):
            is_more = data.startswith(_MORE_XMP)
            yield "extended XMP" if is_more else f"{name} {_WORD.sub('', data.decode('latin-1'))}"
        if self._image.format == "GIF":
            yield from dict(_extensions(self._whole))
        elif self._image.format == "WEBP":
            at, end = 12, 8 + int.from_bytes(self._whole[4:8], "little")
            while at + 8 <= min(end, len(self._whole)):
                kind, size = struct.unpack_from("<4sI", self._whole, at)
                at += 8 + size + size % 2
                yield kind.decode("latin-1")
        elif self._image.format in ("AVIF", "HEIF", "JPEG2000"):
            with suppress(EOFError):  # behind the last one
                for kind, data in boxes(self._whole):
                    yield "Exif" if data.startswith(IDS) else kind.decode("latin-1")

    @cached_property
    def _whole(self) -> bytes:
        return (self._found and self._found.sound) or self._path.read_bytes()

    def _samples(self, notes: list[str]) -> NDArray[Any]:
        image = self._image
        if self._is_deep and self._largest:
            return _deep_pnm(image, self._whole, self._largest, notes)
        if self._is_deep:
            deep: NDArray[Any] = imagecodecs.png_decode(self._whole)
            if deep[0].size > image.width * len(image.getbands()):
                notes.append("Transparent colour became an alpha channel.")
            return deep
        quick: NDArray[Any] | None = self._quickly()
        if image.mode == "CMYK":
            inks = _in_bands(image, lambda band: band) if quick is None else ~quick
            return colour_profiles.cmyk_to_rgb(inks, image.info.get("icc_profile", b""), notes)
        if quick is not None:
            return quick
        frame = _small_frame(image)
        samples = _in_bands(image, _conversion(image, notes))
        return samples if frame is None else _clear_around(samples, frame, notes)

    def _quickly(self) -> Any:
        """Decode a JPEG or plain PNG; None: of others, and of a damaged PNG, Pillow knows more."""
        image, kinds = self._image, () if self._found is None else self._found.kinds
        if image.format in ("JPEG", "MPO") and image.mode in _SPACES:
            data, space = self._path.read_bytes()[image.tile[0][2] :], _SPACES[image.mode]
            found = unless_stopped(lambda: _of_jpeg(data, space), self._is_stopped)
            if found is None:
                refuse_other_jpeg(self._path.name, data)
            return found
        with suppress(Exception):
            if self._is_quick and b"IDAT" in kinds and not _NOT_PLAIN.intersection(kinds):
                return imagecodecs.png_decode(self._whole)
        return None

    @cached_property
    def count(self) -> int:
        """Pages in the file, up to where it is damaged.

        Pillow counts those of a GIF by looking for them all, and may lose the first one.
        """
        if self._image.format != "GIF":
            return getattr(self._image, "n_frames", 1)
        with image_in(self._path, self._is_stopped) as counted:
            try:
                return getattr(counted, "n_frames", 1)
            except ImageFileError:  # nobody wants it any more
                raise
            except Exception:  # noqa: BLE001 - damaged files make decoders fail with anything
                self._is_damaged = True
                return counted.tell() + 1

    def _frame(self, notes: list[str]) -> NDArray[np.uint8]:
        """Draw the frames up to the page one over the other, as browsers do.

        Pillow would paint a GIF's background, and disposes of frames that do not ask for it.
        """
        if self._is_deep:
            notes.append("Frames behind the first are read with 8 of their 16 bits.")
        status, is_grey = self._path.stat(), self._image.mode == "L"
        key = self._path, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns
        image = _drawn.pop(key, None)
        if image is None or image.tell() >= self._page:
            data = io.BytesIO(self._whole)
            is_gif = self._image.format == "GIF"
            image = _Gif(data) if is_gif else Image.open(data, formats=_FORMATS)
            if isinstance(image, _Gif) and image.dispose_extent is not None:
                _begin(image, image.dispose_extent)
        for number in range(image.tell() + 1, self._page):
            if self._is_stopped():
                raise StoppedError("Reading was cancelled.")
            if isinstance(image, GifImageFile):
                image.disposal_method = 0
            image.seek(number)
            if image.format == "GIF" and image.im.size != image.size:  # it reaches out
                image.im = image._crop(image.im, (0, 0, *image.size))
            image.load()
        samples = _in_bands(image.crop((0, 0, *self._image.size)), _conversion(image, notes))
        _drawn.clear()
        if image.width * image.height <= MAX_PIXELS:
            _drawn[key] = image
        if image.format != "GIF" or samples[..., 3:].min() < 255:
            return samples
        is_grey = is_grey and not np.ptp(samples[..., :3], axis=2).any()
        return samples[..., : 1 if is_grey else 3]


_drawn: dict[tuple[Any, ...], ImageFile.ImageFile] = {}  # up to a frame: the next one is near


def forget_others(path: Path) -> None:
    """Let go of the frames that are kept of any file but that one."""
    for key in [each for each in _drawn if each[0] != path]:
        _drawn.pop(key, None)


class _Gif(GifImageFile):
    """A GIF, of which no frame may reach far out: Pillow would decode all of that, and crop it."""

    most: float = inf  # pixels of the picture that such a frame makes larger

    def __setattr__(self, name: str, value: Any) -> None:
        if name == "_size" and prod(value) > self.most:
            raise ValueError(f"a frame reaches out to {value}")
        super().__setattr__(name, value)


def _begin(image: _Gif, extent: tuple[int, int, int, int]) -> None:
    """Draw the first frame, and dispose of it; nothing is around it."""
    first, drawn = Image.new("RGBA", image.size), image.convert("RGBA")
    if image.disposal_method < 2:  # it stays
        first.paste(drawn.crop(extent), extent[:2])
    image.im, image._mode, image.dispose = first.im, "RGBA", None
    image.most = image.width * image.height + BAND_PIXELS
    image.info["transparency"] = 0  # what is disposed of becomes clear


def _of_jpeg(data: bytes, space: str = "RGB") -> Any:
    """Decode a JPEG; None: of another kind.  Raises ValueError where samples are damaged."""
    data = _scans_of(data)
    try:
        return simplejpeg.decode_jpeg(data, space)
    except ValueError as error:  # the first one of maybe many
        left, end = _LEFT_OVER.match(str(error)), data.find(JPEG_END)
        is_filled = left and len(set(data[end - int(left[1]) : end])) <= MAX_FILLING
        if not is_filled and str(error).startswith(_DAMAGE):
            raise
        return simplejpeg.decode_jpeg(data, space, strict=False) if is_filled else None


def _scans_of(data: bytes) -> bytes:
    """A JPEG without what is beside its samples, which may be damaged."""
    kept = [data[:2]]
    for marker, begin, at in _segments(data):
        if marker not in (*_ALONE, *_ASIDE) or _COLOURS.match(data, begin, at):
            kept.append(bytes([255, marker]) + data[begin:at])
        if marker == _SCAN:
            return b"".join(kept) + data[at:]
    return data


def _segments(data: bytes) -> Iterator[tuple[int, int, int]]:
    """Markers up to the first scan's, and where their segments begin and end."""
    at, marker = 2, 0
    while marker != _SCAN and (found := _SEGMENT.search(data, at)):
        marker, begin = found[1][0], found.end()
        at = begin + (0 if marker in _ALONE else int.from_bytes(data[begin : begin + 2], "big"))
        yield marker, begin, at


def frame_of(data: bytes) -> tuple[int, int]:
    """The marker of the frame of a JPEG, and where its segment begins; 0 of what is none."""
    segments = _segments(data) if data.startswith(JPEG_START) else ()
    return next((each[:2] for each in segments if each[0] in _FRAMES), (0, 0))


def refuse_other_jpeg(name: str, data: bytes) -> None:
    """Raise ImageFileError where these bytes begin a JPEG of a kind that nothing here decodes."""
    process, begin = frame_of(data)
    if not process:
        return
    bits, count = data[begin + 2], data[begin + 7]
    factors = [divmod(each, 16) for each in data[begin + 9 : begin + 8 + 3 * count : 3]]
    kinds = {
        "a JPEG-LS": process == 0xF7,
        "a hierarchical JPEG, or one of a rare coding": process not in _PROCESSES,
        f"a JPEG of {count} channels": count not in (1, 3, 4),
        f"a JPEG of {count} channels of {bits} bits": count == 4 and bits != 8,
        "a JPEG whose channels are subsampled by no whole number": any(
            each and max(sizes) % each for sizes in zip(*factors, strict=True) for each in sizes
        ),
    }
    for kind in (kind for kind, is_so in kinds.items() if is_so):
        raise not_read(name, kind)


def deep_jpeg(data: bytes) -> bytes | None:
    """A JPEG as if it had 8 bits, so that Pillow reads what is beside its samples; or None."""
    _, at = frame_of(data)
    return data[: at + 2] + b"\x08" + data[at + 3 :] if at and data[at + 2] != 8 else None


# Of encoders about themselves, as the name of a program is elsewhere.
_BY_ENCODER = re.compile("Created by OpenJPEG|Kakadu-|CREATOR: gd-jpeg|Lavc|File written by Adobe")


def _comments(image: Image.Image, notes: list[str]) -> Iterator[tuple[str, str]]:
    """Those of a JPEG, or the one of another file."""
    found = [data for name, data in getattr(image, "applist", ()) if name == "COM"]
    for each in found or [image.info.get("comment") or b""]:
        text = each.strip(b"\0").decode("latin-1")
        with suppress(UnicodeDecodeError):
            text = each.strip(b"\0").decode()
        if not text or _BY_ENCODER.match(text):
            continue
        if png.holds(COMMENT, text):
            yield COMMENT, png.Text(text, b"COM", each)
        else:
            notes.append("A comment that is no text was left out.")


def _told_in_gif(data: bytes) -> dict[Any, Any]:
    """The profile and the XMP in its extensions, of which Pillow tells nothing."""
    told = dict[Any, Any]()
    for name, content in _extensions(data):
        if name == "XMP DataXMP":  # as it is, and a trailer that leads to its end
            told["xmp"] = content.partition(b"\x01\xff\xfe\xfd")[0]
        elif name == "ICCRGBG1012":
            told["icc_profile"] = b"".join(iter(partial(_block, io.BytesIO(content)), b""))
    return told


def _block(file: io.BytesIO) -> bytes:
    return file.read(file.read(1)[0])


def _extensions(data: bytes) -> Iterator[tuple[str, bytes]]:
    """The names of a GIF's extensions, and their blocks, each behind its size."""
    at = 13 + _table_bytes(data[10])
    with suppress(IndexError):  # cut short
        while (kind := data[at]) in b"!,":
            label = data[at + 1] if kind == ord("!") else 0
            at += 2 if label else 11 + _table_bytes(data[at + 9])
            begin = at
            while data[at]:
                at += 1 + data[at]
            at += 1
            if label in (0x01, 0xFF):  # of a text that is drawn; of a program
                name = data[begin + 1 : begin + 12].decode("latin-1") if label > 1 else "text"
                yield name, data[begin + 12 : at]


def _table_bytes(flags: int) -> int:
    """The size of a GIF's table of colours."""
    return 6 << (flags & 7) if flags & 0x80 else 0


def boxes(data: bytes) -> Iterator[tuple[bytes, bytes]]:
    """Yield each box, of pixels the begin.  Raises EOFError where one is cut short."""
    at = 0
    while at < len(data):
        size, kind, long = struct.unpack(">I4sQ", data[at : at + 16].ljust(16, b"\0"))
        size, head = (long, 16) if size == 1 else (size or len(data) - at, 8)  # 0: the last one
        if size < head or at + size > len(data):
            raise EOFError("a box")
        yield kind, data[at + head : at + (size if kind in _DESCRIBING else min(size, BEGIN))]
        at += size


def _resources(image: ImageFile.ImageFile) -> bytes:
    """Photoshop's resources in a JPEG."""
    segments = (data for name, data in getattr(image, "applist", ()) if name == "APP13")
    start = exif_of.PHOTOSHOP  # or of what is left of it
    return b"".join(each.removeprefix(start) for each in segments if start.startswith(each[:14]))


def resolution_of(info: dict[Any, Any]) -> tuple[float, float] | None:
    """Pixels per inch, which were maybe rounded to whole ones per metre."""
    across, down = info.get("dpi", (0, 0))
    whole = round(across), round(down)
    is_rounded = max(abs(across - whole[0]), abs(down - whole[1])) < _PER_METRE
    return (whole if is_rounded else (across, down)) if across and down else None


_ORIENTATION = 274  # of EXIF
_PER_METRE = 0.02  # pixels per inch by which that rounding is off


def _interpreted(info: dict[Any, Any]) -> dict[Any, Any]:
    """Info of a PNG, with its colours as a profile."""
    told = dict(info)
    if "cicp" in info:
        icc, colours = colour_profiles.coded(*info["cicp"])
        if icc or not colours or "icc_profile" not in info:  # else that is better than none
            told["icc_profile"], told["colours"] = icc, colours
    elif "srgb" in info:  # whatever EXIF says
        told.setdefault("icc_profile", colour_profiles.profile_for(3))
    elif "icc_profile" not in info and info.keys() & {"gamma", "chromaticity"}:
        made = colour_profiles.calibrated(info.get("gamma"), info.get("chromaticity"))
        told["icc_profile"], told["colours"] = made
    return told


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
