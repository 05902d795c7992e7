"""What a PNG says beside its samples: colours, resolution, EXIF, XMP and IPTC.

Where that is damaged, the picture is read without it; where the samples are, it is not read.
"""

from __future__ import annotations

import re
import struct
import zlib
from dataclasses import dataclass, field
from typing import BinaryIO

from workbench.files import colour_profiles, png
from workbench.files import exif as exif_of
from workbench.imaging.pictures import Resolution

MAX_BYTES = 1 << 26  # of one chunk, and of what it unpacks to
BLOCK_BYTES = 1 << 20
_LEAST = {b"gAMA": 4, b"cHRM": 32, b"sRGB": 1, b"pHYs": 9, b"cICP": 4, b"acTL": 8}
_LEAST_MARK = {0: 2, 2: 6, 3: 1}  # bytes that mark what is transparent, by colour type
_FRAMES = (b"fcTL", b"fdAT")
_PACKED = (b"iCCP", b"zTXt")
_IN_WORDS = {b"iCCP": "the colour profile", b"eXIf": "EXIF", b"tRNS": "what is transparent"}
_IN_WORDS |= dict.fromkeys((b"tEXt", b"zTXt", b"iTXt"), "a text")
_PROFILE = "Raw profile type "
XMP_KEYWORD = "XML:com.adobe.xmp"
_HEX = re.compile(rb"\s*\w+\s+(\d+)\s+([0-9A-Fa-f\s]*)")  # what it is, its bytes, and these
_METRE = 1


@dataclass(slots=True)
class Side:
    """What was found beside the samples; `colours` and `icc` as `Decoded` has them."""

    kinds: list[bytes] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)  # on what is damaged, or not made use of
    sound: bytes | None = None  # the file without what is damaged; None: all of it is sound
    icc: bytes | None = None
    colours: str = ""
    exif: exif_of.Fields = field(default_factory=dict)
    xmp: bytes | None = None
    iptc: bytes | None = None
    resolution: Resolution | None = None


def side_of(file: BinaryIO) -> Side:
    """Look through a whole PNG, of which what is damaged beside the samples is left out.

    Raises EOFError where the samples are cut short, ValueError where a checksum of them is wrong.
    """
    side, found, texts = Side(), dict[bytes, bytes](), dict[str, bytes]()
    sound, damaged, colour_type = list[png.Chunk](), list[str](), -1
    for each in png.chunks(file):
        kind = each.kind
        if kind[:1].isupper():
            if kind != b"IEND" and not _is_whole(file, each):
                raise ValueError(f"checksum of {kind!r}")
            if kind == b"IHDR":
                colour_type = _at(file, each.offset + 9)
        elif kind not in _FRAMES:
            data = png.read_chunk(file, each) if each.length <= MAX_BYTES else None
            least = _LEAST_MARK.get(colour_type, 0) if kind == b"tRNS" else _LEAST.get(kind, 0)
            try:
                if data is None or len(data) < least:
                    raise ValueError(kind)
                if kind in _PACKED or kind in (b"tEXt", b"iTXt"):
                    name, data = _text(kind, data)
                    texts.setdefault(name, data)
            except (ValueError, zlib.error):
                damaged.append(_IN_WORDS.get(kind, kind.decode("latin-1")))
                continue
            found.setdefault(kind, data)
        sound.append(each)
        side.kinds.append(kind)
    if damaged:
        side.notes.append(f"Damaged in the file, and ignored: {', '.join(dict.fromkeys(damaged))}.")
        side.sound = b"".join([png.SIGNATURE, *(_bytes(file, each) for each in sound)])
    _tell(side, found, texts)
    return side


def _tell(side: Side, found: dict[bytes, bytes], texts: dict[str, bytes]) -> None:
    raw = [
        _raw(texts[_PROFILE + name])
        for name in ("exif", "APP1", "iptc", "8bim", "xmp")
        if _PROFILE + name in texts
    ]
    exifs = [each for each in raw if each.startswith((exif_of.PREFIX, b"II*\0", b"MM\0*"))]
    side.exif = exif_of.fields_in(found.get(b"eXIf") or next(iter(exifs), None), side.notes)
    xmps = [
        each.removeprefix(exif_of.JPEG_XMP)
        for each in raw
        if each.startswith((exif_of.JPEG_XMP, b"<"))
    ]
    side.xmp = texts.get(XMP_KEYWORD) or next(iter(xmps), None)
    for each in raw:
        side.iptc = side.iptc or exif_of.iptc_in(each) or (each if each[:1] == b"\x1c" else None)
    if b"pHYs" in found:
        across, down, unit = struct.unpack_from(">IIB", found[b"pHYs"])
        if unit == _METRE:
            side.resolution = Resolution.of_metre(across, down)
        else:
            side.resolution = Resolution.known((across, 1), (down, 1), Resolution.NONE)
    if b"cICP" in found:
        side.icc, side.colours = colour_profiles.coded(*found[b"cICP"][:4])
    elif b"iCCP" in found:
        side.icc = found[b"iCCP"]  # unpacked
    elif b"sRGB" not in found and found.keys() & {b"gAMA", b"cHRM"}:
        gamma = struct.unpack(">I", found.get(b"gAMA", _USUAL_GAMMA)[:4])[0] / 1e5
        points = [each / 1e5 for each in struct.unpack(">8I", found.get(b"cHRM", _USUAL)[:32])]
        side.icc, side.colours = colour_profiles.calibrated(gamma, points)
    if side.colours and side.icc is None:
        side.notes.append(f"Colours in {side.colours} are shown as if they were sRGB.")


_USUAL_GAMMA = struct.pack(">I", 45455)
_USUAL = struct.pack(">8I", 31270, 32900, 64000, 33000, 30000, 60000, 15000, 6000)


def _is_whole(file: BinaryIO, found: png.Chunk) -> bool:
    """True if the chunk's checksum is right, without all of it in memory."""
    file.seek(found.offset)
    checksum, left = zlib.crc32(found.kind), found.length
    while left:
        data = file.read(min(left, BLOCK_BYTES))
        if not data:
            raise EOFError
        checksum, left = zlib.crc32(data, checksum), left - len(data)
    return file.read(4) == checksum.to_bytes(4, "big")


def _at(file: BinaryIO, offset: int) -> int:
    file.seek(offset)
    return file.read(1)[0]


def _bytes(file: BinaryIO, found: png.Chunk) -> bytes:
    file.seek(found.offset - 8)
    return file.read(found.length + 12)


def _text(kind: bytes, data: bytes) -> tuple[str, bytes]:
    """The keyword of a text, or the name of a profile, and what it is.  Raises ValueError."""
    name, _, rest = data.partition(b"\0")
    head = {b"iTXt": 2, b"tEXt": 0}.get(kind, 1)  # whether and how it is packed
    is_packed = kind in _PACKED or (head == 2 and rest[:1] == b"\1")
    method, rest = rest[:head][-1:], rest[head:]
    if head == 2:
        rest = rest.split(b"\0", 2)[-1]  # behind a language and the keyword in that
    if is_packed:
        if method != b"\0":
            raise ValueError("an unknown method")
        unpacking = zlib.decompressobj()
        rest = unpacking.decompress(rest, MAX_BYTES)
        if not unpacking.eof:
            raise ValueError("too large or cut short")
    return name.decode("latin-1"), rest


def _raw(text: bytes) -> bytes:
    """The bytes of a raw profile, which are written as text; what is behind them is ignored."""
    found = _HEX.match(text)
    digits = b"".join(found[2].split())[: 2 * int(found[1])] if found else b""
    return bytes.fromhex(digits[: len(digits) // 2 * 2].decode())


def raw_profile(name: str, data: bytes) -> bytes:
    """The data of a zTXt chunk that is the raw profile `name`, as ImageMagick began to write it."""
    text = f"\n{name}\n{len(data):8}\n{data.hex()}\n".encode()
    return (_PROFILE + name).encode() + b"\0\0" + zlib.compress(text)
