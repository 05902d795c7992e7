"""Undo and redo of settings: steps, their words, pictures, and the keys in the real window."""

import gc
import weakref

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QAction, QUndoStack
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QComboBox

from kernels.pictures.generated import noise
from tests.workbench.driving import child, pick, ready, settle, show_picture, type_into, until
from workbench.files import image_files
from workbench.files.picture_errors import ImageFileError
from workbench.imaging.pictures import Picture
from workbench.window import undo_history
from workbench.window.undo_history import Album, StateStep


@pytest.fixture
def steps(qapp):
    return QUndoStack()


def a_step(at_s, before=5, after=7, name="ksize", **how):
    return StateStep({name: before}, {name: after}, at_s, **how)


# -- steps


def test_a_number_that_is_dragged_is_one_step(steps):
    for now, size in enumerate((7, 9, 11)):
        steps.push(a_step(now / 10, size - 2, size))
    assert steps.count() == 1
    assert (steps.command(0).before, steps.command(0).after) == ({"ksize": 5}, {"ksize": 11})
    assert "5 → 11" in steps.undoText()


def test_later_or_of_another_field_it_is_another_step(steps):
    steps.push(a_step(0.0))
    steps.push(a_step(5.0, 7, 9))
    steps.push(a_step(5.1, 1.0, 2.0, "amount"))
    steps.push(a_step(5.2, "clamp", "wrap", "border"))
    steps.push(a_step(5.3, "wrap", "zero", "border"))
    for weights in range(2):
        steps.push(a_step(5.4, weights, weights + 1, "matrix"))
    assert [steps.command(n).before for n in range(steps.count())] == [
        *({"ksize": 5}, {"ksize": 7}, {"amount": 1.0}, {"border": "clamp"}, {"border": "wrap"}),
        *({"matrix": 0}, {"matrix": 1}),
    ]


def test_a_change_right_after_undo_is_a_step_and_drops_those_taken_back(window):
    for size in (7, 9):
        window.store.choose(border="wrap" if size == 7 else "zero")
        window.store.choose(ksize=size)
    window.undo_history.undo()
    assert window.undo_history.redo_words
    window.undo_history.undo()
    assert "border" in window.undo_history.redo_words
    window.store.choose(ksize=11)
    assert not window.undo_history.redo_words
    window.undo_history.undo()
    assert window.store.state.ksize == 7


# -- pictures


def pasted(size=10):
    return Picture("Pasted picture", np.zeros((size, size, 1), np.uint8))


def test_a_picture_from_a_file_is_not_held(tmp_path):
    album = Album()
    picture = Picture("made up", noise(4, 5), path=tmp_path / "made up.png")
    kept, weak = album.keep(picture), weakref.ref(picture)
    assert kept.load() is picture
    del picture
    gc.collect()
    assert weak() is None
    with pytest.raises(ImageFileError):
        kept.load()  # which has gone


def test_pasted_pictures_are_held_the_newest_up_to_so_many_bytes(monkeypatch):
    monkeypatch.setattr(undo_history, "MAX_BYTES", 250)
    album = Album()
    kept = [album.keep(pasted()) for _ in range(3)]
    gc.collect()
    assert [each.weak() is None for each in kept] == [True, False, False]
    with pytest.raises(ImageFileError, match="no longer kept"):
        kept[0].load()
    assert kept[2].load().name == "Pasted picture"


# -- the window


@pytest.fixture
def window(qtbot, make_window):
    return ready(qtbot, make_window(), noise(20, 30))


def undo(window):
    return window.findChild(QAction, "Undo")


def redo(window):
    return window.findChild(QAction, "Redo")


def test_the_menu_says_what_is_undone_and_the_keys_do_it(qtbot, window):
    pick(child(window, "filter", QComboBox), "box")
    assert undo(window).text() == "&Undo filter Gaussian blur → Box blur"
    QTest.keyClick(window, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    assert window.store.state.filter == "gaussian"
    assert child(window, "filter", QComboBox).currentData() == "gaussian"
    assert redo(window).text() == "&Redo filter Gaussian blur → Box blur"
    assert window.statusBar().currentMessage() == "Undone: filter Box blur → Gaussian blur"
    window.messages.show_message("error", "The disk is full.")
    row, bar = window.compare.read_out_row, window.messages
    assert not row.read_out.isVisible()  # the note is in its place
    assert bar.geometry().right() < row.x()
    both = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier
    QTest.keyClick(window, Qt.Key.Key_Z, both)
    assert window.store.state.filter == "box"
    assert window.statusBar().currentMessage() == "Redone: filter Gaussian blur → Box blur"
    undo(window).trigger()
    QTest.keyClick(window, Qt.Key.Key_Y, Qt.KeyboardModifier.ControlModifier)
    assert window.store.state.filter == "box"
    assert not redo(window).isEnabled()
    window.store.choose(view_mode="wipe")
    assert window.statusBar().currentMessage() == ""


def test_while_a_number_is_being_typed_the_key_is_the_boxs_own(qtbot, window):
    box = child(window, "ksize")
    type_into(box, "9")
    box.selectAll()
    QTest.keyClicks(box, "3")
    QTest.keyClick(box, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    assert window.store.state.ksize == 9


def open_in_turn(qtbot, window, folder, *names):
    for number, name in enumerate(names):
        image_files.save(folder / name, noise(12, 14 + number))
        window.opener.open_file(folder / name)
        until(qtbot, lambda name=name: window.store.state.picture.name == name)


def test_a_picture_comes_back_from_its_file_and_goes_again(qtbot, window, tmp_path):
    open_in_turn(qtbot, window, tmp_path, "one.png", "two.png")
    assert undo(window).text() == "&Undo picture one.png → two.png"
    gc.collect()
    undo(window).trigger()
    until(qtbot, lambda: window.store.state.picture.name == "one.png")
    redo(window).trigger()
    until(qtbot, lambda: window.store.state.picture.name == "two.png")


def test_keys_pressed_while_a_picture_comes_back_count(qtbot, window, tmp_path):
    open_in_turn(qtbot, window, tmp_path, "one.png", "two.png", "three.png")
    type_into(child(window, "ksize"), "9")
    pick(child(window, "filter", QComboBox), "box")
    open_in_turn(qtbot, window, tmp_path, "four.png")
    gc.collect()
    for _ in range(5):  # of which the first, and those after the next two, load a picture
        window.undo_history.undo()
    until(qtbot, lambda: window.store.state.picture.name == "one.png")
    assert (window.store.state.filter, window.store.state.ksize) == ("gaussian", 5)
    for _ in range(2):
        window.undo_history.redo()
    until(qtbot, lambda: window.store.state.picture.name == "three.png")
    window.undo_history.undo()
    window.undo_history.undo()
    window.store.choose(ksize=9)  # whoever goes on has decided
    qtbot.wait(200)
    assert window.store.state.picture.name in ("three.png", "two.png")
    assert window.store.state.ksize == 9


def test_where_the_file_has_gone_it_is_said_and_all_stays(qtbot, window, tmp_path):
    path = tmp_path / "gone.png"
    open_in_turn(qtbot, window, tmp_path, path.name)
    kept = weakref.ref(window.store.state.picture)
    show_picture(qtbot, window, noise(9, 9))
    path.unlink()
    until(qtbot, lambda: gc.collect() is not None and kept() is None)
    undo(window).trigger()
    until(qtbot, lambda: window.messages.kind == "error")
    assert window.store.state.picture.name == "made up.png"
    assert undo(window).isEnabled()


def test_the_pixel_type_comes_back_with_the_picture_stored_again(qtbot, window):
    pick(child(window, "pixel-type", QComboBox), "float32")
    until(qtbot, lambda: window.store.state.picture.samples.dtype == np.float32)
    assert undo(window).text() == "&Undo pixel type as in the file → float32"
    undo(window).trigger()
    until(qtbot, lambda: window.store.state.picture.samples.dtype == np.uint8)
    assert not undo(window).isEnabled()


def test_undo_brings_back_a_picture_of_the_clipboard(qtbot, window):
    show_picture(qtbot, window, noise(20, 30, 3))
    show_picture(qtbot, window, noise(40, 50, 3))
    settle(qtbot, window, lambda: window.store.update(ksize=7))
    gc.collect()
    settle(qtbot, window, lambda: window.undo_history.undo())
    assert window.store.state.picture.samples.shape == (40, 50, 3)
    settle(qtbot, window, lambda: window.undo_history.undo())
    np.testing.assert_array_equal(window.store.state.picture.samples, noise(20, 30, 3))
