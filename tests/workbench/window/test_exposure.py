"""How bright a deep picture is shown, in the real window; its samples never change."""

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QToolButton

from tests.workbench.driving import (
    action,
    child,
    drop,
    settle,
    show_picture,
    trigger,
    type_into,
    until,
    view,
)
from workbench.files.image_files import load, save
from workbench.imaging.display import ABOVE_BGR, BELOW_BGR, show
from workbench.imaging.display_mapping import DisplayMapping, Tone
from workbench.widgets.number_boxes import DecimalBox

VALUES = (-0.5, 0.25, 1.0, 4.0)  # below black, and up to far above white


@pytest.fixture
def glare(tmp_path):
    """A float picture with a quarter of each of VALUES."""
    path = tmp_path / "glare.tif"
    save(path, np.repeat(np.float32(VALUES), 4)[np.newaxis, :, np.newaxis].repeat(8, 0))
    return path


def rgb(window, name, x):
    color = view(window, name).display.images[0].pixelColor(x, 4)
    return color.red(), color.green(), color.blue()


def test_a_float_picture_above_white_is_shown_as_one_wants_and_kept_as_it_is(
    qtbot, window, glare, tmp_path
):
    window.store.update(filter="identity", view_mode="side")
    settle(qtbot, window, lambda: drop(window, glare))
    chip = child(window, "exposure-chip", QToolButton)
    assert chip.isVisible()
    assert rgb(window, "After", 9) == rgb(window, "After", 14) == (255, 255, 255)
    until(qtbot, lambda: action(window, "Auto exposure").isEnabled())
    trigger(window, "Auto exposure")
    for name in ("Before", "After"):
        until(qtbot, lambda name=name: view(window, name).caption.endswith("−2 EV"))
        assert rgb(window, name, 9) == (64, 64, 64)
        assert rgb(window, name, 14) == (255, 255, 255)
    QTest.mouseClick(chip, Qt.MouseButton.LeftButton)
    type_into(child(window, "exposure-ev", DecimalBox), "1")
    until(qtbot, lambda: rgb(window, "After", 5) == (128, 128, 128))
    assert view(window, "After").caption.endswith("+1 EV")
    child(window, "exposure-ev", DecimalBox).window().close()
    trigger(window, "Reset exposure")
    trigger(window, "Mark clipped pixels")
    until(qtbot, lambda: rgb(window, "After", 14) == ABOVE_BGR[::-1])
    assert rgb(window, "After", 1) == BELOW_BGR[::-1]
    assert rgb(window, "After", 9) == (255, 255, 255)  # white itself is not above it
    assert "clipped" in view(window, "Before").caption
    np.testing.assert_array_equal(window.live.result.picture, load(glare).samples)
    # Another picture has its own; this one's comes back with it, and undo takes it away.
    save(tmp_path / "plain.png", np.zeros((8, 16, 1), np.uint8))
    settle(qtbot, window, lambda: drop(window, tmp_path / "plain.png"))
    assert not chip.isVisible()
    assert "8 bits" in action(window, "False colour").toolTip()
    settle(qtbot, window, lambda: drop(window, glare))
    until(qtbot, lambda: "clipped" in view(window, "After").caption)


def test_gamma_and_false_colour_come_after_exposure():
    half = np.full((2, 2, 1), 16384, np.uint16)
    assert show(half, DisplayMapping(tone=Tone(ev=1, gamma=2))).pixels[0][0, 0, 0] == 180
    colours = [
        show(np.full((1, 1, 3), value, np.float32), DisplayMapping(tone=Tone(is_false_colour=True)))
        for value in (0.0, 0.5, 1.0)
    ]
    blue, green, yellow = ([int(c) for c in each.pixels[0][0, 0, :3]] for each in colours)
    assert (blue, yellow) == ([84, 1, 68], [37, 231, 253])  # the ends of viridis
    assert green[1] == max(green)


def test_exposure_of_what_lies_around_zero_leaves_zero_grey():
    samples = np.float32([[-1, 0, 1]])[..., np.newaxis]
    shown = show(samples, DisplayMapping((-2, 2), "offset", tone=Tone(ev=1))).pixels[0][0, :, 0]
    assert shown.tolist() == [0, 128, 255]


def test_what_cannot_filter_a_picture_gives_way_with_a_word(qtbot, window):
    show_picture(qtbot, window, np.ones((8, 9, 1), np.float32))
    assert window.store.state.implementation == "opencv"
    show_picture(qtbot, window, np.full((8, 9, 1), np.inf, np.float32))
    assert window.store.state.implementation == "parallel"
    assert "OpenCV cannot filter it, so Parallel does." in window.messages.sentence
