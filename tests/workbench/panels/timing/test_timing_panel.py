"""The Timing panel: what its tiles say, when they dare to, and that they stand still."""

import math
import re
from dataclasses import replace

import numpy as np
import pytest
from PySide6.QtWidgets import QLabel

from kernels.core.device import NoDevice
from kernels.core.timing import Timing
from kernels.core.verdict import Check
from tests.made_up import FAILED, H200, PARTLY, PASSED, WEIGHTS, a_job, picked_result, result
from workbench.base import theme
from workbench.base.numbers import GAP, MISSING
from workbench.panels.timing import DOCK
from workbench.panels.timing.run_history import RunHistory
from workbench.panels.timing.timing_panel import TimingPanel, VerdictCard
from workbench.panels.timing.timing_views import NO_PICTURE, PREVIEWED, REFUSED, TimingViews
from workbench.panels.timing.timing_words import verdict
from workbench.widgets.lazy_panel import LazyPanel
from workbench.widgets.tile import ValueTile


@pytest.fixture
def lazy(qapp, qtbot):
    theme.apply(qapp, "light")
    lazy = LazyPanel(DOCK, lambda: TimingPanel(RunHistory()))
    lazy.when_made(qtbot.addWidget)
    return lazy


@pytest.fixture
def views(qtbot, lazy):
    views = TimingViews(lazy)
    qtbot.addWidget(views.line)
    return views


@pytest.fixture
def panel(lazy, views):
    return shown(lazy)


def shown(lazy) -> TimingPanel:
    """The panel, which is made now if it was not."""
    panel = lazy.get()
    panel.show_device(H200)
    panel.resize(312, 760)
    panel.show()
    return panel


def tile(panel, name) -> ValueTile:
    return panel.findChild(ValueTile, name)


def words(panel, name) -> str:
    return panel.findChild(QLabel, name).text()


def spaced(text: str) -> str:
    return text.replace(" ", GAP)


OPENCV = result("opencv", (2.0,) * 6)
QUICK = (0.2,) * 6


def test_the_kernels_median_quartiles_and_samples_are_shown(views, panel):
    views.show_result(result(samples_ms=(0.1, 0.2, 0.3)))
    kernel = tile(panel, "filter-time")
    assert kernel.text == spaced("200 µs")
    assert kernel.detail == f"{spaced('150 – 250 µs')}  ·  {spaced('n = 3')}"
    assert "L2 cold" in kernel.accessibleName()


def test_a_first_sample_has_no_spread_yet(views, panel):
    views.show_result(result(samples_ms=(0.2,)))
    assert tile(panel, "filter-time").detail == spaced("n = 1")


def test_without_a_time_the_verdict_stands_alone(views, panel):
    untimed = replace(result(check=PASSED, device_name=None), kernel=None)
    views.show_result(untimed)
    views.show_baseline(OPENCV)
    assert tile(panel, "filter-time").text == MISSING
    assert tile(panel, "filter-time").detail == "no time on the CPU runtime"
    assert tile(panel, "speed-up").text == MISSING
    assert tile(panel, "speed-up").detail == "no time on the CPU runtime"
    for name in ("throughput", "bandwidth", "total"):
        assert tile(panel, name).text == MISSING
    assert words(panel, "verdict").startswith("✓ verified")

    views.show_result(replace(untimed, device_name="NVIDIA H200", check=None))
    assert tile(panel, "filter-time").detail == "timed once verified"


def test_what_has_no_time_is_not_among_the_last_runs(views):
    runs = RunHistory()
    timed = result(samples_ms=QUICK)
    runs.add(replace(timed, kernel=None))
    assert not runs.runs
    runs.add(timed)
    assert [each.median_ms for each in runs.runs] == [pytest.approx(0.2)]


def test_transfers_and_their_total_are_shown_apart(views, panel):
    views.show_result(result(samples_ms=(0.2,), upload_ms=0.5, download_ms=0.3, compile_ms=512.0))
    shown = {name: tile(panel, name).text for name in ("upload", "download", "total", "compile")}
    assert shown == {
        "upload": spaced("500 µs"),
        "download": spaced("300 µs"),
        "total": spaced("1.00 ms"),
        "compile": spaced("512 ms"),
    }


def test_a_transfer_says_that_it_was_one_and_what_the_copy_alone_took(views, panel):
    views.show_result(result(samples_ms=QUICK, upload_ms=0.384, upload_copy_ms=0.03))
    upload = tile(panel, "upload")
    assert upload.accessibleName() == spaced("Upload: 384 µs, n = 1").replace(
        f"Upload:{GAP}", "Upload: "
    ).replace(f",{GAP}n", ", n")
    tip = upload.toolTip().replace(GAP, " ")
    assert (
        "58.6 KiB, once (n = 1). The copies over the bus alone took 30.0 µs by CUDA events" in tip
    )
    assert "2.00 GB/s" in tip
    views.show_result(result(samples_ms=QUICK))
    assert "CUDA events" not in upload.toolTip()


def test_a_picture_that_was_on_the_gpu_already_is_called_resident(views, panel):
    views.show_result(result(upload_ms=None, compile_ms=None))
    assert tile(panel, "upload").text == "resident"
    assert tile(panel, "compile").text == "cached"


ONLY_ON_GPU = ("upload", "download", "compile", "total")


def test_the_cpu_has_no_transfers(views, panel):
    views.show_result(OPENCV)
    assert [tile(panel, name).text for name in ONLY_ON_GPU] == [MISSING] * 4
    assert words(panel, "ran") == "cv2.sepFilter2D, 2 threads  ·  uint8"


@pytest.mark.parametrize("device", [None, NoDevice("There is no GPU.")])
def test_without_a_gpu_no_tile_is_shown_that_can_never_have_a_value(views, panel, device):
    panel.show_device(device)
    views.show_baseline(OPENCV)
    views.show_result(OPENCV)
    shown = [each for each in panel.findChildren(ValueTile) if each.isVisible()]
    assert [each.objectName() for each in shown] == [
        *("filter-time", "speed-up", "throughput", "bandwidth")
    ]
    assert MISSING not in [each.text for each in shown]


def test_what_a_cpu_had_to_compile_is_told_without_a_gpu_as_well(views, panel):
    panel.show_device(NoDevice("There is no GPU."))
    views.show_result(result("sequential", compile_ms=512.0))
    assert tile(panel, "compile").isVisible()
    assert tile(panel, "compile").text == spaced("512 ms")


def test_a_speed_up_names_what_it_is_against(views, panel):
    views.show_baseline(OPENCV)
    views.show_result(result(samples_ms=QUICK))
    assert tile(panel, "speed-up").text == "10.0×"
    assert tile(panel, "speed-up").detail == "as fast as OpenCV, 2 threads"


def test_a_speed_up_has_an_interval(views, panel):
    views.show_baseline(result("opencv", tuple(np.linspace(1.9, 2.1, 12))))
    views.show_result(result(samples_ms=tuple(np.linspace(0.098, 0.102, 20))))
    speedup = tile(panel, "speed-up")
    assert speedup.text == "20.0×"
    low, high = re.search(r"([\d.]+)–([\d.]+)", speedup.accessibleName()).groups()
    assert any(each.text() == f"Speed-up · {low}–{high}" for each in speedup.findChildren(QLabel))
    assert 19 < float(low) < 20 < float(high) < 21
    assert f"interval of the ratio of their medians is {low}–{high}" in speedup.toolTip()
    assert "from 20 and 12 samples" in speedup.toolTip()
    views.show_result(result(job=a_job(picture=np.zeros((4, 4, 1), np.uint8))))
    assert "from 20" not in speedup.toolTip()


def test_what_is_slower_says_how_many_times(views, panel):
    views.show_baseline(OPENCV)
    views.show_result(result(samples_ms=(58.0,) * 6))
    speedup = tile(panel, "speed-up")
    assert speedup.text == "29.0× slower"
    assert speedup.detail == "than OpenCV, 2 threads"
    assert speedup.accessibleName().startswith("Speed-up: 29.0× slower, ")
    assert speedup.toolTip().startswith("29.0× as long as OpenCV, 2 threads.")


def test_what_cannot_be_told_apart_is_called_equal(views, panel):
    views.show_baseline(OPENCV)
    views.show_result(result(samples_ms=(2.01,) * 6))
    assert tile(panel, "speed-up").detail == "equal within 1 % to OpenCV, 2 threads"
    views.show_result(result(samples_ms=(1.8, 2.2) * 3))
    assert tile(panel, "speed-up").text == "1.00×"
    views.show_result(result(samples_ms=(1.8, 2.3) * 3))
    assert tile(panel, "speed-up").detail == "equal within noise to OpenCV, 2 threads"
    views.show_result(result(samples_ms=(0.6, 0.9, 9.0) * 3))
    assert tile(panel, "speed-up").detail == "too noisy to tell from OpenCV, 2 threads"


def test_a_single_run_looks_like_one_and_gives_no_speed_up(views, panel):
    views.show_baseline(OPENCV)
    views.show_result(replace(result(), kernel=Timing((261.0,), "cold", "single")))
    kernel, speedup = tile(panel, "filter-time"), tile(panel, "speed-up")
    assert kernel.is_pale
    assert kernel.detail == f"{spaced('n = 1')}, a single run"
    assert "a single run" in kernel.accessibleName()
    assert "timed again" in kernel.toolTip()
    assert (speedup.text, speedup.detail) == (MISSING, "none from a single run")
    assert tile(panel, "throughput").is_pale
    views.show_result(result(samples_ms=QUICK))
    assert not kernel.is_pale
    assert "timed again" not in kernel.toolTip()
    assert speedup.text == "10.0×"


def test_a_sum_of_strips_says_so(views, panel):
    in_strips = replace(result(), kernel=Timing((80.0,), "cold", "single"), strips=5)
    views.show_baseline(OPENCV)
    views.show_result(in_strips)
    kernel = tile(panel, "filter-time")
    assert kernel.detail == f"{spaced('n = 1')}, a sum of 5 strips"
    assert "sum of 5 strips" in kernel.accessibleName()
    assert "does not fit into the GPU's memory" in kernel.toolTip()
    assert tile(panel, "speed-up").detail == "none from a sum of 5 strips"
    assert words(panel, "ran").endswith("in 5 strips")


def test_against_a_single_run_there_is_no_speed_up(views, panel):
    views.show_baseline(result("opencv", (2.0,)))
    views.show_result(result(samples_ms=QUICK))
    speedup = tile(panel, "speed-up")
    assert (speedup.text, speedup.detail) == (MISSING, "OpenCV, 2 threads has run only once")


def test_a_speed_up_comes_with_the_baseline_also_when_that_is_later(views, panel):
    views.show_result(result(samples_ms=QUICK))
    assert tile(panel, "speed-up").text == MISSING
    views.show_baseline(OPENCV)
    assert tile(panel, "speed-up").text == "10.0×"


@pytest.mark.parametrize(
    "other",
    [
        a_job(weights=np.full((3, 3), 1, np.float32)),
        a_job(picture=np.zeros((100, 200, 3), np.uint8)),
        replace(a_job(), border="wrap"),
        replace(a_job(), gradient=True),
        replace(a_job(), offset=7.0),
    ],
    ids=["weights", "picture", "border", "gradient", "offset"],
)
def test_a_baseline_of_something_else_is_no_baseline(views, panel, other):
    views.show_baseline(OPENCV)
    views.show_result(result(job=other))
    assert tile(panel, "speed-up").text == MISSING


def test_equal_weights_are_the_same_task_even_as_another_array(views, panel):
    views.show_baseline(OPENCV)
    views.show_result(result(job=a_job(weights=WEIGHTS.copy()), samples_ms=QUICK))
    assert tile(panel, "speed-up").text == "10.0×"


SPEEDS = ("speed-up", "throughput", "bandwidth")


def test_until_it_is_checked_a_speed_is_pale_and_says_so(views, panel):
    views.show_baseline(OPENCV)
    views.show_result(result(check=None))
    for name in SPEEDS:
        assert tile(panel, name).is_pale
        assert "not verified yet" in tile(panel, name).accessibleName()
    assert words(panel, "verdict") == "verifying …"
    assert not tile(panel, "filter-time").is_pale
    views.show_result(result(check=PASSED))
    assert not any(tile(panel, name).is_pale for name in SPEEDS)


def test_a_speed_up_against_an_unchecked_baseline_is_pale_as_well(views, panel):
    views.show_baseline(result("opencv", check=None))
    views.show_result(result())
    assert tile(panel, "speed-up").is_pale
    assert not tile(panel, "throughput").is_pale


def test_beside_a_wrong_answer_there_is_no_speed(views, panel):
    views.show_baseline(OPENCV)
    views.show_result(result(check=FAILED))
    assert [tile(panel, name).text for name in SPEEDS] == [MISSING] * 3
    assert words(panel, "verdict").startswith("✗ WRONG in 12 samples")
    assert "x 3, y 7, channel 1" in words(panel, "verdict")
    label = panel.findChild(QLabel, "verdict")
    color = label.palette().color(label.foregroundRole())
    assert color.name() == theme.LIGHT.bad


def test_against_a_wrong_baseline_there_is_no_speed_up(views, panel):
    views.show_baseline(result("opencv", check=FAILED))
    views.show_result(result())
    assert tile(panel, "speed-up").text == MISSING
    assert tile(panel, "speed-up").detail == "OpenCV, 2 threads is wrong"


def test_a_verdict_says_how_much_was_checked(views, panel):
    views.show_result(result(check=PASSED))
    assert words(panel, "verdict") == "✓ verified all pixels, largest error 0.5 (allowed)"
    views.show_result(result(check=PARTLY))
    assert (
        words(panel, "verdict") == "✓ verified 1,500 of 20,000 pixels, largest error 0.5 (allowed)"
    )
    views.show_result(result(check=replace(PASSED, max_error=0.0)))
    assert words(panel, "verdict") == "✓ verified all pixels, largest error 0"


def test_what_is_allowed_is_said_to_who_asks(views, panel):
    views.show_result(result(check=PASSED))
    tip = panel.findChild(VerdictCard).toolTip()
    assert "off by 0.001" in tip
    assert "close to a half" in tip
    views.show_nothing()
    assert "0.001" not in panel.findChild(VerdictCard).toolTip()


def test_an_answer_that_nothing_can_be_said_of_is_not_called_wrong(views, panel):
    views.show_result(result(check=replace(PASSED, bound=math.inf)))
    assert words(panel, "verdict").startswith("✗ not checked: with values this large")
    assert tile(panel, "speed-up").detail == "the answer is not verified"
    assert [tile(panel, name).text for name in SPEEDS] == [MISSING] * 3


def test_the_baseline_is_not_compared_with_itself(views, panel):
    views.show_baseline(OPENCV)
    views.show_result(OPENCV)
    assert tile(panel, "speed-up").text == "baseline"
    assert tile(panel, "speed-up").detail == "others are compared with this"
    assert "baseline" in tile(panel, "speed-up").toolTip()


def test_where_a_picture_was_refused_no_figure_of_another_stays(views, panel):
    views.show_baseline(OPENCV)
    views.show_result(result())
    views.show_refused()
    assert {each.text for each in panel.findChildren(ValueTile)} == {MISSING}
    assert words(panel, "verdict") == REFUSED
    assert words(panel, "ran") == ""
    views.show_baseline(OPENCV)  # which may still come
    assert words(panel, "verdict") == REFUSED
    views.show_result(result())
    assert words(panel, "verdict").startswith("✓ verified")


def test_what_ran_is_said_in_full(views, panel):
    views.show_result(result())
    ran = "convolve, grid 19×13, block 32×8, 40 registers, 1664 B shared  ·  uint8"
    assert words(panel, "ran") == ran


def test_showing_nothing_forgets_all(views, panel):
    views.show_baseline(OPENCV)
    views.show_result(result())
    views.show_nothing()
    assert {each.text for each in panel.findChildren(ValueTile)} == {MISSING}
    views.show_result(result())
    assert tile(panel, "speed-up").text == MISSING


def test_nothing_moves_while_numbers_change(views, panel, qapp):
    def places():
        qapp.processEvents()
        return [each.geometry() for each in panel.findChildren(ValueTile)], panel.minimumSizeHint()

    empty = places()
    views.show_result(result(samples_ms=(0.00111,), check=None, compile_ms=1.11))
    assert places() == empty
    views.show_baseline(result("opencv", (888.8,) * 6))
    views.show_result(result(samples_ms=(0.888, 88.8, 888.0), upload_ms=888.0, download_ms=888.0))
    views.show_baseline(result("opencv", (0.01,) * 6))  # 8,880× slower
    assert places() == empty


@pytest.mark.parametrize("ms", [0.0888, 0.888, 88.8, 888.0])
def test_no_number_is_clipped_at_the_usual_width(views, panel, qapp, ms):
    panel.resize(312, 760)
    views.show_baseline(result("opencv", (88.8,) * 6))
    views.show_result(result(samples_ms=(ms,) * 6, upload_ms=ms, download_ms=ms, compile_ms=ms))
    qapp.processEvents()
    for each in panel.findChildren(ValueTile):
        value = next(v for v in each.findChildren(QLabel) if v.text() == each.text)
        assert value.width() >= value.fontMetrics().horizontalAdvance(each.text), each.text


def test_what_auto_picked_and_why_stands_before_what_ran(views, panel):
    views.show_result(picked_result("shared"))
    assert words(panel, "ran").startswith(
        "auto: shared 32×8 (measured here)  ·  convolve, grid 19×13, block 32×8"
    )


def test_the_baseline_picked_by_auto_is_no_speed_up(views, panel):
    views.show_result(picked_result("opencv", "There is no GPU.", samples_ms=(2.0,)))
    views.show_baseline(OPENCV)
    assert tile(panel, "speed-up").text == "baseline"
    assert words(panel, "ran").startswith("auto: opencv (There is no GPU.)  ·  ")


def test_a_librarys_rounding_is_named():
    check = Check(1.0, (0, 0, 0), 17, 0, 0.1, 100, 100, levels=1, samples=1000, library="OpenCV")
    words = "✓ verified all pixels, OpenCV's rounding: within 1 level, 1.7 % differ (allowed)"
    assert verdict(check)[0] == words


def test_a_closed_panel_fills_its_tiles_when_it_opens(views, panel):
    panel.hide()
    views.show_result(result(samples_ms=QUICK))
    views.show_baseline(OPENCV)
    assert tile(panel, "filter-time").text == MISSING
    panel.show()
    assert tile(panel, "filter-time").text == spaced("200 µs")
    assert tile(panel, "speed-up").text == "10.0×"


@pytest.mark.parametrize("is_made_first", [True, False])
def test_the_line_and_the_panel_say_the_same_whenever_the_panel_is_made(lazy, views, is_made_first):
    if is_made_first:
        lazy.get()
    views.show_baseline(OPENCV)
    views.show_result(result(samples_ms=QUICK))
    panel = shown(lazy)
    assert words(views.line, "line-time") == tile(panel, "filter-time").text == spaced("200 µs")
    assert words(views.line, "line-speed-up") == tile(panel, "speed-up").text == "10.0×"
    views.show_preview()
    assert words(views.line, "line-verdict") == words(panel, "verdict") == PREVIEWED


def test_a_panel_made_before_there_is_a_picture_says_so(panel):
    assert words(panel, "verdict") == NO_PICTURE
