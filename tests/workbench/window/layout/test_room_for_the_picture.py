"""Panels leave the picture its room on any screen."""

import pytest
from PySide6.QtCore import QPoint, QPointF, QRect, QRectF
from PySide6.QtWidgets import QWidget

from tests.workbench import accessibility
from tests.workbench.driving import child, settle, until
from tests.workbench.scenes import rest
from workbench.panels.compare.picture_view import PictureView


def box_of(window, widget):
    return QRect(widget.mapTo(window, QPoint()), widget.size())


# At least so much of a window shows the picture, by its size.
ALONE = {(1280, 720): 0.5, (1440, 900): 0.6}
BESIDE = 0.45
BESIDE_SOURCE = 0.3  # what is looked at beside this panel is a kernel's text


@pytest.mark.parametrize(
    "size", [(1280, 720), pytest.param((1440, 900), marks=pytest.mark.nightly)], ids=str
)
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
        window.docks.set_open(title, False)
    assert (window.width(), window.height()) == size  # nothing has pushed it wider


def test_settings_stay_open_while_panels_at_the_other_side_take_turns(qtbot, make_window):
    window = make_window()
    window.resize(1920, 1080)
    settle(qtbot, window, lambda: window.intake.open_paths([]))
    window.docks.toggle("Settings")
    for title in ("Analysis", "Pixel", "Timing"):
        window.docks.toggle(title)
        assert window.docks.places()["open"] == ["Settings", title]


SMALL = pytest.param((1024, 640), marks=pytest.mark.nightly), (960, 540)


@pytest.mark.parametrize("size", SMALL, ids=str)
def test_on_a_small_screen_nothing_is_cut_and_no_panel_makes_the_window_larger(
    qtbot, make_window, size
):
    window = make_window()
    window.resize(*size)
    settle(qtbot, window, lambda: window.intake.open_paths([]))
    settle(qtbot, window, lambda: window.store.choose(ksize=7))
    for title in window.docks:
        window.docks.bring_forward(title)
        rest()
        assert (window.width(), window.height()) == size, title
        assert accessibility.clipped(window) == [], title
        if title == "Weights":
            grid = child(window, "weights-grid")
            assert not grid.horizontalScrollBar().maximum() + grid.verticalScrollBar().maximum()
        window.docks.set_open(title, False)
    window.presenter.toggle()
    show = window.presenter.show
    for number in range(len(show.steps)):
        settle(qtbot, window, lambda number=number: show.go_to(number))
        window.showNormal()
        window.resize(*size)
        rest()
        assert accessibility.clipped(window) == [], number


def share_of(qtbot, window):
    """The part of the window that shows the picture, all in all."""
    qtbot.wait(1)  # it is laid out
    seen = 0.0
    for pane in window.compare.findChildren(PictureView):
        if pane.isVisible():
            shown = shown_in(pane).translated(pane.mapTo(window, QPoint()).toPointF())
            seen += max(shown.width(), 0) * max(shown.height(), 0)
    return seen / (window.width() * window.height())


def shown_in(pane):
    """Where the picture is in its view, in device-independent pixels."""
    ratio = pane.devicePixelRatioF()
    corners = [pane.transform.to_view(at, pane.device_size) for at in ((0, 0), pane.display.size)]
    (left, top), (right, bottom) = corners
    whole = QRectF(QPointF(left, top) / ratio, QPointF(right, bottom) / ratio)
    return whole & QRectF(pane.rect())


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
