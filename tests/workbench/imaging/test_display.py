"""Samples as pixels of the screen, and numbers on them."""

import gc
import threading

import numpy as np
import pytest
from PySide6.QtCore import QRect
from PySide6.QtGui import QImage

from kernels.pictures.generated import noise
from workbench.imaging.cell_values import CellRequest, font_for, texts_of, written
from workbench.imaging.display import CHECKER_GREYS, MIN_LEVEL, NAN_BGR, to_display


def shown(display, level=0):
    """(H, W, 3) RGB as painted."""
    image = display.images[level]
    assert image.format() == QImage.Format.Format_RGB32
    rows = np.frombuffer(image.constBits(), np.uint8).reshape(image.height(), image.bytesPerLine())
    bgra = rows[:, : 4 * image.width()].reshape(image.height(), image.width(), 4)
    return bgra[..., 2::-1].copy()


@pytest.mark.parametrize("size", [(1, 1), (1, 17), (5, 3), (31, 33), (257, 127)])
def test_8_bit_colour_is_shown_exactly_at_any_width(size):
    samples = noise(*size, 3)
    assert np.array_equal(shown(to_display(samples)), samples)


@pytest.mark.parametrize("channels", [1, 2, 3, 4])
def test_float16_is_shown_as_the_same_values_in_float32_are(channels):
    halves = noise(9, 13, channels, "float32").astype(np.float16)
    halves[2, 3], halves[4, 5], halves[6, 7] = np.nan, np.inf, -np.inf
    for levels in (None, (0.25, 0.5)):
        expected = shown(to_display(halves.astype(np.float32), levels))
        assert np.array_equal(shown(to_display(halves, levels)), expected)


@pytest.mark.parametrize(
    ("dtype", "levels"),
    [
        (np.uint8, (20, 120)),
        (np.uint16, None),
        (np.uint16, (1000, 9000)),
        (np.uint16, (500, 501)),
        (np.float32, None),
        (np.float32, (-0.5, 0.75)),
    ],
)
def test_levels_map_to_black_and_white_and_saturate_beyond(dtype, levels):
    samples = noise(40, 50, 3, np.dtype(dtype).name)
    low, high = levels or (0, 1.0 if dtype == np.float32 else np.iinfo(dtype).max)
    wanted = np.clip((samples.astype(np.float64) - low) / (high - low), 0, 1) * 255
    assert np.abs(shown(to_display(samples, levels)) - wanted).max() <= 0.5 + 1e-3


@pytest.mark.parametrize("levels", [(5, 5), (9, 3), (0, float("nan"))])
def test_levels_out_of_order_are_refused(levels):
    with pytest.raises(ValueError, match="below"):
        to_display(noise(3, 3), levels)


def test_nan_is_magenta_and_infinities_are_black_and_white():
    samples = np.array([np.nan, np.inf, -np.inf, 3e38, -3e38, 1.0], np.float32).reshape(1, 6, 1)
    pixels = shown(to_display(samples))[0]
    assert tuple(pixels[0]) == NAN_BGR[::-1]
    assert pixels[1:, 0].tolist() == [255, 0, 255, 0, 255]


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.float32])
@pytest.mark.parametrize("channels", [2, 4])
def test_alpha_lets_the_checkerboard_through(dtype, channels):
    white = 1.0 if dtype == np.float32 else np.iinfo(dtype).max
    samples = np.zeros((16, 16, channels), dtype)
    samples[..., -1] = white
    samples[:, 8:, -1] = 0
    pixels = shown(to_display(samples))
    assert not pixels[:, :8].any()
    greys = {f"#{grey:02x}{grey:02x}{grey:02x}" for grey in np.unique(pixels[:, 8:])}
    assert greys == set(CHECKER_GREYS)


def test_the_pyramid_halves_until_it_is_small():
    display = to_display(noise(1500, 2051, 3))
    sizes = [(image.width(), image.height()) for image in display.images]
    assert sizes == [(2051, 1500), (1026, 750), (513, 375), (257, 188)]
    assert display.size == (2051, 1500)
    assert max(sizes[-1]) <= MIN_LEVEL


def test_smaller_levels_are_averages_so_that_fine_stripes_become_grey_not_moire():
    stripes = np.zeros((1024, 1024, 1), np.uint8)
    stripes[:, ::2] = 255
    assert np.unique(shown(to_display(stripes), level=1)).tolist() == [128]


def test_the_pixels_outlive_the_samples_and_cross_threads():
    made = []
    samples = noise(600, 700, 3)
    thread = threading.Thread(target=lambda: made.append(to_display(samples.copy())))
    thread.start()
    thread.join()
    gc.collect()
    churn = [np.full((600, 700, 4), value, np.uint8) for value in range(20)]
    assert np.array_equal(shown(made[0]), samples)
    assert len(churn) == 20


@pytest.fixture
def asked(qapp):
    samples = np.zeros((9, 12, 1), np.uint8)
    samples[3, 5] = 188
    font = font_for(40, samples)
    return CellRequest(samples, to_display(samples).pixels[0], QRect(4, 2, 4, 3), 40.5, font)


def test_its_corner_is_that_of_its_region(asked):
    found = written(asked)
    assert found.offset().toTuple() == (162, 81)
    assert (found.width(), found.height()) == (324 - 162, 203 - 81)


def test_a_wider_number_covers_more_of_its_cell(asked):
    image = written(asked)
    rows = np.frombuffer(image.constBits(), np.uint8).reshape(image.height(), -1, 4)
    cover = rows[..., 3].astype(int)
    cells = {
        (x, y): cover[
            round(y * 40.5) : round(y * 40.5) + 40, round(x * 40.5) : round(x * 40.5) + 40
        ].sum()
        for x in range(4)
        for y in range(3)
    }
    assert max(cells, key=cells.get) == (1, 1)
    assert min(cells.values()) > 0


@pytest.mark.parametrize(("channels", "names"), [(1, ""), (2, " α"), (3, "RGB"), (4, "RGBα")])
def test_each_value_of_a_cell_is_named_by_its_channels_letter(channels, names):
    """Where two pixels are alike, a letter in front of a number is all that tells them apart."""
    lines = texts_of(np.arange(channels, dtype=np.uint8).reshape(1, 1, channels))
    assert [line[:-3].rstrip() for line in lines] == [name.strip() for name in names or " "]
    assert [int(line[-3:]) for line in lines] == list(range(channels))
