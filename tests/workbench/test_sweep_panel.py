"""The sweep panel and its chart: what is asked for, and how the answers are shown."""

import csv
import io
import json
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import (
    QAbstractButton,
    QCheckBox,
    QComboBox,
    QLabel,
    QLineEdit,
    QProgressBar,
    QPushButton,
    QScrollArea,
    QToolButton,
    QWidget,
)

from kernels.sweep import Measurement, SweepPoint, cells
from tests.made_up import FAILED, IMPLEMENTATIONS, point, result
from workbench import theme
from workbench.charts import sweep_series, sweep_values, sweep_words
from workbench.charts.canvas import Canvas
from workbench.charts.plotting import log_ticks, look_of, shortened
from workbench.charts.sweep_panel import SweepPanel
from workbench.commands import machine
from workbench.state import Picture, State
from workbench.views.tile import ElidedLabel

PHOTO = State(picture=Picture("photo", np.zeros((30, 40, 3), np.uint8)))
NO_GPU = "No NVIDIA driver was found."
SIZES = "image size"


@pytest.fixture
def panel(qapp, qtbot):
    theme.apply(qapp, "light")
    panel = SweepPanel()
    qtbot.addWidget(panel)
    panel.resize(340, 760)
    panel.show_implementations([(each, None) for each in IMPLEMENTATIONS.values()])
    panel.show_state(PHOTO)
    panel.show()
    return panel


def child(panel, name, kind=QWidget):
    return panel.findChild(kind, name)


def words(panel, name) -> str:
    label = child(panel, name, QLabel)
    return label.whole_text if isinstance(label, ElidedLabel) else label.text()


def click(qtbot, panel, name):
    qtbot.mouseClick(child(panel, name, QAbstractButton), Qt.MouseButton.LeftButton)


def type_values(qtbot, panel, text):
    line = child(panel, "sweep-values", QLineEdit)
    line.selectAll()
    qtbot.keyClicks(line, text)


def toggle(qtbot, panel, key):
    qtbot.keyClick(child(panel, f"sweep-{key}", QCheckBox), Qt.Key.Key_Space)


def start(qtbot, panel):
    """Ask for a sweep, and be told that it runs."""
    with qtbot.waitSignal(panel.started) as signal:
        click(qtbot, panel, "sweep-start")
    panel.show_running(True)
    return signal.args[0]


# -- what is asked for


def test_start_asks_for_the_values_and_implementations_chosen(qtbot, panel):
    type_values(qtbot, panel, "8, 16 32")
    toggle(qtbot, panel, "sequential")
    wish = start(qtbot, panel)
    assert (wish.dimension, wish.values) == ("image size", (8, 16, 32))
    keys = [each.key for each in wish.implementations]
    assert keys == [key for key in IMPLEMENTATIONS if key != "sequential"]


def test_each_dimension_keeps_its_own_values(qtbot, panel):
    type_values(qtbot, panel, "99")
    click(qtbot, panel, "vary-block-shape")
    assert start(qtbot, panel).values == ((8, 8), (16, 16), (32, 8), (32, 16), (32, 32))
    panel.show_running(False)
    click(qtbot, panel, "vary-image-size")
    assert start(qtbot, panel).values == (99,)


@pytest.mark.parametrize(
    ("vary", "text", "sentence"),
    [
        ("image-size", "", "List at least one image size, as in “256, 512, 1024, 2048, 4096”."),
        ("image-size", "12, big", "“big” is no image size; give pixels a side, from 1 to 16384."),
        ("kernel-size", "4", "“4” is no kernel size; give odd numbers from 1 to 127."),
        (
            *("block-shape", "32"),
            "“32” is no block shape; give threads across × down, as in 32×8.",
        ),
    ],
)
def test_values_that_make_no_sense_are_told_and_cannot_be_started(
    qtbot, panel, vary, text, sentence
):
    click(qtbot, panel, f"vary-{vary}")
    line = child(panel, "sweep-values", QLineEdit)
    line.selectAll()
    qtbot.keyClick(line, Qt.Key.Key_Delete)
    qtbot.keyClicks(line, text)
    assert words(panel, "sweep-hint") == sentence
    assert not child(panel, "sweep-start").isEnabled()


def test_a_filter_with_one_size_says_so(qtbot, panel):
    panel.show_state(State(picture=PHOTO.picture, filter="sobel_x", ksize=3))
    click(qtbot, panel, "vary-kernel-size")
    type_values(qtbot, panel, "3, 5")
    assert words(panel, "sweep-hint") == "This filter has no size 5; it takes 3."


def test_without_a_picture_nothing_can_be_started(panel):
    panel.show_state(State())
    assert words(panel, "sweep-hint") == "Open a picture first."
    assert not child(panel, "sweep-start").isEnabled()


def test_without_an_implementation_nothing_can_be_started(qtbot, panel):
    for key in IMPLEMENTATIONS:
        toggle(qtbot, panel, key)
    assert words(panel, "sweep-hint") == "Tick at least one implementation."
    assert not child(panel, "sweep-start").isEnabled()


def test_what_cannot_run_here_is_grey_with_its_reason_and_never_asked_for(qtbot, panel):
    panel.show_implementations(
        [(each, NO_GPU if each.kind == "cuda" else None) for each in IMPLEMENTATIONS.values()]
    )
    shared = child(panel, "sweep-shared", QCheckBox)
    assert not shared.isEnabled()
    assert NO_GPU in shared.toolTip()
    assert {each.kind for each in start(qtbot, panel).implementations} == {"cpu"}


def test_what_the_user_unticked_stays_so_when_availability_changes(qtbot, panel):
    toggle(qtbot, panel, "parallel")
    reasons = [(each, NO_GPU if each.kind == "cuda" else None) for each in IMPLEMENTATIONS.values()]
    panel.show_implementations(reasons)
    panel.show_implementations([(each, None) for each in IMPLEMENTATIONS.values()])
    ticked = [key for key in IMPLEMENTATIONS if child(panel, f"sweep-{key}").isChecked()]
    assert ticked == [key for key in IMPLEMENTATIONS if key != "parallel"]


def test_what_is_held_fixed_is_said(qtbot, panel):
    assert words(panel, "sweep-hint") == (
        "With Gaussian blur 5×5, border clamp, noise of 3 channels uint8, blocks 32×8, L2 cold."
    )
    click(qtbot, panel, "vary-block-shape")
    assert words(panel, "sweep-hint") == (
        "With Gaussian blur 5×5, border clamp, 40×30 pixels of 3 channels uint8, L2 cold."
    )
    panel.show_state(replace(PHOTO, filter="unsharp", sigma=1.5, amount=2.0))
    click(qtbot, panel, "vary-kernel-size")
    for key, each in IMPLEMENTATIONS.items():
        if each.kind == "cuda":
            toggle(qtbot, panel, key)
    assert words(panel, "sweep-hint") == (
        "With Unsharp mask, σ 1.5, amount 2, border clamp, 40×30 pixels of 3 channels uint8."
    )


def test_the_check_boxes_stand_still_whatever_the_hint_says(qtbot, qapp, panel):
    panel.resize(320, 760)
    before = child(panel, "sweep-opencv").mapTo(panel, QPoint())
    for state in (State(), replace(PHOTO, filter="laplacian_of_gaussian", sigma=12.25, ksize=127)):
        panel.show_state(state)
        qapp.processEvents()
        assert child(panel, "sweep-opencv").mapTo(panel, QPoint()) == before


def test_cancel_is_there_only_while_something_runs(qtbot, panel):
    assert not child(panel, "sweep-cancel").isEnabled()
    start(qtbot, panel)
    assert not child(panel, "sweep-start").isEnabled()
    with qtbot.waitSignal(panel.cancelled):
        click(qtbot, panel, "sweep-cancel")
    panel.show_running(False)
    assert child(panel, "sweep-start").isEnabled()


def test_one_key_can_start_and_cancel(qtbot, panel):
    with qtbot.waitSignal(panel.started):
        panel.toggle()
    panel.show_running(True)
    with qtbot.waitSignal(panel.cancelled):
        panel.toggle()


def test_showing_a_state_asks_for_nothing(qtbot, panel):
    with qtbot.assertNotEmitted(panel.started):
        panel.show_state(PHOTO)


def test_it_can_be_used_without_a_mouse(qtbot, panel):
    controls = [
        *panel.findChildren(QAbstractButton),
        *panel.findChildren(QLineEdit),
        *panel.findChildren(QComboBox),
    ]
    own = [each for each in controls if each.isVisibleTo(panel) and each.objectName()]
    assert len(own) > 10
    # Of buttons that exclude each other Tab reaches the one chosen, and arrows lead to the rest.
    reached = [each for each in own if each.focusPolicy() & Qt.FocusPolicy.TabFocus]
    assert {each.objectName() for each in own} - {each.objectName() for each in reached} <= {
        *("vary-kernel-size", "vary-block-shape", "sweep-speed-up"),
    }
    qtbot.keyClick(child(panel, "vary-image-size"), Qt.Key.Key_Right)
    assert child(panel, "vary-kernel-size").hasFocus()
    assert child(panel, "sweep-values").text().startswith("3, 5")
    assert all(each.accessibleName() or each.text() for each in own)


# -- how it is going


def test_the_bar_counts_points_to_as_many_as_there_will_be(qtbot, panel):
    click(qtbot, panel, "vary-block-shape")
    type_values(qtbot, panel, "8x8 16*16")
    start(qtbot, panel)
    bar = child(panel, "sweep-progress", QProgressBar)
    on_cpu = sum(each.kind == "cpu" for each in IMPLEMENTATIONS.values())
    assert bar.maximum() == on_cpu + 2 * (len(IMPLEMENTATIONS) - on_cpu)  # each on the CPU once
    panel.show_point(point("block shape", "opencv", None))
    assert bar.value() == 1


def test_time_left_is_estimated_once_there_are_some_points(qtbot, panel):
    start(qtbot, panel)
    seen = []
    for value in (256, 512, 1024):
        panel.show_point(point(SIZES, "opencv", value))
        seen.append(words(panel, "sweep-left"))
    assert seen[:2] == ["", ""]
    assert seen[2].startswith("about")


def test_progress_and_how_it_ended_are_said(qtbot, panel):
    type_values(qtbot, panel, "8")
    start(qtbot, panel)
    panel.show_progress("1 of 6 · OpenCV 8²")
    assert words(panel, "sweep-doing") == "1 of 6 · OpenCV 8²"
    count = len(IMPLEMENTATIONS)
    for key in IMPLEMENTATIONS:
        panel.show_point(point(SIZES, key, 8))
    panel.finished()
    assert words(panel, "sweep-doing").startswith(f"Done: {count} of {count} points")
    start(qtbot, panel)
    panel.show_running(False)
    assert words(panel, "sweep-doing").startswith(f"Stopped: 0 of {count} points")


def test_a_new_sweep_clears_the_old_ones_chart_and_a_cancelled_one_stays(qtbot, panel):
    start(qtbot, panel)
    panel.show_point(point(SIZES, "opencv", 8))
    panel.show_running(False)
    assert panel.chart.has_points
    start(qtbot, panel)
    assert not panel.chart.has_points


def test_points_can_be_copied_as_csv(qtbot, panel):
    assert not child(panel, "sweep-copy-csv").isEnabled()
    panel.show_point(point(SIZES, "opencv", 8))
    panel.show_point(point(SIZES, "shared", 8, "It does not fit."))
    click(qtbot, panel, "sweep-copy-csv")
    table = list(csv.DictReader(io.StringIO(QGuiApplication.clipboard().text())))
    assert [row["implementation"] for row in table] == ["opencv", "shared"]
    assert table[1]["note"] == "It does not fit."


def test_csv_has_the_conditions_of_the_start(qtbot, panel):
    start(qtbot, panel)
    panel.show_point(point(SIZES, "opencv", 8))
    panel.show_state(replace(PHOTO, filter="box"))
    click(qtbot, panel, "sweep-copy-csv")
    (row,) = csv.DictReader(io.StringIO(QGuiApplication.clipboard().text()))
    assert (row["sigma"], row["amount"]) == ("automatic", "")
    assert row["cpu"] == machine.cpu()


# -- what it remembers


def test_the_choices_survive_a_restart(qtbot, panel):
    type_values(qtbot, panel, "8, 16")
    toggle(qtbot, panel, "sequential")
    click(qtbot, panel, "vary-kernel-size")
    type_values(qtbot, panel, "5, 9")
    kept = json.loads(json.dumps(panel.choices()))
    again = SweepPanel()
    qtbot.addWidget(again)
    again.restore(kept)
    again.show_implementations([(each, None) for each in IMPLEMENTATIONS.values()])
    again.show_state(PHOTO)
    again.show()
    wish = start(qtbot, again)
    assert (wish.dimension, wish.values) == ("kernel size", (5, 9))
    assert "sequential" not in [each.key for each in wish.implementations]
    assert child(again, "vary-kernel-size", QAbstractButton).isChecked()
    assert again.choices() == kept
    again.show_running(False)
    click(qtbot, again, "vary-image-size")
    assert start(qtbot, again).values == (8, 16)


@pytest.mark.parametrize(
    "nonsense",
    [
        {},
        {"dimension": "colour", "values": 7, "unticked": "opencv"},
        {"dimension": ["image size"], "values": {"image size": 3}, "unticked": [1, None, {}]},
        {"values": ["image size"], "unticked": {"opencv": 1}},
    ],
)
def test_what_makes_no_sense_is_as_on_the_first_day(qtbot, panel, nonsense):
    first_day = panel.choices()
    click(qtbot, panel, "vary-block-shape")
    type_values(qtbot, panel, "8×8")
    toggle(qtbot, panel, "opencv")
    panel.restore(nonsense)
    assert panel.choices() == first_day
    assert start(qtbot, panel).dimension == "image size"


def test_an_implementation_that_has_gone_is_remembered_without_harm(panel):
    panel.restore({"unticked": ["gone", "opencv"]})
    assert not child(panel, "sweep-opencv", QCheckBox).isChecked()
    assert child(panel, "sweep-shared", QCheckBox).isChecked()


# -- the chart


def sweep_of_sizes(panel):
    for value, opencv, shared in ((256, 1.0, 2.0), (512, 4.0, 2.5), (1024, 16.0, 4.0)):
        panel.show_point(point(SIZES, "opencv", value, (opencv,)))
        panel.show_point(point(SIZES, "shared", value, (shared,)))


def drawn(qtbot, panel) -> Canvas:
    canvas = panel.chart.findChild(Canvas)
    qtbot.waitUntil(lambda: canvas.plot is not None and bool(canvas.spots))
    return canvas


def test_points_are_drawn_as_they_come_and_tell_their_values(qtbot, panel):
    sweep_of_sizes(panel)
    canvas = drawn(qtbot, panel)
    qtbot.waitUntil(lambda: len(canvas.spots) == 6)
    spot = next(s for s in canvas.spots if s.text.startswith("Shared-memory tile 1024²"))
    assert (spot.x, spot.y) == (10.0, pytest.approx(np.log10(4.0)))
    place = canvas.plot.getViewBox().mapViewToScene(QPointF(spot.x, spot.y))
    assert canvas.spot_at(place + QPointF(3, 3)) == spot
    assert canvas.spot_at(place + QPointF(0, -200)) is None


def test_the_speed_up_is_against_the_baseline_it_names(qtbot, panel):
    sweep_of_sizes(panel)
    canvas = drawn(qtbot, panel)
    click(qtbot, panel, "sweep-speed-up")
    assert words(panel, "sweep-title") == "Speed-up by image size, against OpenCV (2 threads)"
    spot = next(s for s in canvas.spots if s.text.startswith("Shared-memory tile 1024²"))
    assert spot.y == pytest.approx(np.log10(16 / 4))
    assert "4.0× OpenCV (2 threads)" in spot.text.replace("\u202f", " ")


def test_the_preferred_baseline_is_taken_once_measured_and_another_can_be_picked(qtbot, panel):
    panel.show_point(point(SIZES, "sequential", 256, (8.0,)))
    sweep_of_sizes(panel)
    baseline = child(panel, "sweep-baseline", QComboBox)
    assert baseline.currentData() == PHOTO.baseline == "opencv"
    assert not baseline.isVisible()  # it says nothing about times
    drawn(qtbot, panel)
    click(qtbot, panel, "sweep-speed-up")
    assert baseline.isVisible()
    qtbot.keyClick(baseline, Qt.Key.Key_Up)
    assert words(panel, "sweep-title").endswith("against Sequential (2 threads)")


def test_wrong_and_refused_cells_are_told_in_words_and_have_no_speed(qtbot, panel):
    sweep_of_sizes(panel)
    panel.show_point(point(SIZES, "global", 256, (0.1,), FAILED))
    panel.show_point(point(SIZES, "constant", 256, "It does not fit."))
    panel.show_point(point(SIZES, "constant", 512, "It does not fit."))
    canvas = drawn(qtbot, panel)
    qtbot.waitUntil(lambda: len(canvas.spots) == 6)
    told = words(panel, "sweep-objections").splitlines()
    assert told[0].startswith("Global memory 256²: Its answer is WRONG in 12 samples")
    assert told[1] == "Constant memory 256², Constant memory 512²: It does not fit."
    assert "Global" not in words(panel, "sweep-summary")


def test_the_chart_goes_on_saying_what_it_was_measured_with(qtbot, panel):
    panel.show_state(replace(PHOTO, sigma=2.0))
    start(qtbot, panel)
    sweep_of_sizes(panel)
    said = words(panel, "sweep-subtitle")
    held = "Gaussian blur 5×5, σ 2, border clamp, noise of 3 channels uint8, blocks 32×8, L2 cold"
    assert said == f"{held}\n{machine.cpu()}"
    title, kept, picture = words(panel, "sweep-title"), panel.conditions, panel.grab_chart()
    other = Picture("other", np.zeros((9, 9, 1), np.uint16))
    panel.show_state(State(picture=other, filter="box", ksize=9, border="wrap", block_xy=(8, 8)))
    for vary in ("kernel-size", "block-shape"):
        click(qtbot, panel, f"vary-{vary}")
    assert (words(panel, "sweep-subtitle"), words(panel, "sweep-title")) == (said, title)
    assert panel.conditions == kept
    assert panel.grab_chart() == picture


def test_the_conditions_can_be_kept_with_a_chart(qtbot, panel):
    assert panel.conditions is None
    click(qtbot, panel, "vary-kernel-size")
    start(qtbot, panel)
    assert panel.conditions is None
    panel.show_point(point("kernel size", "opencv", 5))
    kept = json.loads(json.dumps(panel.conditions))
    assert {name: kept[name] for name in ("filter", "ksize", "picture", "width", "block_xy")} == {
        **{"filter": "gaussian", "ksize": None, "picture": "photo", "width": 40},
        "block_xy": [32, 8],
    }
    assert (kept["cpu"], kept["gpu"]) == (machine.cpu(), None)


def test_the_gpu_is_named_as_soon_as_a_point_knows_it(qtbot, panel):
    start(qtbot, panel)
    measured = Measurement.of(result("shared", device_name="A GPU"))
    panel.show_point(SweepPoint(SIZES, IMPLEMENTATIONS["shared"], 256, measured))
    assert panel.conditions["gpu"] == "A GPU"
    assert words(panel, "sweep-subtitle").endswith(f"A GPU + {machine.cpu()}")


def test_a_summary_is_there_for_who_cannot_see_the_chart(panel):
    sweep_of_sizes(panel)
    said = panel.chart.accessibleDescription()
    assert said.startswith(
        "6 points. Fastest: OpenCV at 256², Shared-memory tile from 512² to 1024²."
    )


def test_a_theme_change_draws_the_chart_anew(qtbot, panel, qapp):
    sweep_of_sizes(panel)
    canvas = drawn(qtbot, panel)
    theme.apply(qapp, "dark")
    try:
        assert canvas.plot.backgroundBrush().color().name() == theme.DARK.panel
    finally:
        theme.apply(qapp, "light")
    assert canvas.plot.backgroundBrush().color().name() == theme.LIGHT.panel


def test_the_chart_can_be_exported_larger_than_on_screen(qtbot, panel):
    sweep_of_sizes(panel)
    image = panel.grab_chart()
    assert image.width() >= 2 * 280
    seen = {image.pixelColor(x, y).name() for x in range(0, image.width(), 2) for y in
            range(0, image.height(), 2)}  # fmt: skip
    look = look_of("shared", panel.palette())
    assert look.color.name() in seen


def test_a_chart_of_block_shapes_has_the_cpu_at_every_shape(qtbot, panel):
    panel.show_point(point("block shape", "opencv", None, (9.0,)))
    canvas = drawn(qtbot, panel)
    panel.show_point(point("block shape", "shared", (8, 8), (2.0,)))
    panel.show_point(point("block shape", "shared", (32, 8), (1.0,)))
    qtbot.waitUntil(lambda: len(canvas.spots) == 4)


def test_the_plots_library_is_not_loaded_before_a_chart_is_painted():
    code = (
        "import sys, workbench.charts.sweep_panel, workbench.charts.history_plot\n"
        "assert not any(name.startswith('pyqtgraph') for name in sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


# -- values, words, looks


@pytest.mark.parametrize(
    ("dimension", "text", "values"),
    [
        ("image size", " 256,512 ;1024 256", (256, 512, 1024)),
        ("kernel size", "3 5,7", (3, 5, 7)),
        ("block shape", "8×8, 16x16 32 X 8;64*2", ((8, 8), (16, 16), (32, 8), (64, 2))),
    ],
)
def test_values_may_be_separated_as_people_do(dimension, text, values):
    assert sweep_values.parse(dimension, text) == values


def test_the_presets_are_themselves_valid():
    for dimension, text in sweep_values.PRESETS.items():
        assert len(sweep_values.parse(dimension, text)) >= 5


def summary(*points, cells=()):
    return sweep_words.summary(points, cells)


def asked(values, *keys):
    return cells(SIZES, values, [IMPLEMENTATIONS[key] for key in keys])


def test_one_implementation_fastest_everywhere_is_said_plainly():
    said = summary(
        point(SIZES, "sequential", 8, (3.0,)), point(SIZES, "opencv", 8, (1.0,)),
        point(SIZES, "sequential", 16, (9.0,)), point(SIZES, "opencv", 16, (2.0,)),
    )  # fmt: skip
    assert said == "OpenCV is fastest at every size."


def test_while_points_are_missing_only_what_all_have_measured_is_compared():
    cells = asked((8, 16, 32), "sequential", "opencv", "shared")
    points = [
        point(SIZES, key, value, (ms,))
        for value in (8, 16, 32)
        for key, ms in (("sequential", 3.0), ("opencv", 1.0), ("shared", 2.0))
    ]
    assert summary(*points[:2], cells=cells) == ""
    assert summary(*points[:3], cells=cells).startswith(
        "OpenCV is fastest at the one size measured so far by all."
    )
    assert summary(*points[:8], cells=cells) == (
        "OpenCV is fastest at each of the 2 sizes measured so far by all. "
        "The CPU is at least as fast as the GPU's kernel at the largest of these."
    )
    assert summary(*points, cells=cells).startswith("OpenCV is fastest at every size.")


def test_a_size_that_one_was_refused_at_is_not_compared():
    cells = asked((8, 16), "opencv", "shared")
    said = summary(
        point(SIZES, "opencv", 8, (3.0,)), point(SIZES, "shared", 8, (2.0,)),
        point(SIZES, "opencv", 16, (3.0,)), point(SIZES, "shared", 16, "It does not fit."),
        cells=cells,
    )  # fmt: skip
    assert said == (
        "Shared-memory tile is fastest at the one size measured by all. "
        "The GPU's kernel beats the CPU there, transfers left out."
    )


def test_who_was_refused_everywhere_keeps_the_others_from_nothing():
    said = summary(
        point(SIZES, "sequential", 8, (3.0,)), point(SIZES, "opencv", 8, (2.0,)),
        point(SIZES, "shared", 8, "It does not fit."),
        cells=asked((8,), "sequential", "opencv", "shared"),
    )  # fmt: skip
    assert said == "OpenCV is fastest at every size."


def test_different_winners_among_the_sizes_so_far_are_told_as_such():
    cells = asked((128, 256, 512), "opencv", "shared")
    said = summary(
        point(SIZES, "opencv", 128, (1.0,)), point(SIZES, "shared", 128, (2.0,)),
        point(SIZES, "opencv", 256, (4.0,)), point(SIZES, "shared", 256, (2.0,)),
        cells=cells,
    )  # fmt: skip
    assert said.replace("\u202f", " ") == (
        "Fastest at the 2 sizes measured so far by all: OpenCV at 128², Shared-memory tile at "
        "256². Of these, the GPU's kernel pays off from 256² (0.0655 MP), transfers left out."
    )


def test_of_block_shapes_only_some_may_have_been_measured():
    shapes = ((8, 8), (16, 16), (32, 8))
    said = summary(
        point("block shape", "shared", (8, 8), (2.0,)),
        point("block shape", "shared", (16, 16), (1.0,)),
        cells=cells("block shape", shapes, [IMPLEMENTATIONS["shared"]]),
    )
    assert said == (
        "Of 2 shapes measured so far, Shared-memory tile is fastest with 16×16; "
        "8×8 takes 2.0× as long."
    )


def test_where_the_gpu_pays_off_is_said_in_megapixels():
    said = summary(
        point(SIZES, "opencv", 128, (1.0,)), point(SIZES, "shared", 128, (2.0,)),
        point(SIZES, "opencv", 256, (4.0,)), point(SIZES, "shared", 256, (2.0,)),
    )  # fmt: skip
    assert said.endswith(
        "The GPU's kernel pays off from 256² (0.0655\u202fMP), transfers left out."
    )


def test_a_gpu_that_is_ahead_only_now_and_then_does_not_pay_off():
    said = summary(
        point(SIZES, "opencv", 128, (3.0,)), point(SIZES, "shared", 128, (2.0,)),
        point(SIZES, "opencv", 256, (4.0,)), point(SIZES, "shared", 256, (5.0,)),
    )  # fmt: skip
    assert "The CPU is at least as fast" in said


def test_the_best_block_shape_is_said_with_its_equals_and_the_worst():
    said = summary(
        point("block shape", "opencv", None, (50.0,)),
        point("block shape", "shared", (8, 8), (2.0, 2.0, 2.0)),
        point("block shape", "shared", (32, 8), (0.9, 1.0, 1.1)),
        point("block shape", "shared", (16, 16), (1.0, 1.05, 1.1)),
    )
    assert said == (
        "Shared-memory tile is fastest with 32×8 (16×16 equal within noise); "
        "8×8 takes 2.0× as long."
    )


def test_a_single_implementation_needs_no_comparison():
    assert summary(point(SIZES, "opencv", 128, (3.0,))) == ""


def test_a_speed_up_takes_its_spread_from_the_quartiles():
    points = [
        point(SIZES, "opencv", 8, (8.0,)),
        point(SIZES, "shared", 8, (1.0, 2.0, 3.0)),
    ]
    dot = sweep_series.speedups(points, "opencv")["shared"][0]
    assert (dot.middle, dot.low, dot.high) == (4.0, 8 / 2.5, 8 / 1.5)


def test_implementations_look_different_and_the_same_everywhere(qapp):
    for scheme in ("dark", "light"):
        theme.apply(qapp, scheme)
        looks = [look_of(key, qapp.palette()) for key in IMPLEMENTATIONS]
        assert len({(look.color.name(), look.marker) for look in looks}) == len(looks)
        assert len({look.marker for look in looks}) > 1
        assert {look.is_dashed for look in looks} == {True, False}


@pytest.mark.parametrize(
    ("low", "high", "gap", "values"),
    [
        (-1, 1, 0.8, (0.1, 1, 10)),
        (0, 1, 0.25, (1, 2, 5, 10)),
        (0.2, 0.8, 0.05, (2, 3, 4, 5, 6)),
        (-3.2, 6.2, 1.5, (1e-3, 1, 1e3, 1e6)),
    ],
)
def test_logarithmic_ticks_stand_apart_at_round_numbers(low, high, gap, values):
    assert [10**tick for tick in log_ticks(low, high, gap)] == pytest.approx(values)


def test_axes_leave_out_zeros_that_say_nothing():
    assert [shortened(text) for text in ("1.00 ms", "2.50×", "10.0 s", "200 µs", "0.105 s")] == [
        *("1 ms", "2.5×", "10 s", "200 µs", "0.105 s"),
    ]


def test_nothing_is_clipped_at_the_least_width(qapp, panel):
    panel.resize(320, 640)
    qapp.processEvents()
    inside = panel.findChild(QScrollArea).widget()
    assert inside.minimumSizeHint().width() <= 320
    for button in panel.findChildren(QToolButton):
        text = button.fontMetrics().horizontalAdvance(button.text().replace("&", ""))
        assert not button.isVisible() or button.width() >= text + 20
    buttons = [each for each in panel.findChildren(QPushButton) if each.isVisibleTo(panel)]
    for button in [*buttons, *panel.findChildren(QCheckBox)]:
        assert button.width() >= button.minimumSizeHint().width()
        assert button.mapTo(panel, button.rect().bottomRight()).x() < panel.width()
