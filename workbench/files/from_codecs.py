"""AVIF, HEIC and JPEG 2000: Pillow knows the file, others decode what has more than 8 bits."""

from __future__ import annotations

import re
import struct
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

import imagecodecs
import numpy as np
from numpy.typing import NDArray
from PIL import ImageFile

from workbench.files import colour_profiles
from workbench.files.from_pillow import Decoded, PillowReader
from workbench.files.from_tiff import spread
from workbench.files.needs import Need
from workbench.files.picture_errors import ImageFileError, StoppedError

T = TypeVar("T")
FORMATS = ("AVIF", "HEIF", "JPEG2000")  # as Pillow names them
POLL_S = 0.05
_HEIC = (b"heic", b"heix", b"heim", b"heis", b"hevc", b"hevx", b"mif1", b"msf1")  # brands
_AVIF = (b"avif", b"avis")
_DEPTH_OF_AVIF = re.compile(rb"av1C\x81.(.)", re.DOTALL)
_CODES = re.compile(rb"colrnclx(....)", re.DOTALL)
_SIZES_OF_JPEG_2000 = re.compile(rb"\xff\x4f\xff\x51(.{41})", re.DOTALL)
_ICC_IN_JPEG_2000 = re.compile(rb"(....)colr\x02", re.DOTALL)


def unless_stopped(work: Callable[[], T], is_stopped: Callable[[], bool]) -> T:
    """Return what `work` does, which cannot be stopped; its end is not waited for when it should.

    Raises StoppedError, and what `work` raises.
    """
    thread = ThreadPoolExecutor(1)
    try:
        found = thread.submit(work)
        while not wait((found,), POLL_S).done:
            if is_stopped():
                raise StoppedError("Reading was cancelled.")
        return found.result()
    finally:
        thread.shutdown(wait=False)


def is_heic(start: bytes) -> bool:
    """True if a file that begins so is HEIC or HEIF, which is read where the extra is installed."""
    size = int.from_bytes(start[:4], "big")
    brands = [start[at : at + 4] for at in (8, *range(16, min(size, len(start)), 4))]
    return start[4:8] == b"ftyp" and any(b in _HEIC for b in brands) and not {*brands} & {*_AVIF}


class CodecReader(PillowReader):
    """A reader of the first picture of such a file."""

    def __init__(
        self, path: Path, image: ImageFile.ImageFile, start: bytes, is_stopped: Callable[[], bool]
    ) -> None:
        super().__init__(path, image, start, is_stopped)
        self._bytes = path.read_bytes()
        self._bits = self._stored_bits()

    def _stored_bits(self) -> int:
        """Return the bits of a sample.  Raises ImageFileError for what is never decoded here."""
        if self._image.format == "HEIF":
            return int(self._image.info["bit_depth"])
        if self._image.format == "AVIF":
            found = _DEPTH_OF_AVIF.search(self._bytes)
            return (8, 8, 10, 12)[found[1][0] >> 5 & 3] if found else 8
        sizes = _SIZES_OF_JPEG_2000.search(self._bytes)
        if sizes is None:
            raise EOFError(self._path.name)
        depth, channels = sizes[1][38], struct.unpack_from(">H", sizes[1], 36)[0]
        if depth > 15 or channels > 4:
            signed = "signed " if depth > 127 else ""
            raise ImageFileError(
                f"{self._path.name} is a JPEG 2000 of a kind this program does not read "
                f"({channels} channels of {signed}{(depth & 127) + 1} bits); save it as TIFF with "
                "another program."
            )
        return depth + 1

    def need(self) -> Need:
        """Memory for the samples, and for what decoders hold: four bytes a sample and more."""
        width, height, channels = *self._image.size, len(self._image.getbands())
        count = width * height * channels
        ours = count * (2 if self._bits > 8 else 1)
        held = len(self._bytes) + 2 * ours + 4 * count
        return Need(self._path.name, width, height, channels, ours, held)

    def read(self, notes: list[str]) -> Decoded:
        """Read as any reader does, with the colours that such files tell in a way of their own."""
        decoded, icc = super().read(notes), None
        if self._image.format == "JPEG2000" and (found := _ICC_IN_JPEG_2000.search(self._bytes)):
            icc = self._bytes[found.end() + 2 : found.start() + struct.unpack(">I", found[1])[0]]
        elif decoded.icc is None and (found := _CODES.search(self._bytes)):
            codes, samples = struct.unpack(">HH", found[1]), np.atleast_3d(decoded.samples)
            return replace(decoded, samples=colour_profiles.coded_to_srgb(samples, codes, notes))
        return decoded if icc is None else replace(decoded, icc=icc)

    def _samples(self, notes: list[str]) -> NDArray[Any]:
        image = self._image
        # Of the first of several imagecodecs writes past its memory.
        if self._bits == 8 or getattr(image, "n_frames", 1) > 1 or image.mode in ("P", "CMYK"):
            if self._bits > 8:
                notes.append(f"Samples of {self._bits} bits were rounded to 8.")
            unless_stopped(image.load, self._is_stopped)
            return super()._samples(notes)
        deep = unless_stopped(self._deep, self._is_stopped)
        return spread(deep, self._bits, notes)

    def _deep(self) -> NDArray[Any]:
        if self._image.format == "AVIF":
            return imagecodecs.avif_decode(self._bytes)
        if self._image.format == "JPEG2000":
            return imagecodecs.jpeg2k_decode(self._bytes)
        import pillow_heif

        return np.asarray(
            pillow_heif.open_heif(self._path, convert_hdr_to_8bit=False, hdr_to_16bit=False)
        )
