"""JPEG XL, ISO/IEC 18181: a file is a codestream, or boxes, one or more of which hold it.

imagecodecs keeps what a header says to itself.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import partial
from itertools import starmap
from pathlib import Path

import imagecodecs
import numpy as np

from workbench.files import colour_profiles
from workbench.files import exif as exif_of
from workbench.files.colour_profiles import spread, undo_premultiplied
from workbench.files.from_pillow import BEGIN, Decoded, boxes, unless_stopped
from workbench.files.needs import Need
from workbench.files.picture_errors import not_read

BARE, BOXES = b"\xff\x0a", b"\0\0\0\x0cJXL \r\n\x87\n"
_RATIOS = (0, 1, 12 / 10, 4 / 3, 3 / 2, 16 / 9, 5 / 4, 2)  # of width to height
# What a number is by its first two bits: so many more bits, and what is added to them.
_SIDE, _ENUM = ((9, 1), (13, 1), (18, 1), (30, 1)), ((0, 0), (0, 1), (4, 2), (6, 18))
_ANIMATION = (
    ((0, 100), (0, 1000), (10, 1), (30, 1)),
    ((0, 1), (0, 1001), (8, 1), (10, 1)),
    ((0, 0), (3, 0), (16, 0), (32, 0)),
)
ALPHA, _GREY, _CUSTOM = 0, 1, 2  # kinds of channels, and of colours
# By white and primaries: the number that these have in PNG's cICP, whose curves are numbered alike.
_POINTS = {(1, 1): 1, (1, 9): 9, (1, 11): 12}
_LIGHT, _SRGB = 8, 13  # curves
_PIXELS = b"jxlc", b"jxlp"
_READ = {*_PIXELS, b"JXL ", b"ftyp", b"jxll", b"jxli", b"jbrd", b"Exif", b"xml "}
_MAX_UNPACKED = 1 << 24  # bytes of EXIF or XMP


def _unpacked(kind: bytes, content: bytes) -> tuple[bytes, bytes]:
    """A box that is packed into another one, or as it is."""
    if kind != b"brob":
        return kind, content
    with suppress(imagecodecs.BrotliError):  # else it is damaged, as whoever reads it says
        return content[:4], bytes(imagecodecs.brotli_decode(content[4:], out=_MAX_UNPACKED))
    return content[:4], content[4:]


class JxlReader:
    """A reader of the first picture of a JPEG XL."""

    count = 1  # of pages: no library tells of others

    def __init__(self, path: Path, is_stopped: Callable[[], bool]) -> None:
        self._path, self._is_stopped, self._data = path, is_stopped, path.read_bytes()
        found = list(starmap(_unpacked, boxes(self._data) if self._data.startswith(BOXES) else ()))
        begin = b"".join(each[4 * (kind == b"jxlp") :] for kind, each in found if kind in _PIXELS)
        self._boxes, self._header = dict(found), Header(begin or self._data[:BEGIN])
        is_deep = self._header.bits > 16 and not self._header.is_float
        if self._header.extra not in ([], [ALPHA]) or is_deep:
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
        icc, colours = None, ""
        if header.colours is not None and not header.is_float:
            icc, colours = colour_profiles.coded(*header.colours, 0, 1)
        elif header.colours is None:
            notes.append("The colours may be others than sRGB’s; their profile was not applied.")
        box = self._boxes.get(b"Exif", b"")  # which begins with where in it EXIF does
        fields = exif_of.fields_in(box[4 + int.from_bytes(box[:4], "big") :] or box, notes)
        xmp = self._boxes.get(b"xml ")
        others = ", ".join(each.decode("latin-1") for each in self._boxes if each not in _READ)
        lost = (f"what the JPEG XL says in {others}",) if others else ()
        return Decoded(samples, icc, header.orientation, fields, xmp, colours=colours, lost=lost)


def is_jxl(start: bytes) -> bool:
    """True if a file that begins so is a JPEG XL."""
    return start.startswith((BARE, BOXES))


class Header:
    """A header, read bit by bit, the lowest first."""

    def __init__(self, codestream: bytes) -> None:
        self._left, self._taken = int.from_bytes(codestream[2:], "little"), 16
        self.orientation, self.bits, self.channels, self.extra = 1, 8, 3, list[int]()
        self.is_animated = self.is_float = self.is_premultiplied = False
        self.colours: tuple[int, int] | None = (1, _SRGB)  # as cICP numbers them; None: others
        self.curve_at = 0  # the bit of the file where the curve begins
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
            self.extra.append(ALPHA if self._take(1) else self._extra())
        self._take(1)  # whether colours are packed in another way, which the decoder undoes
        if not self._take(1):  # not sRGB
            has_icc, is_grey = self._take(1), self._number(*_ENUM) == _GREY
            self.channels = 1 if is_grey else 3
            self.colours = None if has_icc else self._colours(is_grey=is_grey)

    def _take(self, count: int) -> int:
        found = self._left & ((1 << count) - 1)
        self._left >>= count
        self._taken += count
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

    def _colours(self, *, is_grey: bool) -> tuple[int, int] | None:
        white = self._number(*_ENUM)
        if white == _CUSTOM or (primaries := 1 if is_grey else self._number(*_ENUM)) == _CUSTOM:
            return None
        if self._take(1):  # a gamma
            return None
        self.curve_at = self._taken
        points, curve = _POINTS.get((white, primaries)), self._number(*_ENUM)
        return None if points is None else (points, curve)

    def _extra(self) -> int:
        kind = self._number(*_ENUM)
        self._depth()
        self._number((0, 0), (0, 3), (0, 4), (3, 1))
        self._take(8 * self._number((0, 0), (4, 0), (5, 16), (10, 48)))  # its name
        self.is_premultiplied |= kind == ALPHA and self._take(1) == 1
        return kind


def as_srgb(encoded: bytes) -> bytes:
    """The same file, but that its samples, if it calls them linear light, are sRGB."""
    begin = encoded.index(b"jxlc" + BARE) + 4 if encoded.startswith(BOXES) else 0
    header = Header(encoded[begin : begin + BEGIN])
    if header.colours != (1, _LIGHT):
        return encoded
    at, bit = divmod(8 * begin + header.curve_at + 2, 8)
    word = int.from_bytes(encoded[at : at + 2], "little") ^ (_LIGHT - 2 ^ _SRGB - 2) << bit
    return encoded[:at] + word.to_bytes(2, "little") + encoded[at + 2 :]
