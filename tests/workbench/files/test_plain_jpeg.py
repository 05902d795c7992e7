"""JPEG files, decoded and encoded in one go, as Pillow does it, or by Pillow where it matters."""

import io

import numpy as np
import pytest
from PIL import Image, JpegImagePlugin

from kernels.pictures.generated import noise, of_kind
from workbench.files import exif as exif_of
from workbench.files import from_pillow, image_files
from workbench.files.colour_profiles import profile_for
from workbench.files.picture_errors import ImageFileError
from workbench.imaging.pictures import NO_METADATA, Metadata

MODES = {"L": 1, "RGB": 3}
EXIF = Image.Exif()
EXIF[0x010F] = "a camera"


@pytest.fixture
def by_pillow(monkeypatch):
    """Counts the pictures whose samples Pillow decodes, by their sizes."""
    real, counted = JpegImagePlugin.JpegImageFile.load_prepare, []

    def prepare(self):
        counted.append(self.size)
        real(self)

    monkeypatch.setattr(JpegImagePlugin.JpegImageFile, "load_prepare", prepare)
    return counted


def image_of(mode, height=61, width=93):
    picture = of_kind("photo", height, width, MODES[mode], "uint8")
    return Image.fromarray(picture[..., 0] if mode == "L" else picture, mode)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    "how",
    [
        {},
        {"progressive": True},
        {"quality": 95, "subsampling": 0},
        {"quality": 90, "subsampling": 1},
        {"quality": 20, "optimize": True},
        {"restart_marker_rows": 1},
        {"keep_rgb": True},
    ],
    ids=lambda how: "-".join(how) or "plain",
)
def test_samples_are_those_that_pillow_gives(tmp_path, monkeypatch, by_pillow, mode, how):
    image = image_of(mode)
    image.save(tmp_path / "a.jpg", **how)
    found = image_files.load(tmp_path / "a.jpg")
    assert by_pillow == []
    monkeypatch.setattr(from_pillow, "MAX_PIXELS", 0)
    expected = image_files.load(tmp_path / "a.jpg")
    assert by_pillow == [image.size]
    np.testing.assert_array_equal(found.samples, expected.samples)
    assert found.remarks == expected.remarks


def test_inks_and_what_is_cut_short_is_for_pillow(tmp_path, by_pillow):
    image_of("RGB").convert("CMYK").save(tmp_path / "inks.jpg")
    assert "CMYK" in " ".join(image_files.load(tmp_path / "inks.jpg").remarks)
    image_of("RGB").save(tmp_path / "a.jpg")
    whole = (tmp_path / "a.jpg").read_bytes()
    for length in (len(whole) - 2, len(whole) // 2, 400):
        (tmp_path / "a.jpg").write_bytes(whole[:length])
        with pytest.raises(ImageFileError, match=r"a\.jpg .*cut short"):
            image_files.load(tmp_path / "a.jpg")
    assert len(by_pillow) > 1


def test_of_what_is_damaged_in_the_middle_it_is_what_pillow_makes_of_it(
    tmp_path, monkeypatch, capfd
):
    image_of("RGB").save(tmp_path / "a.jpg")
    whole = (tmp_path / "a.jpg").read_bytes()
    middle = len(whole) // 2
    (tmp_path / "a.jpg").write_bytes(whole[:middle] + b"\xff\xd9" * 4 + whole[middle + 8 :])
    found = image_files.load(tmp_path / "a.jpg").samples
    monkeypatch.setattr(from_pillow, "MAX_PIXELS", 0)
    np.testing.assert_array_equal(found, image_files.load(tmp_path / "a.jpg").samples)
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("channels", [1, 3])
@pytest.mark.parametrize("quality", [None, 1, 40, 100])
@pytest.mark.parametrize(
    "metadata",
    [NO_METADATA, Metadata(EXIF.tobytes().removeprefix(exif_of.PREFIX), b"<x:xmpmeta/>")],
    ids=["plain", "metadata"],
)
def test_a_file_is_to_the_byte_the_one_that_pillow_writes(tmp_path, channels, quality, metadata):
    samples = noise(37, 51, channels)
    image_files.save(tmp_path / "a.jpg", samples, quality, metadata)
    more = {}
    if metadata.exif and metadata.xmp:
        more = {"exif": exif_of.PREFIX + metadata.exif, "xmp": metadata.xmp}
    image = Image.fromarray(samples[..., 0] if channels == 1 else samples)
    expected, profile = io.BytesIO(), profile_for(channels)
    image.save(expected, "JPEG", quality=quality or 95, subsampling=0, icc_profile=profile, **more)
    assert (tmp_path / "a.jpg").read_bytes() == expected.getvalue()
