"""EXIF and XMP stay with a picture in every format that holds them."""

import struct
from dataclasses import replace

import numpy as np
import pytest
import tifffile
from PIL import ExifTags, Image, PngImagePlugin

from kernels.pictures.generated import noise
from workbench.cli.main import main
from workbench.files import exif as exif_of
from workbench.files import image_encoders
from workbench.files.formats import FORMATS
from workbench.files.image_encoders import fit_of, reduced
from workbench.files.image_files import load, save
from workbench.files.large_pictures import LargePicture
from workbench.files.png import XMP_KEYWORD
from workbench.files.tiff_rows import lay_out
from workbench.imaging.pictures import NO_METADATA

TAKEN, EXPOSURE, NOTE = "2026:01:02 03:04:05", 0.005, b"maker's own"
IFD = ExifTags.IFD
# JPEG XL, which Pillow does not read, is in test_new_formats.py.
HOLDING = [each for each in FORMATS if "exif" in each.metadata and each.title != "JPEG XL"]


def camera_exif(orientation=1):
    exif = Image.Exif()
    exif[271], exif[272], exif[306], exif[274] = "Maker", "Model 1", TAKEN, orientation
    size_and_colours = {40962: 40, 40963: 30, 40961: 65535}
    exif[IFD.Exif] = {36867: TAKEN, 33434: EXPOSURE, 37500: NOTE, **size_and_colours}
    exif[IFD.GPSInfo] = {1: "N", 2: (48.0, 8.0, 30.0)}
    return exif


def photo(path, orientation=1):
    """(30, 40), with the EXIF of a camera."""
    Image.fromarray(noise(30, 40, 3)).save(path, exif=camera_exif(orientation).tobytes())
    return path


def told(path):
    """{field: value}, as Pillow reads them from a file."""
    with Image.open(path) as image:
        exif = image.getexif()
        found = {tag: exif.get(tag) for tag in (271, 272, 306, 274)}
        return found | dict(exif.get_ifd(IFD.Exif)) | {"gps": dict(exif.get_ifd(IFD.GPSInfo))}


@pytest.mark.parametrize("name", ["a.jpg", "a.png", "a.webp", "a.tif"])
@pytest.mark.parametrize("wanted", HOLDING, ids=lambda each: each.title)
def test_what_the_camera_said_is_kept_in_every_format_that_holds_it(tmp_path, name, wanted):
    picture = load(photo(tmp_path / name, orientation=6))
    assert picture.samples.shape[:2] == (40, 30)
    path = tmp_path / f"saved{wanted.extensions[0]}"
    assert fit_of(path, picture.samples, picture.metadata).is_exact
    save(path, picture.samples, metadata=picture.metadata)
    found = told(path)
    assert (found[271], found[272], found[306]) == ("Maker", "Model 1", TAKEN)
    assert found[36867] == TAKEN
    assert float(found[33434]) == pytest.approx(EXPOSURE)
    assert found["gps"] == {1: "N", 2: (48.0, 8.0, 30.0)}
    assert found[274] in (None, 1)  # upright
    assert (found[40962], found[40963]) == (30, 40)
    assert found[40961] == 1  # sRGB
    assert 37500 not in found
    again = load(path)
    if wanted.title != "AVIF":  # whose encoder takes the orientation out, as it turns by a box
        assert again.metadata == picture.metadata
    assert again.notes == ()
    if wanted.can_be_lossless:
        np.testing.assert_array_equal(again.samples, picture.samples)


@pytest.mark.parametrize("name", ["b.bmp", "b.ppm", "b.pnm"])
def test_where_a_format_cannot_hold_it_that_is_said_before(tmp_path, name):
    picture = load(photo(tmp_path / "a.jpg"))
    fit = fit_of(tmp_path / name, picture.samples, picture.metadata)
    assert "EXIF (camera" in str(fit)
    assert "PNG and TIFF" in str(fit)
    assert "Without loss" not in str(replace(fit, instead=()))
    save(tmp_path / name, reduced(tmp_path / name, picture.samples), metadata=picture.metadata)
    assert load(tmp_path / name).metadata == NO_METADATA


def test_more_than_a_jpeg_holds_is_said_and_left_out(tmp_path):
    exif = camera_exif()
    exif[270] = "x" * 70_000
    Image.fromarray(noise(30, 40, 3)).save(tmp_path / "a.png", exif=exif)
    picture = load(tmp_path / "a.png")
    assert "EXIF (camera, date, place) is dropped" in str(
        fit_of(tmp_path / "b.jpg", picture.samples, picture.metadata)
    )
    save(tmp_path / "b.jpg", picture.samples, metadata=picture.metadata)
    assert load(tmp_path / "b.jpg").metadata == NO_METADATA


def test_a_directory_that_is_named_again_and_again_is_followed_once(monkeypatch):
    read, fromfile = [], tifffile.TiffTag.fromfile
    spy = lambda *args, **how: read.append(1) or fromfile(*args, **how)  # noqa: E731
    monkeypatch.setattr(tifffile.TiffTag, "fromfile", spy)
    start, count = b"II*\0\x08\0\0\0", struct.pack("<H", 50)
    for at, found in ((8, {0}), (614, {0, 34665})):  # its own, and one behind it
        again = struct.pack("<HHII", 34665, 4, 1, at) * 50 + bytes(4)
        behind = struct.pack("<HHHII", 1, 40961, 3, 1, 1) + bytes(4)
        fields = exif_of.fields_in(start + count + again + behind, [])
        assert set(fields) == found
        assert len(read) <= 4 * 50
        read.clear()


@pytest.mark.parametrize("name", ["b.jpg", "b.png", "b.tif"])
def test_bytes_with_numbers_inside_are_kept_in_the_order_of_what_is_saved(tmp_path, name):
    def inside(order):
        text = "Grüße".encode(f"utf-16-{'be' if order == '>' else 'le'}")
        ratios = b"one\0two\0" + struct.pack(f"{order}2h4i", 2, 1, 1, 2, -3, 4)[4:]
        size = struct.pack(f"{order}2h", 2, 1)
        held = {37510: b"UNICODE\0" + text, 41730: size + b"\0\1", 41995: size + text}
        return held | {34856: size + ratios, 41484: size + ratios, 41729: b"\1"}

    exif = Image.Exif()
    exif.endian, exif[IFD.Exif] = ">", inside(">")
    exif[IFD.GPSInfo] = {27: inside(">")[37510], 28: b"ASCII\0\0\0as it is"}
    Image.fromarray(noise(9, 8, 3)).save(tmp_path / "a.jpg", exif=exif)
    assert b"MM\0*" in (tmp_path / "a.jpg").read_bytes()
    picture = load(tmp_path / "a.jpg")
    save(tmp_path / name, picture.samples, metadata=picture.metadata)
    found, wanted = told(tmp_path / name), inside("<")
    assert {tag: found.get(tag) for tag in wanted} == wanted
    assert found["gps"] == {27: wanted[37510], 28: b"ASCII\0\0\0as it is"}


def test_a_directory_inside_itself_is_not_written_as_a_damaged_one(tmp_path):
    inside = struct.pack("<HHHIIHHII", 2, 34665, 4, 1, 26, 34853, 4, 1, 99) + bytes(4)
    for start in (b"\x01\0" + struct.pack("<HHII", 34665, 4, 1, 8), inside):
        Image.new("L", (4, 4)).save(tmp_path / "a.png", exif=b"II*\0\x08\0\0\0" + start + inside)
        picture = load(tmp_path / "a.png")
        save(tmp_path / "b.png", picture.samples, metadata=picture.metadata)
        assert load(tmp_path / "b.png").notes == ()


def test_apply_keeps_it_and_refuses_to_lose_it_unasked(tmp_path, capsys):
    source = str(photo(tmp_path / "a.jpg"))
    how = ["--filter", "identity", "--size", "3", "--no-gpu"]
    assert main(["apply", source, str(tmp_path / "b.tif"), *how]) == 0
    assert told(tmp_path / "b.tif")[36867] == TAKEN
    assert main(["apply", source, str(tmp_path / "b.bmp"), *how]) == 1
    assert "EXIF (camera, date, place) is dropped" in capsys.readouterr().err
    assert not (tmp_path / "b.bmp").exists()
    assert main(["apply", source, str(tmp_path / "b.bmp"), "--reduce", *how]) == 0
    assert "BMP: EXIF (camera, date, place) is dropped." in capsys.readouterr().out
    assert load(tmp_path / "b.bmp").metadata == NO_METADATA


def test_a_file_too_large_for_32_bits_keeps_all_of_it(tmp_path, monkeypatch):
    monkeypatch.setattr(image_encoders, "MAX_TIFF_BYTES", 1000)
    picture = load(photo(tmp_path / "a.jpg"))
    save(tmp_path / "b.tif", picture.samples, metadata=picture.metadata)
    with tifffile.TiffFile(tmp_path / "b.tif") as tiff:
        assert tiff.is_bigtiff
        assert tiff.pages.first.tags.valueof(34665)["DateTimeOriginal"] == TAKEN
        assert tiff.pages.first.tags.valueof(34853)["GPSLatitudeRef"] == "N"
    assert told(tmp_path / "b.tif")[36867] == TAKEN
    assert load(tmp_path / "b.tif").metadata == picture.metadata


def test_directories_beyond_4_gb_are_found_again(tmp_path):
    metadata, path = load(photo(tmp_path / "a.jpg")).metadata, tmp_path / "b.tif"
    lay_out(path, (40_000, 40_000, 3), np.dtype(np.uint8), metadata)  # which is a hole
    with tifffile.TiffFile(path) as tiff:
        assert tiff.pages.first.tags.valueof(34665)["DateTimeOriginal"] == TAKEN
        assert tiff.pages.first.tags.valueof(34853)["GPSLatitudeRef"] == "N"
    with LargePicture(path) as found:
        assert (found.notes, found.metadata.exif is None) == ((), False)
    assert told(path)[36867] == TAKEN


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
    assert "Rotated upright (XMP)." in picture.notes
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
    if wanted.can_be_lossless:
        np.testing.assert_array_equal(again.samples, picture.samples)


def test_what_other_programs_call_keywords_ratings_and_licences_is_kept(tmp_path):
    spaces = ("www.digikam.org/ns/1.0/", "ns.microsoft.com/photo/1.0/", "creativecommons.org/ns#")
    names = ("TagsList", "Rating", "license")
    said = [f'xmlns:n{at}="http://{each}" n{at}:' for at, each in enumerate(spaces)]
    words = " ".join(f'{space}{name}="kept"' for space, name in zip(said, names, strict=True))
    packet = PACKET.replace("xmp:Rating", f"{words} xmp:Rating")
    assert load(described(tmp_path / "a.tif", packet)).metadata.xmp.count(b"kept") == 3


@pytest.mark.parametrize(
    "packet",
    [
        "<x:xmpmeta xmlns:x='adobe:ns:meta/'><not closed",
        '<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>',
        "<a>" * 20_000 + "</a>" * 20_000,
        PACKET.replace("Zoë", "<a>" * 20_000 + "</a>" * 20_000).replace("Orientation", "A"),
        "x" * 2_000_000,
    ],
)
def test_a_damaged_packet_is_dropped_and_said(tmp_path, packet):
    picture = load(described(tmp_path / "a.tif", packet))
    assert picture.metadata.xmp is None
    assert all("XMP" in each for each in picture.notes)
    np.testing.assert_array_equal(picture.samples, noise(30, 40, 3))
