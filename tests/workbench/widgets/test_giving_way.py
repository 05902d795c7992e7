"""Parts of a panel give way in turn, and come back."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QToolButton, QWidget

from tests.workbench.driving import click, until
from workbench.widgets.boxes import UprightArea, VBox
from workbench.widgets.folding import FoldedSection, GivingWay, set_staged


@pytest.fixture
def panel(qtbot):
    """A panel of three parts that may give way and one that stays, each 50 pixels high."""
    inside, whole = QWidget(), QWidget()
    whole.parts = [QLabel(name) for name in ("first", "second", "third", "stays")]
    for part in whole.parts:
        part.setFixedHeight(50)
    VBox(inside, 0, 0).add(*whole.parts)
    area = UprightArea(inside)
    VBox(whole, 0).addWidget(area)
    GivingWay(area, whole.parts[:3], usual=1)
    qtbot.addWidget(whole)
    whole.setAttribute(Qt.WidgetAttribute.WA_DontShowOnScreen)
    whole.resize(100, 200)
    whole.show()
    return whole


def seen(panel):
    return [part.text() for part in panel.parts if not part.isHidden()]


def test_on_stage_all_give_way_in_turn_and_come_back(qtbot, panel):
    set_staged(panel, True)
    for high, kept in (
        (160, ["second", "third", "stays"]),
        (110, ["third", "stays"]),
        (40, ["stays"]),
        (200, ["first", "second", "third", "stays"]),
    ):
        panel.resize(100, high)
        until(qtbot, lambda kept=kept: seen(panel) == kept)
    panel.resize(100, 60)
    until(qtbot, lambda: seen(panel) == ["stays"])
    set_staged(panel, False)
    until(qtbot, lambda: len(seen(panel)) == 4)


@pytest.fixture
def folding(qtbot):
    """A panel of a section that folds and of a part that stays, in a window of its own."""
    inside, whole = QWidget(), QWidget()
    told, stays = QLabel("told"), QLabel("stays")
    for part in (told, stays):
        part.setFixedHeight(100)
    whole.section = FoldedSection("fold", "All of it.", "Told", told)
    VBox(inside, 0, 0).add(whole.section, stays)
    area = UprightArea(inside)
    VBox(whole, 0).addWidget(area)
    GivingWay(area, (whole.section,), usual=1)
    qtbot.addWidget(whole)
    whole.setAttribute(Qt.WidgetAttribute.WA_DontShowOnScreen)
    whole.resize(100, 300)
    whole.show()
    return whole


def test_a_section_folds_where_there_is_no_room_until_the_user_opens_it(qtbot, folding):
    section = folding.section
    for high, is_folded in ((300, False), (180, True), (300, False), (180, True)):
        folding.resize(100, high)
        until(qtbot, lambda is_folded=is_folded: section.is_folded is is_folded)
        assert not section.isHidden()
    click(section.findChild(QToolButton))
    folding.resize(100, 170)
    until(qtbot, lambda: folding.findChild(UprightArea).verticalScrollBar().isVisible())
    assert not section.is_folded
