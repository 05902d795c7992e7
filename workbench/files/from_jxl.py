"""JPEG XL, ISO/IEC 18181: a file is a codestream, or boxes, one or more of which hold it."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path

import imagecodecs
import numpy as np

from workbench.files import exif as exif_of
from workbench.files.from_codecs import unless_stopped
from workbench.files.from_pillow import Decoded
from workbench.files.from_tiff import spread, undo_premultiplied
from workbench.files.needs import Need
from workbench.files.picture_errors import not_read

_BARE, _BOXES = b"\xff\x0a", b"\0\0\0\x0cJXL \r\n\x87\n"
_PIXELS, _DESCRIBING = (b"jxlc", b"jxlp"), (b"Exif", b"xml ", b"brob")
_BEGIN, _MAX_UNPACKED = 4096, 1 << 24  # bytes of the codestream; of EXIF or XMP
_RATIOS = (0, 1, 12 / 10, 4 / 3, 3 / 2, 16 / 9, 5 / 4, 2)  # of width to height
# What a number is by its first two bits: so many more bits, and what is added to them.
_SIDE, _ENUM = ((9, 1), (13, 1), (18, 1), (30, 1)), ((0, 0), (0, 1), (4, 2), (6, 18))
_ANIMATION = (
    ((0, 100), (0, 1000), (10, 1), (30, 1)),
    ((0, 1), (0, 1001), (8, 1), (10, 1)),
    ((0, 0), (3, 0), (16, 0), (32, 0)),
)
_ALPHA, _GREY = 0, 1  # kinds of channels, and of colours


class _Header:
    """The header, which imagecodecs keeps to itself, read bit by bit, the lowest first."""

    def __init__(self, codestream: bytes) -> None:
        self._left = int.from_bytes(codestream[2:], "little")
        self.orientation, self.bits, self.channels, self.extra = 1, 8, 3, list[int]()
        self.is_animated = self.is_float = self.is_premultiplied = self.is_coloured = False
        self.width, self.height = self._size()
        if self._take(1):  # all else is as usual
            return
        if self._take(1):
            self.orientation = 1 + self._take(3)
            if self._take(1):
                self._size()  # to be shown at
            if self._take(1):
                raise ValueError("a preview, which nobody writes")
            if self._take(1):
                self.is_animated = all(self._number(*each) >= 0 for each in _ANIMATION)
                self._take(1)
        self.bits, self.is_float = self._depth()
        self._take(1)  # how exact the decoder has to be
        for _ in range(self._number((0, 0), (0, 1), (4, 2), (12, 1))):
            self.extra.append(_ALPHA if self._take(1) else self._extra())
        self._take(1)  # whether colours are packed in another way, which the decoder undoes
        if not self._take(1):  # not sRGB, or of floats the light
            has_icc, is_grey = self._take(1), self._number(*_ENUM) == _GREY
            self.channels, self.is_coloured = 1 if is_grey else 3, bool(has_icc) or not is_grey

    def _take(self, count: int) -> int:
        found = self._left & ((1 << count) - 1)
        self._left >>= count
        return found

    def _number(self, *ways: tuple[int, int]) -> int:
        bits, offset = ways[self._take(2)]
        return self._take(bits) + offset

    def _size(self) -> tuple[int, int]:
        is_small = self._take(1)

        def side() -> int:
            return 8 * (1 + self._take(5)) if is_small else self._number(*_SIDE)

        height, ratio = side(), self._take(3)
        return (int(height * _RATIOS[ratio] + 1e-6) if ratio else side()), height

    def _depth(self) -> tuple[int, bool]:
        if not self._take(1):
            return self._number((0, 8), (0, 10), (0, 12), (6, 1)), False
        bits = self._number((0, 32), (0, 16), (0, 24), (6, 1))
        self._take(4)  # of which for the exponent
        return bits, True

    def _extra(self) -> int:
        kind = self._number(*_ENUM)
        self._depth()
        self._number((0, 0), (0, 3), (0, 4), (3, 1))
        self._take(8 * self._number((0, 0), (4, 0), (5, 16), (10, 48)))  # its name
        self.is_premultiplied |= kind == _ALPHA and self._take(1) == 1
        return kind


def _boxes(data: bytes) -> Iterator[tuple[bytes, bytes]]:
    """Yield each box, of pixels the begin.  Raises EOFError where one is cut short."""
    at = 0
    while at < len(data):
        size, kind, long = struct.unpack(">I4sQ", data[at : at + 16].ljust(16, b"\0"))
        size, head = (long, 16) if size == 1 else (size or len(data) - at, 8)  # 0: the last one
        if size < head or at + size > len(data):
            raise EOFError("a box")
        content = data[at + head : at + (size if kind in _DESCRIBING else min(size, _BEGIN))]
        if kind == b"brob" and content[:4] in _DESCRIBING:  # another box, packed
            kind, content = content[:4], content[4:]
            with suppress(imagecodecs.BrotliError):  # else it is damaged, as whoever reads it says
                content = bytes(imagecodecs.brotli_decode(content, out=_MAX_UNPACKED))
        yield kind, content
        at += size


class JxlReader:
    """A reader of the first picture of a JPEG XL."""

    count = 1  # of pages: no library tells of others

    def __init__(self, path: Path, is_stopped: Callable[[], bool]) -> None:
        self._path, self._is_stopped, self._data = path, is_stopped, path.read_bytes()
        found = list(_boxes(self._data)) if self._data.startswith(_BOXES) else []
        begin = b"".join(each[4 * (kind == b"jxlp") :] for kind, each in found if kind in _PIXELS)
        self._boxes, self._header = dict(found), _Header(begin or self._data[:_BEGIN])
        is_deep = self._header.bits > 16 and not self._header.is_float
        if self._header.extra not in ([], [_ALPHA]) or is_deep:
            kind = "a JPEG XL with channels beside colours and alpha, or integers of over 16 bits"
            raise not_read(path.name, kind)

    def need(self) -> Need:
        """Memory for the samples, and for the decoder's, of eight bytes each."""
        header = self._header
        channels = header.channels + len(header.extra)
        count = header.width * header.height * channels
        ours, held = count * -(-header.bits // 8), len(self._data) + 16 * count
        return Need(self._path.name, header.width, header.height, channels, ours, held)

    def read(self, notes: list[str]) -> Decoded:
        """Read (H, W, C) of any of our pixel types."""
        header = self._header
        decode = partial(imagecodecs.jpegxl_decode, self._data, index=0, keeporientation=True)
        samples = np.atleast_3d(unless_stopped(decode, self._is_stopped))
        if header.is_animated:
            notes.append("The file holds an animation; its first picture is shown.")
        if not header.is_float:
            samples = spread(samples, header.bits, notes)
        if header.is_premultiplied:
            undo_premultiplied(samples, notes)
        if header.is_coloured and not header.is_float:
            notes.append("The colours may be others than sRGB’s; their profile was not applied.")
        box = self._boxes.get(b"Exif", b"")  # which begins with where in it EXIF does
        fields = exif_of.fields_in(box[4 + int.from_bytes(box[:4], "big") :] or box, notes)
        return Decoded(samples, None, header.orientation, fields, self._boxes.get(b"xml "))


def is_jxl(start: bytes) -> bool:
    """True if a file that begins so is a JPEG XL."""
    return start.startswith((_BARE, _BOXES))
