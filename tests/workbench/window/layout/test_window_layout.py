"""What is around the picture is hidden, brought back, remembered and reset."""

import json

import numpy as np
import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget

from kernels.pictures.generated import noise
from tests.workbench.driving import child, click, ready, show_picture, trigger, until
from workbench.base.settings import default_path
from workbench.panels.compare.picture_view import PictureView

WIDE = (1920, 1080)


@pytest.fixture
def window(qtbot, make_window):
    window = ready(qtbot, make_window(), noise(20, 30))
    until(qtbot, window.isActiveWindow)
    return window


def shown_view(window):
    return next(each for each in window.compare.findChildren(PictureView) if each.isVisible())


def around(window):
    """What is around the picture, by whether it is to be seen."""
    QApplication.processEvents()  # for it to be laid out
    parts = (window.toolbar, window.docks.rail, window.timing_views.line, window.statusBar())
    return {window.menuBar().height() > 0, *(each.isVisible() for each in parts)}


def opened(window):
    return [title for title, panel in window.docks.frames.items() if panel.isVisible()]


# -- nothing but the picture


def corner(window):
    """Whether a caption is written over the picture."""
    return shown_view(window).grab().toImage().pixelColor(12, 12).lightness() < 60


def test_nothing_is_written_over_the_picture_where_that_is_not_wanted(qtbot, window, make_window):
    show_picture(qtbot, window, np.full((200, 300, 3), 255, np.uint8))
    window.store.update(view_mode="difference")
    options = child(window, "gain")
    until(qtbot, lambda: corner(window))
    assert options.isVisible()
    for _ in range(2):  # hidden, and back
        trigger(window, "Picture only")
        qtbot.wait(50)
        assert corner(window) == options.isVisible() == around(window).pop()
    trigger(window, "Captions")
    assert not corner(window)
    window.close()
    other = make_window()
    show_picture(qtbot, other, np.full((200, 300, 3), 255, np.uint8))
    assert not corner(other), "as the other was left"
    trigger(other, "Captions")
    until(qtbot, lambda: corner(other))


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


# -- panels


def test_nothing_moves_but_the_picture_that_makes_room(qtbot, window):
    window.resize(*WIDE)
    settings, widths = window.docks["Settings"], set()
    window.docks.bring_forward("Settings")
    qtbot.wait(50)
    place = settings.mapTo(window, QPoint())
    for title in ("Blocks", "Weights", "Pixel"):
        window.docks.bring_forward(title)
        qtbot.wait(50)
        widths.add(window.docks[title].width())
        assert settings.mapTo(window, QPoint()) == place, title
    assert len(widths) == 1


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


def test_a_panel_that_closes_gives_the_keyboard_back_to_the_picture(qtbot, window):
    for title in ("Weights", "Kernel", "Settings"):
        window.docks.enter(title)
        click(window.docks[title].findChild(QWidget, "panel-close"))
        assert window.compare.main.hasFocus(), title
    window.docks.enter("Weights")
    window.docks.bring_forward("Timing")
    assert window.compare.main.hasFocus()


def test_the_edge_of_a_panel_is_dragged_and_its_width_remembered(qtbot, make_window, window):
    window.docks.bring_forward("Sweep")
    QApplication.processEvents()
    panel = window.docks["Sweep"]
    before = panel.width()
    area, edge = window.docks, panel.geometry().left()
    grip = area.childAt(QPoint(edge - 2, 200))
    QTest.mousePress(grip, Qt.MouseButton.LeftButton, pos=QPoint(2, 100))
    QTest.mouseMove(grip, QPoint(-78, 100))
    QTest.mouseRelease(grip, Qt.MouseButton.LeftButton, pos=QPoint(-78, 100))
    assert abs(panel.width() - before - 80) <= 4
    width = panel.width()
    window.close()
    again = make_window()
    until(qtbot, lambda: opened(again) == ["Sweep"])
    assert again.docks["Sweep"].width() == width


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


@pytest.mark.parametrize("box", [[10**12, 0, 500, 400], "large"])
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
    window.docks.set_widths({"right": 700})
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


def test_a_panel_in_a_window_of_its_own_is_no_larger_than_the_screen_and_comes_back(qtbot, window):
    window.docks.bring_forward("Sweep")
    panel = window.docks["Sweep"]
    click(child(panel, "panel-enlarge"))
    until(qtbot, lambda: panel.isWindow() and panel.isVisible())
    assert window.screen().availableGeometry().contains(panel.geometry())
    window.docks.bring_forward("Timing")
    panel.close()
    until(qtbot, lambda: opened(window) == ["Timing"])
    assert not panel.is_enlarged
    window.docks.bring_forward("Sweep")
    assert panel.isVisible()
    assert panel.window() is window
