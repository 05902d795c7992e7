"""Charts of report tests are drawn once for each kind: that takes most of the time."""

import pytest

from workbench.charts.drawing import chart_export

DRAW = chart_export.svg_of


@pytest.fixture(scope="session", autouse=True)
def charts_are_drawn_once():
    """One drawing stands for all of its kind, whatever session it is of."""
    drawn = {}

    def draw_once(figure, *options):
        key = figure.kind, figure.subtitle, options
        if key not in drawn:
            drawn[key] = DRAW(figure, *options)
        return drawn[key]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(chart_export, "svg_of", draw_once)
        yield


@pytest.fixture
def every_chart_is_drawn(monkeypatch):
    """Draw each chart of this test from its own data."""
    monkeypatch.setattr(chart_export, "svg_of", DRAW)
