"""This pixel of filters that are no weighted sum: their numbers, their table, on the picture."""

import numpy as np
import pytest
from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QImage, QPainter
from PySide6.QtWidgets import QComboBox, QLabel

from tests.workbench.driving import child, settle, show_picture, until, with_pixel
from workbench.panels.pixel.neighbourhood_table import NeighbourTable

PICTURE = np.full((24, 30, 1), 20, np.uint8)
PICTURE[10, 12] = PICTURE[10, 16] = 220  # a dot, and another that is like it
PICTURE[9:12, 20:23] = 120


@pytest.fixture
def opened(qtbot, window):
    return with_pixel(qtbot, window, PICTURE.copy())


@pytest.mark.parametrize(
    ("chosen", "at", "told", "said"),
    [
        (
            {"filter": "opening", "ksize": 3},
            (21, 10),
            {"first": "120 at x 20, y 9", "second": "120 at x 21, y 10", "sum": "120"},
            "has the minimum",
        ),
        (
            {"filter": "morphological_gradient", "ksize": 3},
            (12, 10),
            {
                "first": "220 at x 12, y 10",
                "second": "20 at x 11, y 9",
                "less": "220 − 20",
                "sum": "200",
            },
            "less their minimum",
        ),
        (
            {"filter": "top_hat", "ksize": 3},
            (12, 10),
            {"second": "20 at x 13, y 11", "less": "220 − 20", "sum": "200"},
            "has the minimum",
        ),
        (
            {"filter": "bilateral", "ksize": 9, "sigma": 2.0},
            (12, 10),
            {"weights": "1.13533528324", "sum": "220", "alike": "x 16, y 10: c 0, weight 0.1353"},
            "49 samples of a disk",
        ),
        (
            {"filter": "non_local_means", "ksize": 9, "patch": 3},
            (12, 10),
            {"weights": "2", "sum": "220", "alike": "x 16, y 10: d² 0, weight 1"},
            "alike the 3 × 3",
        ),
        (
            {"filter": "guided", "ksize": 3, "epsilon": 0.01},
            (12, 3),
            {"mean": "20", "variance": "0", "a": "0", "b": "20", "mean_a": "0", "sum": "20"},
            "a is near 0",
        ),
    ],
    ids=lambda each: each.get("filter") if isinstance(each, dict) else None,
)
def test_it_tells_how_the_value_comes_about(qtbot, opened, chosen, at, told, said):
    result = settle(qtbot, opened, lambda: opened.store.choose(**chosen))
    panel = opened.pixel.get()
    panel.hold(at)
    shown = {each.objectName().removeprefix("pixel-"): each for each in panel.findChildren(QLabel)}
    for name, words in told.items():
        assert shown[name].text().split("\n")[0] == words, name
    assert said in shown["sentence"].text()
    assert shown["value"].text() == str(result.picture[at[1], at[0], 0])
    assert "exact" in shown["difference"].text()
    # Nothing is wider than the panel, and what is painted is as much as the panel tells.
    assert max(e.geometry().right() for e in shown.values() if e.isVisible()) < panel.width()
    painted = QImage(300, 240, QImage.Format.Format_ARGB32)
    painted.fill(0)
    painter = QPainter(painted)
    painter.scale(10, 10)
    panel.paint(painter, QRectF(0, 0, 30, 24), 10)
    painter.end()
    is_marked = painted.pixelColor(165, 120).alpha() > 0  # the edge of the other dot's patch
    assert is_marked == (chosen["filter"] == "non_local_means")


COUNTED = (
    ({"filter": "median"}, "clamp", "13 samples in order, of which number 7 is taken. 7 beyond"),
    ({"filter": "median"}, "crop", "6 samples in order, of which the mean of the middle two"),
    ({"filter": "opening"}, "crop", "the maximum of 6 samples is taken. 7 beyond"),
    ({"filter": "morphological_gradient"}, "clamp", "The maximum of 13 samples less"),
    ({"filter": "bilateral"}, "crop", "6 samples of a disk"),
    ({"filter": "non_local_means"}, "crop", "9 samples, weighted"),
)


def test_only_samples_that_count_are_counted(qtbot, opened):
    panel, table = opened.pixel.get(), child(opened, "pixel-table", NeighbourTable)
    for chosen, border, said in COUNTED:
        how = {**chosen, "ksize": 5, "is_disk": True, "border": border}
        settle(qtbot, opened, lambda how=how: opened.store.choose(**how))
        panel.hold((0, 0))
        assert said in child(panel, "pixel-sentence", QLabel).text()
        assert ("do not count" in table.model().index(0, 0).data(3)) == (border == "crop")


def test_cells_say_how_unlike_they_are_and_a_window_too_large_is_refused(qtbot, opened):
    settle(qtbot, opened, lambda: opened.store.choose(filter="bilateral", ksize=9))
    opened.pixel.get().hold((12, 10))
    tip = child(opened, "pixel-table", NeighbourTable).model().index(4, 5).data(3)
    assert "c 200, weight" in tip
    settle(qtbot, opened, lambda: opened.store.choose(filter="closing", ksize=33))
    panel = opened.pixel.get()
    assert "33×33 is too large" in child(panel, "pixel-sentence", QLabel).text()
    assert panel.found is None
    settle(qtbot, opened, lambda: opened.store.choose(ksize=31))
    until(qtbot, lambda: panel.found is not None)


def test_a_threshold_and_a_mix_are_told_from_the_sum_to_the_result(qtbot, opened):
    panel = opened.pixel.get()
    shown = {each.objectName().removeprefix("pixel-"): each for each in panel.findChildren(QLabel)}
    chosen = {"filter": "unsharp", "ksize": 3, "threshold": 0.2, "amount": 0.5, "mix": 0.5}
    result = settle(qtbot, opened, lambda: opened.store.choose(**chosen))
    panel.hold((20, 9))
    change = 0.5 * (120 - (9 * 120 + 7 * 20) / 16)  # of a corner, by the binomial 1 2 1
    own, told, less, made = (
        float(shown[name].text()) for name in ("own", "change", "weakened", "blended")
    )
    assert (own, told) == (120, pytest.approx(change))
    assert less == pytest.approx(max(change - 0.5 * 0.2 * 255, 0))
    assert made == pytest.approx(120 + 0.5 * less)
    assert shown["result"].text().startswith(str(result.picture[9, 20, 0]))
    assert f"where {shown['blended'].text()} is exact" in shown["result"].text()
    assert "list" not in child(opened, "line-spread", QLabel).wordings[0]  # of one filter
    settle(qtbot, opened, lambda: opened.store.choose(threshold=0.0, mix=1.0))
    assert not shown["own"].isVisible()


def test_without_weights_there_are_only_samples(qtbot, opened):
    kinds = child(opened, "pixel-show", QComboBox)
    for name in ("bilateral", "top_hat", "median"):
        settle(qtbot, opened, lambda name=name: opened.store.choose(filter=name, ksize=3))
        opened.pixel.get().hold((12, 10))
        assert (kinds.count() == 1) == (name != "bilateral")
    model = child(opened, "pixel-table", NeighbourTable).model()
    cells = [model.index(row, column) for row in range(3) for column in range(3)]
    assert {cell.data() for cell in cells} == {"20", "220"}
    taken = [cell for cell in cells if cell.data(Qt.ItemDataRole.BackgroundRole) is not None]
    assert [cell.data() for cell in taken] == ["20"]


def test_where_nothing_is_alike_that_is_said_and_the_answer_is_in_sight(qtbot, opened):
    chosen = {"filter": "non_local_means", "ksize": 9, "patch": 3, "strength": 0.001}
    picture = np.arange(720, dtype=np.float32).reshape(24, 30, 1) ** 2 % 251 / 251
    show_picture(qtbot, opened, picture)
    settle(qtbot, opened, lambda: opened.store.choose(**chosen))
    opened.pixel.get().hold((12, 10))
    assert "stays as it is" in child(opened, "pixel-alike", QLabel).text()
    value = child(opened, "pixel-value", QLabel)
    assert value.visibleRegion().boundingRect().height() == value.height()
