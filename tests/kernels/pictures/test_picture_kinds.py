"""Pictures of a kind are what they are called, in any size, and a photograph stays one."""

import numpy as np
import pytest

from kernels.core.job import PIXEL_TYPES, Job
from kernels.pictures import generated
from kernels.pictures.picture_kinds import KINDS, moved, of_kind

ONE = np.ones((1, 1), np.float32)


def contrast(picture):
    """How much neighbours differ, on average, from black to white."""
    return float(np.abs(np.diff(picture[:, :, 0].astype(np.float64), axis=1)).mean() / 255)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("pixel_type", PIXEL_TYPES)
@pytest.mark.parametrize("channels", [1, 2, 3, 4])
def test_there_is_every_kind_in_every_form(kind, pixel_type, channels):
    for height, width in ((1, 1), (37, 53), (700, 900)):
        made = of_kind(kind, height, width, channels, pixel_type)
        assert (made.shape, made.dtype) == ((height, width, channels), pixel_type)
        assert not made.flags.writeable
        Job(made, ONE)


def test_they_show_what_they_are_called():
    assert len(np.unique(of_kind("uniform", 30, 40))) == 1
    assert np.array_equal(of_kind("checkerboard", 64, 64), generated.checkerboard())
    assert np.array_equal(of_kind("noise", 30, 40), generated.noise(30, 40))
    ramp = of_kind("gradient", 3, 256)[1, :, 0].astype(int)
    assert (ramp[0], ramp[-1]) == (0, 255)
    assert (np.diff(ramp) >= 0).all()


@pytest.mark.parametrize("size", [(64, 64), (256, 256), (480, 640), (2160, 3840)])
def test_a_photo_has_a_photograph_s_contrast_in_any_size(size):
    """Neither as smooth as one drawn out, nor as rough as noise."""
    scene = contrast(of_kind("photo", 512, 768))
    assert scene / 2 < contrast(of_kind("photo", *size)) < 3 * scene
    assert contrast(of_kind("photo", *size)) < contrast(of_kind("noise", *size)) / 5


def test_colour_becomes_grey_by_luma_and_grey_three_channels():
    red = np.zeros((2, 3, 3), np.uint8)
    red[:, :, 0] = 255
    assert np.unique(generated.with_channels(red, 1)).tolist() == [76]
    grey = generated.noise(2, 3, 1)
    assert np.array_equal(generated.with_channels(grey, 3), np.repeat(grey, 3, axis=2))
    assert generated.with_channels(red, 3) is red


def test_a_picture_can_be_moved_round():
    picture = generated.noise(64, 80, 3)
    assert moved(picture, 0) is picture
    other = moved(picture, 1)
    assert other.shape == picture.shape
    assert not np.array_equal(other, picture)
    assert np.array_equal(np.sort(other, axis=None), np.sort(picture, axis=None))
