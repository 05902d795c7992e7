"""The PNG container: signature, chunks and their checksums."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import BinaryIO, NamedTuple

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


def insert_chunk(encoded: bytes | bytearray, kind: bytes, data: bytes) -> bytes:
    """Return a PNG file's bytes with one more chunk, right behind its header."""
    return b"".join(parts_with(encoded, [(kind, data)]))


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


def holds(path: Path, kind: bytes) -> bool:
    """Return whether the file is a PNG with such a chunk."""
    with path.open("rb") as file:
        return any(found.kind == kind for found in chunks(file))


def read_chunk(file: BinaryIO, found: Chunk) -> bytes | None:
    """Return the chunk's data, or None where they are cut short or their checksum is wrong."""
    file.seek(found.offset)
    data = file.read(found.length)
    checksum = file.read(4)
    is_whole = len(data) == found.length and len(checksum) == 4
    matches = is_whole and zlib.crc32(found.kind + data) == int.from_bytes(checksum, "big")
    return data if matches else None
