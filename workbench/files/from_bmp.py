"""BMP files whose bit fields say where in a pixel each colour lies, be it where it may."""

from __future__ import annotations

import struct
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from workbench.files.needs import Need
from workbench.files.picture_errors import ImageFileError
from workbench.files.picture_reader import Decoded

_BIT_FIELDS, _ALPHA_BIT_FIELDS = 3, 6  # of the header's field for the compression
_FILE_HEADER, _PLAIN_HEADER, _HEADER_WITH_ALPHA = 14, 40, 56  # bytes


def opened(
    path: Path, start: bytes, _is_stopped: Callable[[], bool]
) -> AbstractContextManager[BmpReader | None]:
    """Give what reads a BMP file with bit fields; None where it is none.  See `Opened`."""
    return nullcontext(_reader_of(path, start))


@dataclass(frozen=True, slots=True)
class BmpReader:
    """A `Reader` of such a file, by its header; masks are of red, green, blue and, maybe, alpha."""

    path: Path
    start: int
    width: int
    height: int
    is_top_down: bool
    bits: int
    masks: tuple[int, ...]

    @property
    def dtype(self) -> np.dtype[Any]:
        """Return the dtype of samples that hold the widest of the fields."""
        return np.dtype(np.uint8 if max(map(int.bit_count, self.masks)) <= 8 else np.uint16)

    @property
    def row_bytes(self) -> int:
        """Return the bytes from one row to the next, in the file."""
        return (self.width * self.bits + 31) // 32 * 4

    def need(self) -> Need:
        """Memory for the file's pixels and for the samples, one channel at a time."""
        pixels, channels = self.width * self.height, len(self.masks)
        ours = pixels * channels * self.dtype.itemsize
        stored = self.row_bytes * self.height
        if self.start + stored > self.path.stat().st_size:
            raise EOFError(self.path.name)
        return Need(self.path.name, self.width, self.height, channels, ours, ours + 4 * stored)

    def read(self, notes: list[str]) -> Decoded:
        """Return (H, W, 3 or 4) uint8, or uint16 where a field has more than 8 bits."""
        count = self.row_bytes * self.height
        stored = np.fromfile(self.path, np.uint8, count, offset=self.start)
        pixels = stored.view(f"<u{self.bits // 8}").reshape(self.height, -1)[:, : self.width]
        if not self.is_top_down:
            pixels = pixels[::-1]
        white = np.iinfo(self.dtype).max
        if white > 255:
            most = max(map(int.bit_count, self.masks))
            notes.append(f"Samples of up to {most} bits scaled to 0–{white}.")
        samples = np.empty((*pixels.shape, len(self.masks)), self.dtype)
        for channel, mask in enumerate(self.masks):
            lowest = mask & -mask
            largest = mask // lowest
            samples[:, :, channel] = np.rint((pixels & mask) // lowest * (white / largest))
        return Decoded(samples)


def _reader_of(path: Path, start: bytes) -> BmpReader | None:
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
    if bits not in (16, 32) or not _are_fields(used, bits):
        fields = ", ".join(f"{each:#x}" for each in used)
        raise ImageFileError(
            f"{path.name} is a BMP of a kind this program does not read ({bits} bits with the "
            f"fields {fields}); save it as PNG with another program."
        )
    if width <= 0 or height == 0:
        raise EOFError(path.name)
    return BmpReader(path, offset, width, abs(height), height < 0, bits, used)


def _are_fields(masks: tuple[int, ...], bits: int) -> bool:
    """True if each is an unbroken run of bits, of 16 at most, and no two share any."""
    are_runs = all(
        mask and (mask // (mask & -mask)).bit_length() == mask.bit_count() <= 16 for mask in masks
    )
    together = 0
    for mask in masks:
        together |= mask
    is_apart = together.bit_count() == sum(map(int.bit_count, masks))
    return are_runs and is_apart and together < 1 << bits
