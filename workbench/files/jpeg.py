"""The JPEG container: segments in front of the picture."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import imagecodecs
from numpy.typing import NDArray

from workbench.files import from_pillow
from workbench.files.png import MAX_PIXELS

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


_SPACES = {"L": "GRAYSCALE", "RGB": "RGB"}  # of what is decoded, by Pillow's mode


@contextmanager
def opened(
    path: Path, start: bytes, is_stopped: Callable[[], bool]
) -> Iterator[PlainJpegReader | None]:
    """Open a JPEG file; gives None for all others."""
    if not start.startswith(SIGNATURE):
        yield None
        return
    with from_pillow.image_in(path, is_stopped) as image:
        yield PlainJpegReader(path, image, is_stopped)


class PlainJpegReader(from_pillow.PillowReader):
    """A `Reader` of such a file: Pillow reads its header, profile and EXIF data."""

    def _samples(self, notes: list[str]) -> NDArray[Any]:
        samples = self._at_once()
        return super()._samples(notes) if samples is None else samples

    def _at_once(self) -> NDArray[Any] | None:
        """Return the samples; None where Pillow has to find out what the file is, or lacks."""
        image = self._image
        space = _SPACES.get(image.mode)
        if space is None or image.width * image.height > MAX_PIXELS:
            return None
        data = self._path.read_bytes()
        if not data.endswith(END):  # else it is cut off, and Pillow says so
            return None
        try:
            samples: NDArray[Any] = imagecodecs.jpeg8_decode(data, outcolorspace=space)
        except Exception:  # noqa: BLE001 - of a damaged file Pillow says what is wrong
            return None
        return samples if samples.shape[:2] == (image.height, image.width) else None
