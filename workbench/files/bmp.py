"""BMP files: their bit fields and runs, which Pillow does not read right, and what they say."""

from __future__ import annotations

import re
import struct
from bisect import bisect_left
from dataclasses import dataclass
from functools import reduce
from operator import or_
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image, ImageFile

from workbench.files.from_pillow import Decoded, resolution_of
from workbench.files.needs import Need
from workbench.files.picture_errors import not_read
from workbench.files.png import MAX_SIDE_BYTES

_BIT_FIELDS, _ALPHA_BIT_FIELDS = 3, 6  # of the header's field for the compression
_FILE_HEADER, _OS2_SHORT, _PLAIN_HEADER, _HEADER_WITH_ALPHA = 14, 16, 40, 56  # bytes
_OS2_HEADER, _V4, _V5 = 64, 108, 124
_HEADERS = _PLAIN_HEADER, 52, _HEADER_WITH_ALPHA  # that Pillow knows beside shorter ones
_BY_PILLOW = *((bits, 0) for bits in (1, 2, 4, 8, 16, 24, 32)), (8, 1), (4, 2)  # bits and packing
_OS2_PACKED = {3: "packed as a fax", 4: "in runs"}
_PACKED = {4: "with a JPEG in it", 5: "with a PNG in it", **dict.fromkeys((11, 12, 13), "of inks")}
_COLOURS = 46  # where a file tells how many its palette has; 0: as many as its bits count
_FIELD = re.compile("1{1,16}0*")  # in binary


@dataclass(frozen=True, slots=True)
class BmpReader:
    """A reader of a file whose fields say at which bits of a pixel each colour lies.

    It goes by the header; masks are of red, green, blue and, maybe, alpha.
    """

    path: Path
    start: int
    width: int
    height: int  # negative: from top to bottom
    bits: int
    masks: tuple[int, ...]
    info: dict[str, Any]  # as `info_of` has it
    count: int = 1  # of pages

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
        icc, colours = self.info.get("icc_profile"), self.info.get("colours", "")
        return Decoded(samples, icc, resolution=resolution_of(self.info), colours=colours)


def reader(path: Path, start: bytes) -> BmpReader | None:
    """The reader of a file of these first bytes; None where it is no BMP with bit fields.

    Raises ImageFileError for a kind that nothing here reads.
    """
    if not start.startswith(b"BM"):
        return None
    size, width, height, bits, packing = _header(start)[:5]
    is_os2 = size < _PLAIN_HEADER or size == _OS2_HEADER
    if (bits, packing) in _BY_PILLOW:
        return None
    if is_os2 or bits not in (16, 32) or packing not in (_BIT_FIELDS, _ALPHA_BIT_FIELDS):
        how = (_OS2_PACKED if is_os2 else _PACKED).get(packing, f"packed by method {packing}")
        raise not_read(path.name, f"a BMP of {bits}-bit pixels{f', {how}' if packing else ''}")
    has_alpha = size >= _HEADER_WITH_ALPHA or packing == _ALPHA_BIT_FIELDS
    offset, *masks = struct.unpack_from("<10xI40x4I", start.ljust(70, b"\0"))
    used = masks if has_alpha and masks[3] else masks[:3]
    are_apart = sum(used) == reduce(or_, used) < 1 << bits
    if not (are_apart and all(_FIELD.fullmatch(f"{mask:b}") for mask in used)):
        fields = ", ".join(f"{each:#x}" for each in used)
        raise not_read(path.name, f"a BMP of {bits}-bit pixels with the fields {fields}")
    if width <= 0 or height == 0:
        raise EOFError(path.name)
    return BmpReader(path, offset, width, height, bits, tuple(used), info_of(path, start))


def _header(start: bytes) -> tuple[int, ...]:
    """Its bytes, width, height, bits of a pixel, packing, and how many colours are counted."""
    header = start[_FILE_HEADER:].ljust(_V5, b"\0")
    size = int.from_bytes(header[:4], "little")
    if size < _OS2_SHORT:
        return size, *struct.unpack_from("<HHxxH", header, 4), 0, 0
    return struct.unpack_from("<IiixxHI12xI", header[:size].ljust(_PLAIN_HEADER, b"\0"))


_LINKED, _EMBEDDED = b"KNIL", b"DEBM"  # of the header's field for the colours, at 70


def info_of(path: Path, start: bytes) -> dict[str, Any]:
    """What a file of these first bytes says beside its samples, as `Image.info` has it."""
    header = start[_FILE_HEADER:].ljust(_V5, b"\0")
    size, across, down = struct.unpack_from("<I20xii", header)
    info: dict[str, Any] = {"dpi": (0, 0)}
    if size >= _PLAIN_HEADER:
        info["dpi"] = tuple(max(each, 0) * 0.0254 for each in (across, down))
    kind, gammas, place, length = struct.unpack_from("<4s36x12s4xII", header, 56)
    if size >= _V5 and kind == _EMBEDDED:
        with path.open("rb") as file:
            file.seek(_FILE_HEADER + place)
            info["icc_profile"] = file.read(min(length, MAX_SIDE_BYTES))
    elif size >= _V5 and kind == _LINKED:
        info["colours"] = "a profile in another file"
    elif size >= _V4 and kind == bytes(4) and any(gammas):
        info["colours"] = "primaries and gamma of its own"
    return info


def sound(path: Path, start: bytes) -> bytes | None:
    """The whole of a file as Pillow knows it; None where it does.

    Of one of 2 bits, with a header of a rare length, or that counts more colours than there can be.
    """
    size, width, height, bits, _, colours = _header(start)
    is_odd = _OS2_SHORT <= size < _OS2_HEADER and size not in _HEADERS
    if not (is_odd or bits == 2 or (bits <= 8 and colours > 1 << bits)):
        return None
    data = path.read_bytes()
    at, end = int.from_bytes(start[10:14], "little"), _FILE_HEADER + size
    head, palette, pixels = bytearray(data[:end]), data[end:at], data[at:]
    if is_odd:
        head[_FILE_HEADER:] = head[_FILE_HEADER:].ljust(_PLAIN_HEADER, b"\0")[:_PLAIN_HEADER]
        head[_FILE_HEADER] = _PLAIN_HEADER
    if bits == 2:  # two of which become one of 4 bits
        high, row, wide = abs(height), (2 * width + 31) // 32 * 4, (4 * width + 31) // 32 * 4
        rows = np.frombuffer(pixels, np.uint8, high * row).reshape(high, row)
        pairs = [(rows & 0xC0) >> 2 | (rows & 0x30) >> 4, (rows & 0x0C) << 2 | rows & 3]
        pixels = np.stack(pairs, 2).reshape(high, -1)[:, :wide].tobytes()
        head[24 if size < _OS2_SHORT else 28] = 4
        palette = palette[: 3 * 4 if size < _OS2_SHORT else 4 * 4].ljust(4 * 16, b"\0")
    if size >= _OS2_SHORT:
        head[_COLOURS : _COLOURS + 4] = bytes(4)
    head[10:14] = (len(head) + len(palette)).to_bytes(4, "little")
    return bytes(head) + palette + pixels


class _Runs(ImageFile.PyDecoder):
    """Pillow's decoder of packed runs, but that none goes on in the next row."""

    _pulls_fd = True

    def decode(self, _buffer: Any) -> tuple[int, int]:
        """Decode all there is; raises IndexError where that is cut short."""
        assert self.fd is not None
        data, is_halved = self.fd.read(), bool(self.args[1])
        width, height = self.state.xsize, self.state.ysize
        made, at, x, y = np.zeros((height, width), np.uint8), 0, 0, 0
        stored = np.frombuffer(data, np.uint8)
        # Where runs may end that begin at an even place, and at an odd one: a count of 0 follows.
        starts = [np.arange(odd, len(data) - 1, 2) for odd in (0, 1)]
        ends = [[*each[stored[each] == 0], *each[-1:] + 2] for each in starts]
        while y < height - 1 or (y < height and x < width):
            end = ends[at % 2][bisect_left(ends[at % 2], at)]
            if end > at:
                runs = stored[at:end].reshape(-1, 2)[: max(width - x, 0) + 1]  # of a pixel or more
                counts, at = runs[:, 0].astype(int), end
                pixels = np.repeat(runs[:, 1], counts)
                places = np.arange(len(pixels)) - np.repeat(np.cumsum(counts) - counts, counts)
            else:
                value, at = data[at + 1], at + 2
                if value < 3:
                    if value == 1:  # the end
                        break
                    x, y = (0, y + 1) if value == 0 else (x + data[at], y + data[at + 1])
                    self.fd.read(0)  # which raises once reading is cancelled
                    at += value  # which is 2 where the way to the next run follows
                    continue
                size = -(-value // (1 + is_halved))
                pixels = np.repeat(stored[at : at + size], 1 + is_halved)[:value]
                places, at = np.arange(len(pixels)), at + size + size % 2
            if is_halved:  # of a byte the upper four bits, and the lower ones in turn
                pixels = np.where(places % 2, pixels & 15, pixels >> 4)
            room = made[y, x : x + len(pixels)]
            room[:] = pixels[: len(room)]
            x += len(pixels)
        self.set_as_raw(made.tobytes(), "L" if self.mode in ("1", "L") else "P", (0, self.args[-1]))
        return -1, 0


Image.preinit()  # which registers Pillow's own, whose place ours takes
Image.register_decoder("bmp_rle", _Runs)
