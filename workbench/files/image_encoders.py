"""Encode samples as a file format, or say in words what the format cannot hold."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import cv2
import imageio.v3 as iio
import numpy as np
import tifffile
from numpy.typing import NDArray

from kernels.job import PIXEL_TYPES
from workbench.files import png
from workbench.files.image_files import ImageFileError

Writer = Callable[[BinaryIO, NDArray[Any]], None]
_PILLOW_MODES = {1: "L", 2: "LA", 3: "RGB", 4: "RGBA"}
_CHANNELS_IN_WORDS = {1: "grey", 2: "grey with alpha", 3: "colour", 4: "colour with alpha"}


@dataclass(frozen=True, slots=True)
class Format:
    """What a file format can hold, and who writes it.

    largest_side  in pixels
    """

    title: str
    extensions: tuple[str, ...]
    pixel_types: tuple[str, ...]
    channels: tuple[int, ...]
    write: Writer
    largest_side: int = 2**31 - 1

    def why_not(self, samples: NDArray[Any]) -> str | None:
        """What of these samples the format cannot hold, or None."""
        height, width, channels = samples.shape
        if str(samples.dtype) not in self.pixel_types:
            return f"{samples.dtype} samples"
        if channels not in self.channels:
            return f"{_CHANNELS_IN_WORDS[channels]} pictures"
        if max(height, width) > self.largest_side:
            return f"more than {self.largest_side:,} pixels a side"
        return None


def writer_for(path: Path, samples: NDArray[Any]) -> Writer:
    """Who writes these samples, (H, W, C), in the format that the extension names.

    Raises ImageFileError where the format is unknown or cannot hold them.
    """
    wanted = _format_of(path)
    if wanted is None:
        known = ", ".join(f.extensions[0] for f in FORMATS)
        raise ImageFileError(
            f"Cannot save {path.name}: its extension names no picture format; use one of {known}."
        )
    if why_not := wanted.why_not(samples):
        able = " or ".join([f.title for f in FORMATS if f.why_not(samples) is None][:2])
        raise ImageFileError(
            f"Cannot save {path.name}: {wanted.title} does not hold {why_not}; save as {able}."
        )
    return wanted.write


def _format_of(path: Path) -> Format | None:
    extension = path.suffix.lower()
    return next((f for f in FORMATS if extension in f.extensions), None)


def _write_png(file: BinaryIO, samples: NDArray[Any]) -> None:
    channels = samples.shape[2]
    if samples.dtype == np.uint8:
        _write_8_bits(file, samples, ".png")
    elif channels == 2:
        file.write(_encoded_grey_alpha_16(samples))
    else:
        file.write(cv2.imencode(".png", _as_bgr(samples))[1].tobytes())


def _encoded_grey_alpha_16(samples: NDArray[Any]) -> bytes:
    """16-bit grey with alpha, which no library at hand writes.

    Four bytes a pixel, high byte first: the very bytes of an 8-bit RGBA picture, so it is encoded
    as one, and then its header is put right.
    """
    as_bytes = samples.astype(">u2").view(np.uint8)
    encoded = cv2.imencode(".png", _as_bgr(as_bytes))[1].tobytes()
    return png.with_header(encoded, bit_depth=16, colour_type=4)


def _write_tiff(file: BinaryIO, samples: NDArray[Any]) -> None:
    channels = samples.shape[2]
    tifffile.imwrite(
        file,
        samples if channels > 1 else samples[:, :, 0],
        photometric="rgb" if channels >= 3 else "minisblack",
        planarconfig="contig" if channels > 1 else None,
        extrasamples=["unassalpha"] if channels in (2, 4) else None,
        metadata=None,
    )


def _write_jpeg(file: BinaryIO, samples: NDArray[Any]) -> None:
    _write_8_bits(file, samples, ".jpg", quality=95, subsampling=0)


def _write_webp(file: BinaryIO, samples: NDArray[Any]) -> None:
    _write_8_bits(file, samples, ".webp", lossless=True, exact=True)


def _write_bmp(file: BinaryIO, samples: NDArray[Any]) -> None:
    _write_8_bits(file, samples, ".bmp")


def _write_pnm(file: BinaryIO, samples: NDArray[Any]) -> None:
    height, width, channels = samples.shape
    kind = "P5" if channels == 1 else "P6"
    file.write(f"{kind}\n{width} {height}\n{np.iinfo(samples.dtype).max}\n".encode())
    file.write(samples.astype(samples.dtype.newbyteorder(">")).tobytes())


def _write_8_bits(
    file: BinaryIO, samples: NDArray[np.uint8], extension: str, **options: Any
) -> None:
    channels = samples.shape[2]
    iio.imwrite(
        file,
        samples[:, :, 0] if channels == 1 else samples,
        extension=extension,
        plugin="pillow",
        mode=_PILLOW_MODES[channels],
        is_batch=False,
        **options,
    )


def _as_bgr(samples: NDArray[Any]) -> NDArray[Any]:
    """OpenCV's order of channels."""
    order = {1: [0], 3: [2, 1, 0], 4: [2, 1, 0, 3]}[samples.shape[2]]
    return np.ascontiguousarray(samples[:, :, order])


FORMATS = (
    Format("PNG", (".png",), ("uint8", "uint16"), (1, 2, 3, 4), _write_png),
    Format("TIFF", (".tif", ".tiff"), PIXEL_TYPES, (1, 2, 3, 4), _write_tiff),
    Format("JPEG", (".jpg", ".jpeg"), ("uint8",), (1, 3), _write_jpeg, 65_535),
    Format("WebP", (".webp",), ("uint8",), (3, 4), _write_webp, 16_383),
    Format("BMP", (".bmp",), ("uint8",), (1, 3), _write_bmp),
    Format("PNM", (".pnm",), ("uint8", "uint16"), (1, 3), _write_pnm),
    Format("PGM", (".pgm",), ("uint8", "uint16"), (1,), _write_pnm),
    Format("PPM", (".ppm",), ("uint8", "uint16"), (3,), _write_pnm),
)
