"""The list of filters: groups, a search, previews of the open picture, and the keyboard."""

import numpy as np
import pytest
from PySide6.QtCore import QPoint, QSize, Qt
from PySide6.QtGui import qGray
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QComboBox, QLabel, QLineEdit, QListWidget

from kernels.filters import GROUPS, all_filters, get
from kernels.pictures.generated import noise, scene
from tests.workbench.driving import child, click, ready, settle, show_picture, trigger, until
from workbench.model.step_files import select
from workbench.panels.controls.filter_popup import KEY, TILE_PX, FilterPopup
from workbench.window.palette import find

pytestmark = pytest.mark.qt_log_ignore("This plugin does not support", extend=True)  # offscreen


@pytest.fixture
def window(qtbot, make_window):
    like_patches = scene()[200:280, 300:420].copy()  # noise has none
    return ready(qtbot, make_window(), like_patches)


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


def tiles(popup):
    """The tiles of the filters that are shown, by their keys."""
    of = child(popup, "filter-list", QListWidget)
    every = (of.item(row) for row in range(of.count()))
    return {each.data(KEY): each for each in every if each.data(KEY) and not each.isHidden()}


def marked(popup):
    return child(popup, "filter-list", QListWidget).currentItem().text()


def test_it_shows_all_filters_with_the_present_one_marked(popup):
    of = child(popup, "filter-list", QListWidget)
    assert set(tiles(popup)) == {each.key for each in all_filters()}
    assert marked(popup) == "Gaussian blur"
    places = [of.visualItemRect(tile) for tile in tiles(popup).values()]
    assert len({(place.x(), place.y()) for place in places}) == len(places)
    around = popup.sizeHint().height() - of.sizeHint().height()
    top = popup.mapToGlobal(QPoint(0, 0)).y() + 28  # as below a window's title
    assert top + of.contentsSize().height() + around <= 1080
    for tile in tiles(popup).values():  # no word is cut
        assert of.fontMetrics().horizontalAdvance(tile.text()) <= TILE_PX.width() - 14


def test_no_tile_shows_what_a_filter_makes_of_the_picture_before(qtbot, window, popup, monkeypatch):
    def icons():
        return [each.icon().pixmap(TILE_PX).toImage() for each in tiles(popup).values()]

    until(qtbot, lambda: icons()[0] != icons()[1])
    popup.hide()
    settle(qtbot, window, lambda: show_picture(qtbot, window, noise(90, 130, 3)))
    with monkeypatch.context() as patch:
        patch.setattr(window.reading, "run", lambda *_: None)  # as behind a picture that loads
        click(child(window, "filter", QComboBox))
    assert {each.pixelColor(9, 9).alpha() for each in icons()} == {0}
    settle(qtbot, window, lambda: show_picture(qtbot, window, noise(90, 131, 3)))  # it is open
    until(qtbot, lambda: {each.pixelColor(9, 9).alpha() for each in icons()} == {255})


def test_typing_searches_at_once_and_enter_chooses(qtbot, window, popup):
    type_in(popup, "lap gau")
    assert set(tiles(popup)) == {"laplacian_of_gaussian"}
    result = settle(qtbot, window, lambda: press(popup, Qt.Key.Key_Return))
    assert result.job.title == "Laplacian of Gaussian"
    assert not popup.isVisible()
    assert child(window, "filter", QComboBox).currentData() == "laplacian_of_gaussian"


EVERYDAY = (
    ("white dots", "Median", {"opening", "top_hat"}),
    ("salt and pepper", "Median", set()),
    ("denoise", "Bilateral", {"median", "non_local_means", "guided"}),
    ("skin", "Bilateral", {"guided"}),
    ("smooth but keep edges", "Bilateral", {"guided"}),
    ("specks", "Median", {"opening", "closing", "top_hat", "black_hat"}),
    ("dilate", "Maximum (dilation)", {"opening", "closing", "morphological_gradient"}),
    ("erode", "Minimum (erosion)", {"opening", "closing", "morphological_gradient"}),
    ("top hat", "Top-hat", set()),
    ("tophat", "Top-hat", set()),
    ("black_hat", "Black-hat", set()),
    ("Blackhat", "Black-hat", set()),
    ("smooth the skin, but keep the edges!", "Bilateral", {"guided"}),
    ("Please remove the white dots from this photo.", "Median", {"opening"}),
    ("bright specks", "Median", {"opening", "top_hat"}),
    ("remove white spots", "Median", {"opening"}),
    ("noise", "Bilateral", {"median", "non_local_means", "guided"}),
    ("impulse noise", "Median", set()),
    ("hot pixels", "Median", set()),
    ("outliers", "Median", set()),
    ("edge preserving smoothing", "Bilateral", {"guided"}),
    ("scratches", "Median", {"opening", "closing", "black_hat"}),
)


def test_everyday_words_find_filters_here_and_in_the_palette(window, popup):
    for words, first, others in EVERYDAY:
        child(popup, "filter-search", QLineEdit).clear()
        type_in(popup, words)
        assert marked(popup) == first, words
        titles = {tile.text() for tile in tiles(popup).values()}
        assert titles == {first, *(get(each).title for each in others)}, words
        found, is_right = find(window.dialogs.entries(), words)
        assert is_right, words
        assert titles <= {each.name for each in found}, words


def test_what_is_not_here_is_said_with_the_nearest_and_enter_takes_nothing(qtbot, window, popup):
    type_in(popup, "invert")
    said = child(popup, "filter-nothing", QLabel)
    assert said.text() == "No such filter here; nearest: Custom weights."
    press(popup, Qt.Key.Key_Return)
    assert popup.isVisible()
    press(popup, Qt.Key.Key_Down)
    assert marked(popup) == "Custom weights"
    for typed in ("xyzzy", "sepia"):
        type_in(popup, typed)
        assert said.text() == "No such filter here."
        assert tiles(popup) == {}


def test_what_is_called_so_goes_before_its_group(popup):
    type_in(popup, "edges")
    assert len(tiles(popup)) > 1
    assert marked(popup) == "Edges"


def test_arrow_keys_go_along_and_down(popup):
    first, second = (
        [each.title for each in all_filters() if each.group == name] for name in GROUPS[:2]
    )
    for title in first[1:3]:
        press(popup, Qt.Key.Key_Right)
        assert marked(popup) == title
    press(popup, Qt.Key.Key_Down)  # on to the next group
    assert marked(popup) == second[2]
    press(popup, Qt.Key.Key_Left)
    assert marked(popup) == second[1]
    for _ in range(3):
        press(popup, Qt.Key.Key_Up)
    assert marked(popup) == first[1]


def mean_grey(image):
    return np.mean([qGray(image.pixel(x, y)) for x in range(5, 120, 9) for y in range(5, 55, 9)])


def pictures_in(popup):
    every = tiles(popup).values()
    return [tile.icon().pixmap(QSize(999, 999)).toImage() for tile in every]


def test_of_a_further_step_each_tile_shows_the_picture_as_it_enters_that_step(qtbot, window):
    at = [each.key for each in all_filters()].index("identity")
    settle(qtbot, window, lambda: window.store.choose(filter="minimum", ksize=7))
    settle(qtbot, window, lambda: trigger(window, "Add step"))
    click(child(window, "filter", QComboBox))
    popup = window.findChild(FilterPopup)
    until(qtbot, lambda: pictures_in(popup)[at].pixelColor(5, 5).alpha() == 255)
    darker = pictures_in(popup)[at]
    popup.hide()
    settle(qtbot, window, lambda: window.store.choose(**select(window.store.state.steps, 0)))
    click(child(window, "filter", QComboBox))
    until(qtbot, lambda: pictures_in(popup)[at].pixelColor(5, 5).alpha() == 255)
    assert mean_grey(pictures_in(popup)[at]) > mean_grey(darker) + 10
    popup.hide()


def test_each_tile_shows_what_its_filter_makes_of_the_open_picture(qtbot, popup):
    def pictures():
        return pictures_in(popup)

    until(qtbot, lambda: pictures()[0].pixelColor(5, 5).alpha() == 255)
    seen = {bytes(image.constBits()) for image in pictures()}
    assert len(seen) == len(all_filters()) - 1  # the user's own weights are those of the identity


def test_what_is_not_done_to_pictures_here_is_said(qtbot, window, popup):
    for typed, there in {"rotate": "Weights", "flip": "Weights", "resize": "Zoom in"}.items():
        child(popup, "filter-search", QLineEdit).clear()
        type_in(popup, typed)
        assert there in child(popup, "filter-nothing", QLabel).text(), typed
        assert tiles(popup) == {}


def test_what_is_an_action_and_no_filter_leads_to_all_actions(qtbot, window, popup):
    for typed in ("crop", "brightness", "undo", "speed", "histogram"):
        child(popup, "filter-search", QLineEdit).clear()
        type_in(popup, typed)
        assert "in All actions: " in child(popup, "filter-nothing", QLabel).text(), typed
        assert not child(popup, "filter-note", QLabel).isVisible()
        assert tiles(popup) == {}
    press(popup, Qt.Key.Key_Return)
    assert not popup.isVisible()
    palette = child(window, "palette")
    assert child(palette, "palette-line", QLineEdit).text() == "histogram"
    palette.close()
