"""TIFF files in their own depth: tifffile reads them, with imagecodecs where they are packed."""

from __future__ import annotations

import io
from bisect import bisect, bisect_left
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from copy import copy
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
import tifffile
from numpy.typing import NDArray
from PIL import Image, UnidentifiedImageError
from tifffile import COMPRESSION, PHOTOMETRIC, PREDICTOR, SAMPLEFORMAT

from kernels.core.job import PIXEL_TYPES
from workbench.files import colour_profiles
from workbench.files import exif as exif_of
from workbench.files.colour_profiles import spread, undo_premultiplied
from workbench.files.from_pillow import Decoded, check_page
from workbench.files.needs import Need
from workbench.files.picture_errors import RAW, ImageFileError, not_read
from workbench.files.tiff_rows import levels_of
from workbench.imaging.pictures import Page

_NUMBERS = (*range(256, 260), 262, 266, 273, *range(277, 280), 284, 317, *range(322, 326), 338, 339)
_BYTE, _SHORT, _FORM_TAG = 1, 3, 339
_processed = tifffile.TiffTag._process_value


def _as_numbers(value: Any, code: int, kind: int, at: int) -> Any:
    """The value of a tag as `tifffile` has it, also of numbers that are written as bytes."""
    if kind == _BYTE and code in _NUMBERS and isinstance(value, bytes):
        value, kind = tuple(value), _SHORT
    if code == _FORM_TAG and isinstance(value, tuple):  # samples of no form are whole numbers
        value = tuple(SAMPLEFORMAT.UINT if each == SAMPLEFORMAT.VOID else each for each in value)
    return _processed(value, code, kind, at)


tifffile.TiffTag._process_value = staticmethod(_as_numbers)  # type: ignore[method-assign]
_SIGNATURES = (b"II*\0", b"MM\0*", b"II+\0", b"MM\0+")
ICC_PROFILE_TAG, INK_SET_TAG, _PHOTOMETRIC_TAG, _COLOUR_MAP_TAG = 34675, 332, 262, 320
_COUNTS_TAG, _TILE_COUNTS_TAG = 279, 325  # of bytes
MAX_JPEGS = 256  # that are looked at, since slides have many; Pillow knows none of two channels
MAX_PADDING_BYTES = 1 << 26  # of a tile, beyond what the whole picture takes
_SPREAD = ("uint8", "uint16", "int8", "int16", "float16")  # what float32 holds without rounding
_COLOURS: dict[int, int] = {  # how many channels of a page are colour
    PHOTOMETRIC.MINISWHITE: 1,
    PHOTOMETRIC.MINISBLACK: 1,
    PHOTOMETRIC.RGB: 3,
    PHOTOMETRIC.PALETTE: 1,
    PHOTOMETRIC.SEPARATED: 4,
}
# Decoders that give no more than they are asked for, however much is packed into a strip.
_BOUNDED = (
    *(COMPRESSION.NONE, COMPRESSION.LZW, COMPRESSION.ADOBE_DEFLATE, COMPRESSION.DEFLATE),
    *(COMPRESSION.PACKBITS, COMPRESSION.LZMA, COMPRESSION.ZSTD, COMPRESSION.ZSTD_DEPRECATED),
)
# Bits and formats; of other numbers of bits programs differ in their order.
_SAMPLES = (
    *((bits, SAMPLEFORMAT.UINT) for bits in (*range(1, 17), 32, 64)),
    *((bits, SAMPLEFORMAT.INT) for bits in (8, 16, 32, 64)),
    *((bits, SAMPLEFORMAT.IEEEFP) for bits in (16, 24, 32, 64)),
)
_WEBP = (COMPRESSION.WEBP, 34927)
# Pillow's libtiff keeps JPEG within bounds, and tells of faxes that are damaged.
_JPEG = (COMPRESSION.JPEG, COMPRESSION.OJPEG)
_FAX = (COMPRESSION.CCITTRLE, COMPRESSION.CCITTFAX3, COMPRESSION.CCITTFAX4)
_BY_PILLOW = (*_COLOURS, PHOTOMETRIC.YCBCR, PHOTOMETRIC.CIELAB)
_DNG_VERSION, _RAW = 50706, (32803, 34892)  # a tag; colours of a mosaic, and of one undone
_CMYK = 1  # of the tag InkSet
_ASSOCIATED, _UNASSOCIATED = 1, 2  # of the tag ExtraSamples


def opened(
    path: Path, files: ExitStack, number: int = 1, level: int = 0, *, by_rows: bool = False
) -> TiffReader | None:
    """Open a TIFF file; None where it is none, or this does not read it.

    files    closes it
    number   of the page, from 1
    level    0: the picture itself; else one of its reduced copies, as `TiffReader.sizes` counts
    by_rows  for some rows at a time; of the whole Pillow reads some kinds
    Raises ImageFileError where nothing reads it, EOFError where it is cut short.
    """
    if not is_tiff(path):
        return None
    tiff = files.enter_context(tifffile.TiffFile(path))
    if _is_raw(tiff.pages.first):
        raise not_read(path.name, *RAW)
    reader = TiffReader(path, tiff, number, level)
    page = reader.page
    if _PHOTOMETRIC_TAG not in page.tags and page.compression not in _FAX:
        is_colour = page.samplesperpixel >= 3
        page.photometric = PHOTOMETRIC.RGB if is_colour else PHOTOMETRIC.MINISBLACK
        if _COLOUR_MAP_TAG in page.tags:
            page.photometric = PHOTOMETRIC.PALETTE
    _refuse_odd(path, page)
    if not (_is_for_us(page) or ((by_rows or page.is_subifd) and _is_usual_jpeg(page))):
        if page.is_subifd:
            raise not_read(path.name, "a TIFF with a thumbnail in place of its picture")
        return None
    if page.compression in _BOUNDED and not page.is_tiled and page.imagelength % page.rowsperstrip:
        _allow_filled_strip(page)
    if page.photometric == PHOTOMETRIC.RGB:
        page.__dict__["is_jfif"] = False  # which goes by what the TIFF says, as a whole and by rows
    return reader


def _allow_filled_strip(page: tifffile.TiffPage) -> None:
    """Let the last strip have as many rows as the others; those beyond the picture are left out."""
    rows, tall = page.imagelength, copy(page)
    tall.shaped = (*page.shaped[:2], rows + -rows % page.rowsperstrip, *page.shaped[3:])
    usual = page.decode

    def decode(data: bytes | None, index: int, **how: Any) -> Any:
        try:
            return usual(data, index, **how)
        except Exception:  # noqa: BLE001 - each decoder has its own for what is too long
            segment, at, shape = tall.decode(data, index, **how)
            assert segment is not None  # which does not fail
            left = min(rows - at[2], shape[1])
            return segment[:, :left], at, (shape[0], left, *shape[2:])

    page.__dict__["decode"] = decode  # which is computed only once


def _page_of(path: Path, tiff: tifffile.TiffFile, number: int) -> tuple[tifffile.TiffPage, Page]:
    """The page of that number, from 1, and what is said of it.  Raises ImageFileError."""
    count, first, planes, label = len(tiff.pages), tiff.pages.first, 1, ""
    has_axes = count == 1 or '"axes"' in first.description  # else a look at all pages says nothing
    if tiff.is_imagej or tiff.is_ome or (tiff.is_shaped and has_axes):
        with suppress(Exception):  # damaged, they say nothing
            planes, label = _planes_and_label(path, number - 1)
    count = max(count, planes)
    check_page(path, number, count)
    page: Any = copy(first) if planes > 1 else tiff.pages[number - 1]
    if page.is_reduced:  # a thumbnail of what lies inside
        page = next((each for each in page.pages or () if not each.is_reduced), page)
    if planes > 1:
        one, sizes = first.nbytes, first.databytecounts
        page.dataoffsets = tuple(each + (number - 1) * one for each in first.dataoffsets)
        # The only strip is one plane, or all of them; some programs count more.
        page.databytecounts = tuple(one if each >= planes * one else each for each in sizes)
    return page, Page(number, count, "a smaller copy" if page.is_reduced else label)


def _planes_and_label(path: Path, index: int) -> tuple[int, str]:
    """How many planes lie one behind the other on the only page, and "c 2, z 5" of one, from 0."""
    # By itself, as its pages become frames; and no other file is read, whatever OME says.
    with tifffile.TiffFile(path, _multifile=False) as tiff:
        planes, label = 1, ""
        for each in tiff.series:
            sizes, start = each.shape[: each.ndim - each.keyframe.ndim], each.keyframe.index
            listed: Sequence[int | None] = range(start, start + prod(sizes))
            if not each.dataoffset:  # they lie anywhere
                listed = [page and page.index for page in each.pages]
            elif len(tiff.pages) == 1:
                planes = prod(sizes)
            if sizes and index in listed:
                named = zip(each.axes, np.unravel_index(listed.index(index), sizes), strict=False)
                words = (f"{name.lower()} {n + 1}" for name, n in named if name not in "QI")
                label = ", ".join(words)
        return planes, label


def _is_raw(page: tifffile.TiffPage) -> bool:
    """True for the first page, a thumbnail, of a camera's raw file."""
    pages: list[Any] = [page]
    with suppress(Exception):  # the others are damaged
        pages += page.pages or ()
    return _DNG_VERSION in page.tags or any(each.photometric in _RAW for each in pages)


def is_tiff(path: Path) -> bool:
    """True if a file is a TIFF.  Raises OSError."""
    with path.open("rb") as file:
        return file.read(4).startswith(_SIGNATURES)


class TiffReader:
    """A reader of a page of a TIFF file, or of a reduced copy of the first one."""

    def __init__(self, path: Path, tiff: tifffile.TiffFile, number: int, level: int) -> None:
        self._path, self._tiff = path, tiff
        self._base, self.shown = _page_of(path, tiff, number)
        self.page = levels_of(tiff)[level - 1] if level else self._base
        self._told: Any = tiff.pages[number - 1] if self._base.is_subifd else self._base
        self.count, self._is_plane = self.shown.count, self.shown.count > len(tiff.pages)
        self._kept_fields: exif_of.Fields | None = None

    def need(self) -> Need:
        """Memory for the file's samples, and for what they become where that is not in place."""
        page = self.page
        pixels, channels = page.imagewidth * page.imagelength, _channels_of(page)
        made = pixels * channels * min(np.dtype(page.dtype).itemsize, 4)
        is_kept = channels == page.samplesperpixel and str(page.dtype) in PIXEL_TYPES
        is_planar = page.samplesperpixel > 1 and page.planarconfig == tifffile.PLANARCONFIG.SEPARATE
        held = _stored_bytes(page)
        held += 0 if is_kept and not is_planar else made
        held += 0 if page.compression == COMPRESSION.NONE else self._path.stat().st_size
        return Need(self._path.name, page.imagewidth, page.imagelength, channels, made, held)

    def read(self, notes: list[str]) -> Decoded:
        """Read (H, W, C) of one of PIXEL_TYPES, native byte order, alpha not multiplied in."""
        return self.decoded(_as_stored(self.page), notes)

    def sizes(self) -> tuple[tuple[int, int], ...]:
        """Width and height of the picture, then of its reduced copies in the file."""
        copies = levels_of(self._tiff) if self.shown.number == 1 else ()
        pages = (self._base, *copies)
        return tuple((int(each.imagewidth), int(each.imagelength)) for each in pages)

    def decoded(self, stored: NDArray[Any], notes: list[str]) -> Decoded:
        """Convert samples, (rows, W, C) as they are stored, maybe in place.

        notes  gets a sentence for each conversion made
        """
        if self._kept_fields is None:
            self._kept_fields = exif_of.fields_in(self._tiff, notes, self._told)
        page, tags, fields = self.page, self._base.tags, self._kept_fields
        xmp = exif_of.data_of(fields, exif_of.XMP_TAG)
        if _PHOTOMETRIC_TAG not in page.tags:
            kind = "grey" if page.photometric == PHOTOMETRIC.MINISBLACK else "colours"
            notes.append(f"The file does not say what its samples mean; they are read as {kind}.")
        counts = tags.valueof(_TILE_COUNTS_TAG) or tags.valueof(_COUNTS_TAG)
        is_told = counts is not None and page is self._base and not self._is_plane
        if is_told and counts != page.databytecounts:
            notes.append("Wrong counts of bytes in the file were passed over.")
        if page.imagedepth > 1:
            notes.append(f"Only the first of {page.imagedepth} layers in depth is read.")
        samples = _meant(stored, page, notes)
        is_inks = page.photometric == PHOTOMETRIC.SEPARATED  # converted by their profile already
        icc, colours = None if is_inks else self._told.tags.valueof(ICC_PROFILE_TAG), ""
        if icc is None:
            icc, colours = colour_profiles.of_tiff(self._base)
        return Decoded(
            samples,
            icc,
            exif_of.orientation_of(fields, xmp),
            fields,
            xmp,
            self.shown,
            exif_of.iptc_of(fields, notes),
            colours=colours,
        )


def _is_for_us(page: tifffile.TiffPage) -> bool:
    """True if tifffile reads the page; else Pillow does."""
    if _PHOTOMETRIC_TAG not in page.tags and page.samplesperpixel == 1:  # Pillow inverts it
        return page.compression not in _FAX and (
            page.compression not in _JPEG or _is_usual_jpeg(page)
        )
    return page.compression not in (*_JPEG, *_FAX) and page.photometric in _COLOURS


def _is_usual_jpeg(page: tifffile.TiffPage) -> bool:
    """True if a page is packed as slide scanners do it; as a whole, Pillow reads it."""
    return bool(
        page.compression == COMPRESSION.JPEG
        and page.photometric in (PHOTOMETRIC.MINISBLACK, PHOTOMETRIC.RGB, PHOTOMETRIC.YCBCR)
        and page.bitspersample == 8
        and page.samplesperpixel == _colours_of(page)
        and (page.planarconfig == tifffile.PLANARCONFIG.CONTIG or page.samplesperpixel == 1)
    )


def _colours_of(page: tifffile.TiffPage) -> int:
    """Channels that are colour; JPEG's luma and chroma are RGB by then."""
    return 3 if page.photometric == PHOTOMETRIC.YCBCR else _COLOURS[page.photometric]


def _refuse_odd(path: Path, page: tifffile.TiffPage) -> None:
    """Raise ImageFileError for a kind that nothing here reads, EOFError where it is cut short."""
    if not _is_read(page):
        kinds = page.compression, page.predictor, page.photometric, page.sampleformat
        more = page.samplesperpixel, page.bitspersample, page.tags.valueof(INK_SET_TAG)
        packing, predictor, colours, form, channels, bits, inks = (
            getattr(each, "name", each) if isinstance(each, int) else "unknown"
            for each in (*kinds, *more)
        )
        raise ImageFileError(
            f"{path.name} is a TIFF of a kind this program does not read (compression {packing}, "
            f"predictor {predictor}, colours {colours}, inks {inks}, {channels} "
            f"channels of {bits} bits, {form}); save it as RGB or grey with another program."
        )
    if len(page.dataoffsets) < prod(page.chunked):
        raise EOFError(path.name)
    row_bytes = int(-(-prod(page.chunks[1:]) * page.bitspersample // 8))
    _refuse_other_lengths(path, page, row_bytes)
    _end_with_file(path, page, row_bytes)
    tile_bytes = prod(page.chunks) * np.dtype(page.dtype).itemsize
    if page.is_tiled and tile_bytes > MAX_PADDING_BYTES + _stored_bytes(page):
        raise ValueError(f"tiles of {page.tilewidth}×{page.tilelength}")
    if page.compression in _WEBP or (_JPEG[0] == page.compression and page.samplesperpixel != 2):
        _refuse_other_sizes(path, page)


def _refuse_other_lengths(path: Path, page: tifffile.TiffPage, row_bytes: int) -> None:
    """Raise ValueError where strips or tiles hold other samples than the header says.

    Counts of bytes are often wrong; one that is as many for each pixel is so by no accident.
    """
    pixels, needed = prod(page.chunks[:2]), page.chunks[0] * row_bytes
    at, count = page.dataoffsets[0], (*page.databytecounts, 0)[0]
    is_other = page.samplesperpixel > 1 and page.planarconfig not in tuple(tifffile.PLANARCONFIG)
    if page.imagedepth > 1 or not 0 < count <= path.stat().st_size - at:
        pass
    elif page.compression == COMPRESSION.NONE:
        is_other |= count != needed and count % pixels == 0
    elif page.compression in _BOUNDED and needed <= MAX_PADDING_BYTES:
        file, unpack = page.parent.filehandle, tifffile.TIFF.DECOMPRESSORS[page.compression]
        file.seek(at)
        packed = file.read(count)
        for room in (needed + 1, min(32 * needed, MAX_PADDING_BYTES)):
            with suppress(Exception):  # too small a room, or damage, which decoding refuses
                is_other |= len(unpack(packed, out=room)) > needed
                break
    if is_other:
        raise ValueError("samples of other sizes")


def _end_with_file(path: Path, page: tifffile.TiffPage, row_bytes: int) -> None:
    """Shorten strips and tiles that go on behind the file's end; raises EOFError where cut short.

    Some programs write no count of bytes, or too large a one; each goes on to the next at most.
    Samples that are not packed tell it by themselves; ValueError where they are something else.
    """
    size, counts, high = path.stat().st_size, list(page.databytecounts), page.chunks[0]
    are_all = len(counts) == len(page.dataoffsets)
    ends = sorted({*page.dataoffsets, page.offset, size, *(tag.valueoffset for tag in page.tags)})
    if not (is_told := are_all and (any(counts) or not any(page.dataoffsets))):
        counts = [ends[bisect(ends, at)] - at if 0 < at < size else 0 for at in page.dataoffsets]
    is_plain, tiff = page.compression == COMPRESSION.NONE, page.parent
    directory_end = page.offset + tiff.tiff.tagnosize + len(page.tags) * tiff.tiff.tagsize
    for index, (at, count) in enumerate(zip(page.dataoffsets, counts, strict=True)):
        if is_told and at == count == 0:
            continue  # a hole
        strip = index % -(-page.imagelength // high)
        rows = high if page.is_tiled else min(high, page.imagelength - strip * high)
        needed = rows * row_bytes
        end = at + (needed if is_plain else 1)
        if at < 8 or (at < directory_end and page.offset < end):
            raise ValueError(f"samples at {at}")  # in the header, or in the directory
        is_wrong = is_plain and count not in (needed, high * row_bytes)
        if is_told and 0 < count <= size - at and not is_wrong:
            continue
        if is_told and is_plain:
            behind = min(at + count, ends[bisect_left(ends, min(end, size))]) - end
            tiff.filehandle.seek(end)
            if count < needed or (behind > 0 and tiff.filehandle.read(behind).strip(b"\0")):
                raise ValueError(f"{count} bytes for {needed}")
        counts[index] = max(min(needed if is_plain else count, size - at), 0)
        tiff.filehandle.seek(at)
        packed = tiff.filehandle.read(counts[index])
        unpack = tifffile.TIFF.DECOMPRESSORS[page.compression]
        if page.imagedepth > 1 or len(unpack(packed, out=needed)) < needed:
            raise EOFError(path.name)
    page.databytecounts = tuple(counts)


def _channels_of(page: tifffile.TiffPage) -> int:
    colours = _colours_of(page)
    if page.photometric == PHOTOMETRIC.PALETTE:
        return 3 + (page.samplesperpixel == 2)
    return min(colours, 3) + (page.samplesperpixel == colours + 1)


def _meant(samples: NDArray[Any], page: tifffile.TiffPage, notes: list[str]) -> NDArray[Any]:
    if page.photometric == PHOTOMETRIC.PALETTE:
        notes.append("Indexed colours expanded to RGB.")
        colours = np.asarray(page.colormap).T  # of 16 bits, where some files fill the lower 8
        colours = (colours if colours.max() < 256 else colours >> 8).astype(np.uint8)
        expanded: NDArray[Any] = colours[samples[:, :, 0]]
        alpha = _without_extra(samples, page, notes)[:, :, 1:]
        if alpha.size:
            alpha = spread(alpha, page.bitspersample, [])
            expanded = np.dstack([expanded, alpha >> 8 * (alpha.itemsize - 1)]).astype(np.uint8)
        return expanded
    samples = spread(samples, page.bitspersample, notes)
    if page.photometric == PHOTOMETRIC.MINISWHITE:
        notes.append("Inverted: the file stores white as 0.")
        grey = samples[:, :, 0]
        samples[:, :, 0] = ~grey if grey.dtype.kind in "ui" else 1 - grey
    samples = _without_extra(samples, page, notes)
    if page.photometric == PHOTOMETRIC.SEPARATED:
        icc = page.tags.valueof(ICC_PROFILE_TAG) or b""
        alpha = samples[:, :, 4:]
        samples = colour_profiles.cmyk_to_rgb(samples[:, :, :4], icc, notes)
        samples = np.dstack([samples, alpha]) if alpha.size else samples
    if str(samples.dtype) in PIXEL_TYPES:
        return samples
    with np.errstate(over="ignore"):
        as_float = samples.astype(np.float32)
    is_exact = str(samples.dtype) in _SPREAD
    kept = "values unchanged" if is_exact else "rounded where it holds fewer digits"
    before = np.isinf(samples).sum() if samples.dtype.kind == "f" else 0
    beyond = np.isinf(as_float).sum() - before
    too_large = f"; {beyond:,} of them are too large for it and infinite" if beyond else ""
    if len(samples) < page.imagelength and samples.dtype == np.float64:  # others are to come
        too_large = "; what is too large for it becomes infinite"
    notes.append(f"Converted from {samples.dtype} to float32, {kept}{too_large}.")
    return as_float


# -- what cannot be read


def _is_read(page: tifffile.TiffPage) -> bool:
    if page.compression not in (*_BOUNDED, *_WEBP, *_JPEG, *_FAX):
        return False
    if not _is_for_us(page):
        if page.compression in _FAX:
            return page.bitspersample == page.samplesperpixel == _COLOURS.get(page.photometric) == 1
        is_in_planes = (
            page.planarconfig == tifffile.PLANARCONFIG.SEPARATE and page.samplesperpixel > 1
        )
        return bool(
            _PHOTOMETRIC_TAG in page.tags
            and page.photometric in _BY_PILLOW
            and page.bitspersample == 8
            and (page.photometric == PHOTOMETRIC.RGB or not is_in_planes)
            and not (page.is_subsampled and page.compression == COMPRESSION.NONE)
        )
    is_inks = page.photometric == PHOTOMETRIC.SEPARATED
    has_white = np.dtype(page.dtype).kind == "f" or page.dtype in ("uint8", "uint16")
    return bool(
        (page.bitspersample, page.sampleformat) in _SAMPLES
        and (page.bitspersample % 8 == 0 or page.predictor == PREDICTOR.NONE)
        and page.samplesperpixel >= _COLOURS[page.photometric]
        # Beside grey a file tells of more than alpha; else they are colours.
        and (_colours_of(page) > 1 or page.samplesperpixel <= 1 + max(1, len(page.extrasamples)))
        and (not is_inks or page.tags.valueof(INK_SET_TAG, _CMYK) == _CMYK)
        and (has_white or not (is_inks or _ASSOCIATED in page.extrasamples))
    )


def _refuse_other_sizes(path: Path, page: tifffile.TiffPage) -> None:
    """Raise ValueError where a strip or tile holds a WebP larger than it, or a smaller JPEG."""
    (high, wide), is_webp = page.chunks[:2], page.compression in _WEBP
    with path.open("rb") as file:
        for index, offset in enumerate(page.dataoffsets[: None if is_webp else MAX_JPEGS]):
            file.seek(offset)
            if not (data := file.read(page.databytecounts[index])):
                continue  # a hole
            with suppress(UnidentifiedImageError), Image.open(io.BytesIO(data)) as packed:
                top = 0 if page.is_tiled else index % -(-page.imagelength // high) * high
                is_small = packed.width < wide or packed.height < min(high, page.imagelength - top)
                if (packed.height > high or packed.width > wide) if is_webp else is_small:
                    raise ValueError(f"a strip of {packed.size}")
                continue
            raise ValueError("a strip of something else")


def _stored_bytes(page: tifffile.TiffPage) -> int:
    pixels = page.imagewidth * page.imagelength * page.imagedepth
    return int(pixels * page.samplesperpixel * np.dtype(page.dtype).itemsize)


# -- from what is stored to what is meant


def _as_stored(page: tifffile.TiffPage) -> NDArray[Any]:
    samples = page.asarray(squeeze=False)[:, 0]  # planes, rows, columns, channels
    samples = samples[0] if len(samples) == 1 else np.moveaxis(samples[..., 0], 0, -1)
    samples = samples.view(np.uint8) if samples.dtype == np.bool_ else samples
    return np.ascontiguousarray(samples.astype(samples.dtype.newbyteorder("="), copy=False))


def _without_extra(
    samples: NDArray[Any], page: tifffile.TiffPage, notes: list[str]
) -> NDArray[Any]:
    """Keep at most one channel behind the colours: alpha, not multiplied in."""
    held, colours = samples.shape[2], _colours_of(page)
    if held > colours + 1:
        names = {1: "first of {} channels is", 3: "first three of {} channels are"}
        first = names.get(colours, "first four of {} channels are").format(held)
        notes.append(f"Only the {first} read.")
        return samples[:, :, :colours]
    if held == colours:
        return samples
    meaning = page.extrasamples[0] if page.extrasamples else 0
    if meaning == _ASSOCIATED and page.photometric != PHOTOMETRIC.PALETTE:
        undo_premultiplied(samples, notes)
    elif meaning not in (_ASSOCIATED, _UNASSOCIATED):
        notes.append("The last channel was read as alpha; the file does not say what it is.")
    return samples
