"""Windows on monitors that are gone come back to where they can be seen."""

import gc

import pytest
from PySide6.QtCore import SIGNAL, QCoreApplication, QEvent, QPoint, QRect, QTimer
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QApplication

from tests.workbench.driving import until
from workbench.window.window_layout import MOVED, OnScreen, brought_back

LEFT, RIGHT = QRect(0, 0, 1920, 1050), QRect(1920, 0, 1280, 720)
FAR = QPoint(5000, 4000)


@pytest.fixture(autouse=True)
def alone(qapp):
    """Guards of earlier tests' windows would bring these back first, and tell of it there."""
    gc.collect()
    for each in QApplication.topLevelWidgets():  # what something still holds
        for guard in each.findChildren(OnScreen):
            guard.deleteLater()
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)


@pytest.mark.parametrize(
    "frame",
    [
        QRect(100, 100, 800, 600),
        QRect(1800, 100, 800, 600),  # on both
        QRect(-600, 100, 800, 600),  # its right end can be grabbed
        QRect(100, 1000, 800, 600),  # and here the title bar
        QRect(0, 0, 4000, 3000),
    ],
)
def test_what_can_be_moved_by_hand_stays(frame):
    assert brought_back(frame, [LEFT, RIGHT]) is None


@pytest.mark.parametrize(
    ("frame", "place"),
    [
        (QRect(2000, 50, 800, 600), QRect(1120, 50, 800, 600)),
        (QRect(5000, 4000, 800, 600), QRect(1120, 450, 800, 600)),
        (QRect(-900, 100, 800, 600), QRect(0, 100, 800, 600)),
        (QRect(100, -100, 800, 600), QRect(100, 0, 800, 600)),  # the title bar is above the screen
        (QRect(3000, 0, 4000, 3000), LEFT),
    ],
)
def test_what_is_out_of_sight_comes_to_the_nearest_place(frame, place):
    assert brought_back(frame, [LEFT]) == place


def remove_monitor(qtbot, window):
    """Say that one went, and wait until that was looked at."""
    app = QGuiApplication.instance()
    app.screenRemoved.emit(app.primaryScreen())
    until(qtbot, lambda: not window.on_screen.findChild(QTimer).isActive())


def floating(window):
    """The panel Sweep in a window of its own."""
    dock = window.docks["Sweep"]
    window.docks.enlarge("Sweep")
    dock.resize(400, 300)
    return dock


def is_seen(widget):
    screens = [each.availableGeometry() for each in QGuiApplication.screens()]
    return brought_back(widget.frameGeometry(), screens) is None


def test_the_window_and_its_panels_come_back(qtbot, window):
    until(qtbot, lambda: window.device and window.messages.kind)  # which has one as well
    until(qtbot, lambda: not window.on_screen.findChild(QTimer).isActive())  # that of the start
    dock = floating(window)
    window.messages.clear()
    for each in (window, dock):
        each.move(FAR)
    window.resize(900, 500)
    remove_monitor(qtbot, window)
    assert is_seen(window)
    assert is_seen(dock)
    assert dock.is_enlarged
    assert window.messages.sentence == MOVED
    window.messages.clear()
    remove_monitor(qtbot, window)
    assert window.messages.kind is None  # nothing was on that one


def test_changes_of_a_monitor_that_was_added_are_heard(window):
    screen, signal = window.screen(), SIGNAL("availableGeometryChanged(QRect)")
    before = screen.receivers(signal)
    QGuiApplication.instance().screenAdded.emit(screen)
    assert screen.receivers(signal) > before
