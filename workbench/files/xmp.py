"""XMP: title, keywords, rating and rights of a picture, taken along into the files that we save."""

from __future__ import annotations

from collections.abc import Iterator
from xml.etree import ElementTree

MAX_BYTES = 1 << 20  # a few thousand are usual; beyond it holds thumbnails or a history
_RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
_META = "adobe:ns:meta/"
_XMP, _PHOTOSHOP = "http://ns.adobe.com/xap/1.0/", "http://ns.adobe.com/photoshop/1.0/"
_EXIF, _TIFF = "http://ns.adobe.com/exif/1.0/", "http://ns.adobe.com/tiff/1.0/"
_OF_SHOT = """DateTimeOriginal ExposureTime FNumber ExposureProgram ISOSpeedRatings FocalLength
    ExposureBiasValue Flash GPSLatitude GPSLongitude GPSAltitude GPSAltitudeRef GPSTimeStamp"""
_OF_PHOTOSHOP = """AuthorsPosition CaptionWriter Category City Country Credit DateCreated Headline
    Instructions Source State SupplementalCategories TransmissionReference Urgency"""
# What describes the picture; all else is about the pixels of that one file, or how it was made.
# By namespace: its usual prefix, and which of its properties; empty: all.
_KEPT: dict[str, tuple[str, str]] = {
    "http://purl.org/dc/elements/1.1/": ("dc", ""),
    _XMP: ("xmp", "CreateDate Label Rating"),
    "http://ns.adobe.com/xap/1.0/rights/": ("xmpRights", ""),
    _PHOTOSHOP: ("photoshop", _OF_PHOTOSHOP),
    "http://iptc.org/std/Iptc4xmpCore/1.0/xmlns/": ("Iptc4xmpCore", ""),
    "http://iptc.org/std/Iptc4xmpExt/2008-02-29/": ("Iptc4xmpExt", ""),
    "http://ns.useplus.org/ldf/xmp/1.0/": ("plus", ""),
    "http://ns.adobe.com/lightroom/1.0/": ("lr", "hierarchicalSubject"),
    _EXIF: ("exif", _OF_SHOT),
    _TIFF: ("tiff", "Artist Copyright ImageDescription Make Model"),
}
_BEGIN = '<?xpacket begin="\ufeff" id="W5M0MpCehiHzreSzNTczkc9d"?>'
_END = '<?xpacket end="r"?>'

for _namespace, (_prefix, _) in _KEPT.items():
    ElementTree.register_namespace(_prefix, _namespace)
ElementTree.register_namespace("x", _META)


def portable(packet: bytes | str) -> bytes | None:
    """Return what is kept of an XMP packet as a new one, or None where there is nothing.

    It is for a picture that was changed, upright and in sRGB: orientation, size, thumbnails,
    history and the settings of raw converters are left out.
    Raises ValueError or ParseError where it is damaged.
    """
    text = packet.decode() if isinstance(packet, bytes) else packet
    if len(text) > MAX_BYTES or "<!DOCTYPE" in text:
        raise ValueError("more than a packet holds")
    found = ElementTree.fromstring(text.strip("\0\ufeff \t\r\n"))
    made = ElementTree.Element(f"{{{_RDF}}}Description", {f"{{{_RDF}}}about": ""})
    for description in _descriptions(found):
        kept = {name: value for name, value in description.items() if _is_kept(name)}
        made.attrib.update(kept)
        made.extend(each for each in description if _is_kept(each.tag))
    if len(made.attrib) == 1 and not len(made):
        return None
    root = ElementTree.Element(f"{{{_META}}}xmpmeta")
    ElementTree.SubElement(root, f"{{{_RDF}}}RDF").append(made)
    return f"{_BEGIN}{ElementTree.tostring(root, 'unicode')}{_END}".encode()


def _descriptions(found: ElementTree.Element) -> Iterator[ElementTree.Element]:
    for rdf in found.iter(f"{{{_RDF}}}RDF"):
        yield from rdf.findall(f"{{{_RDF}}}Description")


def _is_kept(name: str) -> bool:
    """Return whether a property, "{namespace}name", describes the picture."""
    namespace, _, own = name.removeprefix("{").partition("}")
    if namespace not in _KEPT:
        return False
    names = _KEPT[namespace][1].split()
    return not names or own in names
