"""Encode samples as a file format, with the profile that says how their values are meant."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, BinaryIO

import imagecodecs
import numpy as np
from numpy.typing import NDArray
from PIL import Image

from kernels.pictures.generated import stored_as, white, with_channels
from workbench.files import exif as exif_of
from workbench.files import png
from workbench.files.colour_profiles import bands, has_hidden_colours, light_of, profile_for
from workbench.files.formats import EXR_CHANNELS, Format, able, format_of
from workbench.files.from_jxl import as_srgb
from workbench.files.from_pillow import need_heif
from workbench.files.picture_errors import ImageFileError
from workbench.imaging.pictures import NO_METADATA, Metadata

# Gets the file, to be read as well, the samples, a quality, None: as good as it gets, and the
# metadata that the format holds.
Samples = NDArray[Any]
Writer = Callable[[BinaryIO, Samples, int | None, Metadata], None]
JPEG_QUALITY = 95  # of JPEG and AVIF, where none is asked for
MAX_TIFF_BYTES = 2**32 - 2**25  # of samples; beyond, it is a BigTIFF
_SHORT, _LONG, _LONG8 = 3, 4, 16  # types of TIFF's tags


def writer_for(path: Path, samples: Samples) -> Writer:
    """The writer in the format that the extension names.  Raises ImageFileError."""
    wanted = format_of(path)
    if why_not := wanted.why_not(samples):
        instead = " or ".join([each.title for each in able(samples)][:2])
        raise ImageFileError(
            f"Cannot save {path.name}: {wanted.title} does not hold {why_not}; save as {instead}."
        )
    return WRITERS[wanted.family]


def _write_png(file: BinaryIO, samples: Samples, _quality: int | None, metadata: Metadata) -> None:
    channels = samples.shape[2]
    chunks = [(b"iCCP", b"icc\0\0" + _packed_profile(channels))]
    if metadata.xmp is not None:
        chunks.append((b"iTXt", png.XMP_KEYWORD.encode() + png.PLAIN_UTF8 + metadata.xmp))
    for word, text in metadata.texts:
        if isinstance(text, png.Text) and text.kind != b"COM":
            chunks.append((text.kind, text.data))
        else:
            chunks.append((b"iTXt", word.encode("latin-1") + png.PLAIN_UTF8 + text.encode()))
    if metadata.iptc is not None:
        chunks.append(png.raw_profile("iptc", exif_of.resources_of(metadata.iptc)))
    if (exif := exif_of.with_resolution(metadata)) is not None:
        chunks.append((b"eXIf", exif))
    if metadata.resolution is not None:
        per_metre = (round(each / 0.0254) for each in metadata.resolution)
        chunks.append((b"pHYs", struct.pack(">IIB", *per_metre, 1)))
    file.writelines(png.parts_of(samples, chunks))


@cache
def _packed_profile(channels: int) -> bytes:
    return zlib.compress(profile_for(channels))


def _write_tiff(file: BinaryIO, samples: Samples, _quality: int | None, metadata: Metadata) -> None:
    head, end, directory = tiff_around(samples.shape, samples.dtype, metadata)
    file.write(head)
    file.write(np.ascontiguousarray(samples, samples.dtype.newbyteorder("<")).data)
    file.write(bytes(end - len(head) - samples.nbytes) + directory)


def tiff_around(
    shape: tuple[int, ...],
    dtype: np.dtype[Any],
    metadata: Metadata,
    tile: tuple[int, int] | None = None,
) -> tuple[bytes, int, bytes]:
    """What is in a TIFF beside samples, (H, W, C), that are little-endian and not packed.

    tile     rows and columns of a tile; None: the samples lie as in memory
    returns  the header, behind which they begin; the offset of the directory, and that
    """
    (height, width, channels), (high, wide) = shape, tile or shape[:2]
    count, each = -(-height // high) * -(-width // wide), high * wide * channels * dtype.itemsize
    is_big = count * each > MAX_TIFF_BYTES
    end = 16 + count * each + -count * each % 8
    head = struct.pack("<2sHHHQ", b"II", 43, 8, 0, end) if is_big else b""

    def field(kind: int, *numbers: int) -> exif_of.Field:
        code = {_SHORT: "H", _LONG: "I", _LONG8: "Q"}[kind]
        return kind, len(numbers), struct.pack(f"<{len(numbers)}{code}", *numbers)

    place = _LONG8 if is_big else _LONG
    at, sizes = field(place, *range(16, 16 + count * each, each)), field(place, *[each] * count)
    own = {
        256: field(_LONG, width),
        257: field(_LONG, height),
        258: field(_SHORT, *[8 * dtype.itemsize] * channels),
        259: field(_SHORT, 1),  # not packed
        262: field(_SHORT, 2 if channels >= 3 else 1),
        277: field(_SHORT, channels),
        284: field(_SHORT, 1),  # channels beside each other
        339: field(_SHORT, *[3 if dtype.kind == "f" else 1] * channels),
    }
    if tile is None:
        own |= {273: at, 278: field(_LONG, height), 279: sizes}
    else:
        own |= {322: field(_LONG, wide), 323: field(_LONG, high), 324: at, 325: sizes}
    own |= {338: field(_SHORT, 2)} if channels in (2, 4) else {}  # alpha, not multiplied in
    # What floats stand for only their maker knows: light, heights or differences.
    icc = profile_for(channels) if dtype.kind == "u" else None
    told = (34675, icc), (exif_of.XMP_TAG, metadata.xmp), (exif_of.IPTC_TAG, metadata.iptc)
    for tag, data in told:
        own |= {tag: (1 if tag == exif_of.XMP_TAG else 7, len(data), data)} if data else {}
    fields = exif_of.fields_in(exif_of.with_resolution(metadata), [])
    fields[0] = fields.get(0, {}) | own
    directory = exif_of.directory(fields, 0, end, is_big=is_big)
    return head or struct.pack("<2sHI8x", b"II", 42, end), end, directory


APP1, APP2, APP13, COM = 0xE1, 0xE2, 0xED, 0xFE
JPEG_ICC = b"ICC_PROFILE\0\x01\x01"  # in front of a profile in an APP2: the first of one part
_JFIF_DENSITY, _JPEG_HEADER_END = 13, 20  # of JFIF's own segment, which encoders write first


def _write_jpeg(file: BinaryIO, samples: Samples, quality: int | None, metadata: Metadata) -> None:
    channels = samples.shape[2]
    is_grey = channels == 1
    encoded = imagecodecs.jpeg8_encode(
        _plain(samples),
        level=quality or JPEG_QUALITY,
        colorspace="GRAYSCALE" if is_grey else "RGB",
        outcolorspace="GRAYSCALE" if is_grey else "YCBCR",
        subsampling="444",
    )
    view, segments = memoryview(encoded), []
    if (exif := exif_of.with_resolution(metadata)) is not None:
        segments.append((APP1, exif_of.PREFIX + exif))
    if metadata.xmp is not None:
        segments.append((APP1, exif_of.JPEG_XMP + metadata.xmp))
    segments.append((APP2, JPEG_ICC + profile_for(channels)))
    if metadata.iptc is not None:
        segments.append((APP13, exif_of.PHOTOSHOP + exif_of.resources_of(metadata.iptc)))
    for _, text in metadata.texts:
        was = text.data if isinstance(text, png.Text) and text.kind == b"COM" else text.encode()
        segments.append((COM, was))
    told = metadata.resolution or (0, 0)
    is_held = all(1 <= each < 65_535 for each in told)  # in whole pixels per inch
    density = struct.pack(">BHH", is_held, *(round(each) if is_held else 1 for each in told))
    file.write(
        bytes(view[:_JFIF_DENSITY]) + density + view[_JPEG_HEADER_END - 2 : _JPEG_HEADER_END]
    )
    for kind, data in segments:  # of 65,533 bytes at most each
        file.write(struct.pack(">BBH", 0xFF, kind, len(data) + 2) + data)
    file.write(view[_JPEG_HEADER_END:])


# Of Pillow's writers: always; and where no quality is asked for.
_OPTIONS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "WebP": ({"exact": True}, {"lossless": True}),
    "AVIF": ({"subsampling": "4:4:4"}, {"quality": JPEG_QUALITY}),
    "HEIF": ({"chroma": 444}, {"quality": -1, "matrix_coefficients": 0}),
}


def _by_pillow(kind: str) -> Writer:
    def write(file: BinaryIO, samples: Samples, quality: int | None, metadata: Metadata) -> None:
        if kind == "HEIF":
            need_heif("Cannot save")
        always, best = _OPTIONS[kind]
        options = always | (best if quality is None else {"quality": quality})
        if kind == "AVIF" and samples.shape[2] == 1:
            options["subsampling"] = "4:0:0"
        if (exif := exif_of.with_resolution(metadata)) is not None:
            options["exif"] = exif_of.PREFIX + exif
        if metadata.xmp is not None:
            options["xmp"] = metadata.xmp
        icc = profile_for(samples.shape[2])
        Image.fromarray(_plain(samples)).save(file, kind, icc_profile=icc, **options)

    return write


def _write_jpeg_2000(
    file: BinaryIO, samples: Samples, quality: int | None, _metadata: Metadata
) -> None:
    ratio_db = 0 if quality is None else 20 + quality * 2 // 5  # of signal to noise; 0: no loss
    how: dict[str, Any] = {"codecformat": "jp2", "reversible": quality is None}
    encoded = bytes(imagecodecs.jpeg2k_encode(_plain(samples), level=ratio_db, **how))
    if (channels := samples.shape[2]) in (2, 4):  # the last one is alpha, of the whole picture
        colours = [(each, 0, each + 1) for each in range(channels - 1)]
        meant = b"".join(struct.pack(">3H", *each) for each in (*colours, (channels - 1, 1, 0)))
        box = struct.pack(">I4sH", len(meant) + 10, b"cdef", channels) + meant
        at = encoded.index(b"jp2h") - 4
        size = int.from_bytes(encoded[at : at + 4])
        header = (size + len(box)).to_bytes(4) + encoded[at + 4 : at + size] + box
        encoded = encoded[:at] + header + encoded[at + size :]
    file.write(encoded)


def _plain(samples: Samples) -> Samples:
    """Samples as encoders take them: C-contiguous, grey ones as (H, W)."""
    return np.ascontiguousarray(samples if samples.shape[2] > 1 else samples[:, :, 0])


def _write_bmp(file: BinaryIO, samples: Samples, _quality: int | None, metadata: Metadata) -> None:
    Image.fromarray(_plain(samples)).save(file, "BMP", dpi=metadata.resolution or (0, 0))


def _write_pnm(file: BinaryIO, samples: Samples, _quality: int | None, _metadata: Metadata) -> None:
    height, width, channels = samples.shape
    kind = "P5" if channels == 1 else "P6"
    file.write(f"{kind}\n{width} {height}\n{np.iinfo(samples.dtype).max}\n".encode())
    file.write(samples.astype(samples.dtype.newbyteorder(">"), copy=False).data)


def _write_jxl(file: BinaryIO, samples: Samples, quality: int | None, metadata: Metadata) -> None:
    if samples.dtype == np.float16 and not all(_is_in_jxl(row, quality) for row in samples):
        raise ImageFileError(
            "JPEG XL does not hold NaN of float16 nor, without loss, values below 0.00006; save as "
            "TIFF or OpenEXR."
        )
    how: dict[str, Any] = {"lossless": quality is None, "usecontainer": True}
    if (is_deep := samples.dtype == np.uint16) and quality is not None:  # read as linear light
        colours = samples.shape[2] - (samples.shape[2] in (2, 4))
        light = light_of(13, 1 << 16)[samples[..., :colours]]
        samples = np.dstack([light, samples[..., colours:]])
    encoded = bytes(imagecodecs.jpegxl_encode(_plain(samples), level=quality, **how))
    file.write(as_srgb(encoded) if is_deep else encoded)
    if (exif := exif_of.with_resolution(metadata)) is not None:
        file.write(struct.pack(">I4sI", len(exif) + 12, b"Exif", 0) + exif)  # 0: it begins there
    if metadata.xmp is not None:
        file.write(struct.pack(">I4s", len(metadata.xmp) + 8, b"xml ") + metadata.xmp)


def _is_in_jxl(halves: Samples, quality: int | None) -> bool:
    """True if none is NaN or, without loss, so small that it has fewer digits than others."""
    is_small = (halves != 0) & (np.abs(halves) < np.finfo(np.float16).tiny)
    return not (np.isnan(halves).any() or (quality is None and is_small.any()))


def _write_exr(file: BinaryIO, samples: Samples, *_: object) -> None:
    import OpenEXR

    names = EXR_CHANNELS[samples.shape[2] - 1]
    if names.endswith("A"):  # which is multiplied in
        samples = samples.copy()
        for rows in bands(samples):
            colours = samples[rows, :, :-1]
            with np.errstate(all="ignore"):
                colours *= samples[rows, :, -1:]
                halves = colours.astype(np.float16)  # which they were before they were divided
                near = np.abs(colours - halves) <= 2 * np.spacing(np.abs(colours))
            np.copyto(colours, halves, where=near)
    planes = {name: np.ascontiguousarray(samples[..., at]) for at, name in enumerate(names)}
    header = {"compression": OpenEXR.ZIP_COMPRESSION, "type": OpenEXR.scanlineimage}
    OpenEXR.File(header, planes).write(file)


WRITERS: dict[str, Writer] = {
    "PNG": _write_png,
    "TIFF": _write_tiff,
    "JPEG": _write_jpeg,
    "WebP": _by_pillow("WebP"),
    "BMP": _write_bmp,
    "PNM": _write_pnm,
    "JPEG XL": _write_jxl,
    "OpenEXR": _write_exr,
    "JPEG 2000": _write_jpeg_2000,
    "AVIF": _by_pillow("AVIF"),
    "HEIC": _by_pillow("HEIF"),
}


ROWS_AT_ONCE = 1024  # made to fit, for the sake of the memory that takes


@dataclass(frozen=True, slots=True)
class Fit:
    """The changes to a picture that a format makes."""

    format: Format
    changes: tuple[str, ...] = ()  # that would make it fit, a clause each; empty: it does already
    why_not: str | None = None  # it does not fit whatever is done
    instead: tuple[str, ...] = ()  # titles of formats that hold it as it is

    @property
    def is_exact(self) -> bool:
        return not self.changes and self.why_not is None

    @property
    def is_to_ask(self) -> bool:
        """True if what changes is more than text or the curve, of which to be told is enough."""
        told = "text ", "linear "
        return self.why_not is not None or any(not e.startswith(told) for e in self.changes)

    def __str__(self) -> str:
        """The losses, then the formats without any; "" where it is exact."""
        keeps = f" Without loss: {' and '.join(self.instead[:2])}." if self.instead else ""
        lost = f"it does not hold {self.why_not}" if self.why_not else ", ".join(self.changes)
        return "" if self.is_exact else f"{self.format.title}: {lost}.{keeps}"


_BECOMES = {"u": "are rounded to 8 bits", "f": "become floats from 0 to 1"}  # by the new kind


def fit_of(
    path: Path, samples: Samples, metadata: Metadata = NO_METADATA, full: float | None = None
) -> Fit:
    """The fit of samples, (H, W, C), to the format that `path` names.  Raises ImageFileError.

    full  the value of full intensity; None: that of the samples' type
    """
    wanted = format_of(path)
    corner = _reduced(samples[:1, :1], wanted)  # whose type and channels are those of all
    before, after = samples.shape[2], corner.shape[2]
    kinds, most = (samples.dtype.kind, corner.dtype.kind), full or white(samples.dtype)
    changes = {
        f"{samples.dtype} values {_BECOMES[corner.dtype.kind]}": corner.dtype != samples.dtype,
        "values above white are cut off": kinds == ("f", "u")
        and any((row > most).any() for row in samples),
        "linear light is taken for sRGB": metadata.is_linear and kinds[1] == "u",
        "sRGB is taken for linear light": kinds == ("u", "f") and wanted.family == "OpenEXR",
        "what is transparent becomes white": before in (2, 4) and after in (1, 3),
        "colours of pixels with alpha 0 become 0": wanted.family == "OpenEXR"
        and before in (2, 4)
        and has_hidden_colours(samples),
        "grey becomes three equal channels": before <= 2 < after,
        "colours become grey": before > 2 >= after,
        **{f"{_LOST[name]} is dropped": True for name in _lost(metadata, wanted)},
    }
    made = tuple(change for change, is_made in changes.items() if is_made)
    why_not = wanted.why_not(np.broadcast_to(corner, (*samples.shape[:2], after)))
    if not made and why_not is None:
        return Fit(wanted)
    can = () if metadata.is_linear and kinds[0] == "u" else able(samples)
    best = sorted(can, key=lambda each: metadata.is_linear and each.family != "OpenEXR")
    instead = tuple(each.title for each in best if not _lost(metadata, each))
    return Fit(wanted, made, why_not, instead)


_LOST = {
    "exif": "EXIF (camera, date, place)",
    "xmp": "XMP (title, rating, keywords)",
    "iptc": "IPTC (caption, credit, place)",
    "resolution": "the resolution (size on paper)",
    "texts": "text (title, author, comment)",
}


def _lost(metadata: Metadata, wanted: Format) -> list[str]:
    """The fields of `Metadata` that are lost in a format, but for the name of a program alone."""
    kept = wanted.kept(metadata)
    lost = [name for name in _LOST if getattr(kept, name) != getattr(metadata, name)]
    if "exif" in lost and metadata.exif is not None and not exif_of.is_telling(metadata.exif):
        lost.remove("exif")
    return lost


def reduced(path: Path, samples: Samples) -> Samples:
    """The samples changed as `fit_of` says; the same array where they fit."""
    wanted = format_of(path)
    corner = _reduced(samples[:1, :1], wanted)
    if (corner.dtype, corner.shape[2]) == (samples.dtype, samples.shape[2]):
        return samples
    made = np.empty((*samples.shape[:2], corner.shape[2]), corner.dtype)
    for top in range(0, len(samples), ROWS_AT_ONCE):
        made[top : top + ROWS_AT_ONCE] = _reduced(samples[top : top + ROWS_AT_ONCE], wanted)
    return made


def _reduced(samples: Samples, wanted: Format) -> Samples:
    channels = samples.shape[2]
    if channels in (2, 4) and not {2, 4} & set(wanted.channels):
        samples, channels = _on_white(samples), channels - 1
    if channels not in wanted.channels:
        has_alpha = channels in (2, 4)
        fitting = [each for each in wanted.channels if (each in (2, 4)) == has_alpha]
        samples = with_channels(samples, fitting[-1])
    if str(samples.dtype) in wanted.pixel_types:
        return samples
    return stored_as(samples, "uint8" if "uint8" in wanted.pixel_types else "float32")


def _on_white(samples: Samples) -> Samples:
    full = white(samples.dtype)
    alpha = samples[..., -1:].astype(np.float64).clip(0, full) / full
    flat = samples[..., :-1] * alpha + full * (1 - alpha)
    return (flat if samples.dtype.kind == "f" else np.rint(flat)).astype(samples.dtype)
