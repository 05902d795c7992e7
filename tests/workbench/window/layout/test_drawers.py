"""Panels leave the picture its room on any screen."""

import pytest
from PySide6.QtCore import QPoint, QPointF, QRect, QRectF
from PySide6.QtWidgets import QPushButton, QWidget

from kernels.pictures.generated import noise
from tests.workbench.driving import child, click, settle, show_picture, trigger, until, view
from workbench.panels.compare.picture_view import PictureView

NARROW = (1024, 640)


@pytest.fixture
def window(qtbot, make_window):
    window = make_window()
    window.resize(*NARROW)
    show_picture(qtbot, window, noise(200, 300))
    return window


def open_drawer(qtbot, window, title):
    """Opens a panel, which then lies over the picture; returns its box in the window."""
    window.docks.bring_forward(title)
    frame = window.docks[title]
    until(qtbot, lambda: box_of(window, window.compare).intersects(box_of(window, frame)))
    return box_of(window, frame)


def box_of(window, widget):
    return QRect(widget.mapTo(window, QPoint()), widget.size())


def place_of(window, x, y):
    """Where a point of the picture is, in the window."""
    pane = view(window, "After")
    left, top = pane.transform.to_view((x, y), pane.device_size)
    return pane.mapTo(window, QPointF(left, top).toPoint())


def is_seen(window, drawer, point):
    return box_of(window, window.compare).contains(point) and not drawer.contains(point)


def test_a_pixel_that_the_panel_would_cover_is_moved_out_of_it(qtbot, window):
    whole = view(window, "After").transform
    window.compare.pointed.emit((280.5, 100.5))
    trigger(window, "This pixel")
    frame = window.docks["Pixel"]
    until(qtbot, lambda: is_seen(window, box_of(window, frame), place_of(window, 280.5, 100.5)))
    assert view(window, "After").transform.scale == whole.scale


def test_a_message_and_its_buttons_are_beside_the_panel(qtbot, window):
    """Whichever of the two was there first."""
    sentence = "Measured on noise 4096²; your picture stays. " * 3
    done = []
    actions = [("&Open noise 4096²", lambda: done.append(1)), ("&Back to my picture", print)]
    window.messages.show_message("info", sentence, actions=actions, stays=True)
    drawer = open_drawer(qtbot, window, "Sweep")
    until(qtbot, lambda: not box_of(window, window.messages).intersects(drawer))
    button = child(window.messages, "act", QPushButton)
    middle = button.mapTo(window, button.rect().center())
    assert window.childAt(middle) is button
    click(button)
    assert done
    window.messages.clear()
    window.messages.show_message("warning", sentence)
    assert not box_of(window, window.messages).intersects(drawer)
    window.docks["Sweep"].hide()
    until(qtbot, lambda: box_of(window, window.messages).right() > drawer.left())


# At least so much of a window shows the picture, by its size.
ALONE = {(1280, 720): 0.5, (1440, 900): 0.6}
BESIDE = 0.45
BESIDE_SOURCE = 0.3  # what is looked at beside this panel is a kernel's text


@pytest.mark.parametrize("size", ALONE, ids=str)
def test_the_picture_has_most_of_the_window_and_nothing_is_out_of_reach(qtbot, make_window, size):
    window = make_window()
    window.resize(*size)
    settle(qtbot, window, lambda: window.intake.open_paths([]))
    assert share_of(qtbot, window) >= ALONE[size]
    for title in window.docks:
        window.docks.bring_forward(title)
        least = BESIDE_SOURCE if title == "Kernel" else BESIDE
        until(qtbot, lambda least=least: share_of(qtbot, window) >= least)
        out = [each for each in window.findChildren(QWidget) if is_out(window, each)]
        assert [each.objectName() or each.accessibleName() for each in out] == [], title
        window.docks.show(title, False)
    assert (window.width(), window.height()) == size  # nothing has pushed it wider


def share_of(qtbot, window):
    """The part of the window that shows the picture, and no panel over it."""
    qtbot.wait(1)  # it is laid out
    drawers = [box_of(window, panel) for panel in window.docks.values() if panel.isVisible()]
    seen = 0.0
    for pane in window.compare.findChildren(PictureView):
        if pane.isVisible():
            shown = shown_in(pane).translated(pane.mapTo(window, QPoint()).toPointF())
            seen += area(shown) - sum(area(shown & QRectF(each)) for each in drawers)
    return seen / (window.width() * window.height())


def shown_in(pane):
    """Where the picture is in its view, in device-independent pixels."""
    ratio = pane.devicePixelRatioF()
    corners = [pane.transform.to_view(at, pane.device_size) for at in ((0, 0), pane.display.size)]
    (left, top), (right, bottom) = corners
    whole = QRectF(QPointF(left, top) / ratio, QPointF(right, bottom) / ratio)
    return whole & QRectF(pane.rect())


def area(box):
    return max(box.width(), 0) * max(box.height(), 0)


def is_out(window, widget):
    """Whether a part that does not scroll lies beyond the window's edge."""
    if not widget.isVisible() or widget.window() is not window:
        return False
    parent = widget.parentWidget()
    while parent is not None:
        if parent.objectName() == "qt_scrollarea_viewport":
            return False
        parent = parent.parentWidget()
    return not window.rect().contains(box_of(window, widget))
