"""The palette finds everything there is to do, and the page of keys shows every key."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel, QLineEdit, QTreeView

from kernels import filters
from kernels.pictures.generated import noise
from kernels.sweeps.plan_files import presets
from tests.workbench.driving import child, settle, show_picture, until
from workbench.model import intents
from workbench.window.palette import Palette, PaletteEntry, find

# -- finding


def names(query, *texts):
    return [each.name for each in find([PaletteEntry(t, "Menu", lambda: 0) for t in texts], query)]


def test_the_letters_have_to_come_in_their_order():
    assert names("gbl", "Gaussian blur") == ["Gaussian blur"]
    assert names("lbg", "Gaussian blur") == []
    assert names("", "Gaussian blur", "Box blur") == ["Gaussian blur", "Box blur"]


def test_starts_of_words_go_before_letters_from_anywhere():
    texts = ("Copy comparison", "Next implementation", "Close all sessions", "Open session")
    assert names("os", *texts)[0] == "Open session"
    assert names("cc", *texts)[0] == "Copy comparison"


def test_words_come_in_any_order_and_a_menu_finds_too():
    assert names("blur gau", "Box blur", "Gaussian blur") == ["Gaussian blur"]
    assert names("menu box", "Box blur", "Gaussian blur") == ["Box blur"]


def test_what_only_fills_a_sentence_may_be_missing():
    texts = ("Zoom out", "Zoom in", "Sharpen")
    assert names("please zoom into the picture", *texts) == []
    assert names("please zoom in, my picture!", *texts) == ["Zoom in", "Zoom out"]
    assert names("top_hat", "Top-hat") == ["Top-hat"]


def test_what_cannot_be_done_comes_last():
    able, not_able = (
        PaletteEntry("Save b", "", lambda: 0),
        PaletteEntry("Save", "", lambda: 0, reason="No."),
    )
    assert find([not_able, able], "save") == [able, not_able]


# -- the window


@pytest.fixture
def window(qtbot, make_window):
    window = make_window()
    until(qtbot, lambda: window.device)
    show_picture(qtbot, window, noise(20, 30))
    window.activateWindow()
    return window


def opened(window):
    both = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier
    QTest.keyClick(window, Qt.Key.Key_P, both)
    palette = window.findChild(Palette)
    assert palette.isVisible()
    return palette


def line(palette):
    return child(palette, "palette-line", QLineEdit)


def listed(palette):
    model = child(palette, "palette-list", QTreeView).model()
    return [model.index(row, 0).data() for row in range(model.rowCount())]


def chosen(palette):
    return child(palette, "palette-list", QTreeView).currentIndex().data()


def test_filters_implementations_and_presets_are_in_it(window):
    places = {(entry.where.split(" ▸ ")[0], entry.name) for entry in window.dialogs.entries()}
    assert {("Filter", each.title) for each in filters.all_filters()} <= places
    assert {("Runs on", each.title) for each in intents.choices()} <= places
    assert {("Sweep preset", each.plan.title) for each in presets()} <= places
    assert {("Sweep", "Save as SVG"), ("Sweep", "Logarithmic scale")} <= places  # of no chart yet


def test_a_filter_is_chosen_with_the_keyboard_alone(qtbot, window):
    palette = opened(window)
    QTest.keyClicks(line(palette), "boxb")
    assert chosen(palette) == "Box blur"
    settle(qtbot, window, lambda: QTest.keyClick(line(palette), Qt.Key.Key_Return))
    assert window.store.state.filter == "box"
    until(qtbot, lambda: window.findChild(Palette) is None)


def test_the_arrow_keys_go_through_what_was_found(window):
    palette = opened(window)
    QTest.keyClicks(line(palette), "copy")
    first, second = listed(palette)[:2]
    assert chosen(palette) == first
    QTest.keyClick(line(palette), Qt.Key.Key_Down)
    assert chosen(palette) == second
    QTest.keyClick(line(palette), Qt.Key.Key_Up)
    QTest.keyClick(line(palette), Qt.Key.Key_Up)
    assert chosen(palette) == listed(palette)[-1]
    palette.close()


def test_what_cannot_be_done_says_why_and_stays(qtbot, window):
    palette = opened(window)
    QTest.keyClicks(line(palette), "shared-memory tile")
    assert chosen(palette) == "Shared-memory tile"
    assert "switched off" in child(palette, "palette-about", QLabel).text()
    QTest.keyClick(line(palette), Qt.Key.Key_Return)
    assert palette.isVisible()
    QTest.keyClick(palette, Qt.Key.Key_Escape)
    assert window.store.state.implementation == "opencv"


def test_a_click_does_what_the_row_says_and_the_palette_goes(qtbot, window):
    palette = opened(window)
    QTest.keyClicks(line(palette), "boxb")
    rows = child(palette, "palette-list", QTreeView)
    place = rows.visualRect(rows.model().index(0, 0)).center()
    left = Qt.MouseButton.LeftButton
    settle(qtbot, window, lambda: QTest.mouseClick(rows.viewport(), left, pos=place))
    assert window.store.state.filter == "box"
    until(qtbot, lambda: window.findChild(Palette) is None)
