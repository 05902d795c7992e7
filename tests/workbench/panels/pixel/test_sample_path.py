"""The way of a sample through a list: its values, and walking it in the window."""

import re
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel

from kernels import Engine
from kernels.core.borders import BORDERS
from kernels.oracle.reference import to_pixel_type
from tests.kernels.oracle.test_lists import by_scipy
from tests.workbench.driving import child, settle, show_picture, trigger, until, view
from workbench.base.numbers import GAP
from workbench.imaging.pictures import Picture
from workbench.model import intents
from workbench.model.state import State, Step
from workbench.model.step_files import select
from workbench.panels.compare.compare_view import ORIGINAL
from workbench.panels.pixel.neighbourhood_table import NeighbourTable
from workbench.panels.pixel.pixel_words import stops_of

SAMPLES = np.random.default_rng(5).integers(0, 255, (20, 30, 4), np.uint8)
LIST = Step(), Step("box", is_on=False), Step("sharpen", 3, mix=0.4), Step("box", 3)


def after(state, number):
    """What a step gives, by SciPy, whole and in float64."""
    job = intents.job_for(replace(state, **select(LIST, number), region=None))
    return to_pixel_type(by_scipy(job), SAMPLES.dtype) if job.is_rounded else by_scipy(job)


@pytest.mark.parametrize("is_rounded", [False, True])
@pytest.mark.parametrize("border", BORDERS)
def test_values_are_the_references_with_and_without_results(border, is_rounded):
    part = (8, 8, 4, 4, 1)  # which counts at the end only
    how = {"border": border, "is_rounded": is_rounded, "region": part, "alpha": "apart"}
    state = State(Picture("made up", SAMPLES), **how)
    expected = [SAMPLES, *(after(state, number) for number in (0, 2, 3))]
    for selected in range(len(LIST)):
        at = replace(state, **select(LIST, selected))
        result = Engine(use_gpu=False).run(intents.job_for(at))
        for x, y, channel in ((0, 0, 0), (29, 19, 1), (9, 10, 2), (3, 3, 3)):
            for known in (result, None):
                stops = list(stops_of(at, known, x, y, channel))
                assert [number for number, _ in stops] == [-1, 0, 2, 3]
                # What is nearly a half may be rounded either way.
                close = pytest.approx([e[y, x, channel] for e in expected], abs=is_rounded or 1e-3)
                assert [value for _, value in stops] == close
        if selected > 1:  # what ran is taken from there
            given = result.steps[1].job.picture[0, 0, 0]
            assert list(stops_of(at, result, 0, 0, 0))[1] == (0, given)


# -- in a window


@pytest.fixture
def listed(qtbot, window):
    """A window with a list, one step of it off, the last selected; pixel (0, 0) is held."""
    window.resize(1280, 800)
    show_picture(qtbot, window, SAMPLES.copy())
    window.store.update(border="mirror", alpha="apart")
    settle(qtbot, window, lambda: window.store.update(**select(LIST, 3)))
    trigger(window, "This pixel")
    until(qtbot, window.pixel.get().isVisible)
    window.pixel.get().hold((0, 0))
    return window


def path(window):
    """Texts of the links, and of those that are bold."""
    text = child(window, "pixel-path", QLabel).text().replace(GAP, " ")
    return re.findall(r">([^<>]+)</a>", text), re.findall(r"<b><a[^>]*>([^<>]+)", text)


def place(window):
    """Number of the selected step, from 0, and the pixel."""
    return len(window.store.state.before), window.pixel.get().pixel


def press_link(window, number):
    line = child(window, "pixel-path", QLabel)
    line.clearFocus()
    line.setFocus(Qt.FocusReason.TabFocusReason)
    for _ in range(number + 1):
        QTest.keyClick(line, Qt.Key.Key_Tab)
    QTest.keyClick(line, Qt.Key.Key_Return)


def table(window, name="pixel-table"):
    return child(window, name, NeighbourTable)


def double_click(shown, row, column):
    spot = shown.visualRect(shown.model().index(row, column)).center()
    QTest.mouseClick(shown.viewport(), Qt.MouseButton.LeftButton, pos=spot)
    QTest.mouseDClick(shown.viewport(), Qt.MouseButton.LeftButton, pos=spot)


def test_a_double_click_follows_a_neighbour_through_the_steps_to_the_original(qtbot, listed):
    sample = listed.pixel.get().found.samples[0, 2]  # at (1, -1), which mirror takes from (1, 1)
    settle(qtbot, listed, lambda: double_click(table(listed), 0, 2))
    assert place(listed) == (2, (1, 1))
    assert path(listed)[1][0].endswith(f" {sample:.7g}")
    settle(qtbot, listed, lambda: double_click(table(listed), 1, 0))
    assert place(listed) == (0, (0, 1))  # the second is off
    double_click(table(listed), 2, 3)
    assert place(listed) == (0, (1, 1))
    assert path(listed)[0][0] == f"Original {SAMPLES[1, 1, 0]}"


def test_enter_goes_back_and_a_link_forward_and_the_keyboard_stays(qtbot, listed):
    listed.activateWindow()
    table(listed).setFocus()
    texts = path(listed)[0]
    titles = ["Original", "1 Gaussian blur 5×5", "3 Sharpen 3×3 40 %", "4 Box blur 3×3"]
    for expected in (2, 0):
        assert [each.rpartition(" ")[0] for each in path(listed)[0]] == titles
        settle(qtbot, listed, lambda: QTest.keyClick(table(listed), Qt.Key.Key_Return))
        assert place(listed) == (expected, (0, 0))
        assert table(listed).hasFocus()
    QTest.keyClick(table(listed), Qt.Key.Key_Return)
    assert view(listed, "After").caption == ORIGINAL
    press_link(listed, 1)
    assert view(listed, "After").caption != ORIGINAL
    settle(qtbot, listed, lambda: press_link(listed, 3))
    assert path(listed) == (texts, texts[-1:])


def test_what_lies_outside_the_part_is_said_to_stay(qtbot, listed):
    settle(qtbot, listed, lambda: listed.store.update(region=(8, 8, 4, 4, 0)))
    result = child(listed, "pixel-result", QLabel)
    until(qtbot, lambda: "outside the part" in result.accessibleName())
    assert result.text().split()[0] == str(SAMPLES[0, 0, 0])


def test_weighted_pixels_of_a_gradient_were_made_by_the_same_step(qtbot, listed):
    settle(qtbot, listed, lambda: listed.store.update(**select((Step(), Step("edges", 3)), 1)))
    listed.pixel.get().hold((9, 9))
    weighted = listed.pixel.get().found.slopes.weighted[2, 1]
    double_click(table(listed, "pixel-table-y"), 2, 1)
    assert place(listed) == (1, (9, 10))
    assert listed.pixel.get().found.total == pytest.approx(weighted)


def test_one_plain_step_has_no_path_and_a_zero_leads_nowhere(qtbot, listed):
    settle(qtbot, listed, lambda: listed.store.update(**select(LIST[:1], 0), border="zero"))
    assert not child(listed, "pixel-path").isVisible()
    for cell, pixel in ((0, (0, 0)), (3, (1, 1))):
        double_click(table(listed), cell, cell)
        assert listed.pixel.get().pixel == pixel
    assert view(listed, "After").caption != ORIGINAL


def test_letters_do_not_go_to_and_fro_with_the_scroll_bar(qtbot, listed):
    """Large ones made it come, which made them small, which made it go: that ended in an abort."""
    settle(qtbot, listed, lambda: listed.store.update(**select((Step(), Step("edges", 3)), 1)))
    panel = listed.pixel.get()
    panel.hold((9, 9))
    listed.docks.enlarge("Pixel")
    for width, height in product((390, 490), range(690, 760, 5)):
        panel.window().resize(width, height)
        QApplication.processEvents()
    assert table(listed).isVisible()
