"""The built-in pictures are what their descriptions say, and the same on every computer."""

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from kernels import pictures
from kernels.job import Job

SCENE_FILE = Path(__file__).parents[2] / "assets" / "scene.png"


@pytest.mark.parametrize("key", pictures.PICTURES)
def test_every_built_in_picture_can_be_filtered(key):
    built_in = pictures.PICTURES[key]
    Job(built_in.make(), np.ones((1, 1), np.float32))
    assert built_in.title
    assert built_in.shows.endswith(".")


@pytest.mark.parametrize("key", pictures.PICTURES)
def test_a_built_in_picture_is_the_same_every_time(key):
    make = pictures.PICTURES[key].make
    assert np.array_equal(make(), make())


def test_the_checkerboard_begins_black_and_changes_every_eight_pixels():
    board = pictures.checkerboard()
    assert (board.shape, board.dtype) == ((64, 64, 1), np.uint8)
    assert set(np.unique(board)) == {0, 255}
    assert board[0, 0] == board[7, 7] == board[8, 8] == 0
    assert board[0, 8] == board[8, 0] == 255


@pytest.mark.parametrize("pixel_type", ["uint8", "uint16", "float32"])
def test_noise_covers_its_type_in_any_shape(pixel_type):
    noise = pictures.noise(300, 401, 3, pixel_type)
    white = 1.0 if pixel_type == "float32" else np.iinfo(pixel_type).max
    assert (noise.shape, noise.dtype) == ((300, 401, 3), pixel_type)
    assert noise.min() <= 0.001 * white
    assert noise.max() >= 0.999 * white
    assert float(noise.mean()) == pytest.approx(white / 2, rel=0.01)


def test_noise_comes_from_seed_42():
    expected = np.random.default_rng(42).integers(0, 255, (4, 5, 1), np.uint8, endpoint=True)
    assert np.array_equal(pictures.noise(4, 5), expected)


def test_the_gradient_rises_from_black_to_white():
    row = pictures.gradient()[0, :, 0]
    assert (row[0], row[-1]) == (0, 65535)
    assert (np.diff(row.astype(int)) > 0).all()


def test_the_zone_plate_is_finest_at_its_edges():
    row = pictures.zone_plate()[256, :, 0].astype(int)
    assert np.array_equal(row, row[::-1])
    assert (np.diff(np.sign(np.diff(row[:9]))) != 0).all(), "up and down in turn: 2 pixels a ring"
    assert abs(np.diff(row[252:260])).max() < 5


def test_the_impulse_is_one_pixel():
    impulse = pictures.impulse()
    assert impulse.sum() == impulse[32, 32, 0] == 1


def test_the_scene_has_dark_and_bright_flat_and_rough():
    scene = pictures.scene()
    assert (scene.shape, scene.dtype) == ((512, 768, 3), np.uint8)
    assert scene.min() < 20
    assert scene.max() > 240


def test_the_bundled_start_picture_is_the_scene():
    with Image.open(SCENE_FILE) as image:
        assert np.array_equal(np.asarray(image), pictures.scene())
