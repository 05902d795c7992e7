"""The window as a whole: coming, showing, remembering and going, with a real engine."""

import gc
import json
import sys
import weakref

import numpy as np
import pytest
from PySide6.QtCore import QSize, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QComboBox, QDialog, QLabel, QMessageBox, QPushButton, QSlider

from kernels.core.device import NoDevice
from kernels.core.job import Progress
from kernels.engine.auto import AUTO
from kernels.engine.engine import Engine
from kernels.pictures.generated import noise
from tests.workbench.driving import (
    child,
    click,
    open_recent,
    pick,
    settle,
    show_picture,
    trigger,
    until,
    view,
)
from tests.workbench.engines import MadeUpGpu, Scripted
from workbench.base import theme
from workbench.base.settings import Settings, default_path
from workbench.model.state import Picture
from workbench.panels.controls.block_numbers import BlockNumbers
from workbench.window.app import show_exception
from workbench.window.main_window import MainWindow


def never_ends(job, steps):
    while job.ksize == 127:
        yield Progress("filtering for ever")
    yield from steps


def write_settings(**values):
    default_path().parent.mkdir(parents=True)
    default_path().write_text(json.dumps({"version": 1, **values}))


def test_it_opens_on_the_bundled_picture(qtbot, window):
    result = settle(qtbot, window, lambda: window.intake.open_paths([]))
    assert result.check.ok
    assert result.job.picture is window.store.state.picture.samples
    assert view(window, "Before").display.size == (768, 512)
    assert view(window, "After").display is window.live.shown
    assert view(window, "After").caption == "After · Gaussian blur 5×5 · OpenCV"
    assert window.windowTitle() == f"{window.store.state.picture.name} — Filter Workbench"
    window.docks.bring_forward("Timing")
    verdict = child(window, "verdict", QLabel).text()
    assert verdict.startswith("✓ verified all pixels")
    assert child(window, "ran", QLabel).text()


def test_it_is_there_before_there_is_a_picture(qtbot, window):
    assert window.isVisible()
    assert window.windowTitle() == "Filter Workbench"
    assert not child(window, "sweep-start").isEnabled()
    trigger(window, "Copy result")
    assert window.messages.sentence == "There is no result of this picture to copy yet."
    trigger(window, "Save result as…")
    assert window.messages.sentence == "There is no result of this picture to save yet."
    trigger(window, "Copy comparison")
    assert window.messages.sentence == "There is no comparison to show yet."
    trigger(window, "Next in folder")
    assert window.messages.sentence.startswith("This picture is in no folder")
    trigger(window, "Run again")
    trigger(window, "Larger kernel")
    trigger(window, "Wipe")
    assert window.store.state.view_mode == "wipe"


def test_without_a_gpu_it_says_why(qtbot, window):
    chip = child(window, "device", QLabel)
    until(qtbot, lambda: chip.text() == "No GPU")
    assert "switched off" in chip.toolTip()
    assert window.messages.kind == "info"
    assert "switched off" in window.messages.sentence
    combo = child(window, "implementation", QComboBox)
    row = combo.findData("shared")
    assert not combo.model().item(row).isEnabled()
    assert "switched off" in combo.model().item(row).toolTip()


def test_a_gpu_that_is_missing_today_does_not_keep_the_picture_away(qtbot, home, make_window):
    write_settings(choices={"implementation": "shared", "border": "wrap"})
    window = make_window()
    assert window.store.state.implementation == "shared"
    result = show_picture(qtbot, window, noise(20, 30))
    assert (result.job.implementation, result.job.border) == ("opencv", "wrap")
    until(qtbot, lambda: window.messages.kind != "error")


def test_a_screenshot_is_as_large_as_the_window(qtbot, window):
    assert window.screenshots.of_window().size() / window.devicePixelRatio() == window.size()


# -- what is remembered


def test_everything_chosen_is_there_the_next_time(qtbot, home, make_window, tmp_path):
    first = make_window()
    show_picture(qtbot, first, noise(20, 30), path=tmp_path / "photo.png")
    pick(child(first, "filter", QComboBox), "unsharp")
    child(first, "ksize-slider", QSlider).setValue(4)
    pick(child(first, "border", QComboBox), "mirror")
    pick(child(first, "implementation", QComboBox), "parallel")
    pick(child(first, "baseline", QComboBox), "sequential")
    trigger(first, "Wipe")
    first.docks.bring_forward("Timing")
    chosen = first.store.state
    first.close()

    second = make_window()
    state = second.store.state
    for name in ("filter", "ksize", "border", "implementation", "baseline", "view_mode"):
        assert getattr(state, name) == getattr(chosen, name), name
    assert (state.filter, state.ksize, state.implementation) == ("unsharp", 9, "parallel")
    assert second.docks["Timing"].isVisible()
    assert not second.docks["Settings"].isVisible()
    assert second.settings.recent_files == [tmp_path / "photo.png"]
    assert child(second, "filter", QComboBox).currentData() == "unsharp"
    assert child(second, "ksize-slider", QSlider).value() == 4


def test_what_was_not_chosen_is_not_remembered(qtbot, home, make_window):
    first = make_window()
    until(qtbot, lambda: first.device)
    first.close()
    assert "implementation" not in Settings().get("choices", {})


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('{"version": 2}', "begins with its own"),
        ("garbage", "starting afresh"),
        ("", "starting afresh"),
    ],
)
def test_settings_that_are_no_good_are_said_and_stay_said(text, words, qtbot, home, make_window):
    default_path().parent.mkdir()
    default_path().write_text(text)
    window = make_window()
    show_picture(qtbot, window, noise(20, 30))
    until(qtbot, lambda: window.device)
    assert window.messages.kind == "warning"
    assert words in window.messages.sentence


def test_nonsense_in_the_settings_is_no_trouble(qtbot, home, make_window):
    write_settings(
        choices={"filter": "sharpest", "ksize": 4, "matrix": ["a"], "sigma": 10**400, "border": 3},
        geometry="\ud800 no base64",
        layout="AAAA",
        layouts={"800x800": {"window": ["a"], "panels": {"open": [3, "x"], "widths": 5}}},
        theme="purple",
        recent=[3, "", "\ud800", "a\0b"],
        folder=[1],
        mirror=3,
    )
    window = make_window()
    result = show_picture(qtbot, window, noise(20, 30))
    assert result.job.ksize == 5
    assert not any(panel.isVisible() for panel in window.docks.values())
    open_recent(window)


def answer(window, text=None, key=None):
    """Answer the question about all settings by a button, or by a key."""
    trigger(window, "Reset all settings…")
    (box,) = [each for each in window.findChildren(QMessageBox) if each.isVisible()]
    if key is not None:
        QTest.keyClick(box, key)
    else:
        click(next(each for each in box.buttons() if each.text().replace("&", "") == text))
    assert not box.isVisible()


@pytest.mark.parametrize("key", [Qt.Key.Key_Return, Qt.Key.Key_Escape])
def test_nothing_is_reset_by_enter_or_escape(key, qtbot, window):
    window.store.update(border="wrap")
    answer(window, key=key)
    qtbot.wait(10)
    assert window.store.state.border == "wrap"


def test_everything_can_be_reset(qtbot, home, make_window):
    window = make_window()
    show_picture(qtbot, window, noise(20, 30))
    until(qtbot, lambda: window.device)
    pick(child(window, "border", QComboBox), "wrap")
    pick(child(window, "implementation", QComboBox), "sequential")
    window.docks.bring_forward("Timing")
    panel = window.docks["Timing"]
    width = panel.width()
    window.docks.area.set_widths({"right": width + 80})
    until(qtbot, lambda: panel.width() > width)

    def ran():
        result = window.live.result
        return result and (result.job.border, result.job.implementation)

    until(qtbot, lambda: ran() == ("wrap", "sequential"))
    answer(window, "Reset")
    until(qtbot, lambda: ran() == ("clamp", "opencv"))
    assert window.store.state.border == "clamp"
    assert not panel.isVisible()
    assert window.settings.recent_files == []
    window.docks.bring_forward("Timing")
    until(qtbot, lambda: panel.width() == width)
    window.close()
    assert Settings().get("choices", {})["border"] == "clamp"


# -- bugs and going


def test_a_bug_on_the_worker_is_shown_with_its_traceback(qtbot, make_window):
    def script(job, steps):
        if job.border == "wrap":
            raise ZeroDivisionError("a bug")
        yield from steps

    window = make_window(lambda: Scripted(script))
    shown = show_picture(qtbot, window, noise(20, 30))
    window.store.update(border="wrap")
    until(qtbot, lambda: window.messages.kind == "error")
    assert window.messages.sentence == "Something went wrong here: ZeroDivisionError: a bug"
    assert window.live.result is shown
    click(child(window, "details", QPushButton))
    details = child(window.messages, "detailsText").toPlainText()
    assert "Traceback" in details
    assert "in script" in details
    window.messages.findChild(QPushButton, "copy").window().close()
    result = settle(qtbot, window, lambda: window.store.update(border="zero"))
    assert result.job.border == "zero"


def test_an_exception_in_the_window_is_shown(qtbot, window, capsys):
    try:
        raise LookupError("nobody caught this")
    except LookupError:
        show_exception(window.messages, *sys.exc_info())
    assert window.messages.kind == "error"
    assert "LookupError: nobody caught this" in window.messages.sentence
    assert "Traceback" in capsys.readouterr().err


def test_it_closes_in_the_middle_of_a_job_and_a_sweep(qtbot, make_window):
    window = make_window(lambda: Scripted(never_ends))
    show_picture(qtbot, window, noise(20, 30))
    window.store.update(ksize=127)
    child(window, "values-sizes").setText("8, 16")
    click(child(window, "sweep-start"))
    until(qtbot, lambda: child(window, "doing", QLabel).text())
    window.close()
    assert window.worker.isFinished()
    assert not window.isVisible()


def test_it_closes_in_the_middle_of_a_slow_filter(qtbot, make_window):
    window = make_window()
    show_picture(qtbot, window, noise(20, 30))
    pick(child(window, "implementation", QComboBox), "sequential")
    window.store.update(filter="box", ksize=127)
    slow = noise(1200, 1200, 3)  # minutes
    window.opener.opened.emit(Picture("slow", slow))
    until(qtbot, lambda: "Sequential" in child(window, "doing", QLabel).toolTip())
    window.close()
    assert window.worker.isFinished()


def test_it_closes_while_a_picture_is_loading(qtbot, make_window, tmp_path):
    window = make_window()
    window.intake.open_paths([])
    window.opener.open_built_in("noise")
    window.close()
    qtbot.wait(1)  # for what came too late
    assert window.store.state.picture is None


def test_it_closes_before_it_was_shown(qtbot, home):
    window = MainWindow(lambda: Engine(use_gpu=False), Settings())
    qtbot.addWidget(window)
    window.close()
    assert window.worker.isFinished()


def test_a_picture_that_is_no_longer_shown_is_given_back(qtbot, window):
    show_picture(qtbot, window, noise(20, 30))
    samples = weakref.ref(window.store.state.picture.samples)
    result = weakref.ref(window.live.result.picture)
    show_picture(qtbot, window, noise(21, 31))
    gc.collect()
    assert result() is None
    assert samples() is not None  # undo leads back to it, since it came from no file
    window.undo_history.forget()
    gc.collect()
    assert samples() is None


# -- looks


@pytest.fixture
def schemes(qapp):
    yield
    theme.apply(qapp, "light")


@pytest.mark.parametrize(("scheme", "is_dark"), [("Dark", True), ("Light", False)])
def test_the_theme_changes_while_it_works(scheme, is_dark, qtbot, make_window, schemes):
    window = make_window()
    settle(qtbot, window, lambda: window.intake.open_paths([]))
    window.live.run_again()
    settle(qtbot, window, lambda: trigger(window, scheme))
    shot = window.screenshots.of_window()
    for place in (QSize(3, shot.height() // 2), QSize(shot.width() // 2, 3)):
        assert (shot.pixelColor(place.width(), place.height()).lightness() < 128) == is_dark
    assert window.settings.get("theme", "system") == scheme.lower()


def test_pictures_of_one_pixel_and_of_one_row_are_shown(qtbot, window):
    for shape in ((1, 1, 1), (1, 17, 3), (17, 1, 4)):
        result = show_picture(qtbot, window, np.zeros(shape, np.uint8))
        assert result.check.ok
        assert view(window, "After").display.size == (shape[1], shape[0])


def test_where_there_is_no_gpu_it_says_what_would_help(qtbot, make_window):
    window = make_window(Engine)
    until(qtbot, lambda: window.device)
    if not isinstance(window.device, NoDevice):
        pytest.skip("there is a GPU")
    assert window.device.reason in window.messages.sentence
    click(child(window.messages, "details"))
    (dialog,) = [each for each in window.findChildren(QDialog) if each.isVisible()]
    assert child(dialog, "detailsText").toPlainText() == window.device.remedy
    dialog.close()


def test_that_there_is_no_gpu_is_said_over_the_pictures_at_the_first_start_only(qtbot, make_window):
    window = make_window()
    until(qtbot, lambda: window.device)
    assert window.device.reason in window.messages.sentence
    window.close()
    again = make_window()
    until(qtbot, lambda: again.device)
    assert again.messages.kind is None
    assert again.device.reason in child(again, "device").toolTip()


def test_auto_is_the_first_choice_on_a_gpu_and_names_what_it_ran(qtbot, make_window):
    window = make_window(MadeUpGpu)
    until(qtbot, lambda: window.device is not None)
    show_picture(qtbot, window, noise(24, 32))
    assert window.store.state.implementation == AUTO.key
    result = window.live.result
    window.docks.enter("Timing")
    ran = getattr(child(window, "ran", QLabel), "whole_text", child(window, "ran", QLabel).text())
    x, y = result.block_xy
    assert ran.startswith(f"auto: {result.implementation} {x}×{y}")
    assert "Auto: " in view(window, "After").caption
    picker = window.controls.get().findChild(BlockNumbers)
    assert not picker.isEnabled()
    settle(qtbot, window, lambda: window.store.update(implementation="shared"))
    assert picker.isEnabled()
