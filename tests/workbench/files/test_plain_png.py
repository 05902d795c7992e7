"""PNG files of 8 bits, decoded in one go, as Pillow does it, or by Pillow where it matters."""

import io

import numpy as np
import pytest
from PIL import Image, PngImagePlugin

from kernels.pictures.generated import noise
from workbench.files import from_pillow, image_files, png
from workbench.files.picture_errors import ImageFileError

MODES = {"L": 1, "LA": 2, "RGB": 3, "RGBA": 4}


@pytest.fixture
def by_pillow(monkeypatch):
    """Counts the pictures whose samples Pillow decodes, by their sizes."""
    real, counted = PngImagePlugin.PngImageFile.load_prepare, []

    def prepare(self):
        counted.append(self.size)
        real(self)

    monkeypatch.setattr(PngImagePlugin.PngImageFile, "load_prepare", prepare)
    return counted


def image_of(mode, height=31, width=47):
    picture = noise(height, width, MODES[mode])
    return Image.fromarray(picture[..., 0] if mode == "L" else picture, mode)


def loaded(path):
    picture = image_files.load(path)
    return picture.samples, picture.remarks


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("how", [{}, {"interlace": 1}, {"compress_level": 0}])
def test_samples_are_those_that_pillow_gives(tmp_path, monkeypatch, by_pillow, mode, how):
    image = image_of(mode)
    image.save(tmp_path / "a.png", **how)
    found, said = loaded(tmp_path / "a.png")
    assert by_pillow == []
    monkeypatch.setattr(from_pillow, "MAX_PIXELS", 0)
    expected, same = loaded(tmp_path / "a.png")
    assert by_pillow == [image.size]
    np.testing.assert_array_equal(found, expected)
    assert found.dtype == expected.dtype
    assert said == same


def test_what_is_told_behind_the_samples_is_read_and_so_is_marked_transparency(tmp_path, by_pillow):
    image, file = image_of("RGB"), io.BytesIO()
    image.save(file, "PNG")
    whole = file.getvalue()
    exif = Image.Exif()
    exif[0x0112] = 6  # to be turned
    end = whole.index(b"IEND") - 4
    late = png.chunk(b"eXIf", exif.tobytes().removeprefix(b"Exif\0\0"))
    (tmp_path / "late.png").write_bytes(whole[:end] + late + whole[end:])
    samples, said = loaded(tmp_path / "late.png")
    assert samples.shape == (47, 31, 3)
    assert "Rotated upright (EXIF)." in said
    image.save(tmp_path / "marked.png", transparency=(1, 2, 3))
    samples, said = loaded(tmp_path / "marked.png")
    assert samples.shape[2] == 4
    assert by_pillow == [image.size] * 2


@pytest.mark.parametrize("share", [0.3, 0.9])
def test_of_a_damaged_one_pillow_says_what_is_wrong(tmp_path, by_pillow, share):
    image_of("RGB").save(tmp_path / "a.png")
    whole = (tmp_path / "a.png").read_bytes()
    (tmp_path / "a.png").write_bytes(whole[: int(len(whole) * share)])
    with pytest.raises(ImageFileError, match="damaged or cut short"):
        loaded(tmp_path / "a.png")
    middle = len(whole) // 2
    (tmp_path / "b.png").write_bytes(whole[:middle] + b"\0" * 9 + whole[middle + 9 :])
    with pytest.raises(ImageFileError, match="damaged or cut short"):
        loaded(tmp_path / "b.png")
    assert by_pillow
