"""The way of a sample through a list: its values, and walking it in the window."""

import re
from dataclasses import replace

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel

from kernels import Engine
from kernels.core.borders import BORDERS
from kernels.core.job import Job
from kernels.oracle.reference import filtered, to_pixel_type
from tests.workbench.driving import child, settle, show_picture, trigger, until, view
from workbench.base.numbers import GAP
from workbench.imaging.pictures import Picture
from workbench.model import intents
from workbench.model.state import State, Step
from workbench.model.step_files import select
from workbench.panels.compare.compare_view import ORIGINAL
from workbench.panels.pixel.neighbourhood_table import NeighbourTable
from workbench.panels.pixel.sample_path import stops_of

SAMPLES = np.random.default_rng(5).integers(0, 255, (20, 30, 4), np.uint8)
OFF = Step("box", 5, is_on=False)
LIST = Step("gaussian", 5), OFF, Step("sharpen", 3, mix=0.4), Step("box", 3)


def one_by_one(state):
    """What each step that is on gives, whole pictures in float64: a Job of its own for each."""
    found, given = [], state.picture.samples.astype(np.float32)
    for step in (each for each in state.steps if each.is_on):
        made = filtered(Job.of(given, intents.weights_for(step), state.border))
        if state.is_rounded:
            made = to_pixel_type(made, SAMPLES.dtype)
        made = np.float32(step.mix) * made + (1 - np.float32(step.mix)) * given
        if state.is_rounded:
            made = to_pixel_type(made, SAMPLES.dtype)
        given = made.astype(np.float32)
        found.append(given)
    return found


@pytest.mark.parametrize("is_rounded", [False, True])
@pytest.mark.parametrize("border", BORDERS)
def test_values_are_the_references_with_and_without_results(border, is_rounded):
    part = (8, 8, 4, 4, 1)  # which counts at the end only
    state = State(Picture("made up", SAMPLES), border=border, is_rounded=is_rounded, region=part)
    for selected in range(len(LIST)):
        at = replace(state, **select(LIST, selected))
        result = Engine(use_gpu=False).run(intents.job_for(at))
        for x, y, channel in ((0, 0, 0), (29, 19, 1), (9, 10, 2), (3, 3, 3)):
            exact = [SAMPLES[y, x, channel]] + [e[y, x, channel] for e in one_by_one(at)]
            for known in (result, None):
                stops = list(stops_of(at, known, x, y, channel))
                assert [number for number, _ in stops] == [-1, 0, 2, 3]
                # A value that is nearly a half may be rounded either way.
                close = 1 if is_rounded else 1e-3
                assert [value for _, value in stops] == pytest.approx(exact, abs=close)
            assert [each for _, each in stops_of(at, result, x, y, 3)][1:] == [SAMPLES[y, x, 3]] * 3


def test_what_ran_is_taken_from_the_result():
    state = replace(State(Picture("made up", SAMPLES)), **select(LIST, 3))
    result = Engine(use_gpu=False).run(intents.job_for(state))
    values = [value for _, value in stops_of(state, result, 7, 8, 0)]
    given = [each.job.picture[8, 7, 0] for each in result.steps]
    assert values[:3] == [SAMPLES[8, 7, 0], *given[1:]]
    assert values[3] == result.steps[-1].picture[8, 7, 0]
    assert given[1].dtype == np.float32


# -- in a window


@pytest.fixture
def listed(qtbot, window):
    """A window with a list of steps, one of them off, the last selected; pixel (0, 0) is held."""
    window.resize(1280, 800)
    show_picture(qtbot, window, SAMPLES.copy())
    window.store.update(border="mirror")
    settle(qtbot, window, lambda: window.store.update(**select(LIST, 3)))
    trigger(window, "This pixel")
    until(qtbot, window.pixel.get().isVisible)
    window.pixel.get().hold((0, 0))
    return window


def path(window):
    """Texts of the links, and which of them is bold."""
    text = child(window, "pixel-path", QLabel).text().replace(GAP, " ")
    return re.findall(r">([^<>]+)</a>", text), re.findall(r"<b><a[^>]*>([^<>]+)", text)


def number(window):
    return len(window.store.state.before)


def table(window, name="pixel-table"):
    return child(window, name, NeighbourTable)


def double_click(shown, row, column):
    spot = shown.visualRect(shown.model().index(row, column)).center()
    QTest.mouseClick(shown.viewport(), Qt.MouseButton.LeftButton, pos=spot)
    QTest.mouseDClick(shown.viewport(), Qt.MouseButton.LeftButton, pos=spot)


def test_a_double_click_follows_a_neighbour_to_the_step_before_and_on_to_the_original(
    qtbot, listed
):
    panel = listed.pixel.get()
    sample = panel.found.samples[0, 2]  # at (1, -1), which mirror takes from (1, 1)
    settle(qtbot, listed, lambda: double_click(table(listed), 0, 2))
    until(qtbot, lambda: panel.found is not None)
    assert (panel.found.x, panel.found.y, number(listed)) == (1, 1, 2)  # 1 is off
    assert path(listed)[1][0].endswith(f" {sample:.7g}")
    assert panel.is_held
    settle(qtbot, listed, lambda: double_click(table(listed), 1, 0))
    assert (panel.found.x, panel.found.y, number(listed)) == (0, 1, 0)
    double_click(table(listed), 2, 3)
    assert (panel.found.x, panel.found.y, number(listed)) == (1, 1, 0)
    assert view(listed, "After").caption == ORIGINAL
    assert path(listed)[0][0] == f"Original {SAMPLES[1, 1, 0]}"
    listed.undo_history.undo()
    until(qtbot, lambda: number(listed) == 2)


def test_enter_goes_back_and_a_link_forward_and_the_keyboard_stays(qtbot, listed):
    listed.activateWindow()
    table(listed).setFocus()
    texts = path(listed)[0]
    assert [each.rpartition(" ")[0] for each in texts] == [
        *("Original", "1 Gaussian blur 5×5", "3 Sharpen 3×3 40 %", "4 Box blur 3×3")
    ]
    for expected in (2, 0):
        settle(qtbot, listed, lambda: QTest.keyClick(table(listed), Qt.Key.Key_Return))
        assert number(listed) == expected
        assert table(listed).hasFocus()
        assert [each.rpartition(" ")[0] for each in path(listed)[0]] == [
            each.rpartition(" ")[0] for each in texts
        ]
    QTest.keyClick(table(listed), Qt.Key.Key_Return)
    assert view(listed, "After").caption == ORIGINAL
    links = child(listed, "pixel-path", QLabel)
    links.linkActivated.emit("0")
    assert view(listed, "After").caption != ORIGINAL
    settle(qtbot, listed, lambda: links.linkActivated.emit("3"))
    assert number(listed) == 3
    assert path(listed)[0] == texts


def test_what_lies_outside_the_part_is_said_to_stay(qtbot, listed):
    settle(qtbot, listed, lambda: listed.store.update(region=(8, 8, 4, 4, 0)))
    result = child(listed, "pixel-result", QLabel)
    until(qtbot, lambda: "outside the part" in result.accessibleName())
    assert result.text().split()[0] == str(SAMPLES[0, 0, 0])
    listed.pixel.get().hold((9, 9))
    assert "part" not in result.accessibleName()
    expected = filtered(intents.job_for(listed.store.state))[9, 9, 0]
    assert float(result.text().split()[2]) == pytest.approx(expected)


def test_weighted_pixels_of_a_gradient_were_made_by_the_same_step(qtbot, listed):
    steps = (*LIST[:1], Step("edges", 3))
    settle(qtbot, listed, lambda: listed.store.update(**select(steps, 1)))
    listed.pixel.get().hold((9, 9))
    weighted = listed.pixel.get().found.slopes.weighted[2, 1]
    double_click(table(listed, "pixel-table-y"), 2, 1)
    found = listed.pixel.get().found
    assert (found.x, found.y, number(listed)) == (9, 10, 1)
    assert found.total == pytest.approx(weighted)
    assert not table(listed, "pixel-table-y").isVisible()


def test_one_plain_step_has_no_path_and_a_zero_leads_nowhere(qtbot, listed):
    settle(qtbot, listed, lambda: listed.store.update(**select(LIST[:1], 0), border="zero"))
    assert not child(listed, "pixel-path").isVisible()
    double_click(table(listed), 0, 0)
    assert listed.pixel.get().pixel == (0, 0)
    double_click(table(listed), 3, 3)
    assert listed.pixel.get().pixel == (1, 1)
    assert view(listed, "After").caption != ORIGINAL


def test_a_list_without_a_step_that_is_on_is_the_original(qtbot, listed):
    steps = tuple(replace(each, is_on=False) for each in LIST)
    settle(qtbot, listed, lambda: listed.store.update(**select(steps, 2)))
    assert path(listed) == ([f"Original {SAMPLES[0, 0, 0]}"],) * 2
