"""The line under the picture: what it says, what it leaves out, and that a click asks for more."""

from dataclasses import replace

import pytest
from PySide6.QtWidgets import QLabel

from kernels.core.cpu_load import Load
from tests.made_up import PARTLY, result
from workbench.base.numbers import GAP
from workbench.panels.timing.status_line import Newest, StatusLine

WIDE, USUAL, NARROW = 1440, 960, 600


@pytest.fixture
def line(put_up):
    line = StatusLine()
    return put_up(line, WIDE, line.sizeHint().height())


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


def test_it_says_what_matters_in_one_line_and_a_disturbed_time_has_a_star(line):
    line.show_times(Newest(QUICK, OPENCV))
    assert shown(line) == [
        *("200 µs", "200 – 200 µs  ·  n = 6", "100 MP/s", "10.0×", "as fast as OpenCV, 2 threads"),
        "✓ verified all pixels, largest error 0.5 (allowed)",
    ]
    line.show_times(Newest(replace(QUICK, load=BUSY), OPENCV))
    assert shown(line)[0] == "200 µs*"
    said = "* Disturbed: other programs kept 2.0 of 2 cores busy."
    assert said in label(line, "line-time").toolTip()
    assert shown(line)[3] == "10.0×*"
    line.show_times(Newest(QUICK, replace(OPENCV, load=BUSY)))
    assert shown(line)[0::3] == ["200 µs", "10.0×*"]
    assert said in label(line, "line-speed-up").toolTip()
    line.show_times(Newest(QUICK, OPENCV))
    assert shown(line)[0] == "200 µs"
    assert "Disturbed" not in label(line, "line-time").toolTip()


def test_a_check_of_some_pixels_never_looks_like_one_of_all(line):
    line.resize(NARROW, line.height())
    line.show_times(Newest(result(samples_ms=(0.2,) * 6, check=PARTLY), OPENCV))
    assert shown(line)[-1] in ("✓ verified 1,500 of 20,000 pixels", "✓ verified in part")
