"""The keys that belong to the picture while the pointer is over it: Space, Tab, arrows, + and −."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication, QEvent, QObject, Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QAbstractSpinBox, QApplication, QWidget
from shiboken6 import isValid

from workbench.widgets.keyboard import ARROWS

RELEASED_MS = 40  # X11 may tell of a held key as of one released and pressed again at once
_ZOOM = {Qt.Key.Key_Plus, Qt.Key.Key_Equal, Qt.Key.Key_Minus}
_KEYS = {Qt.Key.Key_Space, Qt.Key.Key_Tab, *ARROWS, *_ZOOM}
_PLAIN = Qt.KeyboardModifier.ShiftModifier | Qt.KeyboardModifier.KeypadModifier  # "+" may need them
TAKES_TEXT = Qt.WidgetAttribute.WA_InputMethodEnabled
_KEY_EVENTS = (QEvent.Type.KeyPress, QEvent.Type.KeyRelease)


class PictureKeys(QObject):
    """Sends keys to the view under the pointer, whichever widget has the focus.

    It does so from when the pointer moves over a picture until the focus moves; a text field
    keeps its keys.  Meanwhile it filters the events of the widget with the focus, and no others.

    Signals:
        held(is_held): Space was pressed or released.
        tabbed(): Tab was pressed.
    """

    held = Signal(bool)
    tabbed = Signal()

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._parent = parent
        self._over: QWidget | None = None
        self._watched: QWidget | None = None
        self._is_held = self._is_passing_on = False
        self._is_claimed = False  # the pointer has moved over the picture since the focus did
        self._release = QTimer(self, singleShot=True, interval=RELEASED_MS)
        self._release.timeout.connect(self.let_go)
        application = QApplication.instance()
        assert isinstance(application, QApplication)
        application.focusChanged.connect(self._follow)

    def point(self, view: QWidget, is_over: bool) -> None:
        """Follow the pointer, which moves over `view` or has left it."""
        self._is_claimed = is_over
        if is_over:
            self._over = view
            window = view.window()
            focus = QApplication.focusWidget() or window
            is_elsewhere = focus.window() is window and not self._parent.isAncestorOf(focus)
            if self._watched is None and is_elsewhere:
                self._watched = focus
                focus.installEventFilter(self)
        elif view is self._over:
            self._over = None
            if not self._is_held:
                self._stop_watching()

    def tab(self) -> bool:
        """Take Tab if the pointer moved over the picture last; else it moves the focus."""
        if self._is_claimed:
            self.tabbed.emit()
        return self._is_claimed

    def take(self, event: QKeyEvent) -> bool:
        """Begin or end holding with Space; return False for another key."""
        if event.key() != Qt.Key.Key_Space:
            return False
        if event.type() == QEvent.Type.KeyPress:
            self._release.stop()
            self._hold(self._is_held or not event.isAutoRepeat())
        elif not event.isAutoRepeat() and self._is_held:  # a held key tells of releases as well
            self._release.start()
        return True

    def let_go(self) -> None:
        """End holding at once."""
        self._release.stop()
        self._hold(False)
        if self._over is None:
            self._stop_watching()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802
        if event.type() not in _KEY_EVENTS or not isinstance(event, QKeyEvent):
            return False
        # While passing on, the view had no use for it, and the watched widget is around it.
        if self._is_passing_on or not self._is_ours(watched, event):
            return False
        if event.key() == Qt.Key.Key_Tab:
            return event.type() == QEvent.Type.KeyPress and self.tab()
        self._is_passing_on = True
        try:
            QCoreApplication.sendEvent(self._over or self._parent, event)
        finally:
            self._is_passing_on = False
        return True

    def _is_ours(self, watched: QObject, event: QKeyEvent) -> bool:
        if event.key() not in _KEYS or event.modifiers() & ~_PLAIN:
            return False
        if event.key() == Qt.Key.Key_Space and self._is_held:
            return True
        is_number = isinstance(watched, QAbstractSpinBox) and event.key() == Qt.Key.Key_Space
        is_typed = isinstance(watched, QWidget) and watched.testAttribute(TAKES_TEXT)
        return self._over is not None and (is_number or not is_typed)  # numbers have no spaces

    def _stop_watching(self) -> None:
        watched, self._watched = self._watched, None
        if watched is not None and isValid(watched):  # the focus moves as well where it is deleted
            watched.removeEventFilter(self)

    def _follow(self, _old: QWidget | None, _new: QWidget | None) -> None:
        self._is_claimed = False
        self.let_go()
        self._stop_watching()

    def _hold(self, is_held: bool) -> None:
        if is_held != self._is_held:
            self._is_held = is_held
            self.held.emit(is_held)
