"""The live comparison of block shapes: what a row tells, what a click takes and shows."""

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest

from tests.workbench.driving import child, click
from tests.workbench.panels.blocks.test_blocks import a_field, a_round, timed
from workbench.base import theme
from workbench.panels.blocks.block_bars import Bars
from workbench.panels.blocks.blocks_panel import BlocksPanel
from workbench.panels.blocks.rows import rows_of


@pytest.fixture
def some_rows():
    field = a_field()
    return rows_of(field, a_round(field, timed(2.0), timed(1.0), groups=((1,), (0,))), None)


def test_a_row_says_its_threads_and_its_place(some_rows):
    texts = {row.key: row.text for row in some_rows}
    assert "64 threads a block" in texts[8, 8]
    assert "256 threads a block" in texts[32, 8]
    assert "place 1" in texts[32, 8].splitlines()
    assert "place 2" in texts[8, 8].splitlines()
    assert "2048 threads" in texts[64, 32]


def test_the_pointer_is_a_hand_only_over_what_can_be_taken(qapp, qtbot, some_rows):
    theme.apply(qapp, "light")
    bars = Bars("made up")
    qtbot.addWidget(bars)
    bars.show_rows(some_rows, "")
    bars.resize(400, bars.sizeHint().height())
    bars.show()
    shapes = {}
    for box, row in bars.boxes():
        QTest.mouseMove(bars, box.center().toPoint())
        shapes[row.key] = bars.cursor().shape()
    hand, arrow = Qt.CursorShape.PointingHandCursor, Qt.CursorShape.ArrowCursor
    assert shapes == {(8, 8): hand, (32, 8): hand, (64, 32): arrow}
    QTest.mouseMove(bars, QPoint(5, bars.height() - 1))
    assert bars.cursor().shape() == arrow


def test_a_click_shows_the_map_or_the_bars(qapp, qtbot, some_rows):
    theme.apply(qapp, "light")
    panel = BlocksPanel()
    qtbot.addWidget(panel)
    panel.resize(400, 600)
    panel.show()
    for name, is_map in (("blocks-map", True), ("blocks-bars", False)):
        button = child(panel, name)
        button.setEnabled(True)
        click(button)
        assert panel.map.isVisible() == is_map
        assert panel.bars.isVisible() != is_map
