"""PNG files of 8 bits a sample, decoded in one go: no other thread has to wait meanwhile.

Pillow decodes them a chunk at a time, hundreds of them in a file, and takes Python's lock between
any two: a folder that sixteen threads decode was hardly decoded sooner than by two.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any

import imagecodecs
from numpy.typing import NDArray
from PIL import Image

from workbench.files import from_pillow, png

MAX_PIXELS = 1 << 24  # of a picture whose decoding need not be stopped: half a second
_COLOUR_TYPES = (0, 2, 4, 6)  # all but palettes
# What Pillow makes something of that samples alone do not say.
_NOT_PLAIN = frozenset((b"tRNS", b"acTL"))


@contextmanager
def opened(
    path: Path, start: bytes, is_stopped: Callable[[], bool]
) -> Iterator[PlainPngReader | None]:
    """Open a PNG file of 8 bits a sample, without a palette; gives None for all others."""
    if not (start.startswith(png.SIGNATURE) and start[24] == 8 and start[25] in _COLOUR_TYPES):
        yield None
        return
    with from_pillow.image_in(path, is_stopped) as image:
        yield PlainPngReader(path, image, is_stopped)


class PlainPngReader(from_pillow.PillowReader):
    """A `Reader` of such a file: Pillow reads its header, profile and EXIF data."""

    def _exif(self) -> Image.Exif:
        """Return the EXIF, for which Pillow would decode all pixels to be sure."""
        return super()._exif() if self._data is None else Image.Image.getexif(self._image)

    def _samples(self, notes: list[str]) -> NDArray[Any]:
        if self._data is not None:
            try:
                samples: NDArray[Any] = imagecodecs.png_decode(self._data)
            except Exception:  # noqa: BLE001 - of a damaged file Pillow says what is wrong
                return super()._samples(notes)
            return samples
        return super()._samples(notes)

    @cached_property
    def _data(self) -> bytes | None:
        """Return the file, where nothing but its samples is told behind the first of them."""
        if self._image.width * self._image.height > MAX_PIXELS:
            return None
        data = self._path.read_bytes()
        return data if _is_plain(data) else None


def _is_plain(data: bytes) -> bool:
    at, kinds = len(png.SIGNATURE), list[bytes]()
    while at + 8 <= len(data):
        length, kind = struct.unpack_from(">I4s", data, at)
        if not kinds or kinds[-1] != kind:
            kinds.append(kind)
        at += 12 + length
    return kinds[-2:] == [b"IDAT", b"IEND"] and not _NOT_PLAIN.intersection(kinds)
