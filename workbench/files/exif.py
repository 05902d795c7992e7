"""EXIF, XMP and IPTC of a picture, taken along into the files that are saved."""

from __future__ import annotations

import io
import json
import re
import struct
from collections.abc import Iterator
from contextlib import suppress
from fractions import Fraction
from typing import Any
from xml.etree import ElementTree

import numpy as np
import tifffile
from PIL import ExifTags

from kernels.core.plain_data import table_beside
from workbench.imaging.pictures import Metadata

# In front of EXIF and of XMP in an APP1 of a JPEG, and of Photoshop's resources in an APP13.
PREFIX, JPEG_XMP = b"Exif\0\0", b"http://ns.adobe.com/xap/1.0/\0"
PHOTOSHOP = b"Photoshop 3.0\0"
# The type of a field, as TIFF numbers them, how many values it has, and these, little-endian.
Field = tuple[int, int, bytes]
# By directory, then by tag; 0 is the main directory, another the tag that leads to it.
Fields = dict[int, dict[int, Field]]
_EXIF, _GPS, _INTEROP = 34665, 34853, 40965
_INSIDE = {0: (_EXIF, _GPS), _EXIF: (_INTEROP,)}  # the directories that a directory leads to
_DIRECTORIES = _EXIF, _GPS, _INTEROP  # their tags elsewhere lead nowhere
_THUMBNAIL, _PRIVATE = 1, -1  # a directory, and the tags that are not kept
_TEXT, _BYTES, _UTF8 = 2, 7, 129  # the last one of EXIF 3
_TEXTS, _BYTE_TYPES = (_TEXT, _UTF8), (1, _TEXT, 6, _BYTES, _UTF8)
_TYPES = *range(1, 14), _UTF8  # others are of BigTIFF
_RATIOS = 5, 10
_BYTES_EACH = {3: 2, 4: 4, 5: 8, 8: 2, 9: 4, 10: 8, 11: 4, 12: 8, 13: 4, 16: 8, 17: 8, 18: 8}
_BYTES_EACH |= dict.fromkeys((1, _TEXT, 6, _BYTES, _UTF8), 1)
_DAMAGED = "Damaged {} data were dropped."

_ORIENTATION, _DESCRIPTION, _SOFTWARE = 274, 270, 305
_RESOLUTION = _ACROSS, _DOWN, _UNIT = 282, 283, 296
_NONE, _INCH, _CENTIMETRE = 1, 2, 3
_PER_INCH: dict[float, float] = {0: 1, _INCH: 1, _CENTIMETRE: 2.54}
MIN_DPI, MAX_DPI = 0.01, 1e7  # that all formats can hold, and that say something
_APART = XMP_TAG, IPTC_TAG, _RESOURCES = 700, 33723, 34377  # which are no EXIF
_NAMES = {XMP_TAG: "XMP", IPTC_TAG: "IPTC", _RESOURCES: "Photoshop"}
# What describes a picture in the main directory, such as the maker, a rating and the date.
_WORDS = {269, _DESCRIPTION, 271, 272, 285, _SOFTWARE, 306, 315, 316, 33432}
_PLACE = {33550, 33922, 34264, *range(34735, 34738), 42112, 42113}  # of GeoTIFF, on a map
_ABOUT = _WORDS | {_ORIENTATION, 18246, 18249, *range(40091, 40096), *_RESOLUTION, *_APART, *_PLACE}
# How the pixels of that one file are stored; what would make a raw file of a TIFF.
_STORAGE = {*range(254, 700), *range(32995, 32999), 34675, *range(50706, 52600), 59932} - _ABOUT
_STORAGE -= {286, 287, 333, 337, 343, 50838, 50839}  # places, inks, a clipping path; ImageJ's
# How descriptions begin and end that tell programs how the samples of that one file lie.
_LAYOUT_BEGINS, _LAYOUT_ENDS = (b"ImageJ=", b"shape=", b'{"shape":'), b"OME>"
_MAKERS = int(ExifTags.Base.MakerNote)  # whose inner offsets hold in the camera's file alone
_LEFT_OUT = (_MAKERS, ExifTags.Base.RelatedSoundFile)
_SIZE = ExifTags.Base.ExifImageWidth, ExifTags.Base.ExifImageHeight
# Versions, the order of channels and colours, which say nothing of a picture.
_FORMAL = {36864, 37121, 40960, ExifTags.Base.ColorSpace, *_SIZE}
_SRGB, _UNCALIBRATED, _INTEROP_INDEX, _ADOBE_RGB = 1, 65535, 1, b"R03\0"


def fields_in(
    source: bytes | tifffile.TiffFile | None, notes: list[str], page: Any = None
) -> Fields:
    """Read EXIF, a TIFF structure, or what describes a page of a TIFF; nothing of None.

    page   None: the first
    notes  gets a sentence where a part of it is damaged, which is left out
    """
    found = Fields()
    if not source:
        return found
    try:
        if is_exif := isinstance(source, bytes):
            bare = source.removeprefix(PREFIX).removeprefix(PREFIX)  # one is Pillow's, of a PNG
            source = tifffile.TiffFile(io.BytesIO(bare))
        todo = [(0, int((page or source.pages.first).offset))]
        for name, at in todo:
            own = found.setdefault(name, {})
            for tag, kind, count, place in _fields_at(source, at, notes):
                is_ours = tag not in _STORAGE and (tag in _ABOUT or is_exif)
                if tag in _INSIDE.get(name, ()):
                    # Damaged files may name one again and again, or lead in circles.
                    is_new = all(tag != key and place != at for key, at in todo)
                    todo += [(tag, place)] if is_new else []
                elif tag not in (*_STORAGE, *_DIRECTORIES) and not (is_ours or name):
                    found.setdefault(_PRIVATE, {})[tag] = 0, 0, b""
                elif (is_ours or name) and tag not in _DIRECTORIES and kind in _TYPES:
                    own[tag] = kind, count, _little_endian(source, tag, kind, count, place)
                    if place < 8 or _is_damaged(tag, *own[tag], own):
                        del own[tag]
                        _note_damage(notes, _NAMES.get(tag, "EXIF"))
        found |= {_THUMBNAIL: {}} if is_exif and len(source.pages) > 1 else {}
    except Exception:  # noqa: BLE001 - damaged files make decoders fail with anything
        _note_damage(notes)
    return found


def _is_damaged(tag: int, kind: int, count: int, data: bytes, own: dict[int, Field]) -> bool:
    """True if a field has no value, or one that makes no sense."""
    is_turn, number = tag == _ORIENTATION, number_of({0: own}, tag)
    is_turned_wrong = is_turn and (kind in _TEXTS or number not in range(9))
    is_none = count == 0 or (tag == IPTC_TAG and not data.startswith(b"\x1c"))
    return is_none or is_turned_wrong or (tag in _WORDS and kind not in _BYTE_TYPES)


def _note_damage(notes: list[str], what: str = "EXIF") -> None:
    said = _DAMAGED.format(what)
    notes += [] if said in notes else [said]


def _fields_at(
    tiff: tifffile.TiffFile, at: int, notes: list[str]
) -> Iterator[tuple[int, int, int, int]]:
    """Yield the tag, the type, how many values, and their place, of a directory's sound fields."""
    layout, file = tiff.tiff, tiff.filehandle
    file.seek(at)
    entries = file.read(layout.tagnosize)
    (fields,) = struct.unpack(layout.tagnoformat, entries)
    entries = file.read(fields * layout.tagsize)
    if len(entries) < fields * layout.tagsize:  # at the end of the file
        _note_damage(notes)
    for start in range(0, len(entries) - layout.tagsize + 1, layout.tagsize):
        tag, kind, count, value = struct.unpack_from(layout.tagheaderformat, entries, start)
        size, (place,) = count * _BYTES_EACH.get(kind, 0), struct.unpack(layout.offsetformat, value)
        if size <= len(value) and tag not in _DIRECTORIES:
            place = at + layout.tagnosize + start + layout.tagsize - len(value)
        if kind in _BYTES_EACH and place + size <= file.size:
            yield tag, kind, count, place
        else:
            _note_damage(notes, _NAMES.get(tag, "EXIF"))


def _little_endian(tiff: tifffile.TiffFile, tag: int, kind: int, count: int, place: int) -> bytes:
    tiff.filehandle.seek(place)
    # A ratio is two numbers; bytes are these, whatever they say.
    size = 1 if tag in _APART else 4 if kind in _RATIOS else _BYTES_EACH[kind]
    data = tiff.filehandle.read(count * _BYTES_EACH[kind])
    data = np.frombuffer(data, f"{tiff.byteorder}u{size}").astype(f"<u{size}").tobytes()
    return _turned_inside(tag, data) if size == 1 and tiff.byteorder == ">" else data


# Of fields that are bytes by their type: what precedes numbers of two bytes, these, what follows
# them, and numbers of four, that follow the order of the whole; columns of tables have names.
_UNICODE, _SETTINGS, _PATTERN = rb"(UNICODE\0)(.*)()()", rb"()(.*)()()", rb"()(....)(.*)()"
_TABLE_INSIDE = rb"()(....)((?:[^\0]*\0){%d})(.*)"
_PARTS = dict.fromkeys((37510, 27, 28), _UNICODE) | {41995: _SETTINGS, 41730: _PATTERN}
_PARTS |= dict.fromkeys((34856, 41484), _TABLE_INSIDE)


def _turned_inside(code: int, data: bytes) -> bytes:
    """Bytes of a field from the big end, with such numbers from the little end."""
    parts = _PARTS.get(code, b"$.").replace(b"%d", b"%d" % int.from_bytes(data[:2]))
    if not (found := re.fullmatch(parts, data, re.DOTALL)):
        return data
    return found[1] + _turned(found[2], 2) + found[3] + _turned(found[4], 4)


def _turned(data: bytes, size: int) -> bytes:
    end = len(data) - len(data) % size
    return np.frombuffer(data[:end], f"u{size}").byteswap().tobytes() + data[end:]


def data_of(fields: Fields, tag: int) -> bytes:
    """The value of a field of the main directory as it is stored, or nothing."""
    return fields.get(0, {}).get(tag, (0, 0, b""))[2]


def number_of(fields: Fields, tag: int) -> float:
    """The first number in a field of the main directory, of whatever type, or 0."""
    kind, _, data = fields.get(0, {}).get(tag, (_TEXT, 0, b""))
    code = f"<{'' if kind in _TEXTS else tifffile.TIFF.DATA_FORMATS[kind]}"
    if kind in _TEXTS or len(data) < struct.calcsize(code):
        return 0
    above, below = (*struct.unpack_from(code, data), 1)[:2]  # of a ratio
    return float(above / below if below else 0)


def orientation_of(fields: Fields, xmp: bytes | str | None = None) -> int:
    """The orientation, 1 to 8, from the EXIF, else from the XMP packet, else 1."""
    told = number_of(fields, _ORIENTATION)
    with suppress(*XMP_ERRORS):  # of damage, which is said where a packet is kept
        for each in _descriptions(xmp) if xmp and told not in range(1, 9) else ():
            texts = (text for element in each.findall(_TURNED) for text in element.itertext())
            said = (each.get(_TURNED) or "".join(texts)).strip()
            told = int(said) if said in tuple("12345678") else told
    return int(told) if told in range(1, 9) else 1


def resolution_of(fields: Fields) -> tuple[float, float] | None:
    """The pixels per inch that the main directory tells."""
    factor = _PER_INCH.get(number_of(fields, _UNIT), 0)
    across, down = (number_of(fields, tag) * factor for tag in (_ACROSS, _DOWN))
    return (across, down) if all(MIN_DPI <= n <= MAX_DPI for n in (across, down)) else None


def is_adobe_rgb(fields: Fields) -> bool:
    """True if colours are Adobe RGB's, as cameras say it where they embed no profile."""
    space = number_of({0: fields.get(_EXIF, {})}, ExifTags.Base.ColorSpace)
    index = data_of({0: fields.get(_INTEROP, {})}, _INTEROP_INDEX)
    return space == 2 or (space == _UNCALIBRATED and index == _ADOBE_RGB)


def names_resolution(fields: Fields) -> bool:
    """True if the main directory has one, with a unit, whatever it is worth."""
    return not fields.get(0, {}).keys().isdisjoint((_ACROSS, _DOWN)) and (
        number_of(fields, _UNIT) != _NONE
    )


def portable(fields: Fields, width: int, height: int, lost: list[str]) -> bytes | None:
    """The kept part of EXIF as a small TIFF structure; None where there is nothing.

    lost  gets what is left out

    It is for a picture of that size, upright and in sRGB.  Each field keeps its type and its bytes.
    The thumbnail, the maker's own notes and a microscope's list of planes are left out.
    """
    main = {tag: each for tag, each in fields.get(0, {}).items() if tag not in _APART}
    if resolution_of(fields) is None:  # without a unit they say nothing
        main = {tag: each for tag, each in main.items() if tag not in _RESOLUTION}
    description = data_of(fields, _DESCRIPTION).rstrip(b"\0 \r\n")
    if description.startswith(_LAYOUT_BEGINS) or description.endswith(_LAYOUT_ENDS):
        del main[_DESCRIPTION]  # a program's, of planes that the saved file lacks
    if _ORIENTATION in main:
        main[_ORIENTATION] = 3, 1, struct.pack("<H", 1)
    kept = {
        name: {tag: each for tag, each in fields[name].items() if tag not in _LEFT_OUT}
        for name in _DIRECTORIES
        if name in fields
    }
    news = zip((*_SIZE, ExifTags.Base.ColorSpace), (width, height, _SRGB), strict=True)
    for tag, value in news:
        if tag in (own := kept.get(_EXIF, {})):
            is_short = own[tag][0] == 3 and value < 1 << 16
            own[tag] = (3 if is_short else 4), 1, struct.pack("<H" if is_short else "<I", value)
    if data_of({0: kept.get(_INTEROP, {})}, _INTEROP_INDEX) == _ADOBE_RGB:
        kept[_INTEROP] |= {_INTEROP_INDEX: (_TEXT, 4, b"R98\0")}
    lost += ["the maker's own notes"] if _MAKERS in fields.get(_EXIF, {}) else []
    if orientation_of(fields) != 1:
        lost += [] if _PLACE.isdisjoint(main) else ["the place on a map"]
        main = {tag: each for tag, each in main.items() if tag not in _PLACE}
    lost += ["the thumbnail"] if _THUMBNAIL in fields else []
    if private := [tifffile.TIFF.TAGS.get(tag, str(tag)) for tag in fields.get(_PRIVATE, ())]:
        lost.append(f"what programs note ({', '.join(private)})")
    if not main.keys() - {_ORIENTATION, *_RESOLUTION} and not any(kept.values()):
        return None
    return _written(kept | {0: main})


def is_telling(exif: bytes) -> bool:
    """True if EXIF says more than which program wrote it, and how it stores samples."""
    fields = fields_in(exif, [])
    says = fields[0].keys() - {_ORIENTATION, *_RESOLUTION, _SOFTWARE}
    return bool(says or fields.get(_EXIF, {}).keys() - _FORMAL or fields.get(_GPS))


def with_resolution(metadata: Metadata) -> bytes | None:
    """The EXIF of a file that is to have that resolution, too; None where there is neither."""
    fields = fields_in(metadata.exif, []) or {0: {}}
    if metadata.resolution is None or resolution_of(fields) == metadata.resolution:
        return metadata.exif
    for tag, told in zip(_RESOLUTION, metadata.resolution, strict=False):
        ratio = Fraction(told).limit_denominator(400)  # of 32 bits
        fields[0][tag] = 5, 1, struct.pack("<II", *ratio.as_integer_ratio())
    fields[0][_UNIT] = 3, 1, struct.pack("<H", _INCH)
    return _written(fields)


def _written(fields: Fields) -> bytes:
    return b"II*\0\x08\0\0\0" + directory(fields, 0, 8)


def directory(fields: Fields, name: int, at: int, *, is_big: bool = False) -> bytes:
    """A directory, what its fields point to behind it, and so on, to be put at offset `at`."""
    inside = [each for each in _INSIDE.get(name, ()) if fields.get(each)]
    own = fields[name] | dict.fromkeys(inside, (16 if is_big else 4, 1, b""))
    count, offset, room = ("Q", "Q", 8) if is_big else ("H", "I", 4)
    entries, behind = b"", b""
    begins = at + struct.calcsize(f"<{count}") + len(own) * (4 + 2 * room) + room
    for tag in sorted(own):
        kind, length, data = own[tag]
        place = begins + len(behind)
        data = directory(fields, tag, place, is_big=is_big) if tag in inside else data
        value = data.ljust(room, b"\0")
        if tag in inside or len(data) > room:
            value = struct.pack(f"<{offset}", place)
            behind += data + bytes(len(data) % 2)
        entries += struct.pack(f"<HH{offset}", tag, kind, length) + value
    return struct.pack(f"<{count}", len(own)) + entries + bytes(room) + behind


_IPTC = b"8BIM\x04\x04\0\0"  # of Photoshop's resources, without a name
# Who made a resource, its number, and how long its name is.
_RESOURCE = re.compile(rb"(?:8BIM|PHUT|DCSR|AgHg|MeSa)(..)(.)", re.DOTALL)


def iptc_of(fields: Fields, notes: list[str]) -> bytes | None:
    """The IPTC records of a TIFF file, or None."""
    return data_of(fields, IPTC_TAG) or iptc_in(data_of(fields, _RESOURCES), notes)


def iptc_in(resources: bytes, notes: list[str]) -> bytes | None:
    """The IPTC records among Photoshop's resources, or None; `notes` gets what is damaged."""
    at = 0
    while found := _RESOURCE.match(resources, at):
        at = found.end() + (found[2][0] | 1)  # with the length before it the name is even
        size, at = int.from_bytes(resources[at : at + 4]), at + 4
        if at + size > len(resources):
            break
        if found[1] == _IPTC[4:6]:
            return resources[at : at + size] or None
        at += size + size % 2
    if found or resources[at:].strip(b"\0"):
        _note_damage(notes, "Photoshop")
    return None


def resources_of(iptc: bytes) -> bytes:
    """Photoshop's resources with these IPTC records alone."""
    return _IPTC + struct.pack(">I", len(iptc)) + iptc + bytes(len(iptc) % 2)


MAX_BYTES = 1 << 24  # a few thousand are usual, and millions with thumbnails or a history
XMP_ERRORS = ValueError, ElementTree.ParseError, RecursionError  # of a damaged packet
_RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
_META = "adobe:ns:meta/"
_TURNED = "{http://ns.adobe.com/tiff/1.0/}Orientation"
_TABLE = table_beside(__file__)
# By namespace: the properties that are kept; None: all.
_KEPT = {each["namespace"]: each.get("names") for each in _TABLE.values()}
_BEGIN = '<?xpacket begin="\ufeff" id="W5M0MpCehiHzreSzNTczkc9d"?>'
_END = '<?xpacket end="r"?>'

for _prefix, _each in _TABLE.items():
    ElementTree.register_namespace(_prefix, _each["namespace"])
ElementTree.register_namespace("x", _META)


def portable_xmp(packet: bytes | str, lost: list[str]) -> bytes | None:
    """The kept part of an XMP packet as a new one; None where there is nothing.

    It is for a picture that was changed, upright and in sRGB: orientation, size, thumbnails,
    history and the settings of raw converters are left out.
    lost  gets the namespaces of what else is

    Raises one of XMP_ERRORS where it is damaged.
    """
    made = ElementTree.Element(f"{{{_RDF}}}Description", {f"{{{_RDF}}}about": ""})
    for description in _descriptions(packet):
        made.attrib.update((name, text) for name, text in description.items() if _is_kept(name))
        made.extend(each for each in description if _is_kept(each.tag))
        names = (*description.keys(), *(each.tag for each in description))
        spaces = dict.fromkeys(each[1:].partition("}")[0] for each in names if each[0] == "{")
        lost += [f"XMP of {each}" for each in spaces if each not in _KEPT and each != _RDF]
    if len(made.attrib) == 1 and not len(made):
        return None
    root = ElementTree.Element(f"{{{_META}}}xmpmeta")
    ElementTree.SubElement(root, f"{{{_RDF}}}RDF").append(made)
    return f"{_BEGIN}{ElementTree.tostring(root, 'unicode')}{_END}".encode()


def _descriptions(packet: bytes | str) -> list[ElementTree.Element]:
    """What a packet, of UTF-8 or UTF-16, has of properties.  Raises one of XMP_ERRORS."""
    if isinstance(packet, bytes):
        packet = packet.decode(json.detect_encoding(packet))
    if "<!DOCTYPE" in packet:
        raise ValueError("more than a packet holds")
    found = ElementTree.fromstring(packet.strip("\0\ufeff \t\r\n"))
    rdfs = found.iter(f"{{{_RDF}}}RDF")  # the root may be one
    return [each for rdf in rdfs for each in rdf.findall(f"{{{_RDF}}}Description")]


def _is_kept(name: str) -> bool:
    namespace, _, own = name.removeprefix("{").partition("}")
    names = _KEPT.get(namespace, ())
    return names is None or own in names
