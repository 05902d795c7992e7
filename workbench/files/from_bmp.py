"""BMP files whose bit fields say where in a pixel each colour lies, be it where it may."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from workbench.files.needs import Need
from workbench.files.picture_errors import ImageFileError

_BIT_FIELDS, _ALPHA_BIT_FIELDS = 3, 6  # of the header's field for the compression
_FILE_HEADER, _PLAIN_HEADER, _HEADER_WITH_ALPHA = 14, 40, 56  # bytes


@dataclass(frozen=True, slots=True)
class BmpHeader:
    """What the header of such a file says; masks are of red, green, blue and, maybe, alpha."""

    start: int
    width: int
    height: int
    is_top_down: bool
    bits: int
    masks: tuple[int, ...]

    @property
    def dtype(self) -> np.dtype[Any]:
        """Of samples that hold the widest of the fields."""
        return np.dtype(np.uint8 if max(map(int.bit_count, self.masks)) <= 8 else np.uint16)

    @property
    def row_bytes(self) -> int:
        """From one row to the next, in the file."""
        return (self.width * self.bits + 31) // 32 * 4


def header_of(name: str, start: bytes) -> BmpHeader | None:
    """Return what the first bytes of a file say; None where it is no BMP with bit fields.

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
            f"{name} is a BMP of a kind this program does not read ({bits} bits with the fields "
            f"{fields}); save it as PNG with another program."
        )
    if width <= 0 or height == 0:
        raise EOFError(name)
    return BmpHeader(offset, width, abs(height), height < 0, bits, used)


def need_of(path: Path, header: BmpHeader) -> Need:
    """Return what the file holds and what is made of it, one channel at a time."""
    pixels, channels = header.width * header.height, len(header.masks)
    ours = pixels * channels * header.dtype.itemsize
    stored = header.row_bytes * header.height
    if header.start + stored > path.stat().st_size:
        raise EOFError(path.name)
    return Need(path.name, header.width, header.height, channels, ours, ours + 4 * stored)


def samples_of(path: Path, header: BmpHeader, notes: list[str]) -> NDArray[Any]:
    """Return (H, W, 3 or 4) uint8, or uint16 where a field has more than 8 bits."""
    count = header.row_bytes * header.height
    stored = np.fromfile(path, np.uint8, count, offset=header.start)
    pixels = stored.view(f"<u{header.bits // 8}").reshape(header.height, -1)[:, : header.width]
    if not header.is_top_down:
        pixels = pixels[::-1]
    white = np.iinfo(header.dtype).max
    if white > 255:
        most = max(map(int.bit_count, header.masks))
        notes.append(f"Samples of up to {most} bits were spread over 0 to {white}.")
    samples = np.empty((*pixels.shape, len(header.masks)), header.dtype)
    for channel, mask in enumerate(header.masks):
        lowest = mask & -mask
        largest = mask // lowest
        samples[:, :, channel] = np.rint((pixels & mask) // lowest * (white / largest))
    return samples


def _are_fields(masks: tuple[int, ...], bits: int) -> bool:
    """Whether each is an unbroken run of bits, of 16 at most, and no two share any."""
    are_runs = all(
        mask and (mask // (mask & -mask)).bit_length() == mask.bit_count() <= 16 for mask in masks
    )
    together = 0
    for mask in masks:
        together |= mask
    is_apart = together.bit_count() == sum(map(int.bit_count, masks))
    return are_runs and is_apart and together < 1 << bits
