"""A TIFF too large for memory opens in the window at once, as a reduced copy."""

import threading

import numpy as np
import pytest
from PySide6.QtWidgets import QLabel, QPushButton, QToolButton

from kernels.pictures.generated import noise
from tests.workbench.driving import child, click, drop, settle, until
from tests.workbench.window.large.large_files import (
    HEIGHT,
    WIDTH,
    little_memory,
    plain,
    pyramid,
    whole,
)
from workbench.files import image_files, large_pictures, needs
from workbench.files.large_pictures import LargePicture
from workbench.files.picture_errors import TooLargeError
from workbench.imaging.pictures import LargeSource
from workbench.panels.compare import compare_view
from workbench.panels.compare.compare_view import CompareView
from workbench.session import live

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

    monkeypatch.setattr(compare_view, "SLOW_MS", 0)
    window = make_window()
    first = settle(qtbot, window, window.opener.open_built_in)
    caption, title = window.compare.main.caption, window.windowTitle()
    monkeypatch.setattr(large_pictures, "NEWS_S", -1.0)
    monkeypatch.setattr(LargePicture, "rows", slow)
    drop(window, plain(tmp_path / "large.tif"))
    try:
        bar, cancel = child(window, "opening-progress"), child(window, "opening-cancel")
        until(qtbot, lambda: bar.isVisible() and 40 <= bar.value() < 50)
        assert child(window, "opening", QLabel).text() == "Opening large.tif…"
        assert (window.compare.main.caption, window.windowTitle()) == (caption, title)
        click(cancel)
        assert not bar.isVisible()
    finally:
        goes_on.set()
    qtbot.wait(50)
    assert window.live.result is first
    assert window.windowTitle() == title


def test_the_title_and_what_is_labelled_change_with_the_picture(
    qtbot, make_window, tmp_path, monkeypatch
):
    """Also where it is read at once and takes long to be made fit for the screen."""
    goes_on, show = threading.Event(), live.show
    for name in ("a.png", "b.png"):
        image_files.save(tmp_path / name, noise(40, 50, 3))
    monkeypatch.setattr(compare_view, "SLOW_MS", 0)
    window = make_window()
    settle(qtbot, window, lambda: drop(window, tmp_path / "a.png"))
    shown, title = window.compare.main.display, window.windowTitle()

    def slow(*what):
        goes_on.wait(60)
        return show(*what)

    card = child(window, "opening", QLabel)
    monkeypatch.setattr(live, "show", slow)
    try:
        drop(window, tmp_path / "b.png")
        until(qtbot, lambda: opened(window).name == "b.png" and card.isVisible())
        assert card.text() == "Opening b.png…"
        assert (window.compare.main.display, window.windowTitle()) == (shown, title)
        click(child(window, "opening-cancel"))
        assert opened(window).name == "a.png"
        assert not card.isVisible()
        drop(window, tmp_path / "b.png")
    finally:
        goes_on.set()
    until(qtbot, lambda: window.windowTitle().startswith("b.png"))
    until(qtbot, lambda: window.compare.main.caption.startswith("After"))
    assert not card.isVisible()


def test_a_picture_that_takes_half_of_the_memory_may_be_opened_as_a_copy(
    qtbot, window, tmp_path, monkeypatch
):
    path = plain(tmp_path / "large.tif")
    need = needs.Need("large.tif", WIDTH, HEIGHT, 3, WIDTH * HEIGHT * 3, WIDTH * HEIGHT * 3)
    monkeypatch.setattr(needs, "memory_available_bytes", lambda: 3 * need.to_show)
    settle(qtbot, window, lambda: drop(window, path))  # nothing to ask about
    assert opened(window).large is None
    monkeypatch.setattr(needs, "memory_available_bytes", lambda: need.to_show)
    drop(window, path)
    until(qtbot, lambda: window.messages.kind == "warning")
    assert "large.tif is large" in window.messages.sentence
    settle(qtbot, window, lambda: click(child(window, "act-1", QPushButton)))
    assert opened(window).large is not None
    assert window.messages.kind != "warning"
