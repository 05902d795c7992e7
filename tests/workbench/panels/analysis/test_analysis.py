"""The Analysis panel in the real window."""

import math

import numpy as np
import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QCheckBox, QComboBox, QLabel

from kernels.pictures.generated import noise
from tests.workbench.driving import child, settle, show_picture, trigger, until, view
from workbench.base import theme
from workbench.base.numbers import MISSING, in_digits
from workbench.imaging.analyses import along, comparing, in_words
from workbench.panels.analysis.curves import (
    MAX_POINTS,
    Curve,
    CurvesChart,
    ceiling_of,
    color_of,
    thinned,
)
from workbench.widgets.tile import ValueTile

SOLID = Qt.PenStyle.SolidLine


@pytest.fixture
def loaded(qtbot, window):
    until(qtbot, lambda: window.device)
    window.store.update(implementation="opencv")
    show_picture(qtbot, window, noise(60, 90, 3))
    trigger(window, "Analysis")
    until(qtbot, lambda: "before" in table(window) and tile(window, "ssim").text[0] in "01")
    return window


def tile(window, name):
    return child(window, name, ValueTile)


def table(window):
    return child(window, "histogram-numbers", QLabel).text()


def pair(window):
    return window.store.state.picture.samples, window.live.result.picture


def chart(window, name):
    charts = window.analysis.get().findChildren(CurvesChart)
    found = next(each for each in charts if each.accessibleName() == name)
    found.make_plot()
    return found


def drawn(chart):
    """The curves as they are drawn: what their colours and lines say, and their values."""
    channels = {color_of(name, theme.colors(chart.palette())).rgb(): name for name in "RGB"}
    for item in chart.plot.listDataItems():
        pen = item.opts["pen"]
        yield Curve(channels[pen.color().rgb()], pen.style() is SOLID, *item.getData())


def profile(window):
    return list(drawn(chart(window, "Line profile")))


def histogram(window):
    return list(drawn(chart(window, "Histogram")))


def test_the_numbers_are_those_of_the_two_pictures(loaded):
    *_, wanted = comparing(*pair(loaded), 255.0)
    assert tile(loaded, "ssim").text == f"{wanted.ssim:.4f}"
    assert tile(loaded, "psnr").text == f"{wanted.psnr_db:.2f} dB"
    assert tile(loaded, "largest").text == in_digits(wanted.largest)
    before, after = pair(loaded)
    for channel, name in enumerate("RGB"):
        for title, samples in (("before", before), ("after", after)):
            row = next(row for row in table(loaded).split("<tr>") if f"{name}&nbsp;{title}" in row)
            for value in (samples[..., channel].min(), samples[..., channel].max()):
                assert f">{value}<" in row


def test_the_histogram_is_of_before_and_after_and_of_one_channel_if_asked(loaded):
    assert [(c.channel, c.is_after) for c in histogram(loaded)] == [
        (name, is_after) for is_after in (False, True) for name in "RGB"
    ]
    combo = child(loaded, "histogram-channel", QComboBox)
    combo.setCurrentIndex(2)
    combo.activated.emit(2)
    before, after = histogram(loaded)
    assert np.array_equal(after.ys, np.bincount(pair(loaded)[1][..., 1].ravel(), minlength=256))
    assert (before.channel, after.channel) == ("G", "G")
    assert "G before from" in chart(loaded, "Histogram").accessibleDescription()


def spiked(height=60, width=90):
    """A picture of noise of which a quarter is black, as after a filter that clips."""
    samples = noise(height, width, 3)
    samples[: height // 4] = 0
    return samples


def test_the_scale_of_a_histogram_does_not_go_by_one_spike(qtbot, loaded):
    settle(qtbot, loaded, lambda: loaded.store.update(filter="identity", ksize=3))
    show_picture(qtbot, loaded, spiked())
    until(qtbot, lambda: "R&nbsp;before" in table(loaded))
    shown = chart(loaded, "Histogram")
    tallest = max(curve.ys.max() for curve in histogram(loaded))
    usual = max(np.sort(curve.ys)[-2] for curve in histogram(loaded))
    assert tallest > 10 * usual
    labels = [each.text() for each in shown.findChildren(QLabel)]
    assert not any("appears with the result" in each for each in labels)  # though it is not drawn
    _, top = shown.plot.viewRange()[1]
    assert usual < top < 2 * usual
    said = child(loaded, "histogram-cut", QLabel)
    assert "6 columns" in said.whole_text
    assert f"{tallest:,.0f}" in said.whole_text
    qtbot.wait(300)  # until what came with the picture has its place
    place = shown.geometry()
    child(loaded, "histogram-log", QCheckBox).click()
    assert said.text() == ""
    qtbot.wait(50)  # as long as a layout takes
    assert said.isVisible()
    assert shown.geometry() == place
    assert shown.plot.viewRange()[1][1] >= math.log10(tallest)


@pytest.mark.parametrize(
    ("counts", "ceiling"),
    [
        (np.zeros(256), math.inf),
        (np.full(256, 7.0), math.inf),
        (np.r_[np.full(255, 10.0), 5000], 11),
        (np.r_[np.full(255, 10.0), 14], math.inf),
        (np.r_[np.zeros(255), 5000], math.inf),  # one value alone
    ],
)
def test_columns_that_tower_are_cut_off(counts, ceiling):
    assert ceiling_of([Curve("grey", True, np.arange(257.0), counts)]) == pytest.approx(ceiling)


def test_the_profile_is_of_the_row_under_the_pointer_or_the_column(qtbot, loaded):
    pane = view(loaded, "After")
    middle = pane.rect().center()
    QTest.mouseMove(pane, middle + QPoint(3, 3))
    x, y = pane.pixel_at((middle + QPoint(3, 3)).toPointF())
    until(qtbot, lambda: f"Row {y}," in child(loaded, "profile-line", QLabel).text())
    after = next(c for c in profile(loaded) if c.is_after and c.channel == "G")
    assert np.array_equal(after.ys, pair(loaded)[1][y, :, 1])
    combo = child(loaded, "line-kind", QComboBox)
    combo.setCurrentIndex(combo.findData("column"))
    combo.activated.emit(1)
    until(qtbot, lambda: f"Column {x}," in child(loaded, "profile-line", QLabel).text())
    before = next(c for c in profile(loaded) if not c.is_after and c.channel == "B")
    assert np.array_equal(before.ys, pair(loaded)[0][:, x, 2])


def test_shift_and_a_drag_draw_a_line_and_the_picture_stays_where_it_is(qtbot, loaded):
    pane = view(loaded, "After")
    transform = pane.transform
    shift, left = Qt.KeyboardModifier.ShiftModifier, Qt.MouseButton.LeftButton
    start, end = pane.rect().center() - QPoint(40, 20), pane.rect().center() + QPoint(30, 25)
    QTest.mousePress(pane, left, shift, start)
    QTest.mouseMove(pane, end)
    QTest.mouseRelease(pane, left, shift, end)
    assert pane.transform == transform
    line = (pane.pixel_at(start.toPointF()), pane.pixel_at(end.toPointF()))
    assert child(loaded, "line-kind", QComboBox).currentData() == "line"
    said = f"{in_words(line).capitalize()};"
    until(qtbot, lambda: child(loaded, "profile-line", QLabel).text().startswith(said))
    assert "pixels long" in said
    after = next(c for c in profile(loaded) if c.is_after and c.channel == "R")
    assert np.array_equal(after.ys, along(pair(loaded)[1], line)[:, 0])


def test_after_may_be_compared_with_a_pinned_result(qtbot, loaded):
    trigger(loaded, "Pin this result")
    settle(qtbot, loaded, lambda: loaded.store.update(ksize=9))
    combo = child(loaded, "analysis-against", QComboBox)
    assert "Pinned 1" in combo.itemText(1)
    combo.setCurrentIndex(1)
    combo.activated.emit(1)
    *_, wanted = comparing(loaded.inspection.pins[0].samples, pair(loaded)[1], 255.0)
    until(qtbot, lambda: tile(loaded, "psnr").text == f"{wanted.psnr_db:.2f} dB")
    until(qtbot, lambda: "R&nbsp;pinned&nbsp;1" in table(loaded))


def test_a_long_curve_keeps_its_peaks():
    ys = np.zeros(50_001)
    ys[12_345], ys[50_000] = 9.0, -4.0
    xs, some = thinned(Curve("grey", True, np.arange(50_001.0), ys))
    assert some.size <= MAX_POINTS + 50
    assert (some.max(), some.min()) == (9.0, -4.0)
    assert xs[some.argmax()] == 12_345
    assert (np.diff(xs) >= 0).all()


# -- numbers in a table


def test_a_picture_smaller_than_a_window_says_why_it_has_no_ssim(qtbot, loaded):
    show_picture(qtbot, loaded, noise(5, 60, 3))
    until(
        qtbot, lambda: tile(loaded, "ssim").text == MISSING and tile(loaded, "psnr").text != MISSING
    )
    assert "smaller than SSIM's window" in child(loaded, "similarity-note", QLabel).text()
    assert "Full intensity: 255" in child(loaded, "similarity-note", QLabel).text()


def test_both_pictures_values_are_told_by_name(qtbot, loaded):
    before, after = pair(loaded)
    shown = chart(loaded, "Line profile")
    qtbot.waitUntil(lambda: len(shown.spots) == before.shape[1])
    where, *said = shown.spots[3].text.splitlines()
    assert where == "3 pixels along the line"
    for title, samples, line in zip(("before", "after"), (before, after), said, strict=True):
        red, green, blue = samples[before.shape[0] // 2, 3]
        assert line == f"{title}: R {red}  G {green}  B {blue}"
