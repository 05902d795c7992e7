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
import tifffile
from numpy.typing import NDArray
from PIL import Image

from kernels.pictures.generated import stored_as, white, with_channels
from workbench.files import exif as exif_of
from workbench.files import png
from workbench.files.colour_profiles import profile_for
from workbench.files.formats import EXR_CHANNELS, Format, able, format_of
from workbench.files.from_pillow import need_heif
from workbench.files.picture_errors import ImageFileError
from workbench.imaging.pictures import NO_METADATA, Metadata

# Gets the file, to be read as well, the samples, a quality, None: as good as it gets, and the
# metadata that the format holds.
Samples = NDArray[Any]
Writer = Callable[[BinaryIO, Samples, int | None, Metadata], None]
JPEG_QUALITY = 95  # of JPEG and AVIF, where none is asked for
# Of what is too large for `png.parts_of`; both at zlib's level 1.  Of 8 bits the best of three
# filters for each row: files as large as Pillow's at that level, in three fifths of its time.
PNG_8_BITS = {"filter": imagecodecs.PNG.FILTER.FAST}
PNG_16_BITS = {"strategy": imagecodecs.PNG.STRATEGY.RLE, "filter": imagecodecs.PNG.FILTER.SUB}
MAX_TIFF_BYTES = 2**32 - 2**25  # of samples; beyond, it is a BigTIFF
XMP_TAG = 700  # of TIFF
XMP_KEYWORD = "XML:com.adobe.xmp"  # of a text in a PNG


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
        chunks.append((b"iTXt", XMP_KEYWORD.encode() + png.PLAIN_UTF8 + metadata.xmp))
    if metadata.exif is not None:
        chunks.append((b"eXIf", metadata.exif))
    if samples.nbytes <= png.MAX_BYTES:
        file.writelines(png.parts_of(samples, chunks))
        return
    encoded = imagecodecs.png_encode(
        _plain(samples),
        level=imagecodecs.PNG.COMPRESSION.SPEED,
        **PNG_8_BITS if samples.dtype == np.uint8 else PNG_16_BITS,
    )
    file.writelines(png.parts_with(encoded, chunks))


@cache
def _packed_profile(channels: int) -> bytes:
    return zlib.compress(profile_for(channels))


def _write_tiff(file: BinaryIO, samples: Samples, _quality: int | None, metadata: Metadata) -> None:
    channels, is_big = samples.shape[2], samples.nbytes > MAX_TIFF_BYTES
    words = tiff_words(samples.dtype, channels, metadata, is_big=is_big)
    with tifffile.TiffWriter(file, bigtiff=is_big) as tiff:
        tiff.write(samples if channels > 1 else samples[:, :, 0], **words)
    if metadata.exif is not None:
        exif_of.fill_tiff(file, metadata.exif)


def tiff_words(
    dtype: np.dtype[Any], channels: int, metadata: Metadata, *, is_big: bool
) -> dict[str, Any]:
    """The keywords of tifffile's writers beside the samples.

    EXIF's directories are empty until `exif.fill_tiff` fills them.
    """
    tags = [] if metadata.exif is None else exif_of.tiff_tags(metadata.exif, is_big=is_big)
    if metadata.xmp is not None:
        tags.append((XMP_TAG, "B", len(metadata.xmp), metadata.xmp, True))
    return {
        "photometric": "rgb" if channels >= 3 else "minisblack",
        "planarconfig": "contig" if channels > 1 else None,
        "extrasamples": ["unassalpha"] if channels in (2, 4) else None,
        # What floats stand for only their maker knows: light, heights or differences.
        "iccprofile": profile_for(channels) if dtype.kind == "u" else None,
        "metadata": None,
        "software": False,
        "extratags": tags or None,
    }


APP1, APP2 = 0xE1, 0xE2
JPEG_XMP = b"http://ns.adobe.com/xap/1.0/\0"  # in front of XMP in an APP1
JPEG_ICC = b"ICC_PROFILE\0\x01\x01"  # in front of a profile in an APP2: the first of one part
_JPEG_HEADER_END = 2 + 18  # the signature and JFIF's own segment, which encoders write first


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
    if metadata.exif is not None:
        segments.append((APP1, exif_of.PREFIX + metadata.exif))
    if metadata.xmp is not None:
        segments.append((APP1, JPEG_XMP + metadata.xmp))
    segments.append((APP2, JPEG_ICC + profile_for(channels)))
    file.write(view[:_JPEG_HEADER_END])
    for kind, data in segments:  # of 65,533 bytes at most each
        file.write(struct.pack(">BBH", 0xFF, kind, len(data) + 2) + data)
    file.write(view[_JPEG_HEADER_END:])


def _write_webp(file: BinaryIO, samples: Samples, quality: int | None, metadata: Metadata) -> None:
    how = {"lossless": True} if quality is None else {"quality": quality}
    _write_by_pillow(file, samples, metadata, "WebP", exact=True, **how)


def _write_avif(file: BinaryIO, samples: Samples, quality: int | None, metadata: Metadata) -> None:
    layout = "4:0:0" if samples.shape[2] == 1 else "4:4:4"
    how: dict[str, Any] = {"quality": quality or JPEG_QUALITY, "subsampling": layout}
    _write_by_pillow(file, samples, metadata, "AVIF", **how)


def _write_heic(file: BinaryIO, samples: Samples, quality: int | None, metadata: Metadata) -> None:
    need_heif("Cannot save")
    how = {"quality": -1, "matrix_coefficients": 0} if quality is None else {"quality": quality}
    _write_by_pillow(file, samples, metadata, "HEIF", chroma=444, **how)


def _write_by_pillow(
    file: BinaryIO, samples: Samples, metadata: Metadata, kind: str, **options: Any
) -> None:
    if metadata.exif is not None:
        options["exif"] = exif_of.PREFIX + metadata.exif
    if metadata.xmp is not None:
        options["xmp"] = metadata.xmp
    icc = profile_for(samples.shape[2])
    Image.fromarray(_plain(samples)).save(file, kind, icc_profile=icc, **options)


def _write_jpeg_2000(
    file: BinaryIO, samples: Samples, quality: int | None, _metadata: Metadata
) -> None:
    ratio_db = 0 if quality is None else 20 + quality * 2 // 5  # of signal to noise; 0: no loss
    how: dict[str, Any] = {"codecformat": "jp2", "reversible": quality is None}
    file.write(imagecodecs.jpeg2k_encode(_plain(samples), level=ratio_db, **how))


def _plain(samples: Samples) -> Samples:
    """Samples as encoders take them: C-contiguous, grey ones as (H, W)."""
    return np.ascontiguousarray(samples if samples.shape[2] > 1 else samples[:, :, 0])


def _write_pnm(file: BinaryIO, samples: Samples, _quality: int | None, _metadata: Metadata) -> None:
    height, width, channels = samples.shape
    kind = "P5" if channels == 1 else "P6"
    file.write(f"{kind}\n{width} {height}\n{np.iinfo(samples.dtype).max}\n".encode())
    file.write(samples.astype(samples.dtype.newbyteorder(">"), copy=False).data)


def _write_jxl(file: BinaryIO, samples: Samples, quality: int | None, metadata: Metadata) -> None:
    if samples.dtype == np.float16 and np.isnan(samples).any():
        raise ImageFileError("JPEG XL does not hold NaN of float16; save as TIFF or OpenEXR.")
    how: dict[str, Any] = {"lossless": quality is None, "usecontainer": True}
    file.write(imagecodecs.jpegxl_encode(_plain(samples), level=quality, **how))
    if metadata.exif is not None:  # behind where in it the TIFF begins
        file.write(struct.pack(">I4sI", len(metadata.exif) + 12, b"Exif", 0) + metadata.exif)
    if metadata.xmp is not None:
        file.write(struct.pack(">I4s", len(metadata.xmp) + 8, b"xml ") + metadata.xmp)


def _write_exr(file: BinaryIO, samples: Samples, *_: object) -> None:
    import OpenEXR

    names = EXR_CHANNELS[samples.shape[2] - 1]
    if names.endswith("A"):  # which is multiplied in
        samples = samples.copy()
        samples[..., :-1] *= samples[..., -1:]
    planes = {name: np.ascontiguousarray(samples[..., at]) for at, name in enumerate(names)}
    header = {"compression": OpenEXR.ZIP_COMPRESSION, "type": OpenEXR.scanlineimage}
    OpenEXR.File(header, planes).write(file)


WRITERS: dict[str, Writer] = {
    "PNG": _write_png,
    "TIFF": _write_tiff,
    "JPEG": _write_jpeg,
    "WebP": _write_webp,
    "BMP": lambda file, samples, *_: Image.fromarray(_plain(samples)).save(file, "BMP"),
    "PNM": _write_pnm,
    "JPEG XL": _write_jxl,
    "OpenEXR": _write_exr,
    "JPEG 2000": _write_jpeg_2000,
    "AVIF": _write_avif,
    "HEIC": _write_heic,
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

    def __str__(self) -> str:
        """The losses, then the formats without any."""
        keeps = " and ".join(self.instead[:2])
        lost = f"it does not hold {self.why_not}" if self.why_not else ", ".join(self.changes)
        return f"{self.format.title}: {lost}. Without loss: {keeps}."


_BECOMES = {"u": "are rounded to 8 bits", "f": "become floats from 0 to 1"}  # by the new kind


def fit_of(path: Path, samples: Samples, metadata: Metadata = NO_METADATA) -> Fit:
    """The fit of samples, (H, W, C), to the format that `path` names.  Raises ImageFileError."""
    wanted = format_of(path)
    corner = _reduced(samples[:1, :1], wanted)  # whose type and channels are those of all
    before, after, kept = samples.shape[2], corner.shape[2], wanted.kept(metadata)
    changes = {
        f"{samples.dtype} values {_BECOMES[corner.dtype.kind]}": corner.dtype != samples.dtype,
        "what is transparent becomes white": before in (2, 4) and after in (1, 3),
        "grey becomes three equal channels": before <= 2 < after,
        "colours become grey": before > 2 >= after,
        "EXIF (camera, date, place) is dropped": kept.exif != metadata.exif,
        "XMP (title, rating, keywords) is dropped": kept.xmp != metadata.xmp,
    }
    made = tuple(change for change, is_made in changes.items() if is_made)
    why_not = wanted.why_not(np.broadcast_to(corner, (*samples.shape[:2], after)))
    if not made and why_not is None:
        return Fit(wanted)
    instead = tuple(each.title for each in able(samples) if each.kept(metadata) == metadata)
    return Fit(wanted, made, why_not, instead)


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
