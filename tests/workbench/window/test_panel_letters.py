"""Letters of a panel are enlarged by keys, alone, and are so again at the next start."""

import pytest
from PySide6.QtGui import QFontInfo
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel, QPlainTextEdit, QTextBrowser

from kernels.pictures.generated import noise
from tests.workbench.driving import child, ready, trigger
from workbench.widgets.letters import STEPS, set_factor


@pytest.fixture
def window(qtbot, make_window):
    return ready(qtbot, make_window(), noise(20, 30))


def points(widget):
    return QFontInfo(widget.font()).pointSizeF()


def test_letters_of_the_panel_with_the_keyboard_grow_and_shrink(window):
    window.docks.enter("Implementation")
    window.rung.get().show_tab("source")
    QTest.qWait(1)
    source = child(window.rung.get(), "rung-source", QPlainTextEdit)
    source.setFocus()
    before, elsewhere = points(source), points(window.controls.get())
    trigger(window, "Larger letters")
    trigger(window, "Larger letters")
    assert points(source) == pytest.approx(before * STEPS[3], rel=0.05)
    assert points(window.controls.get()) == elsewhere
    trigger(window, "Smaller letters")
    trigger(window, "Smaller letters")
    assert points(source) == pytest.approx(before, rel=0.05)


def test_every_panel_has_larger_letters(qtbot, window):
    for title in (each for each in window.docks if each != "Gallery"):  # which draws its words
        window.docks.enter(title)
        panel = window.docks.panel(title).get()
        parts = [*panel.findChildren(QLabel), *panel.findChildren(QTextBrowser)]
        parts = [each for each in parts if each.isVisible()]
        before = {id(each): points(each) for each in parts}
        set_factor(panel, 2.0)
        QApplication.processEvents()
        assert parts, title
        assert [each for each in parts if points(each) < before[id(each)] * 1.2] == [], title
