"""The chip on the picture: how negative values are shown, and another way by a click."""

import numpy as np
import pytest
from PySide6.QtWidgets import QToolButton

from kernels.pictures.generated import noise
from tests.workbench.driving import child, show_picture, until


@pytest.fixture
def sloped(qtbot, window):
    """A window with a result that swings around zero."""
    until(qtbot, lambda: window.device)
    window.store.update(implementation="opencv", filter="laplacian", ksize=3)
    show_picture(qtbot, window, noise(40, 60, 3))
    return window


def chip(window):
    return child(window, "negative-chip", QToolButton)


def choose(window, title):
    action = next(each for each in chip(window).menu().actions() if each.text() == title)
    action.trigger()


def test_it_says_the_values_shown_as_black_and_white(sloped):
    sizes = abs(sloped.live.result.picture)
    most = np.percentile(sizes[sizes > 0], 99.5, method="inverted_cdf")
    assert chip(sloped).isVisible()
    assert chip(sloped).text() == f"Fit range: −{most:g} to {most:g} ▾"
    assert chip(sloped).accessibleName().startswith("Negative values: Fit range")


def test_another_way_is_a_click_away(qtbot, sloped):
    ticked = [each.text() for each in chip(sloped).menu().actions() if each.isChecked()]
    assert ticked == ["Auto"]
    for title, way, words in (
        ("Clip", "clip", "Clip: 0 to 255 ▾"),
        ("Absolute", "absolute", "Absolute: 0 to 255 ▾"),
        ("Centre on grey", "offset", "Centre on grey: −127.5 to 127.5 ▾"),
    ):
        choose(sloped, title)
        assert sloped.store.state.negative_display == way
        until(qtbot, lambda words=words: chip(sloped).text() == words)
    choose(sloped, "Auto")
    assert sloped.store.state.negative_display is None
