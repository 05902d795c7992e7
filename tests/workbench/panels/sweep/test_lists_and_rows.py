"""What may stand in a plan's lists, and widgets that break into rows."""

import pytest
from PySide6.QtWidgets import QLabel, QWidget

from workbench.model.plan_dimensions import DIMENSIONS
from workbench.widgets.flow_layout import Flow

OF = {each.field: each for each in DIMENSIONS}


@pytest.mark.parametrize("text", ["1", "1, 8 1024", "1024"])
def test_counts_go_up_to_1024(text):
    assert OF["counts"].values(text) == tuple(map(int, text.replace(",", " ").split()))


@pytest.mark.parametrize("text", ["0", "1025", "-1", "1.5", "many", "99999999999"])
def test_other_counts_are_refused_with_the_limits(text):
    with pytest.raises(ValueError, match="whole numbers from 1 to 1024"):
        OF["counts"].values(text)


@pytest.fixture
def row(qtbot):
    widget = QWidget()
    qtbot.addWidget(widget)
    flow = Flow(6)
    widget.setLayout(flow)
    flow.setContentsMargins(0, 0, 0, 0)
    for number in range(5):
        label = QLabel(str(number))
        label.setFixedSize(40, 20)
        flow.addWidget(label)
    widget.resize(300, 40)
    widget.show()
    return widget


def places(row):
    return [(label.x(), label.y()) for label in row.findChildren(QLabel)]


def test_as_many_stand_side_by_side_as_there_is_room_for(row, qtbot):
    assert places(row) == [(46 * n, 0) for n in range(5)]
    row.resize(140, 100)
    qtbot.waitUntil(lambda: row.findChildren(QLabel)[3].y() > 0)
    assert places(row) == [(0, 0), (46, 0), (92, 0), (0, 26), (46, 26)]
    assert row.layout().heightForWidth(140) == 46
    assert row.layout().heightForWidth(300) == 20
