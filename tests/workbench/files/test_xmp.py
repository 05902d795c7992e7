"""What XMP says of a picture is kept by what is saved; what is about its old pixels is not."""

import numpy as np
import pytest
import tifffile
from PIL import Image, PngImagePlugin

from kernels.pictures.generated import noise
from workbench.files.image_encoders import FORMATS, XMP_KEYWORD
from workbench.files.image_files import load, save
from workbench.files.reducing import fit_of

HOLDING = [each for each in FORMATS if each.max_metadata_bytes]
PACKET = """<?xpacket begin="\ufeff" id="W5M0MpCehiHzreSzNTczkc9d"?>
<x:xmpmeta xmlns:x="adobe:ns:meta/" x:xmptk="A converter 1.0">
 <rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">
  <rdf:Description rdf:about=""
    xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:xmp="http://ns.adobe.com/xap/1.0/"
    xmlns:tiff="http://ns.adobe.com/tiff/1.0/" xmlns:exif="http://ns.adobe.com/exif/1.0/"
    xmlns:crs="http://ns.adobe.com/camera-raw-settings/1.0/"
    xmlns:xmpGImg="http://ns.adobe.com/xap/1.0/g/img/"
    xmp:Rating="4" tiff:Orientation="6" tiff:Make="Maker" exif:PixelXDimension="40"
    crs:Exposure2012="+1.00" xmp:ModifyDate="2026-01-02">
   <dc:title><rdf:Alt><rdf:li xml:lang="x-default">Zoë on the Größe</rdf:li></rdf:Alt></dc:title>
   <dc:subject><rdf:Bag><rdf:li>sea</rdf:li><rdf:li>light &amp; air</rdf:li></rdf:Bag></dc:subject>
   <xmp:Thumbnails><rdf:Alt><rdf:li><xmpGImg:image>secret</xmpGImg:image></rdf:li></rdf:Alt>
   </xmp:Thumbnails>
  </rdf:Description>
 </rdf:RDF>
</x:xmpmeta>
<?xpacket end="w"?>"""
GONE = ("secret", "Orientation", "PixelXDimension", "Exposure2012", "ModifyDate", "A converter")


def described(path, packet=PACKET):
    """A picture (30, 40) that Pillow or tifffile wrote with this packet, turned by it."""
    samples = noise(30, 40, 3)
    if path.suffix == ".png":
        info = PngImagePlugin.PngInfo()
        info.add_itxt(XMP_KEYWORD, packet)
        Image.fromarray(samples).save(path, pnginfo=info)
    elif path.suffix == ".tif":
        raw = packet.encode()
        tifffile.imwrite(path, samples, extratags=[(700, "B", len(raw), raw, True)])
    else:
        Image.fromarray(samples).save(path, xmp=packet.encode())
    return path


def packet_in(path):
    """The packet as another program finds it."""
    with Image.open(path) as image:
        found = image.info["xmp"]
        return found if isinstance(found, str) else found.decode()


@pytest.mark.parametrize("name", ["a.jpg", "a.png", "a.webp", "a.tif"])
@pytest.mark.parametrize("wanted", HOLDING, ids=lambda each: each.title)
def test_what_describes_a_picture_is_kept_in_every_format_that_holds_it(tmp_path, name, wanted):
    picture = load(described(tmp_path / name))
    path = tmp_path / f"saved{wanted.extensions[0]}"
    assert fit_of(path, picture.samples, picture.metadata).is_exact
    save(path, picture.samples, metadata=picture.metadata)
    found = packet_in(path)
    for kept in ("Zoë on the Größe", "sea", "light &amp; air", 'xmp:Rating="4"', "Maker"):
        assert kept in found
    assert not [each for each in GONE if each in found]
    again = load(path)
    assert again.metadata == picture.metadata
    assert again.notes == ()
    if wanted.title != "JPEG":
        np.testing.assert_array_equal(again.samples, picture.samples)


@pytest.mark.parametrize(
    "packet",
    [
        "<x:xmpmeta xmlns:x='adobe:ns:meta/'><not closed",
        '<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>',
        "<a>" * 20_000 + "</a>" * 20_000,
        "x" * 2_000_000,
    ],
)
def test_a_damaged_packet_is_dropped_and_said(tmp_path, packet):
    picture = load(described(tmp_path / "a.tif", packet))
    assert picture.metadata.xmp is None
    assert all("XMP" in each for each in picture.notes)
    np.testing.assert_array_equal(picture.samples, noise(30, 40, 3))
