"""The JPEG container: segments in front of the picture."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator

SIGNATURE = b"\xff\xd8\xff"
END = b"\xff\xd9"
APP1, APP2 = 0xE1, 0xE2
XMP = b"http://ns.adobe.com/xap/1.0/\0"  # in front of XMP in an APP1
ICC = b"ICC_PROFILE\0\x01\x01"  # in front of a profile in an APP2: the first of one part
_HEADER_END = 2 + 18  # the signature and JFIF's own segment, which encoders write first


def segment(kind: int, data: bytes) -> bytes:
    """Return a whole segment, its marker and length included; it holds 65,533 bytes at most."""
    return struct.pack(">BBH", 0xFF, kind, len(data) + 2) + data


def parts_with(
    encoded: bytes | bytearray, more: Iterable[tuple[int, bytes]]
) -> Iterator[bytes | memoryview]:
    """Yield a JPEG file's bytes in parts, with more segments, by kind, right behind its header."""
    view = memoryview(encoded)
    yield view[:_HEADER_END]
    for kind, data in more:
        yield segment(kind, data)
    yield view[_HEADER_END:]
