"""Pictures of every make come in sample for sample, or are refused in words that are true; no
variant comes in wrong.

The files are written from arrays that are known here, by tifffile, by Pillow or byte by byte, and
never by what reads them.
"""

import contextlib
import itertools
import random
import re
import struct
import tracemalloc
import zlib

import cv2
import imagecodecs
import numpy as np
import OpenEXR
import pillow_heif
import pytest
import tifffile
from PIL import Image

from kernels.core.job import PIXEL_TYPES
from tests.picture_files import png_chunk
from workbench.files import png
from workbench.files.formats import FORMATS
from workbench.files.image_files import load, save
from workbench.files.large_pictures import LargePicture
from workbench.files.picture_errors import ImageFileError

HEIGHT, WIDTH = 37, 45  # tiles and strips end beyond them
NOT_READ = "of a kind this program does not read"
PARTS, SHARE = 24, 24  # without `-m full` one of SHARE variants is tried

TYPES = (
    *("uint8", "uint16", "uint32", "uint64", "int8", "int16", "int32", "int64"),
    *("float16", "float32", "float64"),
)
PACKINGS = (None, "lzw", "deflate", "packbits", "zstd", "lzma")
PREDICTORS = (1, 2, 3)
LAYOUTS = ("one strip", "strips", "tiles")
KINDS = {  # photometric, channels, what the last one is
    "grey": ("minisblack", 1, None),
    "grey+alpha": ("minisblack", 2, "unassalpha"),
    "grey×alpha": ("minisblack", 2, "assocalpha"),
    "white is zero": ("miniswhite", 1, None),
    "rgb": ("rgb", 3, None),
    "rgb+alpha": ("rgb", 4, "unassalpha"),
    "rgb×alpha": ("rgb", 4, "assocalpha"),
    "rgb+2": ("rgb", 5, "unspecified"),
    "cmyk": ("separated", 4, None),
    "cmyk+alpha": ("separated", 5, "unassalpha"),
}
VARIANTS = [
    each
    for each in itertools.product(
        TYPES, KINDS, PACKINGS, PREDICTORS, LAYOUTS, ("contig", "separate"), "<>"
    )
    # Predictor 3 is for floats, and either is for what is packed.
    if (each[3] != 3 or each[0].startswith("float"))
    and (each[3] == 1 or each[2] in ("lzw", "deflate", "zstd"))
    and (each[5] == "contig" or KINDS[each[1]][1] > 1)
]
random.Random(5).shuffle(VARIANTS)


def stored(dtype, channels, seed=0):
    """(HEIGHT, WIDTH, channels): a slope and some noise over all that the type holds."""
    rng = np.random.default_rng(seed)
    share = np.linspace(0, 0.8, WIDTH)[:, np.newaxis] + 0.2 * rng.random((HEIGHT, WIDTH, channels))
    if dtype.startswith("float"):
        return (1.5 * share - 0.25).astype(dtype)
    limits = np.iinfo(dtype)
    return (float(limits.min) + share * (float(limits.max) - float(limits.min)) * 0.999).astype(
        dtype
    )


def meant(samples, kind):
    """What the stored samples stand for, worked out in float64 where anything is."""
    photometric, _, last = KINDS[kind]
    is_integer = samples.dtype.kind in "ui"
    white = np.iinfo(samples.dtype).max if is_integer else 1.0

    def rounded(values):
        return (np.rint(values) if is_integer else values).astype(samples.dtype)

    if photometric == "miniswhite":
        samples = np.invert(samples) if is_integer else (1 - samples)
    if last == "assocalpha":
        alpha = samples[..., -1:].astype(np.float64)
        inverse = np.divide(white, alpha, out=np.zeros_like(alpha), where=alpha > 0)
        colours = samples[..., :-1] * inverse
        colours = colours.clip(0, white) if is_integer else colours
        samples = np.dstack([rounded(colours), samples[..., -1:]])
    if kind == "rgb+2":
        samples = samples[..., :3]
    if photometric == "separated":
        light = 1 - samples[..., :4].astype(np.float64) / white
        rgb = rounded(light[..., :3] * light[..., 3:] * white)
        samples = np.dstack([rgb, samples[..., 4:]])
    return samples if str(samples.dtype) in PIXEL_TYPES else samples.astype(np.float32)


def write_tiff(path, samples, kind, packing, predictor, layout, planes, order):
    photometric, channels, last = KINDS[kind]
    if planes == "separate":
        samples = np.ascontiguousarray(np.moveaxis(samples, -1, 0))
    colours = {"rgb": 3, "separated": 4}.get(photometric, 1)
    tifffile.imwrite(
        path,
        samples[..., 0] if channels == 1 else samples,
        photometric=photometric,
        planarconfig=planes if channels > 1 else None,
        compression=packing,
        predictor=predictor if predictor > 1 else None,
        rowsperstrip={"one strip": HEIGHT, "strips": 7}.get(layout),
        tile=(16, 32) if layout == "tiles" else None,
        extrasamples=[last] * (channels - colours) if last else None,
        byteorder=order,
        metadata=None,
    )


def check(path, variant):
    dtype, kind, *how = variant
    samples = stored(dtype, KINDS[kind][1], seed=len(kind))
    try:
        write_tiff(path, samples, kind, *how)
    except (ValueError, NotImplementedError, RuntimeError) as error:
        return f"not written: {error}"
    with np.errstate(over="ignore", invalid="ignore"):
        return outcome(path, meant(samples, kind), variant)


def outcome(path, expected, variant, within=0):
    """How the file came in; fails where it came in wrong, or was refused in words that say less
    than its kind."""
    try:
        picture = load(path)
    except ImageFileError as error:
        if NOT_READ not in str(error):
            pytest.fail(f"{variant}: {error}")
        return f"refused: {error}"
    assert picture.samples.dtype == expected.dtype, variant
    np.testing.assert_allclose(
        picture.samples, expected, rtol=0, atol=within, equal_nan=True, err_msg=str(variant)
    )
    return "read"


@pytest.mark.parametrize("part", range(4))
def test_a_tiff_of_any_make_is_read_sample_for_sample_or_refused(part, tmp_path):
    outcomes = [check(tmp_path / "a.tif", each) for each in VARIANTS[part * SHARE :: 4 * SHARE]]
    assert outcomes.count("read") > 0.5 * len(outcomes), outcomes


@pytest.mark.full
@pytest.mark.parametrize("part", range(PARTS))
def test_every_tiff_of_any_make_is_read_sample_for_sample_or_refused(part, tmp_path):
    outcomes = [check(tmp_path / "a.tif", each) for each in VARIANTS[part::PARTS]]
    assert outcomes.count("read") > 0.6 * len(outcomes), outcomes


# -- formats that are written: others read what comes out, and it comes in again

SIDES = [(HEIGHT, WIDTH), (1, 1), (1, 70), (65, 2), (129, 130)]


def of_opencv(path):
    found = cv2.imread(str(path), cv2.IMREAD_UNCHANGED)
    if found is None:  # a JPEG 2000 of two channels
        return imagecodecs.jpeg2k_decode(path.read_bytes())
    return found[..., [2, 1, 0, 3][: found.shape[2]]] if found.ndim > 2 else found


def of_openexr(path):
    with OpenEXR.File(str(path), separate_channels=True) as file:
        planes = {name: each.pixels for name, each in file.channels().items()}
    alpha = planes.get("A", 1)  # which is multiplied in
    return np.dstack(
        [planes[name] / (alpha if name != "A" else 1) for name in "YRGBA" if name in planes]
    )


READ_BY = {  # of another make than what reads it here, where there is one
    "TIFF": tifffile.imread,
    "JPEG XL": lambda path: imagecodecs.jpegxl_decode(path.read_bytes()),
    "AVIF": lambda path: imagecodecs.avif_decode(path.read_bytes()),
    "HEIC": lambda path: np.asarray(pillow_heif.open_heif(path)),
    "OpenEXR": of_openexr,
}
WITHIN = {"JPEG": 40, "AVIF": 24, "OpenEXR": 2e-3}  # of noise with loss, and by dividing


def check_written(path, written, size):
    for dtype, channels in itertools.product(written.pixel_types, written.channels):
        samples = np.resize(stored(dtype, channels), (*size, channels))
        if dtype.startswith("float"):
            samples = np.abs(samples).clip(0.25)
        save(path, samples)
        within = WITHIN.get(written.family, 0)
        found = READ_BY.get(written.family, of_opencv)(path).reshape(*size, -1)
        found = found[..., [0, 3]] if channels == 2 < found.shape[2] else found  # OpenCV's colours
        assert found.dtype == samples.dtype
        np.testing.assert_allclose(found.astype(float), samples.astype(float), atol=within)
        if written.title == "OpenEXR" and channels in (2, 4):  # halves were divided
            samples = samples.astype("float32")
        assert outcome(path, samples, (written.title, dtype, channels, size), within) == "read"


@pytest.mark.parametrize("written", FORMATS, ids=lambda each: each.title)
def test_what_is_written_others_read_and_it_comes_in_again(written, tmp_path):
    check_written(tmp_path / f"a{written.extensions[0]}", written, SIDES[0])


@pytest.mark.full
@pytest.mark.parametrize("size", SIDES[1:])
@pytest.mark.parametrize("written", FORMATS, ids=lambda each: each.title)
def test_so_it_does_at_every_size(written, size, tmp_path):
    check_written(tmp_path / f"a{written.extensions[0]}", written, size)


# -- byte by byte


def packed(rows, bits):
    """Whole bytes a row, each sample from its highest bit on."""
    made = b""
    for row in rows:
        ones = "".join(format(int(each), f"0{bits}b") for each in row)
        ones += "0" * (-len(ones) % 8)
        made += int(ones, 2).to_bytes(len(ones) // 8, "big")
    return made


def tiff(data, width, height, bits, photometric, channels=1, packing=1, order="<", **tags):
    """A file of one strip; tags are given by number, as t320=[...], and are of 16 bits."""
    shorts = {
        **{256: [width], 257: [height], 258: [bits] * channels, 259: [packing], 262: [photometric]},
        **{277: [channels], 278: [height], **{int(k[1:]): v for k, v in tags.items()}},
    }
    count = len(shorts) + 2
    beyond, at = b"", 8 + 2 + 12 * count + 4
    fields = {}
    for tag, values in shorts.items():
        body = struct.pack(f"{order}{len(values)}H", *values)
        if len(body) > 4:
            body, beyond = struct.pack(f"{order}I", at + len(beyond)), beyond + body
        fields[tag] = struct.pack(f"{order}HHI", tag, 3, len(values)) + body.ljust(4, b"\0")
    fields[273] = struct.pack(f"{order}HHII", 273, 4, 1, at + len(beyond))
    fields[279] = struct.pack(f"{order}HHII", 279, 4, 1, len(data))
    start = b"II" if order == "<" else b"MM"
    head = start + struct.pack(f"{order}HIH", 42, 8, count)
    return head + b"".join(fields[tag] for tag in sorted(fields)) + bytes(4) + beyond + data


def random_samples(bits, channels):
    return np.random.default_rng(bits).integers(0, 2**bits, (HEIGHT, WIDTH, channels))


@pytest.mark.parametrize("bits", [*range(1, 8), *range(9, 16)])
@pytest.mark.parametrize(("channels", "order"), [(1, "<"), (3, ">")])
def test_samples_of_any_number_of_bits_in_a_tiff_are_spread(bits, channels, order, tmp_path):
    samples = random_samples(bits, channels)
    data = packed(samples.reshape(HEIGHT, -1), bits)
    made = tiff(data, WIDTH, HEIGHT, bits, 1 if channels == 1 else 2, channels, order=order)
    (tmp_path / "a.tif").write_bytes(made)
    dtype = "uint8" if bits < 8 else "uint16"
    expected = np.rint(samples * (np.iinfo(dtype).max / (2**bits - 1))).astype(dtype)
    assert outcome(tmp_path / "a.tif", expected, bits) == "read"


@pytest.mark.parametrize("bits", [1, 2, 4, 8])
@pytest.mark.parametrize("factor", [257, 256, 1])  # of how programs fill the map's 16 bits
def test_the_colours_of_a_tiffs_palette_are_shown(bits, factor, tmp_path):
    samples = random_samples(bits, 1)[:, :, 0]
    colours = np.random.default_rng(1).integers(0, 256, (3, 2**bits))
    colours[0, 0] = 255
    made = tiff(
        packed(samples, bits), WIDTH, HEIGHT, bits, 3, t320=[*map(int, (colours * factor).ravel())]
    )
    (tmp_path / "a.tif").write_bytes(made)
    assert outcome(tmp_path / "a.tif", colours.T[samples].astype("uint8"), bits) == "read"


@pytest.mark.parametrize("tag", [256, 257, 258, 259, 262, 277, 278, 339])
@pytest.mark.parametrize("channels", [1, 3])
def test_numbers_of_a_tiff_may_be_bytes_and_its_samples_of_no_form(tag, channels, tmp_path):
    samples = random_samples(8, channels).astype("u1")
    colours = 1 if channels == 1 else 2
    made = tiff(samples.tobytes(), WIDTH, HEIGHT, 8, colours, channels, t339=[4] * channels)
    if channels == 1 or tag not in (258, 339):  # whose one value is in its place
        made = made.replace(struct.pack("<HH", tag, 3), struct.pack("<HH", tag, 1), 1)
    (tmp_path / "a.tif").write_bytes(made)
    assert outcome(tmp_path / "a.tif", samples, tag) == "read"


@pytest.mark.parametrize("bits", [1, 8, 16])
def test_a_tiff_whose_bytes_are_turned_round_is_read(bits, tmp_path):
    samples = random_samples(bits, 1)
    turned = bytes(int(f"{each:08b}"[::-1], 2) for each in range(256))
    data = samples.astype("<u2").tobytes() if bits == 16 else packed(samples[..., 0], bits)
    (tmp_path / "a.tif").write_bytes(tiff(data.translate(turned), WIDTH, HEIGHT, bits, 1, t266=[2]))
    expected = samples.astype("uint16") if bits == 16 else samples * (255 // (2**bits - 1))
    assert (
        outcome(tmp_path / "a.tif", expected.astype("u2" if bits == 16 else "u1"), bits) == "read"
    )


@pytest.mark.parametrize("at", [0.2, 0.5, 0.8])
def test_a_damaged_fax_is_refused_rather_than_shown_in_parts(at, tmp_path):
    dots = (random_samples(4, 1)[:, :, 0] > 11).astype("uint8") * 255
    Image.fromarray(dots).convert("1").save(tmp_path / "a.tif", compression="group4")
    with tifffile.TiffFile(tmp_path / "a.tif") as file:
        (start,), (count,) = file.pages.first.dataoffsets, file.pages.first.databytecounts
    data = bytearray((tmp_path / "a.tif").read_bytes())
    middle = start + int(count * at)
    data[middle : middle + 8] = b"\x02\x13\x05\x29" * 2
    (tmp_path / "a.tif").write_bytes(data)
    with pytest.raises(ImageFileError, match="damaged"):
        load(tmp_path / "a.tif")


@pytest.mark.parametrize("channels", [3, 4])
def test_webp_in_a_tiff_is_read_where_it_is_no_larger_than_its_strip(channels, tmp_path):
    samples = stored("uint8", channels)
    how = {"photometric": "rgb", "compression": "webp", "compressionargs": {"lossless": True}}
    extra = {"extrasamples": ["unassalpha"]} if channels == 4 else {}
    tifffile.imwrite(tmp_path / "a.tif", samples, rowsperstrip=16, **how, **extra)
    assert outcome(tmp_path / "a.tif", samples, channels) == "read"
    packed = imagecodecs.webp_encode(np.zeros((2000, 2000, 3), "uint8"), lossless=True)
    (tmp_path / "a.tif").write_bytes(tiff(packed, 16, 16, 8, 2, 3, packing=50001))
    with pytest.raises(ImageFileError, match="damaged"):
        load(tmp_path / "a.tif")


@pytest.mark.parametrize("how", [{"rowsperstrip": 16}, {"tile": (16, 16)}])
@pytest.mark.parametrize("planes", ["contig", "separate"])
def test_a_jpeg_that_does_not_fill_its_part_of_a_tiff_is_refused(how, planes, tmp_path):
    samples = np.full((3, HEIGHT, WIDTH) if planes == "separate" else (HEIGHT, WIDTH, 3), 200, "u1")
    how |= {"photometric": "rgb", "planarconfig": planes, "compression": "jpeg"}
    tifffile.imwrite(tmp_path / "a.tif", samples, **how)
    assert load(tmp_path / "a.tif").samples.min() > 190
    whole = (tmp_path / "a.tif").read_bytes()
    for frame in re.finditer(rb"\xff\xc0..\x08", whole, re.DOTALL):
        for at in (frame.end(), frame.end() + 2):  # its height, and its width
            data = bytearray(whole)
            data[at + 1] -= 2
            (tmp_path / "a.tif").write_bytes(data)
            with pytest.raises(ImageFileError, match="damaged"):
                load(tmp_path / "a.tif")
    (tmp_path / "a.tif").write_bytes(whole.replace(b"\xff\xd8", b"\xff\xff"))
    with pytest.raises(ImageFileError, match="damaged"):
        load(tmp_path / "a.tif")


@pytest.mark.parametrize("how", [{"rowsperstrip": 16}, {"tile": (16, 16)}])
def test_a_jpeg_whose_scan_is_damaged_in_a_tiff_is_refused(how, tmp_path):
    how |= {"photometric": "rgb", "compression": "jpeg"}
    tifffile.imwrite(tmp_path / "a.tif", stored("uint8", 3), **how)
    load(tmp_path / "a.tif")
    with tifffile.TiffFile(tmp_path / "a.tif") as file:
        end = file.pages.first.dataoffsets[1] + file.pages.first.databytecounts[1]
    data = bytearray((tmp_path / "a.tif").read_bytes())
    data[end - 100 : end - 98] = b"\xff\xd9"
    (tmp_path / "a.tif").write_bytes(data)
    with pytest.raises(ImageFileError, match="damaged"):
        load(tmp_path / "a.tif")


@pytest.mark.parametrize("packing", ["jpegxl", "jpeg2000", "png", "lerc"])
def test_what_a_tiff_may_hold_beyond_bounds_is_refused_by_name(packing, tmp_path):
    tifffile.imwrite(tmp_path / "a.tif", stored("uint8", 3), photometric="rgb", compression=packing)
    assert packing.upper() in outcome(tmp_path / "a.tif", None, packing)


@pytest.mark.parametrize("packing", ["lzw", "deflate", "zstd", "lzma"])
def test_no_more_is_unpacked_than_the_header_declares(packing, tmp_path):
    pack = {"lzw": (5, imagecodecs.lzw_encode), "deflate": (8, zlib.compress)}
    pack |= {"zstd": (50000, imagecodecs.zstd_encode), "lzma": (34925, imagecodecs.lzma_encode)}
    number, encode = pack[packing]
    (tmp_path / "a.tif").write_bytes(tiff(encode(bytes(1 << 24)), 16, 16, 16, 1, packing=number))
    tracemalloc.start()
    try:
        with contextlib.suppress(ImageFileError):
            load(tmp_path / "a.tif")
        assert tracemalloc.get_traced_memory()[1] < 1 << 22
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("packing", PACKINGS[1:])
@pytest.mark.parametrize("predictor", [1, 2])
def test_a_last_strip_may_be_filled_up(packing, predictor, tmp_path):
    samples, how = np.resize(stored("uint16", 3), (48, WIDTH, 3)), {"compression": packing}
    how |= {"predictor": predictor} if packing in ("lzw", "deflate", "zstd") else {}
    tifffile.imwrite(tmp_path / "a.tif", samples, photometric="rgb", rowsperstrip=16, **how)
    with tifffile.TiffFile(tmp_path / "a.tif", mode="r+b") as file:
        file.pages.first.tags["ImageLength"].overwrite(HEIGHT)
    np.testing.assert_array_equal(load(tmp_path / "a.tif").samples, samples[:HEIGHT])
    with LargePicture(tmp_path / "a.tif") as picture:
        np.testing.assert_array_equal(picture.rows(30, 37), samples[30:37])


PNG_DEPTHS = {0: (1, 2, 4, 8, 16), 2: (8, 16), 3: (1, 2, 4, 8), 4: (8, 16), 6: (8, 16)}


@pytest.mark.parametrize(
    ("colours", "depth"), [(each, depth) for each in PNG_DEPTHS for depth in PNG_DEPTHS[each]]
)
@pytest.mark.parametrize("is_marked", [False, True])
def test_a_png_of_every_depth_is_read(depth, colours, is_marked, tmp_path):
    channels = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}[colours]
    white = 65535 if depth == 16 else 255
    samples = random_samples(depth, channels)
    expected = samples * white // (2**depth - 1)
    chunks = {"IHDR": struct.pack(">IIBBBBB", WIDTH, HEIGHT, depth, colours, 0, 0, 0)}
    if colours == 3:
        palette = np.random.default_rng(2).integers(0, 256, (2**depth, 4)).astype("uint8")
        chunks["PLTE"] = palette[:, :3].tobytes()
        chunks |= {"tRNS": palette[:, 3].tobytes()} if is_marked else {}
        expected = palette[samples[..., 0]][..., : 4 if is_marked else 3]
    elif is_marked and colours in (0, 2):
        marked = samples[3, 4]
        chunks["tRNS"] = struct.pack(f">{channels}H", *marked)
        expected = np.dstack([expected, np.where((samples == marked).all(axis=2), 0, white)])
    rows = [b"\0" + packed(row.reshape(1, -1), depth) for row in samples]
    chunks |= {"IDAT": zlib.compress(b"".join(rows)), "IEND": b""}
    made = png.SIGNATURE + b"".join(png_chunk(kind.encode(), body) for kind, body in chunks.items())
    (tmp_path / "a.png").write_bytes(made)
    dtype = "uint16" if depth == 16 else "uint8"
    assert outcome(tmp_path / "a.png", expected.astype(dtype), (depth, colours)) == "read"


FIELDS = {
    "5-6-5": (16, (0xF800, 0x7E0, 0x1F)),
    "5-5-5": (16, (0x7C00, 0x3E0, 0x1F)),
    "4-4-4-4": (16, (0xF00, 0xF0, 0xF, 0xF000)),
    "turned": (32, (0xFF, 0xFF00, 0xFF0000)),
    "shifted": (32, (0xFF000000, 0xFF0000, 0xFF00)),
    "alpha": (32, (0xFF0000, 0xFF00, 0xFF, 0xFF000000)),
    "10-10-10": (32, (0x3FF00000, 0xFFC00, 0x3FF)),
    "11-11-10-2": (32, (0xFFE00000, 0x1FF000, 0xFFC, 0x3)),
}


@pytest.mark.parametrize("fields", FIELDS)
@pytest.mark.parametrize("is_top_down", [False, True])
def test_a_bmp_of_any_bit_fields_is_read(fields, is_top_down, tmp_path):
    bits, masks = FIELDS[fields]
    pixels = np.random.default_rng(3).integers(0, 2**bits, (HEIGHT, WIDTH), f"u{bits // 8}")
    (tmp_path / "a.bmp").write_bytes(bmp(pixels, bits, masks, is_top_down))
    white = 65535 if max(map(int.bit_count, masks)) > 8 else 255
    channels = []
    for mask in masks:
        lowest = (mask & -mask).bit_length() - 1
        share = ((pixels & mask) >> lowest) / (mask >> lowest)
        channels.append(np.rint(share * white).astype("uint8" if white == 255 else "uint16"))
    assert outcome(tmp_path / "a.bmp", np.dstack(channels), fields) == "read"


@pytest.mark.parametrize("bits", [1, 4, 8])
def test_a_palette_of_a_bmp_may_be_longer_than_its_bits_count(bits, tmp_path):
    colours = np.random.default_rng(3).integers(0, 256, (2**bits, 3), "u1")
    samples = random_samples(bits, 1)[..., 0]
    rows = [packed([row], bits) for row in samples[::-1]]
    data = b"".join(row.ljust(-(-len(row) // 4) * 4, b"\0") for row in rows)
    palette = b"".join(bytes(each[::-1]) + b"\0" for each in colours) + bytes(176)
    start, count = 54 + len(palette), 2**bits + 44
    header = struct.pack("<IiiHH6I", 40, WIDTH, HEIGHT, 1, bits, 0, 0, 0, 0, count, 0)
    head = b"BM" + struct.pack("<IHHI", start + len(data), 0, 0, start)
    (tmp_path / "a.bmp").write_bytes(head + header + palette + data)
    assert outcome(tmp_path / "a.bmp", colours[samples], bits) == "read"


def bmp(pixels, bits, masks, is_top_down):
    height, width = pixels.shape
    stride = (width * bits + 31) // 32 * 4
    rows = [row.tobytes().ljust(stride, b"\0") for row in pixels]
    data = b"".join(rows if is_top_down else rows[::-1])
    size = 124 if len(masks) == 4 else 40
    header = struct.pack(
        "<IiiHHI", size, width, -height if is_top_down else height, 1, bits, 3
    ) + bytes(20)
    header = (header + struct.pack(f"<{len(masks)}I", *masks)).ljust(max(size, 52), b"\0")
    start = 14 + len(header)
    return b"BM" + struct.pack("<IHHI", start + len(data), 0, 0, start) + header + data


def jpeg(blocks, factors, width, height, bits=8, process=0):
    """A JPEG of flat blocks, by channel (rows, columns): codes of four bits, and of one at ends."""
    tables = b"\xff\xdb\0\x43\0" + b"\x08" * 64
    tables += b"\xff\xc4\0\x1f\0" + bytes([0, 0, 0, 12, *[0] * 12, *range(12)])
    tables += b"\xff\xc4\0\x14\x10" + bytes([1, *[0] * 16])
    made = struct.pack(
        ">HHBHHB", 0xFFC0 + process, 8 + 3 * len(factors), bits, height, width, len(factors)
    )
    made += b"".join(bytes([n, 16 * h + v, 0]) for n, (h, v) in enumerate(factors))
    made += struct.pack(">HHB", 0xFFDA, 6 + 2 * len(factors), len(factors))
    made += b"".join(bytes([n, 0]) for n in range(len(factors))) + b"\0\x3f\0"
    ones, before = "", [128] * len(factors)
    high, wide = (len(blocks[0]) // factors[0][1], blocks[0].shape[1] // factors[0][0])
    for y, x, (n, (h, v)) in itertools.product(range(high), range(wide), enumerate(factors)):
        for value in blocks[n][y * v : y * v + v, x * h : x * h + h].ravel():
            step, before[n] = int(value) - before[n], int(value)
            size = abs(step).bit_length()
            ones += f"{size:04b}{step + (step < 0) * (2**size - 1):0{size or 1}b}"[: 4 + size] + "0"
    ones += "1" * (-len(ones) % 8)
    scan = bytes(int(ones[at : at + 8], 2) for at in range(0, len(ones), 8))
    return b"\xff\xd8" + tables + made + scan.replace(b"\xff", b"\xff\0") + b"\xff\xd9"


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        ((2, 8, 0), "2 channels"),
        ((4, 12, 1), "12 bits"),
        ((1, 8, 55), "-LS"),
        ((1, 8, 5), "hierar"),
    ],
)
def test_a_jpeg_that_is_not_read_is_refused_by_its_kind(kind, said, tmp_path):
    count, *how = kind
    blocks = [np.full((5, 5), 99)] * count
    (tmp_path / "a.jpg").write_bytes(jpeg(blocks, [(1, 1)] * count, 33, 40, *how))
    with pytest.raises(ImageFileError, match=f"{said}.*, which this program does not read"):
        load(tmp_path / "a.jpg")


def check_deep_jpeg(path, data, bits, expected):
    path.write_bytes(data)
    white = 255 if bits < 8 else 65535
    np.testing.assert_array_equal(
        load(path).samples.squeeze(), np.rint(expected * (white / (2**bits - 1)))
    )
    for end in (len(data) - 2, len(data) // 2):
        path.write_bytes(data[:end])
        with pytest.raises(ImageFileError, match="cut short"):
            load(path)


@pytest.mark.parametrize("bits", [4, 10, 12, 16])
@pytest.mark.parametrize("channels", [1, 3])
def test_a_jpeg_without_loss_is_read_in_its_own_depth(bits, channels, tmp_path):
    samples = random_samples(bits, channels).astype("u1" if bits < 8 else "u2").squeeze()
    data = imagecodecs.jpeg8_encode(samples, bitspersample=bits, lossless=True)
    check_deep_jpeg(tmp_path / "a.jpg", bytes(data), bits, samples)


def test_a_jpeg_of_twelve_bits_is_read(tmp_path):
    blocks = np.random.default_rng(6).integers(0, 1000, (5, 5))  # beside 128, which is the middle
    data = jpeg([blocks], [(1, 1)], 40, 40, 12, 1)
    expected = np.kron(blocks + 2048 - 128, np.ones((8, 8), int))
    check_deep_jpeg(tmp_path / "a.jpg", data, 12, expected)


SAMPLINGS = [(h, v) for h in (1, 2, 3, 4) for v in (1, 2, 3, 4)]


@pytest.mark.parametrize("luma", SAMPLINGS)
def test_a_jpeg_is_read_however_its_channels_are_subsampled(luma, tmp_path):
    rng, path = np.random.default_rng(6), tmp_path / "a.jpg"
    for colour, (width, height) in itertools.product(SAMPLINGS, ((33, 40), (1, 5), (17, 1))):
        factors = luma, colour, colour
        (most_h, most_v), seen = np.max(factors, axis=0), []
        units = -(-height // (8 * most_v)), -(-width // (8 * most_h))
        blocks = [rng.integers(90, 166, (units[0] * v, units[1] * h)) for h, v in factors]
        if sum(h * v for h, v in factors) > 10:  # blocks that belong together
            continue
        path.write_bytes(jpeg(blocks, factors, width, height))
        if np.any(np.array((most_h, most_v)) % luma) or np.any((most_h, most_v) % np.array(colour)):
            with pytest.raises(ImageFileError, match="subsampled by no whole number"):
                load(path)
            continue
        inside = np.ones((height, width), bool)  # of blocks, or of the only one
        for each, (h, v) in zip(blocks, factors, strict=True):
            y, x = np.ix_(np.arange(height) * v // most_v, np.arange(width) * h // most_h)
            seen.append(each[y // 8, x // 8] - 128)
            inside &= (np.abs(y % 8 - 3.5) < 2) | (height * v <= 8 * most_v)
            inside &= (np.abs(x % 8 - 3.5) < 2) | (width * h <= 8 * most_h)
        to_rgb = [[1, 1, 1], [0, -0.344136, 1.772], [1.402, -0.714136, 0]]
        expected = (np.dstack(seen) @ to_rgb + 128).clip(0, 255)
        wrong = np.abs(load(path).samples - expected)[inside]
        assert wrong.max(initial=0) < 2, (factors, width, height)
