"""Letters of a panel are enlarged by keys, alone, and are so again at the next start."""

import pytest
from PySide6.QtGui import QFontInfo
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QComboBox, QLabel, QPlainTextEdit

from kernels.pictures.generated import noise
from tests.made_sessions import a_session
from tests.workbench.driving import child, show_picture, trigger, until
from workbench.charts.canvas import FigureView
from workbench.charts.chart_card import Legend
from workbench.widgets.letters import STEPS, set_factor


@pytest.fixture
def window(qtbot, make_window):
    window = make_window()
    show_picture(qtbot, window, noise(20, 30))
    return window


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
        parts = [each for each in panel.findChildren(QLabel) if each.isVisible()]
        before = {id(each): points(each) for each in parts}
        set_factor(panel, 2.0)
        QApplication.processEvents()
        assert parts, title
        assert [each for each in parts if points(each) < before[id(each)] * 1.2] == [], title


def ticks_px(view):
    """The height in pixels of the letters at a chart's axis."""
    return view.plot.getAxis("left").font.pixelSize()


def test_a_chart_follows_with_its_words_its_lists_and_what_is_drawn(qtbot, window):
    window.sessions.begin(a_session("sizes_and_kernels"), None)
    window.docks.enter("Sweep")
    chart = window.sweep.get().chart
    chart.show_kind("time_by_size")
    view = child(chart, "chart-canvas", FigureView)
    until(qtbot, lambda: view.plot is not None and view.spots)
    title, legend = child(chart, "chart-title", QLabel), chart.findChild(Legend)
    shown = (title, child(chart, "chart-ksizes", QComboBox), legend.entries[0])
    before, drawn = [points(each) for each in shown], ticks_px(view)
    child(chart, "chart-kind").setFocus()
    for _ in range(3):
        trigger(window, "Larger letters")
    until(qtbot, lambda: points(title) > 1.4 * before[0])
    assert [points(each) / was for each, was in zip(shown, before, strict=True)] == (
        pytest.approx([1.5] * 3, rel=0.05)
    )
    assert ticks_px(view) > 1.4 * drawn
    chart.show_kind("speedup_by_size")  # with a list that is made only now
    until(qtbot, lambda: child(chart, "chart-baseline").isVisible())
    assert points(child(chart, "chart-baseline")) == pytest.approx(1.5 * before[1], rel=0.05)
    for _ in range(3):
        trigger(window, "Smaller letters")
    until(qtbot, lambda: points(title) < 1.1 * before[0])
    assert [points(each) for each in shown] == pytest.approx(before, rel=0.05)
    assert points(child(chart, "chart-baseline")) == pytest.approx(before[1], rel=0.05)
    assert ticks_px(view) == drawn
