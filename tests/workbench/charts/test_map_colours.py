"""The maps of a sweep: what is best is the lightest, and the caption names both ends."""

import pytest
from PySide6.QtCore import QPointF

from tests.made_sessions import a_session
from tests.workbench.charts.test_chart_view import show, view  # noqa: F401
from tests.workbench.seeing import pixels_of
from workbench.charts.drawing.marks import cividis


def colour_at(canvas, spot):
    """Near a corner of the tile, where no letter stands."""
    left, low = spot.box[0] + 0.12, spot.box[1] + 0.12
    place = canvas.plot.getViewBox().mapViewToScene(QPointF(left, low))
    pixels = pixels_of(canvas.grab().toImage())
    return tuple(pixels[int(place.y()), int(place.x())].tolist())


@pytest.mark.parametrize(
    ("plan", "kind", "best_of"),
    [("block_grid", "block_map", min), ("sizes_and_kernels", "throughput_map", max)],
)
def test_the_best_tile_is_the_lightest(qtbot, view, plan, kind, best_of):  # noqa: F811
    canvas = show(qtbot, view, a_session(plan), kind=kind)
    tiles = [tile for tile in view.figure.body.tiles if tile.value]
    best = best_of(tiles, key=lambda tile: tile.value)
    worst = {min: max, max: min}[best_of](tiles, key=lambda tile: tile.value)
    spots = {(spot.x, -spot.y): spot for spot in canvas.spots}
    seen = [colour_at(canvas, spots[float(tile.column), float(tile.row)]) for tile in (best, worst)]
    assert seen[0] == pytest.approx(cividis(1).getRgb()[:3], abs=3)
    assert seen[1] == pytest.approx(cividis(0).getRgb()[:3], abs=3)
