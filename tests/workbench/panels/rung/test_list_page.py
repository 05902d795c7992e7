"""The page on how a list runs as a whole: over the picture, as numbers, and as a chart."""

import numpy as np
import pytest
from PySide6.QtCore import QEvent, QPoint, QPointF, Qt
from PySide6.QtGui import QColor, QImage, QMouseEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel, QPushButton, QScrollArea, QToolButton

from kernels.pictures.generated import noise
from tests.workbench.driving import child, click, ready, settle, trigger, until, view
from tests.workbench.engines import MadeUpGpu
from workbench.model.state import Step
from workbench.panels.rung.list_page import FRAMES, words_of


def is_painted(window):
    """True where a frame is over the picture, which is grey."""
    image = seen(window).convertToFormat(QImage.Format.Format_RGB32)
    samples = np.frombuffer(image.constBits(), np.uint32)
    return bool((samples == QColor(FRAMES[0]).rgb()).any())


@pytest.fixture
def explained(qtbot, make_window):
    """Makes a window with a list whose explanation is in front."""

    def make(steps, *engine):
        window = ready(qtbot, make_window(*engine), noise(200, 300, 1))
        for _ in range(steps - 1):
            settle(qtbot, window, lambda: trigger(window, "Add step"))
        trigger(window, "Explain the whole list")
        until(qtbot, lambda: window.rung.get().list_page.cost is not None)
        return window

    return make


def words(window, name):
    return child(window, name, QLabel).text()


def point(pane, x, y):
    """Move the pointer over a pixel, as seen by the picture; not the screen's pointer."""
    place = pane.transform.to_view((x, y), pane.device_size)
    at, none = QPointF(*place) / pane.devicePixelRatioF(), Qt.MouseButton.NoButton
    kind, keys = QEvent.Type.MouseMove, Qt.KeyboardModifier.NoModifier
    QApplication.sendEvent(pane, QMouseEvent(kind, at, pane.mapToGlobal(at), none, none, keys))


def seen(window):
    """The picture as it is painted, with what lies over it."""
    return view(window, "After").grab().toImage()


def test_all_of_one_step_s_chart_is_seen_in_a_window_of_1280_by_720(qtbot, explained):
    window = explained(1)
    window.resize(1280, 720)
    chart = window.rung.get().list_page.chart
    until(qtbot, lambda: chart.visibleRegion().boundingRect() == chart.rect())


def test_the_halo_grows_over_the_picture_around_the_pointer(qtbot, explained):
    window = explained(3)
    page, picture = window.rung.get().list_page, view(window, "After")
    point(picture, 70, 40)
    first, before = page.frames(), seen(window)
    assert first[-1].getRect() == (64, 32, 64, 32)  # a tile
    assert [each.left() for each in first] == [58, 60, 62, 64]  # of 5×5, two a step
    point(picture, 200, 150)
    assert page.frames()[-1].getRect() == (192, 128, 64, 32)
    assert seen(window) != before
    over = seen(window)
    click(child(window, "list_ring", QToolButton))
    assert page.frames()[-1].width() == 30 * 8  # of a warp
    assert seen(window) != over
    assert is_painted(window)
    window.rung.get().show_tab("idea")
    assert not is_painted(window)


def test_zoom_fills_the_view_with_the_area(qtbot, explained):
    window = explained(2)
    at = window.compare.choices().get("place")
    click(child(window, "list-zoom", QPushButton))
    until(qtbot, lambda: window.compare.choices().get("place") != at)


def test_numbers_and_chart_without_a_gpu_are_of_the_recorded_one(explained):
    window = explained(2)
    table, said = words(window, "list-bytes"), words(window, "list-chart-said")
    assert "One&nbsp;graph" in table
    assert "780" in table
    assert "H200" in said
    assert "Operations take longer: tiles from" in said
    figure = window.rung.get().list_page.chart.figure
    lines = {each.entry.key: [dot.x for dot in each.dots] for each in figure.body.series}
    assert lines["One graph, bytes"] == [*range(1, 9)]
    assert lines["Tiles, operations"][0] == 2


def test_a_reason_is_said_once_of_ways_one_below_the_other(explained):
    cost = explained(2).rung.get().list_page.cost
    graph, no = cost.ways["graph"], "It <cannot>."
    assert len(cost.ways) == 4
    table = words_of(cost._replace(ways=dict(zip(cost.ways, (no, graph, no, no), strict=True))))
    assert [each[0] for each in table.split("rowspan=")[1:]] == ["1", "2"]
    assert table.count("It &lt;cannot&gt;.") == 2


def test_numbers_follow_the_list_and_one_step_says_what_to_do(qtbot, explained):
    window = explained(1)
    assert "Ctrl+Shift+N" in words(window, "list-sentence")
    assert not child(window, "list-zoom", QPushButton).isEnabled()
    tiles = child(window, "list_tiles", QToolButton)
    assert not tiles.isEnabled()
    assert "one step" in tiles.toolTip()
    settle(qtbot, window, lambda: QTest.keySequence(window, "Ctrl+Shift+N"))
    until(qtbot, tiles.isEnabled)
    assert "Ctrl+Shift+N" not in words(window, "list-sentence")


def test_it_is_of_all_steps_whichever_is_selected(qtbot, explained):
    window = explained(2)
    page = window.rung.get().list_page
    settle(qtbot, window, lambda: window.step_row.select(0))
    trigger(window, "Explain the whole list")
    settle(qtbot, window, lambda: window.store.choose(ksize=7))
    until(qtbot, lambda: page.cost.titles[1:] == ("1 Gaussian blur", "2 Gaussian blur"))
    until(qtbot, lambda: [step.filter.ksize for step in page.cost.job.steps] == [7, 5])


def test_on_a_gpu_its_own_limits_count(qtbot, explained):
    window = explained(1, MadeUpGpu)
    assert "Made Up" in words(window, "list-chart-said")
    assert "7,900 GB/s" in words(window, "list-chart-said")


def test_its_sentence_is_seen_and_the_wheel_over_the_chart_scrolls(qtbot, explained):
    window = explained(1)
    more = (Step("median", 5, implementation="opencv"), Step("edges", 5, implementation="opencv"))
    settle(qtbot, window, lambda: window.store.update(before=more))  # no tiles or rings
    window.resize(1280, 720)
    page, said = window.rung.get().list_page, child(window, "list-chart-said", QLabel)
    until(qtbot, lambda: page.chart.plot and len(page.cost.titles) == 4)
    area = page.findChild(QScrollArea)
    until(qtbot, lambda: area.verticalScrollBar().maximum() > 0)
    foot = said.mapTo(area.viewport(), QPoint(0, said.height())).y()
    assert 0 < foot <= area.viewport().height()
    assert words(window, "list-bytes").count("✗") == 1
    over = page.chart.mapTo(window, QPoint(60, 20))
    QTest.wheelEvent(window.windowHandle(), QPointF(over), QPoint(0, -120))
    assert area.verticalScrollBar().value() > 0
