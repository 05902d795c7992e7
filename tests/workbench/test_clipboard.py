"""Pictures between NumPy and the clipboard: every sample stays what it was."""

import numpy as np
import pytest
from PySide6.QtGui import QColor, QImage

from kernels.pictures import noise
from workbench.files.clipboard import to_image, to_samples
from workbench.files.image_files import ImageFileError

FORMATS = {
    ("uint8", 1): QImage.Format.Format_Grayscale8,
    ("uint16", 1): QImage.Format.Format_Grayscale16,
    ("uint8", 3): QImage.Format.Format_RGB888,
    ("uint8", 4): QImage.Format.Format_RGBA8888,
    ("uint16", 4): QImage.Format.Format_RGBA64,
}


def image_of(samples):
    height, width, channels = samples.shape
    format_ = FORMATS[str(samples.dtype), channels]
    return QImage(samples.data, width, height, samples.strides[0], format_).copy()


@pytest.mark.parametrize(("pixel_type", "channels"), FORMATS)
@pytest.mark.parametrize("width", [1, 5, 8])  # rows are padded to four bytes
def test_samples_come_in_as_they_are(pixel_type, channels, width):
    samples = noise(3, width, channels, pixel_type)
    np.testing.assert_array_equal(to_samples(image_of(samples)), samples)


def test_16_bit_colour_without_alpha_has_three_channels():
    samples = noise(3, 5, 4, "uint16")
    samples[..., 3] = 65535
    image = image_of(samples).convertToFormat(QImage.Format.Format_RGBX64)
    np.testing.assert_array_equal(to_samples(image), samples[..., :3])


def test_a_palette_becomes_colour():
    image = QImage(2, 1, QImage.Format.Format_Indexed8)
    image.setColorTable([QColor("red").rgb(), QColor("blue").rgb()])
    image.setPixel(0, 0, 0)
    image.setPixel(1, 0, 1)
    assert to_samples(image).tolist() == [[[255, 0, 0], [0, 0, 255]]]


def test_no_picture_is_a_sentence():
    with pytest.raises(ImageFileError, match=r"^The clipboard holds no picture; copy one first\.$"):
        to_samples(QImage())


@pytest.mark.parametrize("channels", [1, 3])
def test_8_bits_go_out_as_they_are(channels):
    samples = noise(3, 5, channels)
    samples.flags.writeable = False
    image = to_image(samples, QImage())
    np.testing.assert_array_equal(to_samples(image), samples)


@pytest.mark.parametrize(("pixel_type", "channels"), [("uint16", 3), ("uint8", 4), ("float32", 1)])
def test_what_a_clipboard_cannot_hold_goes_out_as_it_is_shown(pixel_type, channels):
    shown = QImage(5, 3, QImage.Format.Format_RGB32)
    shown.fill(QColor("teal"))
    assert to_image(noise(3, 5, channels, pixel_type), shown) == shown
