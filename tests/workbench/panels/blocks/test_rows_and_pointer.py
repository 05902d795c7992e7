"""The live comparison of block shapes: what a row tells, what a click takes and shows."""

import pytest
from PySide6.QtCore import QPointF, Qt
from PySide6.QtTest import QTest

from tests.workbench.driving import child, click, until
from tests.workbench.panels.blocks.test_blocks import a_field, a_round, timed
from workbench.base import theme
from workbench.charts.data.figure import Bars, Grid
from workbench.charts.figure_view import FigureView
from workbench.panels.blocks.block_figures import bars_of
from workbench.panels.blocks.blocks_panel import BlocksPanel
from workbench.panels.blocks.rows import rows_of


@pytest.fixture
def some_rows():
    field = a_field()
    return rows_of(field, a_round(field, timed(2.0), timed(1.0), groups=((1,), (0,))), None)


def test_a_row_says_its_threads_and_its_place(some_rows):
    texts = {row.key: row.text for row in some_rows}
    assert "64 threads per block" in texts[8, 8]
    assert "256 threads per block" in texts[32, 8]
    assert "place 1" in texts[32, 8].splitlines()
    assert "place 2" in texts[8, 8].splitlines()
    assert "2048 threads" in texts[64, 32]


def place_of(chart, spot):
    """Where a row of bars is, in the plot's pixels."""
    box = chart.plot.getViewBox()
    return box.mapViewToScene(QPointF(box.viewRange()[0][1] / 2, spot.y)).toPoint()


def test_the_pointer_is_a_hand_only_over_what_can_be_taken(qapp, qtbot, some_rows):
    theme.apply(qapp, "light")
    chart = FigureView("")
    qtbot.addWidget(chart)
    chart.resize(400, 300)
    chart.show()
    chart.show_figure(bars_of(some_rows, ""))
    until(qtbot, lambda: chart.spots)
    shapes = {(8, 8): Qt.CursorShape.PointingHandCursor, None: Qt.CursorShape.ArrowCursor}
    for spot in (chart.spots[0], chart.spots[2], chart.spots[0]):
        QTest.qWait(50)  # pyqtgraph drops movements that follow too closely
        QTest.mouseMove(chart.plot.viewport(), place_of(chart, spot))
        until(qtbot, lambda cell=spot.cell: chart.plot.cursor().shape() == shapes[cell])


def test_the_bars_follow_the_theme(qapp, qtbot, some_rows):
    panel = BlocksPanel()
    qtbot.addWidget(panel)
    panel.show_rows(some_rows, "")
    panel.resize(400, 600)
    panel.show()
    until(qtbot, lambda: panel.chart.spots)
    for scheme, colors in (("dark", theme.DARK), ("light", theme.LIGHT)):
        theme.apply(qapp, scheme)
        assert panel.chart.plot.backgroundBrush().color().name() == colors.panel


def test_a_click_shows_the_map_or_the_bars(qapp, qtbot, some_rows):
    theme.apply(qapp, "light")
    panel = BlocksPanel()
    qtbot.addWidget(panel)
    panel.show_rows(some_rows, "")
    panel.resize(400, 600)
    panel.show()
    for name, body in (("blocks-map", Grid), ("blocks-bars", Bars)):
        button = child(panel, name)
        button.setEnabled(True)
        click(button)
        assert isinstance(panel.chart.figure.body, body)
