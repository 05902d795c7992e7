"""PNG and PNM files of more than 8 bits a sample, which Pillow would cut off."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from math import prod
from pathlib import Path

import imagecodecs
import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageFile

from workbench.files import from_pillow, png
from workbench.files.needs import Need

_PNG_CHANNELS = {0: 1, 2: 3, 4: 2, 6: 4}  # by colour type
_BETWEEN = rb"(?:\s|#[^\n]*\n)+"  # the words of a PNM file's header; a comment ends with its line
_PNM_HEADER = re.compile(rb"(P[2356])" + (_BETWEEN + rb"(\d{1,9})") * 3 + rb"\s")


@contextmanager
def opened(path: Path, start: bytes, is_stopped: Callable[[], bool]) -> Iterator[DeepReader | None]:
    """Open a PNG or PNM file of more than 8 bits a sample; gives None for all others."""
    is_deep_png = start.startswith(png.SIGNATURE) and start[24:25] == b"\x10"
    if not is_deep_png and not re.match(rb"P[2356][\s#]", start):
        yield None
        return
    with from_pillow.image_in(path, is_stopped) as image:
        is_deep = is_deep_png or _largest_sample(path) > 255
        yield DeepReader(path, start, image, is_stopped) if is_deep else None


class DeepReader(from_pillow.PillowReader):
    """A `Reader` of such a file: Pillow reads its header, profile and EXIF data."""

    def __init__(
        self, path: Path, start: bytes, image: ImageFile.ImageFile, is_stopped: Callable[[], bool]
    ) -> None:
        super().__init__(path, image, is_stopped)
        self._start, self._is_png = start, start.startswith(png.SIGNATURE)

    def need(self) -> Need:
        """Return what is in the file, what is read from that, and, of a PNM, a copy."""
        width, height = self._image.size
        channels = _channels_of(self._start)
        ours = 2 * channels * width * height
        held = self._path.stat().st_size + ours * (1 if self._is_png else 2)
        return Need(self._path.name, width, height, channels, ours, held)

    def _exif(self) -> Image.Exif:
        """Return the EXIF as it is in the file.

        For a PNG without one Pillow would decode all pixels to be sure.
        """
        return super()._exif() if png.holds(self._path, b"eXIf") else Image.Exif()

    def _samples(self, notes: list[str]) -> NDArray[np.uint16]:
        """Return uint16 samples, (H, W) or (H, W, C)."""
        if not self._is_png:
            return _stretched(*_pnm_samples(self._path), notes)
        samples: NDArray[np.uint16] = imagecodecs.png_decode(self._path.read_bytes())
        if samples[:1].size // samples.shape[1] > _channels_of(self._start):
            notes.append("Transparent colour became an alpha channel.")
        return samples


def _largest_sample(path: Path) -> int:
    """Return the largest sample value that a PNM file allows in its header."""
    with path.open("rb") as file:
        words: list[bytes] = []
        while len(words) < 4 and (line := file.readline()):  # there may be long comments
            words += line.partition(b"#")[0].split(maxsplit=4)
    return int(words[3])


def _channels_of(start: bytes) -> int:
    """Return how many channels such a file holds, a colour marked as transparent not counted."""
    if start.startswith(png.SIGNATURE):
        return _PNG_CHANNELS[start[25]]
    return 3 if start[1:2] in b"36" else 1


def _pnm_samples(path: Path) -> tuple[NDArray[np.uint16], int]:
    """Return the samples, (H, W, C), and the largest that the file allows.

    Raises EOFError where the file is cut short, UnreadableError where it holds more than it
    says.
    """
    data = path.read_bytes()
    header = _PNM_HEADER.match(data)
    if header is None:
        raise ValueError(path.name)
    kind, width, height, largest = header[1], int(header[2]), int(header[3]), int(header[4])
    shape = height, width, 3 if kind in (b"P3", b"P6") else 1
    if kind in (b"P2", b"P3"):
        words = re.sub(rb"#[^\n]*", b" ", data[header.end() :])
        stored = np.fromstring(words.decode("ascii"), np.int64, sep=" ")
    else:
        stored = np.frombuffer(
            data, ">u2", min(prod(shape), (len(data) - header.end()) // 2), header.end()
        )
    if stored.size < prod(shape):
        raise EOFError(path.name)
    samples = stored[: prod(shape)].reshape(shape)
    if samples.min() < 0 or samples.max() > largest:
        raise ValueError(path.name)
    return samples.astype(np.uint16), largest


def _stretched(samples: NDArray[np.uint16], largest: int, notes: list[str]) -> NDArray[np.uint16]:
    """Spread samples of 0 to `largest` over all 16 bits, so that white is white."""
    if largest == 65535:
        return samples
    notes.append(f"Samples scaled from 0–{largest} to 0–65535.")
    table = np.rint(np.arange(65536) * (65535 / largest)).clip(0, 65535).astype(np.uint16)
    spread: NDArray[np.uint16] = table[samples]
    return spread
