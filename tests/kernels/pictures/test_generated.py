"""Built-in pictures and the kinds of pictures that sweeps measure."""

import hashlib

import numpy as np
import pytest
from PIL import Image

from kernels.core.job import PIXEL_TYPES, Job
from kernels.pictures import generated
from kernels.pictures.generated import KINDS, moved, of_kind


@pytest.mark.parametrize("key", generated.PICTURES)
def test_every_built_in_picture_can_be_filtered(key):
    built_in = generated.PICTURES[key]
    Job.of(built_in.make(), np.ones((1, 1), np.float32))
    assert built_in.title
    assert built_in.shows.endswith(".")


@pytest.mark.parametrize("pixel_type", ["uint8", "uint16", "float16", "float32"])
def test_noise_covers_its_type_in_any_shape(pixel_type):
    noise = generated.noise(300, 401, 3, pixel_type)
    white = generated.white(noise.dtype)
    assert (noise.shape, noise.dtype) == ((300, 401, 3), pixel_type)
    assert noise.min() <= 0.001 * white
    assert noise.max() >= 0.999 * white
    assert float(noise.mean(dtype=np.float64)) == pytest.approx(white / 2, rel=0.01)


@pytest.mark.parametrize("old", PIXEL_TYPES)
@pytest.mark.parametrize("new", PIXEL_TYPES)
def test_black_and_white_stay_black_and_white_in_another_pixel_type(old, new):
    largest = generated.white(np.dtype(old))
    samples = np.array([0, largest], old).reshape(1, 2, 1)
    stored = generated.stored_as(samples, new)
    assert stored.dtype == new
    assert stored.ravel().tolist() == [0, generated.white(np.dtype(new))]
    assert (stored is samples) == (old == new)


def test_what_a_pixel_type_does_not_hold_is_the_nearest_and_is_counted():
    samples = np.array([-1, 2, np.nan, np.inf, -np.inf, 0.5], np.float32).reshape(1, 6, 1)
    assert generated.stored_as(samples, "uint8").ravel().tolist() == [0, 255, 0, 255, 0, 128]
    halves = np.array([1e6, 1 / 3, np.nan], np.float32).reshape(1, 3, 1)
    stored = generated.stored_as(halves, "float16").ravel()
    assert stored[0] == np.inf
    assert stored[1] == np.float16(1 / 3)
    assert np.isnan(stored[2])
    samples = np.array([-1, 0, 0.5, 1, 2, 7e4, -7e4, np.inf, np.nan], np.float32).reshape(3, 3, 1)
    assert generated.beyond(samples, "uint8") == 5
    assert generated.beyond(samples, "float16") == 2  # an infinity stays what it was
    assert generated.beyond(samples, "float32") == 0
    assert generated.beyond(np.full((1, 1, 1), 65535, np.uint16), "uint8") == 0


def test_the_scene_is_the_same_in_every_pixel_whichever_library_reads_its_file():
    pixels = generated.scene().tobytes()
    assert hashlib.sha256(pixels).hexdigest().startswith("ec498b3a4e4dfc28d7ec1408ca1212da")
    with Image.open(generated.SCENE_FILE) as image:
        assert image.tobytes() == pixels


ONE = np.ones((1, 1), np.float32)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("pixel_type", PIXEL_TYPES)
@pytest.mark.parametrize("channels", [1, 2, 3, 4])
def test_there_is_every_kind_in_every_form(kind, pixel_type, channels):
    for height, width in ((1, 1), (37, 53), (700, 900)):
        made = of_kind(kind, height, width, channels, pixel_type)
        assert (made.shape, made.dtype) == ((height, width, channels), pixel_type)
        assert not made.flags.writeable
        Job.of(made, ONE)


def test_they_show_what_they_are_called():
    assert len(np.unique(of_kind("uniform", 30, 40))) == 1
    assert np.array_equal(of_kind("checkerboard", 64, 64), generated.checkerboard())
    assert np.array_equal(of_kind("noise", 30, 40), generated.noise(30, 40))
    ramp = of_kind("gradient", 3, 256)[1, :, 0].astype(int)
    assert (ramp[0], ramp[-1]) == (0, 255)
    assert (np.diff(ramp) >= 0).all()


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
