"""The history plot: one point a job, marked where what ran was changed."""

from itertools import combinations, pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import QPointF
from PySide6.QtGui import QFontMetricsF

from tests.made_up import FAILED, a_job, picked_result, result
from workbench.base import theme
from workbench.charts.canvas import Canvas
from workbench.panels.timing.history_plot import EMPTY, REDRAW_MS, HistoryPlot, label_places
from workbench.panels.timing.run_history import LAST_RUNS, RunHistory


@pytest.fixture
def runs():
    return RunHistory()


@pytest.fixture
def history(qapp, qtbot, runs):
    theme.apply(qapp, "light")
    history = HistoryPlot(runs)
    qtbot.addWidget(history)
    history.resize(600, 140)
    history.show()
    return history


def canvas_of(history) -> Canvas:
    return history.findChild(Canvas)


def texts(history):
    return [spot.text for spot in canvas_of(history).spots]


def test_every_job_is_a_point_that_tells_its_values(qtbot, history, runs):
    runs.add(result("shared", (0.2,)))
    runs.add(result("opencv", (2.0,)))
    qtbot.waitUntil(lambda: len(texts(history)) == 2)
    assert texts(history)[0].splitlines()[0] == "Shared-memory tile 32×8: 200\u202fµs"
    assert texts(history)[1].splitlines()[0] == "OpenCV: 2.00\u202fms"
    spot = canvas_of(history).spots[1]
    place = canvas_of(history).plot.getViewBox().mapViewToScene(QPointF(spot.x, spot.y))
    assert canvas_of(history).spot_at(place) == spot


def test_what_auto_picked_is_told_and_looks_like_it(qtbot, history, runs):
    runs.add(picked_result("shared", samples_ms=(0.2,)))
    qtbot.waitUntil(lambda: len(texts(history)) == 1)
    assert texts(history)[0].splitlines()[0] == "Auto: Shared-memory tile 32×8: 200\u202fµs"


def test_what_is_newly_known_of_a_job_replaces_its_point(qtbot, history, runs):
    job = a_job()
    runs.add(result(job=job, samples_ms=(0.9,), check=None))
    runs.add(result(job=job, samples_ms=(0.9, 0.1, 0.1)))
    qtbot.waitUntil(lambda: len(texts(history)) == 1)
    assert "100\u202fµs" in texts(history)[0]


def test_only_the_last_runs_are_kept_and_no_picture_with_them(qtbot, history, runs):
    for _ in range(LAST_RUNS + 5):
        runs.add(result())
    qtbot.waitUntil(lambda: len(texts(history)) == LAST_RUNS)


def test_a_wrong_answer_is_told(qtbot, history, runs):
    runs.add(result(check=FAILED))
    qtbot.waitUntil(lambda: bool(texts(history)))
    assert "WRONG" in texts(history)[0]


def test_it_is_summed_up_for_who_cannot_see_it(history, runs):
    runs.add(result("opencv", (2.0,)))
    runs.add(result("shared", (0.2,)))
    assert history.accessibleDescription().replace("\u202f", " ") == (
        "2 runs, filter times from 200 µs to 2.00 ms; "
        "the last, Shared-memory tile 32×8, took 200 µs."
    )


def test_clearing_forgets_all(qtbot, history, runs):
    runs.add(result())
    qtbot.waitUntil(lambda: bool(texts(history)))
    runs.clear()
    assert texts(history) == []
    assert history.accessibleDescription() == EMPTY


def test_it_follows_the_theme(qtbot, history, runs, qapp):
    runs.add(result())
    qtbot.waitUntil(lambda: bool(texts(history)))
    theme.apply(qapp, "dark")
    try:
        background = canvas_of(history).plot.backgroundBrush().color().name()
    finally:
        theme.apply(qapp, "light")
    assert background == theme.DARK.panel


def extents(starts, places):
    """(row, from, to) of the labels that have a place, in px."""
    return [
        (p.row, start, start + p.width)
        for start, p in zip(starts, places, strict=True)
        if p is not None
    ]


@given(
    st.lists(
        st.tuples(st.integers(0, 499), st.integers(10, 200)), unique_by=lambda each: each[0]
    ).map(sorted)
)
def test_labels_never_cover_each_other_nor_leave_the_plot(labels):
    starts, widths = [start for start, _ in labels], [width for _, width in labels]
    shown = extents(starts, label_places(starts, widths, room=500))
    assert all(begin >= 0 and end <= 500 for _, begin, end in shown)
    for one, other in combinations(shown, 2):
        assert one[0] != other[0] or one[2] <= other[1] or other[2] <= one[1]


def test_a_crowded_label_is_cut_and_the_newest_is_whole():
    places = label_places([0, 60, 120, 180], [100, 100, 100, 100], room=500)
    assert [place.row for place in places] == [1, 0, 1, 0]
    assert [place.width for place in places] == [112 - 12, 112 - 12, 100, 100]
    cut = label_places([0, 27, 54, 81], [100, 100, 100, 100], room=500)
    assert [place.width for place in cut] == [46, 46, 100, 100]


def test_at_the_right_edge_there_is_no_label_that_would_stand_over_other_runs():
    assert label_places([480], [100], room=500) == [None]
    assert label_places([430], [100], room=500) == [(0, 62)]


@pytest.mark.parametrize("times", [(450, 0.8, 0.3, 0.6, 2.0, 600), (1.0,), (1.0, 1.1), (1e-3, 1e5)])
def test_markers_are_whole_and_tick_labels_apart(qtbot, history, runs, times):
    for number, ms in enumerate(times):
        runs.add(result("opencv" if number % 2 else "sequential", (float(ms),)))
    canvas = canvas_of(history)
    qtbot.waitUntil(lambda: len(canvas.spots) == len(times))
    box = canvas.plot.getViewBox()
    for spot in canvas.spots:
        y = box.mapViewToScene(QPointF(spot.x, spot.y)).y()
        assert box.sceneBoundingRect().top() + 5 <= y <= box.sceneBoundingRect().bottom() - 5
    axis, (low, high) = canvas.plot.getAxis("left"), box.viewRange()[1]
    ticks = [place for place, _ in axis.ticks(low, high, box.height())]
    px = [tick * box.height() / (high - low) for tick in ticks]
    assert all(b - a >= QFontMetricsF(axis.font).height() for a, b in pairwise(px))
    assert len(ticks) >= 1
    assert all(axis.lowest <= tick <= axis.highest for tick in ticks)


def test_a_screenshot_need_not_wait_for_the_next_drawing(history, runs):
    runs.add(result("shared", (0.2,)))
    history.draw_now()
    assert len(texts(history)) == 1


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


def test_a_closed_plot_is_drawn_when_it_opens(qtbot, history, runs):
    runs.add(result())
    qtbot.waitUntil(lambda: len(texts(history)) == 1)
    history.hide()
    runs.add(result())
    qtbot.wait(2 * REDRAW_MS)
    assert len(texts(history)) == 1
    history.show()
    qtbot.waitUntil(lambda: len(texts(history)) == 2)
