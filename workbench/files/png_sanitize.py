"""A PNG's header and rows alone, sound or refused: of all else libpng, in OpenCV, tells stderr."""

from __future__ import annotations

import struct
import zlib
from pathlib import Path

import numpy as np

from workbench.files import png

MAX_SIDE = 1_000_000  # pixels; libpng reads no more
_SAMPLES = {0: 1, 2: 3, 4: 2, 6: 4}  # of a pixel, by colour type
_FILTERS = 5  # each row begins with the number of one
_MAX_CHUNK = 1 << 30
_WHOLE = ((0, 0, 1, 1),)
# Adam7's passes: the first column and row, and how far it is to the next ones.
_PASSES = (
    *((0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4)),
    *((0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2)),
)


class UnsoundError(Exception):
    """The file is damaged or cut short."""


def lean_png(path: Path) -> bytes:
    """The same picture, of 16 bits a sample, with nothing beside it; not packed any more.

    Raises UnsoundError.
    """
    header, packed = _header_and_rows(path)
    rows = _sound_rows(path.name, header, packed)
    del packed
    stored = memoryview(zlib.compress(rows, 0))
    del rows  # of a large picture there is no room for another copy
    pieces: list[bytes | memoryview] = [png.SIGNATURE, png.chunk(b"IHDR", header)]
    for start in range(0, len(stored), _MAX_CHUNK):
        body = stored[start : start + _MAX_CHUNK]
        checksum = zlib.crc32(body, zlib.crc32(b"IDAT"))
        pieces += [struct.pack(">I4s", len(body), b"IDAT"), body, struct.pack(">I", checksum)]
    return b"".join([*pieces, png.chunk(b"IEND", b"")])


def _header_and_rows(path: Path) -> tuple[bytes, bytes]:
    bodies: dict[bytes, list[bytes]] = {b"IHDR": [], b"IDAT": []}
    with path.open("rb") as file:
        for found in png.chunks(file):
            if found.kind in bodies:
                body = png.read_chunk(file, found)
                if body is None:
                    raise UnsoundError(path.name)
                bodies[found.kind].append(body)
    if len(bodies[b"IHDR"]) != 1:
        raise UnsoundError(path.name)
    return bodies[b"IHDR"][0], b"".join(bodies[b"IDAT"])


def _sound_rows(name: str, header: bytes, packed: bytes) -> bytes:
    """All rows, unpacked, each behind the number of its filter."""
    parts = _parts(name, header)
    needed = sum(count * stride for stride, count in parts)
    try:
        rows = zlib.decompressobj().decompress(packed, needed)
    except zlib.error as error:
        raise UnsoundError(name) from error
    if len(rows) != needed:
        raise UnsoundError(name)
    at = 0
    for stride, count in parts:
        filters = np.frombuffer(rows, np.uint8, count * stride, at)[::stride]
        if filters.max() >= _FILTERS:
            raise UnsoundError(name)
        at += count * stride
    return rows


def _parts(name: str, header: bytes) -> list[tuple[int, int]]:
    """(bytes in a row, rows) of each part that the rows come in."""
    if len(header) != 13:
        raise UnsoundError(name)
    width, height, depth, colours, packing, filtering, order = struct.unpack(">IIBBBBB", header)
    is_known = depth == 16 and colours in _SAMPLES and packing == filtering == 0 and order <= 1
    if not is_known or not 1 <= width <= MAX_SIDE or not 1 <= height <= MAX_SIDE:
        raise UnsoundError(name)
    found = []
    for first_x, first_y, step_x, step_y in _PASSES if order else _WHOLE:
        columns = -((first_x - width) // step_x)
        count = -((first_y - height) // step_y)
        if columns > 0 and count > 0:
            found.append((1 + 2 * _SAMPLES[colours] * columns, count))
    return found
