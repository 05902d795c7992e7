"""Pictures come in whole and in their own depth, or not at all, with a sentence that says why."""

import io
import resource
import struct
import sys
import zlib

import numpy as np
import pytest
import tifffile
from PIL import Image
from PySide6.QtGui import QColorSpace

from tests.picture_files import png_chunk
from workbench.files import needs, png
from workbench.files.image_files import load, save
from workbench.files.picture_errors import ImageFileError

RNG = np.random.default_rng(7)


def samples_of(dtype, channels, height=13, width=17):
    if dtype.startswith("float"):
        return RNG.normal(0, 3, (height, width, channels)).astype(dtype)
    return RNG.integers(0, np.iinfo(dtype).max + 1, (height, width, channels), dtype)


def pillow_file(path, mode, samples, **options):
    height, width = samples.shape[:2]
    Image.frombytes(mode, (width, height), samples.tobytes()).save(path, **options)
    return path


def test_content_counts_and_not_the_extension(tmp_path):
    samples = samples_of("uint16", 3)
    save(tmp_path / "a.png", samples)
    (tmp_path / "a.png").rename(tmp_path / "lie.jpg")
    assert np.array_equal(load(str(tmp_path / "lie.jpg")).samples, samples)


# -- what is converted is said ---------------------------------------------------------------------


@pytest.mark.parametrize("orientation", range(1, 9))
@pytest.mark.parametrize("name", ["a.png", "a.tif", "deep.png", "deep.tif"])
def test_exif_orientation_is_honoured(tmp_path, name, orientation):
    stored = samples_of("uint16" if "deep" in name else "uint8", 3, 4, 6)
    path, exif = tmp_path / name, Image.Exif()
    exif[0x0112] = orientation
    if name == "deep.tif":
        tags = [(274, "H", 1, orientation, True)]
        tifffile.imwrite(path, stored, photometric="rgb", metadata=None, extratags=tags)
    elif name == "deep.png":
        save(path, stored)
        data = exif.tobytes().removeprefix(b"Exif\0\0")
        path.write_bytes(b"".join(png.parts_with(path.read_bytes(), [(b"eXIf", data)])))
    else:
        pillow_file(path, "RGB", stored, exif=exif)
    across = stored.transpose(1, 0, 2)
    upright = [stored, stored[:, ::-1], stored[::-1, ::-1], stored[::-1]]
    upright += [across, np.rot90(stored, -1), across[::-1, ::-1], np.rot90(stored)]
    picture = load(path)
    assert np.array_equal(picture.samples, upright[orientation - 1])
    assert picture.samples.flags.c_contiguous
    assert len(picture.notes) == (orientation != 1)


@pytest.mark.parametrize("packing", ["group4", "jpeg"])
@pytest.mark.parametrize("orientation", range(1, 9))
def test_a_tiff_that_pillow_turns_is_said_to_be_with_its_resolution(tmp_path, packing, orientation):
    image = Image.fromarray(np.kron(samples_of("uint8", 1, 4, 6)[..., 0], np.ones((8, 8), "u1")))
    image = image.convert("1") if packing == "group4" else image
    tags = {274: orientation}
    image.save(tmp_path / "a.tif", compression=packing, dpi=(204, 98), tiffinfo=tags)
    exif = Image.Exif()
    exif[274] = orientation
    image.save(tmp_path / "b.png", exif=exif, dpi=(204, 98))
    found, wanted = load(tmp_path / "a.tif"), load(tmp_path / "b.png")
    np.testing.assert_allclose(found.samples, wanted.samples, atol=16)
    assert found.metadata.resolution == wanted.metadata.resolution
    turned = [[each for each in e.notes if "Rotated" in each] for e in (found, wanted)]
    assert turned[0] == turned[1]


@pytest.mark.parametrize(("kind", "channels"), [("P5", 1), ("P6", 3)])
def test_a_pnm_file_of_ten_bits_is_spread_over_sixteen(tmp_path, kind, channels):
    samples = RNG.integers(0, 1024, (4, 5, channels)).astype(">u2")
    samples[0, 0] = 1023
    header = f"{kind}\n# a comment\n5 4\n1023\n".encode()
    (tmp_path / "a.pnm").write_bytes(header + samples.tobytes())
    picture = load(tmp_path / "a.pnm")
    assert picture.samples.dtype == np.uint16
    assert picture.samples[0, 0].tolist() == [65535] * channels
    assert np.array_equal(np.rint(picture.samples * (1023 / 65535)), samples)
    assert "1023" in picture.notes[0]


# -- colour profiles -------------------------------------------------------------------------------


def with_profile(encoded, icc):
    """A PNG's bytes with this colour profile instead of its own."""
    found = next(each for each in png.chunks(io.BytesIO(encoded)) if each.kind == b"iCCP")
    bare = encoded[: found.offset - 8] + encoded[found.offset + found.length + 4 :]
    return b"".join(png.parts_with(bare, [(b"iCCP", b"P3\0\0" + zlib.compress(icc))]))


def display_p3():
    return bytes(QColorSpace(QColorSpace.NamedColorSpace.DisplayP3).iccProfile().data())


@pytest.mark.parametrize("channels", [3, 4])
@pytest.mark.parametrize(("dtype", "one"), [("uint8", 1), ("uint16", 257)])
@pytest.mark.parametrize("name", ["a.png", "a.tif"])
def test_a_colour_profile_is_converted_to_srgb_and_said(tmp_path, name, dtype, one, channels):
    samples = np.zeros((4, 5, channels), dtype)
    samples[:] = np.array((128, 64, 32, 200)[:channels]) * one
    path = tmp_path / name
    if name == "a.tif":
        extra = ["unassalpha"] if channels == 4 else None
        tifffile.imwrite(
            path, samples, photometric="rgb", extrasamples=extra, iccprofile=display_p3()
        )
    else:
        save(path, samples)
        path.write_bytes(with_profile(path.read_bytes(), display_p3()))
    picture = load(path)
    assert picture.samples.dtype == dtype
    assert picture.samples[2, 2].tolist() == pytest.approx(
        [138 * one, 59 * one, 21 * one, 200 * one][:channels], abs=0.6 * one
    )
    assert "sRGB" in picture.notes[0]


@pytest.mark.parametrize("channels", [1, 2])
def test_a_grey_profile_is_converted(tmp_path, channels):
    from PySide6.QtCore import QPointF

    gamma = QColorSpace(QPointF(0.3457, 0.3585), QColorSpace.TransferFunction.Gamma, 1.8)
    icc = bytes(gamma.iccProfile().data())
    samples = np.full((4, 5, channels), 128, np.uint8)
    mode = {1: "L", 2: "LA"}[channels]
    picture = load(pillow_file(tmp_path / "a.png", mode, samples, icc_profile=icc))
    assert picture.samples[0, 0].tolist() == [146, 128][:channels]


def test_a_damaged_profile_is_ignored_and_said(tmp_path):
    samples = samples_of("uint8", 3)
    picture = load(pillow_file(tmp_path / "a.png", "RGB", samples, icc_profile=b"not a profile"))
    assert np.array_equal(picture.samples, samples)
    assert "profile" in picture.notes[0]


def test_float_samples_keep_their_values_whatever_the_profile(tmp_path):
    samples = samples_of("float32", 3)
    tifffile.imwrite(tmp_path / "a.tif", samples, photometric="rgb", iccprofile=display_p3())
    picture = load(tmp_path / "a.tif")
    assert np.array_equal(picture.samples, samples)
    assert "not applied" in picture.notes[0]


# -- refusals --------------------------------------------------------------------------------------


def refusal(path):
    """The one sentence with which `path` is refused."""
    with pytest.raises(ImageFileError) as caught:
        load(path)
    sentence = str(caught.value)
    assert sentence.endswith(".")
    assert "\n" not in sentence
    assert path.name in sentence
    return sentence


def test_a_missing_file_is_refused(tmp_path):
    assert "no file" in refusal(tmp_path / "gone.png")
    assert "no file" in refusal(tmp_path / "gone" / "a.png")
    assert "no file" in refusal(tmp_path / "zero\0byte.png")


@pytest.mark.parametrize("share", [0.3, 0.6, 0.95])
@pytest.mark.parametrize(
    ("name", "dtype"),
    [
        *[(name, "uint8") for name in ("a.png", "a.jpg", "a.tif", "a.bmp", "a.webp", "a.ppm")],
        *[(name, "uint16") for name in ("a.png", "a.tif", "a.ppm")],
        ("a.tif", "float16"),
        ("a.tif", "float32"),
    ],
)
def test_a_truncated_file_is_refused_rather_than_half_shown(tmp_path, name, dtype, share):
    save(tmp_path / name, samples_of(dtype, 3, 64, 64))
    whole = (tmp_path / name).read_bytes()
    (tmp_path / name).write_bytes(whole[: int(len(whole) * share)])
    assert "damaged" in refusal(tmp_path / name)


def png_header(width, height, bit_depth, colour_type):
    header = struct.pack(">IIBBBBB", width, height, bit_depth, colour_type, 0, 0, 0)
    data = zlib.compress(b"\0" * 100)
    ends = png_chunk(b"IDAT", data) + png_chunk(b"IEND", b"")
    return png.SIGNATURE + png_chunk(b"IHDR", header) + ends


@pytest.mark.parametrize("bit_depth", [8, 16])
def test_a_header_that_claims_more_than_the_memory_is_refused_with_figures(tmp_path, bit_depth):
    (tmp_path / "a.png").write_bytes(png_header(2_000_000, 1_000_000, bit_depth, 2))
    sentence = refusal(tmp_path / "a.png")
    assert "2,000,000×1,000,000" in sentence
    assert sentence.count("GiB") == 2


@pytest.mark.parametrize("claimed", [(60_000, 60_000), (2000, 2000)])
def test_a_gif_that_claims_more_than_its_bytes_can_hold_takes_no_memory(
    tmp_path, monkeypatch, claimed
):
    monkeypatch.setattr(needs, "memory_available_bytes", lambda: 1 << 50)
    Image.new("P", (40, 30)).save(tmp_path / "a.gif")
    data = bytearray((tmp_path / "a.gif").read_bytes())
    frame = data.index(b",\0\0\0\0" + struct.pack("<HH", 40, 30))
    data[frame + 5 : frame + 9] = struct.pack("<HH", *claimed)
    (tmp_path / "a.gif").write_bytes(data)
    assert "cut short" in refusal(tmp_path / "a.gif")


def test_a_small_frame_of_a_large_gif_is_shown_with_nothing_around_it(tmp_path):
    Image.new("P", (4, 3)).save(tmp_path / "a.gif")
    data = bytearray((tmp_path / "a.gif").read_bytes())
    data[6:10] = struct.pack("<HH", 3000, 2000)
    (tmp_path / "a.gif").write_bytes(data)
    picture = load(tmp_path / "a.gif")
    assert picture.samples.shape == (2000, 3000, 4)
    assert picture.samples[:3, :4, 3].min() == 255
    assert np.count_nonzero(picture.samples[:, :, 3]) == 12
    assert "transparent around it" in picture.notes[-1]


def test_of_a_gif_that_is_damaged_behind_its_first_picture_that_is_shown(tmp_path):
    frames = [Image.fromarray(samples_of("uint8", 1, 40, 50)[..., 0]) for _ in range(3)]
    frames[0].save(tmp_path / "a.gif", save_all=True, append_images=frames[1:])
    whole = (tmp_path / "a.gif").read_bytes()
    (tmp_path / "a.gif").write_bytes(whole[: len(whole) * 2 // 5])
    picture = load(tmp_path / "a.gif")
    assert "damaged" in picture.notes[0]
    assert np.array_equal(picture.samples[:, :, 0], np.asarray(frames[0]))


@pytest.mark.parametrize(("mode", "channels"), [("RGB", 3), ("L", 1)])
def test_a_profile_that_is_for_other_colours_is_not_applied(tmp_path, mode, channels):
    samples = samples_of("uint8", channels)
    profile = cmyk_profile_of_the_first_ink()
    picture = load(pillow_file(tmp_path / "a.png", mode, samples, icc_profile=profile))
    assert np.array_equal(picture.samples, samples)
    (note,) = picture.notes
    assert "first ink" in note


def test_deep_cmyk_goes_through_its_profile(tmp_path):
    ink = np.zeros((3, 4, 4), np.uint16)
    ink[:, :2, 0], ink[:, :, 1] = 65535, 65535
    profile = cmyk_profile_of_the_first_ink()
    tifffile.imwrite(tmp_path / "a.tif", ink, photometric="separated", iccprofile=profile)
    picture = load(tmp_path / "a.tif")
    assert picture.samples[0, 0].tolist() == pytest.approx([0, 0, 0], abs=700)
    assert picture.samples[0, 3].tolist() == pytest.approx([65535] * 3, abs=700)
    assert "first ink" in picture.notes[0]


def test_sixteen_bits_go_through_a_profile_as_its_formula_says(tmp_path):
    """Display P3 has the curve of sRGB and other primaries: the matrix between them is known."""
    samples = samples_of("uint16", 3, 60, 70)
    save(tmp_path / "a.png", samples)
    data = with_profile((tmp_path / "a.png").read_bytes(), display_p3())
    (tmp_path / "a.png").write_bytes(data)
    rows = (1.2249401, -0.2249404, 0), (-0.0420569, 1.0420571, 0)
    matrix = np.array([*rows, (-0.0196376, -0.0786361, 1.0982735)])
    share = samples / 65535
    light = np.where(share <= 0.04045, share / 12.92, ((share + 0.055) / 1.055) ** 2.4)
    light = (light @ matrix.T).clip(0, 1)
    srgb = np.where(light <= 0.0031308, light * 12.92, 1.055 * light ** (1 / 2.4) - 0.055)
    assert np.abs(load(tmp_path / "a.png").samples - srgb * 65535).max() < 65  # a quarter of 1/255


def test_an_odd_tiff_is_refused_in_words(tmp_path):
    tifffile.imwrite(tmp_path / "a.tif", np.ones((4, 4), np.complex64))
    assert "does not read" in (said := refusal(tmp_path / "a.tif"))
    assert "1 channels of 64 bits, COMPLEXIEEEFP" in said


# -- saving that fails -----------------------------------------------------------------------------


def save_refusal(path, samples):
    before = sorted(path.parent.glob("*"))
    with pytest.raises(ImageFileError) as caught:
        save(path, samples)
    after = sorted(path.parent.glob("*"))
    assert after == before
    assert path.name in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize(
    ("name", "dtype", "channels", "instead"),
    [
        ("a.png", "float16", 1, "save as TIFF"),
        ("a.png", "float32", 3, "save as TIFF"),
        ("a.jpg", "uint8", 4, "save as PNG or TIFF"),
        ("a.jpg", "uint16", 3, "save as PNG or TIFF"),
        ("a.webp", "uint8", 1, "save as PNG or TIFF"),
        ("a.bmp", "uint8", 2, "save as PNG or TIFF"),
        ("a.pgm", "uint8", 3, "save as PNG or TIFF"),
    ],
)
def test_what_a_format_cannot_hold_is_refused_with_one_that_can(
    tmp_path, name, dtype, channels, instead
):
    assert instead in save_refusal(tmp_path / name, samples_of(dtype, channels))


def test_saving_into_a_missing_folder_or_over_a_folder_is_refused(tmp_path):
    assert "folder" in save_refusal(tmp_path / "gone" / "a.png", samples_of("uint8", 3))
    (tmp_path / "b.png").mkdir()
    assert "folder" in save_refusal(tmp_path / "b.png", samples_of("uint8", 3))


@pytest.mark.skipif(sys.platform != "linux", reason="there is no /proc")
def test_a_folder_that_takes_no_files_is_told_as_such():
    with pytest.raises(ImageFileError, match="no file can be made in its folder; choose another"):
        save("/proc/a.png", samples_of("uint8", 3))


def test_a_jpeg_xl_takes_no_halves_that_it_would_change(tmp_path):
    for value in (5.42e-5, -6e-8, np.nan):
        samples = np.full((14, 16, 3), value, "float16")
        with pytest.raises(ImageFileError, match="does not hold NaN"):
            save(tmp_path / "a.jxl", samples)
    samples[:] = [0, 6.104e-5, -np.inf]
    save(tmp_path / "a.jxl", samples)
    np.testing.assert_array_equal(load(tmp_path / "a.jxl").samples, samples)


def test_a_full_disk_leaves_the_old_file_and_nothing_else(tmp_path):
    save(tmp_path / "a.tif", samples_of("uint8", 1))
    before = (tmp_path / "a.tif").read_bytes()
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, limits[1]))
    try:
        sentence = save_refusal(tmp_path / "a.tif", samples_of("float32", 3, 200, 200))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert "no file can be so large there" in sentence
    assert (tmp_path / "a.tif").read_bytes() == before


def test_of_a_large_file_of_no_kind_the_whole_is_not_read(tmp_path):
    path = tmp_path / "film.jpg"
    with path.open("wb") as file:
        file.truncate(1 << 40)  # of no bytes on the disk
    with pytest.raises(ImageFileError, match="not a picture"):
        load(path)


def cmyk_profile_of_the_first_ink():
    """The smallest ICC profile from CMYK to Lab: white without the first ink, black with it."""
    lut = struct.pack(">4sI4B", b"mft1", 0, 4, 3, 2, 0)
    lut += struct.pack(">9i", *(65536 * v for v in (1, 0, 0, 0, 1, 0, 0, 0, 1)))
    lut += bytes(range(256)) * 4 + bytes((255, 128, 128)) * 8 + bytes((0, 128, 128)) * 8
    lut += bytes(range(256)) * 3
    text = b"first ink"
    description = struct.pack(">4sII", b"desc", 0, len(text) + 1) + text + b"\0" * 79
    white = struct.pack(">4sI3i", b"XYZ ", 0, 63190, 65536, 54061)
    tags = {b"desc": description + b"\0" * (-len(description) % 4), b"wtpt": white, b"A2B0": lut}
    table, body, offset = struct.pack(">I", len(tags)), b"", 128 + 4 + 12 * len(tags)
    for name, data in tags.items():
        table += struct.pack(">4sII", name, offset + len(body), len(data))
        body += data
    head = struct.pack(
        ">I4sI4s4s4s", offset + len(body), b"none", 0x02400000, b"prtr", b"CMYK", b"Lab "
    )
    head += b"\0" * 12 + b"acsp" + b"\0" * 28 + struct.pack(">3i", 63190, 65536, 54061)
    return head.ljust(128, b"\0") + table + body
