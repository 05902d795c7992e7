"""PNG: chunks and checksums, and files of 8 bits a sample decoded and packed in one go."""

from __future__ import annotations

import re
import struct
import zlib
from collections.abc import Iterable, Iterator
from typing import Any, BinaryIO, NamedTuple

import imagecodecs
import numpy as np
from numpy.typing import NDArray
from PIL import PngImagePlugin

from workbench.files import exif
from workbench.imaging.pictures import Texts

SIGNATURE = b"\x89PNG\r\n\x1a\n"
XMP_KEYWORD = "XML:com.adobe.xmp"  # of a text
SETTINGS_KEYWORD = "filter-workbench"  # of those of the window in a screenshot
_OF_THE_FILE = re.compile(f"{SETTINGS_KEYWORD}|Software|date:(create|modify|timestamp)")
_KEYWORD = re.compile("(?! )[ -~\xa1-\xff]{1,79}(?<! )")
# Of iTXt, behind the keyword: not compressed, no language, no translation.
PLAIN_UTF8 = b"\0\0\0\0\0"


_HEADER_END = len(SIGNATURE) + 8 + 13 + 4  # the signature and the IHDR chunk, always the first


class Chunk(NamedTuple):
    """The place of one chunk's data in a file."""

    kind: bytes
    offset: int
    length: int


def chunk_parts(kind: bytes, data: bytes | memoryview) -> tuple[bytes, bytes | memoryview, bytes]:
    """Return a whole chunk, with length and checksum, in parts: large data are not copied."""
    checksum = zlib.crc32(data, zlib.crc32(kind))
    return struct.pack(">I", len(data)) + kind, data, struct.pack(">I", checksum)


def parts_with(
    encoded: bytes | bytearray, more: Iterable[tuple[bytes, bytes]]
) -> Iterator[bytes | memoryview]:
    """Yield a PNG file's bytes in parts, with more chunks, by kind, right behind its header."""
    view = memoryview(encoded)
    yield view[:_HEADER_END]
    for kind, data in more:
        yield from chunk_parts(kind, data)
    yield view[_HEADER_END:]


def chunks(file: BinaryIO) -> Iterator[Chunk]:
    """Yield the chunks in order, skipping over their data; none where `file` is not a PNG.

    Ends early, without complaint, where the file does; what is behind its end means nothing.
    """
    if file.read(len(SIGNATURE)) != SIGNATURE:
        return
    kind = b""
    while kind != b"IEND" and len(head := file.read(8)) == 8:
        length, kind = struct.unpack(">I4s", head)
        found = Chunk(kind, file.tell(), length)
        yield found
        file.seek(found.offset + length + 4)


def read_chunk(file: BinaryIO, found: Chunk) -> bytes | None:
    """Return the chunk's data, or None where they are cut short or their checksum is wrong."""
    is_whole = _is_whole(file, found)
    file.seek(found.offset)
    return file.read(found.length) if is_whole else None


MAX_SIDE_BYTES = 1 << 26  # that a text or a profile unpacks to
BLOCK_BYTES = 1 << 20
RAW_PROFILE = "Raw profile type "  # how the keyword of a text begins that is a profile
_KNOWN = re.compile(f"{RAW_PROFILE}(exif|app1|xmp|iptc|8bim)", re.IGNORECASE)
_RAW = re.compile(r"\s*\w+\s+(\d{1,9})\s+([0-9A-Fa-f\s]*)")  # what it is, its bytes, and these
IPTC_START = b"\x1c"
_PROFILES = {
    **dict.fromkeys((exif.PREFIX, b"II*\0", b"MM\0*"), "exif"),
    **{exif.JPEG_XMP: "xmp", b"<": "xmp", b"8BIM": "iptc", IPTC_START: "iptc"},
}
_OF_SAMPLES, _NOT_READ = (b"PLTE", b"IDAT"), (b"IEND", b"fcTL", b"fdAT")
_TEXTS = (b"tEXt", b"zTXt", b"iTXt")
_SIDE = (*_TEXTS, b"iCCP")
# Pillow allows so little that it refuses pictures.
PngImagePlugin.MAX_TEXT_CHUNK, PngImagePlugin.MAX_TEXT_MEMORY = MAX_SIDE_BYTES, 4 * MAX_SIDE_BYTES


class Text(str):
    """A text with the chunk of the file it is in: its language, packing, translation, letters.

    kind  such as b"iTXt"; b"COM" of a JPEG
    """

    __slots__ = ("data", "kind")
    kind: bytes
    data: bytes

    def __new__(cls, text: str, kind: bytes, data: bytes) -> Text:
        made = super().__new__(cls, text)
        made.kind, made.data = kind, data
        return made


class Contents(NamedTuple):
    """What is in a file beside its samples."""

    info: dict[Any, Any]  # as `Image.info` of Pillow, also of what stands behind the samples
    kinds: list[bytes]  # of sound chunks
    damaged: list[str]  # kinds of chunks
    sound: bytes | None  # the file without those; None: there are none
    texts: Texts = ()  # that are no metadata of another kind


def found_in(file: BinaryIO) -> Contents:
    """Look through a whole file.  Raises ValueError where the checksum of samples is wrong."""
    stream, side = PngImagePlugin.PngStream(file), PngImagePlugin.PngStream(file)
    sound, damaged, said = list[Chunk](), list[str](), list[tuple[str, str]]()
    profiles: dict[Any, Any] = {}  # that are texts; a chunk of its own is better
    for each in chunks(file):
        is_side = each.kind in _SIDE
        reader = side if is_side else stream  # so that no keyword is taken for a fact
        side.im_info, side.im_text = {}, {}
        parse = getattr(reader, f"chunk_{each.kind.decode('latin-1')}", None)
        try:
            if not (each.kind.isalpha() and (each.kind in _NOT_READ or _is_whole(file, each))):
                raise ValueError(each.kind)
            file.seek(each.offset)
            if each.kind == b"cICP":
                stream.im_info["cicp"] = struct.unpack("4B", file.read(each.length))
            elif parse and each.kind not in _OF_SAMPLES + _NOT_READ:
                data = parse(each.offset, each.length)
                told: dict[Any, Any] = {**side.im_info, **side.im_text}
                if is_side and not (_is_unpacked(each.kind, data) and told):
                    raise ValueError(each.kind)
                for name, text in _said_in(told, stream.im_info, profiles):
                    said.append((name, Text(text, each.kind, data)))
            sound.append(each)
        except (ValueError, SyntaxError, IndexError, struct.error, zlib.error):
            if each.kind[:1].isupper():  # so that nothing can be made of the file without it
                raise
            damaged.append(each.kind.decode("latin-1"))
    parts = [SIGNATURE, *(_whole(file, each) for each in sound if each.kind not in _TEXTS)]
    whole = b"".join(parts) if damaged else None
    info = {**profiles, **stream.im_info}
    return Contents(info, [each.kind for each in sound], damaged, whole, tuple(said))


def _said_in(
    told: dict[Any, Any], info: dict[Any, Any], profiles: dict[Any, Any]
) -> Iterator[tuple[str, str]]:
    """Yield a chunk's text, or put it into `info`, or as ImageMagick has EXIF into `profiles`.

    Raises ValueError where PNG holds none such, or a profile is damaged.
    """
    for name, text in told.items():
        if isinstance(text, bytes):
            info[name] = text
        elif name == XMP_KEYWORD:
            info.setdefault("xmp", text.encode())
        elif name.startswith(RAW_PROFILE) and (kind := _kind_of(data := _unraw(text))):
            is_bare = data.startswith(IPTC_START)
            data = exif.resources_of(data) if is_bare else data.removeprefix(exif.JPEG_XMP)
            profiles.setdefault(kind, data)
        elif not holds(name, text) or _KNOWN.fullmatch(name):
            raise ValueError(name)
        elif not _OF_THE_FILE.fullmatch(name):
            yield str(name), text


def _unraw(text: str) -> bytes:
    """The bytes of a profile that is a text; b"" where it is none, or cut short."""
    found = _RAW.match(text)
    size = 2 * int(found[1]) if found else 0
    digits = "".join(found[2].split())[:size] if found else ""  # what is behind is ignored
    return bytes.fromhex(digits) if len(digits) == size else b""


def _kind_of(profile: bytes) -> str | None:
    if profile[36:40] == b"acsp":  # of colours
        return "icc_profile"
    return next((kind for begins, kind in _PROFILES.items() if profile.startswith(begins)), None)


def holds(keyword: str, text: str) -> bool:
    """True if PNG has a place for such a text."""
    return bool(_KEYWORD.fullmatch(keyword)) and "\0" not in text


def _is_unpacked(kind: bytes, data: bytes) -> bool:
    """True if all of a text or a profile unpacks; else it raises, or Pillow takes a part of it."""
    rest, is_packed = data[data.index(b"\0") + 1 :], kind in (b"zTXt", b"iCCP")
    if kind == b"iTXt":
        is_packed, rest = rest[0] != 0, b"\0" + rest[2:].split(b"\0", 2)[2]
    unpacker = zlib.decompressobj()
    unpacked = is_packed and unpacker.decompress(rest[1:], MAX_SIDE_BYTES)
    return unpacker.eof or unpacked is False


def _is_whole(file: BinaryIO, found: Chunk) -> bool:
    """True if the chunk's checksum is right, without all of it in memory."""
    file.seek(found.offset)
    checksum, left = zlib.crc32(found.kind), found.length
    while left and (data := file.read(min(left, BLOCK_BYTES))):
        checksum, left = zlib.crc32(data, checksum), left - len(data)
    return file.read(4) == checksum.to_bytes(4, "big")


def _whole(file: BinaryIO, found: Chunk) -> bytes:
    file.seek(found.offset - 8)
    return file.read(found.length + 12)


LEVEL, MAX_CHUNK_BYTES = 1, 1 << 30
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
    packed = memoryview(imagecodecs.deflate_encode(rows, level=LEVEL))
    for start in range(0, len(packed), MAX_CHUNK_BYTES):
        yield from chunk_parts(b"IDAT", packed[start : start + MAX_CHUNK_BYTES])
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
        band = np.ascontiguousarray(samples[top : top + rows], samples.dtype.newbyteorder(">"))
        band = band.reshape(len(band), -1).view(np.uint8)
        _filter(band, np.concatenate([above, band[:-1]]), apart, made[top : top + rows])
        above = band[-1:]
    return made


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


def raw_profile(name: str, data: bytes) -> tuple[bytes, bytes]:
    """A chunk of a profile as a text, as ImageMagick began to write them."""
    text = f"\n{name}\n{len(data):8}\n{data.hex()}\n".encode()
    return b"zTXt", (RAW_PROFILE + name).encode() + b"\0\0" + zlib.compress(text)
