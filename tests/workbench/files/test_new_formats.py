"""OpenEXR, AVIF, HEIC, JPEG XL and JPEG 2000: what they hold comes in and goes out as it is meant.

What is read other libraries wrote, or it was built by hand; what was written they read.
"""

import io
import re
import struct
import subprocess
import sys
import threading
from contextlib import suppress

import imagecodecs
import numpy as np
import OpenEXR
import pillow_heif
import pytest
import tifffile
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image, ImageCms
from PySide6.QtGui import QColorSpace

from kernels.pictures.generated import noise
from tests.picture_files import all_kinds
from workbench.files import formats
from workbench.files.from_jxl import as_srgb
from workbench.files.from_pillow import unless_stopped
from workbench.files.image_encoders import fit_of, reduced
from workbench.files.image_files import load, save
from workbench.files.picture_errors import ImageFileError, StoppedError, TooLargeError
from workbench.imaging.pictures import Metadata

P3 = bytes(QColorSpace(QColorSpace.NamedColorSpace.DisplayP3).iccProfile().data())
DEEP = np.linspace(0, 1, 24 * 31 * 3).reshape(24, 31, 3)
pillow_heif.register_heif_opener()


def opened(path, data):
    path.write_bytes(data)
    return load(path)


def by_pillow(samples, kind, **options):
    file = io.BytesIO()
    Image.fromarray(samples).save(file, kind, **options)
    return file.getvalue()


def heif(samples, mode, bits, **options):
    file = io.BytesIO()
    whole = samples.astype("uint16") << (16 - bits)
    made = pillow_heif.from_bytes(mode, samples.shape[1::-1], whole.tobytes())
    pillow_heif.options.SAVE_HDR_TO_12_BIT = bits == 12
    made.save(file, quality=-1, chroma=444, matrix_coefficients=0, **options)
    return file.getvalue()


# -- samples


@pytest.mark.parametrize("bits", [10, 12])
@pytest.mark.parametrize("kind", ["avif", "heic", "jxl", "jp2"])
def test_ten_and_twelve_bits_stay_and_white_is_white(tmp_path, kind, bits):
    largest = 2**bits - 1
    stored = np.rint(DEEP * largest).astype(np.uint16)
    data = {
        "avif": lambda: imagecodecs.avif_encode(
            stored, level=100, bitspersample=bits, pixelformat="444", matrix=0, primaries=1
        ),
        "heic": lambda: heif(stored, "RGB;16", bits),
        "jxl": lambda: as_srgb(
            imagecodecs.jpegxl_encode(stored, lossless=True, bitspersample=bits)
        ),
        "jp2": lambda: imagecodecs.jpeg2k_encode(stored, reversible=True, bitspersample=bits),
    }[kind]()
    picture = opened(tmp_path / f"a.{kind}", data)
    assert picture.samples.dtype == np.uint16
    np.testing.assert_array_equal(picture.samples, np.rint(stored * (65535 / largest)))
    assert f"Samples scaled from 0–{largest} to 0–65535." in picture.notes


@pytest.mark.parametrize("bits", [10, 12])
def test_alpha_multiplied_in_is_undone_in_a_deep_heic(tmp_path, bits):
    light = np.dstack([DEEP, np.full((24, 31), 0.8)]) * (0.8, 0.8, 0.8, 1)
    stored = np.rint(light * (2**bits - 1)).astype("uint16")
    picture = opened(tmp_path / "a.heic", heif(stored, "RGBa;16", bits))
    assert "Premultiplied alpha undone." in picture.notes
    assert np.abs(picture.samples[..., :3] / 65535 - DEEP).max() < 0.002


@pytest.mark.parametrize("channels", [1, 2, 3, 4])
def test_what_pillow_writes_is_read_as_imagecodecs_reads_it(tmp_path, channels):
    samples = noise(24, 31, channels).squeeze()
    data = by_pillow(samples, "JPEG2000", irreversible=False)
    np.testing.assert_array_equal(opened(tmp_path / "a.jp2", data).samples.squeeze(), samples)
    if channels != 2:
        data = by_pillow(samples, "AVIF", subsampling="4:4:4" if channels > 1 else "4:0:0")
        found = opened(tmp_path / "a.avif", data).samples.squeeze()
        np.testing.assert_array_equal(found, imagecodecs.avif_decode(data))


def exr(planes, data_window, display_window):
    """An OpenEXR without packing, made by hand: {name: (rows, columns) of half or float}."""
    top, bottom = data_window[1::2]

    def attribute(name, kind, value):
        return f"{name}\0{kind}\0".encode() + struct.pack("<i", len(value)) + value

    names = sorted(planes)
    kinds = {"float16": 1, "float32": 2, "uint32": 0}
    channels = b"".join(
        name.encode() + b"\0" + struct.pack("<iB3xii", kinds[str(planes[name].dtype)], 0, 1, 1)
        for name in names
    )
    header = b"".join((
        attribute("channels", "chlist", channels + b"\0"),
        attribute("compression", "compression", b"\0"),
        attribute("dataWindow", "box2i", struct.pack("<4i", *data_window)),
        attribute("displayWindow", "box2i", struct.pack("<4i", *display_window)),
        attribute("lineOrder", "lineOrder", b"\0"),
        attribute("pixelAspectRatio", "float", struct.pack("<f", 1)),
        attribute("screenWindowCenter", "v2f", struct.pack("<2f", 0, 0)),
        attribute("screenWindowWidth", "float", struct.pack("<f", 1)),
        b"\0",
    ))  # fmt: skip
    start = b"v/1\x01" + struct.pack("<i", 2) + header
    rows = [b"".join(planes[name][y].tobytes() for name in names) for y in range(bottom - top + 1)]
    at = len(start) + 8 * len(rows)
    table = b"".join(struct.pack("<Q", at + y * (8 + len(row))) for y, row in enumerate(rows))
    lines = (struct.pack("<ii", top + y, len(row)) + row for y, row in enumerate(rows))
    return start + table + b"".join(lines)


@pytest.mark.parametrize("pixel_type", ["float16", "float32"])
@pytest.mark.parametrize("names", ["Y", "YA", "RGB", "RGBA"])
def test_an_openexr_is_read_with_its_window_and_alpha_divided_out(tmp_path, pixel_type, names):
    light = np.linspace(-2, 60, 5 * 7 * len(names)).reshape(5, 7, -1).astype(pixel_type)
    planes = {name: light[..., at] for at, name in enumerate(names)}
    if "A" in names:
        planes["A"] = np.full((5, 7), 0.5, pixel_type)
    picture = opened(tmp_path / "a.exr", exr(planes, (3, 4, 9, 8), (0, 0, 19, 9)))
    assert picture.samples.dtype == ("float32" if "A" in names else pixel_type)
    wanted = light if "A" not in names else np.dstack([light[..., :-1] * 2, planes["A"]])
    np.testing.assert_array_equal(picture.samples, wanted.reshape(5, 7, -1))
    assert any("20×10" in note for note in picture.notes)
    save(tmp_path / "b.exr", picture.samples)
    file = OpenEXR.File(str(tmp_path / "b.exr"), True)
    for name in names:
        np.testing.assert_array_equal(file.channels()[name].pixels, planes[name])


@pytest.mark.parametrize("names", ["YA", "RGBA"])
def test_unfiltered_halves_with_alpha_are_saved_as_they_were(tmp_path, names):
    bits = np.random.default_rng(4).integers(0, 0x7C00, (90, 80, len(names)))
    light = bits.astype(np.uint16).view(np.float16)
    light[..., -1] = np.random.default_rng(5).uniform(1e-4, 1, (90, 80))
    planes = {name: light[..., at] for at, name in enumerate(names)}
    picture = opened(tmp_path / "a.exr", exr(planes, (0, 0, 79, 89), (0, 0, 79, 89)))
    assert np.isfinite(picture.samples).all()
    save(tmp_path / "b.exr", picture.samples)
    found = OpenEXR.File(str(tmp_path / "b.exr"), True).channels()
    for name in names:
        np.testing.assert_array_equal(found[name].pixels, planes[name])


def test_of_an_openexr_with_more_the_colours_are_read_and_that_is_said(tmp_path):
    half, whole = np.ones((2, 3), "float16"), np.full((2, 3), 7, "uint32")
    planes = {"R": half, "G": half * 2, "B": half * 3, "Z": half, "layer.Y": half}
    picture = opened(tmp_path / "a.exr", exr(planes, (0, 0, 2, 1), (0, 0, 2, 1)))
    assert picture.samples[1, 2].tolist() == [1, 2, 3]
    assert picture.notes == ("Only R, G, B of 5 channels are read.",)
    picture = opened(tmp_path / "b.exr", exr({"id": whole}, (0, 0, 2, 1), (0, 0, 2, 1)))
    assert picture.samples.dtype == np.float32
    assert picture.samples[0, 0].tolist() == [7]
    assert any("uint32" in note for note in picture.notes)


def test_channels_of_several_types_become_one_that_is_filtered(tmp_path):
    planes = {"R": np.ones((2, 3), "float32"), "G": np.full((2, 3), 7, "uint32")}
    planes["B"] = np.full((2, 3), 0.5, "float16")
    picture = opened(tmp_path / "a.exr", exr(planes, (0, 0, 2, 1), (0, 0, 2, 1)))
    assert picture.samples.dtype == np.float32
    assert picture.samples[1, 2].tolist() == [1, 7, 0.5]
    assert picture.notes == ("Converted from float16, float32, uint32 to float32.",)


def test_a_glow_without_alpha_is_not_lost_unsaid(tmp_path):
    light = np.full((2, 3), 5, "float16")
    planes = {**dict.fromkeys("RGB", light), "A": light * 0}
    picture = opened(tmp_path / "a.exr", exr(planes, (0, 0, 2, 1), (0, 0, 2, 1)))
    assert "Colours of pixels with alpha 0, such as a glow, became 0." in picture.notes
    path, samples = tmp_path / "b.exr", np.dstack([light, light * 0])
    assert fit_of(path, samples).changes == ("colours of pixels with alpha 0 become 0",)
    save(path, reduced(path, samples))
    assert not load(path).samples.any()
    assert len(load(path).notes) == 2
    assert fit_of(path, samples * np.float16([0, 1])).is_exact


def test_what_an_openexr_says_beside_its_samples_is_said_to_be_left_out(tmp_path):
    header = {"type": OpenEXR.scanlineimage, "owner": "x", "pixelAspectRatio": 2.0}
    OpenEXR.File(header, {"Y": np.ones((2, 3), "f4")}).write(str(tmp_path / "a.exr"))
    said = "Left out when saving: that pixels are not square, what the file says of owner."
    assert load(tmp_path / "a.exr").notes == (said,)


def test_an_openexr_that_nobody_wants_any_more_does_not_hold_up_the_next(tmp_path, monkeypatch):
    release, begun, ended = (threading.Event() for _ in range(3))
    read = OpenEXR.File

    def slow(*how):
        if not how[2] and not begun.is_set():
            begun.set()
            release.wait(10)
            ended.set()
        return read(*how)

    data = all_kinds()["light.exr"]
    (tmp_path / "a.exr").write_bytes(data)
    monkeypatch.setattr(OpenEXR, "File", slow)
    with pytest.raises(StoppedError):
        load(tmp_path / "a.exr", is_stopped=begun.is_set)
    assert opened(tmp_path / "b.exr", data).samples.size
    assert not ended.is_set()
    release.set()


# -- the header of a JPEG XL, bit by bit


@pytest.mark.parametrize("channels", [1, 2, 3, 4])
def test_a_deep_jpeg_xl_is_srgb_with_a_quality_as_without(tmp_path, channels):
    samples = np.full((16, 24, channels), 9000, np.uint16)
    samples[..., :8, :] = 60000
    for quality, off in ((None, 0), (95, 500)):
        save(tmp_path / "a.jxl", samples, quality)
        picture = load(tmp_path / "a.jxl")
        assert picture.notes == ()
        by_others = imagecodecs.jpegxl_decode((tmp_path / "a.jxl").read_bytes())
        for found in (picture.samples, by_others.reshape(samples.shape)):
            assert np.abs(found[4, ::23].astype(int) - samples[4, ::23]).max() <= off


@pytest.mark.parametrize("channels", [1, 3])
def test_linear_light_in_a_jpeg_xl_becomes_srgb(tmp_path, channels):
    light = np.linspace(2000, 65535, 48).astype(np.uint16).reshape(6, 8, 1).repeat(channels, 2)
    picture = opened(tmp_path / "a.jxl", imagecodecs.jpegxl_encode(light, lossless=True))
    expected = 65535 * (1.055 * (light / 65535) ** (1 / 2.4) - 0.055)
    np.testing.assert_allclose(picture.samples, expected, atol=32)
    assert "linear light to sRGB" in picture.notes[0]


def codestream(*fields):
    """The bytes of (how many bits, value), the lowest bit first, behind the signature."""
    bits, at = 0, 0
    for count, value in fields:
        bits, at = bits | value << at, at + count
    return b"\xff\x0a" + bits.to_bytes(at // 8 + 9, "little")


SMALL = ((1, 1), (5, 1), (3, 0), (5, 2))  # 16 high, 24 wide
HUGE = ((1, 0), (2, 3), (30, 2**30 - 1), (3, 7))  # twice as wide as high


def test_a_jpeg_xl_says_how_large_it_is_before_it_is_decoded(tmp_path):
    with pytest.raises(TooLargeError, match=r"2,147,483,648×1,073,741,824"):
        opened(tmp_path / "a.jxl", codestream(*HUGE, (1, 1)))
    others = (*SMALL, (1, 0), (1, 0), (1, 0), (2, 0), (1, 1), (2, 1), (1, 0), (2, 1))
    with pytest.raises(ImageFileError, match="beside colours and alpha"):
        opened(tmp_path / "b.jxl", codestream(*others))


@pytest.mark.parametrize("orientation", range(1, 9))
def test_a_jpeg_xl_is_turned_by_its_own_header(tmp_path, orientation):
    """Whole bytes are put into a file's header: so its frames stay where they are."""
    samples = noise(16, 24, 3)
    plain = bytes(imagecodecs.jpegxl_encode(samples, lossless=True, usecontainer=False))
    bits = int.from_bytes(plain[2:], "little")
    size = ((1, 1), (5, 1), (3, 4))  # 16 high and half as wide again
    samples_are = ((1, 0), (2, 0), (1, 1), (2, 0), (1, 0), (1, 1))  # 8 bits, no alpha, sRGB
    begin = codestream(*size, (1, 0), (1, 0), *samples_are)
    assert bits & 0x7FFFF == int.from_bytes(begin[2:], "little")
    more = ((3, orientation - 1), (1, 1), *size, (1, 0), (1, 0))  # shown as large as it is
    told = codestream(*size, (1, 0), (1, 1), *more, *samples_are, (1, 1))  # and usual light
    turned = int.from_bytes(told[2:], "little") | bits >> 19 << 35
    picture = opened(tmp_path / "a.jxl", b"\xff\x0a" + turned.to_bytes(len(plain), "little"))
    exif = Image.Exif()
    exif[0x0112] = orientation
    png = opened(tmp_path / "a.png", by_pillow(samples, "PNG", exif=exif))
    np.testing.assert_array_equal(picture.samples, png.samples)
    assert picture.notes == tuple(e.replace("EXIF", "header") for e in png.notes)


# -- turned, in other colours, with metadata


@pytest.mark.parametrize("kind", ["AVIF", "HEIF"])
def test_it_is_turned_once_and_converted_to_srgb(tmp_path, kind):
    samples = np.kron(noise(3, 4, 3), np.ones((8, 8, 1), np.uint8))
    exif = Image.Exif()
    exif[0x0112] = 6
    exact = {"quality": -1, "chroma": 444, "matrix_coefficients": 0}
    how = exact if kind == "HEIF" else {"quality": 100, "subsampling": "4:4:4"}
    data = by_pillow(samples, kind, exif=exif, icc_profile=P3, **how)
    if kind == "HEIF":  # pillow-heif leaves it out: in the place of what is not needed
        depth, turn = b"\0\0\0\x10pixi\0\0\0\0\3\x08\x08\x08", b"\0\0\0\x10irot\3" + bytes(7)
        assert depth in data
        data = data.replace(depth, turn).replace(b"\3\x05\x84", b"\3\x84\x05")
    picture = opened(tmp_path / f"a.{kind.lower()}", data)
    image = ImageCms.profileToProfile(
        Image.fromarray(samples), io.BytesIO(P3), ImageCms.createProfile("sRGB")
    )
    off = np.abs(picture.samples.astype(int) - np.rot90(np.asarray(image), -1))
    assert off.max() <= (2 if kind == "HEIF" else 8)
    assert any("Display P3" in note or "sRGB" in note for note in picture.notes)


def test_colours_told_by_numbers_are_converted_or_said(tmp_path):
    samples = np.kron(noise(3, 4, 3), np.ones((8, 8, 1), np.uint8))
    how = {"level": 100, "pixelformat": "444", "matrix": 0}
    wide = imagecodecs.avif_encode(samples, primaries=12, transfer=13, **how)
    by_number = opened(tmp_path / "a.avif", wide)
    by_profile = opened(tmp_path / "a.png", by_pillow(samples, "PNG", icc_profile=P3))
    off = np.abs(by_number.samples.astype(int) - by_profile.samples)
    assert off.max() <= 2
    assert "Display P3" in by_number.notes[0]
    bright = imagecodecs.avif_encode(samples, primaries=9, transfer=16, **how)
    picture = opened(tmp_path / "b.avif", bright)
    assert "PQ" in picture.notes[0]
    np.testing.assert_array_equal(picture.samples, samples)


@pytest.mark.parametrize("pixel_type", [np.uint8, np.float32])
def test_a_profile_in_a_jpeg_xl_is_said_not_to_be_applied(tmp_path, monkeypatch, pixel_type):
    depth = [0, 0, 0] if pixel_type is np.uint8 else [1, 0, 0, 1, 1, 1, 0]
    # 8×8, not all as usual, nothing rare, its depth, no channels more, not sRGB, a profile, RGB.
    bits = [1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, *depth, 1, 0, 0, 0, 0, 1, 0, 0]
    number = sum(bit << at for at, bit in enumerate(bits))
    samples = noise(8, 8, 3).astype(pixel_type)  # no library here writes such a file
    monkeypatch.setattr(imagecodecs, "jpegxl_decode", lambda *_, **__: samples)
    picture = opened(tmp_path / "a.jxl", b"\xff\x0a" + number.to_bytes(64, "little"))
    assert any("their profile was not applied" in note for note in picture.notes)


def box(kind, content):
    return struct.pack(">I4s", len(content) + 8, kind) + content


def jp2(samples, *boxes, colours=b"\1\0\0\0\0\0\x10", bits=8):
    """A JPEG 2000 with these boxes in its header beside its size."""
    how = {"reversible": True, "codecformat": "jp2", "bitspersample": bits}
    plain = bytes(imagecodecs.jpeg2k_encode(samples, **how))
    start, end = plain.index(b"jp2h") - 4, plain.index(b"jp2c") - 4
    inside = plain[start + 8 : start + 30] + box(b"colr", colours) + b"".join(boxes)
    return plain[:start] + box(b"jp2h", inside) + plain[end:]


@pytest.mark.parametrize("dtype", ["uint8", "uint16"])
def test_a_profile_in_a_jpeg_2000_is_applied_once(tmp_path, dtype):
    samples, bits = noise(24, 31, 3, dtype), 8 * np.dtype(dtype).itemsize
    colours = b"\2\0\0" + P3
    tifffile.imwrite(tmp_path / "a.tif", samples, photometric="rgb", iccprofile=P3)
    wanted = load(tmp_path / "a.tif")
    picture = opened(tmp_path / "a.jp2", jp2(samples, colours=colours, bits=bits))
    np.testing.assert_array_equal(picture.samples, wanted.samples)
    assert picture.notes == wanted.notes


@pytest.mark.parametrize("bits", range(1, 9))
def test_the_palette_of_a_jpeg_2000_is_shown(tmp_path, bits):
    indices, colours = noise(24, 31, 1)[..., 0] >> (8 - bits), noise(1, 2**bits, 3)[0]
    columns = b"".join(struct.pack(">HBB", 0, 1, each) for each in range(3))
    palette = struct.pack(">HB", 2**bits, 3) + b"\7\7\7" + colours.tobytes()
    boxes = box(b"pclr", palette), box(b"cmap", columns)
    picture = opened(tmp_path / "a.jp2", jp2(indices, *boxes, bits=bits))
    np.testing.assert_array_equal(picture.samples, colours[indices])
    assert picture.notes == ("Indexed colours expanded to RGB.",)


@pytest.mark.parametrize(
    "meant", [(3, 2, 1), (0, 1, 2, 3), (1, 2, 3, 0), (1, 2, 3, "multiplied in")]
)
def test_channels_of_a_jpeg_2000_are_what_they_are_said_to_be(tmp_path, meant):
    stored = noise(24, 31, len(meant)) | 1
    kinds = [(2, 0) if isinstance(each, str) else (int(each == 0), each) for each in meant]
    told = b"".join(struct.pack(">3H", at, *each) for at, each in enumerate(kinds))
    data = jp2(stored, box(b"cdef", struct.pack(">H", len(meant)) + told))
    picture = opened(tmp_path / "a.jp2", data)
    wanted = np.empty_like(stored)
    for at, (_, place) in enumerate(kinds):
        wanted[..., place - 1] = stored[..., at]
    if "multiplied in" in meant:
        colours = wanted[..., :3] * (255 / wanted[..., 3:].astype(float))
        wanted[..., :3] = np.rint(colours).clip(0, 255)
        assert picture.notes == ("Premultiplied alpha undone.",)
    np.testing.assert_array_equal(picture.samples, wanted)


@pytest.mark.parametrize("channels", [2, 4])
def test_a_jpeg_2000_that_is_saved_says_which_channel_is_alpha(tmp_path, channels):
    samples = noise(24, 31, channels)
    save(tmp_path / "a.jp2", samples)
    data, by_others = (tmp_path / "a.jp2").read_bytes(), by_pillow(samples, "JPEG2000")
    box_of = by_others[(at := by_others.index(b"cdef")) - 4 : at + 6 + 6 * channels]
    assert box_of in data
    np.testing.assert_array_equal(imagecodecs.jpeg2k_decode(data), samples)


def test_exif_and_xmp_of_a_jpeg_xl_are_kept_packed_ones_as_well(tmp_path):
    exif = Image.Exif()
    exif[271] = "Maker"
    packet = '<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-'
    packet += 'rdf-syntax-ns#"><rdf:Description xmlns:dc="http://purl.org/dc/elements/1.1/" '
    packet += 'dc:title="Sea"/></rdf:RDF></x:xmpmeta>'
    told = Metadata(exif.tobytes()[6:], packet.encode())
    save(tmp_path / "a.jxl", noise(9, 8, 3), metadata=told)
    kept = load(tmp_path / "a.jxl").metadata
    assert b"Maker" in kept.exif
    assert b"Sea" in kept.xmp
    data = (tmp_path / "a.jxl").read_bytes()
    at = data.index(b"Exif") - 4
    boxes = data[at:]
    size = struct.unpack(">I", boxes[:4])[0]
    packed = b"Exif" + bytes(imagecodecs.brotli_encode(boxes[8:size]))
    brob = struct.pack(">I4s", len(packed) + 8, b"brob") + packed
    assert opened(tmp_path / "b.jxl", data[:at] + brob + boxes[size:]).metadata == kept
    damaged = brob[:12] + b"\xff" * (len(brob) - 12)
    picture = opened(tmp_path / "c.jxl", data[:at] + damaged + boxes[size:])
    assert picture.metadata == Metadata(None, kept.xmp)
    assert picture.notes == ("Damaged EXIF data were dropped.",)


def test_pictures_of_a_sequence_and_parts_of_an_openexr_are_pages(tmp_path):
    path, data = tmp_path / "a.avif", all_kinds()["animated.avif"]
    path.write_bytes(data)
    with Image.open(io.BytesIO(data)) as image:
        for page in (1, 2):
            image.seek(page - 1)
            picture = load(path, page=page)
            assert (picture.page.number, picture.page.count) == (page, 2)
            np.testing.assert_array_equal(picture.samples, np.asarray(image))
    deep = imagecodecs.avif_encode(np.zeros((3, 32, 32, 3), np.uint16), bitspersample=10)
    (tmp_path / "b.avif").write_bytes(deep)
    for page in (1, 2):
        found = load(tmp_path / "b.avif", page=page)
        assert found.notes.count("Samples of 10 bits were rounded to 8.") == 1
    path = tmp_path / "c.exr"
    path.write_bytes(all_kinds()["light.exr"])
    one, two = (load(path, page=page) for page in (1, 2))
    assert (one.page.count, two.page.number) == (2, 2)


# -- damaged, too large, missing, raw

NEWER = [name for name in all_kinds() if name.endswith((".exr", ".avif", ".heic", ".jxl", ".jp2"))]


@pytest.mark.parametrize("name", NEWER)
@pytest.mark.parametrize("part", [0, 0.02, 0.3, 0.9, 0.999])
def test_what_is_cut_short_is_refused_in_one_sentence(tmp_path, capfd, name, part):
    data = all_kinds()[name]
    with pytest.raises(ImageFileError, match=r"\.$"):
        opened(tmp_path / name, data[: int(part * len(data))])
    assert tuple(capfd.readouterr()) == ("", "")


@pytest.mark.parametrize("name", ["L", "RGB", "I;16"])
def test_a_jpeg_2000_cut_off_between_tiles_is_refused(tmp_path, name):
    path = tmp_path / "a.jp2"
    Image.new(name, (90, 90), 99).save(path, tile_size=(32, 32))
    whole = path.read_bytes()
    assert load(path).samples.shape[:2] == (90, 90)
    *_, last = re.finditer(b"\xff\x90\0\x0a", whole)
    for at in (last.start(), last.start() + 2, len(whole) - 2):
        with pytest.raises(ImageFileError, match="cut short"):
            opened(path, whole[:at])


def test_damaged_exif_loses_no_avif(tmp_path):
    exif = Image.Exif()
    exif[271] = "Maker"
    whole = by_pillow(noise(30, 40, 3), "AVIF", exif=exif, icc_profile=P3)
    sound = opened(tmp_path / "a.avif", whole)
    picture = opened(tmp_path / "b.avif", re.sub(rb"II\*\0|MM\0\*", bytes(4), whole))
    np.testing.assert_array_equal(picture.samples, sound.samples)
    assert "Exif" in picture.notes[0]
    assert picture.notes[1:] == sound.notes


@settings(max_examples=20)
@given(st.sampled_from(NEWER), st.data())
def test_flipped_bytes_give_a_picture_or_one_sentence(tmp_path_factory, name, data):
    broken = bytearray(all_kinds()[name])
    for at in data.draw(st.lists(st.integers(0, len(broken) - 1), min_size=1, max_size=3)):
        broken[at] ^= data.draw(st.integers(1, 255))
    with suppress(ImageFileError):
        assert opened(tmp_path_factory.mktemp("flipped") / name, bytes(broken)).samples.ndim == 3


@pytest.mark.parametrize("name", NEWER)
def test_it_is_read_by_its_content_whatever_it_is_called(tmp_path, name):
    wanted = opened(tmp_path / name, all_kinds()[name])
    found = opened(tmp_path / f"{name}.png", all_kinds()[name])
    np.testing.assert_array_equal(found.samples, wanted.samples)


def test_without_its_library_a_heic_names_the_extra(tmp_path, monkeypatch):
    data = all_kinds()["rgba.heic"]
    monkeypatch.setitem(sys.modules, "pillow_heif", None)
    with pytest.raises(ImageFileError, match=r"a\.heic.*“heic”.*pillow-heif"):
        opened(tmp_path / "a.heic", data)
    with pytest.raises(ImageFileError, match="“heic”"):
        save(tmp_path / "b.heic", noise(9, 8, 3))
    assert [each.name for each in tmp_path.iterdir()] == ["a.heic"]
    other = all_kinds()["rgba.avif"].replace(b"ftypavif", b"ftypmif1")  # which needs no extra
    assert opened(tmp_path / "a.avif", other).samples.shape[2] == 4


def test_decoding_is_left_alone_once_nobody_wants_it():
    release, ended = threading.Event(), threading.Event()
    with pytest.raises(StoppedError):
        unless_stopped(lambda: (release.wait(30), ended.set()), lambda: True)
    assert not ended.is_set()
    release.set()
    assert ended.wait(30)


def test_decoding_that_nobody_wants_does_not_keep_the_program_alive():
    code = "import time; from contextlib import suppress; from workbench.files import from_pillow\n"
    code += "with suppress(from_pillow.StoppedError):\n"
    code += "    from_pillow.unless_stopped(lambda: time.sleep(3600), lambda: True)"
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


def test_a_camera_s_raw_file_is_never_its_thumbnail(tmp_path):
    thumbnail = noise(10, 10, 3)
    dng, nef = io.BytesIO(), io.BytesIO()
    tag = (50706, "B", 4, bytes((1, 4, 0, 0)), True)
    tifffile.imwrite(dng, thumbnail, photometric="rgb", extratags=[tag])
    with tifffile.TiffWriter(nef) as tiff:
        tiff.write(thumbnail, photometric="rgb", subifds=1, subfiletype=1)
        pattern = [(33421, "H", 2, (2, 2), True), (33422, "B", 4, bytes((0, 1, 1, 2)), True)]
        tiff.write(np.zeros((60, 80), np.uint16), photometric="cfa", extratags=pattern)
    plain = io.BytesIO()
    tifffile.imwrite(plain, thumbnail, photometric="rgb")
    for name, data in (
        ("a.dng", dng), ("renamed.tif", dng), ("b.tif", nef), ("c.nef", plain), ("d.ARW", plain),
        ("e.jpg", io.BytesIO(b"\0\0\0\x18ftypcrx " + bytes(64))),
        ("f.tif", io.BytesIO(b"II*\0\x10\0\0\0CR\x02\0" + bytes(64))),
        ("g", io.BytesIO(b"FUJIFILMCCD-RAW" + bytes(64))),
    ):  # fmt: skip
        with pytest.raises(ImageFileError, match=r"raw file.*save it as TIFF"):
            opened(tmp_path / name, data.getvalue())
    assert opened(tmp_path / "png.nef", by_pillow(thumbnail, "PNG")).samples.shape == (10, 10, 3)


# -- where formats are listed


def test_dialogs_options_and_sentences_follow_from_the_one_table(tmp_path):
    for extension in (".exr", ".avif", ".heic", ".jxl", ".jp2"):
        assert extension in formats.EXTENSIONS
        assert f"*{extension}" in formats.OPEN_FILTER
        assert f"*{extension}" in formats.SAVE_FILTER
        assert extension in formats.EXTENSION_OF.values()
    with pytest.raises(ImageFileError, match="OpenEXR, AVIF, HEIC, JPEG XL or JPEG 2000"):
        opened(tmp_path / "a.xyz", b"no picture at all")


def test_what_only_some_files_need_is_not_imported_before():
    code = "import sys; from workbench.files import image_decoders, image_encoders; "
    code += "print({'OpenEXR', 'pillow_heif'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"
