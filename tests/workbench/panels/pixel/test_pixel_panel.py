"""This pixel in the window: clicked or reached by keys, as a table, in numbers, on the picture."""

import numpy as np
import pytest
from PySide6.QtCore import QEvent, QPoint, QPointF, Qt
from PySide6.QtGui import QMouseEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QComboBox, QLabel, QPushButton, QSpinBox, QWidget

from kernels.core.job import Job
from kernels.oracle.explain import SOBEL_X, explain_pixel
from kernels.oracle.reference import filtered
from tests.workbench.driving import (
    child,
    move,
    pick,
    settle,
    show_picture,
    type_into,
    until,
    view,
    with_pixel,
)
from workbench.model.intents import job_for
from workbench.panels.compare.picture_layer import ViewTransform
from workbench.panels.pixel import pixel_words
from workbench.panels.pixel.neighbourhood_table import NeighbourTable
from workbench.panels.pixel.pixel_words import difference, short

PICTURE = np.random.default_rng(1).integers(0, 255, (40, 60, 3), np.uint8)


def found_at(y, x, border="clamp", picture=PICTURE, ksize=3, gradient=False):
    weights = np.full((ksize, ksize), 1 / ksize**2, np.float32)
    return explain_pixel(Job.of(picture, weights, border, gradient=gradient), y, x, 0)


def words(text):
    return text.split()  # at unbroken spaces as well


def test_differences_are_from_the_exact_value_and_from_its_rounding():
    found = found_at(20, 20)
    right = found.rounded
    assert words(difference(found, right))[1:] == ["vs", "exact,", "0", "vs", "rounded"]
    assert words(difference(found, np.uint8(right + 1)))[-3:] == ["+1", "vs", "rounded"]
    assert words(difference(found, np.uint8(right - 1)))[-3:] == ["−1", "vs", "rounded"]
    exact = found_at(20, 20, picture=np.ones((40, 60, 1), np.uint8), ksize=1)
    assert difference(exact, np.uint8(1)) == "0: exact"
    floats = found_at(20, 20, picture=PICTURE.astype(np.float32))
    assert words(difference(floats, np.float32(floats.value + 1))) == ["+1", "vs", "exact"]


# -- in a window


@pytest.fixture
def opened(qtbot, window):
    """A window of a computer without a GPU, with a picture and the panel open."""
    return with_pixel(qtbot, window, PICTURE.copy())


def text(window, name):
    return child(window, f"pixel-{name}", QLabel).text()


def number(window, name):
    """The same as a number: with a minus sign, on the screen, and no hyphen."""
    return float(text(window, name).replace("−", "-"))


def table(window):
    return child(window, "pixel-table", NeighbourTable)


def heading(table, row):
    """What stands beside a row."""
    return str(table.model().headerData(row, Qt.Orientation.Vertical))


def cells(window):
    model = table(window).model()
    return [
        [model.index(row, column).data() for column in range(model.columnCount())]
        for row in range(model.rowCount())
    ]


def at(window):
    return tuple(child(window, f"pixel-{axis}", QSpinBox).value() for axis in "xy")


def position_of(pane, x, y):
    ratio = pane.devicePixelRatioF()
    x, y = pane.transform.to_view((x + 0.5, y + 0.5), pane.device_size)
    return QPoint(round(x / ratio), round(y / ratio))


def test_p_explains_the_pixel_under_the_pointer(qtbot, window):
    show_picture(qtbot, window, PICTURE.copy())
    pane = view(window, "After")
    QTest.mouseMove(pane, position_of(pane, 11, 30))
    until(qtbot, lambda: child(window, "values", QLabel).text().startswith("x 11  y 30"))
    assert not window.docks["Pixel"].isVisible()
    QTest.keyClick(window.compare, Qt.Key.Key_P)
    until(qtbot, window.pixel.get().isVisible)
    assert at(window) == (11, 30)


@pytest.mark.parametrize(
    ("name", "ksize"),
    [("gaussian", 7), ("median", 5), ("edges", 5), ("bilateral", 7)],
)
def test_no_pixel_moves_anything_and_every_line_of_a_cell_is_seen(name, ksize, qtbot, opened):
    opened.resize(1280, 720)
    settle(qtbot, opened, lambda: opened.store.choose(filter=name, ksize=ksize))
    pane, numbers, places = opened.pixel.get(), table(opened), []
    count = numbers.model().rowCount()
    across, down = numbers.horizontalHeader(), numbers.verticalHeader()
    for pixel in 2 * ((30, 20), (0, 0), (59, 39)):  # once more, as much is laid out at first
        pane.hold(pixel)
        qtbot.wait(50)
        seen = [each for each in pane.findChildren(QWidget) if each.isVisibleTo(pane)]
        places.append({each: (each.mapTo(pane, QPoint()), each.size()) for each in seen})
        assert numbers.rowHeight(0) >= numbers.sizeHintForRow(0)
        beside = [line for row in range(count) for line in heading(numbers, row).split("\n")]
        assert down.width() > max(map(down.viewport().fontMetrics().horizontalAdvance, beside))
    assert places[3] == places[4] == places[5]
    for header in (across, down):
        assert header.viewport().font().pointSizeF() == numbers.font().pointSizeF()
    widths = [numbers.columnWidth(column) for column in range(count)]
    assert max(widths) - min(widths) <= 1


def point(pane, x, y):
    """Move the pointer over a pixel, as seen by the widget; not the screen's pointer."""
    at, none = QPointF(position_of(pane, x, y)), Qt.MouseButton.NoButton
    moved = QMouseEvent(
        QEvent.Type.MouseMove, at, pane.mapToGlobal(at), none, none, Qt.KeyboardModifier.NoModifier
    )
    QApplication.sendEvent(pane, moved)


def click_at(pane, x, y):
    QTest.mouseClick(pane, Qt.MouseButton.LeftButton, pos=position_of(pane, x, y))


def test_it_follows_the_pointer_until_a_click_holds_the_pixel(qtbot, opened):
    pane = view(opened, "After")
    assert "Point at a pixel" in text(opened, "hint")
    point(pane, 30, 12)
    until(qtbot, lambda: at(opened) == (30, 12))
    assert text(opened, "hint").startswith("Follows the pointer")
    click_at(pane, 30, 12)
    assert text(opened, "hint").startswith("Held")
    assert child(opened, "pixel-hold", QPushButton).isChecked()
    point(pane, 7, 8)
    qtbot.wait(80)
    assert at(opened) == (30, 12)
    click_at(pane, 9, 10)
    assert at(opened) == (9, 10)
    assert text(opened, "hint").startswith("Held")
    click_at(pane, 9, 10)
    assert text(opened, "hint").startswith("Follows the pointer")
    point(pane, 7, 8)
    until(qtbot, lambda: at(opened) == (7, 8))


def test_a_double_click_leaves_what_is_held_as_it_was(opened):
    pane, left = view(opened, "After"), Qt.MouseButton.LeftButton
    click_at(pane, 9, 10)
    spot = position_of(pane, 30, 12)
    click_at(pane, 30, 12)
    QTest.mouseDClick(pane, left, pos=spot)
    assert at(opened) == (9, 10)
    assert text(opened, "hint").startswith("Held")
    opened.pixel.get().set_held(False)
    spot = position_of(pane, 30, 12)
    click_at(pane, 30, 12)
    QTest.mouseDClick(pane, left, pos=spot)
    assert text(opened, "hint").startswith("Follows the pointer")


def test_esc_lets_go_of_the_pixel_wherever_the_keyboard_is(opened):
    opened.activateWindow()
    pane = view(opened, "After")
    for focus in (pane, table(opened), child(opened, "pixel-x", QSpinBox)):
        click_at(pane, 30, 12)
        assert opened.pixel.get().is_held
        focus.setFocus()
        opened.messages.show_message("info", "A sentence.")
        QTest.keyClick(focus, Qt.Key.Key_Escape)
        assert not opened.pixel.get().is_held
        assert opened.messages.sentence == "A sentence."  # the next one clears it
        QTest.keyClick(focus, Qt.Key.Key_Escape)
        assert opened.messages.sentence == ""


def test_numbers_are_the_oracles_and_the_implementations(opened):
    opened.pixel.get().show_pixel((0, 39))
    oracle = filtered(job_for(opened.store.state))[39, 0, 0]
    assert number(opened, "sum") == pytest.approx(oracle, rel=1e-11)
    result = opened.live.result
    assert text(opened, "value") == str(result.picture[39, 0, 0])
    assert text(opened, "rounded") == str(int(np.rint(oracle)))
    assert "exact" in words(text(opened, "difference"))[2]
    assert text(opened, "tolerance") == f"{result.check.bound:.3g} before rounding"


def test_the_table_holds_samples_weights_and_products(opened):
    opened.store.choose(filter="box", ksize=3)
    opened.pixel.get().show_pixel((10, 10))
    sample = int(PICTURE[9, 9, 0])
    assert cells(opened)[0][0] == f"{sample}\n× 0.1111\n= {short(sample * np.float32(1 / 9))}"
    for show, expected in (("samples", str(sample)), ("weights", "0.1111")):
        pick(child(opened, "pixel-show", QComboBox), show)
        assert cells(opened)[0][0] == expected
    model = table(opened).model()
    headers = [model.headerData(n, Qt.Orientation.Horizontal) for n in range(3)]
    assert headers == ["9", "10", "11"]


def test_beyond_the_edge_cells_are_striped_and_headed(qtbot, opened):
    opened.store.choose(filter="box", ksize=3, border="zero")
    opened.pixel.get().show_pixel((0, 0))
    model = table(opened).model()
    assert model.headerData(0, Qt.Orientation.Horizontal).split() == ["−1", "∅"]
    assert model.headerData(0, Qt.Orientation.Vertical) == "−1\n∅"
    brush = model.index(0, 0).data(Qt.ItemDataRole.BackgroundRole)
    assert brush.style() == Qt.BrushStyle.BDiagPattern
    inside = model.index(1, 1).data(Qt.ItemDataRole.BackgroundRole)
    assert inside.style() == Qt.BrushStyle.SolidPattern
    opened.store.choose(border="wrap")
    until(qtbot, lambda: model.headerData(0, Qt.Orientation.Vertical) == "−1\n↪ 39")


def test_arrow_keys_move_the_pixel_and_stop_at_the_edge(opened):
    opened.pixel.get().show_pixel((1, 1))
    for key, there in (
        (Qt.Key.Key_Left, (0, 1)),
        (Qt.Key.Key_Left, (0, 1)),
        (Qt.Key.Key_Up, (0, 0)),
        (Qt.Key.Key_Down, (0, 1)),
        (Qt.Key.Key_Right, (1, 1)),
    ):
        QTest.keyClick(table(opened), key)
        assert at(opened) == there
    QTest.keyClick(table(opened), Qt.Key.Key_Down, Qt.KeyboardModifier.ShiftModifier)
    assert at(opened) == (1, 11)


def test_a_pixel_can_be_typed_and_a_channel_chosen(opened):
    type_into(child(opened, "pixel-x", QSpinBox), "33")
    assert at(opened)[0] == 33
    channels = child(opened, "pixel-channel", QComboBox)
    assert [channels.itemText(n) for n in range(3)] == ["red", "green", "blue"]
    channels.setCurrentIndex(2)
    channels.activated.emit(2)
    assert opened.pixel.get().found.channel == 2


def test_a_gradient_shows_both_derivatives_and_their_magnitude(qtbot, opened):
    """And not the weights of the identity, which come before."""
    assert not child(opened, "pixel-gx", QLabel).isVisible()
    settle(qtbot, opened, lambda: opened.store.choose(filter="gradient", ksize=3))
    opened.pixel.get().show_pixel((20, 20))
    gx, gy, length = (number(opened, name) for name in ("gx", "gy", "length"))
    assert length == pytest.approx(np.hypot(gx, gy))
    assert text(opened, "rounded") == text(opened, "value")
    around = PICTURE[19:22, 19:22, 0].astype(int)
    for name, weights in (("pixel-table", SOBEL_X), ("pixel-table-y", SOBEL_X.T)):
        shown = child(opened, name, NeighbourTable)
        assert shown.isVisible()
        model = shown.model()
        for row, column in np.ndindex(3, 3):
            sample, weight = around[row, column], int(weights[row, column])
            product = f"{sample} × {weight}\n= {sample * weight}".replace("-", "−")
            assert model.index(row, column).data() == product
    assert text(opened, "heading-x") == f"gx = right − left = {short(gx)}"
    assert text(opened, "heading-y") == f"gy = below − above = {short(gy)}"
    settle(qtbot, opened, lambda: opened.store.choose(filter="box", ksize=3))
    assert "×" in cells(opened)[1][1]  # there is no gradient any more
    for hidden in ("pixel-gx", "pixel-heading-x", "pixel-heading-y", "pixel-table-y"):
        assert not child(opened, hidden).isVisible()


def test_every_border_paints_at_every_zoom(opened):
    for border, scale in (("zero", 1.0), ("clamp", 8.0), ("mirror", 20.0), ("wrap", 20.0)):
        opened.store.choose(border=border)
        move(opened.compare, ViewTransform(scale, (0.0, 0.0)))
        opened.pixel.get().show_pixel((0, 1))
        assert not view(opened, "After").grab().isNull()


def test_what_is_not_a_number_is_said_to_be_none():
    picture = np.zeros((40, 60, 1), np.float32)
    picture[20, 20], picture[5, 5] = np.nan, np.inf
    found = found_at(20, 20, picture=picture)
    assert difference(found, np.float32(np.nan)) == "none: both are NaN"
    assert "1, where nan is exact" in difference(found, np.float32(1))
    infinite = found_at(5, 5, picture=picture)
    assert difference(infinite, np.float32(np.inf)) == "0: exact"
    assert "inf is exact" in difference(infinite, np.float32(1))


def test_what_an_integer_type_cannot_hold_is_cut_off():
    bright = np.full((40, 60, 1), 200, np.uint8)
    double = Job.of(bright, np.full((1, 1), 2, np.float32), "clamp")
    assert pixel_words.is_cut_off(explain_pixel(double, 5, 5, 0))
    half = Job.of(bright, np.full((1, 1), 0.5025, np.float32), "clamp")
    assert not pixel_words.is_cut_off(explain_pixel(half, 5, 5, 0))  # only rounded
    floats = Job.of(bright.astype(np.float32), np.full((1, 1), 2, np.float32), "clamp")
    assert not pixel_words.is_cut_off(explain_pixel(floats, 5, 5, 0))


def test_an_offset_stands_beside_the_sum(qtbot, opened):
    settle(qtbot, opened, lambda: opened.store.choose(filter="custom", ksize=3))
    opened.pixel.get().show_pixel((20, 20))
    opened.store.choose(offset=0.25)
    assert text(opened, "offset") == ""
    opened.pixel.get().show_pixel((20, 20))
    assert text(opened, "value") == "no result yet"  # that was without
    total, offset, together = (number(opened, name) for name in ("sum", "offset", "together"))
    assert offset == 0.25 * 255
    assert together == pytest.approx(total + offset)
