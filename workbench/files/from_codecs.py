"""AVIF, HEIC, JPEG 2000 and deep JPEG: Pillow knows the file, others decode what it cannot."""

from __future__ import annotations

import re
import struct
from contextlib import suppress
from dataclasses import replace
from functools import cached_property
from typing import Any

import imagecodecs
import numpy as np
from numpy.typing import NDArray

from workbench.files import colour_profiles, from_pillow
from workbench.files import exif as exif_of
from workbench.files.from_pillow import JPEG_END, Decoded, PillowReader, frame_of, unless_stopped
from workbench.files.from_tiff import spread, undo_premultiplied
from workbench.files.needs import Need
from workbench.files.picture_errors import not_read

FORMATS = ("AVIF", "HEIF", "JPEG2000")  # as Pillow names them
_UNKNOWN = 2
_HEIC = re.compile(rb".{4}ftyp(?!(.{4})*avi[fs])(.{4})*(hei[cxms]|hev[cxms]|mif1|msf1)", re.DOTALL)
_DEPTH_OF_AVIF = re.compile(rb"av1C\x81.(.)", re.DOTALL)
_CODES = re.compile(rb"colrnclx(....)", re.DOTALL)
# Channels, bits less one; and the end, without which decoders leave tiles out and say nothing.
_JPEG_2000 = re.compile(rb"\xff\x4f\xff\x51.{36}(..)(.).*\xff\xd9", re.DOTALL)
_NAMED_IN_JPEG_2000 = re.compile(rb"colr\x01..(....)", re.DOTALL)
# Others are CMYK, sRGB, its grey and sYCC.
_NAMES = {14: "CIELab", 20: "e-sRGB", 21: "ROMM RGB", 24: "e-sYCC"}
_ICC_IN_JPEG_2000 = re.compile(rb"(....)colr[\x02\x03]..", re.DOTALL)
_PALETTE = re.compile(rb"pclr..(.)", re.DOTALL)  # how many channels, whose bits follow
_TYPES = re.compile(rb"(....)cdef.{5}", re.DOTALL)  # in front of each sixth byte, a channel's
_TIMES_ALPHA = 2


def is_heic(start: bytes) -> bool:
    """True if a file that begins so is HEIC or HEIF."""
    return _HEIC.match(start[: int.from_bytes(start[:4], "big")]) is not None


class CodecReader(PillowReader):
    """A reader of an AVIF, HEIC or JPEG 2000, of 8 bits the first two by Pillow; or a deep JPEG."""

    _palette: re.Match[bytes] | None = None  # of a JPEG 2000
    _has_one_depth = True

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
            if palette := _PALETTE.search(self._whole, 0, found.start()):
                self._palette, channels = palette, palette[1][0]
                depths = self._whole[palette.end() : palette.end() + channels]
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
        channels = self._palette[1][0] if self._palette else len(self._image.getbands())
        count = width * height * channels
        ours *= count
        held = len(self._whole) + 2 * ours + 4 * count
        return Need(self._path.name, width, height, channels, ours, held)

    def read(self, notes: list[str]) -> Decoded:
        """Read as any reader does, with the colours that such files tell in a way of their own."""
        if self._bits > 8 and self._is_by_pillow:
            notes.append(f"Samples of {self._bits} bits were rounded to 8.")
        decoded = super().read(notes)
        if self._image.format == "JPEG2000":
            told = dict[bytes, bytes]()
            with suppress(EOFError):
                told = {each[:16]: each[16:] for _, each in from_pillow.boxes(self._whole)}
            xmp, exif = map(told.get, from_pillow.IDS)
            fields, icc = exif_of.fields_in(exif, notes), self._box(_ICC_IN_JPEG_2000)
            turned = exif_of.orientation_of(fields, xmp)
            decoded = replace(decoded, icc=icc, orientation=turned, exif=fields, xmp=xmp)
            if icc is None and (found := _NAMED_IN_JPEG_2000.search(self._whole)):
                name = _NAMES.get(int.from_bytes(found[1], "big"), "")
                decoded = replace(decoded, colours=name)
        elif decoded.icc is None and (found := _CODES.search(self._whole)):
            primaries, curve = struct.unpack(">HH", found[1])
            icc, colours = colour_profiles.coded(primaries, curve, 0, 1)
            if primaries != _UNKNOWN:
                decoded = replace(decoded, icc=icc, colours=colours)
        elif decoded.icc is None and not self._is_jpeg and b"colr" not in self._whole:
            kind = {"AVIF": "an AVIF that names none outside AV1"}.get(str(self._image.format))
            named = kind or "a HEIC that names none outside HEVC"
            decoded = replace(decoded, colours=named)
        return decoded

    def _box(self, begins: re.Pattern[bytes]) -> bytes | None:
        """The content of a box, behind its size and what else it begins with."""
        found = begins.search(self._whole)
        return found and self._whole[found.end() : found.start() + int.from_bytes(found[1], "big")]

    def _samples(self, notes: list[str]) -> NDArray[Any]:
        if self._is_by_pillow:
            unless_stopped(self._image.load, self._is_stopped)
            return super()._samples(notes)
        samples = unless_stopped(self._deep, self._is_stopped)
        if self._palette:
            notes.append("Indexed colours expanded to RGB.")
        samples = spread(samples, self._bits, notes)
        start = self._whole.find(b"\xff\x4f\xff\x51")  # of a JPEG 2000's samples
        if self._image.format == "JPEG2000" and (found := _TYPES.search(self._whole, 0, start)):
            end = found.start() + struct.unpack(">I", found[1])[0]
            if _TIMES_ALPHA in self._whole[found.end() : end : 6]:
                undo_premultiplied(samples, notes)
        if self._image.mode == "RGBa":  # of an HEIC
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
