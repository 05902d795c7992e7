"""The live map of block shapes: light is fast, as its caption says, and tiles say what they are."""

import numpy as np
import pytest
from PySide6.QtCore import QPointF, QRectF

from tests.workbench.driving import until
from tests.workbench.seeing import pixels_of
from workbench.base.numbers import duration
from workbench.charts.canvas import FigureView
from workbench.charts.drawing.marks import cividis
from workbench.panels.blocks.rows import BlockRow, map_of

MS = {(8, 8): 9.0, (32, 8): 1.0, (8, 16): 3.0, (32, 16): 2.0}


@pytest.fixture
def block_map(qtbot, put_up):
    found = put_up(FigureView(""), 420, 340)
    found.show_figure(map_of(rows(), ""))
    until(qtbot, lambda: found.spots)
    return found


def rows(**facts):
    return [
        BlockRow(key, "", "fine", (0.9 * ms, ms, 1.1 * ms), words=duration(ms), **facts)
        for key, ms in MS.items()
    ]


def painted(block_map, some):
    block_map.show_figure(map_of(some, ""))
    return pixels_of(block_map.grab().toImage())


def tiles(block_map):
    """The box of each tile in the widget's pixels, by its shape."""
    view, corner = block_map.plot.getViewBox(), QPointF(block_map.plot.pos())
    boxes = {}
    for spot in block_map.spots:
        left, low, right, high = spot.box
        ends = (view.mapViewToScene(QPointF(x, y)) for x, y in ((left, high), (right, low)))
        boxes[spot.cell] = QRectF(*ends).translated(corner).toRect().adjusted(6, 6, -6, -6)
    return boxes


def part(pixels, box):
    return pixels[box.top() : box.bottom(), box.left() : box.right()].reshape(-1, 3)


def inside(pixels, box):
    """The colour that most of a tile has."""
    found, counts = np.unique(part(pixels, box), axis=0, return_counts=True)
    return tuple(found[counts.argmax()].tolist())


def test_the_fastest_is_the_lightest_and_the_slowest_the_darkest(block_map):
    pixels = painted(block_map, rows())
    seen = {shape: inside(pixels, box) for shape, box in tiles(block_map).items()}
    assert seen[32, 8] == pytest.approx(cividis(1).getRgb()[:3], abs=1)
    assert seen[8, 8] == pytest.approx(cividis(0).getRgb()[:3], abs=1)
    # On a logarithmic scale 3 ms is half-way from 1 to 9.
    assert seen[8, 16] == pytest.approx(cividis(0.5).getRgb()[:3], abs=1)


def test_a_refused_shape_is_hatched_and_a_time_without_a_check_is_pale(block_map):
    some = rows()
    fine, box = painted(block_map, some), tiles(block_map)[8, 8]
    pale = [BlockRow(each.key, "", "unsure", each.ms, words=each.words) for each in some]
    refused = [BlockRow((8, 8), "", "refused"), *some[1:]]
    assert sum(inside(painted(block_map, pale), box)) > sum(inside(fine, box))
    hatched = part(painted(block_map, refused), box)
    shares = np.unique(hatched, axis=0, return_counts=True)[1] / len(hatched)
    assert 0.05 < shares.min() < shares.max() < 0.95
