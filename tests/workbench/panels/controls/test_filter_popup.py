"""The list of filters: groups, a search, previews of the open picture, and the keyboard."""

import gc
import weakref

import numpy as np
import pytest
from PySide6.QtCore import QObject, QSize, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QComboBox, QLineEdit, QToolButton

from kernels.filters import GROUPS, all_filters
from kernels.pictures.generated import noise
from tests.workbench.driving import child, click, settle, show_picture, until
from workbench.base.background import Background
from workbench.model.state import Picture
from workbench.panels.controls.filter_box import FilterBox
from workbench.panels.controls.filter_popup import FilterPopup
from workbench.panels.controls.previewing import FilterPreviews
from workbench.session.store import Store

pytestmark = pytest.mark.qt_log_ignore("This plugin does not support", extend=True)  # offscreen


@pytest.fixture
def window(qtbot, make_window):
    window = make_window()
    show_picture(qtbot, window, noise(80, 120, 3))
    return window


@pytest.fixture
def popup(window):
    window.activateWindow()
    box = child(window, "filter", QComboBox)
    click(box)
    popup = window.findChild(FilterPopup)
    assert popup.isVisible()
    assert popup.focusWidget() is child(popup, "filter-search")  # the keyboard is there at once
    yield popup
    popup.hide()


def press(popup, key):
    QTest.keyClick(child(popup, "filter-search", QLineEdit), key)


def type_in(popup, text):
    QTest.keyClicks(child(popup, "filter-search", QLineEdit), text)


def shown(popup):
    """The keys of the filters that are shown."""
    tiles = [each for each in popup.findChildren(QToolButton) if each.isCheckable()]
    return {tile.objectName().removeprefix("filter-") for tile in tiles if tile.isVisible()}


def marked(popup):
    return [tile.text() for tile in popup.findChildren(QToolButton) if tile.isChecked()]


def test_every_filter_is_in_one_of_the_groups():
    assert {each.group for each in all_filters()} == set(GROUPS)
    groups = {each.key: each.group for each in all_filters()}
    assert (groups["box"], groups["unsharp"], groups["sobel_x"], groups["custom"]) == GROUPS


def test_it_shows_all_filters_with_the_present_one_marked(popup):
    assert shown(popup) == {each.key for each in all_filters()}
    assert marked(popup) == ["Gaussian blur"]
    places = [popup.findChild(QToolButton, f"filter-{each.key}") for each in all_filters()]
    assert len({(tile.pos().x(), tile.pos().y()) for tile in places}) == len(places)
    for tile in places:  # no word is cut
        room = tile.width() - 8
        assert tile.fontMetrics().horizontalAdvance(tile.text()) <= room


def test_beside_it_is_the_way_to_the_parameters_of_filters(qtbot, window, popup):
    click(child(popup, "popup-settings"))
    assert not popup.isVisible()
    until(qtbot, child(window, "amount").isVisible)


def test_escape_closes_it_wherever_the_keyboard_is(popup):
    QTest.keyClick(child(popup, "filter-search"), Qt.Key.Key_Tab)
    assert popup.focusWidget() is child(popup, "popup-settings")
    QTest.keyClick(popup.focusWidget(), Qt.Key.Key_Escape)
    assert not popup.isVisible()


def test_typing_searches_at_once_and_enter_chooses(qtbot, window, popup):
    height = popup.height()
    type_in(popup, "lap gau")
    assert shown(popup) == {"laplacian_of_gaussian"}
    assert 100 < popup.height() < height / 2  # as high as what is found
    result = settle(qtbot, window, lambda: press(popup, Qt.Key.Key_Return))
    assert result.job.filter_title == "Laplacian of Gaussian"
    assert not popup.isVisible()
    assert child(window, "filter", QComboBox).currentData() == "laplacian_of_gaussian"


@pytest.mark.parametrize(("text", "keys"), [("slope", 4), ("edges", 10), ("sharp", 3)])
def test_groups_and_what_filters_do_are_found_as_well(text, keys, popup):
    type_in(popup, text)
    assert len(shown(popup)) >= keys


def test_arrow_keys_go_along_and_down(popup):
    first, second = (
        [each.title for each in all_filters() if each.group == name] for name in GROUPS[:2]
    )
    for title in (*first[1:], second[0]):  # on to the next group
        press(popup, Qt.Key.Key_Right)
        assert marked(popup) == [title]
    press(popup, Qt.Key.Key_Down)
    assert marked(popup) == ["Sobel X"]
    press(popup, Qt.Key.Key_Down)
    press(popup, Qt.Key.Key_Left)
    press(popup, Qt.Key.Key_Up)
    press(popup, Qt.Key.Key_Up)
    press(popup, Qt.Key.Key_Up)
    press(popup, Qt.Key.Key_Up)
    assert len(marked(popup)) == 1


def test_escape_closes_it_and_nothing_changes(window, popup):
    before = window.store.state
    press(popup, Qt.Key.Key_Down)
    press(popup, Qt.Key.Key_Escape)
    assert not popup.isVisible()
    assert window.store.state == before


def test_where_nothing_is_found_enter_chooses_nothing(window, popup):
    before = window.store.state
    type_in(popup, "median")
    assert shown(popup) == set()
    assert marked(popup) == []
    press(popup, Qt.Key.Key_Down)
    press(popup, Qt.Key.Key_Return)
    assert window.store.state == before
    child(popup, "filter-search", QLineEdit).clear()
    assert marked(popup) == ["Gaussian blur"] or len(shown(popup)) == len(all_filters())


def test_a_click_chooses(qtbot, window, popup):
    result = settle(qtbot, window, lambda: click(child(popup, "filter-box", QToolButton)))
    assert result.job.filter_title == "Box blur"
    assert QApplication.activePopupWidget() is None


def test_each_tile_shows_what_its_filter_makes_of_the_open_picture(qtbot, popup):
    def pictures():
        tiles = (popup.findChild(QToolButton, f"filter-{each.key}") for each in all_filters())
        return [tile.icon().pixmap(QSize(999, 999)).toImage() for tile in tiles]

    until(qtbot, lambda: pictures()[0].pixelColor(5, 5).alpha() == 255)
    seen = {bytes(image.constBits()) for image in pictures()}
    assert len(seen) == len(all_filters()) - 1  # the user's own weights are those of the identity


def test_a_picture_that_is_closed_is_not_kept_for_its_previews(qtbot, qapp):
    store, box, owner = Store(), FilterBox(), QObject()
    qtbot.addWidget(box)
    background = Background((), owner)
    previews = FilterPreviews(store, box, background, owner)
    store.update(picture=Picture("made up", noise(20, 30)))
    picture, made = weakref.ref(store.state.picture), []
    box.show_previews = lambda images, _ratio: made.append(images)
    box.previews_wanted.emit(12, 8, 1.0)
    until(qtbot, lambda: made)
    background.close()
    store.update(picture=None)
    gc.collect()
    assert picture() is None
    assert previews.parent() is owner  # it is still there


def test_another_picture_has_other_previews(qtbot, window):
    box, made = child(window, "filter", QComboBox), []
    show = box.show_previews
    box.show_previews = lambda images, ratio: (made.append(images), show(images, ratio))
    box.showPopup()
    until(qtbot, lambda: len(made) == 1)
    box.hidePopup()
    box.showPopup()  # they are there
    box.hidePopup()
    show_picture(qtbot, window, np.zeros((9, 9, 1), np.float16))
    box.showPopup()
    until(qtbot, lambda: len(made) == 2)
    assert made[0]["gaussian"] != made[1]["gaussian"]
    box.hidePopup()
