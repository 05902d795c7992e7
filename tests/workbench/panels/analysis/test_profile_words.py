"""What the profile of a line says at a place: whose values, of which channel."""

import numpy as np
import pytest

from workbench.base import theme
from workbench.imaging.line_profile import row
from workbench.panels.analysis.analysis_panel import AnalysisPanel
from workbench.panels.analysis.curves import CurvesChart


@pytest.fixture
def panel(qapp, qtbot):
    theme.apply(qapp, "light")
    found = AnalysisPanel()
    qtbot.addWidget(found)
    found.resize(400, 900)
    found.show()
    return found


def test_both_pictures_values_are_told_by_name(qtbot, panel):
    before = np.zeros((4, 6, 3), np.uint8)
    before[2, :] = (10, 20, 30)
    after = before + np.uint8(5)
    panel.show_picture(True)
    panel.show_profile(row(before, 2), before, after, "before")
    (chart,) = [
        each
        for each in panel.findChildren(CurvesChart)
        if "Values along" in each.accessibleDescription()
    ]
    qtbot.waitUntil(lambda: len(chart.spots) == 6)
    said = chart.spots[3].text.splitlines()
    assert said[-2] == "before: R 10  G 20  B 30"
    assert said[-1] == "after: R 15  G 25  B 35"
    assert said[0] == "3 pixels along the line"
