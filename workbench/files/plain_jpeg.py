"""JPEG files, grey or of colours, decoded in one go: no other thread has to wait meanwhile.

Pillow decodes them as well, and then holds Python's lock for as long as it makes room for the
samples and copies them out: 5 ms of a picture of 1,920×1,080, so that any number of threads decoded
some 190 of these in a second.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import imagecodecs
from numpy.typing import NDArray

from workbench.files import from_pillow, jpeg
from workbench.files.plain_png import MAX_PIXELS

_SPACES = {"L": "GRAYSCALE", "RGB": "RGB"}  # of what is decoded, by Pillow's mode


@contextmanager
def opened(
    path: Path, start: bytes, is_stopped: Callable[[], bool]
) -> Iterator[PlainJpegReader | None]:
    """Open a JPEG file; gives None for all others."""
    if not start.startswith(jpeg.SIGNATURE):
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
        if not data.endswith(jpeg.END):  # else it is cut off, and Pillow says so
            return None
        try:
            samples: NDArray[Any] = imagecodecs.jpeg8_decode(data, outcolorspace=space)
        except Exception:  # noqa: BLE001 - of a damaged file Pillow says what is wrong
            return None
        return samples if samples.shape[:2] == (image.height, image.width) else None
