"""PNG: chunks and checksums, and files of 8 bits a sample decoded and packed in one go."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterable, Iterator
from typing import Any, BinaryIO, NamedTuple

import imagecodecs
import numpy as np
from numpy.typing import NDArray

SIGNATURE = b"\x89PNG\r\n\x1a\n"
# Of iTXt, behind the keyword: not compressed, no language, no translation.
PLAIN_UTF8 = b"\0\0\0\0\0"
_HEADER_END = len(SIGNATURE) + 8 + 13 + 4  # the signature and the IHDR chunk, always the first


class Chunk(NamedTuple):
    """The place of one chunk's data in a file."""

    kind: bytes
    offset: int
    length: int


def chunk(kind: bytes, data: bytes) -> bytes:
    """Return a whole chunk, its length and checksum included."""
    return b"".join(chunk_parts(kind, data))


def chunk_parts(kind: bytes, data: bytes) -> tuple[bytes, bytes, bytes]:
    """Return the same in parts, so that large data are not copied."""
    checksum = zlib.crc32(data, zlib.crc32(kind))
    return struct.pack(">I", len(data)) + kind, data, struct.pack(">I", checksum)


def parts_with(
    encoded: bytes | bytearray, more: Iterable[tuple[bytes, bytes]]
) -> Iterator[bytes | memoryview]:
    """Yield a PNG file's bytes in parts, with more chunks, by kind, right behind its header."""
    view = memoryview(encoded)
    yield view[:_HEADER_END]
    for kind, data in more:
        yield chunk(kind, data)
    yield view[_HEADER_END:]


def chunks(file: BinaryIO) -> Iterator[Chunk]:
    """Yield the chunks in order, skipping over their data; none where `file` is not a PNG.

    Ends early, without complaint, where the file does.
    """
    if file.read(len(SIGNATURE)) != SIGNATURE:
        return
    while len(head := file.read(8)) == 8:
        length, kind = struct.unpack(">I4s", head)
        found = Chunk(kind, file.tell(), length)
        yield found
        file.seek(found.offset + length + 4)


def read_chunk(file: BinaryIO, found: Chunk) -> bytes | None:
    """Return the chunk's data, or None where they are cut short or their checksum is wrong."""
    file.seek(found.offset)
    data = file.read(found.length)
    checksum = file.read(4)
    is_whole = len(data) == found.length and len(checksum) == 4
    matches = is_whole and zlib.crc32(found.kind + data) == int.from_bytes(checksum, "big")
    return data if matches else None


MAX_BYTES = 1 << 27  # of samples
LEVEL = 1
BAND_BYTES = 1 << 21  # of rows that are filtered at once
SUB, UP = 1, 2  # filters, as PNG numbers them: the difference to the pixel before, or above
STEP = 5  # of bytes, one tells which filter is the better one; any channel's, so no channel's count
_PACKED_COLOUR_TYPES = {1: 0, 2: 4, 3: 2, 4: 6}  # by channels


def parts_of(
    samples: NDArray[Any], more: Iterable[tuple[bytes, bytes]]
) -> Iterator[bytes | memoryview]:
    """Yield the parts of a file of (H, W, C) of uint8 or uint16.

    more  chunks to be put in front of the samples, by kind
    """
    height, width, channels = samples.shape
    bits = 8 * samples.itemsize
    header = struct.pack(">IIBBBBB", width, height, bits, _PACKED_COLOUR_TYPES[channels], 0, 0, 0)
    yield SIGNATURE
    for kind, data in ((b"IHDR", header), *more):
        yield from chunk_parts(kind, data)
    rows: Any = filtered(samples).reshape(-1)
    yield from chunk_parts(b"IDAT", bytes(imagecodecs.deflate_encode(rows, level=LEVEL)))
    yield from chunk_parts(b"IEND", b"")


def filtered(samples: NDArray[Any]) -> NDArray[np.uint8]:
    """Return the rows as PNG has them: a filter's number, and the differences that it leaves.

    Of each row those of the two filters that are the smaller ones.
    """
    height, width, channels = samples.shape
    apart = channels * samples.itemsize  # bytes from a pixel to the next
    made = np.empty((height, 1 + width * apart), np.uint8)
    above = np.zeros((1, width * apart), np.uint8)
    rows = max(BAND_BYTES // (width * apart), 1)
    for top in range(0, height, rows):
        band = _as_bytes(samples[top : top + rows])
        _filter(band, np.concatenate([above, band[:-1]]), apart, made[top : top + rows])
        above = band[-1:]
    return made


def _as_bytes(samples: NDArray[Any]) -> NDArray[np.uint8]:
    ordered = np.ascontiguousarray(samples, samples.dtype.newbyteorder(">"))
    return ordered.reshape(len(samples), -1).view(np.uint8)


def _filter(
    rows: NDArray[np.uint8], above: NDArray[np.uint8], apart: int, made: NDArray[np.uint8]
) -> None:
    """Fill `made`, a byte wider than `rows`; `above` are those above each of them."""
    made[:, 0] = SUB
    left = made[:, 1:]
    left[:, :apart] = rows[:, :apart]
    np.subtract(rows[:, apart:], rows[:, :-apart], out=left[:, apart:])
    up = rows - above
    is_less = _size(up) < _size(left)
    made[is_less, 0] = UP
    left[is_less] = up[is_less]


def _size(differences: NDArray[np.uint8]) -> NDArray[np.int64]:
    """The sum of the sizes of each row's differences, which have a sign."""
    some = differences[:, ::STEP].view(np.int8).astype(np.int16)
    total: NDArray[np.int64] = np.abs(some).sum(axis=1, dtype=np.int64)
    return total
