"""The window as a whole: coming, showing, remembering and going, with a real engine."""

import pytest
from PySide6.QtCore import QPoint, QSize, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QComboBox, QLabel, QPushButton, QSlider

from kernels.core.errors import BadJobError
from kernels.core.job import Progress
from kernels.engine.auto import AUTO
from kernels.pictures.generated import noise
from tests.workbench import scenes
from tests.workbench.driving import (
    answer,
    child,
    click,
    pick,
    question,
    ready,
    settle,
    show_picture,
    trigger,
    until,
    view,
)
from tests.workbench.engines import MadeUpGpu, Scripted
from workbench.base import theme
from workbench.base.settings import Settings, default_path
from workbench.panels.timing.status_line import COMING, REFUSED
from workbench.window import result_views

ACTS = [("&Open", lambda: None), ("Show &folder", lambda: None)]


def never_ends(job, steps):
    while job.ksize == 127:
        yield Progress("filtering for ever")
    yield from steps


class Gate:
    """Runs that end once it is opened; those of size 127 are refused then."""

    def __init__(self):
        self.is_open = True

    def __call__(self, job, steps):
        while not self.is_open:
            yield Progress("waiting")
        if job.ksize == 127:
            raise BadJobError("It does not work.")
        yield from steps


def test_a_result_awaited_is_never_announced_by_the_one_before(qtbot, make_window):
    window = ready(qtbot, make_window(lambda: Scripted(never_ends)), noise(20, 30))
    assert "verified" in child(window, "line-verdict", QLabel).text()
    window.store.choose(ksize=127)
    until(qtbot, lambda: view(window, "After").caption.endswith("of earlier settings"))
    assert "verified" not in child(window, "line-verdict", QLabel).text()
    assert not child(window, "line-time", QLabel).text()
    settle(qtbot, window, lambda: window.store.choose(ksize=5))
    assert "earlier" not in view(window, "After").caption
    assert "verified" in child(window, "line-verdict", QLabel).text()


def test_what_is_said_of_a_late_result_is_taken_back(qtbot, make_window):
    gate = Gate()
    window = ready(qtbot, make_window(lambda: Scripted(gate)), noise(20, 30))
    verdict, before = child(window, "line-verdict", QLabel), window.store.state.ksize

    def is_late():
        return view(window, "After").caption.endswith("of earlier settings")

    gate.is_open = False
    window.store.choose(ksize=127)
    until(qtbot, is_late)
    window.store.choose(ksize=before)  # which its result is of
    until(qtbot, lambda: not is_late())
    assert "verified" in verdict.text()
    window.store.choose(ksize=127)
    until(qtbot, is_late)
    assert verdict.text() == COMING
    gate.is_open = True
    until(qtbot, lambda: window.messages.kind == "error")
    assert is_late()
    assert verdict.text() == REFUSED


def test_the_preview_of_an_undone_filter_goes(qtbot, make_window, monkeypatch):
    gate = Gate()
    monkeypatch.setattr(result_views, "LATE_MS", 1500)  # there is a preview first
    window = ready(qtbot, make_window(lambda: Scripted(gate)), noise(600, 600, 3))
    before, gate.is_open = view(window, "After").caption, False
    window.store.choose(filter="non_local_means", implementation="sequential")
    until(qtbot, lambda: view(window, "After").caption.endswith(result_views.PREVIEW))
    window.undo_history.undo()
    until(qtbot, lambda: view(window, "After").caption == before)
    gate.is_open = True


def test_it_opens_on_the_bundled_picture(qtbot, window):
    result = settle(qtbot, window, lambda: window.intake.open_paths([]))
    assert result.check.ok
    assert result.job.picture is window.store.state.picture.samples
    assert view(window, "Before").display.size == (768, 512)
    assert view(window, "After").display is window.live.shown
    assert view(window, "After").caption == "After · Gaussian blur 5×5 · OpenCV"
    assert window.windowTitle() == f"{window.store.state.picture.name} — Filter Workbench"
    assert window.compare.main.hasFocus()
    window.docks.bring_forward("Timing")
    verdict = child(window, "verdict", QLabel).text()
    assert verdict.startswith("✓ verified all pixels")
    assert child(window, "ran", QLabel).text()


def test_it_is_there_before_there_is_a_picture(qtbot, window):
    assert window.isVisible()
    assert window.windowTitle() == "Filter Workbench"
    assert not child(window, "sweep-start").isEnabled()
    trigger(window, "Copy result")
    assert "no result" in window.messages.sentence
    trigger(window, "Save result as…")
    assert "no result" in window.messages.sentence
    trigger(window, "Copy comparison")
    assert "no comparison" in window.messages.sentence
    trigger(window, "Next in folder")
    assert window.messages.sentence.startswith("This picture is in no folder")
    trigger(window, "Run again")
    trigger(window, "Larger kernel")
    trigger(window, "Wipe")
    assert window.store.state.view_mode == "wipe"


def test_a_note_leaves_time_and_verdict_in_sight_and_goes_with_the_next_change(
    qtbot, window, monkeypatch
):
    monkeypatch.setattr(result_views, "FRESH_MS", 0)
    show_picture(qtbot, window, noise(20, 30, 3))
    window.messages.show_message("info", "Report saved: a report of mine.html.", actions=ACTS)
    scenes.rest()
    note, line = (
        each.mapToGlobal(QPoint()) for each in (window.messages, window.timing_views.line)
    )
    assert note.y() > line.y() + window.timing_views.line.height() * 2 // 3
    settle(qtbot, window, lambda: window.store.choose(ksize=9))
    assert window.messages.isHidden()


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
    assert second.settings.recent_files() == [tmp_path / "photo.png"]
    assert child(second, "filter", QComboBox).currentData() == "unsharp"
    assert child(second, "ksize-slider", QSlider).value() == 4


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


def test_everything_can_be_reset(qtbot, home, make_window):
    window = make_window()
    show_picture(qtbot, window, noise(20, 30))
    until(qtbot, lambda: window.device)
    pick(child(window, "border", QComboBox), "wrap")
    pick(child(window, "implementation", QComboBox), "sequential")
    window.docks.bring_forward("Timing")
    panel = window.docks["Timing"]
    width = panel.width()
    window.docks.set_widths({"right": width + 80})
    until(qtbot, lambda: panel.width() > width)

    def ran():
        result = window.live.result
        return result and (result.job.border, result.job.implementation)

    until(qtbot, lambda: ran() == ("wrap", "sequential"))
    trigger(window, "Reset all settings…")
    answer(window, "Reset")
    until(qtbot, lambda: ran() == ("clamp", "opencv"))
    assert window.store.state.border == "clamp"
    assert not panel.isVisible()
    assert window.settings.recent_files() == []
    window.docks.bring_forward("Timing")
    until(qtbot, lambda: panel.width() == width)
    window.close()
    assert Settings().get("choices", {})["border"] == "clamp"


# -- bugs and going


def test_a_bug_on_the_worker_is_shown_with_its_traceback(qtbot, make_window):
    def script(job, steps):
        yield Progress("filtering")
        if job.border == "wrap":
            raise ZeroDivisionError("a bug")
        yield from steps

    window = make_window(lambda: Scripted(script))
    shown = show_picture(qtbot, window, noise(20, 30))
    window.store.update(border="wrap")
    until(qtbot, lambda: window.messages.kind == "error")
    assert window.messages.sentence == "Something went wrong here: ZeroDivisionError: a bug"
    assert window.live.result is shown
    assert child(window, "doing", QLabel).text() == ""
    click(child(window, "details", QPushButton))
    details = child(window.messages, "detailsText").toPlainText()
    assert "Traceback" in details
    assert "in script" in details
    window.messages.findChild(QPushButton, "copy").window().close()
    result = settle(qtbot, window, lambda: window.store.update(border="zero"))
    assert result.job.border == "zero"


def test_it_closes_in_the_middle_of_a_job_and_asks_about_a_sweep(qtbot, make_window):
    window = make_window(lambda: Scripted(never_ends))
    show_picture(qtbot, window, noise(20, 30))
    trigger(window, "Compare all implementations")
    window.close()
    assert question(window).text().startswith("Implementations are being compared")
    QTest.keyClick(question(window), Qt.Key.Key_Escape)
    trigger(window, "Cancel comparing implementations")
    until(qtbot, lambda: not window.sweep_controller.under_way)
    window.store.update(ksize=127)
    child(window, "values-sizes").setText("8, 16")
    click(child(window, "sweep-start"))
    until(qtbot, lambda: child(window, "doing", QLabel).text())
    until(qtbot, lambda: window.sweep_controller.under_way)
    window.close()
    assert "A sweep is" in question(window).text()
    assert "resume" not in question(window).text()  # nothing is measured yet
    QTest.keyClick(question(window), Qt.Key.Key_Escape)
    assert window.isVisible()
    window.close()
    window.worker.sweep.cancel()  # the work ends while the question is shown
    until(qtbot, lambda: "done by now" in question(window).text())
    answer(window, "Close")
    until(qtbot, lambda: not window.isVisible())
    assert window.worker.isFinished()
    assert not window.isVisible()


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


def test_auto_is_the_first_choice_on_a_gpu_and_names_what_it_ran(qtbot, make_window):
    window = ready(qtbot, make_window(MadeUpGpu), noise(24, 32))
    assert window.store.state.implementation == AUTO.key
    result = window.live.result
    window.docks.enter("Timing")
    ran = getattr(child(window, "ran", QLabel), "whole_text", child(window, "ran", QLabel).text())
    x, y = result.block_xy
    assert ran.startswith(f"auto: {result.implementation} {x}×{y}")
    assert "Auto: " in view(window, "After").caption
    picker = child(window, "block-picker")
    assert not picker.isEnabled()
    settle(qtbot, window, lambda: window.store.update(implementation="shared"))
    assert picker.isEnabled()


def test_what_is_wrong_with_a_session_is_still_said_once_the_start_picture_came(
    qtbot, window, tmp_path
):
    settle(qtbot, window, lambda: window.intake.open_paths([tmp_path / "gone.jsonl"]))
    until(qtbot, lambda: window.messages.kind == "error")
    assert "gone.jsonl" in window.messages.sentence
