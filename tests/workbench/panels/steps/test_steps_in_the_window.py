"""A list of steps in the window: chips, keys, files, and every panel and mode with it."""

from dataclasses import replace
from typing import get_args

import numpy as np
import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QColor
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QCheckBox, QMenu, QPushButton
from scipy import ndimage

from kernels.core.errors import CannotRunError
from kernels.oracle.reference import filtered, to_pixel_type
from kernels.pictures.generated import scene
from tests.workbench import scenes
from tests.workbench.driving import (
    action,
    answer_file_dialogs,
    child,
    click,
    drop,
    grey,
    pane_of,
    settle,
    show_picture,
    trigger,
    until,
)
from workbench.base import theme
from workbench.imaging.pictures import Picture
from workbench.model import intents
from workbench.model.state import Step, ViewMode
from workbench.model.step_files import select
from workbench.panels.compare.compare_view import ORIGINAL
from workbench.window import save_menu

BLUR, SHARPER, EDGES = Step(ksize=3), Step("sharpen", 3), Step("edges", 3)
LIST = BLUR, SHARPER, EDGES


def small(channels=3):
    samples = scene()[::8, ::8]
    if channels == 4:
        samples = np.concatenate([samples, samples[..., :1]], axis=2)
    return np.ascontiguousarray(samples)


@pytest.fixture
def listed(qtbot, window):
    """A window with a picture and a list of three steps, of which the last is selected."""
    show_picture(qtbot, window, small())
    settle(qtbot, window, lambda: window.store.update(**select(LIST, 2)))
    return window


def chips(window):
    return [each for each in window.step_row.chips if each.isVisible()]


def titles(window):
    return [step.filter for step in window.store.state.steps]


@pytest.mark.parametrize("channels", [pytest.param(3, marks=pytest.mark.nightly), 4])
def test_every_panel_and_mode_takes_a_list(qtbot, window, bugs_met, channels):
    show_picture(qtbot, window, small(channels))
    store = window.store
    changes = (
        lambda: store.update(**select(LIST, 2)),
        lambda: window.step_row.select(1),
        lambda: window.step_row.switch(0),
        lambda: store.choose(mix=0.5, is_rounded=True),
        lambda: window.step_row.select(2),
        lambda: trigger(window, "Move step left"),
        window.step_row.remove,
        window.undo_history.undo,
    )
    for title in window.docks:
        window.docks.bring_forward(title)
        store.update(**select(LIST[:1], 0), is_rounded=False)
        for change in changes if channels == 3 else changes[:1]:
            settle(qtbot, window, change)
        scenes.rest()
        for mode in get_args(ViewMode) if channels == 4 else ():
            store.choose(view_mode=mode)
            until(qtbot, lambda mode=mode: not window.analysis_thread.is_under_way(mode))
        window.inspection.pin()
        window.inspection.unpin()
    assert bugs_met == []
    assert window.messages.kind in (None, "info")


def test_what_is_shown_is_the_picture_after_the_selected_step(qtbot, listed):
    job = intents.job_for(listed.store.state)
    assert [each.title for each in job.steps] == ["Gaussian blur", "Sharpen", "Edges", "Length"]
    expected = to_pixel_type(filtered(job), job.picture.dtype)
    assert np.abs(listed.live.result.picture.astype(int) - expected).max() <= 1
    listed.docks.bring_forward("Pixel")
    explained = listed.pixel.get().found
    assert explained.slopes is not None
    given = listed.live.result.steps[-1].job.picture
    assert given.dtype == np.float32
    assert explained.samples[1, 1] == given[explained.y, explained.x, 0]
    settle(qtbot, listed, lambda: click_chip(listed, 0))
    assert listed.live.result.job.is_one_launch
    assert child(listed, "filter").currentData() == "gaussian"


def click_chip(window, number):
    chip = chips(window)[number]
    QTest.mouseClick(chip, Qt.MouseButton.LeftButton, pos=QPoint(chip.width() - 12, 10))


def test_a_change_of_the_last_step_runs_no_other(qtbot, listed):
    first = listed.live.result
    until(qtbot, lambda: listed.live.result is not first)  # it is timed again
    given = listed.live.result.steps[-1].job.picture
    settle(qtbot, listed, lambda: listed.store.choose(ksize=5))
    assert listed.live.result.steps[-1].job.picture is given


def test_a_row_appears_with_the_second_step_and_nothing_else_moves(qtbot, window):
    show_picture(qtbot, window, small())
    add = child(window, "tool-add-step")
    assert not window.step_row.isVisible()
    scenes.rest()
    before = [child(window, name).geometry() for name in ("filter", "ksize", "block")]
    settle(qtbot, window, lambda: click(add))
    QTest.keyClick(child(window, "filter-search"), Qt.Key.Key_Escape)
    assert titles(window) == ["gaussian"], "Esc adds nothing"
    settle(qtbot, window, lambda: click(add))
    child(window, "filter").hidePopup()
    scenes.rest()
    assert titles(window) == ["gaussian", "gaussian"]
    assert window.step_row.isVisible()
    assert not add.isVisible()
    assert [child(window, name).geometry() for name in ("filter", "ksize", "block")] == before


def test_a_list_has_eight_steps_at_most_and_says_so(window):
    while len(window.store.state.steps) < 8:
        window.step_row.add()
    plus = child(window, "step-add")
    assert not plus.isEnabled()
    assert "8 steps" in plus.toolTip()
    trigger(window, "Add step")
    assert len(window.store.state.steps) == 8


def drag_chip(window, number, to):
    chip, left = chips(window)[number], Qt.MouseButton.LeftButton
    QTest.mousePress(chip, left, pos=QPoint(chip.width() // 2, 10))
    QTest.mouseMove(chip, QPoint(to // 2, 10))
    QTest.mouseMove(chip, QPoint(to, 10))
    QTest.mouseRelease(chip, left, pos=QPoint(to, 10))


@pytest.mark.parametrize("selected", [0, 2])
def test_the_keyboard_stays_with_a_step_that_is_dragged(listed, selected):
    click_chip(listed, selected)
    drag_chip(listed, 2, -listed.width())
    assert titles(listed) == ["edges", "gaussian", "sharpen"]
    assert listed.focusWidget() is chips(listed)[0]
    assert listed.undo_history.undo_words == "move Edges 3×3"
    QTest.keyClick(listed.focusWidget(), Qt.Key.Key_Delete)
    assert titles(listed) == ["gaussian", "sharpen"]


def test_the_keyboard_stays_with_the_selected_step_and_in_the_row(listed):
    click_chip(listed, 2)
    both = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier
    QTest.keyClick(listed, Qt.Key.Key_Left, both)
    assert titles(listed) == ["gaussian", "edges", "sharpen"]
    assert listed.focusWidget() is chips(listed)[1]
    for left in (["gaussian", "sharpen"], ["gaussian"]):
        QTest.keyClick(listed.focusWidget(), Qt.Key.Key_Delete)
        assert titles(listed) == left
        assert listed.focusWidget() is (listed.home if len(left) == 1 else chips(listed)[1])


def test_to_select_is_no_change_and_undo_finds_its_step(listed):
    history, store = listed.undo_history, listed.store
    words = history.undo_words
    for number, size in ((1, 5), (0, 7)):
        click_chip(listed, number)
        assert history.undo_words == words
        store.choose(ksize=size)
        words = history.undo_words
    store.choose(view_mode="wipe")
    click_chip(listed, 2)
    history.undo()
    assert store.state.filter == "edges"  # as this was of no step
    for sizes, selected in (([3, 5, 3], "gaussian"), ([3, 3, 3], "sharpen")):
        history.undo()
        assert [step.ksize for step in store.state.steps] == sizes
        assert store.state.filter == selected
    click_chip(listed, 2)
    history.redo()
    assert [step.ksize for step in store.state.steps] == [3, 5, 3]


def test_chips_tick_drag_and_take_keys(qtbot, listed):
    QTest.mouseClick(chips(listed)[1], Qt.MouseButton.LeftButton, pos=QPoint(12, 12))
    assert [step.is_on for step in listed.store.state.steps] == [True, False, True]
    assert len(listed.store.state.before) == 2  # the same one is selected
    assert "off" in chips(listed)[1].accessibleName()
    assert listed.undo_history.undo_words == "turn Sharpen 3×3 off"
    drag_chip(listed, 0, listed.width())
    assert titles(listed) == ["sharpen", "edges", "gaussian"]
    assert listed.store.state.filter == "edges"
    chip = chips(listed)[1]
    QTest.keyClick(chip, Qt.Key.Key_Left)
    assert listed.store.state.filter == "sharpen"
    QTest.keyClick(chips(listed)[0], Qt.Key.Key_Space)
    assert listed.store.state.is_on
    QTest.keyClick(chips(listed)[0], Qt.Key.Key_Delete)
    assert titles(listed) == ["edges", "gaussian"]
    assert listed.undo_history.undo_words == "remove Sharpen 3×3"
    listed.undo_history.undo()
    assert titles(listed) == ["sharpen", "edges", "gaussian"]
    for _ in range(3):
        listed.undo_history.undo()
    assert listed.store.state.steps == LIST


def test_the_original_is_shown_until_something_else_is_wanted(qtbot, listed):
    original = child(listed, "step-original")
    click(original)
    assert listed.compare.main.caption == ORIGINAL
    click_chip(listed, 2)
    assert not original.isChecked()
    assert listed.compare.main.caption != ORIGINAL
    QTest.keyClick(listed, Qt.Key.Key_0, Qt.KeyboardModifier.AltModifier)
    assert original.isChecked()
    listed.store.choose(ksize=5)
    assert not original.isChecked()


def test_times_and_verdicts_stand_on_the_chips(qtbot, listed):
    looks = [chip.look for chip in chips(listed)]
    assert all(look.time_ms for look in looks)
    assert looks[0].share[0] == 0
    assert looks[-1].share[1] == pytest.approx(1)
    assert not any(look.is_wrong for look in looks)
    assert "sum of 3 steps" in child(listed, "line-spread").text()
    QTest.keyClick(listed, Qt.Key.Key_1, Qt.KeyboardModifier.AltModifier)
    assert listed.store.state.filter == "gaussian"
    assert [chip.look.is_beyond for chip in chips(listed)] == [False, True, True]
    until(qtbot, lambda: listed.compare.main.caption.endswith("\nstep 1 of 3"))
    listed.step_row.switch(2)
    assert listed.compare.main.caption.endswith("\nstep 1 of 2")
    click_chip(listed, 1)
    for chip, is_pale in ((chips(listed)[0], False), (chips(listed)[2], True)):
        image, ink = chip.grab().toImage(), QColor(theme.colors(chip.palette()).text)
        x, y = chip.rect().width(), chip.rect().height()
        inks = {image.pixelColor(at % x, at // x).name() for at in range(x * y)}
        assert (ink.name() not in inks) == is_pale
        assert ("not in the picture shown" in chip.toolTip()) == is_pale
        assert chip.accessibleName() in chip.toolTip()


def test_what_is_saved_of_an_earlier_step_says_so_and_the_whole_list_is_a_click_away(
    qtbot, listed, tmp_path, monkeypatch
):
    path, asked = tmp_path / "one.png", []
    settle(qtbot, listed, lambda: QTest.mouseClick(chips(listed)[0], Qt.MouseButton.LeftButton))
    answer_file_dialogs(monkeypatch, path)
    ask = save_menu.ask_save_path
    monkeypatch.setattr(
        save_menu, "ask_save_path", lambda *words: asked.append(words[1]) or ask(*words)
    )
    saying = listed.messages
    for act in ("Save result as…", "Copy result", "Command line"):
        trigger(listed, act)
        until(qtbot, lambda: "step 1 of 3 only" in saying.sentence)
        saying.clear()
    assert asked == ["Save, step 1 of 3 only"]
    path.unlink()
    trigger(listed, "Save result as…")
    until(qtbot, lambda: "step 1 of 3 only" in saying.sentence)
    whole = next(e for e in saying.findChildren(QPushButton) if e.text() == "Show the &whole list")
    settle(qtbot, listed, lambda: click(whole))
    assert listed.store.state.steps == LIST
    trigger(listed, "Copy result")
    until(qtbot, lambda: saying.sentence == "Copied the result.")


def test_a_list_is_saved_and_comes_back_by_dropping_it(qtbot, listed, tmp_path, monkeypatch):
    path = tmp_path / "mine.toml"
    settle(qtbot, listed, lambda: child(listed, "step-round", QCheckBox).click())
    answer_file_dialogs(monkeypatch, path)
    with qtbot.waitSignal(listed.exporter.saved):
        trigger(listed, "Save list of steps…")
    listed.store.update(**select(LIST[:1], 0), is_rounded=False)
    menu = next(each for each in listed.findChildren(QMenu) if each.title() == "Recent l&ists")
    menu.aboutToShow.emit()
    assert [each.text() for each in menu.actions()] == ["mine.toml"]
    menu.actions()[0].trigger()
    until(qtbot, lambda: titles(listed) == ["gaussian", "sharpen", "edges"])
    assert listed.store.state.is_rounded
    path.unlink()
    menu.actions()[0].trigger()
    until(qtbot, lambda: listed.messages.kind == "error")
    assert "mine.toml" in listed.messages.sentence
    listed.messages.clear()
    path.write_text('[[step]]\nfilter = "swirl"\n')
    drop(listed, path)
    until(qtbot, lambda: listed.messages.kind == "error")
    assert "swirl" in listed.messages.sentence
    assert titles(listed) == ["gaussian", "sharpen", "edges"]


def test_the_result_becomes_the_picture_and_later_steps_stay(qtbot, listed):
    settle(qtbot, listed, lambda: click_chip(listed, 1))
    seen = listed.live.result.picture
    settle(qtbot, listed, lambda: trigger(listed, "Use the result as picture"))
    assert listed.store.state.picture.samples is seen
    assert titles(listed) == ["edges"]
    settle(qtbot, listed, listed.undo_history.undo)
    assert titles(listed) == ["gaussian", "sharpen", "edges"]


def thumbnails(window):
    return [chip.look.thumbnail for chip in chips(window)]


def are_made(window):
    return all(each is not None and not each.image.isNull() for each in thumbnails(window))


def test_thumbnails_show_what_the_list_gives_after_each_step(qtbot, listed):
    row, short = listed.step_row, chips(listed)[0].height()
    assert thumbnails(listed) == [None] * 3
    settle(qtbot, listed, lambda: click_chip(listed, 1))
    trigger(listed, "Thumbnails")
    scenes.rest()
    tall = chips(listed)[0].height()
    assert tall > short + 30
    until(qtbot, lambda: are_made(listed))
    assert not child(listed, "step-original").icon().isNull()
    assert [each.is_reduced for each in thumbnails(listed)] == [False, False, True]
    assert "reduced" in chips(listed)[2].toolTip()
    assert chips(listed)[0].height() == tall  # nothing moves when they come
    settle(qtbot, listed, lambda: QTest.keyClick(chips(listed)[1], Qt.Key.Key_Right))
    until(qtbot, lambda: are_made(listed) and not thumbnails(listed)[2].is_reduced)
    settle(qtbot, listed, lambda: row.switch(2))
    until(qtbot, lambda: thumbnails(listed)[2].image == thumbnails(listed)[1].image)
    settle(qtbot, listed, child(listed, "step-round", QCheckBox).click)
    until(qtbot, lambda: are_made(listed))
    whole = thumbnails(listed)[1].image
    settle(qtbot, listed, lambda: listed.store.choose(region=(10, 10, 40, 30, 4)))
    until(qtbot, lambda: are_made(listed) and thumbnails(listed)[1].image != whole)
    row.select(1)
    trigger(listed, "Move step left")
    assert all(chip.icon().isNull() for chip in chips(listed))  # what was there is of others
    trigger(listed, "Thumbnails")
    scenes.rest()
    original = child(listed, "step-original")
    assert original.icon().isNull()
    assert original.toolButtonStyle() == Qt.ToolButtonStyle.ToolButtonTextOnly
    assert original.height() <= short + 4


def greys(thumbnail):
    """What is seen of it in the middle, a place in 9."""
    image = thumbnail.image
    return np.array([[grey(image, x, y) for x in range(8, 90, 9)] for y in range(8, 60, 9)])


def test_thumbnails_are_mixed_as_their_steps_are(qtbot, listed):
    trigger(listed, "Thumbnails")
    show_picture(qtbot, listed, np.ascontiguousarray(small()[..., :1]))
    steps = Step("box", 5, mix=0.5), Step("box", 9, mix=0.25)
    settle(qtbot, listed, lambda: listed.store.update(**select(steps, 0), border="mirror"))
    until(qtbot, lambda: are_made(listed))
    given = listed.store.state.picture.samples[..., 0].astype(float)
    for thumbnail, step in zip(thumbnails(listed), steps, strict=True):  # the second did not run
        blurred = ndimage.uniform_filter(given, step.ksize, mode="mirror")
        given = step.mix * blurred + (1 - step.mix) * given
        assert np.abs(greys(thumbnail) - given[8:60:9, 8:90:9]).max() <= 1


RAMP = (np.arange(640) // 4 + np.arange(320)[:, None] // 4).astype(np.uint8)[..., None]


@pytest.mark.parametrize(
    ("samples", "second", "most"),
    [
        (scene()[::2, ::2], SHARPER, 30),
        pytest.param(RAMP, EDGES, 1, marks=pytest.mark.nightly),
        pytest.param(scene()[::2, ::2], Step("maximum", 31), 12, marks=pytest.mark.nightly),
    ],
)
def test_thumbnails_agree_with_those_of_steps_that_ran(qtbot, listed, samples, second, most):
    show_picture(qtbot, listed, np.ascontiguousarray(samples))
    listed.store.update(**select((Step(ksize=31), second), 0))
    settle(qtbot, listed, lambda: listed.store.choose(ksize=29))
    trigger(listed, "Thumbnails")
    until(qtbot, lambda: are_made(listed))
    guess = thumbnails(listed)[1]
    settle(qtbot, listed, lambda: click_chip(listed, 1))
    until(qtbot, lambda: not thumbnails(listed)[1].is_reduced)
    ran = thumbnails(listed)[1]
    assert guess.is_reduced
    assert np.abs(greys(guess) - greys(ran)).max() <= most
    settle(qtbot, listed, lambda: click_chip(listed, 0))
    assert thumbnails(listed)[1].image == ran.image  # which is known


def test_thumbnails_are_remembered_and_cost_nothing_while_they_are_off(
    qtbot, listed, make_window, monkeypatch
):
    made = []
    with monkeypatch.context() as patch:
        patch.setattr(listed.step_row._latest, "request", made.append)
        settle(qtbot, listed, lambda: listed.store.choose(ksize=7))
    assert made == []
    assert action(listed, "Thumbnails").isEnabled()
    trigger(listed, "Thumbnails")
    listed.close()
    again = make_window()
    assert action(again, "Thumbnails").isChecked()
    assert again.step_row.has_thumbnails
    listed.store.update(**select(LIST[:1], 0))
    assert not action(listed, "Thumbnails").isEnabled()  # where there is no row


def compare_with(window, number):
    """Choose a chip's line "Compare with this step", as from its menu."""
    chip = chips(window)[number]
    chip.customContextMenuRequested.emit(chip.rect().center())
    window.steps_menu._menu.close()
    trigger(window, "Compare with this step")


def after(state, number):
    """What the list gives after a step, rounded once."""
    job = intents.job_for(replace(state, **select(state.steps, number)))
    return to_pixel_type(filtered(job), job.picture.dtype).astype(int)


def test_the_result_is_compared_with_any_step(qtbot, listed):
    compare, inspection = listed.compare, listed.inspection
    compare_with(listed, 0)
    settle(qtbot, listed, lambda: click_chip(listed, 2))
    assert listed.store.state.view_mode == "wipe"
    until(qtbot, lambda: compare.compared is not None)
    picture, state = listed.store.state.picture, listed.store.state
    cover = compare.main._cover.shown
    assert cover.caption.startswith("After step 1 · Gaussian")
    assert np.abs(cover.samples - after(state, 0)).max() <= 1
    assert "before" in chips(listed)[0].toolTip()
    listed.store.choose(view_mode="side")
    assert pane_of(compare, "Before").caption == cover.caption
    listed.store.choose(view_mode="difference")
    until(qtbot, lambda: "after step 1" in compare.main.caption)
    assert inspection.other(picture) == (cover.samples, ("after step 1", "after"))
    listed.docks.bring_forward("Analysis")
    assert child(listed, "analysis-against").currentText() == "after step 1"
    click(child(listed, "step-original"))
    assert compare.main.caption == ORIGINAL
    click(child(listed, "step-original"))
    trigger(listed, "Compare with the original")
    until(qtbot, lambda: "− before" in compare.main.caption)
    assert compare.compared is None
    listed.undo_history.undo()
    until(qtbot, lambda: compare.compared is not None)


def test_the_step_compared_with_follows_edits_and_may_come_later(qtbot, listed):
    trigger(listed, "Compare with this step")  # the last
    settle(qtbot, listed, lambda: click_chip(listed, 0))
    settle(qtbot, listed, lambda: listed.store.choose(ksize=7))
    until(qtbot, lambda: "7×7" in getattr(listed.compare.compared, "caption", ""))
    before, state = listed.compare.compared, listed.store.state
    assert before.caption.startswith("After step 3 · ")
    assert np.abs(before.samples - after(state, 2)).max() <= 1
    listed.store.update(**select(state.steps[:2], 0))
    until(qtbot, lambda: listed.compare.compared is None)  # there is no step 3
    listed.store.update(compared=0)
    until(qtbot, lambda: listed.compare.compared is not None)
    show_picture(qtbot, listed, small()[:50])
    until(qtbot, lambda: listed.compare.compared is not None)
    assert listed.compare.compared.samples.shape == (50, 96, 3)


def test_the_step_compared_with_stays_the_same_where_the_list_is_edited(qtbot, listed):
    store = listed.store
    compare_with(listed, 1)
    listed.step_row.select(0)
    trigger(listed, "Duplicate step")
    assert store.state.compared == 2
    trigger(listed, "Move step right")  # past it
    assert store.state.compared == 1
    listed.step_row.select(0)
    listed.step_row.remove()
    assert store.state.compared == 0
    listed.step_row.select(0)
    listed.step_row.remove()
    assert store.state.compared is None
    listed.undo_history.undo()  # perhaps to what ran last
    assert store.state.compared == 0
    until(qtbot, lambda: not isinstance(listed.live.answer, str))
    trigger(listed, "Use the result as picture")
    until(qtbot, lambda: store.state.compared is None)


def test_a_step_compared_with_that_fails_leaves_the_original(qtbot, listed, monkeypatch):
    listed.store.update(compared=0)
    until(qtbot, lambda: listed.compare.compared is not None)
    listed.step_row.switch(1)
    listed.store.update(compared=1)  # the same run under another number
    until(qtbot, lambda: "After step 2 · " in listed.compare.compared.caption)

    def refuse(*_):
        raise CannotRunError("No room.")
        yield

    monkeypatch.setattr("workbench.panels.compare.inspection._filtering", refuse)
    listed.store.update(compared=2)
    until(qtbot, lambda: listed.messages.sentence == "No room.")
    assert listed.compare.compared is None


def test_pins_and_the_step_compared_with(qtbot, listed):
    listed.inspection.pin()
    listed.inspection.set_against(1)
    compare_with(listed, 1)
    assert listed.inspection.against == 0
    until(qtbot, lambda: listed.compare.compared is not None)
    assert child(listed, "against").currentText() == "after step 2"


def test_without_a_gpu_every_step_says_the_same(qtbot, window, tmp_path):
    show_picture(qtbot, window, small())
    path = tmp_path / "two.toml"
    path.write_text('[[step]]\nfilter = "box"\n[[step]]\nfilter = "edges"\n')
    drop(window, path)
    until(qtbot, lambda: titles(window) == ["box", "edges"])
    assert {each.implementation for each in window.store.state.steps} == {"auto"}
    settle(qtbot, window, lambda: window.opener.opened.emit(Picture("other", small()[:60])))
    assert {each.implementation for each in window.store.state.steps} == {"auto"}


def test_the_next_picture_runs_on_auto_as_the_one_before(qtbot, window):
    window.store.choose(implementation="opencv", filter="gaussian")
    show_picture(qtbot, window, small())
    settle(qtbot, window, lambda: window.store.choose(filter="median", is_disk=True))
    assert window.store.state.implementation == "auto"  # OpenCV gave way
    settle(qtbot, window, lambda: window.opener.opened.emit(Picture("other", small()[:60])))
    assert window.store.state.implementation == "auto"


def test_captions_say_that_a_part_is_filtered(qtbot, listed):
    settle(qtbot, listed, lambda: listed.store.choose(region=(10, 10, 40, 30, 4)))
    assert "in a part" in listed.compare.main.caption
    settle(qtbot, listed, lambda: listed.store.choose(region=None))
    assert "in a part" not in listed.compare.main.caption


MEDIAN, SLOW = Step("median", 7, implementation="opencv"), Step("box", 3)
OFF, LAST = replace(SLOW, is_on=False), replace(MEDIAN, ksize=3)
GIVING_WAY = {  # the steps, the selected one, and what is done then
    "switching": ([OFF, MEDIAN], 1, lambda w: w.step_row.switch(0)),
    "moving": ([MEDIAN, SLOW], 0, lambda w: trigger(w, "Move step right")),
    "rounding": ([SLOW, MEDIAN], 1, lambda w: w.store.choose(is_rounded=False)),
    # What is left swings around zero, and so is filtered as float32 from the beginning.
    "removing": ([MEDIAN, Step("sobel_x", 3), LAST], 2, lambda w: w.step_row.remove()),
}


def test_what_cannot_run_its_step_gives_way_whatever_changes(qtbot, window):
    store = window.store
    for name, (steps, at, act) in GIVING_WAY.items():
        store.update(**select(steps, at), is_rounded=name in ("rounding", "removing"))
        show_picture(qtbot, window, small())
        assert [e.implementation for e in store.state.steps] == ["opencv"] * len(steps), name
        settle(qtbot, window, lambda act=act: act(window))
        changed = store.state.steps[store.state.steps[0].filter != "median"]
        assert changed.implementation == "auto", name
        said = window.messages.sentence
        assert "Median: OpenCV has no filter" in said, name
        assert "so Auto takes its place. Ctrl+Z takes the change back." in said, name
        assert window.live.refusal is None, name
        settle(qtbot, window, window.undo_history.undo)
        assert store.state.steps == tuple(steps), name


def test_a_median_in_front_of_others_runs_on_bytes_and_stays_opencvs(qtbot, window):
    window.store.update(**select([MEDIAN, SLOW], 0))
    show_picture(qtbot, window, small())
    settle(qtbot, window, lambda: window.step_row.select(1))
    assert window.store.state.steps == (MEDIAN, SLOW)
    assert [each.job.pixel_type for each in window.live.result.steps] == ["uint8", "float32"]


def test_what_was_taken_by_rule_stays_auto_once_the_reason_is_gone(qtbot, window, tmp_path):
    show_picture(qtbot, window, small())
    path = tmp_path / "median.toml"
    path.write_text('[[step]]\nfilter = "median"\nsize = 7\n[[step]]\nfilter = "box"\n')
    settle(qtbot, window, lambda: drop(window, path))
    for act in (lambda: window.step_row.select(0), lambda: window.store.choose(ksize=3)):
        settle(qtbot, window, act)
        assert {each.implementation for each in window.store.state.steps} == {"auto"}
