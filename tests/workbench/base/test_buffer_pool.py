"""Large arrays: their memory is used again, and never while anybody can see it."""

import gc
from threading import Thread

import numpy as np
import pytest
from PySide6.QtGui import QImage

from workbench.base.memory import MAX_BYTES, MIN_BYTES, POOL, empty
from workbench.imaging.display import as_display, to_display

ROWS = MIN_BYTES // 4096 + 1  # of 1024 pixels: just large enough


@pytest.fixture(autouse=True)
def nothing_kept():
    POOL.clear()
    yield
    POOL.clear()


def large(rows=ROWS):
    return empty((rows, 1024, 4))


def address(array):
    return array.__array_interface__["data"][0]


def test_what_nobody_sees_any_more_is_used_again():
    array = large()
    assert array.flags.writeable
    assert array.flags.c_contiguous
    first = address(array)
    del array
    assert address(large()) == first


def image_of(array):
    return QImage(array.data, 1024, ROWS, 4096, QImage.Format.Format_RGB32)


VIEWS = {
    "rows": lambda array: array[5:9],
    "a reshaped one": lambda array: array.reshape(-1),
    "a view of a view": lambda array: array[..., :3][::2].T,
    "its memory": lambda array: array.data,
    "an image": lambda array: image_of(array),
    "an image's copy": lambda array: QImage(image_of(array)),  # Qt's own share of the memory
    "a display": lambda array: as_display((array,)),
}


@pytest.mark.parametrize("view_of", VIEWS.values(), ids=VIEWS)
def test_it_is_not_while_there_is_a_view_of_it(view_of):
    array = large()
    first = address(array)
    view = view_of(array)
    del array
    gc.collect()
    other = large()
    assert address(other) != first
    del view, other
    assert first in map(address, POOL.kept)


def test_one_given_back_in_another_thread_is_used_again():
    arrays = [large()]
    first = address(arrays[0])
    thread = Thread(target=arrays.clear)
    thread.start()
    thread.join()
    assert address(large()) == first


@pytest.mark.parametrize("size", [(ROWS + 1) * 4096, 1, MAX_BYTES + 1])
def test_what_is_of_no_use_for_the_newest_picture_is_let_go(size):
    before, shown = large(), large()
    del before
    assert len(POOL.kept) == 1
    newest = empty((size,))
    assert newest.shape == (size,)
    assert not POOL.kept
    del shown  # it was in view until now
    assert not POOL.kept


def test_pictures_made_one_after_another_stay_as_they_are():
    shape = (ROWS, 1024, 3)
    levels = (10, 90, 200)
    displays = [to_display(np.full(shape, level, np.uint8)) for level in levels]
    again = to_display(np.full(shape, 33, np.uint8))
    for level, display in zip((*levels, 33), (*displays, again), strict=True):
        assert (display.pixels[0][..., :3] == level).all()
        assert display.images[0].pixelColor(1000, ROWS - 1).getRgb()[:3] == (level,) * 3
