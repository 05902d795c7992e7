"""The history plot: one point a job, marked where what ran was changed."""

import pytest
from PySide6.QtCore import QPointF

from tests.made_up import FAILED, a_job, result
from workbench import theme
from workbench.canvas import Canvas
from workbench.history_plot import LAST_RUNS, HistoryPlot, label_places


@pytest.fixture
def history(qapp, qtbot):
    theme.apply(qapp, "light")
    history = HistoryPlot()
    qtbot.addWidget(history)
    history.resize(600, 140)
    history.show()
    return history


def canvas_of(history) -> Canvas:
    return history.findChild(Canvas)


def texts(history):
    return [spot.text for spot in canvas_of(history).spots]


def test_every_job_is_a_point_that_tells_its_values(qtbot, history):
    history.add(result("shared", (0.2,)))
    history.add(result("opencv", (2.0,)))
    qtbot.waitUntil(lambda: len(texts(history)) == 2)
    assert texts(history)[0].splitlines()[0] == "shared 32×8: 200\u202fµs"
    assert texts(history)[1].splitlines()[0] == "opencv: 2.00\u202fms"
    spot = canvas_of(history).spots[1]
    place = canvas_of(history).plot.getViewBox().mapViewToScene(QPointF(spot.x, spot.y))
    assert canvas_of(history).spot_at(place) == spot


def test_what_is_newly_known_of_a_job_replaces_its_point(qtbot, history):
    job = a_job()
    history.add(result(job=job, samples_ms=(0.9,), check=None))
    history.add(result(job=job, samples_ms=(0.9, 0.1, 0.1)))
    qtbot.waitUntil(lambda: len(texts(history)) == 1)
    assert "100\u202fµs" in texts(history)[0]


def test_only_the_last_runs_are_kept_and_no_picture_with_them(qtbot, history):
    for _ in range(LAST_RUNS + 5):
        history.add(result())
    qtbot.waitUntil(lambda: len(texts(history)) == LAST_RUNS)


def test_a_wrong_answer_is_told(qtbot, history):
    history.add(result(check=FAILED))
    qtbot.waitUntil(lambda: bool(texts(history)))
    assert "WRONG" in texts(history)[0]


def test_it_is_summed_up_for_who_cannot_see_it(history):
    history.add(result("opencv", (2.0,)))
    history.add(result("shared", (0.2,)))
    assert history.accessibleDescription().replace("\u202f", " ") == (
        "2 runs, kernel times from 200 µs to 2.00 ms; the last, shared 32×8, took 200 µs."
    )


def test_clearing_forgets_all(qtbot, history):
    history.add(result())
    qtbot.waitUntil(lambda: bool(texts(history)))
    history.clear()
    assert texts(history) == []
    assert history.accessibleDescription() == ""


def test_it_follows_the_theme(qtbot, history, qapp):
    history.add(result())
    qtbot.waitUntil(lambda: bool(texts(history)))
    theme.apply(qapp, "dark")
    try:
        background = canvas_of(history).plot.backgroundBrush().color().name()
    finally:
        theme.apply(qapp, "light")
    assert background == theme.DARK.panel


def test_labels_never_cover_each_other():
    places = label_places([0, 50, 60, 200, 290], [100, 100, 100, 60, 80], room=300)
    assert [place and place.row for place in places] == [0, 1, None, 0, 1]
    assert places[-1].is_left
