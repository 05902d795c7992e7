"""PNM files of more than 8 bits a sample, which Pillow would cut off."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from math import prod
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from workbench.files import from_pillow
from workbench.files.needs import Need

_CHANNELS = {b"P2": 1, b"P3": 3, b"P5": 1, b"P6": 3}
_BETWEEN = rb"(?:\s|#[^\n]*\n)+"  # the words of a header; a comment ends with its line
_HEADER = re.compile(rb"(P[2356])" + (_BETWEEN + rb"(\d{1,9})") * 3 + rb"\s")


@contextmanager
def opened(
    path: Path, start: bytes, is_stopped: Callable[[], bool]
) -> Iterator[DeepPnmReader | None]:
    """Open a PNM file of more than 8 bits a sample; gives None for all others."""
    if not re.match(rb"P[2356][\s#]", start):
        yield None
        return
    with from_pillow.image_in(path, is_stopped) as image:
        yield DeepPnmReader(path, image, is_stopped) if _largest_sample(path) > 255 else None


class DeepPnmReader(from_pillow.PillowReader):
    """A `Reader` of such a file, of which Pillow reads the header."""

    def need(self) -> Need:
        """Memory for the file, for its samples, and for a copy."""
        width, height = self._image.size
        with self._path.open("rb") as file:
            channels = _CHANNELS[file.read(2)]
        ours = 2 * channels * width * height
        held = self._path.stat().st_size + 2 * ours
        return Need(self._path.name, width, height, channels, ours, held)

    def _samples(self, notes: list[str]) -> NDArray[np.uint16]:
        samples, largest = _samples_in(self._path)
        if largest == 65535:
            return samples
        notes.append(f"Samples scaled from 0–{largest} to 0–65535.")
        table = np.rint(np.arange(65536) * (65535 / largest)).clip(0, 65535).astype(np.uint16)
        spread: NDArray[np.uint16] = table[samples]
        return spread


def _largest_sample(path: Path) -> int:
    """The largest sample value that the header allows."""
    with path.open("rb") as file:
        words: list[bytes] = []
        while len(words) < 4 and (line := file.readline()):  # there may be long comments
            words += line.partition(b"#")[0].split(maxsplit=4)
    return int(words[3])


def _samples_in(path: Path) -> tuple[NDArray[np.uint16], int]:
    """The samples, (H, W, C), and the largest that the file allows.

    Raises EOFError where the file is cut short, ValueError where a sample is larger.
    """
    data = path.read_bytes()
    header = _HEADER.match(data)
    if header is None:
        raise ValueError(path.name)
    kind, width, height, largest = header[1], int(header[2]), int(header[3]), int(header[4])
    shape = height, width, _CHANNELS[kind]
    if kind in (b"P2", b"P3"):
        words = re.sub(rb"#[^\n]*", b" ", data[header.end() :])
        stored = np.fromstring(words.decode("ascii"), np.int64, sep=" ")
    else:
        count = min(prod(shape), (len(data) - header.end()) // 2)
        stored = np.frombuffer(data, ">u2", count, header.end())
    if stored.size < prod(shape):
        raise EOFError(path.name)
    samples = stored[: prod(shape)].reshape(shape)
    if samples.min() < 0 or samples.max() > largest:
        raise ValueError(path.name)
    return samples.astype(np.uint16), largest
