"""The pages of a file in the window: turned by key and box, undone, restored, saved one by one."""

import numpy as np
import pytest
import tifffile
from PIL import Image
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel

from kernels.pictures.generated import noise
from tests.workbench.driving import (
    action,
    answer_file_dialogs,
    child,
    drop,
    open_recent,
    settle,
    trigger,
    type_into,
    until,
)
from workbench.files.image_files import load, save
from workbench.files.picture_errors import ImageFileError
from workbench.session import opener
from workbench.widgets.number_boxes import WholeBox
from workbench.window.copy_as import command_line, python
from workbench.window.talk import as_toml, read_talk, step_of

PLANES = np.random.default_rng(3).integers(0, 256, (8, 30, 40), np.uint8)


@pytest.fixture
def folder(tmp_path):
    """A picture, and behind it a stack of two channels in four depths."""
    save(tmp_path / "img1.png", noise(30, 40, 1))
    tifffile.imwrite(tmp_path / "img2.tif", PLANES.reshape(4, 2, 30, 40), imagej=True)
    return tmp_path


@pytest.fixture
def stack(qtbot, window, folder):
    """The window with the stack open."""
    settle(qtbot, window, lambda: drop(window, folder / "img2.tif"))
    return window


def page(window):
    return window.store.state.picture.page.number


def shows(window, number):
    return np.array_equal(window.store.state.picture.samples[..., 0], PLANES[number - 1])


def press(qtbot, window, key):
    shift = Qt.KeyboardModifier.ShiftModifier
    settle(qtbot, window, lambda: QTest.keyClick(window, key, shift))


def test_a_box_shows_the_page_where_there_are_several_and_nothing_moves(qtbot, window, folder):
    settle(qtbot, window, lambda: drop(window, folder / "img1.png"))
    until(qtbot, window.place.isVisible)
    assert not window.page_box.isVisible()
    fixed = [window.place, child(window, "zoom"), child(window, "fit"), window.compare]
    before = [(each.mapTo(window, QPoint()), each.size()) for each in fixed]
    settle(qtbot, window, lambda: trigger(window, "Next in folder"))
    until(qtbot, window.page_box.isVisible)
    qtbot.wait(50)
    assert [(each.mapTo(window, QPoint()), each.size()) for each in fixed] == before
    assert child(window, "page", WholeBox).value() == 1
    assert child(window, "page-of", QLabel).text() == "of 8"
    settle(qtbot, window, lambda: trigger(window, "Previous in folder"))
    assert not window.page_box.isVisible()


def test_pages_are_turned_by_keys_and_by_number_and_the_window_says_which_it_is(qtbot, stack):
    press(qtbot, stack, Qt.Key.Key_PageDown)
    assert shows(stack, 2)
    assert stack.windowTitle().startswith("img2.tif, page 2 of 8 (z 1, c 2)")
    settle(qtbot, stack, lambda: type_into(child(stack, "page"), "8"))
    box = child(stack, "page")
    assert box.sizeHint().height() <= box.height() <= box.parentWidget().height()
    assert shows(stack, 8)
    assert not action(stack, "Next page").isEnabled()
    assert "no further page" in action(stack, "Next page").toolTip()
    press(qtbot, stack, Qt.Key.Key_PageUp)
    assert shows(stack, 7)
    assert child(stack, "page", WholeBox).value() == 7
    until(qtbot, lambda: child(stack, "place-words", QLabel).text() == "2 of 2")


def test_undo_recent_files_and_a_restored_window_bring_the_page_back(qtbot, stack, folder):
    settle(qtbot, stack, lambda: type_into(child(stack, "page"), "5"))
    kept = stack.memory.for_window_screenshot()
    settle(qtbot, stack, stack.undo_history.undo)
    assert stack.statusBar().currentMessage() == "Undone: picture page 5 → img2.tif"
    assert shows(stack, 1)
    settle(qtbot, stack, stack.undo_history.redo)
    assert shows(stack, 5)
    settle(qtbot, stack, lambda: trigger(stack, "Previous in folder"))
    recent = {each.text(): each for each in open_recent(stack).actions()}
    settle(qtbot, stack, recent["img2.tif"].trigger)
    assert shows(stack, 5)
    settle(qtbot, stack, lambda: stack.opener.open_file(folder / "img1.png"))
    settle(qtbot, stack, lambda: stack.screenshot_restore.start(kept))
    assert shows(stack, 5)


def test_with_the_key_held_down_each_page_comes_once(qtbot, stack, monkeypatch):
    asked = []

    def counted(path, **how):
        asked.append(how["page"])
        return load(path, page=how["page"])

    monkeypatch.setattr(opener.image_files, "load_any_size", counted)
    settle(qtbot, stack, lambda: [stack.open_menu.turn(1) for _ in range(5)])
    assert shows(stack, 2)
    assert asked == [2]


def test_a_page_that_cannot_be_read_leaves_the_one_in_view(qtbot, stack, folder):
    (folder / "img2.tif").unlink()
    type_into(child(stack, "page"), "3")
    until(qtbot, lambda: "There is no file img2.tif" in stack.messages.sentence)
    assert shows(stack, 1)
    assert child(stack, "page", WholeBox).value() == 1


def test_saving_says_that_one_page_is_kept(qtbot, stack, folder, monkeypatch):
    settle(qtbot, stack, lambda: trigger(stack, "Next page"))
    (folder / "out").mkdir()
    asked = answer_file_dialogs(monkeypatch, folder / "out" / "a.png")
    trigger(stack, "Save result as…")
    until(qtbot, lambda: "page 2 of 8 (z 1, c 2) only" in stack.messages.sentence)
    assert asked
    assert load(folder / "out" / "a.png").samples.shape == (30, 40, 1)


def test_a_page_is_not_saved_over_all_of_them(qtbot, stack, folder, monkeypatch):
    (folder / "link.tif").symlink_to(folder / "img2.tif")
    before, saved = (folder / "img2.tif").read_bytes(), []
    stack.exporter.saved.connect(lambda *each: saved.append(each))
    stack.exporter.failed.connect(saved.append)
    for name in ("img2.tif", "link.tif"):
        stack.messages.show_message("info", "")
        answer_file_dialogs(monkeypatch, folder / name)
        trigger(stack, "Save result as…")
        assert not saved
        assert f"{name} has 8 pages" in stack.messages.sentence
    assert (folder / "img2.tif").read_bytes() == before


def test_what_is_copied_for_elsewhere_and_a_step_of_a_talk_name_the_page(qtbot, stack, tmp_path):
    settle(qtbot, stack, lambda: type_into(child(stack, "page"), "6"))
    state = stack.store.state
    assert command_line(state).endswith("--page 6")
    assert "img2.tif', page=6)" in python(state)
    (tmp_path / "talk.toml").write_text(as_toml("", [step_of(state)], tmp_path))
    _, (step,) = read_talk(tmp_path / "talk.toml")
    assert step.picture is not None
    assert step.picture.is_of(state.picture)


def test_frames_of_an_animation_are_turned_as_well(qtbot, window, tmp_path):
    first, *others = map(Image.fromarray, PLANES)
    first.save(tmp_path / "a.png", save_all=True, append_images=others)
    settle(qtbot, window, lambda: drop(window, tmp_path / "a.png"))
    for number in (2, 3):
        press(qtbot, window, Qt.Key.Key_PageDown)
        assert shows(window, number)
    with pytest.raises(ImageFileError, match="no page 9"):
        load(tmp_path / "a.png", page=9)
