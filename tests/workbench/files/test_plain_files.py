"""PNG and JPEG files, decoded and encoded as Pillow does it, or by Pillow where it matters."""

import io

import imagecodecs
import numpy as np
import pytest
from PIL import Image, ImageFile

from kernels.pictures.generated import noise, of_kind
from tests.picture_files import png_chunk
from workbench.files import exif as exif_of
from workbench.files import from_pillow, image_files, png
from workbench.files.colour_profiles import profile_for
from workbench.files.picture_errors import ImageFileError
from workbench.imaging.pictures import NO_METADATA, Metadata

MODES = {"L": 1, "LA": 2, "RGB": 3, "RGBA": 4}
EXIF = Image.Exif()
EXIF[0x010F] = "a camera"


@pytest.fixture
def by_pillow(monkeypatch):
    """The sizes of the pictures whose samples Pillow decodes."""
    real, counted = ImageFile.ImageFile.load_prepare, []

    def prepare(self):
        counted.append(self.size)
        real(self)

    monkeypatch.setattr(ImageFile.ImageFile, "load_prepare", prepare)
    return counted


def image_of(mode, height=61, width=93):
    picture = of_kind("photo", height, width, MODES[mode], "uint8")
    return Image.fromarray(picture[..., 0] if mode == "L" else picture, mode)


def loaded(path):
    picture = image_files.load(path)
    return picture.samples, picture.remarks


@pytest.mark.parametrize(
    ("name", "modes", "how"),
    [
        *(("a.png", MODES, how) for how in ({}, {"interlace": 1}, {"compress_level": 0})),
        ("a.jpg", ("L", "RGB"), {}),
        ("a.jpg", ("L", "RGB"), {"progressive": True}),
        ("a.jpg", ("L", "RGB"), {"quality": 95, "subsampling": 0}),
        ("a.jpg", ("L", "RGB"), {"quality": 90, "subsampling": 1}),
        ("a.jpg", ("L", "RGB"), {"quality": 20, "optimize": True}),
        ("a.jpg", ("L", "RGB"), {"restart_marker_rows": 1}),
        ("a.jpg", ("L", "RGB"), {"keep_rgb": True}),
    ],
)
def test_samples_are_those_that_pillow_gives(tmp_path, monkeypatch, by_pillow, name, modes, how):
    for mode in modes:
        image = image_of(mode)
        image.save(tmp_path / name, **how)
        by_pillow.clear()
        found, said = loaded(tmp_path / name)
        assert by_pillow == []
        with monkeypatch.context() as patch:
            patch.setattr(from_pillow, "MAX_PIXELS", 0)
            patch.setattr(from_pillow, "_of_jpeg", lambda *_: None)
            expected, same = loaded(tmp_path / name)
        assert by_pillow == [image.size]
        np.testing.assert_array_equal(found, expected)
        assert (found.dtype, said) == (expected.dtype, same)


def test_what_is_told_behind_the_samples_or_marked_is_read(tmp_path, monkeypatch, by_pillow):
    deep = b"".join(png.parts_of(noise(6, 5, 3, "uint16"), []))  # of which Pillow decodes nothing
    (tmp_path / "deep.png").write_bytes(deep[:-12] + png_chunk(b"tEXt", b"a\0b") + deep[-12:])
    assert loaded(tmp_path / "deep.png")[0].shape == (6, 5, 3)
    image, file = image_of("RGB"), io.BytesIO()
    image.save(file, "PNG")
    whole = file.getvalue()
    exif = Image.Exif()
    exif[0x0112] = 6  # to be turned
    end = whole.index(b"IEND") - 4
    late = png_chunk(b"eXIf", exif.tobytes().removeprefix(b"Exif\0\0"))
    (tmp_path / "late.png").write_bytes(whole[:end] + late + whole[end:])
    samples, said = loaded(tmp_path / "late.png")
    assert samples.shape == (93, 61, 3)
    assert "Rotated upright (EXIF)." in said
    monkeypatch.setattr(imagecodecs, "png_decode", by_pillow.append)  # none is decoded twice
    image.save(tmp_path / "marked.png", transparency=(1, 2, 3))
    samples, said = loaded(tmp_path / "marked.png")
    assert samples.shape[2] == 4
    image.convert("CMYK").save(tmp_path / "inks.jpg")
    assert "CMYK" in " ".join(loaded(tmp_path / "inks.jpg")[1])
    assert by_pillow == [image.size]


@pytest.mark.parametrize("name", ["a.png", "a.jpg"])
def test_one_that_is_cut_short_is_refused(tmp_path, by_pillow, name):
    image_of("RGB").save(tmp_path / name)
    whole = (tmp_path / name).read_bytes()
    for length in (len(whole) - 2 if name == "a.jpg" else 400, len(whole) // 2, 400):
        (tmp_path / name).write_bytes(whole[:length])
        with pytest.raises(ImageFileError, match="damaged or cut short"):
            loaded(tmp_path / name)
    assert by_pillow == []  # which would make something of a JPEG


def test_damage_in_the_middle_is_refused_in_silence(tmp_path, capfd):
    for name, damage in (("a.jpg", b"\xff\xd9" * 4), ("a.png", b"\0" * 8)):
        image_of("RGB").save(tmp_path / name)
        whole = (tmp_path / name).read_bytes()
        middle = len(whole) // 2
        (tmp_path / name).write_bytes(whole[:middle] + damage + whole[middle + 8 :])
        with pytest.raises(ImageFileError, match="damaged or cut short"):
            loaded(tmp_path / name)
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("kind", ["L", "RGB", "CMYK", "progressive", "MPO"])
def test_a_jpeg_with_a_damaged_scan_is_refused(tmp_path, kind):
    image, page = image_of("L" if kind == "L" else "RGB", 240, 240), 1
    how = {"quality": 90, "subsampling": 0, "progressive": kind == "progressive"}
    if kind == "CMYK":
        image = image.convert("CMYK")
    if kind == "MPO":
        how, page = {"format": "MPO", "save_all": True, "append_images": [image]}, 2
    image.save(tmp_path / "a.jpg", **how)
    whole = (tmp_path / "a.jpg").read_bytes()
    expected = image_files.load(tmp_path / "a.jpg", page=page).samples
    at = (whole.rindex(b"\xff\xda") + len(whole)) // 2
    damages = [
        whole[:at] + b"\xff\xd9",
        whole[:at] + b"\xff\xd3" + whole[at:],  # a restart where there is none
        whole[:at] + bytes(600) + whole[at + 600 :],
        whole[:at] + noise(1, 99, 1).clip(0, 254).tobytes() + whole[at:],
    ]
    for damaged in damages[: 2 if kind == "progressive" else 4]:  # where the others go on
        (tmp_path / "b.jpg").write_bytes(damaged)
        with pytest.raises(ImageFileError, match="damaged or cut short"):
            image_files.load(tmp_path / "b.jpg", page=page)
    (tmp_path / "b.jpg").write_bytes(whole + b"behind the end")
    found = image_files.load(tmp_path / "b.jpg", page=page).samples
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("mode", ["L", "RGB", "CMYK"])
def test_damage_beside_the_scan_of_a_jpeg_loses_nothing(tmp_path, mode):
    image, file = image_of("RGB").convert(mode), io.BytesIO()
    image.save(file, "JPEG", subsampling=0, comment=b"abcdefgh")
    whole, expected = file.getvalue(), np.asarray(image)
    (tmp_path / "a.jpg").write_bytes(whole)
    expected, _ = loaded(tmp_path / "a.jpg")
    for damaged in (
        whole[:-2] + bytes(40) + whole[-2:],  # filled up, as by some cameras
        whole[:-2] + b"odd" * 3 + whole[-2:],
        whole.replace(b"JFIF\0\1", b"JFIF\0\7"),
        whole.replace(b"JFIF\0\1", b"JxIF\0\1"),
        whole.replace(b"\xff\xfe\0\x0a", b"\xff\xfe\0\x04"),  # and text behind it
        whole[:2] + b"\xff\xee\0\x0eAdobe\0\x64\0\0\0\0\x77" + whole[2:],
    ):
        if mode != "CMYK" or b"Adobe\0\x64\0\0\0\0\x77" not in damaged:
            (tmp_path / "a.jpg").write_bytes(damaged)
            np.testing.assert_array_equal(loaded(tmp_path / "a.jpg")[0], expected)


@pytest.mark.parametrize("channels", [1, 3])
@pytest.mark.parametrize("quality", [None, 1, 40, 100])
@pytest.mark.parametrize(
    "metadata",
    [NO_METADATA, Metadata(EXIF.tobytes().removeprefix(exif_of.PREFIX), b"<x:xmpmeta/>")],
    ids=["plain", "metadata"],
)
def test_a_jpeg_is_to_the_byte_the_one_that_pillow_writes(tmp_path, channels, quality, metadata):
    samples = noise(37, 51, channels)
    image_files.save(tmp_path / "a.jpg", samples, quality, metadata)
    more = {}
    if metadata.exif and metadata.xmp:
        more = {"exif": exif_of.PREFIX + metadata.exif, "xmp": metadata.xmp}
    image = Image.fromarray(samples[..., 0] if channels == 1 else samples)
    expected, profile = io.BytesIO(), profile_for(channels)
    image.save(expected, "JPEG", quality=quality or 95, subsampling=0, icc_profile=profile, **more)
    assert (tmp_path / "a.jpg").read_bytes() == expected.getvalue()
