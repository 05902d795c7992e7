"""The page of all keys: on one page, as it says."""

from PySide6.QtWidgets import QDialog, QScrollArea

from tests.workbench.driving import trigger, until


def test_all_keys_are_on_one_page_of_a_small_window(qtbot, window):
    window.resize(1280, 720)
    trigger(window, "Keyboard shortcuts")
    page = window.findChild(QDialog, "shortcuts")
    until(qtbot, page.isVisible)
    area = page.findChild(QScrollArea)
    until(qtbot, lambda: area.viewport().height() > 400)
    assert area.verticalScrollBar().maximum() == 0
    assert area.horizontalScrollBar().maximum() == 0
    page.close()
