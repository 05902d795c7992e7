"""Decode any picture file to (H, W, C) of one of our pixel types, and say what was converted."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import lru_cache
from itertools import takewhile
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import UnidentifiedImageError

from workbench.files import (
    bmp,
    colour_profiles,
    from_codecs,
    from_exr,
    from_jxl,
    from_pillow,
    from_tiff,
    needs,
    png,
)
from workbench.files import exif as exif_of
from workbench.files.exif import MAX_DPI, MIN_DPI
from workbench.files.formats import KINDS
from workbench.files.from_pillow import Decoded, IsStopped, PillowReader
from workbench.files.from_tiff import TiffReader
from workbench.files.needs import Need
from workbench.files.picture_errors import RAW, ImageFileError, not_read
from workbench.imaging.pictures import Metadata, Page

from_pillow.hush()


_RAW_EXTENSION = re.compile(
    r"\.(3fr|arw|cr[23w]|dcr|dng|erf|fff|iiq|k25|kdc|mef|mos|mrw|nef|nrw|orf|pef|raf|raw|rw[2l]"
    r"|sr[2fw]|x3f)"
)
_RAW = re.compile(rb"FUJIFILMCCD-RAW|II(RO|RS|U\0)|MMOR|FOVb|\0MRM|.{4}ftypcrx |II\*\0.{4}CR", re.S)
_STILL_AVIF = re.compile(rb".{4}ftypavif(?!(.{4})*avis)", re.DOTALL)
# Whatever they are called.
_NEVER_RAW = re.compile(rb"\x89PNG|\xff\xd8\xff|GIF8|BM|RIFF|P[1-7Ff]\s")
_USUAL_TIFF = (b"II*\0", b"MM\0*")  # which no camera calls .raw


def reader_of(
    path: Path, is_stopped: IsStopped, files: ExitStack, page: int = 1
) -> (
    PillowReader | TiffReader | bmp.BmpReader | PfmReader | from_jxl.JxlReader | from_exr.ExrReader
):
    """Open a page of a picture file, which `files` closes.  Raises UnidentifiedImageError.

    A reader's `count` is that of the pages.  Its `need` raises ImageFileError where nothing here
    reads its kind; it and `read` raise EOFError where it is cut short, `read` also whatever the
    library does where it is damaged.
    """
    with path.open("rb") as file:
        start = file.read(4096)
    extension = path.suffix.lower()
    is_usual = _NEVER_RAW.match(start) or (extension == ".raw" and start.startswith(_USUAL_TIFF))
    if (_RAW_EXTENSION.fullmatch(extension) and not is_usual) or _RAW.match(start):
        raise not_read(path.name, *RAW)
    if reader := from_tiff.opened(path, files, page) or bmp.reader(path, start):
        return reader
    if header := _PFM.match(start):
        return PfmReader(path, header)
    if from_jxl.is_jxl(start):
        return from_jxl.JxlReader(path, is_stopped)
    if start.startswith(from_exr.SIGNATURE):
        return from_exr.ExrReader(path, is_stopped, page)
    if from_codecs.is_heic(start):
        from_pillow.need_heif(path.name)
    found = None
    if start.startswith(png.SIGNATURE):
        with from_pillow.Watched(path, is_stopped) as whole:
            found = png.found_in(whole)
    elif start.startswith(b"BM"):
        found = png.Contents(bmp.info_of(path, start), [], [], bmp.sound(path, start))
    try:
        image = files.enter_context(from_pillow.image_in(path, is_stopped, found and found.sound))
    except UnidentifiedImageError:
        if not start.startswith(from_pillow.JPEG_START):
            raise  # without a look at the whole, which may be of any size
        from_pillow.refuse_other_jpeg(path.name, data := path.read_bytes())
        if (shallow := from_pillow.deep_jpeg(data)) is None:
            raise
        image = files.enter_context(from_pillow.image_in(path, is_stopped, shallow))
        return from_codecs.CodecReader(path, image, start, is_stopped, page)
    except ValueError:  # an AVIF's decoder refuses it for its EXIF
        found = png.Contents({}, [], ["Exif"], path.read_bytes().replace(b"Exif", b"none", 1))
        image = files.enter_context(from_pillow.image_in(path, is_stopped, found.sound))
        found.info.update(image.info)
    kind = from_codecs.CodecReader if image.format in from_codecs.FORMATS else PillowReader
    return kind(path, image, start, is_stopped, page, found)


def decode(
    path: Path, page: int, ask: bool, is_stopped: IsStopped, max_bytes: int | None = None
) -> tuple[NDArray[Any], list[str], Metadata, Page]:
    """Return the samples, the conversions that were made, the metadata that are kept, the page.

    Samples are (H, W, C) and C-contiguous, conversions one sentence each.

    page, ask, is_stopped, max_bytes  as `image_files.load` has them
    Raises ImageFileError.
    """
    notes: list[str] = []
    from_pillow.forget_others(path)
    with failures_in_words(path.name), ExitStack() as files:
        reader = reader_of(path, is_stopped, files, page)
        from_pillow.check_page(path, page, reader.count)
        needs.check(reader.need(), ask=ask, max_bytes=max_bytes)
        decoded = reader.read(notes)
        samples = upright(decoded, notes)
        height, width = samples.shape[:2]
        metadata = kept_of(decoded, height, width, notes)
        if samples.ndim != 3 or 0 in samples.shape or samples.shape[2] > 4:
            raise ValueError(f"decoded to {samples.shape}")
        samples = np.ascontiguousarray(samples)
        _note_infinite(samples, notes)
    return samples, notes, metadata, decoded.page


def page_count(path: Path) -> int:
    """Count the pages; a file that by its start has only one is read no further."""
    with failures_in_words(path.name):
        now = path.stat()
        return _page_count(path, now.st_mtime_ns, now.st_size)


@lru_cache(maxsize=1 << 16)  # whoever chooses what is done to a folder asks again and again
def _page_count(path: Path, _mtime_ns: int, _size: int) -> int:
    with ExitStack() as files:
        file = files.enter_context(path.open("rb"))
        start = file.read(4096)
        file.seek(0)
        in_front = takewhile(lambda each: each.kind != b"IDAT", png.chunks(file))
        kinds = [each.kind for each in in_front]  # of a PNG
        is_still = bool(kinds) and b"acTL" not in kinds
        if is_still or from_jxl.is_jxl(start) or _STILL_AVIF.match(start):
            return 1
        return reader_of(path, lambda: False, files).count


@contextmanager
def failures_in_words(name: str) -> Iterator[None]:
    """Turn whatever a library raises for a file into an ImageFileError with its name.

    NumPy's warnings, of NaN for example, are ignored.
    """
    try:
        with np.errstate(all="ignore"):
            yield
    except ImageFileError:
        raise
    except UnidentifiedImageError as error:
        raise ImageFileError(
            f"{name} is not a picture this program can read; choose a file of {KINDS}."
        ) from error
    except FileNotFoundError as error:
        raise ImageFileError(f"{name} was moved or removed meanwhile; check its folder.") from error
    except MemoryError as error:
        raise ImageFileError(
            f"There is too little memory to open {name}; close other programs or choose a smaller "
            "picture."
        ) from error
    except Exception as error:  # damaged files make decoders fail with anything
        raise ImageFileError(
            f"{name} cannot be read: it is damaged or cut short, or of a kind that this program "
            "does not know; get it again from its source, or save it as PNG or TIFF with another "
            "program."
        ) from error


def kept_of(decoded: Decoded, height: int, width: int, notes: list[str]) -> Metadata:
    """Return the metadata that are kept beside a picture of that size, which is upright."""
    lost = list(decoded.lost)
    exif, xmp = exif_of.portable(decoded.exif, width, height, lost), None
    resolution = decoded.resolution or exif_of.resolution_of(decoded.exif)
    try:
        if decoded.xmp and len(decoded.xmp) > exif_of.MAX_BYTES:
            lost.append("XMP data of over 16 MiB")
        elif decoded.xmp:
            xmp = exif_of.portable_xmp(decoded.xmp, lost)
    except exif_of.XMP_ERRORS:
        notes.append("Damaged XMP data were dropped.")
    if lost:
        notes.append(f"Left out when saving: {', '.join(lost)}.")
    if resolution is None and exif_of.names_resolution(decoded.exif):
        notes.append("A resolution that says nothing was dropped.")
    if resolution is not None and not all(MIN_DPI <= each <= MAX_DPI for each in resolution):
        resolution = None
    if resolution is not None and decoded.orientation >= ON_ITS_SIDE:
        resolution = resolution[1], resolution[0]
    return Metadata(exif, xmp, decoded.iptc, resolution, decoded.texts, decoded.is_linear)


def _note_infinite(samples: NDArray[Any], notes: list[str]) -> None:
    if samples.dtype.kind != "f":
        return
    count = sum(row.size - np.count_nonzero(np.isfinite(row)) for row in samples)
    if count:
        notes.append(
            f"{count:,} samples are infinite or NaN; weighted sums spread NaN around them, as an "
            "infinity times a weight of 0 is NaN."
        )


ON_ITS_SIDE = 5  # from that orientation on rows are columns


def upright(decoded: Decoded, notes: list[str]) -> NDArray[Any]:
    """The samples, (H, W, C), in sRGB, turned and mirrored as their orientation asks for."""
    samples, icc, colours = decoded.samples, decoded.icc, decoded.colours
    if samples.ndim == 2:
        samples = samples[:, :, np.newaxis]
    if icc is None and not colours and exif_of.is_adobe_rgb(decoded.exif):
        icc, colours = colour_profiles.adobe_rgb()
    if icc is not None:
        samples = colour_profiles.to_srgb(samples, icc, notes, colours)
    elif colours:
        notes.append(f"Colours of {colours} are shown as if they were sRGB.")
    if (orientation := decoded.orientation) not in range(2, 9):
        return samples
    told = {exif_of.orientation_of({}, decoded.xmp): "XMP"}
    told[exif_of.orientation_of(decoded.exif)] = "EXIF"
    notes.append(f"Rotated upright ({told.get(orientation, 'header')}).")
    if decoded.is_upright:
        return samples
    if orientation >= ON_ITS_SIDE:
        samples = samples.swapaxes(0, 1)
    if orientation in (3, 4, 7, 8):
        samples = samples[::-1]
    if orientation in (2, 3, 6, 7):
        samples = samples[:, ::-1]
    return samples


# -- PFM, of which Pillow lacks colours, and lines that end as on Windows

# Width, height and order of bytes; how bright a value is, which follows, is left to who looks.
_GAP = rb"(?:\s+(?:#.*\n\s*)*)"
_PFM = re.compile(rb"P([Ff])%b(\d{1,9})%b(\d{1,9})%b(-?)[\d.eE+-]+(?:\r\n|\s)" % (_GAP, _GAP, _GAP))


class PfmReader:
    """A reader of such a file, by its header."""

    count = 1  # of pages

    def __init__(self, path: Path, header: re.Match[bytes]) -> None:
        self._path, self._start = path, header.end()
        self._shape = int(header[3]), int(header[2]), 3 if header[1] == b"F" else 1
        self._dtype = "<f4" if header[4] else ">f4"

    def need(self) -> Need:
        """Memory for the samples, and as they are in the file."""
        (height, width, channels), ours = self._shape, 4 * prod(self._shape)
        if self._start + ours > self._path.stat().st_size:
            raise EOFError(self._path.name)
        return Need(self._path.name, width, height, channels, ours, 2 * ours)

    def read(self, notes: list[str]) -> Decoded:
        """Read (H, W, 1 or 3) of float32, whose rows are in the file from the bottom up."""
        stored = np.fromfile(self._path, self._dtype, prod(self._shape), offset=self._start)
        from_pillow.note_more_pnm(self._path, self._start + stored.nbytes, notes)
        return Decoded(stored.reshape(self._shape)[::-1].astype(np.float32))
