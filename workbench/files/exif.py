"""EXIF and XMP of a picture, taken along into the files that are saved."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any, BinaryIO
from xml.etree import ElementTree

import tifffile
from PIL import ExifTags, Image, TiffImagePlugin

from kernels.core.plain_data import table_beside

PREFIX = b"Exif\0\0"  # of EXIF in JPEG and WebP files
# Tags in words, such as the maker and the date; all else of the main directory is about how
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
    """The kept part of EXIF as a small TIFF structure; None where there is nothing.

    It is for a picture of that size, upright and in sRGB: the orientation, the thumbnail, the
    maker's own notes and a microscope's list of planes are left out.  Raises whatever Pillow does
    where it is damaged.
    """
    # As bytes, which Pillow leaves alone: it reads Latin-1, but of words writes ASCII only.
    words = {tag: exif[tag].encode("latin-1") for tag in _WORDS if isinstance(exif.get(tag), str)}
    description = str(exif.get(_DESCRIPTION))  # maybe a program's, of planes the saved file lacks
    if description.startswith(_LAYOUT_BEGINS) or description.rstrip().endswith(_LAYOUT_ENDS):
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


def tiff_tags(exif: bytes, *, is_big: bool) -> list[tuple[int, str, int, Any, bool]]:
    """The `extratags` of `tifffile.imwrite`.

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
    # The tag before stands in for a directory, which tifffile does not write.
    return tags + [(tag - 1, offset, 1, 0, True) for tag in present]


def fill_tiff(file: BinaryIO, exif: bytes) -> None:
    """Append EXIF's directories to a TIFF file that was written with `tiff_tags`.

    And point to them; the file can be read as well as written.
    """
    found = _read(exif)
    file.seek(0)
    with tifffile.TiffFile(file) as tiff:
        order, is_big, tags = tiff.byteorder, tiff.is_bigtiff, tiff.pages.first.tags
        stand_ins = {tag: tags.get(tag - 1) for tag in _SUBORDINATE}
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


def _read(exif: bytes) -> Image.Exif:
    found = Image.Exif()
    found.load(PREFIX + exif)
    return found


MAX_BYTES = 1 << 20  # a few thousand are usual; beyond it holds thumbnails or a history
_RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
_META = "adobe:ns:meta/"
_TABLE = table_beside(__file__)
# By namespace: the properties that are kept; none are named: all.
_KEPT = {each["namespace"]: each.get("names", ()) for each in _TABLE.values()}
_BEGIN = '<?xpacket begin="\ufeff" id="W5M0MpCehiHzreSzNTczkc9d"?>'
_END = '<?xpacket end="r"?>'

for _prefix, _each in _TABLE.items():
    ElementTree.register_namespace(_prefix, _each["namespace"])
ElementTree.register_namespace("x", _META)


def portable_xmp(packet: bytes | str) -> bytes | None:
    """The kept part of an XMP packet as a new one; None where there is nothing.

    It is for a picture that was changed, upright and in sRGB: orientation, size, thumbnails,
    history and the settings of raw converters are left out.
    Raises ValueError or ParseError where it is damaged.
    """
    text = packet.decode() if isinstance(packet, bytes) else packet
    if len(text) > MAX_BYTES or "<!DOCTYPE" in text:
        raise ValueError("more than a packet holds")
    found = ElementTree.fromstring(text.strip("\0\ufeff \t\r\n"))
    made = ElementTree.Element(f"{{{_RDF}}}Description", {f"{{{_RDF}}}about": ""})
    rdfs = found.iter(f"{{{_RDF}}}RDF")  # the root may be one
    for description in (each for rdf in rdfs for each in rdf.findall(f"{{{_RDF}}}Description")):
        made.attrib.update((name, text) for name, text in description.items() if _is_kept(name))
        made.extend(each for each in description if _is_kept(each.tag))
    if len(made.attrib) == 1 and not len(made):
        return None
    root = ElementTree.Element(f"{{{_META}}}xmpmeta")
    ElementTree.SubElement(root, f"{{{_RDF}}}RDF").append(made)
    return f"{_BEGIN}{ElementTree.tostring(root, 'unicode')}{_END}".encode()


def _is_kept(name: str) -> bool:
    namespace, _, own = name.removeprefix("{").partition("}")
    return namespace in _KEPT and (not _KEPT[namespace] or own in _KEPT[namespace])
