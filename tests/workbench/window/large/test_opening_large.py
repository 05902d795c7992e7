"""A TIFF too large for memory opens in the window at once, as a reduced copy."""

import threading

import numpy as np
import pytest
from PySide6.QtWidgets import QLabel, QPushButton, QToolButton

from tests.workbench.driving import (
    child,
    click,
    drop,
    settle,
    until,
)
from tests.workbench.window.large.large_files import (
    HEIGHT,
    WIDTH,
    little_memory,
    plain,
    pyramid,
    whole,
)
from workbench.files import image_files, large_pictures
from workbench.files.large_pictures import LargePicture
from workbench.files.picture_errors import TooLargeError
from workbench.imaging.pictures import LargeSource
from workbench.panels.compare.compare_view import CompareView
from workbench.session import opener

__all__ = ["little_memory"]
STEP = 8


def opened(window):
    return window.store.state.picture


def every(step):
    """One pixel of every step × step, the one in the middle."""
    return whole()[step // 2 :: step, step // 2 :: step]


@pytest.mark.parametrize("how", [{}, {"tile": (64, 64), "compression": "lzw"}, {"rowsperstrip": 7}])
def test_it_opens_as_every_so_many_th_pixel_and_says_so(
    qtbot, window, tmp_path, little_memory, how, monkeypatch
):
    path = plain(tmp_path / "large.tif", **how)
    said, show_patches = [], CompareView.show_patches

    def noted(view, *what):  # soon after, what is in view is there at full resolution
        said.append(what[-1])
        show_patches(view, *what)

    monkeypatch.setattr(CompareView, "show_patches", noted)
    with pytest.raises(TooLargeError):
        image_files.load(path)
    result = settle(qtbot, window, lambda: drop(window, path))
    picture = opened(window)
    assert picture.large == LargeSource(WIDTH, HEIGHT, STEP)
    expected = every(STEP)
    np.testing.assert_array_equal(picture.samples[: len(expected), : expected.shape[1]], expected)
    np.testing.assert_array_equal(result.job.picture, picture.samples)
    assert result.check.ok
    assert picture.path == path
    assert "Shown at 1/8 of 640×500" in window.messages.sentence
    assert any(words.startswith("Shown at 1/8 of 640×500") for words in said)
    assert child(window, "large-chip", QToolButton).text() == said[-1]
    assert child(window, "line-subject", QLabel).text().startswith("of the copy")


@pytest.mark.parametrize("as_subifds", [True, False])
def test_a_copy_in_the_file_is_taken_where_there_is_one(
    qtbot, window, tmp_path, little_memory, as_subifds
):
    path = pyramid(tmp_path / "slide.tif", as_subifds)
    with LargePicture(path) as picture:
        assert picture.sizes == ((640, 500), (320, 250), (160, 125))
    settle(qtbot, window, lambda: drop(window, path))
    picture = opened(window)
    assert picture.large == LargeSource(WIDTH, HEIGHT, STEP)
    fourth = whole()[::4, ::4] // 2 + 64  # of which every second pixel is taken
    np.testing.assert_array_equal(picture.samples[:62, :79], fourth[1:124:2, 1:158:2])
    assert "from a reduced copy in the file" in picture.notes[-1]


def test_a_long_reading_says_how_far_it_is_and_can_be_stopped(
    qtbot, make_window, tmp_path, little_memory, monkeypatch
):
    goes_on = threading.Event()
    rows = LargePicture.rows

    def slow(picture, first, end, out=None):
        if first > HEIGHT // 2:
            goes_on.wait(60)
        return rows(picture, first, end, out)

    monkeypatch.setattr(opener, "SLOW_MS", 0)
    window = make_window()
    monkeypatch.setattr(large_pictures, "NEWS_S", -1.0)
    monkeypatch.setattr(LargePicture, "rows", slow)
    drop(window, plain(tmp_path / "large.tif"))
    try:
        until(qtbot, lambda: window.messages.sentence.startswith("Opening large.tif… 4"))
        click(child(window, "act", QPushButton))
    finally:
        goes_on.set()
    until(qtbot, lambda: not window.messages.sentence)
    assert opened(window) is None or opened(window).name != "large.tif"
