"""The header of a JPEG XL, ISO/IEC 18181, which imagecodecs keeps to itself."""

from __future__ import annotations

BARE, BOXES = b"\xff\x0a", b"\0\0\0\x0cJXL \r\n\x87\n"
BEGIN = 4096  # bytes of the codestream, in which the header ends
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
