"""The Timing panel: what its tiles say, when they dare to, and that they stand still."""

import re
from dataclasses import replace

import numpy as np
import pytest
from PySide6.QtWidgets import QLabel

from kernels.core.device import NoDevice
from kernels.core.timing import Timing
from tests.made_up import FAILED, H200, PASSED, a_job, result
from workbench.base import theme
from workbench.base.numbers import GAP, MISSING
from workbench.panels.timing.history_plot import RunHistory
from workbench.panels.timing.status_line import PREVIEWED, REFUSED, TimingViews
from workbench.panels.timing.timing_panel import TimingPanel
from workbench.panels.timing.timing_words import filter_time
from workbench.widgets.lazy_panel import DOCKS, LazyPanel
from workbench.widgets.tile import ValueTile


@pytest.fixture
def lazy(qapp, qtbot):
    theme.apply(qapp, "light")
    lazy = LazyPanel(DOCKS["Timing"], RunHistory())
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


def test_transfers_and_their_total_are_shown_apart(views, panel):
    views.show_result(result(samples_ms=(0.2,), upload_ms=0.5, download_ms=0.3, compile_ms=512.0))
    shown = {name: tile(panel, name).text for name in ("upload", "download", "total", "compile")}
    assert shown == {
        "upload": spaced("500 µs"),
        "download": spaced("300 µs"),
        "total": spaced("1.00 ms"),
        "compile": spaced("512 ms"),
    }


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


@pytest.mark.parametrize(
    "other",
    [
        a_job(weights=np.full((3, 3), 1, np.float32)),
        a_job(picture=np.zeros((100, 200, 3), np.uint8)),
        replace(a_job(), border="wrap"),
        a_job().but(gradient=True),
        a_job().but(offset=7.0),
    ],
    ids=["weights", "picture", "border", "gradient", "offset"],
)
def test_a_baseline_of_something_else_is_no_baseline(views, panel, other):
    views.show_baseline(OPENCV)
    views.show_result(result(job=other))
    assert tile(panel, "speed-up").text == MISSING


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


def test_beside_a_wrong_answer_there_is_no_speed(views, panel):
    views.show_baseline(OPENCV)
    views.show_result(result(check=FAILED))
    assert [tile(panel, name).text for name in SPEEDS] == [MISSING] * 3
    assert words(panel, "verdict").startswith("✗ WRONG in 12 samples")
    assert "x 3, y 7" in words(panel, "verdict")
    label = panel.findChild(QLabel, "verdict")
    assert label.palette().color(label.foregroundRole()).name() == theme.LIGHT.bad


def test_where_a_picture_was_refused_no_figure_of_another_stays(views, panel):
    views.show_baseline(OPENCV)
    views.show_result(result())
    views.show_empty(REFUSED)
    assert {each.text for each in panel.findChildren(ValueTile)} == {MISSING}
    assert words(panel, "verdict") == REFUSED
    assert words(panel, "ran") == ""
    views.show_baseline(OPENCV)  # which may still come
    assert words(panel, "verdict") == REFUSED
    views.show_result(result())
    assert words(panel, "verdict").startswith("✓ verified")


@pytest.mark.parametrize("is_made_first", [True, False])
def test_the_line_and_the_panel_say_the_same_whenever_the_panel_is_made(lazy, views, is_made_first):
    if is_made_first:
        lazy.get()
    views.show_baseline(OPENCV)
    views.show_result(result(samples_ms=QUICK))
    panel = shown(lazy)
    assert words(views.line, "line-time") == tile(panel, "filter-time").text == spaced("200 µs")
    assert words(views.line, "line-speed-up") == tile(panel, "speed-up").text == "10.0×"
    views.show_empty(PREVIEWED)
    assert words(views.line, "line-verdict") == words(panel, "verdict") == PREVIEWED


def test_a_list_that_ran_once_says_so_as_a_filter_does():
    steps = tuple(result(samples_ms=(each,)) for each in (0.2, 0.1))
    for once_ms, said in ((0.25, "a single run"), (0.2 + 0.1, "a sum of 2 single runs")):
        kernel = Timing((once_ms,), ended="single")
        for made in (result(), replace(result(), steps=steps)):
            figure = filter_time(replace(made, kernel=kernel))
            expected = said if made.steps else "a single run"
            assert expected in figure.detail
            assert figure.unsure == expected
