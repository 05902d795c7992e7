"""The live comparison of block shapes: what a row tells, what a click takes and shows."""

import pytest

from tests.workbench.driving import child, click
from tests.workbench.panels.blocks.test_blocks import a_field, a_round, timed
from workbench.base import theme
from workbench.charts.data.figure import Bars, Grid
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
