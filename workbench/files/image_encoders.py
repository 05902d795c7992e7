"""Encode samples as a file format, with the profile that says how their values are meant.

imageio writes them all but PNG and JPEG files, which imagecodecs packs in less time, without other
threads having to wait and without cutting 16 bits down to 8; and PNM files, which are a line of
text and the samples as they are.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, BinaryIO

import imagecodecs
import imageio.v3 as iio
import numpy as np
from numpy.typing import NDArray

from kernels.core.job import PIXEL_TYPES
from workbench.files import exif as exif_of
from workbench.files import jpeg, png
from workbench.files.colour_profiles import profile_for
from workbench.files.picture_errors import ImageFileError
from workbench.model.state import NO_METADATA, Metadata

Writer = Callable[[BinaryIO, NDArray[Any], int | None, Metadata], None]
JPEG_QUALITY = 95  # where none is asked for
# Of what is too large for `packed_png`; both at zlib's level 1.  Of 8 bits the best of three
# filters for each row: files as large as Pillow's at that level, in three fifths of its time.
PNG_8_BITS = {"filter": imagecodecs.PNG.FILTER.FAST}
PNG_16_BITS = {"strategy": imagecodecs.PNG.STRATEGY.RLE, "filter": imagecodecs.PNG.FILTER.SUB}
MAX_TIFF_BYTES = 2**32 - 2**25  # of samples; beyond, it is a BigTIFF
MAX_JPEG_METADATA_BYTES = 65_000  # of EXIF, and as many of XMP
XMP_TAG = 700  # of TIFF
XMP_KEYWORD = "XML:com.adobe.xmp"  # of a text in a PNG
_PILLOW_MODES = {1: "L", 2: "LA", 3: "RGB", 4: "RGBA"}
_CHANNELS_IN_WORDS = {1: "grey", 2: "grey with alpha", 3: "colour", 4: "colour with alpha"}


@dataclass(frozen=True, slots=True)
class Format:
    """A file format: what it can hold, and what writes it.

    write  gets the file, to be read as well, the samples, a quality, None: as good as it gets, and
           the metadata that the format holds
    largest_side        in pixels
    has_quality         whether it knows a quality from 1 to 100
    can_be_lossless     whether it can also do without loss
    max_metadata_bytes  of EXIF, and of XMP; 0: it holds none
    """

    title: str
    extensions: tuple[str, ...]
    pixel_types: tuple[str, ...]
    channels: tuple[int, ...]
    write: Writer
    largest_side: int = 2**31 - 1
    has_quality: bool = False
    can_be_lossless: bool = True
    max_metadata_bytes: int = 2**31 - 1

    def kept(self, metadata: Metadata) -> Metadata:
        """Return what of the metadata the format has room for."""
        return Metadata(
            *(
                None if each is None or len(each) > self.max_metadata_bytes else each
                for each in (metadata.exif, metadata.xmp)
            )
        )

    def why_not(self, samples: NDArray[Any]) -> str | None:
        """Return what of these samples the format cannot hold, or None."""
        height, width, channels = samples.shape
        if str(samples.dtype) not in self.pixel_types:
            return f"{samples.dtype} samples"
        if channels not in self.channels:
            return f"{_CHANNELS_IN_WORDS[channels]} pictures"
        if max(height, width) > self.largest_side:
            return f"more than {self.largest_side:,} pixels per side"
        return None


def format_of(path: Path) -> Format:
    """Return the format that the extension names; raise ImageFileError where it names none."""
    extension = path.suffix.lower()
    found = next((f for f in FORMATS if extension in f.extensions), None)
    if found is None:
        known = ", ".join(f.extensions[0] for f in FORMATS)
        raise ImageFileError(
            f"Cannot save {path.name}: its extension names no format that is written; use one of "
            f"{known}."
        )
    return found


def extension_of(title: str) -> str:
    """Return the usual extension of the format of that title."""
    return next(each.extensions[0] for each in FORMATS if each.title == title)


def extension_for(source: Path | None, samples: NDArray[Any]) -> str:
    """Return the extension to propose for samples that came of the file `source`.

    Its own, where that format holds them; else PNG's, or for floats TIFF's.
    """
    own = source.suffix.lower() if source is not None else ""
    known = (each for each in FORMATS if own in each.extensions)
    if any(each.why_not(samples) is None for each in known):
        return own
    return ".png" if samples.dtype.kind == "u" else ".tif"


def able(samples: NDArray[Any]) -> tuple[Format, ...]:
    """Return the formats that hold these samples as they are, the most usual first."""
    return tuple(each for each in FORMATS if each.why_not(samples) is None)


def writer_for(path: Path, samples: NDArray[Any]) -> Writer:
    """Return what writes these samples, (H, W, C), in the format that the extension names.

    Raises ImageFileError where the format is unknown or cannot hold them.
    """
    wanted = format_of(path)
    if why_not := wanted.why_not(samples):
        instead = " or ".join([each.title for each in able(samples)][:2])
        raise ImageFileError(
            f"Cannot save {path.name}: {wanted.title} does not hold {why_not}; save as {instead}."
        )
    return wanted.write


def _write_png(
    file: BinaryIO, samples: NDArray[Any], _quality: int | None, metadata: Metadata
) -> None:
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
        np.ascontiguousarray(samples if channels > 1 else samples[:, :, 0]),
        level=imagecodecs.PNG.COMPRESSION.SPEED,
        **PNG_8_BITS if samples.dtype == np.uint8 else PNG_16_BITS,
    )
    file.writelines(png.parts_with(encoded, chunks))


@cache
def _packed_profile(channels: int) -> bytes:
    return zlib.compress(profile_for(channels))


def _write_tiff(
    file: BinaryIO, samples: NDArray[Any], _quality: int | None, metadata: Metadata
) -> None:
    channels, is_big = samples.shape[2], samples.nbytes > MAX_TIFF_BYTES
    with iio.imopen(file, "w", plugin="tifffile", bigtiff=is_big) as tiff:  # type: ignore[call-overload]
        tiff.write(
            samples if channels > 1 else samples[:, :, 0],
            is_batch=False,
            **tiff_words(samples.dtype, channels, metadata, is_big=is_big),
        )
    if metadata.exif is not None:
        exif_of.fill_tiff(file, metadata.exif)


def tiff_words(
    dtype: np.dtype[Any], channels: int, metadata: Metadata, *, is_big: bool
) -> dict[str, Any]:
    """Return what tifffile is to write of samples beside themselves.

    EXIF's directories are empty until `exif.fill_tiff` fills them.
    """
    return {
        "photometric": "rgb" if channels >= 3 else "minisblack",
        "planarconfig": "contig" if channels > 1 else None,
        "extrasamples": ["unassalpha"] if channels in (2, 4) else None,
        # What floats stand for only their maker knows: light, heights or differences.
        "iccprofile": profile_for(channels) if dtype.kind == "u" else None,
        "metadata": None,
        "software": False,
        "extratags": _tiff_tags(metadata, is_big=is_big) or None,
    }


def _tiff_tags(metadata: Metadata, *, is_big: bool) -> list[tuple[int, str, int, Any, bool]]:
    tags = [] if metadata.exif is None else exif_of.tiff_tags(metadata.exif, is_big=is_big)
    if metadata.xmp is not None:
        tags.append((XMP_TAG, "B", len(metadata.xmp), metadata.xmp, True))
    return tags


def _write_jpeg(
    file: BinaryIO, samples: NDArray[Any], quality: int | None, metadata: Metadata
) -> None:
    channels = samples.shape[2]
    is_grey = channels == 1
    encoded = imagecodecs.jpeg8_encode(
        np.ascontiguousarray(samples[:, :, 0] if is_grey else samples),
        level=quality or JPEG_QUALITY,
        colorspace="GRAYSCALE" if is_grey else "RGB",
        outcolorspace="GRAYSCALE" if is_grey else "YCBCR",
        subsampling="444",
    )
    segments = []
    if metadata.exif is not None:
        segments.append((jpeg.APP1, exif_of.PREFIX + metadata.exif))
    if metadata.xmp is not None:
        segments.append((jpeg.APP1, jpeg.XMP + metadata.xmp))
    segments.append((jpeg.APP2, jpeg.ICC + profile_for(channels)))
    file.writelines(jpeg.parts_with(encoded, segments))


def _write_webp(
    file: BinaryIO, samples: NDArray[Any], quality: int | None, metadata: Metadata
) -> None:
    options = {"lossless": True} if quality is None else {"quality": quality}
    _write_8_bits(file, samples, "WEBP", metadata, exact=True, **options)


def _write_bmp(
    file: BinaryIO, samples: NDArray[Any], _quality: int | None, _metadata: Metadata
) -> None:
    _write_8_bits(file, samples, "BMP", NO_METADATA)


def _write_pnm(
    file: BinaryIO, samples: NDArray[Any], _quality: int | None, _metadata: Metadata
) -> None:
    height, width, channels = samples.shape
    kind = "P5" if channels == 1 else "P6"
    file.write(f"{kind}\n{width} {height}\n{np.iinfo(samples.dtype).max}\n".encode())
    file.write(samples.astype(samples.dtype.newbyteorder(">"), copy=False).data)


def _write_8_bits(
    file: BinaryIO,
    samples: NDArray[np.uint8],
    pillow_format: str,
    metadata: Metadata,
    **options: Any,
) -> None:
    channels = samples.shape[2]
    if pillow_format != "BMP":
        options["icc_profile"] = profile_for(channels)
    if metadata.exif is not None:
        options["exif"] = exif_of.PREFIX + metadata.exif
    if metadata.xmp is not None:
        options["xmp"] = metadata.xmp
    iio.imwrite(
        file,
        np.ascontiguousarray(samples[:, :, 0] if channels == 1 else samples),
        plugin="pillow",
        mode=_PILLOW_MODES[channels],  # or two channels would be taken for two pictures
        extension=f".{pillow_format.lower()}",
        is_batch=False,
        **options,
    )


FORMATS = (
    Format("PNG", (".png",), ("uint8", "uint16"), (1, 2, 3, 4), _write_png),
    Format("TIFF", (".tif", ".tiff"), PIXEL_TYPES, (1, 2, 3, 4), _write_tiff),
    # 65,500 is libjpeg's own limit, a little below the format's.
    Format(
        "JPEG",
        (".jpg", ".jpeg"),
        ("uint8",),
        (1, 3),
        _write_jpeg,
        65_500,
        has_quality=True,
        can_be_lossless=False,
        max_metadata_bytes=MAX_JPEG_METADATA_BYTES,
    ),
    Format("WebP", (".webp",), ("uint8",), (3, 4), _write_webp, 16_383, has_quality=True),
    Format("BMP", (".bmp",), ("uint8",), (1, 3), _write_bmp, max_metadata_bytes=0),
    Format("PNM", (".pnm",), ("uint8", "uint16"), (1, 3), _write_pnm, max_metadata_bytes=0),
    Format("PGM", (".pgm",), ("uint8", "uint16"), (1,), _write_pnm, max_metadata_bytes=0),
    Format("PPM", (".ppm",), ("uint8", "uint16"), (3,), _write_pnm, max_metadata_bytes=0),
)
