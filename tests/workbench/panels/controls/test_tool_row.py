"""The toolbar's row: labels go first, then the slider, and no word is cut."""

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QComboBox, QLabel, QSlider, QStyle, QStyleOptionComboBox

from kernels.filters import all_filters
from kernels.rungs.rung import BrokenRung
from tests.workbench.driving import child
from workbench.base import theme
from workbench.model import intents
from workbench.model.state import State
from workbench.panels.controls.tool_row import ToolRow
from workbench.widgets.eliding_box import PADDING_PX

# What Open, Save and the five view modes leave of the window's width.
LEFT = {1024: 500, 1280: 640, 1440: 800, 1920: 1280}


@pytest.fixture
def row(qtbot, qapp):
    theme.apply(qapp, "light")
    row = ToolRow()
    qtbot.addWidget(row)
    row.show_implementations([(each, None) for each in intents.choices()])
    row.show_state(State())
    row.show()
    return row


def is_cut(box):
    """Whether the entry of a list has less room than its words take."""
    option = QStyleOptionComboBox()
    box.initStyleOption(option)
    control, part = QStyle.ComplexControl.CC_ComboBox, QStyle.SubControl.SC_ComboBoxEditField
    room = box.style().subControlRect(control, option, part, box).width() - PADDING_PX
    return box.fontMetrics().horizontalAdvance(box.currentText()) > room


@pytest.mark.parametrize(
    ("window_px", "labels", "slider"),
    [(1024, False, False), (1280, False, True), (1440, False, True), (1920, True, True)],
)
def test_labels_go_first_and_then_the_slider(window_px, labels, slider, row):
    row.resize(LEFT[window_px], row.height())
    assert {each.isVisible() for each in row.findChildren(QLabel)} == {labels}
    assert child(row, "ksize-slider").isVisible() == slider


@pytest.mark.parametrize("window_px", [1280, 1440, 1920])
def test_no_word_is_cut(window_px, row):
    row.resize(LEFT[window_px], row.height())
    for each in all_filters():
        row.show_state(State(filter=each.key, ksize=each.nearest_size(5)))
        assert not is_cut(child(row, "filter", QComboBox)), each.title
    for each in intents.choices():
        row.show_state(State(implementation=each.key))
        assert not is_cut(child(row, "implementation", QComboBox)), each.title


def test_in_the_narrowest_window_the_usual_choices_are_whole(qtbot, row):
    row.resize(LEFT[1024], row.height())
    for key in ("gaussian", "laplacian_of_gaussian"):
        row.show_state(State(filter=key))
        boxes = [child(row, name, QComboBox) for name in ("filter", "implementation", "block")]
        qtbot.waitUntil(lambda boxes=boxes: not any(map(is_cut, boxes)))
    block = child(row, "block")
    qtbot.waitUntil(lambda: block.mapTo(row, QPoint(block.width(), 0)).x() <= row.width())


def test_a_longer_name_in_a_list_makes_it_fit_anew(qtbot, row):
    row.resize(LEFT[1440], row.height())
    slider, usual = child(row, "ksize-slider"), [(each, None) for each in intents.choices()]
    assert slider.isVisible()
    long = BrokenRung(
        "long", "24_a_rung_whose_file_has_a_name_much_longer_than_all_others.cu", "Broken."
    )
    row.show_implementations([*usual, (long, long.reason)])
    qtbot.waitUntil(lambda: not slider.isVisible())
    row.show_implementations(usual)
    qtbot.waitUntil(slider.isVisible)


def test_the_controls_keep_their_places_whatever_is_chosen(row):
    row.resize(LEFT[1440], row.height())
    names = ("filter", "ksize-slider", "ksize", "implementation", "block")

    def places():
        return [child(row, name).mapTo(row, QPoint()) for name in names]

    before = places()
    for each in all_filters():
        row.show_state(State(filter=each.key, ksize=each.nearest_size(5)))
        assert places() == before
    row.show_state(State(implementation="tensor_separable", block_xy=(1024, 1)))
    assert places()[:4] == before[:4]


def test_on_the_slider_each_doubling_is_as_far(row):
    row.resize(LEFT[1920], row.height())
    slider, wanted = child(row, "ksize-slider", QSlider), []
    row.wanted.connect(lambda _, ksize: wanted.append(ksize))
    places = {}
    for x in range(8, slider.width() - 8):
        slider.setValue(0 if x > slider.width() // 2 else 63)  # its handle is out of the way
        QTest.mouseClick(slider, Qt.MouseButton.LeftButton, pos=QPoint(x, slider.height() // 2))
        places.setdefault(2 * slider.value() + 1, x)
    assert set(range(1, 24, 2)) <= set(places), "small sizes can be hit"
    for small, large in ((7, 15), (15, 31), (31, 63)):
        assert places[large] - places[small] == pytest.approx(slider.width() * 0.145, abs=4)
    QTest.keyClick(slider, Qt.Key.Key_Home)
    QTest.keyClick(slider, Qt.Key.Key_Right)
    assert slider.value() == 1
