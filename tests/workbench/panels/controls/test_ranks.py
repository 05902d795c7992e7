"""A median and its like in the window: chosen, verified, kept, undone and looked at."""

import json

import numpy as np
import pytest
from PySide6.QtWidgets import QCheckBox, QLabel

from kernels.rungs.rung import Rung
from kernels.sweeps import step_words
from tests.workbench.driving import child, settle, show_picture, trigger, until
from workbench.model import choices, intents
from workbench.model.state import State, Step
from workbench.model.step_files import changes_of, to_text
from workbench.panels.controls.tool_row import ImplementationBox
from workbench.widgets.number_boxes import DecimalBox
from workbench.window.copy_as import command_line

PICTURE = np.random.default_rng(1).integers(0, 255, (20, 30, 3), np.uint8)


@pytest.fixture
def opened(qtbot, window):
    """A window with a picture and a median of it."""
    window.resize(1280, 800)
    show_picture(qtbot, window, PICTURE.copy())
    changes = {"filter": "median", "ksize": 5, "implementation": "parallel"}
    settle(qtbot, window, lambda: window.store.choose(**changes))
    return window


@pytest.mark.parametrize("key", ["median", "percentile", "minimum", "maximum"])
def test_each_runs_as_the_window_starts(qtbot, window, key):
    show_picture(qtbot, window, PICTURE.astype(np.float32))
    result = settle(
        qtbot, window, lambda: window.store.choose(**intents.with_filter(window.store.state, key))
    )
    assert result.check.ok
    result = settle(qtbot, window, lambda: window.store.choose(border="crop", ksize=7))
    assert result.check.ok


def test_disk_and_percentile_are_undone_and_are_in_commands_and_lists(qtbot, opened):
    settle(qtbot, opened, lambda: opened.store.choose(filter="percentile"))
    settle(qtbot, opened, lambda: child(opened, "percentile", DecimalBox).setValue(75))
    settle(qtbot, opened, child(opened, "disk", QCheckBox).click)
    state = opened.store.state
    assert (state.percentile, state.is_disk) == (75.0, True)
    assert "--percentile 75.0 --disk" in command_line(state)
    again = State(**changes_of(step_words.parse(to_text(state))))
    assert (again.filter, again.percentile, again.is_disk) == ("percentile", 75.0, True)
    kept = choices.from_data(json.loads(json.dumps(choices.to_data(state))), State())
    assert (kept["percentile"], kept["is_disk"]) == (75.0, True)
    settle(qtbot, opened, opened.undo_history.undo)
    assert not opened.store.state.is_disk
    assert not child(opened, "disk", QCheckBox).isChecked()
    settle(qtbot, opened, opened.undo_history.undo)
    assert opened.store.state.percentile != 75


def test_this_pixel_has_the_order_and_the_weights_say_that_there_are_none(qtbot, opened):
    trigger(opened, "This pixel")
    panel = opened.pixel.get()
    until(qtbot, panel.isVisible)
    panel.hold((10, 8))
    found = panel.found
    assert list(found.ordered) == sorted(PICTURE[6:11, 8:13, 0].ravel())
    assert found.ordered[found.taken[0]] == np.median(PICTURE[6:11, 8:13, 0])
    told = " ".join(each.text() for each in panel.findChildren(QLabel))
    assert "25 samples in order" in told.replace("\u00a0", " ")
    opened.docks.bring_forward("Weights")
    weights = opened.docks.panel("Weights").get()
    until(qtbot, weights.isVisible)
    assert any("Median has no weights" in each.text() for each in weights.findChildren(QLabel))


@pytest.mark.parametrize("title", ["Anatomy", "Implementation", "Blocks", "Kernel", "Analysis"])
def test_panels_are_shown_with_a_median(qtbot, opened, title):
    opened.docks.bring_forward(title)
    until(qtbot, opened.docks.panel(title).get().isVisible)
    qtbot.wait(200)  # a slot that raises fails the test
    settle(qtbot, opened, lambda: opened.store.update(border="crop", is_disk=True))


def test_the_ladder_has_the_rungs_of_the_filter(qtbot, opened):
    opened.docks.bring_forward("Implementation")
    panel = opened.rung.get()
    until(qtbot, panel.isVisible)
    panel.show_tab("ladder")

    def filters():
        shown = (each.implementation for each in panel.ladder.places)
        return {each.filter for each in shown if isinstance(each, Rung)}

    until(qtbot, lambda: filters() == {"median", "percentiles"})
    settle(qtbot, opened, lambda: opened.store.choose(filter="maximum"))
    until(qtbot, lambda: filters() == {"extremes"})
    settle(qtbot, opened, lambda: opened.store.choose(filter="gaussian"))
    until(qtbot, lambda: filters() == {"weights"})


@pytest.mark.parametrize("key", ["shared", "opencv", "parallel", None])
def test_what_does_no_such_filter_gives_way_to_auto_and_is_there_again(qtbot, opened, key):
    store = opened.store
    if key is None:  # nothing chosen by hand
        key = store.state.implementation
        store.choose(filter="gaussian")
    else:
        store.choose(filter="gaussian", implementation=key)
    if key == "shared":  # there is no GPU, which is said first
        until(qtbot, lambda: opened.messages.kind == "error")
    settle(qtbot, opened, lambda: store.choose(filter="percentile"))
    box = child(opened, "implementation", ImplementationBox)
    if key == "parallel":  # does all
        assert store.state.implementation == key
        assert "takes its place" not in opened.messages.sentence
        return
    assert store.state.implementation == box.currentData() == "auto"
    assert opened.live.result.check.ok
    assert opened.messages.sentence.startswith(intents.implementation(key).title)
    assert "so Auto takes its place. Ctrl+Z" in opened.messages.sentence
    offered = {box.itemData(row) for row in range(box.count())}
    assert {"rank_bits", "opencv"} <= offered
    assert not {"shared", "median_columns", "extreme_taps"} & offered
    opened.undo_history.undo()
    assert (store.state.filter, store.state.implementation) == ("gaussian", key)


def test_a_step_with_a_disk_is_a_word():
    step = Step("median", 5, is_disk=True)
    assert step_words.as_word(step).startswith("median:5,disk=true")
    again = step_words.parse_step(step_words.as_word(step))
    assert (again.filter, again.is_disk) == ("median", True)
