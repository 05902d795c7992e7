"""EXIF: who took a picture, with what, when and where, taken along into the files that we save."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any, BinaryIO

import tifffile
from PIL import ExifTags, Image, TiffImagePlugin

PREFIX = b"Exif\0\0"  # of EXIF in JPEG and WebP files
# What is told in words, such as the maker and the date; all else of the main directory is about how
# the pixels of that one file are stored.
_WORDS = (270, 271, 272, 305, 306, 315, 316, 33432)
_DESCRIPTION = 270
# How descriptions begin and end that tell programs how the samples of that one file lie.
_LAYOUT_BEGINS, _LAYOUT_ENDS = ("ImageJ=", "shape=", '{"shape":'), "OME>"
_SUBORDINATE = (ExifTags.IFD.Exif, ExifTags.IFD.GPSInfo)
_LEFT_OUT = (  # notes whose inner offsets hold in the camera's file alone; a directory; a link
    *(ExifTags.Base.MakerNote, ExifTags.Base.ExifInteroperabilityOffset),
    ExifTags.Base.RelatedSoundFile,
)
_SRGB = 1


def of_tiff(path: Path, page: tifffile.TiffPage) -> Image.Exif:
    """Return the EXIF of a TIFF file, whose own directory it is.

    Of a big-endian BigTIFF, which Pillow takes for a small one, its words alone.
    """
    exif = Image.Exif()
    exif.bigtiff, exif.endian = page.parent.is_bigtiff, page.parent.byteorder
    if exif.bigtiff and exif.endian == ">":
        exif.update({tag: page.tags.valueof(tag) for tag in _WORDS if tag in page.tags})
        return exif
    with path.open("rb") as file:
        exif.load_from_fp(file, page.offset)
        for tag in _SUBORDINATE:
            exif.get_ifd(tag)  # while it is open
    return exif


def portable(exif: Image.Exif, width: int, height: int) -> bytes | None:
    """Return what is kept of EXIF as a small TIFF structure, or None where there is nothing.

    It is for a picture of that size, upright and in sRGB: the orientation, the thumbnail, the
    maker's own notes and a microscope's list of planes are left out.  Raises whatever Pillow does
    where it is damaged.
    """
    # As bytes, which Pillow leaves alone: it reads Latin-1, but of words writes ASCII only.
    words = {tag: exif[tag].encode("latin-1") for tag in _WORDS if isinstance(exif.get(tag), str)}
    if _is_layout(str(exif.get(_DESCRIPTION))):
        del words[_DESCRIPTION]
    made = Image.Exif()
    made.update(words)
    for tag in _SUBORDINATE:
        fields = {key: value for key, value in exif.get_ifd(tag).items() if key not in _LEFT_OUT}
        if tag == ExifTags.IFD.Exif and fields:
            news = {
                ExifTags.Base.ExifImageWidth: width,
                ExifTags.Base.ExifImageHeight: height,
                ExifTags.Base.ColorSpace: _SRGB,
            }
            fields |= {key: value for key, value in news.items() if key in fields}
        if fields:
            made[tag] = fields
    return made.tobytes().removeprefix(PREFIX) if len(made) else None


def _is_layout(description: str) -> bool:
    """Return whether a description is not for people, but of planes that what is saved lacks."""
    return description.startswith(_LAYOUT_BEGINS) or description.rstrip().endswith(_LAYOUT_ENDS)


def tiff_tags(exif: bytes, *, is_big: bool) -> list[tuple[int, str, int, Any, bool]]:
    """Return what `tifffile.imwrite` takes as `extratags`.

    Directories are empty until `fill_tiff` fills them.
    is_big  whether the file is a BigTIFF, whose offsets have 64 bits
    """
    found = _read(exif)
    words = [(tag, found[tag].encode("latin-1") + b"\0") for tag in _WORDS if tag in found]
    tags: list[tuple[int, str, int, Any, bool]] = [
        (tag, "s", len(word), word, True) for tag, word in words
    ]
    offset = "Q" if is_big else "I"
    present = [tag for tag in _SUBORDINATE if found.get_ifd(tag)]
    return tags + [(_stand_in(tag), offset, 1, 0, True) for tag in present]


def fill_tiff(file: BinaryIO, exif: bytes) -> None:
    """Append EXIF's directories to a TIFF file that was written with `tiff_tags`.

    And point to them; the file can be read as well as written.
    """
    found = _read(exif)
    file.seek(0)
    with tifffile.TiffFile(file) as tiff:
        order, is_big, tags = tiff.byteorder, tiff.is_bigtiff, tiff.pages.first.tags
        stand_ins = {tag: tags.get(_stand_in(tag)) for tag in _SUBORDINATE}
    start = b"II+\0" + bytes(12) if is_big else b"II*\0" + bytes(4)
    for tag, found_at in stand_ins.items():
        if found_at is None:
            continue
        directory = TiffImagePlugin.ImageFileDirectory_v2(start, b"II" if order == "<" else b"MM")
        for key, value in found.get_ifd(tag).items():
            directory[key] = value
        end = file.seek(0, 2)
        end += file.write(bytes(-end % 8))
        file.write(directory.tobytes(end))
        file.seek(found_at.offset)
        file.write(struct.pack(f"{order}H", tag))
        file.seek(found_at.valueoffset)
        file.write(struct.pack(f"{order}{'Q' if is_big else 'I'}", end))


def _stand_in(tag: int) -> int:
    """Return what stands for a directory, which tifffile does not write, until it is filled in."""
    return tag - 1


def _read(exif: bytes) -> Image.Exif:
    found = Image.Exif()
    found.load(PREFIX + exif)
    return found
