"""The history plot: one point a job, marked where what ran was changed."""

import pytest
from PySide6.QtCore import QPointF

from tests.made_up import result
from workbench.panels.timing.history_plot import HistoryPlot, RunHistory


@pytest.fixture
def runs():
    return RunHistory()


@pytest.fixture
def history(put_up, runs):
    return put_up(HistoryPlot(runs), 600, 140)


def texts(history):
    return [spot.text for spot in history.spots]


def test_every_job_is_a_point_that_tells_its_values(qtbot, history, runs):
    runs.add(result("shared", (0.2,)))
    runs.add(result("opencv", (2.0,)))
    qtbot.waitUntil(lambda: len(texts(history)) == 2)
    assert texts(history)[0].splitlines()[0] == "Shared-memory tile 32×8: 200\u202fµs"
    assert texts(history)[1].splitlines()[0] == "OpenCV: 2.00\u202fms"
    spot = history.spots[1]
    place = history.plot.getViewBox().mapViewToScene(QPointF(spot.x, spot.y))
    assert history.spot_at(place) == spot


def test_each_change_of_what_ran_has_a_tick_with_its_name(qtbot, history, runs):
    for key in ("shared", "shared", "opencv", "shared"):
        runs.add(result(key))
    qtbot.waitUntil(lambda: len(texts(history)) == 4)
    axis, shared = history.plot.getAxis("bottom"), "Shared-memory tile\n32×8"
    assert axis.ticks(-1, 60, 600) == [(0, shared), (2, "OpenCV"), (3, shared)]


def test_a_scene_forgets_what_the_pointer_was_over_when_it_is_emptied(qtbot):
    """Or it would ask what Qt has deleted, and end the process."""
    import pyqtgraph as pg

    from workbench.charts.drawing.plotting import emptied

    view = pg.PlotWidget()
    qtbot.addWidget(view)
    curve = view.plot([1, 2, 3])
    scene = view.getPlotItem().scene()
    scene.hoverItems[curve] = None
    scene.lastHoverEvent = object()
    emptied(view.getPlotItem())
    assert not scene.hoverItems
    assert scene.lastHoverEvent is None
    assert not view.getPlotItem().listDataItems()
