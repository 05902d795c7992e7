"""Pictures between NumPy and the clipboard: every sample stays what it was."""

from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import QMimeData, QUrl
from PySide6.QtGui import QColor, QColorSpace, QGuiApplication, QImage

from kernels.core.job import PIXEL_TYPES
from kernels.pictures.generated import noise
from workbench.files.picture_errors import ImageFileError
from workbench.session import clipboard
from workbench.session.clipboard import files_in, holds_picture, image_in, picture_in, to_image

FORMATS = {
    ("uint8", 1): QImage.Format.Format_Grayscale8,
    ("uint16", 1): QImage.Format.Format_Grayscale16,
    ("uint8", 3): QImage.Format.Format_RGB888,
    ("uint8", 4): QImage.Format.Format_RGBA8888,
    ("uint16", 4): QImage.Format.Format_RGBA64,
    ("float32", 4): QImage.Format.Format_RGBA32FPx4,
}


def image_of(samples):
    height, width, channels = samples.shape
    format_ = FORMATS[str(samples.dtype), channels]
    return QImage(samples.data, width, height, samples.strides[0], format_).copy()


def to_samples(image):
    notes = []
    samples = clipboard.to_samples(image, notes)
    assert notes == []
    return samples


def content(**what):
    made = QMimeData()
    for kind, value in what.items():
        getattr(made, f"set{kind[0].upper()}{kind[1:]}")(value)
    return made


# -- between images and samples


@pytest.mark.parametrize(("pixel_type", "channels"), FORMATS)
@pytest.mark.parametrize("width", [1, 5, 8])  # rows are padded to four bytes
def test_samples_come_in_as_they_are(pixel_type, channels, width):
    samples = noise(3, width, channels, pixel_type)
    np.testing.assert_array_equal(to_samples(image_of(samples)), samples)


def test_another_colour_space_is_converted_and_said():
    image = QImage(1, 1, QImage.Format.Format_RGB32)
    image.fill(QColor(128, 64, 32))
    image.setColorSpace(QColorSpace(QColorSpace.NamedColorSpace.DisplayP3))
    notes = []
    np.testing.assert_allclose(clipboard.to_samples(image, notes)[0, 0], [138, 59, 21], atol=1)
    assert "sRGB" in notes[0]


@pytest.mark.parametrize("pixel_type", ["uint8", "uint16"])
@pytest.mark.parametrize("channels", [1, 2, 3, 4])
def test_integers_go_out_as_they_are_to_other_programs(pixel_type, channels):
    samples = noise(3, 5, channels, pixel_type)
    samples.flags.writeable = False
    given = to_samples(to_image(samples, QImage()))
    wanted = samples[..., [0, 0, 0, 1]] if channels == 2 else samples
    np.testing.assert_array_equal(given, wanted)


# -- the clipboard itself


@pytest.mark.parametrize("pixel_type", PIXEL_TYPES)
@pytest.mark.parametrize("channels", [1, 2, 3, 4])
def test_what_is_copied_here_is_pasted_here_sample_for_sample(qapp, pixel_type, channels):
    samples = noise(3, 5, channels, pixel_type)
    shown = QImage(5, 3, QImage.Format.Format_RGB32)
    clipboard.copy(samples, to_image(samples, shown))
    assert picture_in(image_in(QGuiApplication.clipboard().mimeData())).samples is samples


@pytest.mark.parametrize(
    ("offered", "words"),
    [
        (None, "holds no picture"),
        (content(), "holds no picture"),
        (content(text="Buy milk."), "holds no picture"),
        (content(html="<b>milk</b>"), "holds no picture"),
        (content(urls=[QUrl("https://example.org/a.png")]), "holds an address"),
    ],
)
def test_what_is_no_picture_is_one_sentence(offered, words):
    assert files_in(offered) == []
    assert not holds_picture(offered)
    with pytest.raises(ImageFileError, match=words):
        image_in(offered)


def test_files_come_as_lists_or_as_text(tmp_path, monkeypatch):
    path = tmp_path / "a picture.png"  # which does not exist: opening it says so
    monkeypatch.setattr(Path, "stat", None)  # on a slow drive it would hold up the window
    for text in (str(path), f'"{path}"\n', path.as_uri()):
        assert files_in(content(text=text)) == [path], text
    assert files_in(content(text=f"{tmp_path}/")) == [tmp_path]  # which says why it does not open
    for text in (path.name, "x" * 5000, "\0", "~", ""):
        assert files_in(content(text=text)) == [], text
    many = [QUrl.fromLocalFile(f"/pictures/{number}.png") for number in range(10_500)]
    assert len(files_in(content(urls=many))) == clipboard.MAX_FILES
