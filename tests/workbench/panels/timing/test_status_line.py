"""The line under the picture: what it says, what it leaves out, and that a click asks for more."""

import math
from dataclasses import replace

import pytest
from PySide6.QtCore import QEvent, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel

from kernels.core.cpu_load import Load
from kernels.core.timing import Timing
from tests.counting import Events, calls
from tests.made_up import FAILED, PARTLY, PASSED, result
from workbench.base import theme
from workbench.base.numbers import GAP
from workbench.panels.timing.status_line import StatusLine
from workbench.widgets.tile import MUTED

WIDE, USUAL, NARROW = 1400, 960, 600


@pytest.fixture
def line(qapp, qtbot):
    theme.apply(qapp, "light")
    line = StatusLine()
    qtbot.addWidget(line)
    line.resize(WIDE, line.sizeHint().height())
    line.show()
    return line


OPENCV = result("opencv", (2.0,) * 6)
QUICK = result(samples_ms=(0.2,) * 6)
BUSY = Load(seconds=1.0, cores=2, others_s=2.0, stolen_s=0.0)


def shown(line):
    """What can be read, from left to right."""
    labels = sorted(
        (each for each in line.findChildren(QLabel) if each.isVisible()), key=lambda each: each.x()
    )
    return [each.text().replace(GAP, " ") for each in labels]


def label(line, name):
    return line.findChild(QLabel, name)


def is_pale(line, name):
    return label(line, name).foregroundRole() == MUTED


def test_it_says_what_matters_in_one_line(line):
    line.show_result(QUICK, OPENCV)
    assert shown(line) == [
        *("200 µs", "200 – 200 µs  ·  n = 6", "100 MP/s", "10.0×", "as fast as OpenCV, 2 threads"),
        "✓ verified all pixels, largest error 0.5 (allowed)",
    ]


def test_the_spread_has_the_unit_of_its_median(line):
    line.show_result(result(samples_ms=(0.5, 0.5, 0.6, 0.6, 0.6, 2.0, 2.0, 2.0)), OPENCV)
    assert shown(line)[:2] == ["600 µs", "575 – 2,000 µs  ·  n = 8"]


def test_what_is_slower_says_how_many_times(line):
    line.show_result(result(samples_ms=(58.0,) * 6), OPENCV)
    assert shown(line)[3:5] == ["29.0× slower", "than OpenCV, 2 threads"]


def test_beside_the_baseline_itself_there_is_no_speed_up_nor_its_place(line):
    line.show_result(OPENCV, OPENCV)
    assert shown(line) == [
        *("2.00 ms", "2.00 – 2.00 ms  ·  n = 6", "10.0 MP/s"),
        "✓ verified all pixels, largest error 0.5 (allowed)",
    ]
    assert label(line, "line-verdict").x() < 500


def test_a_single_run_looks_like_one(line):
    line.show_result(replace(QUICK, kernel=Timing((261.0,), "cold", "single")), OPENCV)
    assert shown(line)[:3] == ["261 ms", "n = 1, a single run", "76.6 kP/s"]
    assert is_pale(line, "line-time")
    assert is_pale(line, "line-rate")
    line.show_result(QUICK, OPENCV)
    assert not is_pale(line, "line-time")
    assert not is_pale(line, "line-rate")


def test_until_it_is_verified_a_speed_is_pale(line):
    line.show_result(result(check=None), OPENCV)
    assert shown(line)[-1] == "verifying …"
    assert all(is_pale(line, name) for name in ("line-rate", "line-speed-up", "line-verdict"))
    assert not is_pale(line, "line-time")
    line.show_result(result(check=PASSED), OPENCV)
    assert not any(is_pale(line, name) for name in ("line-rate", "line-speed-up", "line-verdict"))


def test_beside_a_wrong_answer_there_is_no_speed(line):
    line.show_result(result(samples_ms=(0.2,) * 6, check=FAILED), OPENCV)
    assert shown(line) == [
        *("200 µs", "200 – 200 µs  ·  n = 6"),
        "✗ WRONG in 12 samples, largest error 35 at x 3, y 7, channel 1",
    ]
    verdict = label(line, "line-verdict")
    assert verdict.palette().color(verdict.foregroundRole()).name() == theme.LIGHT.bad


def fits(line):
    """Nothing is cut, nothing covers another, all is inside."""
    labels = sorted(
        (each for each in line.findChildren(QLabel) if each.isVisible()), key=lambda each: each.x()
    )
    for each in labels:
        assert "…" not in each.text().removesuffix(" …"), each.text()
        assert each.width() >= each.sizeHint().width(), each.text()
    ends = [each.geometry().right() for each in labels]
    starts = [each.x() for each in labels[1:]] + [line.width()]
    return all(end < start for end, start in zip(ends, starts, strict=True))


def many():
    for kernel in (
        Timing((88.8, 8.88, 888.0) * 30, "cold", "time"),
        Timing((261.0,), "cold", "single"),
    ):
        for check in (None, PASSED, PARTLY, FAILED, replace(PASSED, bound=math.inf)):
            yield replace(result(check=check), kernel=kernel)
    yield OPENCV
    yield replace(QUICK, kernel=Timing((88.8,) * 30, "cold", "time"), load=BUSY)


@pytest.mark.parametrize("width", [WIDE, USUAL, NARROW, 400])
@pytest.mark.parametrize("doing", ["", "filtering with OpenCV …", "compiling a very long name …"])
def test_nothing_is_cut_at_any_width(line, width, doing):
    line.resize(width, line.height())
    line.show_doing(doing)
    for each in many():
        line.show_result(each, OPENCV)
        assert fits(line), shown(line)


def test_the_least_important_is_left_out_first(line):
    line.show_result(QUICK, OPENCV)
    line.resize(USUAL, line.height())
    assert "✓ verified" in shown(line)[-1]
    assert "10.0×" in shown(line)
    assert any("OpenCV" in each for each in shown(line))
    line.resize(line.minimumSizeHint())
    assert shown(line)[0] == "200 µs"
    assert shown(line)[-1] == "✓ verified"
    assert fits(line)


def test_a_check_of_some_pixels_never_looks_like_one_of_all(line):
    line.resize(NARROW, line.height())
    line.show_result(result(samples_ms=(0.2,) * 6, check=PARTLY), OPENCV)
    assert shown(line)[-1] in ("✓ verified 1,500 of 20,000 pixels", "✓ verified in part")


def test_what_is_under_way_comes_and_goes_and_moves_nothing(line):
    line.resize(USUAL, line.height())
    line.show_result(QUICK, OPENCV)
    before = shown(line)
    line.show_doing("filtering with Parallel …")
    assert shown(line) == [*before, "filtering with Parallel …"]
    line.show_doing("")
    assert shown(line) == before


def test_what_is_under_way_is_told_in_full_where_there_is_no_room_for_it(line):
    line.resize(NARROW, line.height())
    line.show_result(QUICK, OPENCV)
    long = "compiling something with a very long name that is nowhere else …"
    line.show_doing(long)
    assert shown(line)[-1] in ("working …", "✓ verified")
    assert long in line.accessibleName()
    assert label(line, "doing").toolTip() == long


def test_figures_stand_still_while_they_change(line):
    def places():
        names = ("line-spread", "line-rate", "line-speed-up", "line-verdict")
        return [label(line, name).x() for name in names]

    line.show_result(result(samples_ms=(0.00111,), check=None), None)
    first = places()
    line.show_result(result(samples_ms=(11.1,) * 7), replace(OPENCV, check=None))
    assert places()[:3] == first[:3]


def test_a_sentence_stands_in_place_of_figures(line):
    line.show_result(QUICK, OPENCV)
    line.show_sentence("Open a picture to see how fast it is filtered.")
    assert shown(line) == ["Open a picture to see how fast it is filtered."]


def test_all_of_it_is_told_to_who_cannot_see_it(line):
    line.resize(NARROW, line.height())
    line.show_result(QUICK, OPENCV)
    assert line.accessibleName().replace(GAP, " ") == (
        "Timing, 200 µs, 200 – 200 µs  ·  n = 6, 100 MP/s, 10.0×, as fast as OpenCV, 2 threads, "
        "✓ verified all pixels, largest error 0.5 (allowed)"
    )


def test_what_was_said_in_tooltips_is_said_here(line):
    line.show_result(replace(QUICK, kernel=Timing((261.0,), "cold", "single")), OPENCV)
    assert "timed again when nothing waits" in label(line, "line-time").toolTip()
    line.show_result(QUICK, OPENCV)
    assert "“L2 cold”" in label(line, "line-time").toolTip()
    assert "filtered per second" in label(line, "line-rate").toolTip()
    assert "from 6 and 6 samples" in label(line, "line-speed-up").toolTip()
    assert "off by 0.001" in label(line, "line-verdict").toolTip()


def test_a_click_on_any_word_and_a_key_ask_for_the_panel(line):
    asked = []
    line.clicked.connect(lambda: asked.append(True))
    line.show_result(QUICK, OPENCV)
    QTest.mouseClick(label(line, "line-verdict"), Qt.MouseButton.LeftButton)
    assert len(asked) == 1
    line.setFocus()
    QTest.keyClick(line, Qt.Key.Key_Space)
    assert len(asked) == 2


def test_a_disturbed_time_has_a_star_that_says_by_what(line):
    line.show_result(replace(QUICK, load=BUSY), OPENCV)
    assert shown(line)[0] == "200 µs*"
    said = "* Disturbed: other programs kept 2.0 of 2 cores busy."
    assert said in label(line, "line-time").toolTip()
    line.show_result(QUICK, OPENCV)
    assert shown(line)[0] == "200 µs"
    assert "Disturbed" not in label(line, "line-time").toolTip()


def test_no_width_is_measured_again_and_again(line):
    line.resize(NARROW, line.height())  # where much has to be left out
    counts = calls(lambda: line.show_result(QUICK, OPENCV))
    # The larger of a wording's width and the width kept for it, for each of at most three wordings.
    assert 0 < counts["max"] <= 2 * 3 * len(line.findChildren(QLabel))


def test_words_that_keep_their_colour_are_not_coloured_anew(line):
    line.show_result(QUICK, OPENCV)
    coloured = Events(QEvent.Type.PaletteChange, *line.findChildren(QLabel))
    line.show_result(replace(QUICK), OPENCV)
    assert coloured.count == 0
    line.show_result(replace(QUICK, check=None), OPENCV)
    assert coloured.count > 0
