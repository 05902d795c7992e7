"""Parts of a panel that are folded where there is no room, or hidden on stage."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QToolButton, QWidget

from tests.workbench.driving import click, until
from workbench.widgets.boxes import VBox
from workbench.widgets.folding import FoldedSection, OffStage, set_staged


@pytest.fixture
def panel(qtbot):
    """A panel of a section that folds, of a part for the window alone, and of one that stays."""
    whole = QWidget()
    whole.section = FoldedSection("fold", "All of it.", "Told", QLabel("told"))
    whole.away, whole.stays = QLabel("away"), QLabel("stays")
    VBox(whole, 0, 0).add(whole.section, whole.away, whole.stays)
    whole.section.follow(whole, 200)
    OffStage(whole, whole.away)
    qtbot.addWidget(whole)
    whole.setAttribute(Qt.WidgetAttribute.WA_DontShowOnScreen)
    whole.resize(100, 400)
    whole.show()
    return whole


def test_on_stage_parts_are_hidden_and_come_back(panel):
    for is_staged in (True, False):
        set_staged(panel, is_staged)
        assert panel.away.isHidden() is is_staged
        assert not panel.stays.isHidden()


def test_a_section_folds_where_there_is_no_room_until_the_user_opens_it(qtbot, panel):
    section = panel.section
    for high, is_folded in ((400, False), (100, True), (400, False), (100, True)):
        panel.resize(100, high)
        until(qtbot, lambda is_folded=is_folded: section.is_folded is is_folded)
        assert not section.isHidden()
    click(section.findChild(QToolButton))
    panel.resize(100, 120)
    assert not section.is_folded
