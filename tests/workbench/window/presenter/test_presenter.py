"""Presenter mode: its steps and figures, the stage under a clicker's keys, and all put back."""

from dataclasses import replace

import numpy as np
import pytest
from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QKeySequence
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel, QScrollArea, QWidget

from kernels.cuda_on_cpu.compiler import why_not
from kernels.pictures.generated import noise
from tests.made_up import FAILED, result
from tests.workbench.driving import child, click, ready, settle, show_picture, trigger, until, view
from tests.workbench.engines import MadeUpGpu
from tests.workbench.panels.kernel.made_up_trials import MadeUpTrials, shows_80_letters
from workbench.base.numbers import MISSING
from workbench.charts.chart_view import ChartView
from workbench.files import image_files
from workbench.files.image_files import PictureRef
from workbench.imaging.pictures import Picture
from workbench.model import intents
from workbench.model.rung_times import recorded_times
from workbench.model.state import State
from workbench.panels.compare.picture_view import PictureView
from workbench.widgets.letters import factor_of
from workbench.window import presenter
from workbench.window.stage import Figures, LadderBar, figures_of, short_name
from workbench.window.talk import StepLook, TalkStep, ladder_steps, step_of, steps_from

STATE = State(picture=Picture("made up", noise(20, 30)), implementation="shared")

# -- steps


def test_what_is_shown_becomes_a_step_which_survives_being_written_down(tmp_path):
    step = TalkStep("One", {"filter": "box", "ksize": 7}, PictureRef("a.png", tmp_path / "a.png"))
    assert steps_from([step.to_data()]) == (step,)
    older = {"name": "One", "choices": step.data, "picture": step.picture.to_data(), "look": {}}
    assert steps_from([older]) == (step,)
    look = {"panel": "pixel", "pixel": [1, 2], "area": [0, 0, 0, 0], "unknown": 3}
    assert steps_from([{**older, "look": look}])[0].look == StepLook(panel="pixel", pixel=(1, 2))
    picture = Picture("a.png", STATE.picture.samples, path=tmp_path / "a.png")
    step = step_of(replace(STATE, picture=picture, ksize=9))
    assert step.name == "Gaussian blur 9×9 · Shared-memory tile"
    assert (step.data["ksize"], step.picture) == (9, PictureRef("a.png", tmp_path / "a.png"))
    assert step.data["view_mode"] == STATE.view_mode
    assert step_of(STATE).picture is None  # it came from nowhere


# -- figures


def answer(**facts):
    return result(job=intents.job_for(STATE), **facts)


def on_cpu(**facts):
    job = intents.job_for(STATE).but(implementation="opencv")
    return result(job=job, **facts)


def test_a_speed_stands_beside_a_passed_check_alone():
    figures = figures_of(STATE, answer(samples_ms=(0.2,) * 6), on_cpu(samples_ms=(2.0,) * 6))
    assert (figures.time, figures.speedup) == ("200\u202fµs", "10.0×")
    assert figures.speedup_note == "as fast as OpenCV, 2 threads"
    assert (figures.verdict, figures.is_right) == ("✓ verified", True)
    assert figures.work == "Gaussian blur 5×5 · Shared-memory tile · 32×8"
    wrong = figures_of(STATE, answer(check=FAILED), on_cpu())
    assert (wrong.time, wrong.speedup, wrong.is_right) == (MISSING, MISSING, False)
    assert figures_of(STATE, answer(), on_cpu(check=FAILED)).speedup == MISSING
    assert figures_of(STATE, answer(), None).speedup == MISSING
    assert figures_of(STATE, answer(), on_cpu(check=None)).speedup == MISSING


# -- the stage


@pytest.fixture
def window(qtbot, make_window):
    return ready(qtbot, make_window(), noise(40, 60))


def present(qtbot, window):
    """Enter the stage, which is the window itself."""
    QTest.keyClick(window, Qt.Key.Key_F5)
    until(qtbot, lambda: window.presenter.show is not None)
    until(qtbot, lambda: QApplication.activeWindow() is window)
    return window


def leave(qtbot, window):
    press(window, Qt.Key.Key_Escape)
    until(qtbot, lambda: window.presenter.show is None)


def ladder_on(window):
    return window.presenter.show.stage.ladder


def is_blank(window):
    return child(window, "stage-black").isVisible()


def press(stage, *keys):
    stage.activateWindow()
    for key in keys:
        QTest.keyClick(stage, key)


def shown(stage, name):
    label = child(stage, f"stage-{name}", QLabel)
    return getattr(label, "whole_text", label.text())


def side(stage, name):
    """The picture before, or after."""
    views = stage.findChildren(PictureView)
    return next(each for each in views if each.accessibleName() == name)


def first_line(view):
    return view.caption.partition(" · ")[0]


def ladder_of(window):
    """The steps that are shown where none were remembered."""
    return ladder_steps(window.store.state, window.device)


def verified(qtbot, stage):
    until(qtbot, lambda: shown(stage, "verdict") == "✓ verified")


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
    leave(qtbot, window)


def test_meanwhile_the_keys_of_the_menus_rest_and_then_all_is_as_it_was(qtbot, window):
    window.store.choose(ksize=7, border="wrap")
    chosen, undo = window.store.state, window.undo_history.undo_words
    stage = present(qtbot, window)
    before = window.store.state
    press(stage, Qt.Key.Key_V)
    QTest.keyClick(stage, Qt.Key.Key_P, Qt.KeyboardModifier.ControlModifier)
    QTest.keyClick(stage, Qt.Key.Key_6, Qt.KeyboardModifier.ControlModifier)
    press(stage, Qt.Key.Key_Tab)
    assert window.isFullScreen()
    assert window.store.state == before
    assert not child(window, "toolbar").isVisible()
    press(stage, Qt.Key.Key_PageDown)
    assert not window.close()
    assert window.presenter.show is None
    assert window.store.state == chosen
    assert window.undo_history.undo_words == undo
    assert not window.isFullScreen()
    press(window, Qt.Key.Key_V)
    assert window.store.state != chosen  # they work again
    assert child(window, "toolbar").isVisible()


def test_b_blanks_the_screen_and_the_keys_of_the_view_work(qtbot, window):
    stage = present(qtbot, window)
    verified(qtbot, stage)
    press(stage, Qt.Key.Key_B)
    assert is_blank(stage)
    middle = stage.grab().toImage().pixelColor(stage.width() // 2, stage.height() // 2)
    assert middle.lightness() == 0
    press(stage, Qt.Key.Key_B)
    assert not is_blank(stage)
    press(stage, Qt.Key.Key_Period, Qt.Key.Key_PageDown)
    assert not is_blank(stage)
    for key, mode in ((Qt.Key.Key_W, "wipe"), (Qt.Key.Key_S, "side")):
        press(stage, key)
        assert window.store.state.view_mode == mode
    verified(qtbot, stage)
    after = side(stage, "After")
    QTest.keyPress(window.focusWidget(), Qt.Key.Key_Space)
    assert after.caption == "Original"
    QTest.keyRelease(window.focusWidget(), Qt.Key.Key_Space)
    until(qtbot, lambda: first_line(after) == "After")
    leave(qtbot, window)


PANEL_KEYS = {
    "A": "Anatomy",
    "P": "Pixel",
    "H": "Analysis",
    "Ctrl+L": "Implementation",
    "Ctrl+K": "Blocks",
    "Ctrl+E": "Weights",
    "Ctrl+U": "Kernel",
}


def test_the_keys_of_panels_open_them_on_stage_and_close_them(qtbot, window):
    window.docks.enter("Analysis")
    stage = present(qtbot, window)
    verified(qtbot, stage)
    for keys, title in PANEL_KEYS.items():
        panel, key = window.docks.panel(title).get(), QKeySequence(keys)[0]
        for is_open in (True, False, True):
            QTest.keyClick(stage, key.key(), key.keyboardModifiers())
            assert panel.isVisible() is is_open, title
            assert (factor_of(panel) > 1) is is_open, title
    leave(qtbot, window)
    assert window.compare.isVisible()
    assert window.docks.panel("Analysis").get().isVisible()  # as it was before
    assert not window.docks.panel("Weights").get().isVisible()
    assert factor_of(panel) == factor_of(window.compare) == 1.0


@pytest.mark.skipif(why_not() is not None, reason=str(why_not()))
def test_a_kernel_is_stepped_through_on_stage(qtbot, window, monkeypatch):
    MadeUpTrials().take_over(monkeypatch)  # what is walked is compiled for nothing else
    stage = present(qtbot, window)
    stage.showNormal()
    stage.resize(1280, 720)
    verified(qtbot, stage)
    walk, kernel = (QKeySequence(each)[0] for each in ("Alt+F8", "Ctrl+U"))
    QTest.keyClick(stage, walk.key(), walk.keyboardModifiers())
    assert window.docks.panel("Kernel").made is None  # it is not on stage
    QTest.keyClick(stage, kernel.key(), kernel.keyboardModifiers())
    pane = window.docks.panel("Kernel").made
    until(qtbot, lambda: pane.is_tried)
    QTest.keyClick(stage, walk.key(), walk.keyboardModifiers())
    until(qtbot, lambda: pane.is_stepping)
    until(qtbot, lambda: shows_80_letters(pane.entrance))
    QTest.keyClick(stage, Qt.Key.Key_F8)
    assert pane.steps.step == 1
    leave(qtbot, window)
    assert not pane.isVisible()


def test_a_step_shows_a_recorded_chart(qtbot, window):
    look = StepLook(panel="chart", session="camerino_block_shape", page="block_shapes")
    window.presenter.steps = (TalkStep("Chart", {}, look=look), TalkStep("Picture", {}))
    stage = present(qtbot, window)
    until(qtbot, lambda: stage.findChild(ChartView))
    chart = stage.findChild(ChartView)
    assert chart.kind_key == "block_shapes"
    assert "recorded" in repr(chart.figure)
    assert not window.compare.isVisible()
    press(stage, Qt.Key.Key_PageDown)
    assert window.compare.isVisible()
    assert window.sessions.shown == ()
    leave(qtbot, window)


def step_with(panel):
    pixel = (10, 10) if panel in ("pixel", "anatomy") else None
    return TalkStep(panel, {}, look=StepLook(panel=panel, pixel=pixel))


def is_whole(panel):
    """Whether all of a panel is seen, and nothing of it is to be laid out any more."""
    area = panel if isinstance(panel, QScrollArea) else panel.findChild(QScrollArea)
    layout = area.widget().layout()
    return layout.totalHeightForWidth(area.width()) <= area.height() == area.widget().height()


@pytest.mark.parametrize(
    ("panel", "kept", "hidden"),
    [
        ("pixel", ("pixel-table", "pixel-tolerance"), "pixel-hint"),
        ("weights", ("weights-grid", "weights-facts"), "weights-normalise"),
        ("anatomy", ("anatomy-lane-words", "anatomy-lanes"), "anatomy-zoom"),
    ],
)
def test_all_of_a_panel_is_on_stage_from_the_first_step_on(panel, kept, hidden, qtbot, window):
    show_picture(qtbot, window, noise(40, 60, 3))
    window.store.update(ksize=5)
    title = "Pixel" if panel == "pixel" else panel.capitalize()
    window.presenter.steps = (step_with(panel), TalkStep("Picture", {}))
    stage = present(qtbot, window)  # with the keys below it
    stage.showNormal()
    stage.resize(1280, 720)
    held = window.docks.panel(title).get()
    until(qtbot, lambda: held.isVisible() and is_whole(held))
    for name in kept:
        until(qtbot, child(stage, name, QWidget).isVisible)  # lanes are recorded meanwhile
    until(qtbot, lambda: not child(stage, hidden, QWidget).isVisible())
    leave(qtbot, window)
    window.docks.bring_forward(title)
    if panel != "pixel":  # which has room for its hint or not
        until(qtbot, child(window, hidden, QWidget).isVisible)


def test_a_step_holds_view_zoom_panel_and_pixel(qtbot, window):
    window.store.choose(view_mode="wipe")
    window.compare.show_area(QRectF(10, 5, 20, 16))
    window.explanation.explain_pixel()
    window.pixel.get().hold((12, 8))
    trigger(window, "Add as step")
    (step,) = window.presenter.steps
    assert step.data["view_mode"] == "wipe"
    assert (step.look.panel, step.look.pixel) == ("pixel", (12, 8))
    left, top, width, _ = step.look.area
    assert left <= 10
    assert top <= 5
    assert left + width >= 30
    window.store.choose(view_mode="result")
    window.compare.show_fit()
    window.docks["Pixel"].hide()
    window.pixel.get().set_held(False)
    present(qtbot, window)
    assert window.store.state.view_mode == "wipe"
    assert window.compare.in_view != (0, 40, 0, 60)
    until(qtbot, lambda: window.pixel.get().isVisible())
    assert window.pixel.get().pixel == (12, 8)
    leave(qtbot, window)
    assert window.store.state.view_mode == "result"
    assert window.compare.choices()["place"] is None
    assert not window.pixel.get().isVisible()


# -- the ladder so far


def test_the_ladder_grows_with_the_steps(qtbot, window):
    stage = present(qtbot, window)
    assert stage.isFullScreen()
    verified(qtbot, stage)
    assert shown(stage, "title") == "Sequential"
    assert shown(stage, "work").startswith("Gaussian blur 5×5")
    until(qtbot, lambda: "×" in shown(stage, "speedup"))
    assert "OpenCV" in shown(stage, "speedup-note")
    until(qtbot, lambda: len(ladder_on(stage).lines) == 1)
    press(stage, Qt.Key.Key_PageDown)
    verified(qtbot, stage)
    until(qtbot, lambda: len(ladder_on(stage).lines) == 2)
    assert [name for name, _ in ladder_on(stage).lines] == ["Sequential", "Parallel"]
    first, second = (words for _, words in ladder_on(stage).lines)
    assert "before" not in first
    assert second.endswith(("the step before", "slower", "as fast as before"))
    place, shows = ladder_on(stage).x(), window.presenter.show.stage.show_figures
    for note in ("filter time", "filter time, L2 cold, a single run, * disturbed"):
        shows(Figures("", "✓ verified", True, "566 µs*", note, "12.3×", f"of {note}"))
        qtbot.wait(50)  # as long as a layout takes
        assert ladder_on(stage).x() == place
    press(stage, Qt.Key.Key_PageUp)
    until(qtbot, lambda: len(ladder_on(stage).lines) == 1)
    leave(qtbot, window)


@pytest.mark.parametrize(
    ("before", "now", "words"),
    [
        (1.9, 1.0, "1.90× the step before"),
        (1.0, 2.5, "2.50× slower"),
        (1.0, 1.001, "as fast as before"),
    ],
)
def test_a_bar_says_what_its_step_brought(before, now, words):
    first = LadderBar("One", "a", before)
    second = LadderBar("Two", "b", now)
    assert second.beside(first) == words
    assert ("*" in second.beside(first._replace(disturbances=("load",)))) == ("×" in words)
    assert second.beside(None) == ""
    elsewhere = second._replace(source="NVIDIA H200")
    assert elsewhere.beside(first) == ""  # times of two machines


def test_what_a_panel_left_behind_paints_is_not_on_stage(qtbot, window):
    window.docks.bring_forward("Pixel")
    window.pixel.get().hold((9, 10))
    stage = present(qtbot, window)
    verified(qtbot, stage)
    pane = view(window, "After")

    def is_marked():
        overlays, seen = pane.overlays, pane.grab().toImage()
        pane.overlays = []
        bare = pane.grab().toImage()
        pane.overlays = overlays
        return seen != bare

    assert not is_marked()
    press(stage, Qt.Key.Key_P)
    until(qtbot, is_marked)
    press(stage, Qt.Key.Key_P)
    until(qtbot, lambda: not is_marked())
    leave(qtbot, window)
    until(qtbot, is_marked)


def test_the_lecture_runs_without_a_gpu_on_recorded_times(qtbot, window):
    trigger(window, "Present the lecture")
    until(qtbot, lambda: window.presenter.show)
    stage = window
    until(qtbot, lambda: window.store.state.picture.built_in == "scene")
    for _ in range(2):
        press(stage, Qt.Key.Key_PageDown)
    settle(qtbot, window, lambda: press(stage, Qt.Key.Key_PageDown))
    press(stage, Qt.Key.Key_PageDown)
    assert shown(stage, "title") == "One thread per sample"
    until(qtbot, lambda: shown(stage, "verdict") == "✓ verified when recorded")
    device = short_name(recorded_times().device)
    assert shown(stage, "time-note") == f"recorded on an {device}, L2 cold"
    assert shown(stage, "work") == "Gaussian blur 15×15 · Global memory · 32×8"
    assert "recorded" in ladder_on(stage).accessibleDescription()
    assert not window.messages.sentence
    assert "OpenCV" in side(stage, "After").caption  # it computed what is seen
    assert "earlier" not in side(stage, "After").caption
    leave(qtbot, window)
    assert window.store.state.picture.built_in is None


def test_notes_are_in_a_window_or_nowhere_and_stay_so(qtbot, window):
    window.presenter.steps = (
        TalkStep("One", {}, note="Say this."),
        TalkStep("Two", {}, note="Then that."),
    )
    window.settings.set("presenter-notes", "beneath")  # of earlier versions
    stage = present(qtbot, window)
    notes = child(stage, "stage-notes-window")
    assert not notes.isVisible()
    press(stage, Qt.Key.Key_F7)
    assert notes.isVisible()
    press(stage, Qt.Key.Key_PageDown)
    assert child(notes, "notes-text", QLabel).text().startswith("Then that.")
    leave(qtbot, window)
    assert window.settings.get("presenter-notes", "") == "window"


# -- files


def test_steps_are_saved_opened_and_the_same_again(qtbot, window, tmp_path, monkeypatch):
    image_files.save(tmp_path / "a.png", noise(20, 30))
    step = TalkStep(
        "One",
        {"filter": "box", "ksize": 7, "sigma": None, "view_mode": "wipe"},
        PictureRef("a.png", tmp_path / "a.png"),
        StepLook((1.0, 2.0, 3.0, 4.0), "implementation", "source", pixel=(3, 4)),
        "Two lines,\n“quoted”.",
    )
    window.presenter.steps = (step, TalkStep("Two", {}))
    chosen = tmp_path / "talk.steps.toml"
    monkeypatch.setattr(presenter, "ask_where", lambda *_: chosen)
    trigger(window, "Save steps as…")
    until(qtbot, chosen.exists)
    assert 'picture = "a.png"' in chosen.read_text("utf-8")  # goes with the file
    kept, window.presenter.steps = window.presenter.steps, ()
    monkeypatch.setattr(presenter, "ask_which", lambda *_: chosen)
    trigger(window, "Open steps…")
    until(qtbot, lambda: window.presenter.steps)
    assert window.presenter.steps == kept


REFUSED = (
    ('choices = { filter = "nope" }', "There is no filter 'nope'"),
    ('choices = { filtr = "box" }', "There is no key 'filtr'; did you mean filter?"),
    ('choices = { filter = "box", ksize = 4 }', "It cannot have kernel size 4."),
    ('look = { panel = "kitchen" }', "panel cannot be 'kitchen'."),
    ('look = { panel = "pixel", pixl = [1, 2] }', "There is no key 'pixl'; did you mean pixel?"),
    ('look = { panel = "implementation", page = "sorce" }', "page cannot be 'sorce'."),
    ("look = 3", "look cannot be 3."),
    ("notes = 3", "There is no key 'notes'; did you mean note?"),
)


def test_a_file_is_taken_whole_or_refused_in_a_sentence(qtbot, window, tmp_path):
    window.presenter.steps = kept = (TalkStep("Mine", {}),)
    path = tmp_path / "talk.steps.toml"
    for line, said in REFUSED:
        window.messages.clear()
        path.write_text(f'[[step]]\nname = "A"\n\n[[step]]\nname = "B"\n{line}\n')
        window.presenter.open_file(path)
        until(qtbot, lambda: window.messages.kind == "error")
        assert window.messages.sentence.startswith(f"talk.steps.toml, step 2: {said}")
        assert window.presenter.steps == kept


def test_the_panel_kernel_is_shown_and_what_was_said_of_a_step_goes_with_it(qtbot, window):
    window.presenter.steps = (TalkStep("One", {}), step_with("kernel"))
    stage = present(qtbot, window)
    window.messages.show_message("warning", "Something about this step.")
    press(stage, Qt.Key.Key_PageDown)
    assert not window.messages.isVisible()
    until(qtbot, lambda: window.docks.panel("Kernel").get().isVisible())
    leave(qtbot, window)
    assert not window.docks.panel("Kernel").get().isVisible()


# -- prepared steps


def test_steps_are_kept_and_removed_together(qtbot, window, make_window):
    for size in (3, 5):
        window.store.choose(ksize=size)
        trigger(window, "Add as step")
    kept = window.presenter.steps
    assert [each.data["ksize"] for each in kept] == [3, 5]
    trigger(window, "Remove the presenter's steps")
    assert window.presenter.steps == ()
    window.messages.outdate()  # an info that goes by itself would go
    assert window.messages.isVisible()
    click(child(window.messages, "act"))
    assert window.presenter.steps == kept
    window.close()
    again = make_window()
    assert [each.data["ksize"] for each in again.presenter.steps] == [3, 5]


def test_with_a_gpu_rungs_are_shown_with_their_blocks(qtbot, make_window):
    window = ready(qtbot, make_window(MadeUpGpu), np.zeros((30, 40, 3), np.uint8))
    stage = present(qtbot, window)
    keys = [each.data["implementation"] for each in ladder_of(window)]
    for _ in range(keys.index("shared")):
        press(stage, Qt.Key.Key_PageDown)
    verified(qtbot, stage)
    assert shown(stage, "work").endswith("Shared-memory tile · 32×8")
    leave(qtbot, window)


def test_a_step_that_cannot_be_run_shows_no_other_steps_result(qtbot, window):
    window.presenter.steps = (
        TalkStep("One", {"region": (0, 0, 20, 20, 0)}),
        TalkStep("Other", {"region": (500, 500, 20, 20, 0)}),  # which is not in the picture
    )
    show_picture(qtbot, window, noise(40, 60))
    stage = present(qtbot, window)
    verified(qtbot, stage)
    assert first_line(side(stage, "After")) == "After"
    press(stage, Qt.Key.Key_PageDown)
    until(qtbot, lambda: shown(stage, "verdict") == "✗ this cannot be run")
    until(qtbot, lambda: "of earlier settings" in side(stage, "After").caption)
    assert shown(stage, "hint")
    press(stage, Qt.Key.Key_PageUp)
    until(qtbot, lambda: "of earlier settings" not in side(stage, "After").caption)
    verified(qtbot, stage)
