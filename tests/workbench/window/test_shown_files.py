"""Files as the window shows them: page by page, one against another, bright or dark."""

from dataclasses import replace

import numpy as np
import pytest
import tifffile
from PIL import Image
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QAction
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel, QPushButton, QToolButton

from kernels.pictures.generated import noise
from tests.workbench.driving import (
    action,
    answer_file_dialogs,
    child,
    click,
    drop,
    open_recent,
    pick,
    settle,
    show_picture,
    trigger,
    type_into,
    until,
    view,
)
from workbench.files.image_files import load, save
from workbench.files.picture_errors import ImageFileError
from workbench.imaging.display import ABOVE_BGR, BELOW_BGR, show
from workbench.imaging.display_mapping import DisplayMapping, Tone
from workbench.model import step_files
from workbench.model.choices import to_settings
from workbench.model.state import Step
from workbench.panels.controls.filter_popup import FilterBox
from workbench.session import opener
from workbench.widgets.number_boxes import DecimalBox, WholeBox
from workbench.widgets.tile import ValueTile
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


# -- two files held against each other, with no filter in between


def two_files(tmp_path):
    """Noise, and the same with eight pixels of it one level higher, or lower."""
    one = noise(40, 60, 3)
    other = one.copy()
    other[3, :8] ^= 1
    for name, samples in (("A.png", one), ("B.png", other)):
        save(tmp_path / name, samples)
    return tmp_path / "A.png", tmp_path / "B.png", one, other


def compare(qtbot, window, *paths):
    """Drop two files and compare them, as the message offers."""
    settle(qtbot, window, lambda: drop(window, *paths))
    button = next(e for e in window.findChildren(QPushButton) if e.text() == "&Compare the two")
    return settle(qtbot, window, lambda: click(button))


def test_two_dropped_files_are_compared_in_every_mode(qtbot, window, tmp_path):
    path_a, path_b, one, other = two_files(tmp_path)
    result = compare(qtbot, window, path_a, path_b)
    np.testing.assert_array_equal(result.picture, other)
    pane = window.compare.main
    until(qtbot, lambda: "A.png · 60×40" in pane.accessibleDescription())  # under the divider
    assert pane.caption == "B: B.png · 60×40"
    line = window.timing_views.line
    assert "Two files" in line.accessibleName()  # and no time of a filter, nor a verdict on one
    assert "verified" not in line.accessibleName()
    assert window.messages.kind is None  # what offered to compare is gone
    window.compare.show_original(True)  # takes turns with the other file
    assert pane.caption == "A: A.png · 60×40"
    window.compare.show_original(False)
    trigger(window, "Difference")
    until(qtbot, lambda: pane.caption.startswith("B: B.png − A: A.png"))
    trigger(window, "Mismatch")
    until(qtbot, lambda: "blue: 8 differ from the other file" in pane.caption)
    window.docks.enter("Analysis")
    until(
        qtbot, lambda: "dashed: A: A.png, solid: B: B.png" in child(window, "profile-line").text()
    )
    hold = window.compare.read_out_row.original
    assert hold.text() == "Hold: &A"
    assert hold.width() > hold.sizeHint().width(), "as wide as it was"
    psnr = child(window, "psnr", ValueTile)
    mse = np.mean((one.astype(float) - other) ** 2)
    until(qtbot, lambda: psnr._shown[0] == f"{10 * np.log10(255**2 / mse):.2f} dB")
    trigger(window, "Compare with the original")
    until(qtbot, lambda: view(window, "After").caption.startswith("After · Gaussian"))
    until(qtbot, lambda: "verified" in line.accessibleName())
    window.undo_history.undo()
    until(qtbot, lambda: "blue: 8 differ" in pane.caption)
    # One undo more brings back picture, filter and view.
    settle(qtbot, window, lambda: [window.undo_history.undo() for _ in range(3)])
    assert window.store.state.picture.name == "A.png"
    assert child(window, "filter", FilterBox).currentText() == "Gaussian blur"


def test_the_same_file_with_nan_and_infinity_twice_is_the_same(qtbot, window, tmp_path):
    samples = noise(40, 60, 3, "float32")
    samples[9, 9], samples[20, 30, 1], samples[20, 40, 2] = np.nan, np.inf, -np.inf
    for name in ("A.tif", "B.tif"):
        save(tmp_path / name, samples)
    result = compare(qtbot, window, tmp_path / "A.tif", tmp_path / "B.tif")
    np.testing.assert_array_equal(result.picture, samples)
    pane = window.compare.main
    trigger(window, "Mismatch")
    until(qtbot, lambda: "no pixel differs" in pane.caption)
    trigger(window, "Difference")
    until(qtbot, lambda: "nothing differs" in pane.caption)
    window.docks.enter("Analysis")
    psnr = child(window, "psnr", ValueTile)
    until(qtbot, lambda: psnr._shown[0] == "∞")
    pick(child(window, "filter", FilterBox), "gaussian")  # not as small as what changes nothing
    assert window.store.state.ksize == 5


def test_files_of_other_sizes_get_one_sentence(qtbot, window, tmp_path):
    path_a, *_ = two_files(tmp_path)
    show_picture(qtbot, window, noise(40, 61, 3))
    before = window.store.state
    window.intake.compare(path_a)
    until(qtbot, lambda: window.messages.kind == "error")
    assert window.messages.sentence.startswith("A.png is 60×40")
    assert window.store.state == before
    assert view(window, "After").caption.startswith("After · Gaussian")
    save(tmp_path / "C.png", noise(40, 61, 3))
    settle(qtbot, window, lambda: window.intake.compare(tmp_path / "C.png"))
    assert window.messages.kind is None  # one that can be compared is: the error is over


def test_what_was_chosen_comes_back_when_the_comparison_ends(qtbot, window, tmp_path):
    path_a, path_b, *_ = two_files(tmp_path)
    settle(qtbot, window, lambda: drop(window, path_a))
    steps = [Step("gaussian", 7), Step("sharpen", 3), Step("median", 5)]
    window.store.update(**step_files.select(steps, 1), levels=(3.0, 200.0))
    before = settle(qtbot, window) and window.store.state

    def ends(act, **but):
        settle(qtbot, window, lambda: window.intake.compare(path_b))
        assert window.store.state.filter == "identity"
        assert window.undo_history.undo_words == "comparison with B.png"
        assert to_settings(window.store.state)["filter"] == "sharpen"  # of the next start
        settle(qtbot, window, act)
        assert replace(window.store.state, **but) == before

    ends(window.findChild(QAction, "Compare with a file…").trigger)
    window.messages.clear()  # Esc does that first
    ends(lambda: QTest.keyClick(window.compare.main, Qt.Key.Key_Escape))
    assert window.undo_history.undo_words == "picture B.png → A.png"
    ends(lambda: trigger(window, "Compare with the original"))
    # Of another picture only that and its levels are others.
    other = {"picture": before.picture, "levels": before.levels}
    ends(lambda: trigger(window, "Previous in folder"), **other)


# -- how bright a deep picture is shown; its samples never change


VALUES = (-0.5, 0.25, 1.0, 4.0)  # below black, and up to far above white


@pytest.fixture
def glare(tmp_path):
    """A float picture with a quarter of each of VALUES."""
    path = tmp_path / "glare.tif"
    save(path, np.repeat(np.float32(VALUES), 4)[np.newaxis, :, np.newaxis].repeat(8, 0))
    return path


def rgb(window, name, x):
    color = view(window, name).display.images[0].pixelColor(x, 4)
    return color.red(), color.green(), color.blue()


def test_a_float_picture_above_white_is_shown_as_one_wants_and_kept_as_it_is(
    qtbot, window, glare, tmp_path
):
    window.store.update(filter="identity", view_mode="side")
    settle(qtbot, window, lambda: drop(window, glare))
    chip = child(window, "exposure-chip", QToolButton)
    assert chip.isVisible()
    assert rgb(window, "After", 9) == rgb(window, "After", 14) == (255, 255, 255)
    until(qtbot, lambda: action(window, "Auto exposure").isEnabled())
    trigger(window, "Auto exposure")
    for name in ("Before", "After"):
        until(qtbot, lambda name=name: view(window, name).caption.endswith("−2 EV"))
        assert rgb(window, name, 9) == (64, 64, 64)
        assert rgb(window, name, 14) == (255, 255, 255)
    QTest.mouseClick(chip, Qt.MouseButton.LeftButton)
    type_into(child(window, "exposure-ev", DecimalBox), "1")
    until(qtbot, lambda: rgb(window, "After", 5) == (128, 128, 128))
    assert view(window, "After").caption.endswith("+1 EV")
    child(window, "exposure-ev", DecimalBox).window().close()
    trigger(window, "Reset exposure")
    trigger(window, "Mark clipped pixels")
    until(qtbot, lambda: rgb(window, "After", 14) == ABOVE_BGR[::-1])
    assert rgb(window, "After", 1) == BELOW_BGR[::-1]
    assert rgb(window, "After", 9) == (255, 255, 255)  # white itself is not above it
    assert "clipped" in view(window, "Before").caption
    np.testing.assert_array_equal(window.live.result.picture, load(glare).samples)
    # Another picture has its own; this one's comes back with it, and undo takes it away.
    save(tmp_path / "plain.png", np.zeros((8, 16, 1), np.uint8))
    settle(qtbot, window, lambda: drop(window, tmp_path / "plain.png"))
    assert not chip.isVisible()
    assert "8 bits" in action(window, "False colour").toolTip()
    settle(qtbot, window, lambda: drop(window, glare))
    until(qtbot, lambda: "clipped" in view(window, "After").caption)


def test_auto_exposure_clips_nothing(qtbot, window, tmp_path):
    save(tmp_path / "five.tif", np.float32([0.5, 5.0]).repeat(64).reshape(8, 16, 1))
    settle(qtbot, window, lambda: drop(window, tmp_path / "five.tif"))
    until(qtbot, lambda: action(window, "Auto exposure").isEnabled())
    trigger(window, "Auto exposure")
    until(qtbot, lambda: window.store.state.tone.ev != 0)
    assert 0.99 < 5 * 2**window.store.state.tone.ev <= 1
    show_picture(qtbot, window, np.full((8, 16, 1), 40_000, np.uint16))
    assert child(window, "exposure-chip", QToolButton).isVisible()


@pytest.mark.parametrize(("key", "gamma"), [("Tab", 1.5), ("Escape", 1.0), (None, 1.5)])
def test_a_gamma_that_is_typed_counts_without_enter(qtbot, window, glare, key, gamma):
    settle(qtbot, window, lambda: drop(window, glare))
    trigger(window, "Adjust exposure…")
    menu = child(window, "exposure-gamma", DecimalBox).window()
    for typed in ("-2", Qt.Key.Key_Tab, "1.5"):
        send = QTest.keyClick if isinstance(typed, Qt.Key) else QTest.keyClicks
        send(menu.focusWidget(), typed)
    if key is None:
        QTest.mouseClick(menu, Qt.MouseButton.LeftButton, pos=QPoint(-20, -20))
    else:
        QTest.keyClick(menu.focusWidget(), Qt.Key[f"Key_{key}"])
    assert window.store.state.tone == Tone(ev=-2, gamma=gamma)


def test_linear_light_is_shown_bright_and_what_is_not_saved_of_it_is_said(
    qtbot, window, tmp_path, monkeypatch
):
    """An OpenEXR is linear by its definition; its samples and the filter stay so."""
    path, png, seen = (tmp_path / name for name in ("a.exr", "b.png", "c.png"))
    save(path, np.tile(np.float32([0.3024, 5]).repeat(24), 8).reshape(8, 16, 3))
    window.store.update(filter="identity", view_mode="side")
    settle(qtbot, window, lambda: drop(window, path))
    until(qtbot, lambda: rgb(window, "After", 1) == rgb(window, "Before", 1) == (148,) * 3)
    assert "gamma 2.2" in window.messages.sentence
    trigger(window, "Reset exposure")
    window.store.choose(tone=replace(window.store.state.tone, ev=1))
    until(qtbot, lambda: window.live.shown.tone == Tone(ev=1, gamma=2.2))
    answer_file_dialogs(monkeypatch, png)
    trigger(window, "Save result as…")
    said = child(window, "save-said", QLabel).text()
    assert "above white are cut off, linear light is taken for sRGB. Without loss" in said
    assert "as the samples are: without exposure and gamma. As shown: File ▸ Screensh" in said
    with qtbot.waitSignal(window.exporter.saved):
        click(child(window, "save-agreed", QPushButton))
    assert load(png).samples[0, :, 0].tolist() == [77] * 8 + [255] * 8
    # What is seen is saved as well, also of whole numbers, which are saved as they are elsewhere.
    for pixel_type in ("uint16", None):
        settle(qtbot, window, lambda kind=pixel_type: window.store.choose(pixel_type=kind))
        answer_file_dialogs(monkeypatch, seen)
        with qtbot.waitSignal(window.exporter.saved):
            trigger(window, "Filtered picture…")
        assert load(seen).samples[0, ::15, 0].tolist() == [203, 255]
    show_picture(qtbot, window, noise(8, 9, 1, "uint16"))  # from no file, and no light
    assert window.store.state.tone == Tone()


def test_gamma_and_false_colour_come_after_exposure():
    half = np.full((2, 2, 1), 16384, np.uint16)
    assert show(half, DisplayMapping(tone=Tone(ev=1, gamma=2))).pixels[0][0, 0, 0] == 180
    colours = [
        show(np.full((1, 1, 3), value, np.float32), DisplayMapping(tone=Tone(is_false_colour=True)))
        for value in (0.0, 0.5, 1.0)
    ]
    blue, green, yellow = ([int(c) for c in each.pixels[0][0, 0, :3]] for each in colours)
    assert (blue, yellow) == ([84, 1, 68], [37, 231, 253])  # the ends of viridis
    assert green[1] == max(green)


def test_exposure_of_what_lies_around_zero_leaves_zero_grey():
    samples = np.float32([[-1, 0, 1]])[..., np.newaxis]
    tone = Tone(ev=1, gamma=2.2)  # which is of light, and not of differences
    shown = show(samples, DisplayMapping((-2, 2), "offset", tone=tone)).pixels[0][0, :, 0]
    assert shown.tolist() == [0, 128, 255]


def test_what_cannot_filter_a_picture_gives_way_with_a_word(qtbot, window):
    show_picture(qtbot, window, np.ones((8, 9, 1), np.float32))
    assert window.store.state.implementation == "opencv"
    show_picture(qtbot, window, np.full((8, 9, 1), np.inf, np.float32))
    assert window.store.state.implementation == "auto"
    assert "so Auto takes its place" in window.messages.sentence
    window.undo_history.undo()
    until(qtbot, lambda: window.store.state.implementation == "opencv")
