"""What an area that scrolls up and down holds: no higher than its sentences are."""

import pytest
from PySide6.QtWidgets import QApplication, QVBoxLayout, QWidget

from tests.workbench.driving import until
from workbench.widgets.boxes import UprightArea
from workbench.widgets.tile import words_label

SENTENCE = "A block stages its tile and the halo around it; every tap is then a shared read. "


@pytest.fixture
def area(qtbot):
    inside = QWidget()
    column = QVBoxLayout(inside)
    for number in range(4):
        label = words_label(f"words-{number}")
        label.setText(2 * SENTENCE)
        column.addWidget(label)
    column.addStretch(1)
    area = UprightArea(inside)
    qtbot.addWidget(area)
    area.show()
    return area


def test_sentences_scroll_to_their_end_where_they_do_not_fit(qtbot, area):
    area.resize(600, area.widget().heightForWidth(600) + 10)
    until(qtbot, lambda: area.verticalScrollBar().maximum() == 0)
    area.resize(200, 120)
    until(qtbot, lambda: area.verticalScrollBar().maximum() > 0)
    QApplication.processEvents()
    inside = area.widget()
    assert inside.height() >= inside.heightForWidth(inside.width())
