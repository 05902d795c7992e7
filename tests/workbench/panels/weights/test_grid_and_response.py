"""The grid of weights says where each cell lies, and the response shows values as colours."""

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from tests.workbench.seeing import pixels_of
from workbench.base import theme
from workbench.charts.drawing.marks import cividis
from workbench.panels.weights.weights_draft import WeightsDraft
from workbench.panels.weights.weights_grid import WeightsGrid
from workbench.panels.weights.weights_summary import ResponseView

Key = Qt.Key


def drawing(size, divisor="1"):
    rows = tuple(tuple(f"{y * size + x}" for x in range(size)) for y in range(size))
    return WeightsDraft(rows, divisor, "0")


@pytest.fixture
def grid(qapp, qtbot):
    theme.apply(qapp, "light")
    found = WeightsGrid(drawing(3))
    qtbot.addWidget(found)
    found.resize(300, 300)
    found.show()
    return found


def tip(grid, row, column):
    return grid.model().index(row, column).data(Qt.ItemDataRole.ToolTipRole)


def test_every_cell_says_its_value_and_where_it_lies(grid):
    grid.show_drawing(drawing(5, "16"))
    assert tip(grid, 2, 2) == "12 / 16, on the pixel itself"
    assert tip(grid, 0, 4) == "4 / 16, 2 right and 2 up"
    assert tip(grid, 3, 2) == "17 / 16, 1 down"
    assert tip(grid, 2, 0) == "10 / 16, 2 left"
    headers = [grid.model().headerData(n, Qt.Orientation.Horizontal) for n in range(5)]
    assert headers == ["−2", "−1", "0", "+1", "+2"]


@pytest.fixture
def response(qapp, qtbot):
    theme.apply(qapp, "light")
    found = ResponseView()
    qtbot.addWidget(found)
    found.resize(320, 280)
    found.show()
    found.make_plot()
    return found


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
