"""The settings in the real window: every choice is filtered, shown and verified."""

from dataclasses import replace
from itertools import groupby
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QAbstractSpinBox,
    QCheckBox,
    QComboBox,
    QDoubleSpinBox,
    QLabel,
    QPushButton,
    QSlider,
    QSpinBox,
)

from kernels.core.borders import BORDERS
from kernels.filters import all_filters, gaussian
from kernels.filters.parameters import DISK, NUMBERS, option_of
from kernels.oracle.reference import filtered, to_pixel_type
from kernels.pictures.generated import noise
from tests.workbench.driving import (
    child,
    click,
    grey,
    pick,
    ready,
    settle,
    show_picture,
    trigger,
    type_into,
    until,
    view,
)
from tests.workbench.engines import DEVICE, MadeUpGpu
from workbench.model.bell import has_bell
from workbench.model.state import OwnFile, Step
from workbench.panels.controls.controls_panel import BORDER_TIPS
from workbench.panels.timing.timing_words import filter_time, what_ran
from workbench.window.copy_as import filter_words

SAMPLES = noise(20, 30, 3)


@pytest.fixture
def window(qtbot, make_window):
    window = make_window()
    window.docks.bring_forward("Settings")
    show_picture(qtbot, window, SAMPLES)
    return window


@pytest.fixture
def gpu_window(qtbot, make_window):
    return ready(qtbot, make_window(MadeUpGpu), SAMPLES)


@pytest.fixture
def shared_window(qtbot, gpu_window):
    """One that runs a rung which takes the block shape chosen."""
    settle(qtbot, gpu_window, lambda: gpu_window.store.update(implementation="shared"))
    return gpu_window


def is_right(result):
    job = result.job
    oracle = filtered(job)
    return np.abs(to_pixel_type(oracle, job.picture.dtype) - result.picture.astype(float)).max() < 2


# -- which filter


def test_a_filter_picked_is_filtered_and_shown(qtbot, window):
    combo = child(window, "filter", QComboBox)
    for each in {each.group: each for each in all_filters()}.values():
        result = settle(qtbot, window, lambda key=each.key: pick(combo, key))
        assert result.check.ok, each.key
        assert is_right(result), each.key
        assert view(window, "After").caption.startswith(f"After · {each.title}")
        assert child(window, "ksize", QSpinBox).value() == result.job.ksize
    # One of a single size leaves none to choose.
    slider, box = child(window, "ksize-slider"), child(window, "ksize", QSpinBox)
    settle(qtbot, window, lambda: pick(child(window, "filter", QComboBox), "sobel_x"))
    assert not slider.isEnabled()
    assert not box.isEnabled()
    assert box.value() == 3
    assert "3 only" in box.toolTip()
    trigger(window, "Larger kernel")
    assert window.store.state.ksize == 3
    settle(qtbot, window, lambda: pick(combo, "box"))
    assert slider.isEnabled()
    pick(combo, "custom")
    assert child(window, "edit-weights").isVisible()


def test_only_its_own_parameters_are_there_and_nothing_else_moves(window):
    combo, names = child(window, "filter", QComboBox), [each.name for each in (*NUMBERS, DISK)]
    border, column = child(window, "border"), child(window, "controls")
    places = set()
    for each in all_filters():
        pick(combo, each.key)
        boxes = {name: child(window, option_of(name)[2:]) for name in names}
        there = {name for name, box in boxes.items() if box.isVisibleTo(column)}
        assert there == {one.name for one in each.parameters} - {"matrix"}, each.key
        note = child(window, "sigma-note", QLabel)
        assert note.isVisibleTo(column) == bool(note.text()) == has_bell(window.store.state)
        places.add(border.mapTo(column, border.rect().topLeft()).y())
    assert len(places) == 1


@pytest.mark.parametrize(
    ("key", "name", "typed", "value", "told"),
    [
        ("bilateral", "sigma-colour", "0.2", 0.2, "= 51"),
        ("non_local_means", "patch", "4", 5, ""),
        ("non_local_means", "strength", "10/255", 0.039216, "= 10"),
        ("guided", "epsilon", "0,0004", 0.0004, "= 5.1²"),
        ("unsharp", "threshold", "0.1", 0.1, "= 25.5"),
    ],
)
def test_a_parameter_typed_is_filtered_told_in_samples_and_undone(
    qtbot, window, key, name, typed, value, told
):
    show_picture(qtbot, window, noise(20, 30))
    settle(qtbot, window, lambda: window.store.choose(filter=key, ksize=7))
    box, field = child(window, name, QAbstractSpinBox), name.replace("-", "_")
    before = getattr(window.store.state, field)
    result = settle(qtbot, window, lambda: type_into(box, typed))
    assert getattr(window.store.state, field) == value
    assert result.check.ok
    assert any(told == label.text() for label in box.parent().findChildren(QLabel)) == bool(told)
    settle(qtbot, window, window.undo_history.undo)
    assert getattr(window.store.state, field) == before
    assert box.value() == before


def test_a_dragged_slider_is_followed_and_ends_at_the_last_value(qtbot, window):
    slider, shown = child(window, "ksize-slider", QSlider), []
    window.live.after_ready.connect(lambda result, _: shown.append(result.job.ksize))
    radii = [*range(3, 64, 2), *range(61, 21, -2)]
    slider.setSliderDown(True)
    for radius in radii:
        slider.setSliderPosition(radius)
        qtbot.wait(1)
    result = settle(qtbot, window, lambda: slider.setSliderPosition(21))
    slider.setSliderDown(False)
    assert result.job.ksize == shown[-1] == 43
    assert len(set(shown)) > 3, "nothing was shown on the way"
    wished = iter([5, *(2 * radius + 1 for radius in radii), 43])
    in_order = [ksize for ksize, _ in groupby(shown)]
    assert all(ksize in wished for ksize in in_order), "an older one came after a newer one"


def test_sigma_follows_the_size_until_it_is_set_by_hand(qtbot, window):
    automatic = child(window, "automatic-sigma", QCheckBox)
    sigma = child(window, "sigma", QDoubleSpinBox)
    assert automatic.isChecked()
    assert not sigma.isEnabled()
    assert sigma.value() == pytest.approx(1.0)
    settle(qtbot, window, lambda: type_into(child(window, "ksize", QSpinBox), "9"))
    assert sigma.value() == pytest.approx(1.7)
    automatic.click()
    assert sigma.isEnabled()
    assert window.store.state.sigma == pytest.approx(1.7)
    result = settle(qtbot, window, lambda: type_into(sigma, "3.5"))
    by_hand = result.job.correlation.weights
    assert window.store.state.sigma == 3.5
    result = settle(qtbot, window, automatic.click)
    assert window.store.state.sigma is None
    assert not np.array_equal(result.job.correlation.weights, by_hand)
    # A bell that the size cuts is told, with the size that holds it.
    take = child(window, "sigma-size", QPushButton)
    for sigma, ksize in ((1.0, 7), (8.0, 45)):
        window.store.choose(ksize=3, sigma=sigma)
        said, more = child(window, "sigma-note", QLabel).text().splitlines()
        assert said.startswith("3×3 holds")
        assert more.startswith(f"{ksize}×{ksize} holds 99")
        settle(qtbot, window, lambda: click(take))
        assert (window.store.state.ksize, window.store.state.sigma) == (ksize, sigma)
        assert not take.isVisible()
        for size, is_enough in ((ksize, True), (ksize - 2, False)):
            assert (gaussian.share_held(size, sigma) >= 0.99) == is_enough
    # A disk holds another share, and no size of its own is binomial.
    assert "binomial" in automatic.toolTip()
    window.store.choose(filter="bilateral", ksize=3, sigma=4.0)
    assert not child(window, "sigma-note").isVisible(), "nor a gap in its place"
    assert not take.isVisible()
    assert "binomial" not in automatic.toolTip()
    # Numbers with a point can be typed, though the point is a shortcut.
    pick(child(window, "filter", QComboBox), "unsharp")
    amount = child(window, "amount", QDoubleSpinBox)
    window.activateWindow()
    type_into(amount, "1.25")
    assert window.store.state.amount == 1.25
    values = child(window, "values-sizes")
    values.setFocus()
    values.selectAll()
    QTest.keyClicks(values, "8, 16")
    assert values.text() == "8, 16"


# -- borders and implementations


def test_a_border_and_an_implementation_picked_are_filtered(qtbot, window):
    combo = child(window, "border", QComboBox)
    assert set(BORDERS) == set(BORDER_TIPS)
    for border in ("wrap", "zero"):
        result = settle(qtbot, window, lambda border=border: pick(combo, border))
        assert result.job.border == border
        assert result.check.ok, border
        assert is_right(result), border
    by_opencv = window.live.result.picture
    combo = child(window, "implementation", QComboBox)
    for key in ("sequential", "parallel"):
        result = settle(qtbot, window, lambda key=key: pick(combo, key))
        assert result.job.implementation == key
        np.testing.assert_allclose(result.picture.astype(int), by_opencv, atol=1)
        assert view(window, "After").caption.endswith(combo.currentText().strip())


def test_clear_pixels_colour_nothing_unless_channels_are_filtered_apart(qtbot, window):
    alpha = child(window, "alpha", QComboBox)
    assert not alpha.isVisibleTo(window)  # of what is opaque there is nothing to choose
    samples = np.zeros((20, 30, 4), np.uint8)
    samples[5:15, 8:20] = 255  # white on clear black
    show_picture(qtbot, window, samples)
    assert alpha.isVisibleTo(window)
    found = settle(qtbot, window, lambda: window.store.update(filter="gaussian", ksize=7))
    edge = found.picture[4, 12]
    assert (edge[:3] == 255).all()
    assert 0 < edge[3] < 255
    said = child(window, "line-time", QLabel)
    assert "alpha is filtered as well" in said.toolTip()
    settle(qtbot, window, lambda: window.store.update(filter="gradient", ksize=3))
    assert "alpha stays" in said.toolTip()
    settle(qtbot, window, lambda: window.store.update(filter="gaussian", ksize=7))
    apart = settle(qtbot, window, lambda: pick(alpha, "apart"))
    assert all(each.check.ok for each in (found, apart))
    assert np.array_equal(apart.picture[..., 3], samples[..., 3])
    assert 0 < apart.picture[4, 12, 0] < 255
    assert "--alpha apart" in " ".join(filter_words(window.store.state, None))
    hidden = samples.copy()
    hidden[..., :3][samples[..., 3] == 0] = 99
    for ksize in (1, 7):
        same = {"alpha": "premultiplied", "filter": "identity", "ksize": ksize}
        settle(qtbot, window, lambda same=same: window.store.update(**same))
        show_picture(qtbot, window, hidden.copy())
        assert np.array_equal(window.live.result.picture, hidden)  # what changes nothing keeps it


# -- with a GPU


def pick_shape(window, text):
    shapes = child(window, "block", QComboBox)
    shapes.setCurrentText(text)
    shapes.activated.emit(shapes.currentIndex())


def test_ways_that_cannot_run_a_list_are_grey_and_say_why(qtbot, window, make_window):
    listed = {"before": (Step("gaussian", 5, implementation="opencv"),), "implementation": "opencv"}
    settle(qtbot, window, lambda: window.store.update(**listed))
    assert not child(window, "whole").isEnabled()
    assert window.device.reason in child(window, "whole").toolTip()
    gpu = ready(qtbot, make_window(MadeUpGpu), SAMPLES)
    ways = child(gpu, "whole", QComboBox)
    before = (Step("percentile", 5, implementation="auto"),)
    gpu.store.update(before=before, implementation="auto", border="wrap")

    def tips():
        items = (ways.model().item(row) for row in range(ways.count()))
        return {ways.itemData(e.row()): "" if e.isEnabled() else e.toolTip() for e in items}

    assert ways.isEnabled()
    assert not tips()["graph"]
    assert "wraps around" in tips()["strips"]
    assert "one launch takes" in tips()["list_ring"]
    gpu.store.update(implementation="mine.cu", own_kernel=OwnFile(Path("mine.cu"), "void"))
    assert "launches of one GPU" in tips()["graph"]
    gpu.store.update(implementation="opencv")
    assert "launches of one GPU" in tips()["graph"]
    assert ways.isEnabled()  # each has its own reason
    assert "launches of one GPU" not in ways.toolTip()


def test_keys_lead_to_the_tools(shared_window):
    for letter, name in (("L", "filter"), ("Z", "ksize"), ("U", "implementation")):
        QTest.keyClick(shared_window, letter, Qt.KeyboardModifier.AltModifier)
        assert child(shared_window.toolbar, name).hasFocus()


def test_a_block_picked_runs(qtbot, shared_window):
    window = shared_window
    result = settle(qtbot, window, lambda: pick_shape(window, "16×16"))
    assert result.job.block_xy == (16, 16)
    assert "block 16×16" in str(result.ran[0])
    assert child(window, "block-x", QSpinBox).value() == 16
    assert child(window, "block", QComboBox).count() == 5
    result = settle(qtbot, window, lambda: type_into(child(window, "block-x", QSpinBox), "24"))
    assert result.job.block_xy == (24, 16)
    shapes = child(window, "block", QComboBox)
    assert (shapes.currentText(), shapes.count()) == ("24×16", 6)
    settle(qtbot, window, lambda: pick_shape(window, "8×8"))
    assert (shapes.currentText(), shapes.count()) == ("8×8", 5)
    # One that the GPU does not take is rejected in words.
    shown = view(window, "After").display
    type_into(child(window, "block-y", QSpinBox), "1024")
    until(qtbot, lambda: window.messages.kind == "error")
    assert "8192 threads" in window.messages.sentence
    assert view(window, "After").display is shown
    combo = child(window, "implementation", QComboBox)
    assert not combo.model().item(combo.currentIndex()).isEnabled()
    assert "8192 threads" in combo.itemData(combo.currentIndex(), Qt.ItemDataRole.ToolTipRole)
    settle(qtbot, window, lambda: type_into(child(window, "block-y", QSpinBox), "8"))
    assert window.messages.kind is None


# -- levels


def ramp():
    """(8, 256, 1) uint16, from 1000 to 3000: nearly black on a screen."""
    return np.tile(np.linspace(1000, 3000, 256).astype(np.uint16), (8, 1))[:, :, np.newaxis]


def both_pictures(window):
    return [view(window, name).display.images[0] for name in ("Before", "After")]


def test_auto_levels_show_what_is_there_and_leave_the_data_alone(qtbot, window):
    samples = ramp()
    pick(child(window, "filter", QComboBox), "identity")
    result = show_picture(qtbot, window, samples)
    assert all(grey(image, 255, 4) < 20 for image in both_pictures(window))
    click(child(window, "levels-auto", QPushButton))
    until(qtbot, lambda: all(grey(image, 255, 4) == 255 for image in both_pictures(window)))
    assert all(grey(image, 0, 4) == 0 for image in both_pictures(window))
    assert child(window, "level-black", QDoubleSpinBox).value() == 1000
    assert child(window, "level-white", QDoubleSpinBox).value() == 3000
    assert window.live.result is result  # looking is no reason to filter
    np.testing.assert_array_equal(window.live.result.picture, ramp())
    np.testing.assert_array_equal(window.store.state.picture.samples, ramp())
    click(child(window, "levels-reset", QPushButton))
    until(qtbot, lambda: all(grey(image, 255, 4) < 20 for image in both_pictures(window)))
    assert window.store.state.levels is None
    # So do floats of any span.
    for low, high in ((0.0, 4095.0), (-2e-5, 3e-5)):
        window.store.update(levels=None)
        samples = np.linspace(low, high, 64, dtype=np.float32).reshape(8, 8, 1)
        show_picture(qtbot, window, samples)
        click(child(window, "levels-auto", QPushButton))
        until(qtbot, lambda: window.store.state.levels)
        for name, value in (("level-black", low), ("level-white", high)):
            shown = child(window, name, QDoubleSpinBox).value()
            assert shown == pytest.approx(value, abs=(high - low) / 500)


def after_greys(window):
    """The greys of the result on the screen, (H, W)."""
    image = view(window, "After").display.images[0]
    return np.array(
        [[grey(image, x, y) for x in range(image.width())] for y in range(image.height())]
    )


def test_second_derivatives_are_centred_on_grey_and_fitted_at_first(qtbot, window):
    samples = np.full((20, 20, 1), 100, np.uint8)
    samples[:, 10:] = 110
    window.store.update(filter="laplacian_of_gaussian", ksize=3)
    show_picture(qtbot, window, samples)
    greys = after_greys(window)
    assert greys[5, 2] == pytest.approx(128, abs=1)
    assert {greys.min(), greys.max()} == {0, 255}
    negative = child(window, "negative-display", QComboBox)
    assert (negative.currentData(), negative.currentText()) == (None, "Auto: fit range")
    assert (
        child(window, "level-white", QDoubleSpinBox).value()
        == np.abs(window.live.result.picture).max().round()
    )
    # Slopes are absolute at first, so that neither side is lost.
    samples = np.zeros((12, 30, 1), np.uint8)
    samples[:, 10:20] = 50
    window.store.update(filter="prewitt_x", ksize=3)
    show_picture(qtbot, window, samples)
    greys = after_greys(window)
    assert greys[5, 9] == greys[5, 20] > 100
    assert window.live.result.picture[5, 20] < 0
    result = window.live.result
    pick(negative, "offset")
    until(qtbot, lambda: after_greys(window)[5, 20] == 0)
    assert after_greys(window)[5, 2] == pytest.approx(128, abs=1)
    assert window.live.result is result  # looking is no reason to filter
    settle(qtbot, window, lambda: pick(child(window, "filter", QComboBox), "laplacian"))
    assert window.store.state.negative_display == "offset"  # one's own choice goes first


# -- several GPUs


class OneGpu(MadeUpGpu):
    device = replace(DEVICE, count=1)


def test_two_gpus_are_chosen_and_their_times_are_shown(qtbot, shared_window):
    window = shared_window
    window.docks.bring_forward("Settings")
    devices = child(window, "devices", QComboBox)
    assert devices.isVisible()
    assert [devices.itemText(at) for at in range(devices.count())] == ["1 GPU", "2 GPUs"]
    assert devices.currentData() == 1
    result = settle(qtbot, window, lambda: pick(devices, 2))
    assert (result.job.devices, len(result.shares)) == (2, 2)
    assert "GPU 0: 100" in what_ran(result)
    assert "GPU 1: 100" in filter_time(result).more
    assert filter_words(window.store.state, None)[-2:] == ["--device", "0,1"]
    window.store.update(implementation="opencv")
    assert not devices.isEnabled()


def test_more_gpus_than_there_are_become_as_many(qtbot, make_window):
    window = make_window(OneGpu)
    window.store.update(devices=4)
    until(qtbot, lambda: window.device)
    until(qtbot, lambda: window.store.state.devices == 1)
