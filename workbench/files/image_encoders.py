"""Encode samples as a file format, with the profile that says how their values are meant.

imageio writes them all but PNG files of 16 bits, which it cuts down to 8 and imagecodecs does not,
and PNM files, which are a line of text and the samples as they are.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import imagecodecs
import imageio.v3 as iio
import numpy as np
from numpy.typing import NDArray

from kernels.core.job import PIXEL_TYPES
from workbench.files import exif as exif_of
from workbench.files import png
from workbench.files.colour_profiles import profile_for
from workbench.files.picture_errors import ImageFileError

Writer = Callable[[BinaryIO, NDArray[Any], int | None, bytes | None], None]
JPEG_QUALITY = 95  # where none is asked for
# Of zlib.  8000×8000 pixels of photographs take 5.4 s and 115.3 MB; at zlib's usual level, 6, they
# take 19 s and 113.5 MB.
PNG_LEVEL = 2
MAX_TIFF_BYTES = 2**32 - 2**25  # of samples; beyond, it is a BigTIFF
MAX_JPEG_EXIF_BYTES = 65_000
_PILLOW_MODES = {1: "L", 2: "LA", 3: "RGB", 4: "RGBA"}
_CHANNELS_IN_WORDS = {1: "grey", 2: "grey with alpha", 3: "colour", 4: "colour with alpha"}


@dataclass(frozen=True, slots=True)
class Format:
    """A file format: what it can hold, and what writes it.

    write  gets the file, to be read as well, the samples, a quality, None: as good as it gets, and
           EXIF, if there is any and the format holds it
    largest_side        in pixels
    has_quality         whether it knows a quality from 1 to 100
    can_be_lossless     whether it can also do without loss
    largest_exif_bytes  of EXIF; 0: it holds none
    """

    title: str
    extensions: tuple[str, ...]
    pixel_types: tuple[str, ...]
    channels: tuple[int, ...]
    write: Writer
    largest_side: int = 2**31 - 1
    has_quality: bool = False
    can_be_lossless: bool = True
    largest_exif_bytes: int = 2**31 - 1

    def holds_exif(self, exif: bytes) -> bool:
        """Return whether the format has room for it."""
        return len(exif) <= self.largest_exif_bytes

    def why_not(self, samples: NDArray[Any]) -> str | None:
        """Return what of these samples the format cannot hold, or None."""
        height, width, channels = samples.shape
        if str(samples.dtype) not in self.pixel_types:
            return f"{samples.dtype} samples"
        if channels not in self.channels:
            return f"{_CHANNELS_IN_WORDS[channels]} pictures"
        if max(height, width) > self.largest_side:
            return f"more than {self.largest_side:,} pixels a side"
        return None


def format_of(path: Path) -> Format:
    """Return the format that the extension names; raise ImageFileError where it names none."""
    extension = path.suffix.lower()
    found = next((f for f in FORMATS if extension in f.extensions), None)
    if found is None:
        known = ", ".join(f.extensions[0] for f in FORMATS)
        raise ImageFileError(
            f"Cannot save {path.name}: its extension names no picture format; use one of {known}."
        )
    return found


def extension_of(title: str) -> str:
    """Return the usual extension of the format of that title."""
    return next(each.extensions[0] for each in FORMATS if each.title == title)


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
    file: BinaryIO, samples: NDArray[Any], _quality: int | None, exif: bytes | None
) -> None:
    channels = samples.shape[2]
    if samples.dtype == np.uint8:
        icc = profile_for(channels)
        options = {"icc_profile": icc, "compress_level": PNG_LEVEL}
        _write_8_bits(file, samples, "PNG", exif, **options)
        return
    encoded = imagecodecs.png_encode(
        samples if channels > 1 else samples[:, :, 0],
        level=imagecodecs.PNG.COMPRESSION.SPEED,
        strategy=imagecodecs.PNG.STRATEGY.RLE,
        filter=imagecodecs.PNG.FILTER.SUB,
    )
    profile = b"icc\0\0" + zlib.compress(profile_for(channels))
    if exif is not None:
        encoded = png.insert_chunk(encoded, b"eXIf", exif)
    file.write(png.insert_chunk(encoded, b"iCCP", profile))


def _write_tiff(
    file: BinaryIO, samples: NDArray[Any], _quality: int | None, exif: bytes | None
) -> None:
    channels, is_big = samples.shape[2], samples.nbytes > MAX_TIFF_BYTES
    with iio.imopen(file, "w", plugin="tifffile", bigtiff=is_big) as tiff:  # type: ignore[call-overload]
        tiff.write(
            samples if channels > 1 else samples[:, :, 0],
            is_batch=False,
            photometric="rgb" if channels >= 3 else "minisblack",
            planarconfig="contig" if channels > 1 else None,
            extrasamples=["unassalpha"] if channels in (2, 4) else None,
            # What floats stand for only their maker knows: light, heights or differences.
            iccprofile=profile_for(channels) if samples.dtype.kind == "u" else None,
            metadata=None,
            software=False,
            extratags=None if exif is None else exif_of.tiff_tags(exif, is_big=is_big),
        )
    if exif is not None:
        exif_of.fill_tiff(file, exif)


def _write_jpeg(
    file: BinaryIO, samples: NDArray[Any], quality: int | None, exif: bytes | None
) -> None:
    icc = profile_for(samples.shape[2])
    quality = quality or JPEG_QUALITY
    _write_8_bits(file, samples, "JPEG", exif, quality=quality, subsampling=0, icc_profile=icc)


def _write_webp(
    file: BinaryIO, samples: NDArray[Any], quality: int | None, exif: bytes | None
) -> None:
    options = {"lossless": True} if quality is None else {"quality": quality}
    icc = profile_for(samples.shape[2])
    _write_8_bits(file, samples, "WEBP", exif, exact=True, icc_profile=icc, **options)


def _write_bmp(
    file: BinaryIO, samples: NDArray[Any], _quality: int | None, _exif: bytes | None
) -> None:
    _write_8_bits(file, samples, "BMP", None)


def _write_pnm(
    file: BinaryIO, samples: NDArray[Any], _quality: int | None, _exif: bytes | None
) -> None:
    height, width, channels = samples.shape
    kind = "P5" if channels == 1 else "P6"
    file.write(f"{kind}\n{width} {height}\n{np.iinfo(samples.dtype).max}\n".encode())
    file.write(samples.astype(samples.dtype.newbyteorder(">"), copy=False).data)


def _write_8_bits(
    file: BinaryIO,
    samples: NDArray[np.uint8],
    pillow_format: str,
    exif: bytes | None,
    **options: Any,
) -> None:
    channels = samples.shape[2]
    if exif is not None:
        options["exif"] = exif_of.PREFIX + exif
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
        largest_exif_bytes=MAX_JPEG_EXIF_BYTES,
    ),
    Format("WebP", (".webp",), ("uint8",), (3, 4), _write_webp, 16_383, has_quality=True),
    Format("BMP", (".bmp",), ("uint8",), (1, 3), _write_bmp, largest_exif_bytes=0),
    Format("PNM", (".pnm",), ("uint8", "uint16"), (1, 3), _write_pnm, largest_exif_bytes=0),
    Format("PGM", (".pgm",), ("uint8", "uint16"), (1,), _write_pnm, largest_exif_bytes=0),
    Format("PPM", (".ppm",), ("uint8", "uint16"), (3,), _write_pnm, largest_exif_bytes=0),
)
