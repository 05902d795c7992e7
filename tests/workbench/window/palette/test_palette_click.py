"""The palette with the mouse, and what it says of what is chosen."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel, QLineEdit, QListView, QWidget

from tests.workbench.driving import child
from workbench.window.palette.entries import PaletteEntry
from workbench.window.palette.palette import Palette


@pytest.fixture
def done():
    return []


@pytest.fixture
def owner(qtbot):
    """The palette deletes itself; what it belongs to stays."""
    found = QWidget()
    qtbot.addWidget(found)
    return found


@pytest.fixture
def palette(owner, done):
    def entry(name, **facts):
        return PaletteEntry(name, "Menu", lambda: done.append(name), **facts)

    entries = [
        *(
            entry(f"Act {number}", keys=f"Ctrl+{number}", tip=f"Tip {number}.")
            for number in range(9)
        ),
        entry("Not now", reason="There is no picture."),
        *(entry(f"More {number}") for number in range(20)),
    ]
    palette = Palette(entries, owner)
    palette.show()
    return palette


def rows(palette):
    return child(palette, "palette-list", QListView)


def click_row(palette, number):
    listed = rows(palette)
    place = listed.visualRect(listed.model().index(number, 0)).center()
    QTest.mouseClick(listed.viewport(), Qt.MouseButton.LeftButton, pos=place)


def test_a_click_does_what_the_row_says_and_the_palette_goes(qtbot, owner, palette, done):
    click_row(palette, 2)
    qtbot.waitUntil(lambda: done == ["Act 2"])
    qtbot.waitUntil(lambda: owner.findChild(Palette) is None)


def test_a_click_on_what_cannot_be_done_says_why(qtbot, palette, done):
    click_row(palette, 9)
    assert child(palette, "palette-about", QLabel).text() == "There is no picture."
    assert palette.isVisible()
    qtbot.wait(20)
    assert done == []


def test_pages_end_at_the_ends_and_single_steps_go_round(palette):
    line, listed = child(palette, "palette-line", QLineEdit), rows(palette)

    def after(key):
        QTest.keyClick(line, key)
        return listed.currentIndex().row()

    assert after(Qt.Key.Key_PageDown) == 8
    assert after(Qt.Key.Key_PageUp) == 0
    assert after(Qt.Key.Key_PageUp) == 0
    assert after(Qt.Key.Key_Up) == 29
    assert after(Qt.Key.Key_PageDown) == 29
    assert after(Qt.Key.Key_Down) == 0


def test_the_chosen_row_tells_its_keys_and_what_it_does(palette):
    line = child(palette, "palette-line", QLineEdit)
    QTest.keyClicks(line, "act 3")
    assert child(palette, "palette-about", QLabel).text() == "Tip 3."
    assert line.accessibleDescription() == "Act 3, Menu, Ctrl+3"
    index = rows(palette).currentIndex()
    assert index.data(Qt.ItemDataRole.ToolTipRole) == "Tip 3."
    assert index.data(Qt.ItemDataRole.AccessibleTextRole) == "Act 3, Menu"
