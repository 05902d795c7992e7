"""A guard that brings windows back to where they can be seen when a monitor is gone."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QObject, QPoint, QRect, Qt, QTimer, Slot
from PySide6.QtGui import QGuiApplication, QScreen
from PySide6.QtWidgets import QApplication, QWidget

from workbench.widgets.message_bar import MessageBar

CALM_MS = 300  # the desktop moves windows by itself, and several monitors may go at once
HANDLE_PX = 32  # a strip of a window's top this high and WIDE_PX wide is enough to drag it
WIDE_PX = 100
MOVED = "A monitor is gone; what was on it has been moved here."


class OnScreen(QObject):
    """A guard of all windows: main window, floating panels and charts, and the stage.

    It looks at the start, as they may have been left on a monitor that is no longer there, and
    whenever the monitors change.
    """

    def __init__(self, messages: MessageBar, parent: QObject) -> None:
        super().__init__(parent)
        self._messages = messages
        self._monitors_changed = False
        self._later = QTimer(self, singleShot=True, interval=CALM_MS)
        self._later.timeout.connect(self._look)
        self._later.start()  # by then all windows have their size
        app = QGuiApplication.instance()
        assert isinstance(app, QGuiApplication)
        app.screenRemoved.connect(self._look_later)
        app.screenAdded.connect(self._watch)
        for screen in QGuiApplication.screens():
            self._watch(screen)

    def _watch(self, screen: QScreen) -> None:
        screen.availableGeometryChanged.connect(self._look_later)

    @Slot()
    def _look_later(self) -> None:
        self._monitors_changed = True
        self._later.start()

    @Slot()
    def _look(self) -> None:
        screens = [each.availableGeometry() for each in QGuiApplication.screens()]
        windows = [each for each in QApplication.topLevelWidgets() if _is_to_be_seen(each)]
        moved = [_bring_back(each, screens) for each in windows]
        if any(moved) and self._monitors_changed:
            self._messages.add_message("info", MOVED)
        self._monitors_changed = False


def brought_back(frame: QRect, screens: Sequence[QRect]) -> QRect | None:
    """Return where a window with the frame `frame` is to be, on the nearest of `screens`.

    It keeps its size if that fits. None: enough of its upper edge can be seen to drag it by hand.
    """
    handle = QRect(frame.topLeft(), frame.topRight() + QPoint(0, HANDLE_PX - 1))
    needed = min(WIDE_PX, frame.width())
    seen = [handle.intersected(screen) for screen in screens]
    if not screens or any(e.width() >= needed and e.height() >= HANDLE_PX // 2 for e in seen):
        return None
    screen = min(screens, key=lambda each: _distance(frame.center(), each))
    size = frame.size().boundedTo(screen.size())
    left = min(max(frame.left(), screen.left()), screen.right() + 1 - size.width())
    top = min(max(frame.top(), screen.top()), screen.bottom() + 1 - size.height())
    return QRect(QPoint(left, top), size)


def _distance(point: QPoint, screen: QRect) -> int:
    """Return how far `point` is from `screen` in pixels, along both axes together; 0 inside."""
    beyond_x = max(screen.left() - point.x(), point.x() - screen.right(), 0)
    beyond_y = max(screen.top() - point.y(), point.y() - screen.bottom(), 0)
    return beyond_x + beyond_y


def _is_to_be_seen(widget: QWidget) -> bool:
    """Return whether a widget is a window in sight; menus and tooltips place themselves."""
    kinds = (Qt.WindowType.Window, Qt.WindowType.Dialog, Qt.WindowType.Tool)
    return widget.isVisible() and not widget.isMinimized() and widget.windowType() in kinds


def _bring_back(widget: QWidget, screens: Sequence[QRect]) -> bool:
    """Move `widget` if need be; return whether it was moved."""
    place = brought_back(widget.frameGeometry(), screens)
    if place is None:
        return False
    state = widget.windowState()
    filling = Qt.WindowState.WindowMaximized | Qt.WindowState.WindowFullScreen
    if state & filling:
        widget.setWindowState(state & ~filling)  # a normal window can be moved
    around = widget.frameGeometry().size() - widget.geometry().size()
    widget.resize(place.size() - around)
    widget.move(place.topLeft())
    widget.setWindowState(state)
    return True
