"""JPEG XL: a file is a codestream, or boxes, one or more of which hold it."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import imagecodecs
import numpy as np
from PIL import Image

from workbench.files import colour_profiles
from workbench.files import exif as exif_of
from workbench.files.from_codecs import unless_stopped
from workbench.files.from_pillow import Decoded
from workbench.files.from_tiff import spread, undo_premultiplied
from workbench.files.jxl_header import JxlHeader
from workbench.files.needs import Need
from workbench.files.picture_errors import ImageFileError

_BARE, _BOXES = b"\xff\x0a", b"\0\0\0\x0cJXL \r\n\x87\n"
_DESCRIBING = (b"Exif", b"xml ", b"brob")
_BEGIN, _MAX_UNPACKED = 4096, 1 << 24  # bytes of the codestream; of EXIF or XMP


def _boxes(data: bytes) -> Iterator[tuple[bytes, bytes]]:
    """Yield the kind and the content of each box, of pixels the begin.

    Raises EOFError where one is cut short.
    """
    at = 0
    while at < len(data):
        size, kind, long = struct.unpack(">I4sQ", data[at : at + 16].ljust(16, b"\0"))
        size, head = (long, 16) if size == 1 else (size or len(data) - at, 8)  # 0: the last one
        if size < head or at + size > len(data):
            raise EOFError("a box")
        content = data[at + head : at + (size if kind in _DESCRIBING else min(size, _BEGIN))]
        if kind == b"brob" and content[:4] in _DESCRIBING:  # another box, packed
            kind, packed = content[:4], content[4:]
            content = bytes(imagecodecs.brotli_decode(packed, out=_MAX_UNPACKED))
        yield kind, content
        at += size


class JxlReader:
    """A reader of the first picture of a JPEG XL."""

    def __init__(self, path: Path, is_stopped: Callable[[], bool]) -> None:
        self._path, self._is_stopped, self._data = path, is_stopped, path.read_bytes()
        found = list(_boxes(self._data)) if self._data.startswith(_BOXES) else []
        parts = [
            each[4 * (kind == b"jxlp") :] for kind, each in found if kind in (b"jxlc", b"jxlp")
        ]
        self._header = JxlHeader(b"".join(parts) or self._data[:_BEGIN])
        self._boxes = dict(found)

    def need(self) -> Need:
        """Memory for the samples, and for the decoder's, of four bytes each."""
        header, (width, height, channels) = self._header, self._shape
        if header.others or header.alphas > 1 or (header.bits > 16 and not header.is_float):
            raise ImageFileError(
                f"{self._path.name} is a JPEG XL of a kind this program does not read (channels "
                "beside colours and alpha, or integers of more than 16 bits); save it as TIFF with "
                "another program."
            )
        ours = width * height * channels * -(-header.bits // 8)
        held = len(self._data) + 2 * ours + 8 * width * height * channels
        return Need(self._path.name, width, height, channels, ours, held)

    @property
    def _shape(self) -> tuple[int, int, int]:
        header = self._header
        return header.width, header.height, header.channels + header.alphas

    def read(self, notes: list[str]) -> Decoded:
        """Read (H, W) or (H, W, C) of any of our pixel types."""
        header = self._header
        decode = partial(imagecodecs.jpegxl_decode, self._data, index=0, keeporientation=True)
        samples = np.atleast_3d(unless_stopped(decode, self._is_stopped))
        if header.is_animated:
            notes.append("The file holds an animation; its first picture is shown.")
        if not header.is_float:
            samples = spread(samples, header.bits, notes)
        if header.is_premultiplied:
            undo_premultiplied(samples, notes)
        if header.has_icc:
            notes.append("The file's colour profile cannot be read and was not applied.")
        samples = colour_profiles.coded_to_srgb(samples, header.codes, notes)
        exif, xmp = self._boxes.get(b"Exif"), self._boxes.get(b"xml ")

        def read_exif() -> Image.Exif:
            made = Image.Exif()
            if exif is not None:
                made.load(exif_of.PREFIX + exif[4 + int.from_bytes(exif[:4], "big") :])
            return made

        return Decoded(samples, None, header.orientation, read_exif, xmp)


def is_jxl(start: bytes) -> bool:
    """True if a file that begins so is a JPEG XL."""
    return start.startswith((_BARE, _BOXES))
