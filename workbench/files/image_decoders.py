"""Decode any picture file to (H, W, C) of one of our pixel types, and say what was converted."""

from __future__ import annotations

import re
import struct
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import reduce
from operator import or_
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import UnidentifiedImageError

from workbench.files import (
    colour_profiles,
    from_codecs,
    from_exr,
    from_jxl,
    from_pillow,
    from_tiff,
    needs,
)
from workbench.files import exif as exif_of
from workbench.files.formats import KINDS
from workbench.files.from_pillow import Decoded, PillowReader
from workbench.files.from_tiff import TiffReader
from workbench.files.needs import Need
from workbench.files.picture_errors import RAW, ImageFileError, not_read
from workbench.imaging.pictures import Metadata

from_pillow.hush()


_RAW_EXTENSION = re.compile(
    r"\.(3fr|arw|cr[23w]|dcr|dng|erf|fff|iiq|k25|kdc|mef|mos|mrw|nef|nrw|orf|pef|raf|raw|rw[2l]"
    r"|sr[2fw]|x3f)"
)
_RAW = re.compile(rb"FUJIFILMCCD-RAW|II(RO|RS|U\0)|MMOR|FOVb|\0MRM|.{4}ftypcrx |II\*\0.{4}CR", re.S)
_NEVER_RAW = (b"\x89PNG", b"\xff\xd8\xff", b"GIF8", b"BM", b"RIFF")  # whatever they are called


def reader_of(
    path: Path, is_stopped: Callable[[], bool], files: ExitStack
) -> PillowReader | TiffReader | BmpReader | from_jxl.JxlReader | from_exr.ExrReader:
    """Open a picture file, which `files` closes.  Raises UnidentifiedImageError.

    A reader's `need` raises ImageFileError where nothing here reads its kind; it and `read` raise
    EOFError where it is cut short, `read` also whatever the library does where it is damaged.
    """
    with path.open("rb") as file:
        start = file.read(4096)
    is_raw = _RAW_EXTENSION.fullmatch(path.suffix.lower()) and not start.startswith(_NEVER_RAW)
    if is_raw or _RAW.match(start):
        raise not_read(path.name, *RAW)
    if reader := from_tiff.opened(path, files) or bmp_reader(path, start):
        return reader
    if from_jxl.is_jxl(start):
        return from_jxl.JxlReader(path, is_stopped)
    if start.startswith(from_exr.SIGNATURE):
        return from_exr.ExrReader(path, is_stopped)
    if from_codecs.is_heic(start):
        from_pillow.need_heif(path.name)
    image = files.enter_context(from_pillow.image_in(path, is_stopped))
    kind = from_codecs.CodecReader if image.format in from_codecs.FORMATS else PillowReader
    return kind(path, image, start, is_stopped)


def decode(
    path: Path, ask: bool, is_stopped: Callable[[], bool], max_bytes: int | None = None
) -> tuple[NDArray[Any], list[str], Metadata]:
    """Return the samples, the conversions that were made, and the metadata that are kept.

    Samples are (H, W, C) and C-contiguous, conversions one sentence each.

    ask, is_stopped, max_bytes  as `image_files.load` has them
    Raises ImageFileError.
    """
    notes: list[str] = []
    with failures_in_words(path.name), ExitStack() as files:
        reader = reader_of(path, is_stopped, files)
        needs.check(reader.need(), ask=ask, max_bytes=max_bytes)
        decoded = reader.read(notes)
        samples = decoded.samples
        if samples.ndim == 2:
            samples = samples[:, :, np.newaxis]
        if decoded.icc is not None:
            samples = colour_profiles.to_srgb(samples, decoded.icc, notes, decoded.colours)
        samples = upright(samples, decoded.orientation, notes)
        height, width = samples.shape[:2]
        metadata = kept_of(decoded, height, width, notes)
        if samples.ndim != 3 or 0 in samples.shape or samples.shape[2] > 4:
            raise ValueError(f"decoded to {samples.shape}")
        samples = np.ascontiguousarray(samples)
        _note_infinite(samples, notes)
    return samples, notes, metadata


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
    exif = _sound("EXIF", lambda: exif_of.portable(decoded.exif(), width, height), notes)
    packet = decoded.xmp
    xmp = _sound("XMP", lambda: exif_of.portable_xmp(packet), notes) if packet else None
    return Metadata(exif, xmp)


def _sound(kind: str, read: Callable[[], bytes | None], notes: list[str]) -> bytes | None:
    try:
        return read()
    except Exception:  # noqa: BLE001 - damaged files make decoders fail with anything
        notes.append(f"Damaged {kind} data were dropped.")
        return None


def _note_infinite(samples: NDArray[Any], notes: list[str]) -> None:
    if samples.dtype.kind != "f":
        return
    count = sum(row.size - np.count_nonzero(np.isfinite(row)) for row in samples)
    if count:
        notes.append(
            f"{count:,} samples are infinite or NaN; filters spread NaN around them, as an "
            "infinity times a weight of 0 is NaN."
        )


def upright(samples: NDArray[Any], orientation: int, notes: list[str]) -> NDArray[Any]:
    """Turn and mirror the samples as EXIF's orientation, 1 to 8, asks for."""
    if orientation not in range(2, 9):
        return samples
    notes.append("Rotated upright (EXIF).")
    if orientation >= 5:
        samples = samples.swapaxes(0, 1)
    if orientation in (3, 4, 7, 8):
        samples = samples[::-1]
    if orientation in (2, 3, 6, 7):
        samples = samples[:, ::-1]
    return samples


# -- BMP files whose bit fields say where in a pixel each colour lies, be it where it may

_BIT_FIELDS, _ALPHA_BIT_FIELDS = 3, 6  # of the header's field for the compression
_FILE_HEADER, _PLAIN_HEADER, _HEADER_WITH_ALPHA = 14, 40, 56  # bytes
_FIELD = re.compile("1{1,16}0*")  # in binary


@dataclass(frozen=True, slots=True)
class BmpReader:
    """A reader of such a file, by its header; masks are of red, green, blue and, maybe, alpha."""

    path: Path
    start: int
    width: int
    height: int  # negative: from top to bottom
    bits: int
    masks: tuple[int, ...]

    @property
    def _white(self) -> int:
        return 255 if max(map(int.bit_count, self.masks)) <= 8 else 65535

    @property
    def _stored_bytes(self) -> int:
        return (self.width * self.bits + 31) // 32 * 4 * abs(self.height)

    def need(self) -> Need:
        """Memory for the file's pixels and for the samples, one channel at a time."""
        height, channels, stored = abs(self.height), len(self.masks), self._stored_bytes
        if self.start + stored > self.path.stat().st_size:
            raise EOFError(self.path.name)
        ours = self.width * height * channels * (1 if self._white == 255 else 2)
        return Need(self.path.name, self.width, height, channels, ours, ours + 4 * stored)

    def read(self, notes: list[str]) -> Decoded:
        """Read (H, W, 3 or 4) of uint8, or uint16 where a field has more than 8 bits."""
        stored = np.fromfile(self.path, np.uint8, self._stored_bytes, offset=self.start)
        rows = stored.view(f"<u{self.bits // 8}").reshape(abs(self.height), -1)
        pixels, white = rows[:: 1 if self.height < 0 else -1, : self.width], self._white
        if white > 255:
            most = max(map(int.bit_count, self.masks))
            notes.append(f"Samples of up to {most} bits scaled to 0–{white}.")
        dtype = np.uint8 if white == 255 else np.uint16
        samples = np.empty((*pixels.shape, len(self.masks)), dtype)
        for channel, mask in enumerate(self.masks):
            lowest = mask & -mask
            samples[:, :, channel] = np.rint((pixels & mask) // lowest * (white / (mask // lowest)))
        return Decoded(samples)


def bmp_reader(path: Path, start: bytes) -> BmpReader | None:
    """The reader of a file of these first bytes; None where it is no BMP with bit fields.

    Raises ImageFileError where the fields are such that nothing can be made of them.
    """
    if not start.startswith(b"BM") or len(start) < _FILE_HEADER + _HEADER_WITH_ALPHA:
        return None
    (offset,) = struct.unpack_from("<I", start, 10)
    size, width, height, _, bits, packing = struct.unpack_from("<IiiHHI", start, _FILE_HEADER)
    if size < _PLAIN_HEADER or packing not in (_BIT_FIELDS, _ALPHA_BIT_FIELDS):
        return None
    has_alpha = size >= _HEADER_WITH_ALPHA or packing == _ALPHA_BIT_FIELDS
    masks = struct.unpack_from("<4I", start, _FILE_HEADER + _PLAIN_HEADER)
    used = masks if has_alpha and masks[3] else masks[:3]
    are_apart = sum(used) == reduce(or_, used) < 1 << bits
    are_runs = all(_FIELD.fullmatch(f"{mask:b}") for mask in used)
    if not (bits in (16, 32) and are_apart and are_runs):
        fields = ", ".join(f"{each:#x}" for each in used)
        raise ImageFileError(
            f"{path.name} is a BMP of a kind this program does not read ({bits} bits with the "
            f"fields {fields}); save it as PNG with another program."
        )
    if width <= 0 or height == 0:
        raise EOFError(path.name)
    return BmpReader(path, offset, width, height, bits, used)
