"""Letters of a panel are enlarged by keys, alone, and are so again at the next start."""

import pytest
from PySide6.QtGui import QFontInfo
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel, QPlainTextEdit, QTableView, QTextBrowser

from kernels.pictures.generated import noise
from tests.workbench.driving import child, ready, settle, trigger
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


@pytest.mark.parametrize("title", ["Weights", "Pixel"])
def test_large_letters_cut_no_number(title, qtbot, window):
    window.resize(1280, 720)
    settle(qtbot, window, lambda: window.store.choose(filter="gaussian", ksize=7))
    window.docks.enter(title)
    panel = window.docks.panel(title).get()
    for _ in STEPS:
        trigger(window, "Larger letters")
        qtbot.wait(100)
        table = child(panel, "weights-grid" if title == "Weights" else "pixel-table", QTableView)
        assert table.horizontalScrollBar().maximum() == 0
        assert table.mapTo(panel, table.rect().topRight()).x() < panel.width()
        if (total := panel.findChild(QLabel, "pixel-sum")) is not None:
            assert total.width() >= total.fontMetrics().horizontalAdvance(total.text())
