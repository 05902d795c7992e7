"""The card of facts: what is the same stays, with what is selected in it."""

from PySide6.QtWidgets import QLabel

from workbench.panels.kernel.facts_card import FactRow, FactsCard

ROWS = [FactRow("Registers", "40", "Of a thread."), FactRow("Spilled", "nothing", "")]


def test_the_same_facts_keep_what_is_selected_in_them(qtbot):
    card = FactsCard("kernel-build")
    qtbot.addWidget(card)
    card.show_rows(ROWS)
    label = card.findChild(QLabel, "kernel-build-registers")
    label.setSelection(0, 2)
    card.show_rows(list(ROWS))
    assert card.findChild(QLabel, "kernel-build-registers").selectedText() == "40"
    card.show_rows([FactRow("Registers", "48", "Of a thread.")])
    qtbot.waitUntil(lambda: card.findChild(QLabel, "kernel-build-registers").text() == "48")
