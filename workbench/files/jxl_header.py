"""The header of a JPEG XL codestream, ISO/IEC 18181-1, which imagecodecs keeps to itself."""

from __future__ import annotations

_RATIOS = (0, 1, 12 / 10, 4 / 3, 3 / 2, 16 / 9, 5 / 4, 2)  # of width to height
_GREY, _XYB, _CUSTOM, _DCI_P3, _DISPLAY_P3 = 1, 2, 2, 11, 12
_D65, _LINEAR, _SRGB = 1, 8, 13
# What a number is by its first two bits: so many more bits, and what is added to them.
_SIDE, _ENUM = ((9, 1), (13, 1), (18, 1), (30, 1)), ((0, 0), (0, 1), (4, 2), (6, 18))


class JxlHeader:
    """What the header says, read from its bits, the lowest of a byte first.

    width, height  as stored, not turned as `orientation`, EXIF's, says
    codes          the primaries and the transfer function, as ITU-T H.273 counts them
    """

    def __init__(self, codestream: bytes) -> None:
        """Read it from the first bytes of a codestream.  Raises EOFError."""
        self._bits, self._left = int.from_bytes(codestream[2:], "little"), 8 * len(codestream) - 16
        self.orientation, self.is_animated, self.bits, self.is_float = 1, False, 8, False
        self.channels, self.alphas, self.others = 3, 0, 0
        self.is_premultiplied = self.has_icc = False
        self.codes = 1, _SRGB
        self.width, self.height = self._size()
        if self._take(1):  # all else is as usual
            return
        if self._take(1):
            self.orientation = 1 + self._take(3)
            if self._take(1):
                self._size()  # to be shown at
            if self._take(1):
                raise ValueError("a preview")
            if self._take(1):
                self.is_animated = True
                self._one_of((0, 100), (0, 1000), (10, 1), (30, 1))
                self._one_of((0, 1), (0, 1001), (8, 1), (10, 1))
                self._one_of((0, 0), (3, 0), (16, 0), (32, 0))
                self._take(1)
        self.bits, self.is_float = self._depth()
        self._take(1)  # how exact the decoder has to be
        for _ in range(self._one_of((0, 0), (0, 1), (4, 2), (12, 1))):
            self._read_extra()
        self._take(1)  # whether colours are packed as XYB, which the decoder undoes
        if not self._take(1):
            self._read_colours()

    def _take(self, count: int) -> int:
        self._left -= count
        if self._left < 0:
            raise EOFError("a header")
        found = self._bits & ((1 << count) - 1)
        self._bits >>= count
        return found

    def _one_of(self, *ways: tuple[int, int]) -> int:
        bits, offset = ways[self._take(2)]
        return self._take(bits) + offset

    def _size(self) -> tuple[int, int]:
        is_small = self._take(1)

        def side() -> int:
            return 8 * (1 + self._take(5)) if is_small else self._one_of(*_SIDE)

        height, ratio = side(), self._take(3)
        return (int(height * _RATIOS[ratio] + 1e-6) if ratio else side()), height

    def _depth(self) -> tuple[int, bool]:
        if self._take(1):
            bits, _ = self._one_of((0, 32), (0, 16), (0, 24), (6, 1)), self._take(4)
            return bits, True
        return self._one_of((0, 8), (0, 10), (0, 12), (6, 1)), False

    def _read_extra(self) -> None:
        kind = 0
        if not self._take(1):
            kind = self._one_of(*_ENUM)
            self._depth()
            self._one_of((0, 0), (0, 3), (0, 4), (3, 1))
            self._take(8 * self._one_of((0, 0), (4, 0), (5, 16), (10, 48)))  # its name
            if kind == 0:
                self.is_premultiplied = bool(self._take(1))
            elif kind in (2, 5):
                raise ValueError("spot colours, or a mosaic")
        self.alphas += kind == 0
        self.others += kind != 0

    def _read_colours(self) -> None:
        self.has_icc, space = bool(self._take(1)), self._one_of(*_ENUM)
        self.channels = 1 if space == _GREY else 3
        if self.has_icc or space == _XYB:
            return
        white = self._one_of(*_ENUM)
        if white == _CUSTOM:
            self._points(1)
        primaries = 1 if space == _GREY else self._one_of(*_ENUM)
        if primaries == _CUSTOM:
            self._points(3)
        transfer = 0 if self._take(1) else self._one_of(*_ENUM)
        self.transfer_left = self._left
        primaries = _DISPLAY_P3 if primaries == _DCI_P3 and white == _D65 else primaries
        self.codes = (primaries if white == _D65 else 0), transfer

    def _points(self, count: int) -> None:
        for _ in range(2 * count):
            self._one_of((19, 0), (19, 0), (20, 0), (21, 0))


def marked_as_srgb(encoded: bytes) -> bytes:
    """Return a JPEG XL in boxes, without loss, with sRGB where its header says linear light.

    So imagecodecs marks all that has 16 bits.
    """
    at = encoded.index(b"jxlc") + 4
    begin = encoded[at : at + 64]
    header = JxlHeader(begin)
    if header.codes != (1, _LINEAR):
        return encoded
    last = 8 * len(begin) - header.transfer_left  # of the number, in four bits, from 2 on
    begin_bits = int.from_bytes(begin, "little") ^ ((_LINEAR - 2) ^ (_SRGB - 2)) << (last - 4)
    marked = begin_bits.to_bytes(len(begin), "little")
    return b"".join((encoded[:at], marked, encoded[at + len(begin) :]))
