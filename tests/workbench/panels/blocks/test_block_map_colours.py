"""The live map of block shapes: light is fast, as its legend says, and tiles say what they are."""

import numpy as np
import pytest
from PySide6.QtGui import QColor, QFontMetricsF

from tests.workbench.seeing import pixels_of
from workbench.base import theme
from workbench.charts.drawing.cividis import ON_DARK, ON_LIGHT, cividis
from workbench.panels.blocks.block_map_view import BlockMap
from workbench.panels.blocks.rows import Row
from workbench.widgets.tile import scaled_font

MS = {(8, 8): 9.0, (32, 8): 1.0, (8, 16): 3.0, (32, 16): 2.0}


@pytest.fixture
def block_map(qapp, qtbot):
    theme.apply(qapp, "light")
    found = BlockMap("made up")
    qtbot.addWidget(found)
    found.resize(420, 340)
    return found


def rows(**facts):
    return [Row(key, "", "fine", (0.9 * ms, ms, 1.1 * ms), **facts) for key, ms in MS.items()]


def painted(block_map, some):
    block_map.show_rows(some, "")
    return pixels_of(block_map.grab().toImage())


def inside(pixels, box):
    """The colour that most of a tile has."""
    part = pixels[
        int(box.top()) + 4 : int(box.bottom()) - 3, int(box.left()) + 4 : int(box.right()) - 3
    ]
    found, counts = np.unique(part.reshape(-1, 3), axis=0, return_counts=True)
    return tuple(found[counts.argmax()].tolist())


def test_the_fastest_is_the_lightest_and_the_slowest_the_darkest(block_map):
    pixels = painted(block_map, rows())
    seen = {row.key: inside(pixels, box) for box, row in block_map.boxes()}
    assert seen[32, 8] == cividis(1).getRgb()[:3]
    assert seen[8, 8] == cividis(0).getRgb()[:3]
    # On a logarithmic scale 3 ms is half-way from 1 to 9.
    assert seen[8, 16] == pytest.approx(cividis(0.5).getRgb()[:3], abs=1)


def test_the_legend_goes_from_light_to_dark_as_times_do(block_map):
    pixels = painted(block_map, rows())
    bottom = max(box.bottom() for box, _ in block_map.boxes())
    line = pixels[int(bottom + 10 + QFontMetricsF(scaled_font(0.85)).height() / 2)].astype(int)
    light = np.abs(line - cividis(1).getRgb()[:3]).sum(1)
    dark = np.abs(line - cividis(0).getRgb()[:3]).sum(1)
    assert light.min() < 20
    assert dark.min() < 20
    assert light.argmin() < dark.argmin()


def test_times_are_written_dark_on_light_and_light_on_dark(block_map):
    pixels = painted(block_map, rows()).astype(int)
    at = {row.key: box.toRect() for box, row in block_map.boxes()}
    for key, ink in (((32, 8), ON_LIGHT), ((8, 8), ON_DARK)):
        box = at[key].adjusted(4, 4, -4, -4)
        tile = pixels[box.top() : box.bottom(), box.left() : box.right()].reshape(-1, 3)
        assert np.abs(tile - QColor(ink).getRgb()[:3]).max(1).min() < 60


def test_widths_go_across_and_heights_down(block_map):
    block_map.show_rows(rows(), "")
    at = {row.key: box for box, row in block_map.boxes()}
    assert at[8, 8].left() == at[8, 16].left() < at[32, 8].left()
    assert at[8, 8].top() == at[32, 8].top() < at[8, 16].top()
    assert block_map.columns == 2


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"is_current": True}, {}),
        ({"place": 1}, {}),
        ({"occupancy": 0.5}, {"occupancy": 1.0}),
        ({"occupancy": 0.5}, {}),
    ],
)
def test_what_is_known_of_a_tile_can_be_seen_on_it(block_map, one, other):
    assert not np.array_equal(painted(block_map, rows(**one)), painted(block_map, rows(**other)))


def test_a_refused_shape_is_hatched_and_a_time_without_a_check_is_pale(block_map):
    some = rows()
    fine = painted(block_map, some)
    pale = [Row(each.key, "", "unsure", each.ms) for each in some]
    refused = [Row((8, 8), "", "refused"), *some[1:]]
    box = block_map.boxes()[0][0]
    assert sum(inside(painted(block_map, pale), box)) > sum(inside(fine, box))
    left, top = int(box.left()) + 4, int(box.top()) + 4
    part = painted(block_map, refused)[top : top + 20, left : left + 20]
    assert len(np.unique(part.reshape(-1, 3), axis=0)) == 2
