"""What is promised of picture files: every kind comes in as it is meant, and goes out exactly.

The kinds are written by Pillow, tifffile or by hand, and what we save is read by them, so that no
mistake of ours can hide behind another.
"""

import io
import struct
import zlib

import numpy as np
import pytest
import tifffile
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image, ImageCms
from PySide6.QtCore import QPointF
from PySide6.QtGui import QColorSpace

from kernels.core.job import PIXEL_TYPES
from kernels.pictures.generated import noise
from tests.picture_files import png_chunk
from workbench.files import colour_profiles, from_pillow, from_tiff, png
from workbench.files.formats import FORMATS
from workbench.files.image_files import load, save

EXACT = [each for each in FORMATS if each.can_be_lossless]
WITH_PROFILE = {"PNG", "TIFF", "JPEG", "WebP", "AVIF", "HEIC"}
UNKNOWN_TO_PILLOW = ("JPEG XL", "OpenEXR")

# -- in: each kind, a file of it, what its first pixel is, and a word of what is said of it


def by_pillow(mode, colour, extension, **options):
    file = io.BytesIO()
    image = Image.new(mode, (16, 16), colour)
    if mode == "P":
        image.putpalette([0, 0, 0, 10, 20, 30])
    image.save(file, extension, **options)
    return file.getvalue()


def by_tifffile(pixel, dtype="uint8", **options):
    file = io.BytesIO()
    samples = np.broadcast_to(np.array(pixel, dtype), (4, 5, len(pixel)))
    tifffile.imwrite(file, samples[..., 0] if len(pixel) == 1 else samples, **options)
    return file.getvalue()


def raw_png(depth, colour_type, row, width=1, **chunks):
    header = struct.pack(">IIBBBBB", width, 1, depth, colour_type, 0, 0, 0)
    parts = {"IHDR": header, **chunks, "IDAT": zlib.compress(b"\0" + row), "IEND": b""}
    return png.SIGNATURE + b"".join(png_chunk(k.encode(), v) for k, v in parts.items())


def turned(mode, colour, extension):
    exif = Image.Exif()
    exif[0x0112] = 6
    file = io.BytesIO()
    image = Image.new(mode, (16, 8), colour)
    image.putpixel((0, 0), (255, 255, 255))
    options = {"lossless": True} if extension == "WEBP" else {"quality": 100, "subsampling": 0}
    image.save(file, extension, exif=exif, **options)
    return file.getvalue()


def packed_tiff():
    """12 bits a sample: 4095 and 2048."""
    tags = [(256, 2), (257, 1), (258, 12), (259, 1), (262, 1), (273, 8), (277, 1), (279, 3)]
    entries = b"".join(struct.pack("<HHII", tag, 4, 1, value) for tag, value in tags)
    directory = struct.pack("<H", len(tags)) + entries + b"\0\0\0\0"
    return b"II*\0" + struct.pack("<I", 12) + b"\xff\xf8\x00\0" + directory


RGB = "rgb"
TIMES_ALPHA, UNKNOWN = ({"extrasamples": [each]} for each in ("assocalpha", "unspecified"))
FRAMES = {
    "save_all": True,
    "append_images": [Image.new("RGB", (16, 16), each) for each in ("lime", "blue")],
}
KINDS = {  # of 8 bits, unless the type of the samples is named at the end
    "grey, 8 bits": (by_pillow("L", 9, "PNG"), [9], ""),
    "grey, 1 bit": (raw_png(1, 0, b"\x80", 8), [255], "1-bit"),
    "transparent grey": (raw_png(16, 0, b"\1\2", tRNS=b"\1\2"), [258, 0], "Transparent", "uint16"),
    "palette": (by_pillow("P", 1, "PNG"), [10, 20, 30], "Indexed"),
    "clear palette": (by_pillow("P", 1, "PNG", transparency=1), [10, 20, 30, 0], "Indexed"),
    "palette GIF": (by_pillow("P", 1, "GIF"), [10, 20, 30], "Indexed"),
    "animated GIF": (by_pillow("RGB", "red", "GIF", **FRAMES), [255, 0, 0], "Indexed"),
    "animated WebP": (
        *(by_pillow("RGB", "red", "WEBP", lossless=True, **FRAMES), [255, 0, 0], "durations"),
    ),
    "animated PNG": (by_pillow("RGB", "red", "PNG", **FRAMES), [255, 0, 0], "durations of frames"),
    "CMYK JPEG": (by_pillow("CMYK", (255, 0, 0, 0), "JPEG", quality=100), [0, 255, 255], "CMYK"),
    "float64": (by_tifffile([1e300], "float64"), [np.inf], "20 of them are too large", "float32"),
    "int16": (by_tifffile([-5], "int16"), [-5], "values unchanged", "float32"),
    "uint32": (by_tifffile([7], "uint32"), [7], "fewer digits", "float32"),
    "PFM": (b"Pf\n2 1\n-1.0\n" + struct.pack("<2f", 1.5, -2), [1.5], "", "float32"),
    "12 bits in a TIFF": (packed_tiff(), [65535], "from 0–4095 to 0–65535", "uint16"),
    "alpha multiplied in": (
        *(by_tifffile([20, 40, 60, 128], photometric=RGB, **TIMES_ALPHA), [40, 80, 120, 128]),
        "Premultiplied",
    ),
    "a fourth channel": (
        *(by_tifffile([1, 2, 3, 4], photometric=RGB, **UNKNOWN), [1, 2, 3, 4], "read as alpha"),
    ),
    "five channels": (
        *(by_tifffile([1, 2, 3, 4, 5], photometric=RGB, planarconfig="contig"), [1, 2, 3]),
        "first three",
    ),
    "zero is white": (by_tifffile([250], photometric="miniswhite"), [5], "Inverted"),
    "turned JPEG": (turned("RGB", (9, 9, 9), "JPEG"), [9, 9, 9], "EXIF"),
    "turned WebP": (turned("RGB", (9, 9, 9), "WEBP"), [9, 9, 9], "EXIF"),
}


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_comes_in_as_it_is_meant_and_what_was_converted_is_said(kind, tmp_path):
    encoded, pixel, said, pixel_type = (*KINDS[kind], "uint8")[:4]
    (tmp_path / "picture").write_bytes(encoded)
    picture = load(tmp_path / "picture")
    assert picture.samples.dtype == pixel_type
    tolerance = 6 if "JPEG" in kind else 0  # which is never exact
    np.testing.assert_allclose(picture.samples[0, 0], pixel, rtol=0, atol=tolerance)
    assert said in " ".join(picture.notes)
    assert bool(said) == bool(picture.notes), picture.notes
    assert picture.page.count == (3 if kind.startswith("animated") else 1)
    if kind.startswith("turned"):
        assert picture.samples.shape == (16, 8, 3)
        assert picture.samples[0, -1].min() > 200  # the corner that was at the left


@pytest.mark.parametrize("mode", ["L", "LA", "RGB", "RGBA", "1", "P", "CMYK"])
def test_in_bands_a_picture_comes_in_as_in_one_go(mode, tmp_path, monkeypatch):
    size = 40 * 50 * len(Image.new(mode, (1, 1)).getbands())
    image = Image.frombytes(mode, (40, 50), noise(1, size)[0, : size // (8 if mode == "1" else 1)])
    image.save(tmp_path / "a.tif", compression="tiff_lzw")
    whole = load(tmp_path / "a.tif")
    monkeypatch.setattr(from_pillow, "BAND_PIXELS", 300)
    np.testing.assert_array_equal(load(tmp_path / "a.tif").samples, whole.samples)


@pytest.mark.parametrize("options", [TIMES_ALPHA, {"photometric": "separated"}])
def test_in_bands_a_tiff_is_converted_as_in_one_go(options, tmp_path, monkeypatch):
    samples = noise(30, 20, 4, "uint16")
    tifffile.imwrite(tmp_path / "a.tif", samples, **{"photometric": RGB, **options})
    whole = load(tmp_path / "a.tif")
    monkeypatch.setattr(colour_profiles, "BAND_SAMPLES", 200)
    np.testing.assert_array_equal(load(tmp_path / "a.tif").samples, whole.samples)


@pytest.mark.parametrize("pixel_type", ["uint8", "uint16"])
@pytest.mark.parametrize("channels", [1, 2])
def test_a_grey_profile_with_the_curve_of_srgb_changes_nothing(pixel_type, channels):
    grey = QColorSpace(QPointF(0.3457, 0.3585), QColorSpace.TransferFunction.SRgb)
    samples, notes = noise(30, 20, channels, pixel_type), []
    assert colour_profiles.to_srgb(samples, bytes(grey.iccProfile().data()), notes) is samples
    assert notes == []


# -- out


@given(
    st.sampled_from(EXACT),
    st.sampled_from(PIXEL_TYPES),
    st.integers(1, 4),
    st.tuples(st.integers(1, 40), st.integers(1, 40)),
    st.integers(0, 1000),
)
def test_whatever_a_format_holds_comes_back_sample_for_sample(
    tmp_path_factory, wanted, pixel_type, channels, size, seed
):
    samples = noise(*size, channels, pixel_type, seed)
    if (wanted.title, pixel_type) == ("JPEG XL", "float16"):
        samples = np.where(samples < np.finfo("f2").tiny, np.float16(0), samples)
    if wanted.why_not(samples) is not None or (wanted.title == "OpenEXR" and channels in (2, 4)):
        return  # OpenEXR has alpha multiplied in: test_new_formats.py
    path = tmp_path_factory.mktemp("saved") / f"a{wanted.extensions[0]}"
    save(path, samples)
    picture = load(path)
    assert picture.samples.dtype == pixel_type
    np.testing.assert_array_equal(picture.samples, samples)
    assert picture.notes == ()


def embedded_profile(path):
    """As other libraries find it; None where there is none."""
    if path.suffix == ".tif":
        with tifffile.TiffFile(path) as tiff:
            return tiff.pages.first.tags.valueof(from_tiff.ICC_PROFILE_TAG)
    with Image.open(path) as image:
        return image.info.get("icc_profile")


@pytest.mark.parametrize(
    ("wanted", "pixel_type", "channels"),
    [
        (each, pixel_type, channels)
        for each in FORMATS
        if each.title not in UNKNOWN_TO_PILLOW
        for pixel_type in each.pixel_types
        for channels in each.channels
    ],
)
def test_what_is_saved_says_that_it_is_srgb_or_its_grey(tmp_path, wanted, pixel_type, channels):
    samples = noise(9, 8, channels, pixel_type)
    path = tmp_path / f"a{wanted.extensions[0]}"
    save(path, samples)
    icc = embedded_profile(path)
    if wanted.title not in WITH_PROFILE or pixel_type.startswith("float"):
        assert icc is None  # what floats stand for only their maker knows
        return
    profile = ImageCms.ImageCmsProfile(io.BytesIO(icc)).profile
    assert profile.xcolor_space.strip() == ("GRAY" if channels <= 2 else "RGB")
    assert "sRGB" in profile.profile_description


@pytest.mark.parametrize("quality", [15, 60, 100])
@pytest.mark.parametrize("name", ["a.jpg", "a.webp", "a.avif", "a.heic", "a.jxl", "a.jp2"])
def test_a_better_quality_is_nearer_and_larger(tmp_path, name, quality):
    samples = noise(64, 64, 3)
    save(tmp_path / name, samples, quality)
    save(tmp_path / f"worse-{name}", samples, max(quality // 3, 1))
    off = [
        np.abs(load(tmp_path / each).samples.astype(int) - samples).mean()
        for each in (name, f"worse-{name}")
    ]
    assert 0 < off[0] < off[1]
    assert (tmp_path / name).stat().st_size > (tmp_path / f"worse-{name}").stat().st_size
