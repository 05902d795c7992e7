"""The toolbar's row: labels go first, then the slider, and no word is cut."""

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QSlider

from tests.workbench.driving import child
from workbench.base import theme
from workbench.model import intents
from workbench.model.state import State
from workbench.panels.controls.tool_row import ToolRow
from workbench.session.store import Store

# What Open, Save and the five view modes leave of the window's width.
LEFT = {1024: 500, 1280: 640, 1440: 800, 1920: 1280}


@pytest.fixture
def row(qtbot, qapp):
    theme.apply(qapp, "light")
    row = ToolRow(Store(), None, None)
    qtbot.addWidget(row)
    row.show_implementations([(each, None) for each in intents.choices()])
    row.show_state(State())
    row.show()
    return row


def test_on_the_slider_each_doubling_is_as_far(row):
    row.resize(LEFT[1920], row.height())
    slider = child(row, "ksize-slider", QSlider)
    places = {}
    for x in range(8, slider.width() - 8):
        slider.setValue(0 if x > slider.width() // 2 else 63)  # its handle is out of the way
        QTest.mouseClick(slider, Qt.MouseButton.LeftButton, pos=QPoint(x, slider.height() // 2))
        places.setdefault(2 * slider.value() + 1, x)
    assert set(range(1, 24, 2)) <= set(places), "small sizes can be hit"
    for small, large in ((7, 15), (15, 31), (31, 63)):
        assert places[large] - places[small] == pytest.approx(slider.width() * 0.145, abs=4)
    QTest.keyClick(slider, Qt.Key.Key_Home)
    QTest.keyClick(slider, Qt.Key.Key_Right)
    assert slider.value() == 1
