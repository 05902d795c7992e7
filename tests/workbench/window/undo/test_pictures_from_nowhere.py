"""A picture that came from no file is brought back by undo, though nothing else holds it."""

import gc

import numpy as np

from kernels.pictures.generated import noise
from tests.workbench.driving import settle, show_picture
from workbench.files.picture_refs import PictureRef
from workbench.model.state import Picture


def test_undo_brings_back_a_picture_of_the_clipboard(qtbot, window):
    show_picture(qtbot, window, noise(20, 30, 3))
    show_picture(qtbot, window, noise(40, 50, 3))
    settle(qtbot, window, lambda: window.store.update(ksize=7))
    gc.collect()
    settle(qtbot, window, lambda: undo(window))
    assert window.store.state.picture.samples.shape == (40, 50, 3)
    settle(qtbot, window, lambda: undo(window))
    np.testing.assert_array_equal(window.store.state.picture.samples, noise(20, 30, 3))


def undo(window):
    window.undo_history.undo()


def test_a_reference_is_of_its_own_picture_only(tmp_path):
    one = Picture("a.png", noise(3, 4), path=tmp_path / "a.png")
    ref = PictureRef.of(one)
    assert ref.is_of(one)
    assert not ref.is_of(Picture("a.png", noise(3, 4)))
    assert not ref.is_of(None)
