"""What is around the picture is hidden, brought back, remembered and reset."""

import json
from itertools import pairwise

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QFont
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QAbstractButton,
    QApplication,
    QComboBox,
    QGroupBox,
    QLabel,
    QToolButton,
    QWidget,
)

from kernels.pictures.generated import noise
from tests.workbench.driving import child, click, show_picture, trigger, until
from workbench.base import theme
from workbench.base.settings import default_path
from workbench.panels.compare.picture_view import PictureView
from workbench.widgets.upright_area import UprightArea

WIDE, NARROW = (1920, 1080), (900, 600)


@pytest.fixture
def window(qtbot, make_window):
    window = make_window()
    show_picture(qtbot, window, noise(20, 30))
    return active(qtbot, window)


@pytest.fixture
def restyled(qapp):
    """Gives all letters another size."""
    before = qapp.font()

    def restyle(points):
        font = QFont(before)
        font.setPointSizeF(points)
        qapp.setFont(font)
        theme.apply(qapp, "dark")
        theme.apply(qapp, "light")

    yield restyle
    restyle(before.pointSizeF())


def active(qtbot, window):
    window.activateWindow()
    until(qtbot, window.isActiveWindow)
    return window


def shown_view(window):
    return next(each for each in window.compare.findChildren(PictureView) if each.isVisible())


def around(window):
    """What is around the picture, by whether it is to be seen."""
    QApplication.processEvents()  # for it to be laid out
    parts = (window.toolbar, window.docks.rail, window.timing_views.line, window.statusBar())
    return {window.menuBar().height() > 0, *(each.isVisible() for each in parts)}


@pytest.mark.parametrize("size", [(1280, 720), (1440, 900)])
def test_panels_need_not_scroll_where_there_is_room_for_what_they_are_about(size, qtbot, window):
    window.store.update(ksize=5)
    show_picture(qtbot, window, noise(120, 180, 3))
    window.resize(*size)
    for title in ("Settings", "Analysis", "Pixel", "Anatomy", "Weights"):
        window.docks.bring_forward(title)
        held = window.docks.panel(title).get()
        area = held if isinstance(held, UprightArea) else held.findChild(UprightArea)
        if title == "Analysis":  # its numbers come later
            until(qtbot, lambda: child(window, "histogram-numbers", QLabel).text())
            until(qtbot, lambda: child(window, "similarity-note", QLabel).text()[:4] == "Full")
        until(qtbot, lambda area=area: area.isVisible() and area.verticalScrollBar().maximum() == 0)
        window.docks.show(title, False)


def test_a_low_window_folds_the_display_until_the_user_opens_it(qtbot, window):
    window.docks.bring_forward("Settings")
    box, fold = child(window, "level-black"), child(window, "controls-fold-display")
    sentence = child(window, "about-implementation")
    for size, is_open in (((1440, 1000), True), ((1280, 720), False)):
        window.resize(*size)
        until(qtbot, lambda is_open=is_open: box.isVisible() is is_open)
        assert sentence.isVisible() is is_open
    click(fold)
    assert box.isVisible()
    window.resize(1280, 730)
    QApplication.processEvents()
    assert box.isVisible()


def test_the_modes_stand_side_by_side_however_short_their_words(qtbot, window):
    bar = child(window, "modes")
    buttons, words = bar.findChildren(QToolButton), set()
    for width in (WIDE[0], 1024, NARROW[0]):
        window.resize(width, WIDE[1])
        QApplication.processEvents()
        words.add(buttons[-1].text())
        boxes = [each.geometry() for each in buttons]
        assert [b.left() - a.right() for a, b in pairwise(boxes)] == [1] * (len(boxes) - 1)
    assert words == {"Mismatch", "Mism."}


def opened(window):
    return [title for title, panel in window.docks.items() if panel.isVisible()]


def point_at_picture(window):
    view = shown_view(window)
    for x in (40, 60):
        QTest.mouseMove(view, QPoint(x, 50))
        QTest.qWait(1)


def press_tab():
    QTest.keyClick(QApplication.focusWidget(), Qt.Key.Key_Tab)


@pytest.mark.parametrize("points", [9.0, 10.08, 14.0, 18.0])
def test_the_ways_to_look_are_as_high_as_the_fields_beside_them(points, qapp, window, restyled):
    restyled(points)
    window.resize(1920, 800)
    QApplication.processEvents()
    names = ("filter", "ksize", "implementation", "result", "side", "mismatch")
    boxes = [child(window.toolbar, name).geometry() for name in names]
    assert len({box.height() for box in boxes}) == 1


def test_words_that_were_short_in_a_narrow_window_are_whole_again_in_a_wide_one(window):
    def word_at(width):
        window.resize(width, 720)
        QApplication.processEvents()
        return child(window.toolbar, "difference").text()

    assert word_at(1400) == "Difference"
    assert "Diff." in map(word_at, range(1300, 800, -20))
    assert word_at(1400) == "Difference"


# -- nothing but the picture


def test_at_first_there_is_nothing_but_the_picture_and_what_everybody_needs(window):
    assert opened(window) == []
    assert around(window) == {True}


def test_a_key_hides_everything_but_the_picture_and_brings_it_back(qtbot, window):
    window.resize(*WIDE)
    window.docks.bring_forward("Settings")
    window.docks.bring_forward("Analysis")
    until(qtbot, lambda: opened(window) == ["Settings", "Analysis"])
    QTest.keyClick(window, Qt.Key.Key_F10)
    assert around(window) == {False}
    assert opened(window) == []
    until(qtbot, lambda: shown_view(window).size() == window.size())
    QTest.keyClick(window, Qt.Key.Key_F10)
    assert around(window) == {True}
    assert opened(window) == ["Settings", "Analysis"]


def test_keys_work_where_everything_is_hidden(qtbot, window):
    QTest.keyClick(window, Qt.Key.Key_F10)
    QTest.keyClick(QApplication.focusWidget(), Qt.Key.Key_H)
    until(qtbot, lambda: opened(window) == ["Analysis"])
    QTest.keyClick(window, Qt.Key.Key_F10)
    assert opened(window) == ["Analysis"]


def test_tab_hides_and_brings_back_where_the_pointer_is_over_the_picture(qtbot, window):
    point_at_picture(window)
    press_tab()
    assert around(window) == {False}
    press_tab()
    assert around(window) == {True}


def test_tab_goes_through_controls_where_the_pointer_has_not_moved(qtbot, window):
    point_at_picture(window)
    child(window, "tool-open").setFocus()
    for _ in range(60):
        press_tab()
        assert around(window) == {True}
        if QApplication.focusWidget() is child(window, "tool-open"):
            break
    else:
        pytest.fail("Tab does not come back to where it began")


def test_nothing_is_hidden_because_what_had_the_keyboard_went(qtbot, window):
    window.messages.show_message("error", "Something happened.")
    child(window.messages, "dismiss").setFocus()
    point_at_picture(window)
    click(child(window.messages, "dismiss"))
    assert around(window) == {True}
    shown_view(window).setFocus()
    point_at_picture(window)
    for mode in ("wipe", "side", "difference", "result"):
        window.store.update(view_mode=mode)
        assert around(window) == {True}, mode


def test_tab_stays_in_what_is_typed_into(qtbot, window):
    child(window, "ksize").setFocus()
    point_at_picture(window)
    press_tab()
    assert around(window) == {True}


def test_full_screen_is_the_picture_alone_and_the_window_is_as_it_was_afterwards(qtbot, window):
    window.showMaximized()
    until(qtbot, window.isMaximized)
    QTest.keyClick(window, Qt.Key.Key_F11)
    until(qtbot, window.isFullScreen)
    assert around(window) == {False}
    QTest.keyClick(window, Qt.Key.Key_F11)
    until(qtbot, lambda: not window.isFullScreen())
    assert window.isMaximized()
    assert around(window) == {True}


def test_what_was_hidden_before_full_screen_stays_so(qtbot, window):
    for key in (Qt.Key.Key_F10, Qt.Key.Key_F11, Qt.Key.Key_F11):
        QTest.keyClick(window, key)
    assert around(window) == {False}


# -- panels


def test_the_rail_opens_a_panel_in_place_of_the_one_that_is_open_and_closes_it(qtbot, window):
    click(child(window, "rail-sweep"))
    assert opened(window) == ["Sweep"]
    click(child(window, "rail-gallery"))
    assert opened(window) == ["Gallery"]
    assert child(window, "rail-gallery").isChecked()
    assert not child(window, "rail-sweep").isChecked()
    click(child(window, "rail-gallery"))
    assert opened(window) == []
    assert not child(window, "rail-gallery").isChecked()


def test_every_name_on_the_rail_is_whole(window):
    rail = window.docks.rail
    for height in (1000, 700, 400):
        window.resize(1024, height)
        QApplication.processEvents()
        for title in window.docks:
            button = child(rail, f"rail-{title.lower()}")
            assert button.text() == title
            assert button.fontMetrics().horizontalAdvance(title) <= button.width()
            assert button.fontMetrics().height() <= button.height()
            assert rail.rect().contains(button.geometry()), (title, height)


def test_whichever_panel_is_open_it_is_as_wide(qtbot, window):
    window.resize(1440, 900)
    widths = set()
    for title in window.docks:
        window.docks.bring_forward(title)
        QApplication.processEvents()
        if title not in ("Settings", "Kernel"):  # one is at the left, one has source to read
            widths.add(window.docks[title].width())
    assert len(widths) == 1


@pytest.mark.parametrize("size", [(1440, 900), (1280, 720), (1024, 640), (1920, 1080)])
def test_a_kernel_has_more_room_than_other_panels_and_as_much_as_the_user_gives_it(window, size):
    window.resize(*size)
    window.docks.bring_forward("Sweep")
    QApplication.processEvents()
    usual = window.docks["Sweep"].width()
    window.docks.bring_forward("Kernel")
    QApplication.processEvents()
    kernel = window.docks["Kernel"]
    letter = child(window, "kernel-source").fontMetrics().horizontalAdvance("0")
    letters = child(window, "kernel-source").viewport().width() / letter
    assert kernel.width() > usual
    assert letters >= (60 if size >= (1440, 900) else 45)
    assert kernel.x() + kernel.width() <= window.docks.rail.x()
    window.docks.area.set_widths({"right": usual + 40})
    assert kernel.width() == usual + 40


def test_in_a_wide_window_settings_stay_beside_another_panel(qtbot, window):
    window.resize(*WIDE)
    for title in ("Settings", "Sweep", "Blocks"):
        window.docks.bring_forward(title)
    until(qtbot, lambda: opened(window) == ["Settings", "Blocks"])
    settings, blocks = (window.docks[title] for title in ("Settings", "Blocks"))
    picture = window.compare
    assert settings.mapTo(window, QPoint(settings.width(), 0)).x() <= left(window, picture) + 1
    assert left(window, picture) + picture.width() <= left(window, blocks) + 1
    window.resize(1280, 720)
    until(qtbot, lambda: opened(window) == ["Blocks"])


def test_settings_alone_open_beside_the_rail_as_other_panels_do(qtbot, window):
    window.resize(*WIDE)
    settings, rail = window.docks["Settings"], window.docks.rail
    window.docks.bring_forward("Settings")
    until(qtbot, lambda: left(window, settings) + settings.width() == left(window, rail))
    window.docks.bring_forward("Analysis")
    until(qtbot, lambda: left(window, settings) == 0)
    window.docks["Analysis"].hide()
    until(qtbot, lambda: left(window, settings) + settings.width() == left(window, rail))


def test_what_a_panel_holds_begins_where_its_title_does(qtbot, window):
    window.resize(*WIDE)
    for title, frame in window.docks.items():
        window.docks.bring_forward(title)
        panel = window.docks.panel(title).made
        until(qtbot, panel.isVisible)
        heading = next(each for each in frame.findChildren(QLabel) if each.text() == title)
        inside = [each for each in panel.findChildren(QWidget) if is_seen_apart(each)]
        first = min(each.mapTo(frame, QPoint()).x() for each in inside)
        assert abs(first - heading.x()) <= 1, title
        frame.hide()


def is_seen_apart(widget):
    """Whether a widget is a card, a group, a button or words, and no room around such."""
    kinds = (QGroupBox, QLabel, QAbstractButton, QComboBox)
    return widget.isVisible() and (widget.property("card") is True or isinstance(widget, kinds))


def test_in_a_narrow_window_a_panel_lies_over_the_picture(qtbot, window):
    window.resize(*NARROW)
    QApplication.processEvents()
    before = window.compare.size()
    window.docks.bring_forward("Sweep")
    QApplication.processEvents()
    assert window.compare.size() == before
    panel = window.docks["Sweep"]
    assert left(window, panel) + panel.width() <= left(window, window.docks.rail)
    assert window.childAt(panel.mapTo(window, panel.rect().center())) in panel.findChildren(QWidget)


def test_the_edge_of_a_panel_is_dragged_and_its_width_remembered(qtbot, make_window, window):
    window.docks.bring_forward("Sweep")
    QApplication.processEvents()
    panel = window.docks["Sweep"]
    before = panel.width()
    area, edge = window.docks.area, panel.geometry().left()
    grip = area.childAt(QPoint(edge, 200))
    QTest.mousePress(grip, Qt.MouseButton.LeftButton, pos=QPoint(2, 100))
    QTest.mouseMove(grip, QPoint(-78, 100))
    QTest.mouseRelease(grip, Qt.MouseButton.LeftButton, pos=QPoint(-78, 100))
    assert abs(panel.width() - before - 80) <= 4
    width = panel.width()
    window.close()
    again = make_window()
    until(qtbot, lambda: opened(again) == ["Sweep"])
    assert again.docks["Sweep"].width() == width


def left(window, part):
    return part.mapTo(window, QPoint()).x()


# -- what is remembered


def test_the_layout_is_kept_as_plain_json_for_each_size_of_screen(qtbot, make_window, window):
    window.docks.bring_forward("Timing")
    window.close()
    kept = json.loads(default_path().read_text())["layouts"]
    size = window.screen().size()
    (layout,) = kept.values()
    assert list(kept) == [f"{size.width()}x{size.height()}"]
    assert layout["panels"]["open"] == ["Timing"]
    settings = json.loads(default_path().read_text())
    settings["layouts"] = {"3840x2160": {"panels": {"open": ["Sweep"]}}}
    default_path().write_text(json.dumps(settings))
    other = make_window()
    assert opened(other) == []
    other.close()
    assert "3840x2160" in json.loads(default_path().read_text())["layouts"]


def test_a_layout_of_an_older_version_is_no_trouble_and_goes(qtbot, home, make_window):
    default_path().parent.mkdir(parents=True)
    old = {"version": 1, "geometry": "AdnQywADAAAAAAA", "layout": "AAAA/wAAAAD9AAAAAw"}
    default_path().write_text(json.dumps(old))
    window = make_window()
    assert opened(window) == []
    window.close()
    assert not {"geometry", "layout"} & set(json.loads(default_path().read_text()))


@pytest.mark.parametrize("box", [[10**12, 0, 500, 400], [0, 0, 500], [0, 0, True, 400], "large"])
def test_a_place_that_no_window_can_have_is_as_on_the_first_day(box, make_window):
    make_window().close()
    kept = json.loads(default_path().read_text())
    (layout,) = kept["layouts"].values()
    layout |= {"window": box, "panels": {"enlarged": {"Timing": box}}}
    default_path().write_text(json.dumps(kept))
    window = make_window()
    assert opened(window) == []
    assert not window.docks["Timing"].is_enlarged


def test_there_is_a_way_back_to_the_first_layout(qtbot, window):
    window.resize(*WIDE)
    window.docks.area.set_widths({"right": 700})
    for title in ("Settings", "Sweep"):
        window.docks.bring_forward(title)
    window.docks.enlarge("Timing")
    QTest.keyClick(window, Qt.Key.Key_F10)
    trigger(window, "First layout")
    assert opened(window) == []
    assert around(window) == {True}
    assert not window.docks["Timing"].is_enlarged
    window.docks.bring_forward("Sweep")
    assert window.docks["Sweep"].width() < 500


def test_the_first_layout_of_this_screen_leaves_those_of_others_alone(make_window):
    other = {"window": [0, 0, 900, 700], "maximised": False, "panels": {"open": ["Sweep"]}}
    make_window().close()
    kept = json.loads(default_path().read_text())
    kept["layouts"]["1x1"] = other
    default_path().write_text(json.dumps(kept))
    window = make_window()
    trigger(window, "First layout")
    window.close()
    assert json.loads(default_path().read_text())["layouts"]["1x1"] == other


def test_a_panel_in_a_window_of_its_own_is_no_larger_than_the_screen_and_comes_back(qtbot, window):
    window.docks.bring_forward("Sweep")
    panel = window.docks["Sweep"]
    click(child(panel, "panel-enlarge"))
    until(qtbot, lambda: panel.isWindow() and panel.isVisible())
    room = window.screen().availableGeometry()
    assert room.contains(panel.geometry())
    panel.close()
    until(qtbot, lambda: opened(window) == [])
    assert not panel.is_enlarged
    window.docks.bring_forward("Sweep")
    assert panel.isVisible()
    assert panel.window() is window


def test_menus_stand_in_their_usual_order(window):
    titles = [each.text().replace("&", "") for each in window.menuBar().actions()]
    assert titles == ["File", "Edit", "View", "Run", "Sweep", "Help"]
