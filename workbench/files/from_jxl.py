"""JPEG XL, ISO/IEC 18181: a file is a codestream, or boxes, one or more of which hold it."""

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
from workbench.files.from_pillow import Decoded, boxes, unless_stopped
from workbench.files.from_tiff import spread, undo_premultiplied
from workbench.files.jxl_header import ALPHA, BARE, BEGIN, BOXES, Header
from workbench.files.needs import Need
from workbench.files.picture_errors import not_read

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
