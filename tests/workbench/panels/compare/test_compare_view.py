"""Before and after: linked, exact to the pixel, with the values that are in the data."""

import os
import subprocess
import sys

import numpy as np
import pytest
from PySide6.QtCore import QPoint, QPointF, QRect, Qt
from PySide6.QtGui import QImage, QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel, QVBoxLayout, QWidget

from kernels.pictures.generated import noise
from tests.workbench.driving import move, pane_of, part_values
from workbench.base import theme
from workbench.imaging.display import to_display
from workbench.imaging.pictures import Picture
from workbench.model.state import State
from workbench.panels.compare import picture_layer
from workbench.panels.compare.compare_view import CompareView
from workbench.panels.compare.picture_layer import ViewTransform
from workbench.session.store import Store

HEIGHT, WIDTH = 60, 90


def open_picture(view, samples, name="noise.png"):
    view.show_before(Picture(name, samples), to_display(samples))


def show_result(view, samples, caption="Gaussian 5×5 · shared"):
    view.show_after(samples, to_display(samples), caption)


@pytest.fixture
def host(qapp, qtbot):
    """A window around the canvas, with its bars above and below."""
    theme.apply(qapp, "light")
    host = QWidget()
    qtbot.addWidget(host)
    return host


@pytest.fixture
def view(host, qtbot):
    view = CompareView(Store())
    column = QVBoxLayout(host)
    column.setContentsMargins(0, 0, 0, 0)
    column.addWidget(view.bar)
    column.addWidget(view, 1)
    column.addWidget(view.read_out_row)
    view.show_state(State(view_mode="side"))
    resize(view, 900, 520)
    host.show()
    qtbot.waitExposed(host)
    return view


def resize(view, width, height):
    """Give the canvas this size, and the bars around it what they need."""
    bars = view.bar.sizeHint().height() + view.read_out_row.sizeHint().height()
    view.window().resize(width, height + bars + 2 * view.window().layout().spacing())
    QApplication.processEvents()


@pytest.fixture
def loaded(view):
    """A view with a picture and its negative as the result."""
    samples = noise(HEIGHT, WIDTH, 3)
    open_picture(view, samples)
    show_result(view, 255 - samples)
    return view


def panes(view):
    return pane_of(view, "Before"), pane_of(view, "After")


def text(view, name):
    return view.window().findChild(QLabel, name).text()


def values(view):
    """What is read of the pixel under the pointer: of each part its channels and numbers."""
    return part_values(text(view, "values"))


def painted(pane):
    """(H, W, 3) of what is on screen."""
    image = pane.grab().toImage().convertToFormat(pane.grab().toImage().Format.Format_RGB888)
    rows = np.frombuffer(image.constBits(), np.uint8).reshape(image.height(), image.bytesPerLine())
    return rows[:, : 3 * image.width()].reshape(image.height(), image.width(), 3).copy()


def position_of(pane, x, y):
    """Where the middle of the picture's pixel (x, y) is in `pane`."""
    at = pane.transform.to_view((x + 0.5, y + 0.5), pane.device_size)
    return QPoint(int(at[0]), int(at[1]))


def point_at(pane, position):
    """Move the pointer there; to where it is already, perhaps in a window that is gone, it would
    not move at all."""
    QTest.mouseMove(pane, position + QPoint(1, 1))
    QTest.mouseMove(pane, position)


def wheel(pane, position, notches):
    event = QWheelEvent(
        QPointF(position),
        pane.mapToGlobal(QPointF(position)),
        QPoint(),
        QPoint(0, 120 * notches),
        Qt.MouseButton.NoButton,
        Qt.KeyboardModifier.NoModifier,
        Qt.ScrollPhase.NoScrollPhase,
        False,
    )
    pane.wheelEvent(event)


@pytest.mark.parametrize("scale", [1, 2, 3, 5, 17])
@pytest.mark.parametrize("centre", [(45.0, 30.0), (20.25, 33.7)])
def test_at_whole_scales_every_device_pixel_is_exactly_its_picture_pixel(loaded, scale, centre):
    move(loaded, ViewTransform(scale, centre))
    pane = pane_of(loaded, "Before")
    seen, samples = painted(pane), noise(HEIGHT, WIDTH, 3)
    ys, xs = np.mgrid[100 : seen.shape[0] - 60 : 7, 20 : seen.shape[1] - 20 : 5]
    for y, x in zip(ys.ravel(), xs.ravel(), strict=True):
        pixel = pane.pixel_at(QPointF(x + 0.5, y + 0.5))
        if pixel is not None:
            assert tuple(seen[y, x]) == tuple(samples[pixel[1], pixel[0]])


def test_above_100_percent_no_colour_appears_that_is_not_in_the_picture(view):
    board = np.zeros((40, 40, 1), np.uint8)
    board[::2, ::2] = board[1::2, 1::2] = 255
    open_picture(view, board)
    move(view, ViewTransform(11.3, (20.0, 20.0)))
    assert np.unique(painted(pane_of(view, "Before"))[100:300, 50:350]).tolist() == [0, 255]


FRACTIONAL = """
import numpy as np
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QApplication, QWidget
from workbench.imaging.display import to_display
from workbench.panels.compare.picture_layer import Shown
from workbench.panels.compare.picture_view import PictureView
from workbench.panels.compare.picture_layer import ViewTransform

app = QApplication([])
window = QWidget()
window.resize(640, 303)
board = np.zeros((800, 800, 1), np.uint8)
board[::2, ::2] = board[1::2, 1::2] = 255
noise = np.random.default_rng(0).integers(0, 256, (800, 800, 1), np.uint8)
panes = [PictureView(name, "", window) for name in "ab"]
corners = [(13, 7), (327, 10)]
for pane, corner in zip(panes, corners):
    pane.setGeometry(*corner, 300, 280)
window.show()

def seen(samples, scale):
    for pane in panes:
        pane.show_picture(Shown(to_display(samples)))
        pane.show_transform(ViewTransform(scale, (400.0, 400.0)))
    app.processEvents()
    image = window.grab().toImage().convertToFormat(QImage.Format.Format_Grayscale8)
    rows = np.frombuffer(image.constBits(), np.uint8).reshape(image.height(), image.bytesPerLine())
    ratio = window.devicePixelRatioF()
    starts = [(round(x * ratio) + 30, round(y * ratio) + 30) for x, y in corners]
    return [rows[y : y + 180, x : x + 200].astype(int) for x, y in starts]

for part in seen(board, 1.0):
    assert np.unique(part).tolist() == [0, 255], np.unique(part)
    assert (abs(np.diff(part, axis=1)) == 255).all() and (abs(np.diff(part, axis=0)) == 255).all()
for scale in (0.4, 0.76, 1.3, 2.7):
    one, other = seen(noise, scale)
    assert abs(one - other).max() <= 1, f"the panes differ at {scale}"  # a blend may round
print("exact at", window.devicePixelRatioF())
"""


@pytest.mark.parametrize("factor", ["1.25", "2"])
def test_100_percent_is_exact_and_panes_are_alike_under_any_display_scaling(factor):
    environment = {**os.environ, "QT_SCALE_FACTOR": factor, "QT_QPA_PLATFORM": "offscreen"}
    said = subprocess.run(
        [sys.executable, "-c", FRACTIONAL], env=environment, capture_output=True, text=True
    )
    assert said.stdout.strip() == f"exact at {float(factor)}", said.stderr


def test_zoom_and_pan_are_linked(loaded):
    before, after = panes(loaded)
    assert before.transform == after.transform
    fitted = before.transform
    wheel(after, QPoint(100, 100), 3)
    assert before.transform == after.transform
    assert before.transform.scale == pytest.approx(2 * fitted.scale)
    QTest.mousePress(before, Qt.MouseButton.LeftButton, pos=QPoint(100, 100))
    point_at(before, QPoint(130, 90))
    QTest.mouseRelease(before, Qt.MouseButton.LeftButton, pos=QPoint(130, 90))
    moved = before.transform
    assert moved.centre != fitted.centre
    assert after.transform == moved


def test_the_keyboard_zooms_pans_and_fits(loaded):
    pane = pane_of(loaded, "Before")
    pane.setFocus()
    fitted = pane.transform
    QTest.keyClick(pane, Qt.Key.Key_1)
    assert pane.transform.scale == 1.0
    assert text(loaded, "zoom") == "100 %"
    QTest.keyClick(pane, Qt.Key.Key_Plus)
    QTest.keyClick(pane, Qt.Key.Key_Plus)
    assert pane.transform.scale == pytest.approx(2.0)
    QTest.keyClick(pane, Qt.Key.Key_Minus)
    x, y = pane.transform.centre
    QTest.keyClick(pane, Qt.Key.Key_Right)
    QTest.keyClick(pane, Qt.Key.Key_Down)
    assert pane.transform.centre[0] > x
    assert pane.transform.centre[1] > y
    QTest.keyClick(pane, Qt.Key.Key_0)
    assert pane.transform == fitted


@pytest.mark.parametrize(
    ("dtype", "before", "after", "difference"),
    [
        (np.uint8, 200, 7, "-193"),
        (np.uint16, 3, 65535, "+65532"),
        (np.float32, 0.25, -1.5, "-1.75"),
        (np.uint8, 9, 9, "0"),
    ],
)
def test_the_values_under_the_pointer_are_those_in_the_data(view, dtype, before, after, difference):
    resize(view, 2200, 520)  # with room for all values
    samples = np.zeros((HEIGHT, WIDTH, 3), dtype)
    samples[20, 50] = (1, before, 0)
    result = np.zeros_like(samples)
    result[20, 50] = (1, after, 0)
    open_picture(view, samples)
    show_result(view, result)
    pane = pane_of(view, "Before")
    point_at(pane, position_of(pane, 50, 20))
    assert text(view, "values").startswith("x 50  y 20")
    assert values(view) == {
        "before": ["R", "1", "G", f"{before}", "B", "0"],
        "after": ["R", "1", "G", f"{after}", "B", "0"],
        "difference": ["R", "0", "G", difference, "B", "0"],
    }


def test_values_follow_a_new_result_and_go_when_the_pointer_leaves(loaded):
    pane = pane_of(loaded, "Before")
    point_at(pane, position_of(pane, 10, 10))
    show_result(loaded, np.full((HEIGHT, WIDTH, 3), 42, np.uint8))
    assert values(loaded)["after"] == ["R", "42", "G", "42", "B", "42"]
    pane.hovered.emit(None)
    assert text(loaded, "values") == ""


@pytest.fixture
def wiped(view):
    """Black before, white after, in wipe mode."""
    black = np.zeros((200, 300, 1), np.uint8)
    open_picture(view, black)
    show_result(view, 255 - black)
    view.show_state(State(view_mode="wipe"))
    return view


def upper_row(view):
    """The greys along a line above the divider's handle."""
    pane = pane_of(view, "Before and after")
    return painted(pane)[pane.height() // 4, :, 0]


def share_of_black(view):
    row = upper_row(view)
    return np.count_nonzero(row < 60) / np.count_nonzero((row < 60) | (row > 200))


def test_wipe_shows_before_left_and_after_right_of_the_divider(wiped):
    assert share_of_black(wiped) == pytest.approx(0.5, abs=0.03)
    row = upper_row(wiped)
    assert row[200] == 0
    assert row[-200] == 255


def test_the_divider_moves_by_mouse_on_its_handle_and_on_its_line(wiped):
    pane, divider = pane_of(wiped, "Before and after"), pane_of(wiped, "Before and after").divider
    QTest.mousePress(divider, Qt.MouseButton.LeftButton, pos=divider.rect().center())
    QTest.mouseMove(divider, divider.mapFrom(pane, QPoint(pane.width() * 3 // 4, 200)))
    QTest.mouseRelease(divider, Qt.MouseButton.LeftButton)
    assert divider.value() == pytest.approx(750, abs=5)
    before = pane.transform
    QTest.mousePress(pane, Qt.MouseButton.LeftButton, pos=QPoint(pane.width() * 3 // 4, 100))
    QTest.mouseMove(pane, QPoint(pane.width() // 4, 100))
    QTest.mouseRelease(pane, Qt.MouseButton.LeftButton)
    assert divider.value() == pytest.approx(250, abs=5)
    assert pane.transform == before


@pytest.mark.parametrize("mode", ["result", "side", "wipe"])
def test_holding_space_shows_the_original_where_the_result_was(loaded, mode, qtbot):
    loaded.show_state(State(view_mode=mode))
    pane = pane_of(loaded, "Before and after") if mode == "wipe" else pane_of(loaded, "After")
    pane.setFocus()
    QTest.keyPress(pane, Qt.Key.Key_Space)
    assert pane.caption == "Original"
    assert pane.display is pane_of(loaded, "Before").display
    QTest.keyRelease(pane, Qt.Key.Key_Space)
    qtbot.waitUntil(lambda: pane.caption == "After · Gaussian 5×5 · shared")


SIZE = (HEIGHT, WIDTH, 3)
OTHERS = (noise(*SIZE), noise(31, 33, 3), noise(*SIZE, "uint16"))


@pytest.mark.parametrize("samples", OTHERS)
def test_another_picture_is_never_seen_beside_the_result_of_the_one_before(loaded, samples, qtbot):
    late, before, after = 255 - noise(*SIZE), pane_of(loaded, "Before"), pane_of(loaded, "After")
    shown = before.display, after.display
    open_picture(loaded, samples)
    assert (before.display, after.display) == shown, "until there are both"
    qtbot.waitUntil(lambda: after.display is None)  # or it takes too long
    assert before.display is not shown[0]
    if samples.shape == late.shape and samples.dtype == late.dtype:
        return
    show_result(loaded, late)
    assert pane_of(loaded, "After").display is None, "a late answer for the earlier picture"
    show_result(loaded, samples.copy())
    assert pane_of(loaded, "After").display is not None


def test_a_picture_that_the_same_zoom_would_show_smaller_than_it_fits_is_fitted(loaded, qtbot):
    move(loaded, ViewTransform(6.0, (40.0, 30.0)))
    with qtbot.waitSignal(loaded.changed):
        open_picture(loaded, noise(20, 30, 3))
    pane = pane_of(loaded, "Before")
    width, height = pane.device_size
    assert pane.transform.scale == pytest.approx(min(width / 30, height / 20))


@pytest.mark.parametrize("size", [(HEIGHT, WIDTH), (5, 4), (700, 900)])
def test_the_exported_comparison_holds_every_pixel_of_both(view, size):
    samples = noise(*size, 3)
    open_picture(view, samples)
    show_result(view, 255 - samples)
    image = view.comparison()()
    pixels = np.frombuffer(image.constBits(), np.uint8).reshape(image.height(), -1, 4)[..., 2::-1]
    for wanted in (samples, 255 - samples):
        assert contains(pixels, wanted)


def test_the_exported_comparison_is_of_what_is_in_view_and_as_large(view):
    samples = noise(200, 300, 3)
    open_picture(view, samples)
    show_result(view, 255 - samples)
    move(view, ViewTransform(4.0, (150.0, 100.0)))
    top, bottom, left, right = view.in_view
    assert (right - left) * (bottom - top) < 200 * 300
    image = view.comparison()()
    pixels = np.frombuffer(image.constBits(), np.uint8).reshape(image.height(), -1, 4)[..., 2::-1]
    part = samples[top:bottom, left:right].repeat(4, axis=0).repeat(4, axis=1)
    for wanted in (part, 255 - part):
        assert contains(pixels, wanted)


def contains(big, small):
    height, width = small.shape[:2]
    corners = np.argwhere((big[:, :] == small[0, 0]).all(axis=2))
    return any(np.array_equal(big[y : y + height, x : x + width], small) for y, x in corners)


@pytest.mark.parametrize("mode", ["difference", "wipe"])
@pytest.mark.parametrize("scale", [0.37, 1.0, 3.3, 44.0])
def test_what_lies_over_it_changes_no_pixel_and_leaves_rectangles_to_draw(
    view, monkeypatch, scale, mode
):
    """Qt takes longer for the same pixels where it may not paint a rectangle."""
    open_picture(view, noise(700, 900, 3))
    show_result(view, noise(700, 900, 3, seed=1))
    view.show_worked_out(to_display(noise(700, 900, 3, seed=2)), "Difference", ())
    view.show_state(State(view_mode=mode))
    QTest.qWait(0)  # which lays it out
    move(view, ViewTransform(scale, (450.0, 350.0)))
    pane = pane_of(view, "Comparison" if mode == "difference" else "Before and after")
    counts = []
    monkeypatch.setattr(picture_layer, "draw", counting_parts(picture_layer.draw, counts))
    whole = shot(pane)
    over = QWidget(view)
    over.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)
    over.setGeometry(300, 200, 40, 30)
    over.show()
    counts.clear()
    seen = shot(pane)
    assert min(counts) > 1
    around = np.ones(seen.shape[:2], bool)
    around[200:230, 300:340] = False
    # Averaging, Qt rounds a few samples the other way wherever it begins anew.
    assert np.abs(seen[around].astype(int) - whole[around]).max() <= (1 if scale < 1 else 0)


def counting_parts(draw, counts):
    """`draw`, which adds to `counts` how many rectangles it is to draw."""

    def count(*how):
        counts.append(len(how[-1]))
        draw(*how)

    return count


def shot(pane):
    """What its window shows of a pane, (H, W, 4)."""
    window = pane.window()
    image = window.grab(QRect(pane.mapTo(window, QPoint()), pane.size())).toImage()
    image = image.convertToFormat(QImage.Format.Format_RGB32)
    rows = np.frombuffer(image.constBits(), np.uint8)
    return rows.reshape(image.height(), image.width(), 4).copy()


@pytest.mark.parametrize("why", ["MouseFocusReason", "TabFocusReason"])
def test_a_view_that_takes_the_place_of_another_has_a_ring_only_if_that_had_one(loaded, why):
    pane_of(loaded, "Before").setFocus(Qt.FocusReason[why])
    loaded.show_state(State(view_mode="difference"))
    assert loaded.window().focusWidget() is loaded.main
    assert loaded.main.is_reached_by_key == (why == "TabFocusReason")
