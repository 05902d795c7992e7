"""The grid of weights says where each cell lies, and the response shows values as colours."""

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel

from tests.workbench.seeing import pixels_of
from workbench.charts.drawing.marks import cividis
from workbench.panels.weights.weights_summary import ResponseView

Key = Qt.Key


@pytest.fixture
def response(put_up):
    found = put_up(ResponseView(), 320, 280)
    found.make_plot()
    return found


def test_only_where_a_cell_is_no_number_it_says_so_before_there_is_a_plot(themed, qtbot):
    found = ResponseView()
    qtbot.addWidget(found)
    for values, words in (np.ones((3, 3)), "made up"), (None, ""):
        found.show_response(values, words)
        assert ("not a number" in found.findChild(QLabel).text()) == (values is None)


@pytest.mark.parametrize("share", [0.0, 0.4, 1.0])
def test_values_are_colours_between_dark_and_light(response, share):
    """Of 3 × 3 frequencies the one in the middle lets everything through."""
    values = np.full((3, 3), share)
    values[1, 1] = 1.0
    response.show_response(values, "made up")
    pixels = pixels_of(response.grab().toImage()).reshape(-1, 3)
    for part, least in ((share, 10_000), (1.0, 300)):
        rgb = cividis(part).getRgb()[:3]
        assert (np.abs(pixels.astype(int) - rgb).max(1) <= 2).sum() > least


@pytest.mark.parametrize(
    ("key", "says", "row", "column"),
    [
        (Key.Key_Right, "+0.200, +0.000", 2, 3),
        (Key.Key_Left, "−0.200, +0.000", 2, 1),
        (Key.Key_Up, "+0.000, −0.200", 1, 2),
        (Key.Key_Down, "+0.000, +0.200", 3, 2),
    ],
)
def test_the_arrow_keys_go_where_they_point(response, key, says, row, column):
    values = np.arange(25.0).reshape(5, 5)
    response.show_response(values, "made up")
    response.setFocus()
    QTest.keyClick(response, key)
    assert response.accessibleDescription().startswith(f"{says} cycles/pixel (x, y): ×")
    assert f"×{values[row, column]:g}, " in response.accessibleDescription()
