"""AVIF, HEIC, JPEG 2000 and deep JPEG: Pillow knows the file, others decode what it cannot."""

from __future__ import annotations

import re
import struct
from contextlib import suppress
from functools import cached_property
from typing import Any

import imagecodecs
import numpy as np
from numpy.typing import NDArray

from workbench.files import from_pillow
from workbench.files.colour_profiles import coded, spread, undo_premultiplied
from workbench.files.from_pillow import JPEG_END, Decoded, PillowReader, frame_of, unless_stopped
from workbench.files.needs import Need
from workbench.files.picture_errors import not_read

FORMATS = ("AVIF", "HEIF", "JPEG2000")  # as Pillow names them
_UNKNOWN = 2
_HEIC = re.compile(rb".{4}ftyp(?!(.{4})*avi[fs])(.{4})*(hei[cxms]|hev[cxms]|mif1|msf1)", re.DOTALL)
_DEPTH_OF_AVIF = re.compile(rb"av1C\x81.(.)", re.DOTALL)
_CODES = re.compile(rb"colrnclx(....)", re.DOTALL)
# Channels, bits less one; and the end, without which decoders leave tiles out and say nothing.
_JPEG_2000 = re.compile(rb"\xff\x4f\xff\x51.{36}(..)(.).*\xff\xd9", re.DOTALL)
# Others are CMYK, sRGB, its grey and sYCC.
_NAMES = {14: "CIELab", 20: "e-sRGB", 21: "ROMM RGB", 24: "e-sYCC"}
_TIMES_ALPHA = 2


def is_heic(start: bytes) -> bool:
    """True if a file that begins so is HEIC or HEIF."""
    return _HEIC.match(start[: int.from_bytes(start[:4], "big")]) is not None


class CodecReader(PillowReader):
    """A reader of an AVIF, HEIC or JPEG 2000, of 8 bits the first two by Pillow; or a deep JPEG."""

    _palette = b""  # of a JPEG 2000: how many channels, whose bits follow
    _has_one_depth = True

    @cached_property
    def _boxes(self) -> list[tuple[bytes, bytes]]:
        """The boxes of a JPEG 2000, and those of its header."""
        found = list[tuple[bytes, bytes]]()
        with suppress(EOFError):
            for kind, content in from_pillow.boxes(self._whole):
                found += from_pillow.boxes(content) if kind == b"jp2h" else [(kind, content)]
        return found

    def _box(self, kind: bytes) -> bytes:
        return next((content for each, content in self._boxes if each == kind), b"")

    @cached_property
    def _bits(self) -> int:
        """Bits of a sample.  Raises ImageFileError where nothing here decodes them."""
        if self._image.format == "AVIF" and (found := _DEPTH_OF_AVIF.search(self._whole)):
            return (8, 8, 10, 12)[found[1][0] >> 5 & 3]
        if self._image.format == "JPEG2000":
            if (found := _JPEG_2000.search(self._whole)) is None:
                raise EOFError(self._path.name)
            channels, at = int.from_bytes(found[1], "big"), found.start(2)
            depths = self._whole[at : at + 3 * channels : 3]
            if palette := self._box(b"pclr")[2:]:
                self._palette, channels = palette, palette[0]
                depths = palette[1 : 1 + channels]
            bits, self._has_one_depth = max(depths, default=0) + 1, len(set(depths)) < 2
            if channels > 4 or bits > 16:  # signed ones count from 129
                kind = f"a JPEG 2000 with {channels} channels, or of signed or over 16 bits"
                raise not_read(self._path.name, kind)
            return bits
        if self._is_jpeg:
            return self._whole[frame_of(self._whole)[1] + 2]
        return int(self._image.info.get("bit_depth", 8))  # of HEIC

    @property
    def _is_jpeg(self) -> bool:
        return self._image.format not in FORMATS

    @property
    def _is_by_pillow(self) -> bool:
        if self._image.format == "JPEG2000":  # of which it shifts indices, and leaves cdef alone
            return self._image.mode == "CMYK" or not self._has_one_depth
        # Of the first of several in an AVIF imagecodecs writes past its memory.
        is_several = self._image.format == "AVIF" and self.count > 1
        return self._bits == 8 or is_several

    def need(self) -> Need:
        """Memory for the samples, and for what decoders hold: four bytes a sample and more."""
        ours, (width, height) = 2 if self._bits > 8 else 1, self._image.size
        channels = self._palette[0] if self._palette else len(self._image.getbands())
        count = width * height * channels
        ours *= count
        held = len(self._whole) + 2 * ours + 4 * count
        return Need(self._path.name, width, height, channels, ours, held)

    def read(self, notes: list[str]) -> Decoded:
        """Read as any reader does, with the colours that such files tell in a way of their own."""
        if self._bits > 8 and self._is_by_pillow:
            notes.append(f"Samples of {self._bits} bits were rounded to 8.")
        return super().read(notes)

    def _told(self) -> dict[Any, Any]:
        info = dict(super()._told())
        if self._image.format == "JPEG2000":
            colours = [content for kind, content in self._boxes if kind == b"colr"]
            icc = next((each[3:] for each in colours if each[:1] in (b"\2", b"\3")), None)
            named = next((each[3:7] for each in colours if each[:1] == b"\1"), b"")
            name = "" if icc else _NAMES.get(int.from_bytes(named), "")
            ids = {content[:16]: content[16:] for _, content in self._boxes}
            xmp, exif = map(ids.get, from_pillow.IDS)
            return info | {"exif": exif, "xmp": xmp, "icc_profile": icc, "colours": name}
        if info.get("icc_profile") is not None or self._is_jpeg:
            return info
        if found := _CODES.search(self._whole):
            primaries, curve = struct.unpack(">HH", found[1])
            if primaries != _UNKNOWN:
                info["icc_profile"], info["colours"] = coded(primaries, curve, 0, 1)
        elif b"colr" not in self._whole:
            words = ("an AVIF", "AV1") if self._image.format == "AVIF" else ("a HEIC", "HEVC")
            info["colours"] = "{} that names none outside {}".format(*words)
        return info

    def _samples(self, notes: list[str]) -> NDArray[Any]:
        if self._is_by_pillow:
            unless_stopped(self._image.load, self._is_stopped)
            return super()._samples(notes)
        samples = unless_stopped(self._deep, self._is_stopped)
        if self._palette:
            notes.append("Indexed colours expanded to RGB.")
        samples = spread(samples, self._bits, notes)
        is_jpeg_2000 = self._image.format == "JPEG2000"
        types = self._box(b"cdef")[5::6] if is_jpeg_2000 else b""  # of each channel
        if _TIMES_ALPHA in types or self._image.mode == "RGBa":  # the latter of an HEIC
            undo_premultiplied(samples, notes)
        return samples

    def _deep(self) -> NDArray[Any]:
        if self._image.format == "AVIF":
            return imagecodecs.avif_decode(self._whole)
        if self._image.format == "JPEG2000":
            # It would convert from a profile as well, by another way than ours.
            return imagecodecs.jpeg2k_decode(self._whole.replace(b"colr\2", b"free\2", 1))
        if self._is_jpeg:
            scans = self._whole[frame_of(self._whole)[1] :]
            if (end := scans.find(JPEG_END)) < 0 or end != scans.rfind(JPEG_END):
                raise EOFError(self._path.name)  # which the decoder does not tell
            return imagecodecs.jpeg8_decode(self._whole)
        import pillow_heif

        how = {"convert_hdr_to_8bit": False, "hdr_to_16bit": False}
        return np.asarray(pillow_heif.open_heif(self._path, **how)[self._page - 1])
