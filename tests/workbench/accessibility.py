"""What keeps somebody from using a window: each function returns what it finds, with its path."""

import re

import numpy as np
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QAccessible, QImage
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractSpinBox,
    QApplication,
    QComboBox,
    QGroupBox,
    QLabel,
    QLineEdit,
    QPlainTextEdit,
    QScrollBar,
    QTabBar,
    QTabWidget,
    QTextEdit,
    QWidget,
)

from tests.workbench import contrast
from workbench.widgets.drop_down import ElidingBox
from workbench.widgets.tile import ElidedLabel

MIN_PX = 24  # of what is clicked: WCAG 2.2, 2.5.8
FINER = 2  # the image that contrast is taken from: so that strokes have their full colour
RING_PIXELS = 20  # that have to change their colour with the focus
MAX_STOPS = 300
MAX_LINKS = 12  # within one label
ARROW_EM = 1.5  # of a combo box; as in theme.qss
FRAME_PX = 18  # paddings and borders there, of a combo box or a spin box
ELIDED_LETTERS = 5  # that have to be seen of an entry
WORDS = re.compile(r"[^\s\-/]+[\-/]?")  # where Qt breaks a line
TEXTS = (QAbstractButton, QAbstractSpinBox, QLabel, QLineEdit)
TAB, CLICK = Qt.FocusPolicy.TabFocus, Qt.FocusPolicy.ClickFocus


def path_of(widget):
    """From the window down: "MainWindow/Controls/filter"."""
    names = []
    while widget is not None:
        kind = type(widget).__name__
        name = widget.objectName() or ("" if kind == "QWidget" else kind)
        if name and not name.startswith("qt_"):
            names.append(name)
        widget = None if widget.isWindow() else widget.parentWidget()
    return "/".join(reversed(names))


def shown(root):
    """What of a window is on the screen, without the insides of Qt's own widgets."""
    return [each for each in (root, *root.findChildren(QWidget)) if _is_of(each, root)]


def _is_of(widget, root):
    parent = widget.parent()
    return (
        widget.isVisible()
        and _is_in(widget, root)
        and not isinstance(widget, QScrollBar)
        and (isinstance(widget, QTabBar) or not widget.objectName().startswith("qt_"))
        and not isinstance(parent, (QAbstractSpinBox, QComboBox, QTabBar, QLineEdit))
        and type(parent).__name__ != "Plot"
    )


def _is_in(widget, root):
    """Whether it is in that window, and not in another one above it.  (To ask a widget for its
    window would have PySide delete the widget with it.)"""
    return widget is root or root.isAncestorOf(widget)


def usable(root):
    """What takes the keyboard, or a click."""
    return [
        each
        for each in shown(root)
        if each.isEnabled()
        and not isinstance(each, QTabWidget)  # it is its bar that takes it
        and (each.focusPolicy() & (TAB | CLICK) or isinstance(each, QAbstractButton))
        and (each.focusPolicy() & TAB or not isinstance(each, QLabel))  # just to copy
    ]


# -- names


def nameless(root):
    """What a screen reader has no word for."""
    return [
        f"{path_of(each)}: it has no name"
        for each in usable(root)
        if not any(map(str.isalnum, _name(each)))
    ]


def _name(widget):
    return QAccessible.queryAccessibleInterface(widget).text(QAccessible.Text.Name)


def undescribed(root, kinds):
    """Pictures and charts without a summary in words."""
    return [
        f"{path_of(each)}: it has no description"
        for each in shown(root)
        if isinstance(each, kinds) and not each.accessibleDescription()
    ]


# -- room


def small(root):
    """What is hard to hit."""
    return [
        f"{path_of(each)}: only {each.width()}×{each.height()} pixels"
        for each in usable(root)
        if not isinstance(each, QTextEdit) and min(each.width(), each.height()) < MIN_PX
    ]


def clipped(root):
    """Texts that have less room than they take."""
    found = []
    for each in shown(root):
        if not (text := _text(each)):
            continue
        wide, high = _room_for(text, each)
        if wide > each.width() + 1 or high > each.height() + 1:
            found.append(
                f"{path_of(each)}: “{text[:40]}” takes {wide}×{high} pixels of "
                f"{each.width()}×{each.height()}"
            )
    return found


def _text(widget):
    if isinstance(widget, QComboBox):
        return widget.currentText()
    if isinstance(widget, QGroupBox):
        return widget.title()
    return widget.text() if isinstance(widget, TEXTS) else ""


def _room_for(text, widget):
    """Width and height that its text takes, with what is around it."""
    metrics = widget.fontMetrics()
    if isinstance(widget, ElidedLabel):  # which has the whole of it in its tooltip
        return 0, metrics.height()
    if isinstance(widget, QLabel) and widget.wordWrap():
        longest = max(map(metrics.horizontalAdvance, WORDS.findall(text) or [""]))
        return 0 if "<" in text else longest, widget.heightForWidth(widget.width())
    if isinstance(widget, QLabel):
        hint = QLabel.sizeHint(widget)
        return hint.width(), hint.height()
    if isinstance(widget, QAbstractButton):
        return widget.sizeHint().width(), widget.sizeHint().height()
    if isinstance(widget, QGroupBox):
        return metrics.horizontalAdvance(text), 0
    if isinstance(widget, QLineEdit):  # it scrolls
        return 0, metrics.height()
    seen = text[:ELIDED_LETTERS] if isinstance(widget, ElidingBox) else text
    beside = ARROW_EM * metrics.height() + FRAME_PX
    return round(metrics.horizontalAdvance(seen) + beside), metrics.height()


# -- colours


class Colours:
    """Looks at the texts of windows, at each once as long as it stays as it is."""

    def __init__(self):
        self._known = set()

    def pale(self, root):
        """Texts that do not stand out, other than those of what cannot be used now."""
        new = {self._state(each): each for each in shown(root) if _is_seen_text(each)}
        new = {state: each for state, each in new.items() if state not in self._known}
        pixels, found = _image_of(root) if new else None, []
        self._known.update(new)
        for each in new.values():
            corner, size = FINER * each.mapTo(root, QPoint()), FINER * each.size()
            part = pixels[corner.y() :, corner.x() :][: size.height(), : size.width()]
            if (ratio := contrast.seen(part)) < contrast.TEXT:
                found.append(f"{path_of(each)}: “{_text(each)[:40]}” has {ratio:.2f} to 1")
        return found

    def _state(self, widget):
        is_checked = isinstance(widget, QAbstractButton) and widget.isChecked()
        return widget, _text(widget), widget.width(), widget.height(), is_checked


def _is_seen_text(widget):
    """Whether it is a text in use, and no part of it is scrolled out of sight."""
    is_plain = isinstance(widget, (*TEXTS, QComboBox)) and widget.isEnabled()
    is_whole = is_plain and widget.visibleRegion().boundingRect().size() == widget.size()
    return is_whole and bool(_text(widget).strip())


def _image_of(root):
    """A window's pixels, (H, W, 3), FINER times as fine as on the screen."""
    image = QImage(root.size() * FINER, QImage.Format.Format_RGB888)
    image.setDevicePixelRatio(FINER)
    root.render(image)
    return pixels_of(image)


def pixels_of(image):
    """A copy of an image's, (H, W, 3)."""
    image = image.convertToFormat(QImage.Format.Format_RGB888)
    rows = np.frombuffer(image.constBits(), np.uint8).reshape(image.height(), image.bytesPerLine())
    return rows[:, : 3 * image.width()].reshape(image.height(), image.width(), 3).copy()


# -- the keyboard


class Keyboard:
    """Goes through windows with Tab where there is something that it has not met before."""

    def __init__(self):
        self._known = set()  # how its focus looks
        self._met = set()

    def complaints(self, root):
        """What Tab does not come to, does not leave, or comes to without a sign."""
        here_to_use = set(usable(root))
        if here_to_use <= self._met:
            return []
        self._met |= here_to_use
        root.activateWindow()
        QTest.qWaitForWindowActive(root)
        here = self._begin(root)
        if here is None:
            return [f"{path_of(root)}: nothing takes the keyboard"]
        stops, found = [], []
        while len(stops) < MAX_STOPS and here not in stops:
            stops.append(here)
            with_focus = None if here in self._known else _grab(here)
            _leave(here)
            for _ in range(MAX_LINKS):
                if QApplication.focusWidget() is here:
                    _leave(here)
            left, here = here, QApplication.focusWidget()
            if with_focus is not None:
                self._known.add(left)
                if _changed(_grab(left), with_focus) < RING_PIXELS and here is not left:
                    found.append(f"{path_of(left)}: nothing shows that it has the keyboard")
        if here is not stops[0]:
            found.append(f"{path_of(here)}: Tab comes back here")
        return found + [
            f"{path_of(each)}: Tab does not come here"
            for each in usable(root)
            if each not in stops and not _is_mate(each, stops)
        ]

    def _begin(self, root):
        here = QApplication.focusWidget()
        if here is None or not _is_in(here, root):
            root.setFocus()
            root.focusNextPrevChild(True)
        else:
            _leave(here)  # a picture that was not reached by a key shows no ring
        here = QApplication.focusWidget()
        return here if here is not None and _is_in(here, root) else None


def _leave(widget):
    """By Tab; where that is the widget's own, by Ctrl+Tab."""
    own = getattr(widget, "tabKeyNavigation", bool)()
    if isinstance(widget, QPlainTextEdit) and not widget.isReadOnly():
        own = not widget.tabChangesFocus()
    modifiers = Qt.KeyboardModifier
    QTest.keyClick(widget, Qt.Key.Key_Tab, modifiers.ControlModifier if own else modifiers(0))


def _grab(widget):
    return pixels_of(widget.grab().toImage())


def _changed(without, with_focus):
    """How many pixels are quite another colour."""
    return int((contrast.ratio(without, with_focus) >= contrast.GRAPHICS).sum())


def _is_mate(widget, stops):
    """Whether the arrow keys lead here, from another button of its group."""
    group = widget.group() if isinstance(widget, QAbstractButton) else None
    return group is not None and any(each in stops for each in group.buttons())
