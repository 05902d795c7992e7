"""What a file says beside its samples is kept, applied once or said; damage there loses no picture.

Files are made byte by byte, and read again by `struct`, Pillow or tifffile, never by what wrote
them.
"""

import contextlib
import itertools
import struct
import zlib

import numpy as np
import pytest
import tifffile
from PIL import Image, IptcImagePlugin

from kernels.pictures.generated import noise
from workbench.cli.main import main
from workbench.files import colour_profiles, image_files, png
from workbench.files.image_encoders import fit_of
from workbench.files.image_files import load, save
from workbench.files.picture_errors import ImageFileError
from workbench.imaging.pictures import Metadata

EXTENSIONS = (".jpg", ".png", ".webp", ".tif")
WITH_EXIF = (*EXTENSIONS, ".avif", ".heic", ".jxl")
SAMPLES = noise(5, 8, 3)

# -- EXIF: by directory and tag the type, the number of values, and these in both orders of bytes

VALUES = {  # of the types that EXIF and TIFF have
    1: ("B", (1, 2, 250)),
    2: ("7s", (b"a\xe9\0\0b\0c",)),
    3: ("H", (1, 65535)),
    4: ("I", (1 << 31,)),
    5: ("I", (720_000, 10_000, 7, 0)),
    6: ("b", (-1, 5)),
    7: ("9s", (b"ASCII\0\0\0x",)),
    8: ("h", (-2,)),
    9: ("i", (-(1 << 30), 3)),
    10: ("i", (-1, 3)),
    11: ("f", (0.5, -3.0)),
    12: ("d", (1e300,)),
    13: ("I", (8,)),
    129: ("7s", ("Çam\0x".encode(),)),
}
MAIN = {271: 2, 18246: 3, 18249: 3, 40091: 1, 40095: 1, 33432: 2}


def field(kind, order):
    code, values = VALUES[kind]
    data = b"".join(struct.pack(order + code, value) for value in values)
    size = {2: 1, 5: 8, 7: 1, 10: 8, 129: 1}.get(kind) or struct.calcsize(code)
    return kind, len(data) // size, data


def all_fields(order):
    """Fields of every type, in the main directory, EXIF's own, GPS's and the one inside."""
    private = {60_000 + kind: field(kind, order) for kind in VALUES}
    main = {tag: field(kind, order) for tag, kind in MAIN.items()}
    return {0: main, 34665: private | {37510: field(7, order)}, 34853: private, 40965: private}


def structure(fields, order="<"):
    """These as a TIFF structure."""
    start = struct.pack(order + "2sHI", b"II" if order == "<" else b"MM", 42, 8)
    body, places = bytearray(start), {}
    inside = {0: (34665, 34853), 34665: (40965,)}
    for name in (0, 34665, 34853, 40965):
        if name not in fields:
            continue
        if name:
            struct.pack_into(order + "I", body, places[name], len(body))
        own = dict(fields[name])
        own |= {tag: (4, 1, bytes(4)) for tag in inside.get(name, ()) if tag in fields}
        at = len(body)
        body += struct.pack(order + "H", len(own)) + bytes(12 * len(own) + 4)
        for number, tag in enumerate(sorted(own)):
            kind, count, data = own[tag]
            entry = at + 2 + 12 * number
            struct.pack_into(order + "HHI", body, entry, tag, kind, count)
            places[tag] = entry + 8
            if len(data) > 4:
                struct.pack_into(order + "I", body, entry + 8, len(body))
                body += data
            else:
                body[entry + 8 : entry + 8 + len(data)] = data
    return bytes(body)


def told(data, at=None, order="<", name=0):
    """Fields by directory of a little-endian structure, as `all_fields` has them."""
    at = struct.unpack_from("<I", data, 4)[0] if at is None else at
    found, own = {}, {}
    for entry in range(at + 2, at + 2 + 12 * struct.unpack_from("<H", data, at)[0], 12):
        tag, kind, count, value = struct.unpack_from("<HHII", data, entry)
        size = count * {1: 1, 2: 1, 3: 2, 5: 8, 6: 1, 7: 1, 8: 2, 10: 8, 12: 8, 129: 1}.get(kind, 4)
        if tag in (34665, 34853, 40965):
            found |= told(data, value, name=tag)
        else:
            place = value if size > 4 else entry + 8
            own[tag] = kind, count, data[place : place + size]
    return found | {name: own}


def exif_in(path):
    """The structure in a file, found by hand."""
    data = path.read_bytes()
    if path.suffix == ".tif":
        return data
    begins = {".png": b"eXIf", ".webp": b"EXIF"}.get(path.suffix, b"Exif")
    return data[data.index(b"II*\0", data.index(begins)) :]


@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize("first", EXTENSIONS[:3])
def test_fields_of_every_type_go_through_every_format_byte_for_byte(tmp_path, first, order):
    path = tmp_path / f"source{first}"
    options = {"lossless": True} if first == ".webp" else {}
    exif = b"Exif\0\0" + structure(all_fields(order), order)
    Image.fromarray(SAMPLES).save(path, exif=exif, **options)
    wanted = all_fields("<")
    for extension in (*WITH_EXIF, *WITH_EXIF[::-1]):  # each after, and before, each next to it
        picture = load(path)
        assert picture.notes == ()
        path = tmp_path / f"a{extension}"
        save(path, picture.samples, metadata=picture.metadata)
        found = told(exif_in(path))
        assert {name: found[name] for name in (34665, 34853, 40965)} == {
            name: wanted[name] for name in (34665, 34853, 40965)
        }
        assert {tag: found[0][tag] for tag in MAIN} == wanted[0]


def test_what_a_changed_picture_cannot_keep_is_said_and_what_is_damaged_as_well(tmp_path):
    fields = {0: {274: (1, 1, b"\6"), 271: (2, 2, b"a\0")}, 34665: {37500: (7, 9, b"own notes")}}
    whole = structure(fields)
    for name, exif in (("whole", whole), ("cut", whole[:-3]), ("gone", whole[:5])):
        Image.fromarray(SAMPLES).save(tmp_path / f"{name}.png", exif=exif)
        picture = load(tmp_path / f"{name}.png")
        assert picture.samples.shape == ((5, 8, 3) if name == "gone" else (8, 5, 3))
        assert ("notes" in str(picture.notes)) == (name == "whole")
        assert ("Damaged EXIF" in str(picture.notes)) == (name != "whole")
    picture = load(tmp_path / "whole.png")
    save(tmp_path / "b.jpg", picture.samples, metadata=picture.metadata)
    assert told(exif_in(tmp_path / "b.jpg"))[0] == {274: (3, 1, b"\1\0"), 271: (2, 2, b"a\0")}


# -- resolution and IPTC


def resolution(path):
    """Pixels per inch, as Pillow or tifffile finds them."""
    if path.suffix == ".tif":
        with tifffile.TiffFile(path) as tiff:
            factor = {2: 1, 3: 2.54}[tiff.pages.first.tags.valueof(296)]
            return tuple(a / b * factor for a, b in map(tiff.pages.first.tags.valueof, (282, 283)))
    with Image.open(path) as image:
        if path.suffix == ".webp":
            factor = {2: 1, 3: 2.54}[image.getexif()[296]]
            return tuple(float(image.getexif()[tag]) * factor for tag in (282, 283))
        return image.info["dpi"]


@pytest.mark.parametrize("source", [*EXTENSIONS, ".bmp", "centimetre.tif", "exif.jpg"])
@pytest.mark.parametrize("extension", [*EXTENSIONS, ".bmp"])
def test_resolution_is_kept_in_its_unit(tmp_path, source, extension):
    path, picture = tmp_path / f"a{source}", Image.fromarray(SAMPLES)
    exif = Image.Exif()
    exif[282], exif[283], exif[296] = 300.0, 150.0, 2
    if source == "centimetre.tif":
        resolutions = {"resolution": (300 / 2.54, 150 / 2.54), "resolutionunit": 3}
        tifffile.imwrite(path, SAMPLES, photometric="rgb", **resolutions)
    elif source in (".webp", "exif.jpg"):
        picture.save(path, exif=exif)
    else:
        picture.save(path, dpi=(300, 150))
    found = load(path)
    for name in ("b", "c"):
        save(tmp_path / (name + extension), found.samples, metadata=found.metadata)
        assert resolution(tmp_path / (name + extension)) == pytest.approx((300, 150), abs=0.02)
        found = load(tmp_path / (name + extension))
    lost = fit_of(tmp_path / "a.ppm", found.samples, found.metadata).changes
    assert len(lost) == 1
    assert "resolution" in lost[0]


def test_resolution_is_read_once_and_turns_with_the_picture(tmp_path):
    exif = Image.Exif()
    exif[282], exif[283], exif[296], exif[271], exif[274] = 72.0, 72.0, 2, "a", 6
    Image.fromarray(SAMPLES).save(tmp_path / "a.jpg", exif=exif, dpi=(300, 150))
    picture = load(tmp_path / "a.jpg")
    save(tmp_path / "b.jpg", picture.samples, metadata=picture.metadata)
    assert resolution(tmp_path / "b.jpg") == (150, 300)
    found = told(exif_in(tmp_path / "b.jpg"))[0]
    assert struct.unpack("<4I", found[282][2] + found[283][2]) == (150, 1, 300, 1)
    Image.fromarray(SAMPLES).save(tmp_path / "none.png")
    assert load(tmp_path / "none.png").metadata == Metadata()


HALF_TOLD = "A resolution that says nothing was dropped."
ODD = [  # a resolution's field and unit, what comes of it, and what is said
    ((5, 1, struct.pack("<II", 300, 1)), (4, 1, struct.pack("<I", 3)), 762, ()),
    ((11, 1, struct.pack("<f", 300)), (3, 2, struct.pack("<HH", 2, 2)), 300, ()),
    ((3, 1, struct.pack("<H", 300)), (3, 1, b"\2\0"), 300, ()),
    ((5, 1, bytes(8)), (3, 1, b"\2\0"), None, (HALF_TOLD,)),
    ((5, 1, struct.pack("<II", 300, 0)), (3, 1, b"\2\0"), None, (HALF_TOLD,)),
    ((12, 1, struct.pack("<d", float("nan"))), (3, 1, b"\2\0"), None, (HALF_TOLD,)),
    ((2, 4, b"300\0"), (3, 1, b"\2\0"), None, (HALF_TOLD,)),
    ((5, 1, struct.pack("<II", 300, 1)), (3, 1, b"\7\0"), None, (HALF_TOLD,)),
    ((5, 1, struct.pack("<II", 1, 1)), (3, 1, b"\1\0"), None, ()),  # as it is told that none is
]


@pytest.mark.parametrize(("field", "unit", "per_inch", "notes"), ODD)
def test_an_odd_resolution_is_read_or_its_loss_said(tmp_path, field, unit, per_inch, notes):
    exif = structure({0: {282: field, 283: field, 296: unit}})
    Image.fromarray(SAMPLES).save(tmp_path / "a.webp", exif=exif)
    picture = load(tmp_path / "a.webp")
    assert picture.metadata.resolution == (per_inch and (per_inch, per_inch))
    assert picture.notes == notes
    save(tmp_path / "b.tif", picture.samples, metadata=picture.metadata)
    assert load(tmp_path / "b.tif").notes == ()


def test_damage_in_one_directory_is_said_once_and_loses_no_other(tmp_path):
    whole = structure({0: {271: (2, 2, b"a\0")}, 34665: {}, 34853: {1: (2, 2, b"N\0")}})
    at = whole.index(struct.pack("<HHI", 34665, 4, 1)) + 8
    for pointer in (len(whole) + 99, len(whole) - 3):
        broken = whole[:at] + struct.pack("<I", pointer) + whole[at + 4 :]
        Image.fromarray(SAMPLES).save(tmp_path / "a.png", exif=broken)
        picture = load(tmp_path / "a.png")
        assert picture.notes == ("Damaged EXIF data were dropped.",)
        kept = told(picture.metadata.exif)
        assert (kept[0][271], kept[34853][1]) == ((2, 2, b"a\0"), (2, 2, b"N\0"))


IPTC = b"\x1c\x02\x78\0\5a day\x1c\x02\x50\0\2me"
BLOCK = b"8BIM\x04\x04\0\0" + struct.pack(">I", len(IPTC)) + IPTC + b"\0"


@pytest.mark.parametrize("extension", EXTENSIONS)
def test_iptc_is_kept_where_a_format_has_a_place_for_it(tmp_path, extension):
    inside = BLOCK[:8] + struct.pack(">I", 4) + b"none"  # of a resource, which is none itself
    before = b"8BIM\x03\xed\0\0" + struct.pack(">I", len(inside)) + inside
    named = BLOCK[:6] + b"\4name\0" + BLOCK[8:]
    segments = b"Adobe_CM\0\1", b"Photoshop 3.0\0" + before + named
    extra = b"".join(struct.pack(">BBH", 0xFF, 0xED, len(each) + 2) + each for each in segments)
    Image.fromarray(SAMPLES).save(tmp_path / "a.jpg", extra=extra)
    picture, path = load(tmp_path / "a.jpg"), tmp_path / f"b{extension}"
    assert fit_of(path, picture.samples, picture.metadata).is_exact == (extension != ".webp")
    save(path, picture.samples, metadata=picture.metadata)
    assert load(path).metadata.iptc == (None if extension == ".webp" else IPTC)
    with Image.open(path) as image:
        if extension == ".png":
            raw = f"Raw profile type iptc\0\niptc\n{len(IPTC)}\n{IPTC.hex()}".encode()
            assert loaded(tmp_path, png_of([(b"tEXt", raw)])).metadata.iptc == IPTC
            words = image.info["Raw profile type iptc"].split()
            assert (words[0], bytes.fromhex("".join(words[2:]))) == ("iptc", BLOCK)
        elif extension != ".webp":
            assert IptcImagePlugin.getiptcinfo(image) == {(2, 120): b"a day", (2, 80): b"me"}
    if extension == ".tif":  # as Photoshop has them, and as a Mac did
        for tag, kind, data in ((34377, "B", BLOCK), (33723, "I", IPTC.ljust(20, b"\0"))):
            for order in "<>":
                tags = [(tag, kind, len(data) // struct.calcsize(kind), data, True)]
                how = {"photometric": "rgb", "byteorder": order, "extratags": tags}
                tifffile.imwrite(path, SAMPLES, **how)
                assert load(path).metadata.iptc.rstrip(b"\0") == IPTC


def test_a_name_of_a_program_alone_is_no_loss(tmp_path, capsys):
    tifffile.imwrite(tmp_path / "a.tif", SAMPLES, photometric="rgb", software="x")
    how = ["--filter", "identity", "--size", "3", "--no-gpu"]
    assert main(["apply", str(tmp_path / "a.tif"), str(tmp_path / "b.bmp"), *how]) == 0
    assert fit_of(tmp_path / "c.png", SAMPLES, load(tmp_path / "a.tif").metadata).is_exact


def test_nor_is_exif_on_how_samples_are_stored(tmp_path):
    exif = Image.Exif()
    exif.get_ifd(34665).update({36864: b"0230", 37121: b"\1\2\3\0", 40961: 1, 40962: 8, 40963: 5})
    for is_more in (False, True):
        exif.get_ifd(34665).update({33434: 0.5} if is_more else {})
        Image.fromarray(SAMPLES).save(tmp_path / "a.jpg", exif=exif)
        metadata = load(tmp_path / "a.jpg").metadata
        assert fit_of(tmp_path / "b.bmp", SAMPLES, metadata).is_exact != is_more


# -- PNG: what is damaged beside the samples, and of them


def png_of(chunks=(), samples=SAMPLES, after=(), colour_type=2, more=b""):
    """A PNG, chunks as (kind, data), in front of the samples and behind them."""
    bits = 8 * samples.itemsize
    rows = samples.astype(samples.dtype.newbyteorder(">")).reshape(len(samples), -1)
    packed = zlib.compress(b"".join(b"\0" + row.tobytes() for row in rows))
    header = struct.pack(">IIBBBBB", samples.shape[1], len(samples), bits, colour_type, 0, 0, 0)
    all_chunks = [(b"IHDR", header), *chunks, (b"IDAT", packed), *after, (b"IEND", b"")]
    return png.SIGNATURE + b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        for kind, data in all_chunks
    )


def loaded(tmp_path, data, name="a.png"):
    (tmp_path / name).write_bytes(data)
    return load(tmp_path / name)


SIDE = {
    **{b"gAMA": bytes(4), b"cHRM": bytes(32), b"sRGB": b"\0", b"pHYs": bytes(9), b"cICP": bytes(4)},
    **{b"tRNS": b"\0\1\0\2\0\3", b"tEXt": b"a\0b", b"zTXt": b"a\0\0" + zlib.compress(b"b")},
    **{b"iTXt": b"a\0\0\0\0\0b", b"eXIf": structure({0: {}}), b"acTL": b"\0\0\0\1\0\0\0\0"},
    **{b"iCCP": b"a\0\0" + zlib.compress(b"b"), b"prIv": b"own"},
}
SHORT = {kind: SIDE[kind][:-1] for kind in (b"gAMA", b"cHRM", b"sRGB", b"pHYs", b"cICP", b"tRNS")}
SHORT |= {b"iCCP": b"a\0\1abc", b"zTXt": b"a\0\1abc"}
SHORT |= {b"cLLI": bytes(7), b"mDCV": b"a", b"bKGD": b"\1", b"sPLT": b"a"}
SHORT |= {b"tEXt": b"no end", b"iTXt": b"a\0\1\0\0\0no"}
RUBBISH = [(b"zTXt", b"a\0\0no"), (b"zTXt", b"a\0\0" + zlib.compress(b"cut" * 99)[:-9])]
for each in (b"no", b"\nexif\n 9\nzz", b"\nexif\n 2\n6e6f"):
    RUBBISH.append((b"tEXt", b"Raw profile type exif\0" + each))
SOUND = [(b"bKGD", bytes(6)), (b"mDCV", bytes(24)), (b"cLLI", bytes(8)), (b"oFFs", bytes(9))]
SOUND[3:3] = [(b"sPLT", b"a\0\x08" + bytes(6))]
SOUND += [(b"sCAL", b"\x012.5\0003"), (b"caBX", b"\0\0\0\x08jumb")]


@pytest.mark.parametrize("dtype", ["uint8", "uint16"])
def test_damage_beside_the_samples_of_a_png_is_left_out_and_said(tmp_path, dtype):
    samples = noise(5, 8, 3, dtype)
    for kind, data in SIDE.items():
        whole = png_of([(kind, data)], samples)
        end = whole.index(kind) + 4 + len(data)
        picture = loaded(tmp_path, whole[:end] + bytes(4) + whole[end + 4 :])
        np.testing.assert_array_equal(picture.samples, samples)
        assert kind.decode() in picture.notes[0]
    for kind, data in SHORT.items():
        picture = loaded(tmp_path, png_of([(kind, data)], samples))
        np.testing.assert_array_equal(picture.samples, samples)
        assert kind.decode() in picture.notes[0]
    for text in (*RUBBISH, (b"tEXt", b"Raw profile type exif\0" + RAW[:-8])):
        picture = loaded(tmp_path, png_of([text], samples))
        np.testing.assert_array_equal(picture.samples, samples)
        assert len(picture.notes) == 1
    kept = [(b"tIME", bytes(7)), (b"sBIT", bytes(3)), (b"hIST", bytes(4))]
    assert loaded(tmp_path, png_of(kept, samples)).notes == ()
    said = "Left out when saving: what the PNG says in bKGD, mDCV, cLLI, sPLT, oFFs, sCAL, caBX."
    assert loaded(tmp_path, png_of(SOUND * 2, samples)).notes == (said,)
    xmp = b"XML:com.adobe.xmp\0\0\0\0\0" + b" " * (1 << 24) + AS_XMP[0].encode()
    for chunk, said in (
        ((b"pHYs", b"\0\0\0\1\0\0\0\2\0"), "square"),
        ((b"iTXt", xmp), "over 16 MiB"),
    ):
        assert said in loaded(tmp_path, png_of([chunk], samples)).notes[-1]
    words = (b"dpi", b"gamma", b"xmp", b"cicp", b"chromaticity", b"icc_profile", b"exif")
    assert loaded(tmp_path, png_of([(b"tEXt", word + b"\0a") for word in words])).notes == ()
    large = zlib.compress(b"b" * (3 << 20))
    for chunks in ([(b"zTXt", b"a\0\0" + large)], [(b"tEXt", b"a\0" + b"b" * (2 << 20))]):
        picture = loaded(tmp_path, png_of(chunks, samples))
        np.testing.assert_array_equal(picture.samples, samples)
        assert picture.notes == ()


@pytest.mark.parametrize("kind", [b"IHDR", b"PLTE", b"IDAT"])
def test_a_checksum_of_samples_that_is_wrong_refuses_the_picture(tmp_path, kind):
    indices = np.zeros((5, 8), np.uint8)
    whole = png_of([(b"PLTE", bytes(range(6)))], indices, colour_type=3)
    assert loaded(tmp_path, whole).samples[0, 0].tolist() == [0, 1, 2]
    at = whole.index(kind)
    end = at + 4 + int.from_bytes(whole[at - 4 : at], "big")
    with pytest.raises(ImageFileError, match="damaged"):
        loaded(tmp_path, whole[:end] + bytes(4) + whole[end + 4 :])


XMP = (
    '<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF '
    'xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"><rdf:Description '
    'xmlns:tiff="http://ns.adobe.com/tiff/1.0/" {}</rdf:Description></rdf:RDF></x:xmpmeta>'
)
AS_XMP = tuple(
    XMP.format(each)
    for each in ('tiff:Orientation = "6">', "><tiff:Orientation>6</tiff:Orientation>")
)
# By another prefix of the same namespace, in a language, and in UTF-16.
OTHER_XMP = (
    AS_XMP[0].replace("tiff:", "ns1:").replace(":tiff", ":ns1"),
    AS_XMP[1].replace("<tiff:Orientation>", "<tiff:Orientation xml:lang='x-default'>"),
    AS_XMP[1].encode("utf-16"),
)
TURN = {0: {274: (3, 1, b"\6\0")}}
STORED = b"Exif\0\0" + structure(TURN)
RAW = f'\nexif\n{len(STORED)}\n{STORED.hex()}\n"!'.encode()  # with rubbish behind it
TURNED_BY = {
    "eXIf": (b"eXIf", structure(TURN)),
    "eXIf as a JPEG has it": (b"eXIf", STORED),
    "a raw profile": (b"tEXt", b"Raw profile type exif\0" + RAW),
    "a packed one": (b"zTXt", b"Raw profile type APP1\0\0" + zlib.compress(RAW)),
    "an attribute": (b"iTXt", b"XML:com.adobe.xmp\0\0\0\0\0" + AS_XMP[0].encode()),
    "a plain text": (b"tEXt", b"XML:com.adobe.xmp\0" + AS_XMP[0].encode()),
    "an element": (b"iTXt", b"XML:com.adobe.xmp\0\1\0\0\0" + zlib.compress(AS_XMP[1].encode())),
}


@pytest.mark.parametrize("dtype", ["uint8", "uint16"])
@pytest.mark.parametrize("place", TURNED_BY)
def test_a_png_is_turned_once_from_wherever_it_says_so(tmp_path, place, dtype):
    samples = noise(5, 8, 3, dtype)
    for where in ("chunks", "after"):
        picture = loaded(tmp_path, png_of(samples=samples, **{where: [TURNED_BY[place]]}))
        np.testing.assert_array_equal(picture.samples, np.rot90(samples, -1))
        save(tmp_path / "b.png", picture.samples, metadata=picture.metadata)
        np.testing.assert_array_equal(load(tmp_path / "b.png").samples, picture.samples)


@pytest.mark.parametrize("extension", [".jpg", ".webp", ".tif"])
@pytest.mark.parametrize("packet", AS_XMP + OTHER_XMP)
def test_so_are_others_by_xmp_alone(tmp_path, extension, packet):
    path = tmp_path / f"a{extension}"
    packet = packet.encode() if isinstance(packet, str) else packet
    if extension == ".tif":
        tags = [(700, "B", len(packet), packet, True)]
        tifffile.imwrite(path, SAMPLES, photometric="rgb", metadata=None, extratags=tags)
    else:
        Image.fromarray(SAMPLES).save(path, xmp=packet)
    assert load(path).samples.shape == (8, 5, 3)


# -- colours


def srgb(light):
    light = np.clip(light, 0, 1)
    return np.where(light <= 0.0031308, 12.92 * light, 1.055 * light ** (1 / 2.4) - 0.055)


def linear(encoded):
    return np.where(encoded <= 0.04045, encoded / 12.92, ((encoded + 0.055) / 1.055) ** 2.4)


def matrix(points):
    """From RGB of these primaries, (x, y) of white, red, green, blue, to XYZ."""
    xyz = np.array([(x / y, 1, (1 - x - y) / y) for x, y in points]).T
    return xyz[:, 1:] * np.linalg.solve(xyz[:, 1:], xyz[:, 0])


D65 = (0.3127, 0.329)
SRGB = D65, (0.64, 0.33), (0.3, 0.6), (0.15, 0.06)
P3 = D65, (0.68, 0.32), (0.265, 0.69), (0.15, 0.06)
BT_2020 = D65, (0.708, 0.292), (0.17, 0.797), (0.131, 0.046)


def gamma_chunk(gamma):
    return b"gAMA", struct.pack(">I", round(gamma * 1e5))


def points_chunk(points):
    return b"cHRM", struct.pack(">8I", *(round(each * 1e5) for each in np.ravel(points)))


IN_ADOBE_RGB = {34665: {40961: (3, 1, b"\xff\xff")}, 40965: {1: (2, 4, b"R03\0")}}
ADOBE_RGB = b"eXIf", structure({0: {}} | IN_ADOBE_RGB)  # as a camera says it
COLOURS = {  # chunks, primaries, and how a sample becomes light
    "linear": ([gamma_chunk(1)], SRGB, lambda v: v),
    "gamma 1.8": ([gamma_chunk(1 / 1.8)], SRGB, lambda v: v**1.8),
    "P3": ([gamma_chunk(1 / 2.2), points_chunk(P3)], P3, lambda v: v**2.2),
    "cICP P3": ([(b"cICP", b"\x0c\x0d\0\1"), gamma_chunk(1)], P3, linear),
    "cICP linear": ([(b"cICP", b"\x01\x08\0\1")], SRGB, lambda v: v),
    "cICP 2020": ([(b"cICP", b"\x09\x0d\0\1")], BT_2020, linear),
    "cICP sRGB": ([(b"cICP", b"\x01\x0d\0\1"), gamma_chunk(1)], SRGB, linear),
    "usual": ([gamma_chunk(0.45455), points_chunk(SRGB)], SRGB, linear),
    "sRGB first": ([(b"sRGB", b"\0"), gamma_chunk(1)], SRGB, linear),
    "sRGB, not EXIF": ([(b"sRGB", b"\0"), ADOBE_RGB], SRGB, linear),
    "Adobe RGB": ([ADOBE_RGB], (D65, (0.64, 0.33), (0.21, 0.71), (0.15, 0.06)), lambda v: v**2.2),
}


@pytest.mark.parametrize("dtype", ["uint8", "uint16"])
@pytest.mark.parametrize("name", COLOURS)
def test_colours_that_chunks_describe_become_srgb(tmp_path, name, dtype):
    chunks, points, light = COLOURS[name]
    white = np.iinfo(dtype).max
    samples = np.stack(np.meshgrid(*[np.linspace(0.2, 0.8, 6) * white] * 3), -1).reshape(6, 36, 3)
    samples = samples.astype(dtype)
    rgb = light(samples / white) @ (np.linalg.inv(matrix(SRGB)) @ matrix(points)).T
    picture = loaded(tmp_path, png_of(chunks, samples))
    inside = (rgb >= 0).all(axis=2) & (rgb <= 1).all(axis=2)
    wrong = np.abs(picture.samples / white - srgb(rgb))[inside]
    assert wrong.max() < 2 / 255
    assert len(picture.notes) == (name not in ("cICP sRGB", "usual") and name[:4] != "sRGB")
    if ADOBE_RGB in chunks:
        kept = told(picture.metadata.exif)
        assert (kept[34665][40961][2], kept[40965][1][2]) == (b"\1\0", b"R98\0")
    if not picture.notes:
        np.testing.assert_array_equal(picture.samples, samples)


def test_grey_is_converted_as_well_and_what_cannot_be_is_said(tmp_path):
    grey = np.arange(0, 250, 10, dtype=np.uint8).reshape(5, 5, 1)
    found = loaded(tmp_path, png_of([gamma_chunk(1)], grey, colour_type=0)).samples
    assert np.abs(found / 255 - srgb(grey / 255)).max() < 1 / 255
    for chunk in (gamma_chunk(0), points_chunk([(0, 0)] * 4), points_chunk([(0.3, 0.3)] * 4)):
        picture = loaded(tmp_path, png_of([chunk]))
        np.testing.assert_array_equal(picture.samples, SAMPLES)
        assert "as if they were sRGB" in picture.notes[0]
    unknown = {"\x09\x10\0\1": "PQ", "\x09\x12\0\1": "HLG", "\x63\x0d\0\1": "99"}
    for coded, word in {**unknown, "\x01\x0d\0\0": "in a narrow range"}.items():
        picture = loaded(tmp_path, png_of([(b"cICP", coded.encode())]))
        np.testing.assert_array_equal(picture.samples, SAMPLES)
        assert word in picture.notes[0]


@pytest.mark.parametrize("dtype", ["uint8", "uint16"])
def test_a_tiff_says_its_colours_in_tags_as_well(tmp_path, dtype):
    samples = noise(5, 8, 3, dtype)
    white = float(np.iinfo(dtype).max)
    ramp = np.arange(int(white) + 1, dtype=np.uint16) * (65535 // int(white))
    tags = [(301, "H", ramp.size, ramp, True)]  # light by value: as much as there is
    tifffile.imwrite(tmp_path / "a.tif", samples, photometric="rgb", extratags=tags)
    found = load(tmp_path / "a.tif")
    assert found.notes == ("Converted from a curve of its own to sRGB.",)
    expected = srgb(samples / white) * white
    np.testing.assert_allclose(found.samples, expected, atol=white / 200)
    points = [(700, 1000), (300, 1000), (200, 1000), (700, 1000), (100, 1000), (50, 1000)]
    tags = [(319, "2I", 6, [n for each in points for n in each], True)]
    tifffile.imwrite(tmp_path / "b.tif", samples, photometric="rgb", extratags=tags)
    assert "primaries of its own" in load(tmp_path / "b.tif").notes[0]
    assert (load(tmp_path / "b.tif").samples != samples).any()


def test_a_profile_is_found_behind_a_jpegs_header_and_in_a_gif(tmp_path):
    icc = colour_profiles.adobe_rgb()[0]
    Image.fromarray(SAMPLES).save(tmp_path / "a.jpg", icc_profile=icc)
    early = load(tmp_path / "a.jpg")
    data = (tmp_path / "a.jpg").read_bytes()
    at = data.index(b"\xff\xe2")
    end = at + 2 + int.from_bytes(data[at + 2 : at + 4])
    scan = data.index(b"\xff\xda")
    late = loaded(tmp_path, data[:at] + data[end:scan] + data[at:end] + data[scan:], "b.jpg")
    np.testing.assert_array_equal(late.samples, early.samples)
    Image.fromarray(SAMPLES).quantize(40).save(tmp_path / "a.gif")
    raw = f"\nicc\n{len(icc):8}\n{icc.hex()}\n".encode()
    raw = (b"zTXt", b"Raw profile type icc\0\0" + zlib.compress(raw))
    assert loaded(tmp_path, png_of([raw])).notes == early.notes
    gif = load(tmp_path / "a.gif")
    data = (tmp_path / "a.gif").read_bytes()
    parts = [icc[at : at + 255] for at in range(0, len(icc), 255)]
    packed = b"".join(bytes([len(each)]) + each for each in parts) + b"\0"
    xmp = b"!\xff\x0bXMP DataXMP" + AS_XMP[0].encode() + b"\1" + bytes(range(255, -1, -1)) + b"\0"
    at = 13 + 3 * (2 << (data[10] & 7))
    told = data[:at] + b"!\xff\x0bICCRGBG1012" + packed + xmp + data[at:]
    found = loaded(tmp_path, told, "b.gif")
    assert found.notes[1].endswith("to sRGB.")
    assert found.samples.shape == (8, 5, 3)
    assert (np.rot90(found.samples) != gif.samples).any()


def test_colours_that_are_not_converted_are_said(tmp_path):
    save(tmp_path / "a.jp2", SAMPLES)
    data = (tmp_path / "a.jp2").read_bytes()
    at = data.index(b"colr\1") + 7
    assert loaded(tmp_path, data, "b.jp2").notes == ()
    named = data[:at] + struct.pack(">I", 21) + data[at + 4 :]
    said = "Colours of ROMM RGB are shown as if they were sRGB."
    assert loaded(tmp_path, named, "b.jp2").notes == (said,)
    save(tmp_path / "a.avif", SAMPLES)
    bare = (tmp_path / "a.avif").read_bytes().replace(b"colr", b"free")
    assert "as if they were sRGB" in loaded(tmp_path, bare, "b.avif").notes[0]
    save(tmp_path / "a.heic", SAMPLES)
    bare = (tmp_path / "a.heic").read_bytes().replace(b"colr", b"free")
    said = "Colours of a HEIC that names none outside HEVC are shown as if they were sRGB."
    assert loaded(tmp_path, bare, "b.heic").notes == (said,)


def test_what_boxes_of_a_jpeg_2000_say_is_kept(tmp_path):
    save(tmp_path / "a.jp2", SAMPLES)
    data = (tmp_path / "a.jp2").read_bytes()
    exif = b"JpgTiffExif->JP2" + structure(TURN | {34853: {1: (2, 2, b"N\0")}})
    xmp = bytes.fromhex("be7acfcb97a942e89c71999491e3afac") + AS_XMP[0].encode()
    for content in (exif, xmp):
        box = struct.pack(">I4s", len(content) + 8, b"uuid") + content
        found = loaded(tmp_path, data + box, "b.jp2")
        np.testing.assert_array_equal(found.samples, np.rot90(SAMPLES, -1))
        assert (found.metadata.exif is not None) == (content is exif)
    res = struct.pack(">I4sI4sHHHHbb", 26, b"res ", 18, b"resc", 11811, 1, 11811, 1, 0, 0)
    at = data.index(b"jp2h") - 4
    end = at + int.from_bytes(data[at : at + 4])
    head = struct.pack(">I", end - at + len(res)) + data[at + 4 : end]
    found = loaded(tmp_path, data[:at] + head + res + data[end:], "b.jp2")
    assert found.metadata.resolution == (300, 300)


def test_a_usual_picture_that_is_called_raw_is_read_and_one_that_has_gone_is_missed(
    tmp_path, monkeypatch
):
    for extension in (".ppm", ".tif"):
        save(tmp_path / f"a{extension}", SAMPLES)
        (tmp_path / f"a{extension}").rename(tmp_path / "b.raw")
        np.testing.assert_array_equal(load(tmp_path / "b.raw").samples, SAMPLES)
    monkeypatch.setattr(image_files, "_check_readable", lambda path: path.unlink())
    with pytest.raises(ImageFileError, match="moved or removed meanwhile"):
        load(tmp_path / "b.raw")


def bmp(bits, rows, packing=0, kind=b"BGRs", gammas=bytes(12), icc=b"", palette=b""):
    """A BMP of version 5, five pixels wide and three high."""
    start = 14 + 124 + len(palette)
    size = struct.pack("<IiiHHIIiiII", 124, 5, 3, 1, bits, packing, len(rows), 0, 0, 0, 0)
    colours = bytes(16) + kind + bytes(36) + gammas
    end = struct.pack("<IIII", 4, start - 14 + len(rows), len(icc), 0)
    head = b"BM" + struct.pack("<IHHI", start + len(rows) + len(icc), 0, 0, start)
    return head + size + colours + end + palette + rows + icc


def test_profiles_in_a_bmp_are_honoured_or_said(tmp_path):
    rows = b"".join(bytes(range(start, start + 15)) + b"\0" for start in (90, 60, 30))
    plain = loaded(tmp_path, bmp(24, rows), "a.bmp")
    assert plain.notes == ()
    icc = colour_profiles.calibrated(1.0, None)[0]
    found = loaded(tmp_path, bmp(24, rows, kind=b"DEBM", icc=icc), "a.bmp")
    assert np.abs(found.samples / 255 - srgb(plain.samples / 255)).max() < 2 / 255
    for kind, gammas in ((b"KNIL", bytes(12)), (bytes(4), struct.pack("<3I", *[1 << 16] * 3))):
        picture = loaded(tmp_path, bmp(24, rows, kind=kind, gammas=gammas), "a.bmp")
        np.testing.assert_array_equal(picture.samples, plain.samples)
        assert "as if they were sRGB" in picture.notes[0]


PALETTE = b"".join(bytes((n, 2 * n, 255 - n, 0)) for n in range(16))
RUNS = {  # from the bottom up
    8: bytes.fromhex("0006010203040506 0000 0507 0000 0509 0000 0001".replace(" ", "")),
    4: bytes.fromhex("0006123456 00 0000 0877 0000 0002 0200 0399 0000 0001".replace(" ", "")),
}
SEEN = {8: [[9] * 5, [7] * 5, [1, 2, 3, 4, 5]], 4: [[0, 0, 9, 9, 9], [7] * 5, [1, 2, 3, 4, 5]]}


@pytest.mark.parametrize("bits", RUNS)
def test_runs_past_the_end_of_a_row_end_with_it(tmp_path, bits):
    packing = {8: 1, 4: 2}[bits]
    file = bmp(bits, RUNS[bits], packing, palette=PALETTE.ljust(4 << bits, b"\0"))
    blue = np.array([PALETTE[4 * n + 2] for n in np.ravel(SEEN[bits])]).reshape(3, 5)
    np.testing.assert_array_equal(loaded(tmp_path, file, "a.bmp").samples[..., 0], blue)
    with pytest.raises(ImageFileError, match="cut short"):
        loaded(tmp_path, bmp(bits, RUNS[bits][:5], packing, palette=bytes(4 << bits)), "a.bmp")
    asked = []
    for runs in (RUNS[bits], b"\0\1"):  # of two ends of rows, and of none
        file, times = bmp(bits, runs, packing, palette=PALETTE.ljust(4 << bits, b"\0")), []
        (tmp_path / "a.bmp").write_bytes(file)
        load(tmp_path / "a.bmp", is_stopped=lambda times=times: bool(times.append(1)))
        asked.append(len(times))
    assert asked[0] >= asked[1] + 2


@pytest.mark.parametrize("bits", RUNS)
def test_short_runs_side_by_side_are_spelled(tmp_path, bits):
    rows = ((1, 0x12), (3, 0x34), (1, 0x56)), ((2, 0x78), (3, 0x9A)), ((5, 0xBC),)
    data = b"".join(bytes(itertools.chain(*row)) + b"\0\0" for row in rows[::-1]) + b"\0\1"
    halves = [[(v >> 4, v & 15)[n % 2] for c, v in row for n in range(c)] for row in rows]
    whole = [[v % 16 for c, v in row for _ in range(c)] for row in rows]
    data = data if bits == 4 else bytes(each & 15 for each in data)
    file = bmp(bits, data, {8: 1, 4: 2}[bits], palette=PALETTE.ljust(4 << bits, b"\0"))
    blue = 255 - np.array(halves if bits == 4 else whole)
    np.testing.assert_array_equal(loaded(tmp_path, file, "a.bmp").samples[..., 0], blue)


BMP_COLOURS = [(10 * n + 1, 20 * n % 256, 255 - n) for n in range(16)]


def rare_bmp(size, bits, packing=0, rows=None):
    """A BMP with a header of `size` bytes, and the colours of its 3 rows of 5 pixels."""
    count = min(1 << bits, 16)
    indices = np.arange(15).reshape(3, 5) % count
    stored = b""
    for row in indices[::-1]:
        if bits == 24:
            data = b"".join(bytes(BMP_COLOURS[n][::-1]) for n in row)
        else:
            words = "".join(f"{n:0{bits}b}" for n in row)
            data = int(words.ljust(-(-len(words) // 8) * 8, "0"), 2).to_bytes(-(-len(words) // 8))
        stored += data.ljust((5 * bits + 31) // 32 * 4, b"\0")
    stored = stored if rows is None else rows
    end = b"" if size == 12 else b"\0"
    palette = b"".join(bytes(each[::-1]) + end for each in BMP_COLOURS[: count if bits < 9 else 0])
    header = struct.pack("<IHHHH", 12, 5, 3, 1, bits)
    if size > 12:
        numbers = len(stored), 0, 0, count if bits < 9 and count < 1 << bits else 0, 0
        header = struct.pack("<IIIHHIIIIII", size, 5, 3, 1, bits, packing, *numbers)
    start = 14 + size + len(palette)
    head = b"BM" + struct.pack("<IHHI", start + len(stored), 0, 0, start)
    return head + header.ljust(64, b"\0")[:size] + palette + stored, np.array(BMP_COLOURS)[indices]


@pytest.mark.parametrize("size", [12, 16, 20, 24, 40, 48, 52, 56, 64])
@pytest.mark.parametrize("bits", [1, 2, 4, 8, 24])
def test_a_bmp_with_a_header_of_any_length_is_read(tmp_path, size, bits):
    file, expected = rare_bmp(size, bits)
    np.testing.assert_array_equal(loaded(tmp_path, file, "a.bmp").samples, expected)


@pytest.mark.parametrize(
    ("size", "bits", "packing", "said"),
    [
        (64, 24, 4, "of 24-bit pixels, in runs"),
        (64, 1, 3, "of 1-bit pixels, packed as a fax"),
        (40, 24, 4, "with a JPEG in it"),
        (40, 24, 5, "with a PNG in it"),
        (40, 32, 11, "of inks"),
        (40, 64, 0, "of 64-bit pixels,"),
        (40, 8, 9, "packed by method 9"),
    ],
)
def test_a_bmp_of_another_kind_is_refused_by_its_name(tmp_path, size, bits, packing, said):
    file, _ = rare_bmp(size, min(bits, 24), packing, bytes(99))
    file = file[:28] + bytes([bits]) + file[29:]
    with pytest.raises(ImageFileError, match=f"a BMP .*{said}.* does not read; save it as TIFF"):
        loaded(tmp_path, file, "a.bmp")


def test_a_sound_profile_is_better_than_codes_that_are_none(tmp_path):
    icc = colour_profiles.calibrated(1.0, None)[0]
    told = [(b"iCCP", b"icc\0\0" + zlib.compress(icc)), (b"cICP", b"\x09\x10\0\1")]
    picture, alone = loaded(tmp_path, png_of(told)), loaded(tmp_path, png_of(told[:1]))
    assert picture.notes == alone.notes
    np.testing.assert_array_equal(picture.samples, alone.samples)
    assert not np.array_equal(picture.samples, SAMPLES)


def test_a_length_of_thousands_of_digits_loses_no_picture(tmp_path):
    text = b"Raw profile type exif\0\nexif\n" + b"1" * 5000 + b"\n00\n"
    np.testing.assert_array_equal(loaded(tmp_path, png_of([(b"tEXt", text)])).samples, SAMPLES)


def test_chunks_of_no_name_and_what_is_behind_the_end_lose_no_picture(tmp_path):
    picture = loaded(tmp_path, png_of([(b"\xff\xfe\xfd\xfc", b"a")]) + b"JUNK" * 9)
    np.testing.assert_array_equal(picture.samples, SAMPLES)
    assert len(picture.notes) == 1


def test_what_no_saved_file_says_is_named_once(tmp_path):
    Image.fromarray(SAMPLES).save(tmp_path / "a.jpg")
    whole = (tmp_path / "a.jpg").read_bytes()
    told = (0xEB, b"JP\0\1jumb"), (0xE2, b"FPXR\0\0"), (0xEA, b"\1\2"), (0xEB, b"JP\0\1jumb")
    told += (0xE2, b"MPF\0"), (0xED, b"Adobe_CM\0\1")  # but how samples are stored
    extra = b"".join(struct.pack(">BBH", 255, kind, len(data) + 2) + data for kind, data in told)
    picture = loaded(tmp_path, whole[:2] + extra + whole[2:], "b.jpg")
    assert picture.notes == (
        "Left out when saving: what the JPEG says in APP11 JP, APP2 FPXR, APP10.",
    )
    Image.fromarray(SAMPLES).save(tmp_path / "a.webp", lossless=True)
    whole = (tmp_path / "a.webp").read_bytes() + b"C2PA\3\0\0\0abc\0"
    whole = whole[:4] + struct.pack("<I", len(whole) - 8) + whole[8:]
    assert loaded(tmp_path, whole, "b.webp").notes[-1].endswith("in C2PA.")
    Image.fromarray(SAMPLES[..., 0]).save(tmp_path / "a.gif", comment=b"kept")
    whole = (tmp_path / "a.gif").read_bytes()
    at = whole.index(b"!\xfe")
    more = b"!\xff\x0bMGK8BIM0000\2!,\0" + b"!\x01\x0c" + bytes(12) + b"\1a\0"
    picture = loaded(tmp_path, whole[:at] + more + whole[at:], "b.gif")
    assert picture.notes[1:] == ("Left out when saving: what the GIF says in MGK8BIM0000, text.",)
    assert picture.metadata.texts == (("Comment", "kept"),)
    for extension in (".jp2", ".jxl", ".avif", ".heic"):
        save(tmp_path / f"a{extension}", SAMPLES)
        whole = (tmp_path / f"a{extension}").read_bytes()
        assert load(tmp_path / f"a{extension}").notes == ()
        picture = loaded(tmp_path, whole + b"\0\0\0\x0bjumbabc", f"b{extension}")
        assert picture.notes[-1].endswith("says in jumb.")
    tags = [(286, 5, 1, (1, 1), True), (287, 5, 1, (1, 1), True), (337, 2, 0, "x", True)]
    tifffile.imwrite(tmp_path / "a.tif", SAMPLES, photometric="rgb", extratags=tags, metadata=None)
    said = "Left out when saving: what programs note (XPosition, YPosition, TargetPrinter)."
    assert load(tmp_path / "a.tif").notes == (said,)


def test_xmp_of_unknown_namespaces_is_said(tmp_path):
    kept = 'xmlns:xmp="http://ns.adobe.com/xap/1.0/" xmlns:own="http://example.org/own/" '
    silent = 'xmlns:crs="http://ns.adobe.com/camera-raw-settings/1.0/" crs:Tint="1" '
    more = silent + 'xmp:Rating="3" own:Mark="a"><own:Place>b</own:Place>'
    packet = XMP.format(kept + more).encode()
    picture = loaded(tmp_path, png_of([(b"iTXt", b"XML:com.adobe.xmp\0\0\0\0\0" + packet)]))
    assert picture.notes == ("Left out when saving: XMP of http://example.org/own/.",)
    assert b'Rating="3"' in picture.metadata.xmp
    assert b"own" not in picture.metadata.xmp


SEGMENTS = [  # that are too short, and what is said
    (0xE0, b"JFIF\0", "RGB", "APP0"),
    (0xEE, b"Adobe", "RGB", "APP14"),
    (0xE2, b"ICC_PROFILE\0", "RGB", "profile"),
    (0xE2, b"ICC_PROFILE\0\1\2" + colour_profiles.profile_for(3)[:300], "RGB", "profile"),
    (0xE2, b"ICC_PROFILE\0\1\2" + bytes(300), "CMYK", "without"),
    *((0xED, data, "RGB", "Photoshop") for data in (b"Photosh", b"Photoshop 3.0\0" + BLOCK[:5])),
    (0xED, b"Photoshop 3.0\0" + BLOCK[:-4], "RGB", "Photoshop"),
    (0xE1, b"http://ns.adobe.com/xmp/extension/\0a", "RGB", "extended XMP"),
]


@pytest.mark.parametrize(("marker", "data", "mode", "said"), SEGMENTS)
def test_a_segment_of_a_jpeg_that_is_too_short_is_left_out_and_said(
    tmp_path, marker, data, mode, said
):
    Image.fromarray(SAMPLES).convert(mode).save(tmp_path / "a.jpg", quality=95)
    whole = (tmp_path / "a.jpg").read_bytes()
    segment = struct.pack(">BBH", 255, marker, len(data) + 2) + data
    picture = loaded(tmp_path, whole[:2] + segment + whole[2:])
    np.testing.assert_array_equal(picture.samples, load(tmp_path / "a.jpg").samples)
    assert said in picture.notes[0]
    assert len(picture.notes) == 1


@pytest.mark.parametrize("packing", [None, "jpeg"])
def test_profiles_of_any_type_and_damaged_ones_lose_no_tiff(tmp_path, packing):
    path, sound = tmp_path / "a.tif", colour_profiles.profile_for(3)
    how = {"photometric": "rgb", "compression": packing, "metadata": None}
    tifffile.imwrite(path, SAMPLES, **how)
    expected = load(path).samples
    not_ascii = sound[:16] + b"\xffGB " + sound[20:]
    for kind, count, value in ((4, 1, 5), (2, 4, "abc"), (7, len(sound), not_ascii)):
        tifffile.imwrite(path, SAMPLES, extratags=[(34675, kind, count, value, True)], **how)
        picture = load(path)
        np.testing.assert_array_equal(picture.samples, expected)
        assert any("profile" in each for each in picture.notes)


# -- TIFF and PFM


def without(path, *tags):
    """Make tags of a TIFF ones that nobody knows."""
    data = bytearray(path.read_bytes())
    with tifffile.TiffFile(path) as tiff:
        for tag in tags:
            struct.pack_into("<H", data, tiff.pages.first.tags[tag].offset, tag + 65000 - 256)
    path.write_bytes(data)


@pytest.mark.parametrize("dtype", ["uint8", "uint16", "float32"])
@pytest.mark.parametrize("channels", [1, 2, 3, 4])
@pytest.mark.parametrize("compression", [None, "zlib"])
def test_a_tiff_that_does_not_say_what_samples_mean_is_not_inverted(
    tmp_path, dtype, channels, compression
):
    samples, path = noise(5, 8, channels, dtype), tmp_path / "a.tif"
    kind = "rgb" if channels > 2 else "minisblack"
    extra = {"extrasamples": ["unassalpha"]} if channels in (2, 4) else {}
    tifffile.imwrite(
        *(path, samples if channels > 1 else samples[..., 0]),
        **{"photometric": kind, "planarconfig": "contig" if channels > 1 else None, **extra},
        **{"compression": compression, "metadata": None},
    )
    without(path, 262)
    picture = load(path)
    np.testing.assert_array_equal(picture.samples, samples)
    assert "does not say" in picture.notes[0]


def test_a_place_on_a_map_is_kept_and_what_else_programs_note_is_said_to_be_lost(tmp_path):
    for turn, kept in ((1, {33550, 34735}), (6, set())):
        tags = [(33550, 12, 3, (1.0, 1.0, 0.0), True), (34735, 3, 4, (1, 1, 0, 0), True)]
        tags += [(274, 3, 1, turn, True), (65100, 2, 0, "x", True)]
        tifffile.imwrite(tmp_path / "a.tif", SAMPLES, photometric="rgb", extratags=tags)
        picture = load(tmp_path / "a.tif")
        assert "what programs note (65100)" in picture.notes[-1]
        assert ("the place on a map" in picture.notes[-1]) == (turn == 6)
        save(tmp_path / "b.tif", picture.samples, metadata=picture.metadata)
        with tifffile.TiffFile(tmp_path / "b.tif") as tiff:
            assert {each.code for each in tiff.pages.first.tags} & {33550, 34735, 65100} == kept


def test_a_thumbnail_gives_way_to_the_picture_in_it_and_layers_in_depth_are_said(tmp_path):
    path, whole, how = tmp_path / "a.tif", noise(32, 48, 3), {"photometric": "rgb"}
    for packing in (None, "zlib", "jpeg"):
        with tifffile.TiffWriter(path) as tiff:
            tags = [(271, 2, 0, "maker", True)]
            small = {"subifds": 1, "subfiletype": 1, "extratags": tags, "metadata": None}
            tiff.write(whole[::4, ::4], **how, **small)
            tiff.write(whole, compression=packing, metadata=None, **how)
        tifffile.imwrite(tmp_path / "b.tif", whole, compression=packing, metadata=None, **how)
        picture = load(path)
        np.testing.assert_array_equal(picture.samples, load(tmp_path / "b.tif").samples)
        assert told(picture.metadata.exif)[0][271][2] == b"maker\0"
        assert str(picture.page) == "page 1 of 1"
    layers = noise(32, 16, 1)[..., 0].reshape(2, 16, 16)
    tifffile.imwrite(path, layers, photometric="minisblack", volumetric=True, tile=(2, 16, 16))
    picture = load(path)
    np.testing.assert_array_equal(picture.samples[..., 0], layers[0])
    assert picture.notes == ("Only the first of 2 layers in depth is read.",)


@pytest.mark.parametrize(
    "data",
    [
        *(b"P6\n2 1\n255\nabcdef", b"P5 2 1 255\nab", b"P4\n9 2\n1234", b"P5\n2 1\n65535\n1234"),
        *(b"Pf\n1 1\n-1.0\n1234", b"P1\n2 1\n0 1\n"),
    ],
)
def test_a_pnm_of_several_pictures_says_so(tmp_path, data):
    said = "The file holds several pictures; its first one is shown."
    assert said not in loaded(tmp_path, data, "a.pnm").notes
    if data[:2] == b"P1":  # which has only one
        return
    first = load(tmp_path / "a.pnm").samples
    picture = loaded(tmp_path, data * 2, "a.pnm")
    assert said in picture.notes
    np.testing.assert_array_equal(picture.samples, first)


def test_nor_is_one_of_jpegs_and_what_may_be_any_colours_is_refused(tmp_path):
    path, ramp = tmp_path / "a.tif", np.arange(256, dtype=np.uint8).reshape(16, 16, 1)
    for samples, kind in ((ramp[..., 0], "minisblack"), (np.repeat(ramp, 3, axis=2), "rgb")):
        tifffile.imwrite(path, samples, photometric=kind, compression="jpeg", metadata=None)
        without(path, 262)
        if kind == "rgb":
            with pytest.raises(ImageFileError, match="of a kind"):
                load(path)
        else:
            assert np.abs(load(path).samples.astype(int) - ramp).max() < 16


MISCOUNTED = "Wrong counts of bytes in the file were passed over."


def test_a_count_that_is_too_large_inside_a_file_loses_nothing(tmp_path):
    path = tmp_path / "a.tif"
    iptc = [(33723, 4, 1, (7,), True)]  # which is nowhere
    how = {"photometric": "rgb", "rowsperstrip": 2, "metadata": None, "extratags": iptc}
    tifffile.imwrite(path, SAMPLES, **how)
    with tifffile.TiffFile(path) as tiff:
        tag = tiff.pages.first.tags[279]
    data = bytearray(path.read_bytes())
    code = {3: "<H", 4: "<I"}[tag.dtype]
    struct.pack_into(code, data, tag.valueoffset, tag.value[0] + 3)
    picture = loaded(tmp_path, data)
    np.testing.assert_array_equal(picture.samples, SAMPLES)
    assert picture.notes == ("Damaged IPTC data were dropped.", MISCOUNTED)


@pytest.mark.parametrize("packing", [None, "lzw", "zlib", "packbits"])
@pytest.mark.parametrize("is_noise", [True, False])
def test_a_tiff_whose_strips_are_not_what_it_says_is_refused(tmp_path, packing, is_noise):
    path, samples = tmp_path / "a.tif", noise(40, 200, 1)[..., 0]
    samples = samples if is_noise else np.tile(np.arange(200, dtype=np.uint8) // 8, (40, 1))
    tifffile.imwrite(path, samples, compression=packing, rowsperstrip=10, metadata=None)
    whole = path.read_bytes() + bytes(40_000)
    np.testing.assert_array_equal(loaded(tmp_path, whole, "b.tif").samples[..., 0], samples)
    with tifffile.TiffFile(path) as tiff:
        tags = {each.code: each for each in tiff.pages.first.tags}
    broken = [(273, 0), (273, 4), (273, tags[273].offset)]  # strips in the header and the directory
    broken += [(279, 0), (259, 1)] if packing else [(256, 400), (279, tags[279].value[0] - 3)]
    for tag, value in broken:
        data, code = bytearray(whole), {3: "<H", 4: "<I"}[tags[tag].dtype]
        struct.pack_into(code, data, tags[tag].valueoffset, value)
        with pytest.raises(ImageFileError, match="cut short"):
            loaded(tmp_path, data, "b.tif")


def test_fields_of_a_tiff_that_make_no_sense_are_told(tmp_path):
    path = tmp_path / "a.tif"
    turn = [(274, 1, 1, (6,), True)]
    how = {"photometric": "rgb", "metadata": None, "software": "a program", "extratags": turn}
    tifffile.imwrite(path, SAMPLES, description="a picture", **how)
    whole = path.read_bytes()
    with tifffile.TiffFile(path) as tiff:
        tags = {each.code: each for each in tiff.pages.first.tags}
    for tag in (270, 274, 305):
        kept = {270, 274, 305} - {tag}
        wrong = [(1, 1, 9), (2, 1, 6), (12, 1, 6), (1, 0, 6)] if tag == 274 else []
        for kind, count, value in wrong or [(2, 0, 8), (2, 10, 4), (12, 1, 8), (3, 6, 8)]:
            data = bytearray(whole)
            struct.pack_into("<HII", data, tags[tag].offset + 2, kind, count, value)
            picture = loaded(tmp_path, data, "b.tif")
            assert picture.notes[0] == "Damaged EXIF data were dropped."
            assert kept <= told(picture.metadata.exif)[0].keys() | {274}
            assert picture.samples.shape[:2] == ((5, 8) if tag == 274 else (8, 5))


def test_a_tiff_that_is_refused_is_told_in_numbers(tmp_path):
    path = tmp_path / "a.tif"
    tifffile.imwrite(path, SAMPLES, photometric="rgb", metadata=None)
    whole = path.read_bytes()
    with tifffile.TiffFile(path) as tiff:
        tags = {each.code: each for each in tiff.pages.first.tags}
    for tag, kind, count, said in (
        *((258, 7, 3, "channels of unknown bits"), (258, 4, 1, " bits, "), (259, 3, 0, "unknown")),
        *((262, 7, 1, "colours unknown"), (259, 7, 1, "compression unknown")),
    ):
        data = bytearray(whole)
        struct.pack_into("<HI", data, tags[tag].offset + 2, kind, count)
        with pytest.raises(ImageFileError, match=said) as refused:
            loaded(tmp_path, data, "b.tif")
        assert "b'" not in str(refused.value)
        assert "()" not in str(refused.value)


# -- texts of PNG, comments of JPEG

TEXTS = (("Author", "Ann"), ("Comment", "ä comment"), ("Title", "\u6f22"))


def test_texts_are_kept_where_a_format_has_a_place_and_else_said(tmp_path, capsys):
    chunks = [
        (b"tEXt", b"Author\0Ann"),
        (b"zTXt", b"Comment\0\0" + zlib.compress("ä comment".encode("latin-1"))),
        (b"iTXt", b"Title\0\1\0\0\0" + zlib.compress("\u6f22".encode())),
        (b"tEXt", b"Software\0x"),  # which are of that one file
        (b"tEXt", b"date:modify\0today"),
        (b"iTXt", b"filter-workbench\0\0\0\0\0{}"),
    ]
    assert loaded(tmp_path, png_of(chunks)).metadata.texts == TEXTS
    words = ["--filter", "identity", "--size", "1", "--no-gpu", "--replace", "--quiet"]
    for extension, kept in ((".png", TEXTS), (".jpg", TEXTS[1:2]), (".webp", ()), (".bmp", ())):
        path = tmp_path / f"b{extension}"
        assert main(["apply", str(tmp_path / "a.png"), str(path), *words]) == 0
        said = "text (title, author, comment) is dropped" in capsys.readouterr().err
        assert said == (kept != TEXTS)
        assert load(path).metadata.texts == kept
    with Image.open(tmp_path / "b.png") as image:
        assert tuple((word, str(text)) for word, text in image.text.items()) == TEXTS
    with Image.open(tmp_path / "b.jpg") as image:
        assert image.info["comment"].decode() == "ä comment"
    assert main(["apply", str(tmp_path / "b.jpg"), str(tmp_path / "c.png"), *words]) == 0
    assert "dropped" not in capsys.readouterr().err
    assert load(tmp_path / "c.png").metadata.texts == TEXTS[1:2]
    Image.fromarray(SAMPLES).save(tmp_path / "d.jpg", comment=b"caf\xe9\0")
    picture = load(tmp_path / "d.jpg")
    assert picture.metadata.texts == (("Comment", "café"),)
    save(tmp_path / "e.jpg", picture.samples, metadata=picture.metadata)
    assert b"caf\xe9\0" in (tmp_path / "e.jpg").read_bytes()
    save(tmp_path / "e.jp2", SAMPLES)  # of which its encoder writes a comment
    assert load(tmp_path / "e.jp2").metadata.texts == ()


@pytest.mark.parametrize(
    ("kind", "data", "texts"),
    [
        (b"tEXt", b"Author\0Bob", [("Author", "Bob")]),  # another one
        (b"tEXt", b"Title\0", [("Title", "")]),
        (b"zTXt", b"Title\0\0" + zlib.compress(b""), [("Title", "")]),
        (b"tEXt", b"date:my birthday\0x", [("date:my birthday", "x")]),
        (b"tEXt", b"exif\0x", [("exif", "x")]),
        (b"tEXt", b"icc_profile\0x", [("icc_profile", "x")]),
        (b"iTXt", b"A\0\1\0de-AT\0\xc3\xbc\0" + zlib.compress(b"\xc3\xa4"), [("A", "ä")]),
        (
            b"tEXt",
            b"Raw profile type xyz\0\nxyz\n2\n6e6f",
            [("Raw profile type xyz", "\nxyz\n2\n6e6f")],
        ),
        (b"tEXt", b"Raw profile type icm\0", [("Raw profile type icm", "")]),
        (b"tEXt", b"Raw profile type exif\0\nexif\n2\n6e6f", None),
        (b"tEXt", b"Title", None),  # what PNG cannot hold
        (b"tEXt", b"\0x", None),
        (b"tEXt", b"Title\0a\0b", None),
        (b"tEXt", b"Ti\ntle\0a", None),
        (b"tEXt", b" Title\0a", None),
        (b"tEXt", b"T" * 80 + b"\0a", None),
        (b"iTXt", b"Title\0\0\0\0\0\xff\xfe", None),
        (b"iTXt", b"Title\0\2\0\0\0a", None),
        (b"zTXt", b"Title\0\0" + zlib.compress(b"abc")[:-3], None),
        (b"iCCP", b"icc\0\0" + zlib.compress(colour_profiles.profile_for(3))[:-4], None),
        (b"iCCP", b"icc\0\0" + zlib.compress(colour_profiles.profile_for(3))[:200], None),
    ],
)
def test_each_text_of_a_png_is_kept_as_it_was_or_said(tmp_path, kind, data, texts):
    picture = loaded(tmp_path, png_of([(b"tEXt", b"Author\0Ann"), (kind, data)]))
    expected = (("Author", "Ann"), *(texts or ()))
    assert picture.metadata.texts == expected
    said = f"Damaged in the PNG, left out: {kind.decode()}."
    assert picture.notes == (() if texts else (said,))
    save(tmp_path / "b.png", picture.samples, metadata=picture.metadata)
    assert load(tmp_path / "b.png").metadata.texts == expected
    assert not texts or kind + data in (tmp_path / "b.png").read_bytes()


def test_all_comments_of_a_jpeg_are_kept_or_said(tmp_path):
    Image.fromarray(SAMPLES).save(tmp_path / "a.jpg")
    data = (tmp_path / "a.jpg").read_bytes()
    comments = (b"one", "caf\xe9".encode("utf-16"), b"\0", b"two")
    packed = (b"\xff\xfe" + struct.pack(">H", len(each) + 2) + each for each in comments)
    picture = loaded(tmp_path, data[:2] + b"".join(packed) + data[2:], "b.jpg")
    expected = (("Comment", "one"), ("Comment", "two"))
    assert picture.metadata.texts == expected
    assert picture.notes == ("A comment that is no text was left out.",)
    for name in ("c.png", "c.jpg"):
        save(tmp_path / name, picture.samples, metadata=picture.metadata)
        assert load(tmp_path / name).metadata.texts == expected


@pytest.mark.parametrize("compression", [None, "lzw", "zlib", "packbits"])
@pytest.mark.parametrize("rows", [2, 5])
def test_counts_beyond_the_end_are_read_and_samples_beyond_it_are_not(tmp_path, compression, rows):
    path = tmp_path / "a.tif"
    tifffile.imwrite(
        *(path, SAMPLES),
        **{"photometric": "rgb", "compression": compression, "rowsperstrip": rows},
        **{"metadata": None, "predictor": False},
    )
    with tifffile.TiffFile(path) as tiff:
        tag, count = tiff.pages.first.tags[279], len(tiff.pages.first.dataoffsets)
        last = tiff.pages.first.dataoffsets[-1]
    data = bytearray(path.read_bytes())
    code = {3: "H", 4: "I"}[tag.dtype]
    place = tag.valueoffset + (count - 1) * struct.calcsize(code)
    assert load(path).notes == ()
    struct.pack_into(f"<{code}", data, place, 60_000)
    np.testing.assert_array_equal(loaded(tmp_path, data, "b.tif").samples, SAMPLES)
    assert load(tmp_path / "b.tif").notes == (MISCOUNTED,)
    if compression is None and rows == 5:  # by its count as well it might be of 1 bit
        without(tmp_path / "b.tif", 258)
        with pytest.raises(ImageFileError, match="cut short"):
            load(tmp_path / "b.tif")
    with pytest.raises(ImageFileError, match="cut short"):
        loaded(tmp_path, data[: last + 10], "b.tif")
    data[tag.valueoffset : tag.valueoffset + count * struct.calcsize(code)] = bytes(
        count * struct.calcsize(code)
    )
    np.testing.assert_array_equal(loaded(tmp_path, data, "b.tif").samples, SAMPLES)
    assert load(tmp_path / "b.tif").notes == (MISCOUNTED,)
    with pytest.raises(ImageFileError, match="cut short"):
        loaded(tmp_path, data[: last + 10], "b.tif")


@pytest.mark.parametrize("packing", [None, "lzw", "deflate", "packbits", "zstd", "lzma"])
@pytest.mark.parametrize("dtype", ["uint8", "uint16"])
def test_with_a_damaged_tag_a_tiff_has_the_samples_it_had_or_is_refused(tmp_path, packing, dtype):
    path, damages = tmp_path / "a.tif", {258: (1, 2, 7, 8, 12, 32), 277: (1, 2, 4), 284: (0, 3, 9)}
    damages |= {262: (0, 1)}
    for channels, rows, planes in itertools.product((1, 3), (2, 5), ("contig", "separate")):
        samples = noise(5, 8, channels, dtype)
        put = np.moveaxis(samples, 2, 0) if planes == "separate" else samples
        how = {"photometric": "rgb", "planarconfig": planes} if channels > 1 else {}
        tifffile.imwrite(
            *(path, put if channels > 1 else samples[..., 0]),
            **{"compression": packing, "rowsperstrip": rows, "metadata": None, **how},
        )
        whole = path.read_bytes()
        with tifffile.TiffFile(path) as tiff:
            tags = [each for each in tiff.pages.first.tags if each.code in damages]
        for tag in tags if channels > 1 else [each for each in tags if each.code != 262]:
            for value in damages[tag.code]:
                data = bytearray(whole)
                struct.pack_into(f"<{tag.count}H", data, tag.valueoffset, *[value] * tag.count)
                with contextlib.suppress(ImageFileError):
                    np.testing.assert_array_equal(loaded(tmp_path, data, "b.tif").samples, samples)
            path.write_bytes(whole)
            without(path, tag.code)
            with contextlib.suppress(ImageFileError):
                np.testing.assert_array_equal(load(path).samples, samples)


def test_alpha_of_a_palette_planes_left_out_and_orientation_of_any_type(tmp_path):
    path, indices = tmp_path / "a.tif", noise(5, 8, 2)
    colours = np.arange(768, dtype=np.uint16).reshape(3, 256) * 80
    tifffile.imwrite(
        *(path, indices),
        **{"photometric": "minisblack", "planarconfig": "contig", "extrasamples": ["unassalpha"]},
        **{"metadata": None, "extratags": [(320, "H", 768, colours.tobytes(), True)]},
    )
    data = bytearray(path.read_bytes())
    with tifffile.TiffFile(path) as tiff:
        struct.pack_into("<H", data, tiff.pages.first.tags[262].valueoffset, 3)
    picture = loaded(tmp_path, data, "a.tif")
    np.testing.assert_array_equal(picture.samples[..., :3], (colours.T >> 8)[indices[..., 0]])
    np.testing.assert_array_equal(picture.samples[..., 3], indices[..., 1])

    words = "ImageJ=1.53t\nimages=5\nslices=5\n"
    grey = indices[..., 0]
    tifffile.imwrite(path, grey, photometric="minisblack", metadata=None, description=words)
    path.write_bytes(path.read_bytes() + bytes(4 * grey.nbytes))
    assert load(path).page.count == 5

    for code, extra in itertools.product("BHI", ({}, {"compression": "jpeg"})):
        how = {"extratags": [(274, code, 1, 6, True)], "metadata": None, **extra}
        tifffile.imwrite(path, grey, photometric="minisblack", **how)
        assert load(path).samples.shape == (8, 5, 1)


@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize("line", ["\n", "\r\n", "\n# made by hand\n"])
@pytest.mark.parametrize(("kind", "channels"), [("PF", 3), ("Pf", 1)])
def test_a_pfm_is_read(tmp_path, order, line, kind, channels):
    samples = noise(5, 8, channels, "float32")
    end = line.partition("#")[0]
    header = f"{kind}{line}8 5{end}{'-' if order == '<' else ''}1.0{end}".encode()
    data = header + samples[::-1].astype(f"{order}f4").tobytes()
    np.testing.assert_array_equal(loaded(tmp_path, data, "a.pfm").samples, samples)
    with pytest.raises(ImageFileError, match="cut short"):
        loaded(tmp_path, data[:-1], "a.pfm")
