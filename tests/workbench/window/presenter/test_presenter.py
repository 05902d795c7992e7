"""Presenter mode: its steps and figures, the stage under a clicker's keys, and all put back."""

from dataclasses import replace

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QFontInfo
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel, QListWidget

from kernels.core.device import NoDevice
from kernels.pictures.generated import noise
from tests.made_up import FAILED, PASSED, result
from tests.workbench.driving import child, click, settle, show_picture, trigger, until
from tests.workbench.engines import DEVICE, MadeUpGpu
from workbench.base.numbers import MISSING
from workbench.files import image_files
from workbench.files.picture_refs import PictureRef
from workbench.model import intents
from workbench.model.state import Picture, State
from workbench.panels.compare.picture_view import PictureView
from workbench.window.presenter.figures import figures_of
from workbench.window.presenter.steps_dialog import StepsDialog
from workbench.window.presenter.talk_steps import TalkStep, ladder_steps, step_of, steps_from

MIN_PX = 24  # of letters, on a projector of 1280×720
STATE = State(picture=Picture("made up", noise(20, 30)), implementation="shared")

# -- steps


def test_a_step_survives_being_written_down(tmp_path):
    step = TalkStep("One", {"filter": "box", "ksize": 7}, PictureRef("a.png", tmp_path / "a.png"))
    assert steps_from([step.to_data()]) == (step,)


@pytest.mark.parametrize(
    "data",
    [None, 3, "steps", [None], [{"name": "a"}], [{"name": " ", "choices": {}}], [{"choices": {}}]],
)
def test_what_is_no_step_is_left_out(data):
    assert steps_from(data) == ()


def test_a_step_takes_what_makes_sense_here():
    step = TalkStep("Old", {"filter": "gone", "border": "wrap", "nonsense": 1})
    assert step.changes(STATE) == {"border": "wrap"}


def test_what_is_shown_now_becomes_a_step(tmp_path):
    picture = Picture("a.png", STATE.picture.samples, path=tmp_path / "a.png")
    step = step_of(replace(STATE, picture=picture, ksize=9))
    assert step.name == "Gaussian blur 9×9 · Shared-memory tile"
    assert (step.data["ksize"], step.picture) == (9, PictureRef("a.png", tmp_path / "a.png"))
    assert "view_mode" not in step.data
    assert step_of(STATE).picture is None  # it came from nowhere


def test_by_default_the_ladder_is_climbed():
    steps = ladder_steps(STATE, DEVICE)
    assert [each.data["implementation"] for each in steps][:2] == ["sequential", "parallel"]
    assert "shared" in [each.data["implementation"] for each in steps]
    on_cpu = ladder_steps(STATE, NoDevice("There is none."))
    assert {each.data["implementation"] for each in on_cpu} < {
        "sequential",
        "parallel",
        "opencv",
    } | {"fft"}


# -- figures


def answer(**facts):
    return result(job=intents.job_for(STATE), **facts)


def on_cpu(**facts):
    job = replace(intents.job_for(STATE), implementation="opencv")
    return result(job=job, **facts)


def test_a_speed_beside_a_passed_check():
    figures = figures_of(STATE, answer(samples_ms=(0.2,) * 6), on_cpu(samples_ms=(2.0,) * 6))
    assert (figures.time, figures.speedup) == ("200\u202fµs", "10.0×")
    assert figures.speedup_note == "as fast as OpenCV, 2 threads"
    assert (figures.verdict, figures.is_right) == ("✓ verified", True)
    assert (figures.work, figures.how) == ("Gaussian blur 5×5", "Shared-memory tile · 32×8")
    assert "200" in figures.in_words


def test_what_is_slower_says_how_many_times():
    figures = figures_of(STATE, answer(samples_ms=(60.0,) * 6), on_cpu(samples_ms=(2.0,) * 6))
    assert (figures.speedup, figures.speedup_note) == ("30.0×", "slower than OpenCV, 2 threads")
    same = figures_of(STATE, answer(samples_ms=(2.0,) * 6), on_cpu(samples_ms=(2.0,) * 6))
    assert (same.speedup, same.speedup_note) == ("1.00×", "as fast as OpenCV, 2 threads")


def test_a_single_run_says_so_and_is_no_speed_up():
    figures = figures_of(STATE, answer(samples_ms=(0.2,)), on_cpu())
    assert figures.time_note.endswith(", a single run")
    assert (figures.speedup, figures.speedup_note) == (MISSING, "none from a single run")


def test_none_beside_a_wrong_answer_nor_against_one():
    wrong = figures_of(STATE, answer(check=FAILED), on_cpu())
    assert (wrong.time, wrong.speedup, wrong.is_right) == (MISSING, MISSING, False)
    assert figures_of(STATE, answer(), on_cpu(check=FAILED)).speedup == MISSING
    assert figures_of(STATE, answer(), None).speedup == MISSING
    assert figures_of(STATE, answer(), on_cpu(check=None)).speedup == MISSING


def test_until_it_is_checked_it_is_not_sure():
    figures = figures_of(STATE, answer(check=None), on_cpu())
    assert (figures.is_right, figures.verdict) == (None, "checking …")


@pytest.mark.parametrize("changes", [{"ksize": 7}, {"block_xy": (8, 8)}, {"border": "wrap"}])
def test_a_result_of_anything_else_is_not_shown(changes):
    figures = figures_of(replace(STATE, **changes), answer(check=PASSED), on_cpu())
    assert (figures.time, figures.verdict) == (MISSING, "working …")


# -- the stage


@pytest.fixture
def window(qtbot, make_window):
    window = make_window()
    until(qtbot, lambda: window.device)
    show_picture(qtbot, window, noise(40, 60))
    window.activateWindow()
    return window


def present(qtbot, window):
    QTest.keyClick(window, Qt.Key.Key_F5)
    stage = window.presenter.stage
    # Until then its keys are the window's.
    until(qtbot, lambda: QApplication.activeWindow() is stage)
    return stage


def press(stage, *keys):
    for key in keys:
        QTest.keyClick(stage, key)


def shown(stage, name):
    label = child(stage, f"stage-{name}", QLabel)
    return getattr(label, "whole_text", label.text())


def side(stage, name):
    """The picture before, or after."""
    views = stage.findChildren(PictureView)
    return next(each for each in views if each.accessibleName() == name)


def ladder_of(window):
    """The steps that are shown where none were remembered."""
    return ladder_steps(window.store.state, window.device)


def verified(qtbot, stage):
    until(qtbot, lambda: shown(stage, "verdict") == "✓ verified")


def test_the_ladder_on_this_picture_with_its_figures(qtbot, window):
    stage = present(qtbot, window)
    assert stage.isFullScreen()
    verified(qtbot, stage)
    assert shown(stage, "title") == "Sequential"
    assert shown(stage, "count") == f"1 / {len(ladder_of(window))}"
    assert shown(stage, "work") == "Gaussian blur 5×5"
    until(qtbot, lambda: "×" in shown(stage, "speedup"))
    assert "OpenCV" in shown(stage, "speedup-note")
    assert "Sequential" in stage.accessibleDescription()
    stage.close()


def test_a_clicker_goes_on_and_back_and_not_beyond_the_ends(qtbot, window):
    ladder = ladder_of(window)
    stage, count = present(qtbot, window), len(ladder)
    keys = Qt.Key
    press(stage, keys.Key_PageUp)
    assert shown(stage, "count") == f"1 / {count}"
    press(stage, keys.Key_PageDown)
    assert window.store.state.implementation == ladder[1].data["implementation"]
    press(stage, keys.Key_Left, keys.Key_Right, keys.Key_Right)
    assert shown(stage, "count") == f"3 / {count}"
    press(stage, keys.Key_End, keys.Key_PageDown)
    assert shown(stage, "count") == f"{count} / {count}"
    press(stage, keys.Key_Home)
    assert shown(stage, "count") == f"1 / {count}"
    stage.close()


def test_meanwhile_the_window_takes_neither_keys_nor_the_mouse(qtbot, window):
    stage = present(qtbot, window)
    before, handle = window.store.state, window.windowHandle()
    combo = child(window, "filter")
    window.activateWindow()  # as on another screen
    until(qtbot, lambda: QApplication.activeWindow() is window)
    QTest.keyClick(handle, Qt.Key.Key_W)
    QTest.mouseClick(
        handle, Qt.MouseButton.LeftButton, pos=combo.mapTo(window, combo.rect().center())
    )
    assert window.store.state == before
    assert QApplication.activePopupWidget() is None
    press(stage, Qt.Key.Key_Escape)
    until(qtbot, lambda: window.presenter.stage is None)
    window.activateWindow()
    until(qtbot, lambda: QApplication.activeWindow() is window)
    before = window.store.state
    QTest.keyClick(handle, Qt.Key.Key_W)
    until(qtbot, lambda: window.store.state != before)  # it does again


def test_b_blanks_the_screen_until_b_or_the_next_step(qtbot, window):
    stage = present(qtbot, window)
    press(stage, Qt.Key.Key_B)
    assert child(stage, "stage-black").isVisible()
    middle = stage.grab().toImage().pixelColor(stage.width() // 2, stage.height() // 2)
    assert middle.lightness() == 0
    press(stage, Qt.Key.Key_B)
    assert not stage.is_blank
    press(stage, Qt.Key.Key_Period, Qt.Key.Key_PageDown)
    assert not stage.is_blank
    stage.close()


def test_w_wipes_and_space_shows_the_original(qtbot, window):
    stage = present(qtbot, window)
    verified(qtbot, stage)
    press(stage, Qt.Key.Key_W)
    assert stage.is_wipe
    press(stage, Qt.Key.Key_W)
    right = next(v for v in stage.findChildren(PictureView) if v.accessibleName() == "After")
    QTest.keyPress(stage, Qt.Key.Key_Space)
    assert right.caption == "Original"
    QTest.keyRelease(stage, Qt.Key.Key_Space)
    assert right.caption == "After"
    stage.close()


@pytest.mark.parametrize("size", [(1280, 720), (1920, 1080)])
def test_the_smallest_letters_can_be_read_from_the_back_row(size, qtbot, window):
    stage = present(qtbot, window)
    stage.showNormal()
    stage.resize(*size)
    verified(qtbot, stage)
    seen = [*stage.findChildren(QLabel), *stage.findChildren(PictureView)]
    sizes = {each.objectName(): QFontInfo(each.font()).pixelSize() for each in seen}
    assert min(sizes.values()) >= MIN_PX * size[1] / 720
    written = [each for each in stage.findChildren(QLabel) if each.isVisible() and each.text()]
    until(qtbot, lambda: all(each.height() >= each.fontMetrics().height() - 1 for each in written))
    assert all(stage.rect().contains(each.geometry()) for each in written)
    stage.close()


def test_on_leaving_everything_is_as_it_was(qtbot, window):
    window.store.choose(ksize=7, border="wrap")
    before, undo = window.store.state, window.undoing.undo_words
    stage = present(qtbot, window)
    press(stage, Qt.Key.Key_PageDown, Qt.Key.Key_PageDown, Qt.Key.Key_Escape)
    until(qtbot, lambda: window.presenter.stage is None)
    assert window.store.state == before
    assert window.undoing.undo_words == undo
    assert not window.isFullScreen()


def test_closing_the_window_closes_the_stage_and_keeps_what_was_chosen_before(qtbot, window):
    window.store.choose(implementation="opencv")
    press(present(qtbot, window), Qt.Key.Key_PageDown)
    window.close()
    assert window.presenter.stage is None
    assert window.settings.get("choices", {})["implementation"] == "opencv"


def test_without_a_picture_there_is_nothing_to_present(make_window):
    window = make_window()
    trigger(window, "Present")
    assert window.presenter.stage is None
    assert "Open a picture first" in window.messages.sentence


# -- prepared steps


def test_prepared_steps_bring_their_pictures(qtbot, window, tmp_path):
    path = tmp_path / "other.png"
    image_files.save(path, noise(33, 44))
    window.opener.open_file(path)
    until(qtbot, lambda: window.store.state.picture.name == "other.png")
    window.store.choose(ksize=9)
    trigger(window, "Remember this as a step")
    show_picture(qtbot, window, noise(40, 60))
    mine = window.store.state.picture
    stage = present(qtbot, window)
    until(qtbot, lambda: window.store.state.picture.name == "other.png")
    verified(qtbot, stage)
    assert shown(stage, "work") == "Gaussian blur 9×9"
    press(stage, Qt.Key.Key_Escape)
    assert window.store.state.picture is mine


def test_a_step_whose_picture_has_gone_says_so_and_the_show_goes_on(qtbot, window, tmp_path):
    gone = TalkStep("Gone", {"ksize": 7}, PictureRef("gone.png", tmp_path / "gone.png"))
    window.presenter.steps = (gone, TalkStep("Next", {"ksize": 9}))
    stage = present(qtbot, window)
    until(qtbot, lambda: "gone.png" in shown(stage, "hint"))
    press(stage, Qt.Key.Key_PageDown)
    assert window.store.state.ksize == 9
    stage.close()


def test_steps_are_named_ordered_removed_and_there_again(qtbot, window, make_window):
    for size in (3, 5, 7):
        window.store.choose(ksize=size)
        trigger(window, "Remember this as a step")
    trigger(window, "Steps…")
    dialog = window.findChild(StepsDialog)
    steps = child(dialog, "steps-list", QListWidget)
    assert [steps.item(n).text()[:17] for n in range(3)] == [
        f"Gaussian blur {k}×{k}" for k in (3, 5, 7)
    ]
    steps.item(0).setText("First of all")
    steps.setCurrentRow(2)
    click(child(dialog, "steps-up"))
    steps.setCurrentRow(2)
    click(child(dialog, "steps-remove"))
    dialog.close()
    assert [each.name[:12] for each in window.presenter.steps] == ["First of all", "Gaussian blu"]
    assert [each.data["ksize"] for each in window.presenter.steps] == [3, 7]
    window.close()
    again = make_window()
    assert [each.data["ksize"] for each in again.presenter.steps] == [3, 7]


def test_without_steps_the_dialog_says_what_is_presented(window):
    trigger(window, "Steps…")
    dialog = window.findChild(StepsDialog)
    assert "presents the ladder" in child(dialog, "steps-hint", QLabel).text()
    assert not child(dialog, "steps-remove").isEnabled()
    dialog.close()


def test_with_a_gpu_rungs_are_shown_with_their_blocks(qtbot, make_window):
    window = make_window(MadeUpGpu)
    until(qtbot, lambda: window.device)
    show_picture(qtbot, window, np.zeros((30, 40, 3), np.uint8))
    stage = present(qtbot, window)
    keys = [each.data["implementation"] for each in ladder_of(window)]
    for _ in range(keys.index("shared")):
        press(stage, Qt.Key.Key_PageDown)
    verified(qtbot, stage)
    assert shown(stage, "how") == "Shared-memory tile · 32×8"
    stage.close()


def test_a_step_that_cannot_be_run_shows_no_other_steps_result(qtbot, window):
    odd = np.full((40, 60, 1), np.nan, np.float32)  # which OpenCV does not take
    window.presenter.steps = (
        TalkStep("One", {"implementation": "sequential"}),
        TalkStep("Other", {"implementation": "opencv"}),
    )
    settle(qtbot, window, lambda: window.store.update(implementation="sequential"))
    show_picture(qtbot, window, odd)
    stage = present(qtbot, window)
    verified(qtbot, stage)
    assert side(stage, "After").caption == "After"
    press(stage, Qt.Key.Key_PageDown)
    until(qtbot, lambda: shown(stage, "verdict") == "✗ this cannot be run")
    assert side(stage, "After").caption == "Original"
    assert shown(stage, "hint")
    press(stage, Qt.Key.Key_PageUp)
    until(qtbot, lambda: side(stage, "After").caption == "After")
    verified(qtbot, stage)


def test_how_values_below_zero_are_shown_is_said_and_keys_zoom(qtbot, window):
    sobel = {"filter": "sobel_x", "ksize": 3, "negative_display": "offset"}
    settle(qtbot, window, lambda: window.store.update(**sobel))
    stage = present(qtbot, window)
    verified(qtbot, stage)
    assert "offset by half" in side(stage, "After").caption
    scale = side(stage, "Before").transform.scale
    press(stage, Qt.Key.Key_Plus)
    assert side(stage, "After").transform.scale == side(stage, "Before").transform.scale > scale
    press(stage, Qt.Key.Key_0)
    assert side(stage, "Before").transform.scale == scale
