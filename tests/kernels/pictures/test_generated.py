"""The built-in pictures are what their descriptions say, and the same on every computer."""

import hashlib

import numpy as np
import pytest
from PIL import Image

from kernels.core.job import PIXEL_TYPES, Job
from kernels.pictures import generated


@pytest.mark.parametrize("key", generated.PICTURES)
def test_every_built_in_picture_can_be_filtered(key):
    built_in = generated.PICTURES[key]
    Job(built_in.make(), np.ones((1, 1), np.float32))
    assert built_in.title
    assert built_in.shows.endswith(".")


def test_the_checkerboard_begins_black_and_changes_every_eight_pixels():
    board = generated.checkerboard()
    assert (board.shape, board.dtype) == ((64, 64, 1), np.uint8)
    assert set(np.unique(board)) == {0, 255}
    assert board[0, 0] == board[7, 7] == board[8, 8] == 0
    assert board[0, 8] == board[8, 0] == 255


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


def test_what_a_pixel_type_does_not_hold_is_the_nearest_it_does():
    samples = np.array([-1, 2, np.nan, np.inf, -np.inf, 0.5], np.float32).reshape(1, 6, 1)
    assert generated.stored_as(samples, "uint8").ravel().tolist() == [0, 255, 0, 255, 0, 128]
    halves = np.array([1e6, 1 / 3, np.nan], np.float32).reshape(1, 3, 1)
    stored = generated.stored_as(halves, "float16").ravel()
    assert stored[0] == np.inf
    assert stored[1] == np.float16(1 / 3)
    assert np.isnan(stored[2])


def test_the_gradient_rises_from_black_to_white():
    row = generated.gradient()[0, :, 0]
    assert (row[0], row[-1]) == (0, 65535)
    assert (np.diff(row.astype(int)) > 0).all()


def test_the_zone_plate_is_finest_at_its_edges():
    row = generated.zone_plate()[256, :, 0].astype(int)
    assert np.array_equal(row, row[::-1])
    assert (np.diff(np.sign(np.diff(row[:9]))) != 0).all(), "up and down in turn: 2 pixels a ring"
    assert abs(np.diff(row[252:260])).max() < 5


def test_the_scene_is_the_same_in_every_pixel_whichever_library_reads_its_file():
    pixels = generated.scene().tobytes()
    assert hashlib.sha256(pixels).hexdigest().startswith("ec498b3a4e4dfc28d7ec1408ca1212da")
    with Image.open(generated.SCENE_FILE) as image:
        assert image.tobytes() == pixels


def test_samples_that_a_pixel_type_cannot_hold_are_counted():
    samples = np.array([-1, 0, 0.5, 1, 2, 7e4, -7e4, np.inf, np.nan], np.float32).reshape(3, 3, 1)
    assert generated.beyond(samples, "uint8") == 5
    assert generated.beyond(samples, "float16") == 2  # an infinity stays what it was
    assert generated.beyond(samples, "float32") == 0
    assert generated.beyond(np.full((1, 1, 1), 65535, np.uint16), "uint8") == 0
